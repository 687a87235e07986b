"""A person at the terminal inbox with a real store behind it, for tests that press its keys."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from textual import events
from textual.keys import _character_to_key
from textual.pilot import Pilot

from assent.client import steer
from assent.client.client import Client
from assent.client.door import run_call, until
from assent.protocol.ask import Ask, State
from assent.protocol.error import AssentError, UnreachableError
from assent.protocol.principal import Assurance
from assent.protocol.run import Run
from assent.surfaces.board import BoardRun
from assent.surfaces.tui.app import InboxApp
from assent.surfaces.tui.draft import Drafts
from assent.surfaces.tui.screen import compose
from assent.surfaces.tui.sitting import BEAT_SECONDS
from assent.surfaces.tui.view import RunDetail, Snapshot, View
from assent.surfaces.tui.wish import Claim, Control, Send, Withdraw
from assent.testing.store import ThrowawayStore
from tests.patience import PATIENCE

__all__ = ["Agent", "ClientFeed", "Seat", "sit"]

_LOOK = 0.02
_ALL = 1_000
_CHARACTERS = {"enter": "\r", "escape": "\x1b", "space": " ", "colon": ":", "number_sign": "#"}


class ClientFeed:
    """One store as a feed; it can be made to be away."""

    def __init__(self, person: Client) -> None:
        self._person = person
        self.is_away = False
        self.tell: Callable[[], None] = lambda: None

    def _check(self) -> None:
        if self.is_away:
            raise UnreachableError("The server does not answer.")

    def look(self) -> Snapshot:
        """See `surfaces.tui.feed`, as for all that follow."""
        self._check()
        door = self._person.door
        asks = run_call(until(door.asks(None, State.OPEN, _ALL)))
        runs = run_call(until(door.runs(None, _ALL, active=True)))
        return Snapshot(tuple(asks), tuple(BoardRun(run, is_driven=True) for run in runs))

    def find(self, ask: Ask) -> Ask:
        return self._person.show(ask.ask_id)

    def answer(self, wish: Send) -> Ask:
        self._check()
        if wish.reply is None:
            return self._person.decline(wish.ask.ask_id, wish.reason)
        return self._person.answer(
            wish.ask.ask_id, wish.reply, confirmed=wish.is_confirmed, reason=wish.reason
        )

    def claim(self, wish: Claim) -> Ask:
        return self._person.claim(wish.ask.ask_id)

    def withdraw(self, wish: Withdraw) -> Ask:
        return self._person.withdraw(wish.ask.ask_id, wish.reason)

    def control(self, wish: Control) -> str:
        result = run_call(
            steer.control(
                self._person.calls, wish.run.run_id, wish.command, model=wish.model, reason=wish.reason
            )
        )
        return "" if result.is_success else steer.failure_of(result).message

    def detail(self, run: Run) -> RunDetail:
        return RunDetail(tail=run_call(steer.read_output(self._person.calls, run.run_id)))

    def address(self, ask: Ask) -> str:
        return f"http://127.0.0.1/{ask.ask_id}"

    def listen(self, tell: Callable[[], None]) -> None:
        self.tell = tell

    def close(self) -> None:
        """Nothing is held."""


class Agent:
    """Something that an agent does until a person lets it go on: what it was told, or why it was told nothing."""

    def __init__(self, work: Callable[[], Any]) -> None:
        self._work = work
        self.told: Any = None
        self.error: AssentError | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            self.told = self._work()
        except AssentError as error:
            self.error = error

    def join(self) -> Any:
        """Return what the agent was told, once it goes on."""
        self._thread.join(PATIENCE)
        assert not self._thread.is_alive(), "the agent still waits"
        return self.told


class Seat:
    """The keys and the screen of an inbox; its clock moves when a key wants it to."""

    def __init__(self, app: InboxApp, pilot: Pilot[None], feed: ClientFeed, time: list[float]) -> None:
        self.app, self.pilot, self.feed, self._time = app, pilot, feed, time

    @property
    def view(self) -> View:
        """What is shown."""
        return self.app.sitting.view

    def screen(self) -> str:
        """Return what is on the screen."""
        size = self.app.size
        return "\n".join(line.text for line in compose(self.view, size.width, size.height))

    async def press(self, *keys: str) -> None:
        """Press keys, each a beat after the other."""
        for key in keys:
            await self.hit(key, BEAT_SECONDS)
        await self._settle()

    async def press_early(self, *keys: str) -> None:
        """Press keys at once."""
        for key in keys:
            await self.hit(key, 0)
        await self._settle()

    async def type(self, text: str) -> None:
        """Type a text into the field that is open."""
        await self.press_early(*({" ": "space", "\n": "enter"}.get(each, each) for each in text))

    async def _settle(self) -> None:
        """Wait until all that is on the screen has taken what was sent to it."""
        if not self.app._exit:
            await self.pilot._wait_for_screen(PATIENCE)

    async def hit(self, key: str, after: float) -> None:
        """Press a key so many seconds after the last one, and wait until it was taken and no longer."""
        self._time[0] += after
        character = _CHARACTERS.get(key, key if len(key) == 1 else None)
        name = key if len(key) > 1 or key.isalnum() else _character_to_key(key)
        event = events.Key(name, character)
        event.set_sender(self.app)
        assert self.app._driver is not None
        self.app._driver.send_message(event)
        for _ in range(2):  # down to what has the focus and up again, and then what comes of it
            for pump in (self.app, self.app.focused or self.app.screen, self.app.screen, self.app):
                taken = asyncio.Event()
                pump.call_later(taken.set)
                for _ in range(round(PATIENCE / _LOOK)):
                    if taken.is_set() or self.app._exit:
                        break
                    with suppress(TimeoutError):
                        await asyncio.wait_for(taken.wait(), _LOOK)

    async def until(self, holds: Callable[[], object], what: str = "it") -> None:
        """Wait until something holds.

        Raises:
            AssertionError: that takes too long.
        """
        for _ in range(round(PATIENCE / _LOOK)):
            if holds():
                return
            await self.pilot.pause(_LOOK)
        raise AssertionError(f"{what} did not happen:\n{self.screen()}")

    async def shows(self, count: int) -> None:
        """Wait until so many asks wait."""

        def look() -> bool:
            self.feed.tell()
            return len(self.view.groups.open) == count

        await self.until(look, f"{count} asks")

    async def ended(self) -> None:
        """Wait until the open ask has ended."""
        await self.until(lambda: self.view.ask is not None and not self.view.ask.is_open, "the end")


def sit(
    store: ThrowawayStore,
    story: Callable[[Seat], Awaitable[None]],
    *,
    size: tuple[int, int] = (120, 36),
    folder: Path | None = None,
    feed: ClientFeed | None = None,
) -> None:
    """Have ana sit down at the inbox of a store, and do something there."""
    feed = feed or ClientFeed(store.person("ana", assurance=Assurance.TERMINAL))
    time = [100.0]

    async def run() -> None:
        app = InboxApp(feed, Drafts(folder), "ana", clock=lambda: time[0])
        async with app.run_test(size=size) as pilot:
            await story(Seat(app, pilot, feed, time))

    asyncio.run(run())
