"""How much one caller may ask: a rate limit, and a limit on what it has open. A server has them, a file has not."""

from __future__ import annotations

from collections.abc import Callable

from assent.protocol.error import TooManyError, TooManyOpenError

__all__ = ["Allowance"]


class Allowance:
    """What one request may open, looked at in the transaction that would open it: a retry opens nothing, and takes nothing."""

    def __init__(self, most_open: int, per_minute: int, take: Callable[[], float]) -> None:
        self._most_open, self._per_minute, self._take = most_open, per_minute, take
        self._is_taken = False
        """A transaction that is tried again takes from the rate once."""

    def check(self, count_open: Callable[[], int]) -> None:
        """Let one more ask be opened.

        Raises:
            TooManyOpenError: as many wait as may.
            TooManyError: as many were opened in the last minute as may be.
        """
        if self._most_open and count_open() >= self._most_open:
            raise TooManyOpenError(
                f"You have {self._most_open:,} asks open, and no more are taken before people ended some; nothing was asked."
            )
        seconds = 0.0 if self._is_taken else self._take()
        if seconds:
            raise TooManyError(
                f"At most {self._per_minute:,} asks a minute are taken of one token; nothing was asked.",
                seconds=seconds,
            )
        self._is_taken = True
