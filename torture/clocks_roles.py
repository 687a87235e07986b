"""Workers of the clock trial: each with a clock of its own, which the trial sets as one sets a machine's."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from assent.client.client import Client
from assent.hub.audit import find_ahead
from assent.hub.clock import SystemClock
from assent.protocol.ask import Consequence
from assent.protocol.error import AssentError, ConflictError, StillOpen
from assent.protocol.principal import Assurance, Principal, Role
from assent.storage.port import Reader
from torture.look import hub_of
from torture.nursery import Wire
from torture.swap import swap

__all__ = ["ASK_SECONDS", "LATE_SECONDS", "LIFE_SECONDS", "worker"]

ASK_SECONDS = 0.5
LIFE_SECONDS = 1.0
"""The shortest life of a token or a receipt."""
LATE_SECONDS = 20.0
"""Later than any machine that is only busy; what is frozen is a year late."""
_PROJECT = "clocks"
_PAGE = 7


class Desk:
    """What one worker does when it is told to."""

    def __init__(self, store: str, name: str) -> None:
        self._off = 0.0
        whole = SystemClock.now
        swap(SystemClock, "now", lambda clock: whole(clock) + round(self._off * 1e6))
        hub = hub_of(store)
        self._hub = hub
        self._agent = Client(hub, _PROJECT, Principal(Role.AGENT, "coder"))
        self._person = Client(hub, _PROJECT, Principal(Role.HUMAN, name), assurance=Assurance.TERMINAL)
        self._count = 0

    def step(self, seconds: float) -> dict[str, Any]:
        """Set the clock of this process: so many seconds off."""
        self._off = seconds
        return {}

    def write(self) -> dict[str, Any]:
        """Write whatever: an event with this clock's time, if it has any say."""
        self._count += 1
        self._agent.post("notes", {"number": self._count})
        return {}

    def hold(self) -> dict[str, Any]:
        """Open an ask that never ends by itself, and claim it."""
        ask = self._agent.open("Held?", ["Yes", "No"])
        self._person.claim(ask.ask_id)
        return {"ask_id": ask.ask_id}

    def claim(self, ask_id: str) -> dict[str, Any]:
        """Claim what somebody else has; say whether that can be had."""
        try:
            self._person.claim(ask_id)
        except ConflictError:
            return {"is_free": False}
        return {"is_free": True}

    def withdraw(self, ask_id: str) -> dict[str, Any]:
        """Take an ask back."""
        self._person.withdraw(ask_id)
        return {}

    def open(self, count: int) -> dict[str, Any]:
        """Open asks with a deadline; tell when the first was begun, and how long it took."""
        asks = []
        began = time.monotonic()
        for _ in range(count):
            since = time.monotonic()
            due = timedelta(seconds=ASK_SECONDS)
            ask = self._agent.open("Now?", ["Yes", "No"], deadline=due, consequence=Consequence.DENY)
            asks.append((ask.ask_id, since))
        return {"asks": asks, "spent": time.monotonic() - began}

    def left(self, asks: list[tuple[str, float]]) -> dict[str, Any]:
        """Tell what a surface would show as the time that is left."""
        shown = [self._agent.show(ask_id) for ask_id, _ in asks]
        now = self._agent.door.now()
        return {"left": [(ask.deadline - now).total_seconds() for ask in shown if ask.deadline is not None]}

    def wait(self, asks: list[tuple[str, float]]) -> dict[str, Any]:
        """Wait until the asks have ended; tell how long after they were begun that was."""
        ends = []
        for ask_id, since in asks:
            try:
                is_ended = not self._agent.wait(
                    ask_id, max(0.0, since + LATE_SECONDS - time.monotonic())
                ).is_open
            except StillOpen:
                is_ended = False
            ends.append({"after": time.monotonic() - since, "is_ended": is_ended})
        return {"ends": ends}

    def grant(self) -> dict[str, Any]:
        """Make two tokens and two receipts that live as short as any; tell from when, and when all are over for certain."""
        since = time.monotonic()
        life = timedelta(seconds=LIFE_SECONDS)
        self._person.set_policy({"scopeChanges": "automated"})
        made = []
        for _ in range(2):
            self._count += 1
            token, _secret = self._person.create_token(Role.OBSERVER, name=f"eye-{self._count}", life=life)
            action = {"step": self._count}
            receipt = self._agent.approve("Step", action=action, category="scopeChanges", life=life)
            made.append({"digest": token.digest, "receipt_id": receipt.receipt_id, "action": action})
        until = time.monotonic() + LIFE_SECONDS
        return {"since": since, "until": until, "first": made[0], "second": made[1]}

    def judge(self, digest: str, receipt_id: str, action: dict[str, Any]) -> dict[str, Any]:
        """Tell whether a token is good and a receipt can be redeemed, as a server and an executor would see it."""
        with self._hub.reading() as reader:
            token = reader.token_by_digest(digest)
        is_live = token is not None and token.is_live(self._agent.door.now())
        try:
            self._agent.redeem(receipt_id, action)
        except AssentError:
            is_redeemed = False
        else:
            is_redeemed = True
        return {"token": is_live, "receipt": is_redeemed, "at": time.monotonic()}

    def history(self) -> dict[str, Any]:
        """Tell whether all pages of the past together have every ask once, in the order of the log."""
        with self._hub.reading() as reader:
            ended = _walk(reader)
            total = len(reader.asks(_PROJECT, None, 1_000_000))
        ahead = sum(each.events for each in find_ahead(self._hub.store, self._agent.door.now()))
        is_ordered = ended == sorted(set(ended), reverse=True) and len(ended) == total
        return {"is_ordered": is_ordered, "ahead": ahead, "ended": len(ended), "total": total}


def _walk(reader: Reader) -> list[int]:
    """Return the numbers of the ends, page by page, newest first."""
    found: list[int] = []
    before = None
    while True:
        page = reader.page([_PROJECT], "ended", before=before, limit=_PAGE, most_bytes=1 << 20)
        found += [ask.sequence for ask in page.asks]
        if not page.has_more:
            return found
        before = page.asks[-1].ask_id


def worker(wire: Wire, store: str, name: str) -> None:
    """Do what the trial says, until it says no more."""
    desk = Desk(store, name)
    while True:
        told = wire.hear()
        do: Callable[..., dict[str, Any]] = getattr(desk, told.pop("do"))
        wire.say(**do(**told))
