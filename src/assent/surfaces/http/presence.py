"""Who looks at what right now, of those whose page is open on this server.

Rule 1: it is kept in the memory of one server and nowhere else: not stored, not logged, gone with it. Who looks through
        another server on the same store is not seen.
Rule 2: whoever no longer says so is gone after some seconds.
Rule 3: somebody is seen only by those who reach the project that they look at; nobody sees themselves.
Rule 4: it is bounded, by token and in all.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime
from itertools import takewhile

import msgspec

from assent.protocol.error import TooManyError
from assent.protocol.token import Token
from assent.protocol.wire_record import LookBody, Present

__all__ = ["MAX_PAGES", "MAX_PRESENT", "MAX_PRESENT_TOLD", "PRESENT_SECONDS", "Presence"]

MAX_PAGES = 20
"""Of one token at the same time; one more takes the place of the one that was silent for longest."""
MAX_PRESENT = 10_000
MAX_PRESENT_TOLD = 500
"""So many others one page is told of, those that came last."""
PRESENT_SECONDS = 15.0
"""So long somebody is present who says nothing more."""


class _Entry(msgspec.Struct, frozen=True):
    present: Present
    until: float


class Presence:
    """Who is there."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._entries: dict[tuple[str, str], _Entry] = {}
        """By token and page; whoever was silent for longest comes first."""

    def look(self, token: Token, via: str, body: LookBody, at: datetime) -> list[Present]:
        """Note what somebody looks at now; return the others whom they can see, the last to come first.

        Raises:
            TooManyError: there is no room for one more.
        """
        self._forget()
        key = token.token_id, body.page
        before = self._entries.pop(key, None)
        self._make_room(token)
        now = Present(str(token.principal), via, body.project, body.ask_id, at)
        if before is not None and _place(before.present) == _place(now):
            now = before.present
        self._entries[key] = _Entry(now, self._clock() + PRESENT_SECONDS)
        return self._seen_by(token)

    def _seen_by(self, token: Token) -> list[Present]:
        who = str(token.principal)
        found = [
            entry.present
            for entry in self._entries.values()
            if entry.present.by != who and entry.present.project and token.reaches(entry.present.project)
        ]
        return sorted(found, key=lambda each: each.since, reverse=True)[:MAX_PRESENT_TOLD]

    def _make_room(self, token: Token) -> None:
        own = [key for key in self._entries if key[0] == token.token_id]
        if len(own) >= MAX_PAGES:
            del self._entries[own[0]]
        if len(self._entries) >= MAX_PRESENT:
            raise TooManyError("Too many pages are open on this server at once.")

    def _forget(self) -> None:
        now = self._clock()
        for key in [*takewhile(lambda key: self._entries[key].until <= now, self._entries)]:
            del self._entries[key]


def _place(present: Present) -> tuple[str, str | None, str | None]:
    return present.via, present.project, present.ask_id
