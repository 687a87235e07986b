"""A control is taken up, acknowledged, executed and answered: once, for ever.

Rule 1: whatever decides what becomes of a REQUEST is in this file; what it does to its run is the run machine's.
Rule 2: ACK before any logic, in a transaction of its own; then one RESULT. `bad_request`, `not_found` and repeats
        get a RESULT only (decided rule 3).
Rule 3: an id is executed at most once, whenever it comes again (decided rule 1): the same request within five minutes
        of its RESULT gets that again, and everything else under the id `duplicate`.
Rule 4: what lay in the topic for more than 30 seconds by the store's clock is never executed (decided rule 2).
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any, assert_never, get_args

import msgspec
from msgspec.structs import replace

from assent.engine.machine import INTERNAL, Machine
from assent.engine.stamp import UNSTAMPED, Stamp
from assent.protocol.control import (
    ALREADY_PROCESSED,
    DEDUP_SECONDS,
    EXPIRY_SECONDS,
    Code,
    Control,
    ControlCommand,
    ControlMessage,
    ControlRequest,
    ControlState,
    Malformed,
    failure,
)
from assent.protocol.run import Run

__all__ = [
    "MACHINE",
    "TRANSITIONS",
    "ControlAcknowledged",
    "ControlEvent",
    "ControlExpired",
    "ControlMalformed",
    "ControlRepeated",
    "ControlReplied",
    "ControlRequested",
    "ControlResolved",
    "ControlStep",
    "PostRequest",
    "RefuseRequest",
    "ResolveControl",
    "TakeUp",
    "decide",
    "evolve",
]


# Events


class ControlRequested(msgspec.Struct, frozen=True, tag="control.requested"):
    """A REQUEST lies in the topic."""

    request: ControlRequest
    digest: str
    at: datetime
    by: str
    message: msgspec.Raw
    """As it was posted."""


class _Reply(msgspec.Struct, frozen=True):
    request_id: str
    message: ControlMessage


class ControlAcknowledged(_Reply, frozen=True, tag="control.acknowledged"):
    """It was received, and nothing has been done yet."""


class ControlResolved(_Reply, frozen=True, tag="control.resolved"):
    """Its one RESULT."""


class ControlExpired(msgspec.Struct, frozen=True, tag="control.expired"):
    """Nobody took it up in time. Not on the topic: it gets no reply."""

    request_id: str
    at: datetime


class ControlRepeated(msgspec.Struct, frozen=True, tag="control.repeated"):
    """A message that begins nothing: a known id again, or nothing that anybody could execute."""

    at: datetime
    by: str
    message: msgspec.Raw


class ControlReplied(_Reply, frozen=True, tag="control.replied"):
    """The RESULT for such a message; what is known of its id stays as it is."""


class ControlMalformed(msgspec.Struct, frozen=True, tag="control.malformed"):
    """Something was posted that nobody could be answered for. Not on the topic (I-X10)."""

    at: datetime
    by: str
    problem: str
    text: str


ControlEvent = (
    ControlRequested
    | ControlAcknowledged
    | ControlResolved
    | ControlExpired
    | ControlRepeated
    | ControlReplied
    | ControlMalformed
)


# The machine

TRANSITIONS: dict[ControlState | None, dict[type[ControlEvent], ControlState]] = {
    None: {ControlRequested: ControlState.POSTED},
    ControlState.POSTED: {
        ControlAcknowledged: ControlState.ACCEPTED,
        ControlResolved: ControlState.RESOLVED,
        ControlExpired: ControlState.EXPIRED,
    },
    ControlState.ACCEPTED: {ControlResolved: ControlState.RESOLVED},
    ControlState.RESOLVED: {},
    ControlState.EXPIRED: {ControlRequested: ControlState.POSTED},
}

_MAX_LOGGED = 2_000
"""So much of a text that is no message is kept in the log."""


class PostRequest(msgspec.Struct, frozen=True):
    """A well-formed REQUEST was posted; `run` is the one that it names."""

    request: ControlRequest
    text: bytes
    run: Run | None
    is_left: bool = False
    """Leave it lying in the topic, as a program does that only writes there."""
    stamp: Stamp = UNSTAMPED


class RefuseRequest(msgspec.Struct, frozen=True):
    """Something else was posted."""

    malformed: Malformed
    text: bytes
    stamp: Stamp = UNSTAMPED


class TakeUp(msgspec.Struct, frozen=True):
    """Look at a REQUEST that was left lying."""

    run: Run | None
    stamp: Stamp = UNSTAMPED


class ResolveControl(msgspec.Struct, frozen=True):
    """It was executed, or could not be: this came of it."""

    payload: dict[str, Any]
    stamp: Stamp = UNSTAMPED


ControlStep = PostRequest | RefuseRequest | TakeUp | ResolveControl


def decide(control: Control | None, command: ControlStep) -> tuple[ControlEvent, ...]:
    """Return what `command` does to `control`, the one that has its request id."""
    return _DECISIONS[type(command)](control, command)


def evolve(
    control: Control | None,
    event: ControlEvent,
    *,
    project: str = "",  # noqa: ARG001 - as every machine's; a request has none of its own
    sequence: int = 0,
) -> Control | None:
    """Return the control as it is after `event`; None where the event tells of no control."""
    if isinstance(event, ControlRepeated | ControlReplied | ControlMalformed):
        return control  # these tell of messages, and change nothing
    state = TRANSITIONS[control.state if control else None][type(event)]
    match event:
        case ControlRequested():
            return Control(event.request, event.digest, state, event.by, event.at, sequence=sequence)
        case ControlAcknowledged() | ControlExpired():
            assert control is not None  # noqa: S101 - TRANSITIONS has just said so
            return replace(control, state=state, sequence=sequence)
        case ControlResolved():
            assert control is not None  # noqa: S101 - as above
            return replace(control, state=state, result=event.message, sequence=sequence)
        case _:
            assert_never(event)


def _post(control: Control | None, command: PostRequest) -> tuple[ControlEvent, ...]:
    request, stamp = command.request, command.stamp
    if control is not None and not control.is_forgotten:
        payload = _repeat(control, request, stamp.at)
        return _reply_only(command.text, request.request_id, request.result(stamp.at, payload), stamp)
    problem = _foreign_model(request, command.run)
    if problem is not None and not command.is_left:
        refused = request.result(stamp.at, failure(Code.BAD_REQUEST, problem))
        return _reply_only(command.text, request.request_id, refused, stamp)
    posted = ControlRequested(request, request.digest, stamp.at, str(stamp.by), msgspec.Raw(command.text))
    return (posted,) if command.is_left else (posted, _receive(request, command.run, stamp.at))


def _repeat(control: Control, request: ControlRequest, at: datetime) -> dict[str, Any]:
    """Return what a REQUEST under a known id gets (decided rule 1)."""
    result = control.result
    is_same = control.digest == request.digest
    if result is not None and is_same and abs(at - result.timestamp) < timedelta(seconds=DEDUP_SECONDS):
        return result.payload
    return failure(Code.DUPLICATE, ALREADY_PROCESSED if result is not None else "Request is still in flight")


def _reply_only(
    text: bytes, request_id: str, result: ControlMessage, stamp: Stamp
) -> tuple[ControlEvent, ...]:
    repeated = ControlRepeated(stamp.at, str(stamp.by), msgspec.Raw(text))
    return (repeated, ControlReplied(request_id, result))


def _receive(request: ControlRequest, run: Run | None, at: datetime) -> ControlAcknowledged | ControlResolved:
    if run is None or not run.is_active:
        missing = failure(Code.NOT_FOUND, f"Run {request.run_id} is not active")
        return ControlResolved(request.request_id, request.result(at, missing))
    return ControlAcknowledged(request.request_id, request.ack(at))


def _foreign_model(request: ControlRequest, run: Run | None) -> str | None:
    # Only the run knows its models (I-X11), so this is found later than all else that is malformed.
    if request.command is not ControlCommand.ESCALATE or run is None or not run.is_active:
        return None
    if not run.models or request.model in run.models:
        return None
    return f"payload.model must be one of {', '.join(run.models)}."


def _refuse(_: Control | None, command: RefuseRequest) -> tuple[ControlEvent, ...]:
    malformed, stamp = command.malformed, command.stamp
    if malformed.request_id is None:
        text = command.text.decode("utf-8", "replace")[:_MAX_LOGGED]
        return (ControlMalformed(stamp.at, str(stamp.by), malformed.problem, text),)
    return _reply_only(command.text, malformed.request_id, malformed.result(stamp.at), stamp)


def _take_up(control: Control | None, command: TakeUp) -> tuple[ControlEvent, ...]:
    if control is None or control.state is not ControlState.POSTED:
        return ()
    request, at = control.request, command.stamp.at
    # Nobody knows how old it is where it was posted by a clock that was ahead.
    if abs(at - control.posted_at) > timedelta(seconds=EXPIRY_SECONDS):
        return (ControlExpired(request.request_id, at),)
    problem = _foreign_model(request, command.run)
    if problem is not None:
        result = request.result(at, failure(Code.BAD_REQUEST, problem))
        return (ControlResolved(request.request_id, result),)
    return (_receive(request, command.run, at),)


def _resolve(control: Control | None, command: ResolveControl) -> tuple[ControlEvent, ...]:
    if control is None or control.state is not ControlState.ACCEPTED:
        return ()
    result = control.request.result(command.stamp.at, command.payload)
    return (ControlResolved(control.request.request_id, result),)


_DECISIONS: dict[type[ControlStep], Callable[[Control | None, Any], tuple[ControlEvent, ...]]] = {
    PostRequest: _post,
    RefuseRequest: _refuse,
    TakeUp: _take_up,
    ResolveControl: _resolve,
}


MACHINE = Machine(
    "request",
    {
        PostRequest: INTERNAL,  # it comes as a message on its topic
        RefuseRequest: INTERNAL,
        TakeUp: INTERNAL,
        ResolveControl: INTERNAL,
    },
    get_args(ControlEvent),
    decide,
    evolve,
)
