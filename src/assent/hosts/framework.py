"""Tool calls that a framework stopped before, decided by people: what every framework's adapter does the same way.

Rule 1: only a receipt, redeemed for exactly this call, lets a tool run. All else is a no that says what happened.
Rule 2: everything that a framework waits for is opened at once, so that people see all of it.
Rule 3: first everything is settled, which may take days and spends nothing; only then are receipts redeemed. So whoever
        stops waiting in between finds every yes unspent when it comes again.
Rule 4: keys are made from what the framework keeps over a restart, so that the same call is the same ask.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from typing import TypedDict, Unpack

import msgspec

from assent.client.approving import request_approval
from assent.client.calls import MAX_KEY, Calls, no_answer
from assent.client.door import Call
from assent.hosts.permission import ask_permission
from assent.protocol.approval import is_approved, render_rejection
from assent.protocol.ask import Ask, Consequence
from assent.protocol.canonical import digest
from assent.protocol.display import is_blank, quote
from assent.protocol.error import RejectedBefore
from assent.protocol.json_text import Json
from assent.protocol.receipt import Receipt

__all__ = [
    "Patience",
    "Terms",
    "ToolReview",
    "Verdict",
    "Way",
    "host_key",
    "open_approval",
    "settle_approval",
    "spend",
    "tool_title",
]

_NO_NAME = "(no name)"
_LONGEST_NAME = 200
_LONGEST_KEY = MAX_KEY - 50
"""What is asked after a no, or of one call in several, has a key that goes on."""


class Way(StrEnum):
    """What can become of a tool call."""

    APPROVE = "approve"
    EDIT = "edit"
    RESPOND = "respond"
    REJECT = "reject"
    IGNORE = "ignore"


class Terms(TypedDict, total=False):
    """What an adapter's caller may say about the approvals; see `client.approving.approve`."""

    category: str | None
    risk: str | None
    life: timedelta
    task_id: str | None
    run_id: str | None
    deadline: datetime | timedelta | None
    consequence: Consequence | str
    escalate_to: str | None


class ToolReview(msgspec.Struct, frozen=True):
    """A call that waits for a person."""

    key: str
    name: str
    args: Json
    body: str = ""
    ways: frozenset[Way] = frozenset({Way.APPROVE, Way.REJECT})
    """What the framework takes as a decision."""

    @property
    def action(self) -> Json:
        """What is approved."""
        return {"name": self.name, "args": self.args}


class Verdict(msgspec.Struct, frozen=True):
    """What was decided about a call."""

    way: Way
    text: str = ""
    """Why not, who said yes, or the words that stand for the tool's result."""
    review: ToolReview | None = None
    """The call to run, where one may run: the agent's, or what a person made of it."""
    ask: Ask | None = None
    """Where it was decided, as far as a person was asked."""


class Patience:
    """How long all of it together may wait."""

    def __init__(self, seconds: float | None) -> None:
        self._until = None if seconds is None else time.monotonic() + seconds

    @property
    def left(self) -> float | None:
        """The seconds that are left; None is without end."""
        return None if self._until is None else max(0.0, self._until - time.monotonic())


def host_key(*parts: str) -> str:
    """Return the key of an ask, made of what the framework calls things; a long one is told by its digest.

    >>> host_key("langgraph", "thread-1", "a1")
    'langgraph:thread-1:a1'
    """
    # A part may hold a colon itself: doubled, so that no two lists of parts have the same key.
    key = ":".join(part.replace(":", "::") for part in parts)
    return key if len(key) <= _LONGEST_KEY else f"{parts[0]}:{digest(key.encode('utf-8', 'surrogatepass'))}"


def tool_title(name: str) -> str:
    """Return the question whether a tool may run.

    >>> tool_title("send_email")
    'Run send_email?'
    """
    return f"Run {_NO_NAME if is_blank(name) else quote(name, _LONGEST_NAME)}?"


def open_approval(calls: Calls, review: ToolReview, terms: Terms) -> Call[Receipt | Ask]:
    """Ask whether a call may run, and do not wait.

    Raises:
        RejectedBefore: a person said no to this very call lately, and is not asked again.
    """
    title = tool_title(review.name)
    return (
        yield from request_approval(
            calls, title, action=review.action, body=review.body, key=review.key, **terms
        )
    )


def settle_approval(calls: Calls, review: ToolReview, patience: Patience, terms: Terms) -> Call[Verdict]:
    """Wait until somebody has decided whether a call may run; nothing is spent yet.

    Raises:
        StillOpen: the time is over; the ask stays open.
    """
    try:
        told = yield from open_approval(calls, review, terms)
    except RejectedBefore as before:
        return Verdict(Way.REJECT, before.message)
    if isinstance(told, Receipt):
        return Verdict(Way.APPROVE, review=review)
    ended = (yield from calls.wait(told.ask_id, patience.left)) if told.is_open else told
    if ended.answer is None:
        return Verdict(Way.REJECT, no_answer(ended).message, ask=ended)
    if is_approved(ended):
        return Verdict(Way.APPROVE, review=review, ask=ended)
    return Verdict(Way.REJECT, render_rejection(ended), ask=ended)


def spend(calls: Calls, verdicts: Sequence[Verdict], **terms: Unpack[Terms]) -> Call[tuple[Verdict, ...]]:
    """Redeem the receipts of all calls that may run, right before they run; what is refused becomes a no."""
    spent = []
    for verdict in verdicts:
        review = verdict.review
        if review is None:
            spent.append(verdict)
            continue
        permission = yield from ask_permission(
            calls,
            tool_title(review.name),
            action=review.action,
            body=review.body,
            key=review.key,
            wait=0,
            **terms,
        )
        if permission.is_allowed:
            spent.append(msgspec.structs.replace(verdict, text=permission.reason))
        else:
            spent.append(Verdict(Way.REJECT, permission.reason, ask=permission.ask))
    return tuple(spent)
