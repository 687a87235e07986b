"""What can happen to an ask: its events, as the log keeps them. The tag is the event's type on the wire."""

from __future__ import annotations

from datetime import datetime

import msgspec

from assent.protocol.answer import Answer
from assent.protocol.ask import Again, AskId, Consequence, Kind, Outcome
from assent.protocol.prompt import Prompt
from assent.protocol.terms import Terms

__all__ = [
    "AskAnswered",
    "AskDeclined",
    "AskEscalated",
    "AskExpired",
    "AskOpened",
    "AskOverdue",
    "AskSuperseded",
    "AskUndelivered",
    "AskWithdrawn",
    "Event",
]


class AskOpened(msgspec.Struct, frozen=True, gc=False, tag="ask.opened"):
    """An ask waits."""

    ask_id: AskId
    at: datetime
    kind: Kind
    key: str | None
    prompt: Prompt
    digest: str
    asker: str
    run_id: str | None
    deadline: datetime | None
    consequence: Consequence
    escalate_to: str | None
    replaces: AskId | None = None
    terms: Terms | msgspec.UnsetType = msgspec.UNSET
    """What a yes is good for, where it makes a receipt; else it is left out."""
    again: Again | msgspec.UnsetType = msgspec.UNSET
    """The earlier no, where the asker asks about the same action again; else it is left out."""


class AskAnswered(msgspec.Struct, frozen=True, gc=False, tag="ask.answered"):
    """A person answered."""

    ask_id: AskId
    answer: Answer
    is_unattended: bool = False


class _Ended(msgspec.Struct, frozen=True, gc=False):
    ask_id: AskId
    outcome: Outcome


class AskDeclined(_Ended, frozen=True, gc=False, tag="ask.declined"):
    """A person said no to being asked."""


class AskWithdrawn(_Ended, frozen=True, gc=False, tag="ask.withdrawn"):
    """It was taken back."""


class AskExpired(_Ended, frozen=True, gc=False, tag="ask.expired"):
    """Nobody answered in time, and the declared consequence ends it."""


class AskSuperseded(_Ended, frozen=True, gc=False, tag="ask.superseded"):
    """A newer ask took its place."""


class AskOverdue(msgspec.Struct, frozen=True, gc=False, tag="ask.overdue"):
    """The deadline passed and the ask goes on waiting."""

    ask_id: AskId
    at: datetime


class AskEscalated(msgspec.Struct, frozen=True, gc=False, tag="ask.escalated"):
    """The deadline passed; somebody else is asked, too."""

    ask_id: AskId
    at: datetime
    to: str


class AskUndelivered(msgspec.Struct, frozen=True, gc=False, tag="ask.undelivered"):
    """It could be shown nowhere; it stays open."""

    ask_id: AskId
    at: datetime
    reason: str


Event = (
    AskOpened
    | AskAnswered
    | AskDeclined
    | AskWithdrawn
    | AskExpired
    | AskSuperseded
    | AskOverdue
    | AskEscalated
    | AskUndelivered
)
