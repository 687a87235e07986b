"""An ask waits until a person ends it, exactly once.

Rule 1: whatever decides an ask's next state is in this file.
Rule 2: silence is never a yes: no deadline leads to `answered` or `declined`.
Rule 3: an outcome is final; who comes later gets `conflict` and is told who was first.

The docs' diagram is printed from TRANSITIONS, and a test walks all pairs.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any, assert_never, get_args

import msgspec
from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from assent.engine.machine import ASKERS, INTERNAL, PEOPLE, Machine
from assent.engine.stamp import UNSTAMPED, Stamp
from assent.protocol.answer import Answer, FieldValues, check_reply_size, check_values, find_destructive
from assent.protocol.approval import (
    check_again,
    is_approval,
    is_rejection,
    make_again,
    render_rejected_before,
)
from assent.protocol.ask import WAITING_KINDS, Again, Ask, AskId, Consequence, Kind, Outcome, State
from assent.protocol.assurance import DEFAULT_ASSURANCES, render_shortfall
from assent.protocol.confirm import check_changes
from assent.protocol.display import quote
from assent.protocol.ending import render_lateness
from assent.protocol.error import (
    AssuranceError,
    BadRequestError,
    CommandReusedError,
    ConfirmFirstError,
    ConflictError,
    ForbiddenError,
    KeyReusedError,
    NotFoundError,
    RejectedBefore,
    UnrecognisedError,
)
from assent.protocol.principal import Assurance, Role
from assent.protocol.prompt import Prompt
from assent.protocol.reply import recognise_reply
from assent.protocol.terms import Terms, check_life

__all__ = [
    "ENDINGS",
    "MACHINE",
    "TRANSITIONS",
    "AnswerAsk",
    "AskAnswered",
    "AskDeclined",
    "AskEscalated",
    "AskExpired",
    "AskOpened",
    "AskOverdue",
    "AskSuperseded",
    "AskUndelivered",
    "AskWithdrawn",
    "Command",
    "DeclineAsk",
    "Event",
    "LapseAsk",
    "OpenAsk",
    "ReportUndelivered",
    "SupersedeAsk",
    "WithdrawAsk",
    "deadline",
    "decide",
    "evolve",
]


# Events


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


# Commands


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


# The machine

TRANSITIONS: dict[State | None, dict[type[Event], State]] = {
    None: {AskOpened: State.OPEN},
    State.OPEN: {
        AskAnswered: State.ANSWERED,
        AskDeclined: State.DECLINED,
        AskWithdrawn: State.WITHDRAWN,
        AskExpired: State.EXPIRED,
        AskSuperseded: State.SUPERSEDED,
        AskOverdue: State.OPEN,
        AskEscalated: State.OPEN,
        AskUndelivered: State.OPEN,
    },
    State.ANSWERED: {},
    State.DECLINED: {},
    State.WITHDRAWN: {},
    State.EXPIRED: {},
    State.SUPERSEDED: {},
}

ENDINGS: dict[Consequence, type[Event]] = {
    Consequence.WAIT: AskOverdue,
    Consequence.DENY: AskExpired,
    Consequence.ESCALATE: AskEscalated,
    Consequence.END_RUN: AskExpired,
}
"""What a lapsed deadline leads to. No row leads to an answer (decided rule 6)."""


def decide(ask: Ask | None, command: Command) -> tuple[Event, ...]:
    """Return what `command` does to `ask`; nothing when it was done before.

    For `OpenAsk`, `ask` is the one that already has its id or key.

    Raises:
        NotFoundError: there is no such ask.
        ConflictError: it has ended; the error carries it.
        KeyReusedError: the key belongs to another prompt.
        UnrecognisedError: the reply fits no option; the ask stays open.
        BadRequestError: the command contradicts itself.
    """
    return _DECISIONS[type(command)](ask, command)


def deadline(ask: Ask) -> datetime | None:
    """Return when this ask wants to be looked at again."""
    return ask.deadline if ask.is_open and not ask.is_overdue else None


def evolve(ask: Ask | None, event: Event, *, project: str = "", sequence: int = 0) -> Ask:
    """Return the ask as it is after `event`, the project's event number `sequence`."""
    state = TRANSITIONS[ask.state if ask else None][type(event)]
    if isinstance(event, AskOpened):
        return Ask(
            event.ask_id,
            project,
            event.kind,
            state,
            event.key,
            event.prompt,
            event.digest,
            event.asker,
            event.run_id,
            event.at,
            event.deadline,
            event.consequence,
            event.escalate_to,
            sequence=sequence,
            terms=event.terms,
            again=event.again,
        )
    assert ask is not None  # noqa: S101 - TRANSITIONS has just said so
    match event:
        case AskAnswered():
            return replace(ask, state=state, answer=event.answer, sequence=sequence)
        case AskDeclined() | AskWithdrawn() | AskExpired() | AskSuperseded():
            return replace(ask, state=state, outcome=event.outcome, sequence=sequence)
        case AskOverdue() | AskEscalated():
            return replace(ask, is_overdue=True, sequence=sequence)
        case AskUndelivered():
            return replace(ask, is_undelivered=True, sequence=sequence)
        case _:
            assert_never(event)


def _open(ask: Ask | None, command: OpenAsk) -> tuple[Event, ...]:
    return _opened(command) if ask is None else _open_again(ask, command)


def _opened(command: OpenAsk, *, replaces: AskId | None = None) -> tuple[Event, ...]:
    stamp = command.stamp
    _check_deadline(command)
    _check_terms(command)
    again = _check_rejected(command)
    due = _due(command)
    return (
        AskOpened(
            command.ask_id,
            stamp.at,
            command.kind,
            command.key,
            command.prompt,
            command.digest,
            str(stamp.by),
            command.run_id,
            due,
            command.consequence,
            command.escalate_to,
            replaces,
            command.terms,
            again,
        ),
    )


def _check_rejected(command: OpenAsk) -> Again | UnsetType:
    """Return the no that the asker asks again about, with its reason.

    Raises:
        RejectedBefore: there is one, and no reason.
    """
    reason = check_again(command.again)
    if command.rejected is None:
        return UNSET
    if not reason:
        raise RejectedBefore(render_rejected_before(command.rejected), ask=command.rejected)
    return make_again(command.rejected, reason)


def _due(command: OpenAsk) -> datetime | None:
    due = command.deadline
    if isinstance(due, datetime) and due.tzinfo is None:
        raise BadRequestError("A deadline needs its time zone.")
    try:
        return command.stamp.at + due if isinstance(due, timedelta) else due and due.astimezone(UTC)
    except OverflowError:
        # Stored, it could never be read back, and nor could the list that it is in.
        raise BadRequestError("A deadline must be a day of the calendar.") from None


def _open_again(ask: Ask, command: OpenAsk) -> tuple[Event, ...]:
    is_same = ask.digest == command.digest and ask.kind is command.kind and _has_terms_of(ask, command)
    if is_same and _has_reason_of(ask, command):
        return ()
    if ask.ask_id == command.ask_id:
        raise CommandReusedError
    if not command.is_replacing or not ask.is_open:
        never = " An ask that has ended is never replaced." if command.is_replacing else ""
        raise KeyReusedError(
            f'The key "{quote(command.key or "")}" already belongs to {ask.ask_id}, which asks something else.{never}',
            ask=ask,
        )
    if not _may_take_back(ask, command.stamp):
        raise ForbiddenError(f"Only {ask.asker} or a person can replace this ask.")
    return _opened(command, replaces=ask.ask_id)


def _has_terms_of(ask: Ask, command: OpenAsk) -> bool:
    """Whether a yes to `ask` makes the receipt that `command` is after: one of another category, or of another asker,
    would never do.
    """
    known, wanted = ask.terms, command.terms
    if isinstance(known, UnsetType) or isinstance(wanted, UnsetType):
        return known is wanted
    return known.category == wanted.category and ask.asker == str(command.stamp.by)


def _has_reason_of(ask: Ask, command: OpenAsk) -> bool:
    """Whether `ask` is what `command` wants asked again: under its key an earlier no would be found for ever."""
    reason = check_again(command.again)
    is_no = ask.answer is not None and is_rejection(ask.prompt, ask.answer.values)
    if not reason or not (is_no or ask.state is State.DECLINED):
        return True
    return not isinstance(ask.again, UnsetType) and ask.again.reason == reason


def _check_terms(command: OpenAsk) -> None:
    if isinstance(command.terms, UnsetType):
        return
    # Whoever answers must be able to rely on the words: another prompt could call its yes a no.
    if command.kind is not Kind.APPROVAL or not is_approval(command.prompt):
        raise BadRequestError("A receipt is made by the answer to an approval, and by no other.")
    if command.prompt.action is None:
        raise BadRequestError("An approval needs the action that is to be approved.")
    check_life(timedelta(seconds=command.terms.life_seconds))


def _check_deadline(command: OpenAsk) -> None:
    if command.consequence is Consequence.WAIT:
        return
    if command.kind in WAITING_KINDS:
        raise BadRequestError(f"A {command.kind} waits without limit: its only consequence is wait.")
    if command.deadline is None:
        raise BadRequestError(f'The consequence "{command.consequence}" needs a deadline.')
    if command.consequence is Consequence.ESCALATE and not command.escalate_to:
        raise BadRequestError('The consequence "escalate" needs somebody to escalate to.')


def _answer(ask: Ask | None, command: AnswerAsk) -> tuple[Event, ...]:
    ask = _found(ask, command.ask_id)
    stamp = command.stamp
    if not ask.is_open:
        return _already(ask, stamp, _is_same_answer(ask, command))
    _check_assurance(ask, command)
    if not isinstance(ask.terms, UnsetType) and str(stamp.by) == ask.asker:
        raise ForbiddenError(f"{stamp.by} asks for this approval: somebody else must give it.")
    values, reason = _read(ask, command)
    _check_destructive(ask, values, is_confirmed=command.is_confirmed)
    answer = Answer(
        values,
        command.text,
        str(stamp.by),
        command.via,
        command.assurance,
        stamp.at,
        stamp.command_id,
        reason,
        command.is_unattended,
    )
    return (AskAnswered(ask.ask_id, answer, command.is_unattended),)


def _read(ask: Ask, command: AnswerAsk) -> tuple[FieldValues, str]:
    """Return what the reply chooses, and the words that go with a no."""
    prompt, reason = ask.prompt, command.reason.strip()
    if command.values is None:
        reading = recognise_reply(prompt, command.text)
        values, reason = reading.values, reason or reading.reason
    else:
        values = check_values(prompt, command.values)
    if ask.kind is Kind.CONFIRM:
        values = check_changes(prompt, values)
    if reason and not is_rejection(prompt, values):
        raise BadRequestError("A reason goes with a no: reject the approval, or decline the ask.")
    check_reply_size(reason)
    return values, reason


def _check_assurance(ask: Ask, command: AnswerAsk) -> None:
    accepted = command.accepted
    if accepted is None:
        accepted = DEFAULT_ASSURANCES[ask.kind]
    if command.assurance in accepted:
        return
    # A person may let a process approve where no terminal is, and the log says so; never against the project's own list.
    if command.accepted is None and command.assurance is Assurance.DECLARED and command.is_unattended:
        return
    raise AssuranceError(render_shortfall(ask.kind, command.assurance, accepted))


def _check_destructive(ask: Ask, values: FieldValues, *, is_confirmed: bool) -> None:
    chosen = find_destructive(ask.prompt, values)
    if chosen is not None and not is_confirmed:
        raise ConfirmFirstError(
            f'"{quote(chosen.label)}" cannot be undone: confirm that you mean it. Nothing was changed.'
        )


def _decline(ask: Ask | None, command: DeclineAsk) -> tuple[Event, ...]:
    ask = _found(ask, command.ask_id)
    if not ask.is_open:
        return _already(ask, command.stamp, _is_same_end(ask, State.DECLINED, command.reason))
    outcome = _outcome(
        State.DECLINED,
        command.stamp,
        reason=command.reason,
        via=command.via,
        assurance=command.assurance,
        is_unattended=command.is_unattended,
    )
    return (AskDeclined(ask.ask_id, outcome),)


def _withdraw(ask: Ask | None, command: WithdrawAsk) -> tuple[Event, ...]:
    ask = _found(ask, command.ask_id)
    stamp = command.stamp
    if not _may_take_back(ask, stamp):
        raise ForbiddenError(f"Only {ask.asker} or a person can take this ask back.")
    if not ask.is_open:
        return _already(ask, stamp, _is_same_end(ask, State.WITHDRAWN, command.reason))
    return (AskWithdrawn(ask.ask_id, _outcome(State.WITHDRAWN, stamp, reason=command.reason)),)


def _supersede(ask: Ask | None, command: SupersedeAsk) -> tuple[Event, ...]:
    ask = _found(ask, command.ask_id)
    if not ask.is_open:
        raise ConflictError(render_lateness(ask), ask=ask)
    return (
        AskSuperseded(ask.ask_id, _outcome(State.SUPERSEDED, command.stamp, successor=command.successor)),
    )


def _lapse(ask: Ask | None, command: LapseAsk) -> tuple[Event, ...]:
    ask = _found(ask, command.ask_id)
    due = deadline(ask)
    at = command.stamp.at
    if due is None or due > at:
        return ()
    if ENDINGS[ask.consequence] is AskOverdue:
        return (AskOverdue(ask.ask_id, at),)
    if ENDINGS[ask.consequence] is AskEscalated:
        return (AskEscalated(ask.ask_id, at, ask.escalate_to or ""),)
    outcome = _outcome(State.EXPIRED, command.stamp, consequence=ask.consequence)
    return (AskExpired(ask.ask_id, outcome),)


def _report_undelivered(ask: Ask | None, command: ReportUndelivered) -> tuple[Event, ...]:
    ask = _found(ask, command.ask_id)
    if not ask.is_open or ask.is_undelivered:
        return ()
    return (AskUndelivered(ask.ask_id, command.stamp.at, command.reason),)


def _may_take_back(ask: Ask, stamp: Stamp) -> bool:
    # Decided rule 12: for the asker and for people with the right.
    return stamp.by.role is not Role.AGENT or str(stamp.by) == ask.asker


def _found(ask: Ask | None, ask_id: AskId) -> Ask:
    if ask is None:
        raise NotFoundError(f"There is no ask {ask_id} here.")
    return ask


def _already(ask: Ask, stamp: Stamp, is_same: bool) -> tuple[Event, ...]:
    """A retry of the command that ended it gets its own reply; everyone else was too late."""
    ending = ask.answer or ask.outcome
    if ending is not None and stamp.command_id and ending.command_id == stamp.command_id:
        if not is_same or ending.by != str(stamp.by):
            raise CommandReusedError
        return ()
    raise ConflictError(render_lateness(ask), ask=ask)


def _is_same_answer(ask: Ask, command: AnswerAsk) -> bool:
    if ask.answer is None or command.text != ask.answer.text:
        return False
    if command.reason.strip() not in ("", ask.answer.reason):
        return False
    if command.values is None:
        return bool(command.text)
    try:
        return check_values(ask.prompt, command.values) == ask.answer.values
    except UnrecognisedError:
        return False


def _is_same_end(ask: Ask, state: State, reason: str) -> bool:
    return ask.state is state and ask.outcome is not None and ask.outcome.reason == reason


def _outcome(  # noqa: PLR0913 - the parts of an ending, each with a name
    state: State,
    stamp: Stamp,
    *,
    reason: str = "",
    via: str = "",
    assurance: Assurance | None = None,
    consequence: Consequence | None = None,
    successor: AskId | None = None,
    is_unattended: bool = False,
) -> Outcome:
    return Outcome(
        state,
        stamp.at,
        str(stamp.by),
        via,
        assurance,
        reason,
        consequence,
        successor,
        stamp.command_id,
        is_unattended,
    )


_DECISIONS: dict[type[Command], Callable[[Ask | None, Any], tuple[Event, ...]]] = {
    OpenAsk: _open,
    AnswerAsk: _answer,
    DeclineAsk: _decline,
    WithdrawAsk: _withdraw,
    SupersedeAsk: _supersede,
    LapseAsk: _lapse,
    ReportUndelivered: _report_undelivered,
}


MACHINE = Machine(
    "ask",
    {
        OpenAsk: ASKERS,
        AnswerAsk: PEOPLE,
        DeclineAsk: PEOPLE,
        WithdrawAsk: ASKERS,  # an agent only its own
        ReportUndelivered: ASKERS,
        LapseAsk: INTERNAL,
        SupersedeAsk: INTERNAL,
    },
    get_args(Event),
    decide,
    evolve,
)
