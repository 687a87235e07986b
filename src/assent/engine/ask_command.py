"""What can be asked of an ask: its commands. The hub sets the stamp."""

from __future__ import annotations

from datetime import datetime, timedelta

import msgspec

from assent.engine.stamp import UNSTAMPED, Stamp
from assent.protocol.answer import FieldValues
from assent.protocol.ask import Ask, AskId, Consequence, Kind
from assent.protocol.principal import Assurance
from assent.protocol.prompt import Prompt
from assent.protocol.terms import Terms

__all__ = [
    "AnswerAsk",
    "Command",
    "DeclineAsk",
    "LapseAsk",
    "OpenAsk",
    "ReportUndelivered",
    "SupersedeAsk",
    "WithdrawAsk",
]


class OpenAsk(msgspec.Struct, frozen=True, gc=False):
    """Ask. The caller mints `ask_id`, so that a retry finds what it made."""

    ask_id: AskId
    prompt: Prompt
    digest: str
    kind: Kind = Kind.QUESTION
    key: str | None = None
    run_id: str | None = None
    deadline: datetime | timedelta | None = None
    """An instant, or how long after the opening."""
    consequence: Consequence = Consequence.WAIT
    escalate_to: str | None = None
    is_replacing: bool = False
    stamp: Stamp = UNSTAMPED
    terms: Terms | msgspec.UnsetType = msgspec.UNSET
    """For an approval whose yes makes a receipt."""
    again: str = ""
    """Why the asker asks although a person said no to the same action."""
    rejected: Ask | None = None
    """That no, where it still holds; set by the hub."""


class AnswerAsk(msgspec.Struct, frozen=True, gc=False):
    """Answer with typed `text`, or with ready-made `values`."""

    ask_id: AskId
    text: str = ""
    values: FieldValues | None = None
    via: str = ""
    assurance: Assurance = Assurance.DECLARED
    is_unattended: bool = False
    """A person let a process answer an approval where no terminal is; the log says so."""
    stamp: Stamp = UNSTAMPED
    is_confirmed: bool = False
    """The person was asked once more about what cannot be undone, and said yes."""
    reason: str = ""
    """Words that go with a no to an approval."""
    accepted: tuple[Assurance, ...] | None = None
    """What suffices for this kind in this project; set by the hub. None for the default."""


class DeclineAsk(msgspec.Struct, frozen=True, gc=False):
    """A person's no to being asked."""

    ask_id: AskId
    reason: str = ""
    via: str = ""
    assurance: Assurance = Assurance.DECLARED
    stamp: Stamp = UNSTAMPED
    is_unattended: bool = False


class WithdrawAsk(msgspec.Struct, frozen=True, gc=False):
    """Take an ask back."""

    ask_id: AskId
    reason: str = ""
    stamp: Stamp = UNSTAMPED


class SupersedeAsk(msgspec.Struct, frozen=True, gc=False):
    """A newer ask takes this one's place."""

    ask_id: AskId
    successor: AskId
    stamp: Stamp = UNSTAMPED


class LapseAsk(msgspec.Struct, frozen=True, gc=False):
    """The deadline has passed: let the declared consequence happen."""

    ask_id: AskId
    stamp: Stamp = UNSTAMPED


class ReportUndelivered(msgspec.Struct, frozen=True, gc=False):
    """No surface could show it."""

    ask_id: AskId
    reason: str = ""
    stamp: Stamp = UNSTAMPED


Command = OpenAsk | AnswerAsk | DeclineAsk | WithdrawAsk | SupersedeAsk | LapseAsk | ReportUndelivered
