"""The only file that reads the wall clock. Waiting goes by the monotonic clock, which anybody may read."""

from __future__ import annotations

import time
from typing import Protocol

__all__ = ["Clock", "SystemClock"]


class Clock(Protocol):
    """The store's clock: microseconds since 1970."""

    def now(self) -> int: ...


class SystemClock:
    """The machine's own clock."""

    def now(self) -> int:
        """Return microseconds since 1970."""
        return time.time_ns() // 1000
