"""The feed: a project's log, live. Read by cursor; a ring or the clock says when to look again."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from typing import Generic, Protocol, Self, TypeVar

from assent.hub.waiters import DEAF_SECONDS, NET_SECONDS
from assent.storage.port import Reader, Store

__all__ = ["Feed", "Numbered"]

_PAGE = 500


class Numbered(Protocol):
    """Something that has its place in a project's log: an event, or a message of a topic."""

    @property
    def sequence(self) -> int: ...


N = TypeVar("N", bound=Numbered)


class Feed(Generic[N]):
    """What comes after a number, for one reader. Resumable: remember the last number and come again."""

    def __init__(self, store: Store, read: Callable[[Reader, int, int], list[N]], after: int) -> None:
        self._store = store
        self._read = read
        self.cursor = after
        self._listener = store.bell.listen(follows_feed=True)
        self._is_closed = False
        self._hearing = threading.Lock()
        """Held while somebody listens: the ear may be taken off by another thread, but not in mid-word."""

    def read(self, limit: int = _PAGE) -> list[N]:
        """Return what is there now, at most `limit`, and move on behind it."""
        with self._store.reading() as reader:
            found = self._read(reader, self.cursor, limit)
        if found:
            self.cursor = found[-1].sequence
        return found

    def wait(self, seconds: float) -> list[N]:
        """Return what comes next, or nothing after `seconds`."""
        until = time.monotonic() + seconds
        while not self._is_closed:
            found = self.read()
            left = until - time.monotonic()
            if found or left <= 0:
                return found
            self._hear(left)
        return []

    def _hear(self, seconds: float) -> None:
        if self._listener is None:
            time.sleep(min(seconds, DEAF_SECONDS))
            return
        with self._hearing:
            if not self._is_closed:
                self._listener.wait(min(seconds, NET_SECONDS))

    def __iter__(self) -> Iterator[N]:
        while not self._is_closed:
            yield from self.wait(3_600)

    def nudge(self) -> None:
        """Look now: this process has just written."""
        if self._listener is not None:
            self._listener.nudge()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the feed, from any thread; a `wait` in another one returns."""
        self._is_closed = True
        if self._listener is not None:
            self._listener.nudge()
            with self._hearing:
                self._listener.close()
