"""What a caller holds while its command is on its way: one lock for threads, a loop's own future for tasks.

A light future costs a quarter of `concurrent.futures.Future`, and a whole group of a loop's futures is settled
with one call into that loop.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar

if TYPE_CHECKING:
    import asyncio

__all__ = ["Future", "LightFuture", "Settled", "settle"]

T = TypeVar("T")
_NAP = 1.0


class LightFuture(Generic[T]):
    """A value or an error that one thread waits for."""

    __slots__ = ("_error", "_lock", "_value")

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._lock.acquire()
        self._value: T | None = None
        self._error: BaseException | None = None

    def set(self, value: T | None, error: BaseException | None) -> None:
        """Give it its value or error, once."""
        self._value, self._error = value, error
        self._lock.release()

    def wait(self, seconds: float | None = None) -> bool:
        """Wait for it; say whether it came. Ctrl-C ends the wait."""
        if self._lock.acquire(blocking=False):
            self._lock.release()
            return True
        until = None if seconds is None else time.monotonic() + seconds
        # A signal that comes just before the main thread falls asleep is only seen when it wakes.
        longest = _NAP if threading.current_thread() is threading.main_thread() else threading.TIMEOUT_MAX
        while True:
            left = longest if until is None else min(longest, max(0.0, until - time.monotonic()))
            if self._lock.acquire(timeout=left):
                self._lock.release()
                return True
            if until is not None and time.monotonic() >= until:
                return False

    def result(self) -> T:
        """Return the value, waiting for it where it is not there yet: nothing may pass for a reply that is none."""
        if self._lock.locked():
            self.wait()
        if self._error is not None:
            raise self._error
        return self._value  # type: ignore[return-value]  # set together with no error


if TYPE_CHECKING:
    Future: TypeAlias = LightFuture[T] | asyncio.Future[T]
    Settled: TypeAlias = tuple[Future[T], T | None, BaseException | None]
else:
    # asyncio takes longer to import than all the rest of Assent, and whoever has a loop has imported it.
    Future = Settled = Any


def settle(settled: Iterable[Settled[T]]) -> None:
    """Give each future its value or error; one call into each event loop."""
    loops: dict[asyncio.AbstractEventLoop, list[Settled[T]]] = {}
    for future, value, error in settled:
        if isinstance(future, LightFuture):
            future.set(value, error)
        else:
            loops.setdefault(future.get_loop(), []).append((future, value, error))
    for loop, group in loops.items():
        try:
            loop.call_soon_threadsafe(_settle_here, group)
        except RuntimeError:
            continue  # the loop is closed: nobody waits there any more


def _settle_here(group: list[Settled[T]]) -> None:
    for future, value, error in group:
        assert not isinstance(future, LightFuture)  # noqa: S101 - only loops' futures are sent here
        if future.done():
            continue
        if error is not None:
            future.set_exception(error)
        else:
            future.set_result(value)  # type: ignore[arg-type]  # set together with no error
