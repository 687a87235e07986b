"""What comes after a number on a server: one long poll after the other, from the last number on."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from typing import Generic, Protocol, Self, TypeVar

from assent.protocol.error import UnreachableError

__all__ = ["ServerFollowing"]

_SLICE_SECONDS = 5.0
"""A poll is no longer than this, so that a following that was closed is over soon."""


class _Numbered(Protocol):
    @property
    def sequence(self) -> int: ...


N = TypeVar("N", bound=_Numbered)


class ServerFollowing(Generic[N]):
    """Fits `client.door.Following`. A server that goes away and comes back is followed on, without a gap."""

    def __init__(self, read: Callable[[int, float], list[N]], after: int) -> None:
        self._read = read
        """Gives what is after a number; waits so many seconds for the first."""
        self.cursor = after
        self._closed = threading.Event()

    def wait(self, seconds: float) -> list[N]:
        """Return what comes next, or nothing after `seconds`."""
        until = time.monotonic() + seconds
        while not self._closed.is_set():
            left = until - time.monotonic()
            try:
                found = self._read(self.cursor, max(0.0, min(left, _SLICE_SECONDS)))
            except UnreachableError:
                if left <= 0:
                    return []
                continue
            if found:
                self.cursor = found[-1].sequence
                return found
            if left <= 0:
                return []
        return []

    def __iter__(self) -> Iterator[N]:
        while not self._closed.is_set():
            yield from self.wait(3_600)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End it; a `wait` in another thread returns within seconds."""
        self._closed.set()
