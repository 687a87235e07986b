"""How much one caller may ask: a rate limit, and a limit on what it has open. A server has them, a file has not."""

from __future__ import annotations

from collections.abc import Callable

from assent.protocol.ask_limits import AskLimits
from assent.protocol.error import TooManyError, TooManyOpenError

__all__ = ["Allowance"]


class Allowance:
    """What one request may open, looked at in the transaction that would open it: a retry opens nothing, and takes nothing."""

    def __init__(self, limits: AskLimits, take: Callable[[], float]) -> None:
        self._limits, self._take = limits, take
        self._is_taken = False
        """A transaction that is tried again takes from the rate once."""

    def check(self, count_open: Callable[[], int]) -> None:
        """Let one more ask be opened.

        Raises:
            TooManyOpenError: as many wait as may.
            TooManyError: as many were opened in the last minute as may be.
        """
        most_open, per_minute = self._limits.most_open, self._limits.per_minute
        if most_open and count_open() >= most_open:
            raise TooManyOpenError(
                f"You have {most_open:,} asks open, and no more are taken before people ended some; nothing was asked."
            )
        seconds = 0.0 if self._is_taken or not per_minute else self._take()
        if seconds:
            raise TooManyError(
                f"At most {per_minute:,} asks a minute are taken of one token; nothing was asked.",
                seconds=seconds,
            )
        self._is_taken = True
