"""A clock that stands still until a test moves it.

Time passes in order: on its way `advance` stops at every deadline and at every moment for which a scripted person
has planned something, so that a test of a whole week runs in no time and still happens as it would have.
"""

from __future__ import annotations

import threading
import weakref
from datetime import UTC, datetime, timedelta
from typing import Protocol

from assent.hub.hub import Hub

__all__ = ["FakeClock", "Planner"]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


class Planner(Protocol):
    """Somebody who wants to act at a moment of the clock."""

    def catch_up(self) -> None: ...
    def next_due(self) -> int | None: ...
    def act(self) -> None: ...


class FakeClock:
    """Fits `hub.clock.Clock`; every hub and scripted person on it notices when it is moved.

    >>> clock = FakeClock(datetime(2031, 5, 1, 9, 0, tzinfo=UTC))
    >>> clock.advance(90)
    >>> clock.advance(timedelta(hours=1))
    >>> str(clock.at)
    '2031-05-01 10:01:30+00:00'
    """

    def __init__(self, start: datetime = datetime(2030, 1, 1, tzinfo=UTC)) -> None:
        self._now = _number(start)
        self._moving = threading.RLock()
        self._hubs: weakref.WeakSet[Hub] = weakref.WeakSet()
        self._planners: list[Planner] = []

    def now(self) -> int:
        """Return microseconds since 1970."""
        return self._now

    @property
    def at(self) -> datetime:
        """The present moment."""
        return _EPOCH + self._now * _MICROSECOND

    def advance(self, by: float | timedelta) -> None:
        """Let so many seconds pass; what falls due on the way happens at its own moment, in order."""
        span = by if isinstance(by, timedelta) else timedelta(seconds=by)
        if span < timedelta(0):
            raise ValueError("Time only passes forwards; `set` can step back.")
        with self._moving:
            target = self._now + span // _MICROSECOND
            self._let_planners_look()
            while (moment := self._next_stop(target)) is not None:
                self._arrive(max(moment, self._now))
            self._arrive(target)

    def set(self, to: datetime) -> None:
        """Jump, also backwards, as a machine that slept or whose clock was corrected: nothing happens on the way."""
        with self._moving:
            self._let_planners_look()
            self._arrive(_number(to))

    def attach(self, hub: Hub) -> None:
        """Have `hub` apply what is due whenever the clock moves."""
        self._hubs.add(hub)

    def plan(self, planner: Planner) -> None:
        """Have `planner` act at its moments, until `forget`."""
        self._planners.append(planner)

    def forget(self, planner: Planner) -> None:
        """Let `planner` go."""
        self._planners.remove(planner)

    def _next_stop(self, target: int) -> int | None:
        moments = [planner.next_due() for planner in self._planners]
        for hub in list(self._hubs):
            with hub.store.reading() as reader:
                moments.append(reader.next_deadline())
        return min((moment for moment in moments if moment is not None and moment <= target), default=None)

    def _arrive(self, moment: int) -> None:
        self._now = moment
        # Deadlines first: who answers at the very instant is too late.
        for hub in list(self._hubs):
            hub.tick()
        for planner in list(self._planners):
            planner.act()
        self._let_planners_look()

    def _let_planners_look(self) -> None:
        for planner in list(self._planners):
            planner.catch_up()


def _number(moment: datetime) -> int:
    return (moment - _EPOCH) // _MICROSECOND
