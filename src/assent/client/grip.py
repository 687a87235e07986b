"""A driver's grip on its flow: the hold, and the work that it began under it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from assent.client.door import Wait
from assent.hub.future import Future, LightFuture, settle
from assent.hub.record import Hold
from assent.protocol.error import FlowTakenError

if TYPE_CHECKING:
    import asyncio

__all__ = ["Grip", "beside"]

T = TypeVar("T")


def _nothing() -> None:
    pass


def beside(
    act: Callable[[], T], begin: Callable[[], None] = _nothing, end: Callable[[], None] = _nothing
) -> Wait[T]:
    """Return a wait for something that may take long: done here, or beside the event loop on a thread of its own.

    There, `begin` is called before the thread starts, and `end` on it when the act is over.
    """

    def start(loop: asyncio.AbstractEventLoop | None) -> Future[T]:
        if loop is None:
            light: LightFuture[T] = LightFuture()
            light.set(act(), None)
            return light
        future: asyncio.Future[T] = loop.create_future()
        begin()
        threading.Thread(target=run, args=(future,), daemon=True, name="assent-work").start()
        return future

    def run(future: Future[T]) -> None:
        value: T | None = None
        error: BaseException | None = None
        try:
            value = act()
        except BaseException as raised:  # noqa: BLE001 - whatever it is, the task that waits for it must learn of it
            error = raised
        finally:
            end()
        settle([(future, value, error)])

    return Wait(start)


class Grip:
    """The hold on a flow, let go of when its driver and all the work that it began are over.

    A task can be cancelled while its work is under way on a thread: nobody may take the flow before that has ended.
    """

    def __init__(self, hold: Hold) -> None:
        self._hold = hold
        self._users = 1
        self._lock = threading.Lock()

    def check(self) -> None:
        """Make sure that this process still drives the flow: a forked child does not.

        Raises:
            FlowTakenError: somebody else does, or may.
        """
        if not self._hold.is_held:
            raise FlowTakenError

    def leave(self) -> None:
        """Let go."""
        with self._lock:
            self._users -= 1
            is_last = not self._users
        if is_last:
            self._hold.release()

    def work(self, act: Callable[[], T]) -> Wait[T]:
        """Do something that may take long: here, or beside the event loop."""
        return beside(act, self._join, self.leave)

    def _join(self) -> None:
        with self._lock:
            self._users += 1
