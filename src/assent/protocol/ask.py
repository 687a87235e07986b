"""An ask: one thing that waits for a person. Durable, and it ends exactly once."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import NewType

import msgspec

from assent.protocol.answer import Answer
from assent.protocol.kind import WAITING_KINDS, Kind
from assent.protocol.principal import Assurance
from assent.protocol.prompt import Prompt
from assent.protocol.terms import Terms

__all__ = [
    "WAITING_KINDS",
    "Again",
    "Ask",
    "AskId",
    "Claim",
    "Consequence",
    "Kind",
    "Outcome",
    "State",
    "parse_ask",
    "render_json",
]

AskId = NewType("AskId", str)


class State(StrEnum):
    """Where an ask is in its life; all but `open` are outcomes and final."""

    OPEN = "open"
    ANSWERED = "answered"
    DECLINED = "declined"
    WITHDRAWN = "withdrawn"
    EXPIRED = "expired"
    SUPERSEDED = "superseded"


class Consequence(StrEnum):
    """What a deadline does when nobody answered. None of them answers."""

    WAIT = "wait"
    """The ask stays open and is shown as overdue."""
    DENY = "deny"
    """The ask ends as expired; the asker must take it as a no."""
    ESCALATE = "escalate"
    """The ask stays open and is shown to `escalate_to`, too."""
    END_RUN = "end-run"
    """The ask ends as expired, and the run that asked ends with it."""


class Outcome(msgspec.Struct, frozen=True, gc=False):
    """How an ask ended without an answer."""

    state: State
    at: datetime
    by: str
    via: str = ""
    assurance: Assurance | None = None
    reason: str = ""
    consequence: Consequence | None = None
    successor: AskId | None = None
    command_id: str = ""
    """The command that ended it: a retry of it gets the same reply."""
    is_unattended: bool = False
    """The no was given with a credential that was made where no person was."""


class Claim(msgspec.Struct, frozen=True, gc=False):
    """Somebody says that they are on it. A courtesy: it stops nobody."""

    by: str
    at: datetime


class Again(msgspec.Struct, frozen=True, gc=False):
    """A person said no to the same action before, and the asker says why it asks all the same."""

    reason: str
    """Why, in the asker's words."""
    ask_id: AskId
    """The ask that they said no to."""
    by: str
    at: datetime
    words: str = ""
    """What the person said with the no."""


class Ask(msgspec.Struct, frozen=True, gc=False):
    """One ask as it is now. Its JSON form is the public one."""

    ask_id: AskId
    project: str
    kind: Kind
    state: State
    key: str | None
    prompt: Prompt
    digest: str
    """sha256 over the prompt's canonical JSON."""
    asker: str
    run_id: str | None
    opened_at: datetime
    deadline: datetime | None = None
    consequence: Consequence = Consequence.WAIT
    escalate_to: str | None = None
    answer: Answer | None = None
    outcome: Outcome | None = None
    sequence: int = 0
    """The number of the last event that changed it."""
    replayed: bool = False
    """This reply repeats an earlier one: the ask existed already."""
    is_overdue: bool = False
    is_undelivered: bool = False
    claim: Claim | None = None
    terms: Terms | msgspec.UnsetType = msgspec.UNSET
    """What a yes is good for, where it makes a receipt."""
    again: Again | msgspec.UnsetType = msgspec.UNSET
    """The earlier no, where the asker asks about the same action again."""
    is_asker_gone: bool = False
    """The process that waited for it died. Volatile: it is not in the log."""

    @property
    def words(self) -> str:
        """What a person said with a no: to an approval, or to being asked; empty where there is nothing."""
        if self.answer is not None:
            return self.answer.reason
        return self.outcome.reason if self.outcome is not None and self.state is State.DECLINED else ""

    @property
    def is_open(self) -> bool:
        """Nobody has ended it yet."""
        return self.state is State.OPEN


_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(Ask)


def render_json(ask: Ask) -> bytes:
    """Return the public JSON form of `ask`."""
    return _encoder.encode(ask)


def parse_ask(text: bytes) -> Ask:
    """Return the ask that its public JSON form describes."""
    return _decoder.decode(text)
