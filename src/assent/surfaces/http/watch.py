"""Who watches a server: every request from its beginning to its end, and every command of its hub.

What counts (`metrics.py`) and what traces (`traces.py`) fit here; both are extras, and a server without them pays for
neither. Nothing that a request says is handed on but its verb, its headers, and the project once it was let in.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

import msgspec

from assent.client.verbs import Verb
from assent.client.watch import Figures, Transacted, Watch

__all__ = ["End", "Now", "Scrape", "SiteWatch", "Watches"]

End = Callable[[int, str], None]
"""Is told the status of the reply, and the project; empty where there is none, or the sender has no business there."""


class SiteWatch(Watch, Protocol):
    """Watches a server and its hub."""

    def request(self, verb: Verb, headers: Mapping[str, str]) -> End:
        """Begin to look at a request; the end is told on the task that began it."""


class Now(msgspec.Struct, frozen=True):
    """How a server stands at one moment."""

    figures: Figures
    waits: int
    """Requests that are kept waiting."""
    streams: int
    """Sockets and streams that are told of events."""
    leases: int
    """What clients drive alone, by this server."""
    messages: dict[str, int] = {}
    """What came of the messages to targets."""


class Scrape(Protocol):
    """Who has counted."""

    media: str

    def render(self, now: Now) -> bytes:
        """Return all that was counted, as text."""


class Watches:
    """Several as one; at most one of them wants to know who sends."""

    def __init__(self, *watches: SiteWatch) -> None:
        self._watches = watches

    @property
    def is_awake(self) -> bool:
        """One of them is."""
        return any(watch.is_awake for watch in self._watches)

    def sender(self) -> object:
        """Return what the one remembers that remembers something."""
        senders = (watch.sender() for watch in self._watches)
        return next((sender for sender in senders if sender is not None), None)

    def transacted(self, seen: Transacted) -> None:
        """Tell all of them."""
        for watch in self._watches:
            watch.transacted(seen)

    def request(self, verb: Verb, headers: Mapping[str, str]) -> End:
        """Let all of them look."""
        ends = [watch.request(verb, headers) for watch in self._watches]

        def end(status: int, project: str) -> None:
            for one in reversed(ends):  # as it is with places that are entered and left
                one(status, project)

        return end
