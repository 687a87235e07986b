"""How long a task's commands wait for a store that another process holds.

A timer a command would cost more than the rest of its way through the event loop. Commands are begun in the order
in which they came, so one timer a loop is enough: it looks at the oldest.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

if TYPE_CHECKING:
    import asyncio

__all__ = ["Patience"]


class _Begun(Protocol):
    is_taken: bool


W = TypeVar("W", bound=_Begun)


class Patience(Generic[W]):
    """Gives up what one event loop sent and nobody has begun in time. It does not keep the loop alive."""

    def __init__(self, give_up: Callable[[W], None]) -> None:
        self._give_up = give_up
        self._waiting: deque[tuple[float, W]] = deque()
        self._is_armed = False

    def watch(self, loop: asyncio.AbstractEventLoop, work: W, seconds: float) -> None:
        """Give `work` so long to be begun."""
        while self._waiting and self._waiting[0][1].is_taken:
            self._waiting.popleft()
        self._waiting.append((loop.time() + seconds, work))
        if not self._is_armed:
            self._is_armed = True
            loop.call_later(seconds, self._look, loop)

    def _look(self, loop: asyncio.AbstractEventLoop) -> None:
        now = loop.time()
        while self._waiting and (self._waiting[0][1].is_taken or self._waiting[0][0] <= now):
            self._give_up(self._waiting.popleft()[1])
        self._is_armed = bool(self._waiting)
        if self._waiting:
            loop.call_later(self._waiting[0][0] - now, self._look, loop)
