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

__all__ = ["Grip"]

T = TypeVar("T")


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

        def start(loop: asyncio.AbstractEventLoop | None) -> Future[T]:
            if loop is None:
                light: LightFuture[T] = LightFuture()
                light.set(act(), None)
                return light
            future: asyncio.Future[T] = loop.create_future()
            with self._lock:
                self._users += 1
            threading.Thread(target=self._run, args=(act, future), daemon=True, name="assent-work").start()
            return future

        return Wait(start)

    def _run(self, act: Callable[[], T], future: Future[T]) -> None:
        value: T | None = None
        error: BaseException | None = None
        try:
            value = act()
        except BaseException as raised:  # noqa: BLE001 - whatever it is, the task that waits for it must learn of it
            error = raised
        finally:
            self.leave()
        settle([(future, value, error)])
