"""Whether a command to a run comes in time: what a server obeys, nobody may have given up already (I29).

Rule 1: a sender that heard our clock says itself when it is too late.
Rule 2: for all others it is 30 seconds from when the request may have arrived. A server that stood still finds in its
        sockets what came meanwhile, and cannot tell when: it may be as old as the standstill.
Rule 3: who has hung up waits for nothing any more.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import msgspec

from assent.client.boot import boot_milliseconds, boot_time
from assent.protocol.boot_time import parse_boot_time
from assent.protocol.control import EXPIRY_SECONDS
from assent.protocol.error import Expired

__all__ = ["HUNG_UP", "SINCE", "Arrival", "Pulse", "arrival_of"]

SINCE = "since"
"""Under this name the application finds since when a request may have been waiting."""
HUNG_UP = "hung_up"
"""And under this one what says whether its sender is gone."""
_BEAT_SECONDS = 1.0
_PASSES = 8
"""So many passes of the event loop take in all that waited: one accepts, the next ones read."""


def _expiry(since: int) -> int:
    return since + EXPIRY_SECONDS * 1_000


def _is_never() -> bool:
    return False


class Pulse:
    """Beats in the event loop, and so knows when it stood still."""

    def __init__(self) -> None:
        self._beat_at: int | None = None
        """When the loop was last known to go round, with nothing left in its sockets."""

    def waiting_since(self) -> int:
        """Return since when something may have been waiting that is found now."""
        now, beat_at = boot_milliseconds(), self._beat_at
        return now if beat_at is None or now <= _expiry(beat_at) else beat_at

    async def beat(self) -> None:
        """Beat until it is cancelled."""
        while True:
            if self._beat_at is not None and boot_milliseconds() > _expiry(self._beat_at):
                for _ in range(_PASSES):
                    await asyncio.sleep(0)
                await asyncio.sleep(_BEAT_SECONDS)
            self._beat_at = boot_milliseconds()
            await asyncio.sleep(_BEAT_SECONDS)


class Arrival(msgspec.Struct, frozen=True):
    """When a request came, when it is too late for it, and whether its sender is still there."""

    since: int
    not_after: str | None = None
    """As the sender's header has it."""
    is_hung_up: Callable[[], bool] = _is_never

    def check(self) -> int:
        """Return when it is too late to obey, by the clock of this machine.

        Raises:
            Expired: it is too late already, or nobody waits for it.
            BadRequestError: the sender names no moment.
        """
        now, not_after = boot_time(), _expiry(self.since)
        if self.not_after is not None:
            given = parse_boot_time(self.not_after)
            if given.boot != now.boot:
                raise Expired(
                    "The command was meant for a server that no longer runs; it was not executed. Send it again."
                )
            not_after = min(given.milliseconds, _expiry(now.milliseconds))
        if now.milliseconds > not_after:
            raise Expired(
                "The command came too late, and was not executed. Send it again if you still want it."
            )
        if self.is_hung_up():
            raise Expired("Whoever sent the command has hung up; it was not executed.")
        return not_after


def arrival_of(scope: Any, not_after: str | None) -> Arrival:
    """Return when and how a request came, as its connection knows."""
    state = scope.get("state", {})
    return Arrival(state.get(SINCE, boot_milliseconds()), not_after, state.get(HUNG_UP, _is_never))
