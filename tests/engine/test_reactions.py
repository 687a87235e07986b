"""Where machines touch: which event leads to which command, and nothing else does."""

from typing import Any

import pytest
from msgspec.structs import replace

from assent.engine.ask import AskExpired, AskOpened, Event, SupersedeAsk, decide, evolve
from assent.engine.reactions import WithdrawAsksOf, carry_out, react, react_to_run
from assent.engine.run import AbortRun, RunAborted, RunDone, RunEscalated, RunEvent, RunPaused, RunResumed
from assent.engine.stamp import Stamp
from assent.protocol.ask import AskId, Consequence, State
from assent.protocol.run import Level, Run, RunId, Status
from tests.engine.test_ask import EVENTS, opened
from tests.engine.test_run import EVENTS as RUN_EVENTS
from tests.proves import proves
from tests.run_samples import RUN_ID, new_control, new_frame, new_run
from tests.samples import AGENT, ANA, NOON, new_outcome

__all__: list[str] = []


@pytest.mark.parametrize("event", EVENTS.values(), ids=[event.__name__ for event in EVENTS])
def test_ordinary_event_leads_to_nothing(event: Event) -> None:
    """What is not in the table of reactions does not happen, also to an ask of a run."""
    assert react(event, opened()) == ()
    assert react(event, replace(opened(), run_id="loop-1-2")) == ()


def test_opening_that_replaces_supersedes_the_older_ask() -> None:
    """In the same transaction, so that a key never has two asks."""
    event = EVENTS[AskOpened]
    assert isinstance(event, AskOpened)
    newer = replace(event, ask_id=AskId("ask_2"), replaces=event.ask_id)
    [command] = react(newer, opened())
    assert command == SupersedeAsk(event.ask_id, AskId("ask_2"))
    older = opened()
    [ending] = decide(older, replace(command, stamp=Stamp(NOON, AGENT, "cmd_2")))
    after = evolve(older, ending, project="p", sequence=2)
    assert after.outcome is not None
    assert (after.state, after.outcome.successor) == (State.SUPERSEDED, "ask_2")


@pytest.mark.parametrize("run_id", ["loop-1-2", None])
@pytest.mark.parametrize("consequence", [Consequence.END_RUN, Consequence.DENY])
def test_lapsed_deadline_ends_a_run_only_where_that_was_declared(
    consequence: Consequence, run_id: str | None
) -> None:
    """Decided rule 6: silence has the consequence that was declared, and no other."""
    ask = replace(opened(), run_id=run_id)
    event = AskExpired(ask.ask_id, new_outcome(State.EXPIRED, consequence=consequence))
    follows = react(event, ask)
    if consequence is Consequence.END_RUN and run_id is not None:
        assert follows == (AbortRun(RunId(run_id), f"Nobody answered {ask.ask_id} before its deadline."),)
    else:
        assert follows == ()


# Runs

HAPPENED: dict[str, Any] = {"run_id": RUN_ID, "at": NOON, "by": str(ANA)}


@pytest.mark.parametrize(
    ("event", "reason"),
    [
        (RunAborted(reason="USER_CANCELLED", **HAPPENED), f"ana cancelled the run {RUN_ID}."),
        (RunAborted(reason="ERROR", note="boom", **HAPPENED), f"The run {RUN_ID} was aborted."),
        (RunAborted(reason=None, **HAPPENED), f"The run {RUN_ID} was aborted."),
        (RunDone(reason="COMPLETE", **HAPPENED), f"The run {RUN_ID} is done (COMPLETE)."),
    ],
)
def test_end_of_a_run_withdraws_its_asks(event: RunEvent, reason: str) -> None:
    """Nobody is there any more to hear the answer; whoever looks at the ask reads why."""
    assert react_to_run(event) == (WithdrawAsksOf(RUN_ID, reason),)


@pytest.mark.parametrize(
    "event",
    [event for kind, event in RUN_EVENTS.items() if kind not in {RunAborted, RunDone}],
    ids=lambda event: type(event).__name__,
)
def test_other_events_of_a_run_leave_its_asks_alone(event: RunEvent) -> None:
    """A pause is no end: the agent's question still waits for its answer."""
    assert react_to_run(event) == ()


# Controls

RUNNING = new_run(new_frame(iter=4, model="haiku"))
PAUSED = replace(RUNNING, status=Status.PAUSED, paused_at=NOON)


@proves("I25", "I26", "I27", "I28")
@pytest.mark.parametrize(
    ("command", "run", "payload", "kind"),
    [
        ("pause", RUNNING, {"status": "success", "message": "Loop paused at iteration 4"}, RunPaused),
        ("resume", PAUSED, {"status": "success", "message": "Loop resumed at iteration 4"}, RunResumed),
        ("cancel", RUNNING, {"status": "success"}, RunAborted),
        ("cancel", PAUSED, {"status": "success"}, RunAborted),
        (
            "escalate",
            RUNNING,
            {"status": "success", "previous_model": "haiku", "new_model": "opus"},
            RunEscalated,
        ),
    ],
)
def test_executed_control_tells_what_it_did(
    command: str, run: Run, payload: dict[str, Any], kind: type[RunEvent]
) -> None:
    """The payload of its RESULT, field for field, and the one thing that happens to the run."""
    told, events = carry_out(new_control(command), run, Stamp(NOON, ANA, ""))
    assert told == payload
    assert [type(event) for event in events] == [kind]
    assert events[0].by == "human:ana"


@proves("I27")
def test_escalation_of_a_run_without_a_model_says_that_there_was_none() -> None:
    """Both fields are there all the same."""
    told, _ = carry_out(new_control("escalate"), new_run(), Stamp(NOON, ANA, ""))
    assert told == {"status": "success", "previous_model": "", "new_model": "opus"}


@proves("I28")
@pytest.mark.parametrize(("iteration", "expected"), [(0, 1), (1, 1), (9, 9)])
def test_pause_names_the_iteration_as_the_wire_counts_it(iteration: int, expected: int) -> None:
    """1-based, also before the first one has begun; of the current loop (I-X8)."""
    run = new_run(new_frame(iter=iteration))
    told, _ = carry_out(new_control("pause"), run, Stamp(NOON, ANA, ""))
    assert told["message"] == f"Loop paused at iteration {expected}"
    nested = replace(run, levels=(replace(run.top, is_open=True), Level(new_frame(id="inner", iter=2))))
    told, _ = carry_out(new_control("pause"), nested, Stamp(NOON, ANA, ""))
    assert told["message"] == "Loop paused at iteration 2"


@proves("I38", "I39", "I42")
@pytest.mark.parametrize(
    ("command", "run", "code"),
    [
        ("pause", PAUSED, "invalid_state"),
        ("resume", RUNNING, "invalid_state"),
        ("escalate", replace(RUNNING, levels=(Level(new_frame(model="opus")),)), "invalid_state"),
        ("pause", replace(RUNNING, status=Status.DONE), "not_found"),
        ("cancel", replace(RUNNING, status=Status.ABORTED), "not_found"),
        ("resume", None, "not_found"),
    ],
)
def test_control_that_cannot_be_executed_says_why_and_changes_nothing(
    command: str, run: Run | None, code: str
) -> None:
    """Also where the run ended between the receipt and the execution."""
    told, events = carry_out(new_control(command), run, Stamp(NOON, ANA, ""))
    assert events == ()
    assert (told["status"], told["code"]) == ("failure", code)
    assert told["message"]
