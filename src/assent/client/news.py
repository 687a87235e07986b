"""A project's log as it grows, for all who follow it on one server: one thread, however many they are.

The thread hands round what it read, as the text that goes out. Whoever is further behind reads the store by cursor: so
nobody's slowness costs memory, and nobody misses anything.

Rule 1: what is kept at hand is without a gap, or it is thrown away: a place in it is counted, not looked for.
Rule 2: how much is kept, and how much is handed out at once, is bounded in events and in characters.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Iterable
from contextlib import suppress
from itertools import islice

from assent.client.broadcast import Told, render_event
from assent.client.door import run_call, until
from assent.client.embedded import EmbeddedDoor
from assent.client.stretch import read_stretch
from assent.hub.record import Record
from assent.protocol.error import AssentError

__all__ = ["KEPT_CHARACTERS", "KEPT_EVENTS", "PAGE_CHARACTERS", "News", "Told"]

KEPT_EVENTS = 1_000
"""So many of the last events are kept at hand; what is older is read from the store."""
KEPT_CHARACTERS = 4 << 20
"""And no more than so much of their text."""
PAGE_CHARACTERS = 1 << 18
"""So much text is handed out at once, or one event where it alone is larger."""
_NAP = 1.0


class News:
    """What happens in one project, from the moment of its making on."""

    def __init__(self, door: EmbeddedDoor, project: str, loop: asyncio.AbstractEventLoop) -> None:
        self._door, self._project, self._loop = door, project, loop
        self.last = run_call(until(door.head(project)))
        """The number of the last event that is known here."""
        self._kept: deque[Told] = deque()
        self._kept_characters = 0
        self._waiting: set[asyncio.Future[None]] = set()
        self._closing = threading.Event()
        self._following = door.follow(project, self.last)
        self._thread = threading.Thread(target=self._listen, daemon=True, name="assent-news")
        self._thread.start()

    def _listen(self) -> None:
        while not self._closing.is_set():
            try:
                records = self._following.wait(_NAP)
            except AssentError:
                self._closing.wait(_NAP)  # the store is away for a moment: the cursor stands where it stood
                continue
            told = self._render(records)
            if told:
                with suppress(RuntimeError):  # the loop is gone, and so is whoever listened
                    self._loop.call_soon_threadsafe(self._tell, told)

    def _render(self, records: list[Record]) -> list[Told]:
        """Render them all, however often it takes: the cursor is behind them, so nobody would read them again."""
        while not self._closing.is_set():
            try:
                return [render_event(self._door, record) for record in records]
            except AssentError:
                self._closing.wait(_NAP)
        return []

    def _tell(self, told: list[Told]) -> None:
        self._kept.extend(told)
        self._kept_characters += sum(len(each.text) for each in told)
        while len(self._kept) > KEPT_EVENTS or self._kept_characters > KEPT_CHARACTERS:
            self._kept_characters -= len(self._kept.popleft().text)
        self.last = told[-1].sequence
        self._wake()

    def _wake(self) -> None:
        for future in self._waiting:
            if not future.done():
                future.set_result(None)
        self._waiting.clear()

    def since(self, after: int, limit: int) -> list[Told]:
        """Return what came after a number, at most a page of it: from what is at hand, or from the store."""
        if after >= self.last:
            return []
        if self._kept and self._kept[0].sequence <= after + 1:
            skipped = after + 1 - self._kept[0].sequence
            return _page(islice(self._kept, skipped, skipped + limit))
        # No more than goes out: a page of large events would keep everybody waiting each time it is read.
        records = run_call(read_stretch(self._door, self._project, after, limit, PAGE_CHARACTERS))
        return _page(render_event(self._door, record) for record in records)

    async def wait(self, after: int, seconds: float) -> bool:
        """Wait until there is something after a number; say whether there is."""
        if self.last <= after and not self._closing.is_set():
            future: asyncio.Future[None] = self._loop.create_future()
            self._waiting.add(future)
            try:
                await asyncio.wait({future}, timeout=seconds)
            finally:
                self._waiting.discard(future)
        return self.last > after

    def close(self) -> None:
        """End it; whoever waits is told that there is nothing."""
        self._closing.set()
        self._following.close()
        self._wake()


def _page(found: Iterable[Told]) -> list[Told]:
    page: list[Told] = []
    size = 0
    for told in found:
        size += len(told.text)
        if page and size > PAGE_CHARACTERS:
            break
        page.append(told)
    return page
