"""The database's clock, as it was last heard: it comes with the head of a project, with a new connection, and with a read
once a second. In between it is counted on by the clock of this machine that nobody sets.
"""

from __future__ import annotations

import time
from collections.abc import Callable

__all__ = ["DatabaseClock", "boot_seconds"]

_OLD_SECONDS = 1.0


def boot_seconds() -> float:
    """Return seconds by a clock that never jumps, and does not stand still while the machine sleeps."""
    return time.clock_gettime(time.CLOCK_BOOTTIME) if hasattr(time, "CLOCK_BOOTTIME") else time.monotonic()


class DatabaseClock:
    """Fits `storage.port.StoreClock`. What it says is late by the way from the database, and never ahead."""

    def __init__(self, ask: Callable[[], None]) -> None:
        self._ask = ask
        """Asks the database for anything; where it was never heard."""
        self._heard: tuple[int, float] | None = None

    @property
    def is_old(self) -> bool:
        """Whether it was not heard for a while."""
        return self._heard is None or boot_seconds() - self._heard[1] > _OLD_SECONDS

    def hear(self, now: int) -> None:
        """Set it to what the database has just said."""
        self._heard = (now, boot_seconds())

    def now(self) -> int:
        """Return microseconds since 1970."""
        if self._heard is None:
            self._ask()
        assert self._heard is not None  # noqa: S101 - whoever connects hears it
        now, heard_at = self._heard
        return now + round((boot_seconds() - heard_at) * 1e6)
