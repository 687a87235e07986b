"""The only file that reads the wall clock. Waiting goes by the monotonic clock, which anybody may read.

What two processes must agree on goes by the boot clock: nobody sets it, and it goes on while the machine sleeps.
"""

from __future__ import annotations

import time
from datetime import datetime, timedelta
from typing import Protocol

__all__ = ["AHEAD_SECONDS", "Clock", "SystemClock", "boot_milliseconds", "is_ahead"]

AHEAD_SECONDS = 300
"""An event that is dated further ahead of the clock was written by a clock that was wrong, or before it was set back."""

_BOOT_CLOCK = getattr(
    time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC
)  # where there is none, that one does not sleep


class Clock(Protocol):
    """The store's clock: microseconds since 1970."""

    def now(self) -> int: ...


class SystemClock:
    """The machine's own clock."""

    def now(self) -> int:
        """Return microseconds since 1970."""
        return time.time_ns() // 1000


def is_ahead(at: datetime, now: datetime) -> bool:
    """Say whether an event is dated so far ahead of the clock that it is marked."""
    return at - now > timedelta(seconds=AHEAD_SECONDS)


def boot_milliseconds() -> int:
    """Return milliseconds since this machine was started, or some other moment that stays the same until it is again."""
    return time.clock_gettime_ns(_BOOT_CLOCK) // 1_000_000
