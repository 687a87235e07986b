"""Who waits here for an ask of their own, over several long polls: a lease for each, so that their death can be seen.

Rule 1: a client names its wait. While a poll of that name is open the client lives; a poll that ends, or is hung up on, is
        followed by the next, or the client says that it was the last.
Rule 2: whoever does neither for GRACE_SECONDS is gone. A client that was only cut off comes again, and is back.
Rule 3: a server that stops leaves its leases as those of people who are gone: those who live come again.
"""

from __future__ import annotations

import asyncio

from assent.client.embedded import EmbeddedDoor
from assent.protocol.error import BadRequestError

__all__ = ["GRACE_SECONDS", "AskLeases", "check_waiter"]

GRACE_SECONDS = 5.0
"""Longer than a client pauses before it tries again."""
_LONGEST = 200


class AskLeases:
    """The leases of one server's clients."""

    def __init__(self, door: EmbeddedDoor) -> None:
        self._waits = door.waits
        self._timers: dict[tuple[str, str], asyncio.TimerHandle | None] = {}
        """By ask and name of the wait: what ends the lease, if no poll is open."""

    def begin(self, ask_id: str, waiter: str) -> None:
        """A poll is open."""
        name = ask_id, waiter
        if name not in self._timers:
            self._waits.begin(ask_id)
        self._stop(name)

    def pause(self, ask_id: str, waiter: str) -> None:
        """A poll is over; another should follow."""
        name = ask_id, waiter
        if name in self._timers:
            self._stop(name)
            loop = asyncio.get_running_loop()
            self._timers[name] = loop.call_later(GRACE_SECONDS, self._lose, name)

    def end(self, ask_id: str, waiter: str, *, is_over: bool) -> None:
        """The wait is over, in order."""
        name = ask_id, waiter
        if name not in self._timers:  # it was taken for lost, and says now that it only left
            self._waits.begin(ask_id)
        self._stop(name)
        del self._timers[name]
        self._waits.end(ask_id, is_over=is_over)

    def close(self) -> None:
        """Leave what is held to whoever comes again."""
        for name in list(self._timers):
            self._stop(name)
            self._lose(name)

    def _stop(self, name: tuple[str, str]) -> None:
        timer = self._timers.get(name)
        if timer is not None:
            timer.cancel()
        self._timers[name] = None

    def _lose(self, name: tuple[str, str]) -> None:
        del self._timers[name]
        self._waits.abandon(name[0])


def check_waiter(name: str | None) -> str:
    """Return the name of a wait; empty for none.

    Raises:
        BadRequestError: it is no name.
    """
    if name is None:
        return ""
    if not (1 <= len(name) <= _LONGEST and name.isascii() and name.isprintable()):
        raise BadRequestError(f"A waiter has 1 to {_LONGEST} visible ASCII characters.")
    return name
