"""Where machines touch: the one place to look when asking "why did that happen"."""

from __future__ import annotations

from typing import Any

import msgspec

from assent.engine import run as run_machine
from assent.engine.ask import AskAnswered, AskExpired, AskOpened, Command, Event, SupersedeAsk
from assent.engine.notification import DismissNotification, ResolveNotification
from assent.engine.receipt import GrantReceipt
from assent.engine.run import (
    AbortRun,
    CancelRun,
    EscalateRun,
    PauseRun,
    ResumeRun,
    RunAborted,
    RunDone,
    RunEvent,
    SteerCommand,
)
from assent.engine.stamp import Stamp
from assent.engine.task import UnblockTask
from assent.protocol.approval import is_approved
from assent.protocol.ask import Ask, Consequence
from assent.protocol.control import Code, Control, ControlCommand, ControlRequest, failure
from assent.protocol.ending import render_name
from assent.protocol.error import InvalidStateError, NotFoundError
from assent.protocol.notification import Notification, NotificationKind, Source
from assent.protocol.receipt import ReceiptLevel
from assent.protocol.resolution import Response
from assent.protocol.run import AbortReason, Run, RunId
from assent.protocol.task import OPEN_QUESTION_REASON, TaskId

__all__ = [
    "WithdrawAsksOf",
    "carry_out",
    "react",
    "react_to_ending",
    "react_to_resolving",
    "react_to_run",
]


class WithdrawAsksOf(msgspec.Struct, frozen=True):
    """Take back every open ask of a run: nobody is there any more to hear the answer."""

    run_id: RunId
    reason: str


def react(event: Event, ask: Ask) -> tuple[Command | AbortRun | GrantReceipt, ...]:
    """Return the commands that follow from an ask's `event`, in the same transaction; `ask` is as it is after it."""
    match event:
        case AskOpened(ask_id=ask_id, replaces=replaced) if replaced is not None:
            return (SupersedeAsk(replaced, ask_id),)
        case AskExpired(outcome=outcome) if outcome.consequence is Consequence.END_RUN and ask.run_id:
            note = f"Nobody answered {ask.ask_id} before its deadline."
            return (AbortRun(RunId(ask.run_id), note),)
        case AskAnswered(answer=answer) if is_approved(ask) and not isinstance(ask.terms, msgspec.UnsetType):
            return (
                GrantReceipt(
                    ReceiptLevel.APPROVED,
                    ask.terms,
                    ask.prompt.title,
                    ask.prompt.action,
                    ask.digest,
                    ask.asker,
                    answer.by,
                    answer.assurance,
                    ask.ask_id,
                    key=ask.key,
                    is_unattended=answer.is_unattended,
                ),
            )
        case _:
            return ()


def react_to_run(event: RunEvent) -> tuple[WithdrawAsksOf, ...]:
    """Return what follows from a run's `event`, in the same transaction."""
    match event:
        case RunAborted(reason=AbortReason.USER_CANCELLED):
            return (
                WithdrawAsksOf(event.run_id, f"{render_name(event.by)} cancelled the run {event.run_id}."),
            )
        case RunAborted():
            return (WithdrawAsksOf(event.run_id, f"The run {event.run_id} was aborted."),)
        case RunDone():
            return (WithdrawAsksOf(event.run_id, f"The run {event.run_id} is done ({event.reason})."),)
        case _:
            return ()


def react_to_ending(
    notification: Notification, ask: Ask, responses: tuple[Response, ...] | None
) -> ResolveNotification | DismissNotification:
    """Return what becomes of an open notification when its ask has ended: answered, or resolved without an answer."""
    if ask.answer is not None:
        by = (ask.answer.via, ask.answer.assurance, ask.answer.is_unattended)
        approved = is_approved(ask) if responses is None else None
        return ResolveNotification(notification.notification_id, responses, approved, *by)
    if ask.outcome is None or ask.outcome.assurance is None:  # no person ended it
        return DismissNotification(notification.notification_id)
    by = (ask.outcome.via, ask.outcome.assurance, ask.outcome.is_unattended)
    return DismissNotification(notification.notification_id, *by)


def react_to_resolving(notification: Notification, questions_left: int) -> tuple[UnblockTask, ...]:
    """Return what follows from a resolved notification: its task goes on, if it was the last question (Q-X7, Q-X8)."""
    if notification.source is not Source.EXECUTE or notification.kind is not NotificationKind.OPEN_QUESTION:
        return ()
    return (UnblockTask(TaskId(notification.source_id), OPEN_QUESTION_REASON, questions_left),)


def carry_out(control: Control, run: Run | None, stamp: Stamp) -> tuple[dict[str, Any], tuple[RunEvent, ...]]:
    """Execute an accepted control on its run; return the RESULT's payload and what happens to the run."""
    request = control.request
    try:
        events = run_machine.decide(run, _steer(request, stamp))
    except NotFoundError as refusal:
        return failure(Code.NOT_FOUND, refusal.message), ()
    except InvalidStateError as refusal:
        return failure(Code.INVALID_STATE, refusal.message), ()
    assert run is not None  # noqa: S101 - the machine has just found it
    payload: dict[str, Any] = {"status": "success"}
    match request.command:
        case ControlCommand.PAUSE:
            payload["message"] = f"Loop paused at iteration {run.iteration}"
        case ControlCommand.RESUME:
            payload["message"] = f"Loop resumed at iteration {run.iteration}"
        case ControlCommand.ESCALATE:
            payload |= {"previous_model": run.model or "", "new_model": request.model}
        case ControlCommand.CANCEL:
            pass
    return payload, events


def _steer(request: ControlRequest, stamp: Stamp) -> SteerCommand:
    match request.command:
        case ControlCommand.PAUSE:
            return PauseRun(request.run_id, stamp)
        case ControlCommand.RESUME:
            return ResumeRun(request.run_id, stamp)
        case ControlCommand.CANCEL:
            return CancelRun(request.run_id, stamp)
        case ControlCommand.ESCALATE:
            return EscalateRun(request.run_id, request.model, request.reason, stamp)
