"""A run that this program drives, with an `async for`."""

from __future__ import annotations

from types import TracebackType
from typing import Any, Self

from assent.client.awaiting import await_call
from assent.client.output import pack_output
from assent.client.turns import Seat, Turn
from assent.protocol.run import DoneReason, Mode, Run

__all__ = ["AsyncDrivenRun"]


class AsyncDrivenRun(Seat):
    """`async with client.run(...) as run: async for turn in run: ...`; everything else as `DrivenRun`."""

    async def look(self) -> Run:
        """Return the run as it is now."""
        return await await_call(self._turns.wheel.look())

    async def check(self) -> None:
        """Raise RunEndedError if the run was cancelled, in the middle of a long iteration."""
        await await_call(self._turns.check())

    async def finish(self, reason: DoneReason | str = DoneReason.COMPLETE) -> None:
        """Say that the loop is over; the `async for` gives no further turn."""
        await await_call(self._turns.finish(reason))

    async def tell(self, text: str | bytes) -> None:
        """Hand on what the work has printed, for people who look at the run; the last of it is kept."""
        await await_call(self._turns.wheel.tell(pack_output(text)))

    def nested(self, mode: Mode | str = Mode.ISSUE, **parts: Any) -> AsyncDrivenRun:
        """Return a loop inside the current iteration; its parts are those of `AsyncClient.run`."""
        return AsyncDrivenRun(self._inner(mode, parts))

    async def __aenter__(self) -> Self:
        await await_call(self._turns.enter())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await await_call(self._turns.leave(error))

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Turn:
        turn = await await_call(self._turns.advance())
        if turn is None:
            raise StopAsyncIteration
        return turn
