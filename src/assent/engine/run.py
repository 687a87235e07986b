"""A run goes from iteration to iteration until it is done or somebody ends it.

Rule 1: whatever decides a run's next status is in this file.
Rule 2: the driver is bound by the record, and never asked: an iteration begins only while the status is `running`,
        and only for the driver that has the present fence.
Rule 3: an ended run is final. Its driver's late commands change nothing and are told how it ended; nothing of a run
        follows its DONE or ABORT on `loop:current`.
Rule 4: an iteration that a dead driver left open begins again under its number, as a further attempt that says so.
Rule 5: a paused run is never done. Whose work is over meanwhile is held, and done when somebody resumes it.

The state matrix of I-X9 is TRANSITIONS with the refusals below; a test walks all pairs.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any, TypeVar, assert_never, get_args

import msgspec
from msgspec.structs import replace

from assent.engine.machine import ASKERS, INTERNAL, Machine
from assent.engine.stamp import UNSTAMPED, Stamp
from assent.protocol.error import BadRequestError, InvalidStateError, NotFoundError, RunTakenError
from assent.protocol.run import (
    AbortReason,
    DoneReason,
    Frame,
    Level,
    Mode,
    Run,
    RunId,
    StateMessage,
    Status,
    state_message,
)

__all__ = [
    "MACHINE",
    "TRANSITIONS",
    "AbortRun",
    "BeginTurn",
    "CancelRun",
    "DriverCommand",
    "EndTurn",
    "EscalateRun",
    "FailRun",
    "FinishRun",
    "FramePopped",
    "FramePushed",
    "PauseRun",
    "PopFrame",
    "PushFrame",
    "ResumeRun",
    "RunAborted",
    "RunCommand",
    "RunDone",
    "RunEscalated",
    "RunEvent",
    "RunHeld",
    "RunPaused",
    "RunResumed",
    "RunStarted",
    "RunTaken",
    "StartRun",
    "SteerCommand",
    "TurnBegun",
    "TurnEnded",
    "decide",
    "evolve",
]


# Events


class _Happened(msgspec.Struct, frozen=True, kw_only=True):
    run_id: RunId
    at: datetime
    by: str
    command_id: str = ""


class _Announced(_Happened, frozen=True, kw_only=True):
    message: StateMessage | None = None
    """As it stands on the topic; set by the machine once the run is what the event made of it."""


class RunStarted(_Announced, frozen=True, kw_only=True, tag="run.started"):
    """A new run."""

    frame: Frame
    driver: str
    title: str = ""
    models: tuple[str, ...] = ()


class RunTaken(_Announced, frozen=True, kw_only=True, tag="run.taken"):
    """A new driver goes on with it. Loops inside its lowest one begin anew; so does an interrupted iteration."""

    driver: str
    fence: int


class TurnBegun(_Announced, frozen=True, kw_only=True, tag="run.turn_begun"):
    """An iteration began."""

    depth: int
    number: int
    attempt: int


class TurnEnded(_Happened, frozen=True, kw_only=True, tag="run.turn_ended"):
    """An iteration is over. Not on the topic: what follows from it is."""

    depth: int
    number: int
    failure: str = ""


class FramePushed(_Announced, frozen=True, kw_only=True, tag="run.frame_pushed"):
    """A loop inside a loop began."""

    depth: int
    frame: Frame


class FramePopped(_Announced, frozen=True, kw_only=True, tag="run.frame_popped"):
    """It is over, and the one below goes on."""

    depth: int
    reason: str


class RunPaused(_Announced, frozen=True, kw_only=True, tag="run.paused"):
    """No further iteration starts."""


class RunHeld(_Announced, frozen=True, kw_only=True, tag="run.held"):
    """Its work is done while it is paused: it is held, and done as soon as somebody resumes it."""

    reason: str
    """With which it will be done."""


class RunResumed(_Announced, frozen=True, kw_only=True, tag="run.resumed"):
    """Iterations may start again."""


class RunEscalated(_Announced, frozen=True, kw_only=True, tag="run.escalated"):
    """The next iteration gets another model."""

    model: str
    reason: str = ""


class RunDone(_Announced, frozen=True, kw_only=True, tag="run.done"):
    """It ended by itself."""

    reason: str


class RunAborted(_Announced, frozen=True, kw_only=True, tag="run.aborted"):
    """It was ended. The last message of its run (I-X14)."""

    reason: str | None
    note: str = ""


RunEvent = (
    RunStarted
    | RunTaken
    | TurnBegun
    | TurnEnded
    | FramePushed
    | FramePopped
    | RunPaused
    | RunHeld
    | RunResumed
    | RunEscalated
    | RunDone
    | RunAborted
)


# Commands


class StartRun(msgspec.Struct, frozen=True):
    """Begin a run, or take over one whose driver is dead. Only who holds the run may send it."""

    run_id: RunId
    frame: Frame
    driver: str
    title: str = ""
    models: tuple[str, ...] = ()
    stamp: Stamp = UNSTAMPED


class BeginTurn(msgspec.Struct, frozen=True):
    """Begin the next iteration of the loop at `depth`. A paused or ended run begins none, and says so."""

    run_id: RunId
    fence: int
    depth: int = 0
    stamp: Stamp = UNSTAMPED
    level: int | None = None
    """The number of the loop that is meant: another one may have come to its depth."""


class EndTurn(msgspec.Struct, frozen=True):
    """The iteration is over: as such, with a signal that its loop is over, or with a failure that ends the run."""

    run_id: RunId
    fence: int
    depth: int = 0
    signal: DoneReason | None = None
    failure: str = ""
    stamp: Stamp = UNSTAMPED
    level: int | None = None


class PushFrame(msgspec.Struct, frozen=True):
    """A loop inside the current iteration begins."""

    run_id: RunId
    fence: int
    frame: Frame
    depth: int
    """How many frames are below it."""
    stamp: Stamp = UNSTAMPED
    outer: int | None = None
    """The number of the loop that it is inside of."""


class PopFrame(msgspec.Struct, frozen=True):
    """The loop at `depth` is over; the one below goes on. Of the lowest one: the run is done."""

    run_id: RunId
    fence: int
    depth: int
    reason: DoneReason = DoneReason.COMPLETE
    stamp: Stamp = UNSTAMPED
    level: int | None = None


class FinishRun(msgspec.Struct, frozen=True):
    """The run is done."""

    run_id: RunId
    fence: int
    reason: DoneReason = DoneReason.COMPLETE
    stamp: Stamp = UNSTAMPED


class FailRun(msgspec.Struct, frozen=True):
    """The run cannot go on, says its driver."""

    run_id: RunId
    fence: int
    note: str
    stamp: Stamp = UNSTAMPED


class AbortRun(msgspec.Struct, frozen=True):
    """The run cannot go on, whoever drives it: the hub's own command. An ask may name a run that never began here."""

    run_id: RunId
    note: str
    stamp: Stamp = UNSTAMPED


class _Steer(msgspec.Struct, frozen=True):
    run_id: RunId
    stamp: Stamp = UNSTAMPED


class PauseRun(_Steer, frozen=True):
    """Start no further iteration."""


class ResumeRun(_Steer, frozen=True):
    """Go on."""


class CancelRun(_Steer, frozen=True):
    """End it, whole."""


class EscalateRun(msgspec.Struct, frozen=True):
    """Give the next iteration a more capable model."""

    run_id: RunId
    model: str
    reason: str = ""
    stamp: Stamp = UNSTAMPED


DriverCommand = StartRun | BeginTurn | EndTurn | PushFrame | PopFrame | FinishRun | FailRun | AbortRun
SteerCommand = PauseRun | ResumeRun | CancelRun | EscalateRun
RunCommand = DriverCommand | SteerCommand


# The machine

TRANSITIONS: dict[Status | None, dict[type[RunEvent], Status]] = {
    None: {RunStarted: Status.RUNNING},
    Status.RUNNING: {
        RunTaken: Status.RUNNING,
        TurnBegun: Status.RUNNING,
        TurnEnded: Status.RUNNING,
        FramePushed: Status.RUNNING,
        FramePopped: Status.RUNNING,
        RunPaused: Status.PAUSED,
        RunEscalated: Status.RUNNING,
        RunDone: Status.DONE,
        RunAborted: Status.ABORTED,
    },
    Status.PAUSED: {
        RunTaken: Status.PAUSED,
        TurnEnded: Status.PAUSED,
        FramePushed: Status.PAUSED,
        FramePopped: Status.PAUSED,
        RunHeld: Status.PAUSED,
        RunResumed: Status.RUNNING,
        RunEscalated: Status.PAUSED,
        RunDone: Status.DONE,  # decided no longer: older logs have it
        RunAborted: Status.ABORTED,
    },
    Status.DONE: {},
    Status.ABORTED: {},
}

EXHAUSTED: dict[Mode, DoneReason] = {
    Mode.LOOP: DoneReason.MAX_ITERATIONS,
    Mode.ISSUE: DoneReason.MAX_ITERATIONS,
    Mode.GRIND: DoneReason.MAX_ISSUES,
}
"""How a loop ends that has come to its limit."""

E = TypeVar("E", bound=RunEvent)


def decide(run: Run | None, command: RunCommand) -> tuple[RunEvent, ...]:
    """Return what `command` does to `run`; nothing when it was done before, is not possible now, or comes too late.

    Raises:
        NotFoundError: there is no such run, or it is steered after its end.
        InvalidStateError: it cannot be steered that way now.
        RunTakenError: another driver has taken the run over.
        BadRequestError: the command contradicts itself.
    """
    if run is not None and command.stamp.command_id and run.command_id == command.stamp.command_id:
        return ()  # a retry: its reply is the run as it is
    bare = _DECISIONS[type(command)](run, command)
    events: list[RunEvent] = []
    for event in bare:
        run = evolve(run, event)
        events.append(event if isinstance(event, TurnEnded) else replace(event, message=state_message(run)))
    return tuple(events)


def evolve(run: Run | None, event: RunEvent, *, project: str = "", sequence: int = 0) -> Run:
    """Return the run as it is after `event`, the project's event number `sequence`."""
    status = TRANSITIONS[run.status if run else None][type(event)]
    if isinstance(event, RunStarted):
        return _new(event, project, sequence)
    assert run is not None  # noqa: S101 - TRANSITIONS has just said so
    updated_at = run.updated_at if isinstance(event, TurnEnded) else event.at
    run = replace(
        run,
        status=status,
        updated_at=updated_at,
        command_id=event.command_id or run.command_id,
        sequence=sequence,
    )
    match event:
        case RunTaken():
            lowest = run.levels[0]
            left = replace(lowest, is_open=False, is_interrupted=lowest.is_open or lowest.is_interrupted)
            return replace(run, driver=event.driver, fence=event.fence, levels=(left,))
        case TurnBegun():
            known = run.levels[event.depth]
            frame = replace(known.frame, iter=event.number)
            level = replace(
                known,
                frame=frame,
                is_open=True,
                attempt=event.attempt,
                is_interrupted=False,
                begun_at=event.at,
            )
            return replace(run, levels=(*run.levels[: event.depth], level))
        case TurnEnded():
            ended = replace(run.levels[event.depth], is_open=False)
            return replace(run, levels=(*run.levels[: event.depth], ended))
        case FramePushed():
            below = run.levels[: event.depth]
            pushed = Level(event.frame, sequence, is_escalated=below[-1].is_escalated)
            return replace(run, levels=(*below, pushed))
        case FramePopped():
            return replace(run, levels=run.levels[: event.depth])
        case RunPaused():
            return replace(run, paused_at=event.at, paused_by=event.by)
        case RunHeld():
            lowest = replace(run.levels[0], is_open=False, is_interrupted=False)
            return replace(run, held=event.reason, held_by=event.by, levels=(lowest,))
        case RunResumed():
            return replace(run, paused_at=None, paused_by="")
        case RunEscalated():
            return replace(run, levels=tuple(_escalated(level, event) for level in run.levels))
        case RunDone() | RunAborted():
            run = replace(
                run, ended_at=event.at, ended_by=event.by, reason=event.reason, held=None, held_by=""
            )
            return replace(run, note=event.note) if isinstance(event, RunAborted) else run
        case _:
            assert_never(event)


def _escalated(level: Level, event: RunEscalated) -> Level:
    # All loops of the stack: what a person asked for must outlive the loop that it was asked in, and a crash.
    frame = replace(level.frame, model=event.model, escalation_reason=event.reason or None)
    return replace(level, frame=frame, is_escalated=True)


def _new(event: RunStarted, project: str, sequence: int) -> Run:
    return Run(
        event.run_id,
        project,
        Status.RUNNING,
        (Level(event.frame, sequence),),
        event.at,
        event.by,
        event.at,
        event.title,
        event.models,
        event.driver,
        command_id=event.command_id,
        sequence=sequence,
    )


# The driver's commands


def _start(run: Run | None, command: StartRun) -> tuple[RunEvent, ...]:
    if run is None:
        if command.frame.max < 1:
            raise BadRequestError("A loop has at least one iteration: give a max of 1 or more.")
        return (
            _event(
                RunStarted,
                command,
                frame=replace(command.frame, iter=0),
                driver=command.driver,
                title=command.title,
                models=command.models,
            ),
        )
    if not run.is_active:
        return ()
    return (_event(RunTaken, command, driver=command.driver, fence=run.fence + 1),)


def _begin(run: Run | None, command: BeginTurn) -> tuple[RunEvent, ...]:
    run = _driven(run, command.run_id, command.fence)
    if run.status is not Status.RUNNING:
        return ()
    level = _level(run, command.depth, command.level)
    if level.is_open:
        raise BadRequestError(f"Iteration {level.frame.iter} of {run.run_id} is still open.")
    if level.is_interrupted:
        return (_turn(command, level.frame.iter, level.attempt + 1),)
    if level.frame.iter >= level.frame.max:
        return (_over(run, command, EXHAUSTED[level.frame.mode]),)
    return (_turn(command, level.frame.iter + 1, 1),)


def _turn(command: BeginTurn, number: int, attempt: int) -> TurnBegun:
    return _event(TurnBegun, command, depth=command.depth, number=number, attempt=attempt)


def _end(run: Run | None, command: EndTurn) -> tuple[RunEvent, ...]:
    run = _driven(run, command.run_id, command.fence)
    if _is_over(run):
        return ()
    level = _level(run, command.depth, command.level)
    if not level.is_open:
        raise BadRequestError(f"No iteration of {run.run_id} is open.")
    ended = _event(TurnEnded, command, depth=command.depth, number=level.frame.iter, failure=command.failure)
    if command.failure:
        return (ended, _event(RunAborted, command, reason=AbortReason.ERROR.value, note=command.failure))
    if command.signal is not None:
        return (ended, _over(run, command, command.signal))
    if level.frame.iter >= level.frame.max:
        return (ended, _over(run, command, EXHAUSTED[level.frame.mode]))
    return (ended,)


def _push(run: Run | None, command: PushFrame) -> tuple[RunEvent, ...]:
    run = _driven(run, command.run_id, command.fence)
    if not run.is_active:
        return ()
    if command.frame.max < 1:
        raise BadRequestError("A loop has at least one iteration: give a max of 1 or more.")
    below = _level(run, command.depth - 1, command.outer)
    if not below.is_open:
        raise BadRequestError("A loop inside a loop begins in an open iteration of the outer one.")
    frame = replace(command.frame, iter=0, model=command.frame.model or below.frame.model)
    if below.is_escalated:
        outer = below.frame
        frame = replace(frame, model=outer.model, escalation_reason=outer.escalation_reason)
    return (_event(FramePushed, command, depth=command.depth, frame=frame),)


def _pop(run: Run | None, command: PopFrame) -> tuple[RunEvent, ...]:
    run = _driven(run, command.run_id, command.fence)
    if _is_over(run) or command.depth >= len(run.levels):
        return ()
    _level(run, command.depth, command.level)
    return (_over(run, command, command.reason),)


def _finish(run: Run | None, command: FinishRun) -> tuple[RunEvent, ...]:
    run = _driven(run, command.run_id, command.fence)
    return () if _is_over(run) else (_done(run, command, command.reason),)


def _fail(run: Run | None, command: FailRun) -> tuple[RunEvent, ...]:
    run = _driven(run, command.run_id, command.fence)
    return () if _is_over(run) else _aborted(run, command)


def _abort(run: Run | None, command: AbortRun) -> tuple[RunEvent, ...]:
    return () if run is None else _aborted(run, command)


def _aborted(run: Run, command: FailRun | AbortRun) -> tuple[RunEvent, ...]:
    if not run.is_active:
        return ()
    return (_event(RunAborted, command, reason=AbortReason.ERROR.value, note=command.note),)


def _over(run: Run, command: BeginTurn | EndTurn | PopFrame, reason: DoneReason) -> RunEvent:
    """The loop at the command's depth is over: the one below goes on, and without one the run is done (I-U7)."""
    if command.depth == 0:
        return _done(run, command, reason)
    return _event(FramePopped, command, depth=command.depth, reason=reason.value)


def _done(run: Run, command: RunCommand, reason: DoneReason) -> RunEvent:
    kind = RunHeld if run.status is Status.PAUSED else RunDone
    return _event(kind, command, reason=reason.value)


def _is_over(run: Run) -> bool:
    """Its driver has nothing left to do."""
    return not run.is_active or run.held is not None


def _driven(run: Run | None, run_id: RunId, fence: int) -> Run:
    if run is None:
        raise NotFoundError(f"There is no run {run_id} here.")
    if fence != run.fence:
        raise RunTakenError(f"{run.driver or 'Another process'} drives {run.run_id} now.")
    return run


def _level(run: Run, depth: int, number: int | None) -> Level:
    is_there = 0 <= depth < len(run.levels)
    if number is not None and not (is_there and run.levels[depth].number == number):
        raise RunTakenError(f"This loop is no longer one of the run {run.run_id}.")
    if not is_there:
        raise BadRequestError(f"{run.run_id} has no loop at depth {depth}.")
    return run.levels[depth]


# Steering


def _pause(run: Run | None, command: PauseRun) -> tuple[RunEvent, ...]:
    run = _active(run, command.run_id)
    if run.status is Status.PAUSED:
        raise InvalidStateError(f"Run {run.run_id} is paused already.")
    return (_event(RunPaused, command),)


def _resume(run: Run | None, command: ResumeRun) -> tuple[RunEvent, ...]:
    run = _active(run, command.run_id)
    if run.status is Status.RUNNING:
        raise InvalidStateError(f"Run {run.run_id} is not paused.")
    resumed = _event(RunResumed, command)
    if run.held is None:
        return (resumed,)
    return (resumed, replace(_event(RunDone, command, reason=run.held), by=run.held_by))


def _cancel(run: Run | None, command: CancelRun) -> tuple[RunEvent, ...]:
    run = _active(run, command.run_id)
    return (_event(RunAborted, command, reason=AbortReason.USER_CANCELLED.value),)


def _escalate(run: Run | None, command: EscalateRun) -> tuple[RunEvent, ...]:
    run = _active(run, command.run_id)
    if run.model == command.model:
        raise InvalidStateError(f"Run {run.run_id} is on {command.model} already.")
    return (_event(RunEscalated, command, model=command.model, reason=command.reason),)


def _active(run: Run | None, run_id: RunId) -> Run:
    if run is None or not run.is_active:
        raise NotFoundError(f"Run {run_id} is not active")
    return run


def _event(kind: type[E], command: RunCommand, **fields: Any) -> E:
    stamp: Stamp = command.stamp
    return kind(run_id=command.run_id, at=stamp.at, by=str(stamp.by), command_id=stamp.command_id, **fields)


_DECISIONS: dict[type[RunCommand], Callable[[Run | None, Any], tuple[RunEvent, ...]]] = {
    StartRun: _start,
    BeginTurn: _begin,
    EndTurn: _end,
    PushFrame: _push,
    PopFrame: _pop,
    FinishRun: _finish,
    FailRun: _fail,
    AbortRun: _abort,
    PauseRun: _pause,
    ResumeRun: _resume,
    CancelRun: _cancel,
    EscalateRun: _escalate,
}


MACHINE = Machine(
    "run",
    {
        StartRun: ASKERS,
        BeginTurn: ASKERS,
        EndTurn: ASKERS,
        PushFrame: ASKERS,
        PopFrame: ASKERS,
        FinishRun: ASKERS,
        FailRun: ASKERS,
        AbortRun: INTERNAL,  # everybody else ends a run under its fence, or by a control
        PauseRun: INTERNAL,
        ResumeRun: INTERNAL,
        CancelRun: INTERNAL,
        EscalateRun: INTERNAL,
    },
    get_args(RunEvent),
    decide,
    evolve,
)
