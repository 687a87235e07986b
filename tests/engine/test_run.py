"""The run machine: its table, the matrix of steering, fences, take-over, nested loops, and its rules as properties."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from assent.engine.run import (
    TRANSITIONS,
    AbortRun,
    BeginTurn,
    CancelRun,
    EndTurn,
    EscalateRun,
    FailRun,
    FinishRun,
    FramePopped,
    FramePushed,
    PauseRun,
    PopFrame,
    PushFrame,
    ResumeRun,
    RunAborted,
    RunCommand,
    RunDone,
    RunEscalated,
    RunEvent,
    RunHeld,
    RunPaused,
    RunResumed,
    RunStarted,
    RunTaken,
    StartRun,
    TurnBegun,
    TurnEnded,
    decide,
    evolve,
)
from assent.engine.stamp import Stamp
from assent.protocol.error import (
    AssentError,
    BadRequestError,
    InvalidStateError,
    NotFoundError,
    RunTakenError,
)
from assent.protocol.principal import Principal
from assent.protocol.run import DoneReason, Frame, Level, Mode, Run, RunId, Status, state_message
from tests.proves import proves
from tests.run_samples import RUN_ID, new_frame, new_run
from tests.samples import AGENT, ANA, NOON

__all__: list[str] = []

LATER = NOON + timedelta(seconds=7)
INNER = Frame("issue-auth-1", Mode.ISSUE, 0, 3, issue_id="auth")


def stamp(by: Principal = AGENT, command_id: str = "", at: datetime = LATER) -> Stamp:
    """Return what the hub would set."""
    return Stamp(at, by, command_id)


def start(frame: Frame | None = None, driver: str = "host:1") -> StartRun:
    """Return the command that starts a run, or takes it over."""
    return StartRun(RUN_ID, frame or new_frame(), driver, stamp=stamp())


def begin(depth: int = 0, fence: int = 1) -> BeginTurn:
    """Return the driver's command."""
    return BeginTurn(RUN_ID, fence, depth, stamp())


def end(depth: int = 0, fence: int = 1, **how: Any) -> EndTurn:
    """Return the driver's command."""
    return EndTurn(RUN_ID, fence, depth, stamp=stamp(), **how)


def push(frame: Frame = INNER, depth: int = 1, fence: int = 1) -> PushFrame:
    """Return the driver's command."""
    return PushFrame(RUN_ID, fence, frame, depth, stamp())


def pop(depth: int = 1, fence: int = 1, reason: DoneReason = DoneReason.COMPLETE) -> PopFrame:
    """Return the driver's command."""
    return PopFrame(RUN_ID, fence, depth, reason, stamp())


PAUSE, RESUME, CANCEL = (kind(RUN_ID, stamp(ANA)) for kind in (PauseRun, ResumeRun, CancelRun))
ESCALATE = EscalateRun(RUN_ID, "opus", "stuck", stamp(ANA))


def fold(run: Run | None, *commands: RunCommand) -> Run:
    """Return the run after these commands."""
    for command in commands:
        for event in decide(run, command):
            run = evolve(run, event, project="p", sequence=(run.sequence if run else 0) + 1)
    assert run is not None
    return run


def kinds(run: Run | None, command: RunCommand) -> list[type[RunEvent]]:
    """Return what a command makes happen."""
    return [type(event) for event in decide(run, command)]


def ended(status: Status) -> Run:
    """Return a run that has ended so, in the middle of its third iteration."""
    reason = "COMPLETE" if status is Status.DONE else "USER_CANCELLED"
    return new_run(status=status, reason=reason, levels=(Level(new_frame(iter=3), is_open=True, attempt=1),))


# The table

HAPPENED: dict[str, Any] = {"run_id": RUN_ID, "at": LATER, "by": str(AGENT)}
EVENTS: dict[type[RunEvent], RunEvent] = {
    RunStarted: RunStarted(frame=new_frame(), driver="host:1", **HAPPENED),
    RunTaken: RunTaken(driver="host:2", fence=2, **HAPPENED),
    TurnBegun: TurnBegun(depth=0, number=1, attempt=1, **HAPPENED),
    TurnEnded: TurnEnded(depth=0, number=1, **HAPPENED),
    FramePushed: FramePushed(depth=1, frame=INNER, **HAPPENED),
    FramePopped: FramePopped(depth=1, reason="COMPLETE", **HAPPENED),
    RunPaused: RunPaused(**HAPPENED),
    RunHeld: RunHeld(reason="COMPLETE", **HAPPENED),
    RunResumed: RunResumed(**HAPPENED),
    RunEscalated: RunEscalated(model="opus", **HAPPENED),
    RunDone: RunDone(reason="COMPLETE", **HAPPENED),
    RunAborted: RunAborted(reason="USER_CANCELLED", **HAPPENED),
}
EXPECTED = {
    None: {"RunStarted": "running"},
    Status.RUNNING: {
        "RunTaken": "running",
        "TurnBegun": "running",
        "TurnEnded": "running",
        "FramePushed": "running",
        "FramePopped": "running",
        "RunPaused": "paused",
        "RunEscalated": "running",
        "RunDone": "done",
        "RunAborted": "aborted",
    },
    Status.PAUSED: {
        "RunTaken": "paused",
        "TurnEnded": "paused",
        "FramePushed": "paused",
        "FramePopped": "paused",
        "RunHeld": "paused",
        "RunResumed": "running",
        "RunEscalated": "paused",
        "RunDone": "done",  # in logs of earlier versions
        "RunAborted": "aborted",
    },
    Status.DONE: {},
    Status.ABORTED: {},
}
"""What may happen in which status, and what it is then; no iteration begins while paused."""


def test_table_names_every_status_and_every_event() -> None:
    """A new one must be accounted for here."""
    assert EXPECTED.keys() == TRANSITIONS.keys() == {None, *Status}
    assert set(EVENTS) == set(RunEvent.__args__)


@proves("I5", "I9")
@pytest.mark.parametrize("status", [None, *Status])
@pytest.mark.parametrize("kind", EVENTS, ids=[kind.__name__ for kind in EVENTS])
def test_event_changes_the_status_as_the_table_says(status: Status | None, kind: type[RunEvent]) -> None:
    """Walks every pair; what is not in the table is refused."""
    run = None if status is None else new_run(status=status)
    expected = EXPECTED[status].get(kind.__name__)
    if expected is None:
        with pytest.raises(KeyError):
            evolve(run, EVENTS[kind])
    else:
        assert evolve(run, EVENTS[kind]).status.value == expected


# Steering: the matrix of I-X9

RUNNING = new_run(new_frame(iter=4, model="haiku"))
OPEN = replace(RUNNING, levels=(replace(RUNNING.top, is_open=True, attempt=1),))
STATES: dict[str, Run | None] = {
    "running": RUNNING,
    "in an iteration": OPEN,
    "paused": replace(RUNNING, status=Status.PAUSED, paused_at=NOON),
    "pausing": replace(OPEN, status=Status.PAUSED, paused_at=NOON),
    "done": ended(Status.DONE),
    "aborted": ended(Status.ABORTED),
    "unknown": None,
}
MATRIX: dict[str, dict[str, type[RunEvent] | type[AssentError]]] = {
    "running": {
        "pause": RunPaused,
        "resume": InvalidStateError,
        "cancel": RunAborted,
        "escalate": RunEscalated,
    },
    "in an iteration": {
        "pause": RunPaused,
        "resume": InvalidStateError,
        "cancel": RunAborted,
        "escalate": RunEscalated,
    },
    "paused": {
        "pause": InvalidStateError,
        "resume": RunResumed,
        "cancel": RunAborted,
        "escalate": RunEscalated,
    },
    "pausing": {
        "pause": InvalidStateError,
        "resume": RunResumed,
        "cancel": RunAborted,
        "escalate": RunEscalated,
    },
    "done": dict.fromkeys(("pause", "resume", "cancel", "escalate"), NotFoundError),
    "aborted": dict.fromkeys(("pause", "resume", "cancel", "escalate"), NotFoundError),
    "unknown": dict.fromkeys(("pause", "resume", "cancel", "escalate"), NotFoundError),
}
STEERING: dict[str, RunCommand] = {"pause": PAUSE, "resume": RESUME, "cancel": CANCEL, "escalate": ESCALATE}


@proves("I9", "I10", "I11", "I12", "I38", "I39")
@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("command", STEERING)
def test_command_succeeds_or_fails_as_the_matrix_says(state: str, command: str) -> None:
    """I-X6, I-X9: also while the iteration in which it was paused still runs."""
    run, expected = STATES[state], MATRIX[state][command]
    if issubclass(expected, AssentError):
        with pytest.raises(expected):
            decide(run, STEERING[command])
    else:
        assert kinds(run, STEERING[command]) == [expected]


@proves("I39")
@pytest.mark.parametrize("state", ["running", "paused"])
def test_escalation_to_the_model_that_it_has_is_refused(state: str) -> None:
    """I-X9: there is nothing to switch."""
    with pytest.raises(InvalidStateError, match="is on haiku already"):
        decide(STATES[state], replace(ESCALATE, model="haiku"))


@proves("I37", "I38")
@pytest.mark.parametrize("state", ["done", "aborted", "unknown"])
def test_run_that_is_not_active_is_named(state: str) -> None:
    """The sentence of flow D, to the letter."""
    with pytest.raises(NotFoundError) as caught:
        decide(STATES[state], PAUSE)
    assert caught.value.message == f"Run {RUN_ID} is not active"


@proves("I5", "I9")
@pytest.mark.parametrize("is_open", [True, False])
def test_paused_run_begins_no_iteration(is_open: bool) -> None:
    """I-X8: the one under way finishes; no other starts, and the driver is told so and not thrown out."""
    run = fold(None, start(), begin(), *(() if is_open else (end(),)), PAUSE)
    if is_open:
        run = fold(run, end())
    assert decide(run, begin()) == ()
    assert (run.status, run.top.frame.iter) == (Status.PAUSED, 1)


@proves("I10")
def test_resumed_run_goes_on_with_the_next_iteration() -> None:
    """Nothing is lost, nothing is done twice; it is on time again (I-X7)."""
    paused = fold(None, start(), begin(), end(), PAUSE)
    run = fold(paused, replace(RESUME, stamp=stamp(ANA, at=LATER + timedelta(days=1))))
    assert (run.status, run.paused_at, run.updated_at) == (Status.RUNNING, None, LATER + timedelta(days=1))
    assert fold(run, begin()).top.frame.iter == 2


FINISH = FinishRun(RUN_ID, 1, DoneReason.STUCK, stamp())
LAST: dict[str, tuple[RunCommand, ...]] = {
    "COMPLETE": (begin(), PAUSE, end(signal=DoneReason.COMPLETE)),
    "MAX_ITERATIONS": (begin(), end(), begin(), PAUSE, end()),
    "STUCK": (begin(), PAUSE, FINISH),
    "NO_MORE_ISSUES": (begin(), end(), PAUSE, PopFrame(RUN_ID, 1, 0, DoneReason.NO_MORE_ISSUES, stamp())),
}
"""A run of two iterations that is paused in its last one, by how it would be done."""


@proves("I5", "I9", "I10")
@pytest.mark.parametrize("reason", LAST)
def test_run_that_is_paused_in_its_last_iteration_is_held(reason: str) -> None:
    """It is done when somebody resumes it, without a further iteration: by whoever said so, and not by who resumed."""
    run = fold(None, start(new_frame(max=2)), *LAST[reason])
    assert (run.status, run.held, run.top.is_open, run.reason) == (Status.PAUSED, reason, False, None)
    assert state_message(run).status == "paused"
    for late in (begin(), end(), FINISH, FailRun(RUN_ID, 1, "late", stamp())):
        assert decide(run, late) == ()
    run = fold(run, RESUME)
    assert (run.status, run.reason, run.ended_by, run.held) == (Status.DONE, reason, str(AGENT), None)


@proves("I44")
@pytest.mark.parametrize("reason", LAST)
def test_driver_that_died_finds_its_held_run_held(reason: str) -> None:
    """The next one has nothing to do but to wait."""
    run = fold(None, start(new_frame(max=2)), *LAST[reason], start())
    assert (run.status, run.held, run.fence, run.top.is_interrupted) == (Status.PAUSED, reason, 2, False)
    assert decide(run, begin(fence=2)) == ()
    assert fold(run, RESUME).reason == reason


@proves("I11")
@pytest.mark.parametrize("reason", LAST)
def test_held_run_that_is_cancelled_is_aborted(reason: str) -> None:
    """A person's cancel wins over work that was over."""
    run = fold(None, start(new_frame(max=2)), *LAST[reason], CANCEL)
    assert (run.status, run.reason, run.ended_by) == (Status.ABORTED, "USER_CANCELLED", str(ANA))


def test_run_that_fails_while_it_is_pausing_is_aborted() -> None:
    """There is nothing to resume."""
    assert fold(None, start(), begin(), PAUSE, end(failure="boom")).status is Status.ABORTED


@proves("I11")
@pytest.mark.parametrize("depth", [1, 2])
def test_cancel_ends_the_whole_stack(depth: int) -> None:
    """I-X14: however deep it is."""
    run = fold(None, start(), begin())
    if depth == 2:
        run = fold(run, push(), begin(1))
    assert len(run.levels) == depth
    run = fold(run, CANCEL)
    assert (run.status, run.reason, run.stack, run.ended_by) == (
        Status.ABORTED,
        "USER_CANCELLED",
        (),
        "human:ana",
    )
    assert state_message(run).event == "ABORT"


@proves("I12")
@pytest.mark.parametrize("reason", ["stuck", ""])
def test_escalation_is_the_model_of_the_next_iteration(reason: str) -> None:
    """I-X11: without a reason there is no `escalation_reason`."""
    run = fold(RUNNING, replace(ESCALATE, reason=reason))
    assert (run.model, run.top.frame.escalation_reason) == ("opus", reason or None)
    assert fold(run, begin()).model == "opus"


def test_escalation_of_a_paused_run_leaves_it_paused() -> None:
    """I-X9."""
    assert fold(STATES["paused"], ESCALATE).status is Status.PAUSED


def test_steering_is_stamped_with_who_did_it() -> None:
    """The log names the person."""
    run = fold(RUNNING, PAUSE)
    assert (run.paused_by, run.paused_at) == ("human:ana", LATER)


# The driver


def test_run_starts_before_its_first_iteration() -> None:
    """The caller's own count is not believed."""
    run = fold(None, start(new_frame(iter=7, model="haiku")))
    assert (run.status, run.top.frame.iter, run.fence, run.model) == (Status.RUNNING, 0, 1, "haiku")
    assert run.stack[0].iter == 1


@pytest.mark.parametrize("most", [0, -1])
def test_loop_without_iterations_is_refused(most: int) -> None:
    """At the start, and inside a loop."""
    with pytest.raises(BadRequestError, match="at least one iteration"):
        decide(None, start(new_frame(max=most)))
    with pytest.raises(BadRequestError, match="at least one iteration"):
        decide(OPEN, push(replace(INNER, max=most)))


@pytest.mark.parametrize(
    ("mode", "reason"), [("loop", "MAX_ITERATIONS"), ("issue", "MAX_ITERATIONS"), ("grind", "MAX_ISSUES")]
)
def test_run_that_comes_to_its_limit_is_done(mode: str, reason: str) -> None:
    """I-U7: with the last iteration's end, and not only when the next is asked for."""
    run = fold(None, start(new_frame(mode=Mode(mode), max=2)), begin(), end(), begin())
    assert run.status is Status.RUNNING
    run = fold(run, end())
    assert (run.status, run.reason) == (Status.DONE, reason)


def test_run_that_is_at_its_limit_when_it_is_taken_over_begins_nothing() -> None:
    """A driver that died between the last iteration's end and DONE leaves nothing to do."""
    run = new_run(new_frame(iter=10))
    assert fold(run, begin()).reason == "MAX_ITERATIONS"


@pytest.mark.parametrize("reason", list(DoneReason))
def test_signal_ends_the_run_with_its_reason(reason: DoneReason) -> None:
    """I-U2, all five: as a signal of an iteration, and as the driver's own word."""
    signalled = fold(None, start(), begin(), end(signal=reason))
    said = fold(None, start(), begin(), FinishRun(RUN_ID, 1, reason, stamp()))
    for run in (signalled, said):
        assert (run.status, run.reason, run.ended_at) == (Status.DONE, reason.value, LATER)
        message = state_message(run)
        assert (message.event, message.reason, message.stack) == ("DONE", reason.value, ())


def test_failed_iteration_aborts_the_run() -> None:
    """I-U1: an unrecoverable failure; no further iteration starts on an error."""
    run = fold(None, start(), begin(), end(failure="exit status 1"))
    assert (run.status, run.reason, run.note) == (Status.ABORTED, "ERROR", "exit status 1")
    failed = fold(None, start(), FailRun(RUN_ID, 1, "boom", stamp()))
    assert (failed.status, failed.reason, failed.note) == (Status.ABORTED, "ERROR", "boom")


def test_failure_counts_more_than_a_signal() -> None:
    """What failed is not complete, whatever it printed before."""
    run = fold(None, start(), begin(), end(signal=DoneReason.COMPLETE, failure="boom"))
    assert run.status is Status.ABORTED


def test_iteration_that_is_open_is_not_begun_again() -> None:
    """One at a time."""
    with pytest.raises(BadRequestError, match=r"Iteration 1 of .* is still open"):
        decide(fold(None, start(), begin()), begin())


def test_iteration_that_is_not_open_does_not_end() -> None:
    """Twin."""
    with pytest.raises(BadRequestError, match=r"No iteration of .* is open"):
        decide(fold(None, start()), end())


@pytest.mark.parametrize(
    "command", [begin(), end(), push(), pop(), FinishRun(RUN_ID, 1), FailRun(RUN_ID, 1, "x")]
)
def test_driver_of_a_run_that_does_not_exist_is_told_so(command: RunCommand) -> None:
    """Only `StartRun` begins one."""
    with pytest.raises(NotFoundError):
        decide(None, command)


def test_lapsed_deadline_of_an_ask_whose_run_was_never_begun_here_fails_nothing() -> None:
    """An ask may name a run of somebody else's making."""
    assert decide(None, AbortRun(RUN_ID, "x")) == ()


# Fences

DRIVING: dict[str, Any] = {
    "begin": lambda fence: begin(fence=fence),
    "end": lambda fence: end(fence=fence),
    "push": lambda fence: push(fence=fence),
    "pop": lambda fence: pop(fence=fence),
    "finish": lambda fence: FinishRun(RUN_ID, fence),
    "fail": lambda fence: FailRun(RUN_ID, fence, "x"),
}


@pytest.mark.parametrize("state", ["in an iteration", "paused", "done", "aborted"])
@pytest.mark.parametrize("fence", [1, 3])
@pytest.mark.parametrize("command", DRIVING)
def test_driver_with_another_fence_is_refused(state: str, command: str, fence: int) -> None:
    """Whoever was taken over is told so, and changes nothing any more."""
    known = STATES[state]
    assert known is not None
    with pytest.raises(RunTakenError, match="host:2 drives"):
        decide(replace(known, fence=2, driver="host:2"), DRIVING[command](fence))


@pytest.mark.parametrize("command", DRIVING)
def test_driver_with_the_present_fence_is_served(command: str) -> None:
    """Twin: the same commands pass."""
    run = fold(None, start(), begin(), push(), begin(1))
    run = replace(run, fence=2, levels=(replace(run.levels[0], is_open=command != "begin"), *run.levels[1:]))
    assert decide(run, DRIVING[command](2))


def test_hub_itself_needs_no_fence() -> None:
    """The consequence of an ask that nobody answered comes from no driver."""
    run = replace(OPEN, fence=9)
    assert fold(run, AbortRun(RUN_ID, "late", stamp())).status is Status.ABORTED


# Take-over


def test_taken_run_begins_the_interrupted_iteration_again() -> None:
    """Its number stays, the attempt says that it is begun again, and loops inside it begin anew."""
    left = fold(None, start(), begin(), end(), begin(), push(), begin(1))
    run = fold(left, start(driver="host:2"))
    assert (run.fence, run.driver, len(run.levels)) == (2, "host:2", 1)
    assert (run.top.is_open, run.top.is_interrupted, run.top.frame.iter) == (False, True, 2)
    run = fold(run, begin(fence=2))
    assert (run.top.frame.iter, run.top.attempt, run.top.is_open) == (2, 2, True)
    assert not run.top.is_interrupted
    run = fold(run, end(fence=2), begin(fence=2))
    assert (run.top.frame.iter, run.top.attempt) == (3, 1)


def test_run_that_is_taken_again_and_again_counts_its_attempts() -> None:
    """Also where a driver died before it could begin anything."""
    run = fold(None, start(), begin())
    run = fold(run, start(), begin(fence=2))
    assert run.top.attempt == 2
    run = fold(run, start(), start(), begin(fence=4))
    assert (run.fence, run.top.frame.iter, run.top.attempt) == (4, 1, 3)


def test_run_that_was_left_between_iterations_goes_on_with_the_next() -> None:
    """Twin: nothing was interrupted, nothing is repeated."""
    run = fold(None, start(), begin(), end(), start(), begin(fence=2))
    assert (run.top.frame.iter, run.top.attempt) == (2, 1)


@proves("I44")
def test_paused_run_that_is_taken_over_stays_paused() -> None:
    """And says so again on the topic."""
    left = fold(None, start(), begin(), PAUSE)
    [taken] = decide(left, start())
    assert isinstance(taken, RunTaken)
    assert taken.message is not None
    assert (taken.message.status, taken.message.paused_at) == ("paused", LATER)
    assert decide(fold(left, start()), begin(fence=2)) == ()


def test_ended_run_is_not_begun_again() -> None:
    """It is returned as it ended, under its old fence."""
    for status in (Status.DONE, Status.ABORTED):
        assert decide(ended(status), start()) == ()


def test_escalation_survives_a_take_over() -> None:
    """The person's word is part of the record."""
    assert fold(None, start(new_frame(model="haiku")), begin(), ESCALATE, start()).model == "opus"


# Loops inside loops


def test_nested_loop_is_pushed_and_popped() -> None:
    """I-U3: the last frame is the current loop; the outer iteration goes on where it was."""
    run = fold(None, start(new_frame(mode=Mode.GRIND, max=100, model="haiku")), begin(), push(), begin(1))
    assert [(frame.id, frame.iter) for frame in run.stack] == [(RUN_ID, 1), ("issue-auth-1", 1)]
    assert run.model == "haiku"
    run = fold(run, end(1), begin(1), end(1, signal=DoneReason.COMPLETE))
    assert [frame.id for frame in run.stack] == [RUN_ID]
    assert (run.status, run.top.is_open, run.iteration) == (Status.RUNNING, True, 1)
    assert fold(run, end(), begin()).iteration == 2


def test_nested_loop_may_have_a_model_of_its_own() -> None:
    """Otherwise it has the outer one's."""
    run = fold(None, start(new_frame(model="haiku")), begin(), push(replace(INNER, model="sonnet")))
    assert [frame.model for frame in run.stack] == ["haiku", "sonnet"]


@pytest.mark.parametrize("how", ["limit", "signal", "pop"])
def test_nested_loop_that_is_over_leaves_the_run_going(how: str) -> None:
    """I-U7: only the lowest loop's end is the run's."""
    run = fold(None, start(), begin(), push(replace(INNER, max=1)), begin(1))
    endings: dict[str, RunCommand] = {
        "limit": end(1),
        "signal": end(1, signal=DoneReason.STUCK),
        "pop": pop(),
    }
    ending = endings[how]
    assert kinds(run, ending)[-1] is FramePopped
    assert fold(run, ending).status is Status.RUNNING


def test_three_loops_deep_each_end_is_its_own() -> None:
    """Popping a middle one takes what is inside it along."""
    run = fold(None, start(), begin(), push(), begin(1), push(replace(INNER, id="x"), 2), begin(2))
    assert len(run.levels) == 3
    assert [level.frame.id for level in fold(run, pop(1)).levels] == [RUN_ID]
    assert fold(run, pop(0)).status is Status.DONE


def test_failure_inside_a_nested_loop_aborts_the_run() -> None:
    """I-U1."""
    run = fold(None, start(), begin(), push(), begin(1), end(1, failure="boom"))
    assert (run.status, run.stack) == (Status.ABORTED, ())


def test_nested_loop_of_a_paused_run_begins_no_iteration() -> None:
    """The flag is on the run (I-X6)."""
    run = fold(None, start(), begin(), PAUSE, push())
    assert decide(run, begin(1)) == ()
    assert fold(run, RESUME, begin(1)).top.frame.iter == 1


def test_end_of_an_outer_iteration_takes_the_loops_inside_along() -> None:
    """Whoever gave them up need not say so."""
    run = fold(None, start(), begin(), push(), begin(1), end())
    assert len(run.levels) == 1


@pytest.mark.parametrize(
    "command",
    [push(depth=0), push(depth=3), push(depth=-1), begin(1), begin(-1), end(1), end(-1), pop(-1)],
)
def test_depth_at_which_there_is_no_loop_is_refused(command: RunCommand) -> None:
    """Nothing is guessed."""
    with pytest.raises(BadRequestError, match="has no loop at depth"):
        decide(OPEN, command)


def test_nested_loop_begins_only_in_an_open_iteration() -> None:
    """There is nothing that it could be inside of."""
    with pytest.raises(BadRequestError, match="begins in an open iteration"):
        decide(RUNNING, push())


def test_loop_that_is_gone_is_popped_without_complaint() -> None:
    """A take-over may have dropped it."""
    assert decide(OPEN, pop(1)) == ()


# Ended runs

ALL: dict[str, RunCommand] = {
    "start": start(),
    **{name: make(1) for name, make in DRIVING.items()},
    **STEERING,
}


@proves("I11")
@pytest.mark.parametrize("status", [Status.DONE, Status.ABORTED])
@pytest.mark.parametrize("command", ALL)
def test_nothing_follows_the_end_of_a_run(status: Status, command: str) -> None:
    """I-X14: its driver's late words change nothing; who steers is told that it is not active."""
    if command in STEERING:
        with pytest.raises(NotFoundError):
            decide(ended(status), ALL[command])
    else:
        assert decide(ended(status), ALL[command]) == ()


# Retries


def test_command_that_is_sent_again_changes_nothing() -> None:
    """A driver that lost the reply gets the run as it is, also where the iteration is open now."""
    command = replace(begin(), stamp=stamp(command_id="cmd_7"))
    run = fold(None, start(), command)
    assert run.command_id == "cmd_7"
    assert decide(run, command) == ()
    with pytest.raises(BadRequestError):
        decide(run, begin())


def test_steering_in_between_does_not_hide_that_a_command_was_done() -> None:
    """A pause that came before the retry is no reason to begin an iteration twice."""
    command = replace(begin(), stamp=stamp(command_id="cmd_7"))
    assert decide(fold(None, start(), command, PAUSE), command) == ()


# Properties

_fences = st.integers(1, 3)
_depths = st.integers(-1, 2)
_frames = st.builds(
    lambda mode, most: new_frame(mode=mode, max=most), st.sampled_from(Mode), st.integers(0, 3)
)
_commands: st.SearchStrategy[RunCommand] = st.one_of(
    st.builds(StartRun, st.just(RUN_ID), _frames, st.just("host:1"), stamp=st.just(stamp())),
    st.builds(begin, _depths, _fences),
    st.builds(
        lambda depth, fence, signal, failure: end(depth, fence, signal=signal, failure=failure),
        _depths,
        _fences,
        st.none() | st.sampled_from(DoneReason),
        st.sampled_from(["", "", "x"]),
    ),
    st.builds(push, _frames, _depths, _fences),
    st.builds(pop, _depths, _fences),
    st.builds(FinishRun, st.just(RUN_ID), _fences, stamp=st.just(stamp())),
    st.builds(FailRun, st.just(RUN_ID), _fences, st.just("x"), stamp=st.just(stamp())),
    st.builds(AbortRun, st.just(RUN_ID), st.just("x"), stamp=st.just(stamp())),
    st.sampled_from([PAUSE, RESUME, CANCEL, ESCALATE]),
)


@given(st.lists(_commands, max_size=30))
def test_any_command_is_refused_or_makes_happen_what_the_machine_accepts(commands: list[RunCommand]) -> None:
    """Every announced event carries what the run is then; an ended run says nothing more; replay gives the same."""
    run: Run | None = None
    log: list[RunEvent] = []
    for command in commands:
        try:
            events = decide(run, command)
        except AssentError:
            continue
        assert not events or run is None or run.is_active
        for event in events:
            assert not isinstance(event, TurnBegun) or (run is not None and run.status is Status.RUNNING)
            run = evolve(run, event, project="p", sequence=len(log) + 1)
            assert getattr(event, "message", None) == (
                None if isinstance(event, TurnEnded) else state_message(run)
            )
            assert run.levels
            log.append(event)
    again: Run | None = None
    for number, event in enumerate(log, start=1):
        again = evolve(again, event, project="p", sequence=number)
    assert again == run


def test_event_of_another_run_is_of_that_run() -> None:
    """The id comes from the command and not from the frame."""
    [event] = decide(None, replace(start(), run_id=RunId("other")))
    assert evolve(None, event).run_id == "other"


def test_escalation_inside_a_nested_loop_outlives_it_and_a_take_over() -> None:
    """What a person asked for is not taken back by the end of a loop, by a crash, or by a script's own model."""
    run = fold(None, start(), begin(), push(), begin(1), ESCALATE)
    assert [(frame.model, frame.escalation_reason) for frame in run.stack] == [("opus", "stuck")] * 2
    popped = fold(run, end(1, signal=DoneReason.COMPLETE))
    assert popped.model == "opus"
    again = fold(popped, push(replace(INNER, model="haiku")))
    assert (again.model, again.top.is_escalated) == ("opus", True)
    assert fold(run, start(driver="host:2")).model == "opus"


@pytest.mark.parametrize("late", [begin, end, pop])
def test_loop_in_whose_place_another_one_has_come_is_refused(late: Callable[..., Any]) -> None:
    """Same depth, another loop: a driver that was left behind neither begins, ends nor pops it."""
    run = fold(None, start(), begin(), push())
    old = run.top.number
    run = fold(run, end(), begin(), push(), begin(1))
    assert run.top.number != old
    with pytest.raises(RunTakenError):
        decide(run, replace(late(1), level=old))
    assert decide(run, replace(end(1), level=run.top.number))


def test_loop_inside_a_loop_that_is_gone_is_refused() -> None:
    """Its outer loop was not the one that is there now."""
    run = fold(None, start(), begin())
    with pytest.raises(RunTakenError):
        decide(run, replace(push(), outer=run.top.number + 7))
