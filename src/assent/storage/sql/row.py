"""Asks, runs and controls as rows, and back."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

import msgspec

from assent.protocol.answer import Answer
from assent.protocol.approval import action_digest
from assent.protocol.ask import Again, Ask, AskId, Claim, Consequence, Kind, Outcome, State
from assent.protocol.control import Control
from assent.protocol.display import quote
from assent.protocol.error import StoreDamagedError
from assent.protocol.prompt import Prompt, encode_prompt
from assent.protocol.run import Run
from assent.protocol.terms import Terms
from assent.protocol.topic import Message

__all__ = [
    "ASK_COLUMNS",
    "UNREADABLE",
    "ask_of",
    "control_of",
    "decode_instant",
    "encode_ending",
    "encode_instant",
    "encode_record",
    "flags_of",
    "insert_values",
    "message_of",
    "read_record",
    "run_of",
    "strayed_control",
    "strayed_run",
]

T = TypeVar("T")

ASK_COLUMNS = (
    "a.ask_id, p.project, a.kind, a.state, a.key, a.prompt, a.digest, a.asker, a.run_id, a.opened_at,"
    " a.deadline, a.consequence, a.escalate_to, a.ending, a.sequence, a.flags, a.claim, a.terms, a.again"
)
OVERDUE, UNDELIVERED = 1, 2
UNREADABLE = (msgspec.DecodeError, UnicodeDecodeError)
"""What comes of a record that Assent did not write; of bytes that are no UTF-8, too, in their own way."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_KINDS = {kind.value: kind for kind in Kind}
_STATES = {state.value: state for state in State}
_CONSEQUENCES = {consequence.value: consequence for consequence in Consequence}
_encode = msgspec.json.Encoder().encode
_prompt = msgspec.json.Decoder(Prompt).decode
_answer = msgspec.json.Decoder(Answer).decode
_outcome = msgspec.json.Decoder(Outcome).decode
_claim = msgspec.json.Decoder(Claim).decode
_terms = msgspec.json.Decoder(Terms).decode
_again = msgspec.json.Decoder(Again).decode
_run = msgspec.json.Decoder(Run).decode
_control = msgspec.json.Decoder(Control).decode


def encode_instant(at: datetime) -> int:
    """Return microseconds since 1970."""
    return (at - _EPOCH) // _MICROSECOND


def decode_instant(at: int) -> datetime:
    """Return the moment of a stored number, exactly (a float would round it)."""
    return _EPOCH + timedelta(microseconds=at)


def flags_of(ask: Ask) -> int:
    """Return the marks of an ask as one number."""
    return OVERDUE * ask.is_overdue | UNDELIVERED * ask.is_undelivered


def encode_ending(ask: Ask) -> bytes | None:
    """Return the answer or outcome as stored."""
    ending = ask.answer or ask.outcome
    return None if ending is None else _encode(ending)


def insert_values(number: int, opened: int, ask: Ask) -> tuple[Any, ...]:
    """Return the values of `insert_asks` for a new ask of project `number`, opened by event `opened`."""
    return (
        ask.ask_id,
        number,
        ask.kind,
        ask.state,
        ask.key,
        ask.digest,
        encode_prompt(ask.prompt),
        ask.asker,
        ask.run_id,
        encode_instant(ask.opened_at),
        opened,
        None if ask.deadline is None else encode_instant(ask.deadline),
        ask.consequence,
        ask.escalate_to,
        flags_of(ask),
        ask.sequence,
        encode_ending(ask),
        None if ask.terms is msgspec.UNSET else _encode(ask.terms),
        action_digest(ask.kind, ask.prompt),
        None if ask.again is msgspec.UNSET else _encode(ask.again),
    )


def ask_of(row: tuple[Any, ...]) -> Ask:
    """Return the ask of a row of ASK_COLUMNS.

    Raises:
        StoreDamagedError: somebody wrote what Assent does not write.
    """
    try:
        return _ask_of(row)
    except (KeyError, TypeError, OverflowError, *UNREADABLE) as error:
        raise StoreDamagedError(f"The row of {row[0]} cannot be read.") from error


def _ask_of(row: tuple[Any, ...]) -> Ask:
    state = _STATES[row[3]]
    ending, flags = row[13], row[15]
    return Ask(
        AskId(row[0]),
        row[1],
        _KINDS[row[2]],
        state,
        row[4],
        _prompt(row[5]),
        row[6],
        row[7],
        row[8],
        decode_instant(row[9]),
        None if row[10] is None else decode_instant(row[10]),
        _CONSEQUENCES[row[11]],
        row[12],
        _answer(ending) if state is State.ANSWERED else None,
        _outcome(ending) if ending is not None and state is not State.ANSWERED else None,
        row[14],
        is_overdue=bool(flags & OVERDUE),
        is_undelivered=bool(flags & UNDELIVERED),
        claim=None if row[16] is None else _claim(row[16]),
        terms=msgspec.UNSET if row[17] is None else _terms(row[17]),
        again=msgspec.UNSET if row[18] is None else _again(row[18]),
    )


class _Posted(msgspec.Struct):
    """The parts of an event's body that a topic shows."""

    message: msgspec.Raw
    by: str = ""
    is_copy: bool = False


_posted = msgspec.json.Decoder(_Posted).decode


def encode_record(record: Run | Control) -> bytes:
    """Return a run or a control as its row keeps it."""
    return _encode(record)


def read_record(decode: Callable[[bytes], T], record: bytes, noun: str) -> T:
    """Return what `decode` makes of a record.

    Raises:
        StoreDamagedError: somebody wrote what Assent does not write.
    """
    try:
        return decode(record)
    except UNREADABLE as error:
        raise StoreDamagedError(f"The row of a {noun} cannot be read.") from error


def run_of(record: bytes) -> Run:
    """Return the run of a row.

    Raises:
        StoreDamagedError: somebody wrote what Assent does not write.
    """
    return read_record(_run, record, "run")


def control_of(record: bytes) -> Control:
    """Return the control of a row.

    Raises:
        StoreDamagedError: somebody wrote what Assent does not write.
    """
    return read_record(_control, record, "control")


def strayed_run(run_id: str, is_active: int, record: bytes) -> str | None:
    """Return the name of a run whose columns are not those of its record; an unreadable one is reported elsewhere."""
    try:
        run = _run(record)
    except UNREADABLE:
        return None
    is_same = (run.run_id, run.is_active) == (run_id, bool(is_active))
    return None if is_same else f"run {quote(run_id)}"


def strayed_control(request_id: str, is_settled: int, sequence: int, record: bytes) -> str | None:
    """Return the name of a control whose columns are not those of its record; as `strayed_run`."""
    try:
        control = _control(record)
    except UNREADABLE:
        return None
    own = (control.request.request_id, control.is_settled, control.sequence)
    return None if own == (request_id, bool(is_settled), sequence) else f"request {quote(request_id)}"


def message_of(sequence: int, at: int, topic: str, body: bytes | None) -> Message:
    """Return an event as its topic shows it; null where the body was erased.

    Raises:
        StoreDamagedError: the event carries no message.
    """
    try:
        told = _Posted(msgspec.Raw(b"null")) if body is None else _posted(body)
    except UNREADABLE as error:
        raise StoreDamagedError(f"Event {sequence} of the log cannot be read.") from error
    return Message(sequence, topic, decode_instant(at), told.message, told.by, told.is_copy)
