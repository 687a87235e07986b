"""A run whose turns are texts given to an agent: the prompts that it was begun with, then what people say to it.

Rule 1: no turn begins while the run is paused, and none when it has ended. A turn that is going on hears of the end.
Rule 2: a run that has nothing more to do is done; one that is paused then can still be spoken to.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence

from assent.client.async_driven import AsyncDrivenRun
from assent.client.awaiting import await_call, await_wait
from assent.client.calls import Calls
from assent.client.steer import find_run, wait_for_run
from assent.client.turns import Turn, Turns
from assent.client.wheel import Plan, Wheel
from assent.hosts.screen import Screen
from assent.hosts.tail import Teller
from assent.hosts.word import Words, topic_of
from assent.protocol.run import Run, Status

__all__ = ["Course"]


class Course:
    """Drives one run, turn by turn."""

    def __init__(self, calls: Calls, plan: Plan, prompts: Sequence[str], screen: Screen) -> None:
        self._calls = calls
        self._screen = screen
        self._wheel = Wheel(calls, plan)
        self._texts = deque(prompts)
        self.words = Words(calls, plan.run_id)
        self.was_over = False
        """The run had ended before, and no turn was had."""

    @property
    def run_id(self) -> str:
        """The run that is driven."""
        return self._wheel.run_id

    @property
    def run(self) -> Run:
        """The run as it was last heard of."""
        return self._wheel.run

    async def drive(self, have_turn: Callable[[Turn, str], Awaitable[None]]) -> Run:
        """Have all turns; return the run as it is then.

        Raises:
            RunTakenError: somebody alive drives the run.
        """
        after = await await_wait(self._calls.door.head(self._calls.project))
        driven = AsyncDrivenRun(Turns(self._wheel))
        following: asyncio.Task[None] | None = None
        try:
            async with driven:
                self.was_over = not self.run.is_active
                self._announce()
                following = asyncio.ensure_future(self.words.follow(after))
                async for turn in driven:
                    await have_turn(turn, self._texts.popleft() if self._texts else "")
                    if not await self._goes_on(driven):
                        await driven.finish()
        finally:
            if following is not None:
                following.cancel()
                await asyncio.gather(following, return_exceptions=True)
        return self.run

    async def until_ended(self) -> None:
        """Return when the run was ended, or taken by somebody else."""
        run = self.run
        while run.is_active and run.fence == self._wheel.fence:
            run = await await_call(wait_for_run(self._calls, self.run_id, run.sequence))

    async def is_ended(self) -> bool:
        """Say whether the run has ended, as of now."""
        return not (await await_call(find_run(self._calls, self.run_id))).is_active

    def put_off(self, text: str) -> None:
        """Keep a word for the next turn."""
        self._texts.append(text)

    def _announce(self) -> None:
        if self.was_over:
            self._screen.tell(f"run {self.run_id} had ended before; new work takes another --run-id")
            return
        self._screen.teller = Teller(self._wheel)
        self._screen.tell(f"run {self.run_id}; what is asked waits in assent inbox")
        self._screen.tell(f"steer it from anywhere: assent pause {self.run_id} (or resume, cancel, escalate)")
        self._screen.tell(f"say something to it: assent post {topic_of(self.run_id)} '\"…\"'")

    async def _goes_on(self, driven: AsyncDrivenRun) -> bool:
        while not self._texts:
            word = self.words.take()
            if word is not None:
                self._texts.append(word)
                break
            run = await driven.look()
            if run.status is not Status.PAUSED:
                return False
            changed = asyncio.ensure_future(await_call(self._wheel.wait()))
            spoken = asyncio.ensure_future(self.words.wait())
            await asyncio.wait({changed, spoken}, return_when=asyncio.FIRST_COMPLETED)
            for task in (changed, spoken):
                task.cancel()
            await asyncio.gather(changed, spoken, return_exceptions=True)
        return True
