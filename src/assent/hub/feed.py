"""The feed: a project's log, live. Read by cursor; a ring or the clock says when to look again."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from typing import Self

from assent.hub.waiters import DEAF_SECONDS, NET_SECONDS
from assent.storage.port import Record, Store

__all__ = ["Feed"]

_PAGE = 500


class Feed:
    """The events of a project after a number, for one reader. Resumable: remember the last number and come again."""

    def __init__(self, store: Store, project: str, after: int) -> None:
        self._store = store
        self._project = project
        self.cursor = after
        self._listener = store.bell.listen(follows_feed=True)
        self._is_closed = False
        self._hearing = threading.Lock()
        """Held while somebody listens: the ear may be taken off by another thread, but not in mid-word."""

    def read(self, limit: int = _PAGE) -> list[Record]:
        """Return what is there now, at most `limit` events, and move on behind it."""
        with self._store.reading() as reader:
            records = reader.records(self._project, self.cursor, limit)
        if records:
            self.cursor = records[-1].sequence
        return records

    def wait(self, seconds: float) -> list[Record]:
        """Return the next events, or nothing after `seconds`."""
        until = time.monotonic() + seconds
        while not self._is_closed:
            records = self.read()
            left = until - time.monotonic()
            if records or left <= 0:
                return records
            self._hear(left)
        return []

    def _hear(self, seconds: float) -> None:
        if self._listener is None:
            time.sleep(min(seconds, DEAF_SECONDS))
            return
        with self._hearing:
            if not self._is_closed:
                self._listener.wait(min(seconds, NET_SECONDS))

    def __iter__(self) -> Iterator[Record]:
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
