"""The control machine: its table, repeated ids, expiry, and what gets an ACK."""

import json
from datetime import datetime, timedelta
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from assent.engine.control import (
    TRANSITIONS,
    ControlAcknowledged,
    ControlEvent,
    ControlExpired,
    ControlMalformed,
    ControlRepeated,
    ControlReplied,
    ControlRequested,
    ControlResolved,
    ControlStep,
    PostRequest,
    RefuseRequest,
    ResolveControl,
    TakeUp,
    decide,
    evolve,
)
from assent.engine.stamp import Stamp
from assent.protocol.control import (
    DEDUP_SECONDS,
    EXPIRY_SECONDS,
    Control,
    ControlMessage,
    ControlState,
    Malformed,
    parse_request,
)
from assent.protocol.run import Run, Status
from tests.proves import proves
from tests.run_samples import REQUEST_ID, RUN_ID, new_control, new_request, new_run, request_text
from tests.samples import ANA, BOB, NOON

__all__: list[str] = []

ACTIVE = new_run()
ENDED = new_run(status=Status.DONE, reason="COMPLETE")
SUCCESS = {"status": "success", "message": "Loop paused at iteration 4"}
IN_FLIGHT = {"status": "failure", "code": "duplicate", "message": "Request is still in flight"}
PROCESSED = {"status": "failure", "code": "duplicate", "message": "Request ID was already processed"}


def stamp(at: datetime = NOON) -> Stamp:
    """Return what the hub would set."""
    return Stamp(at, ANA, "cmd_1")


def after(seconds: float) -> datetime:
    """Return a moment so long after noon."""
    return NOON + timedelta(seconds=seconds)


def post(
    command: str = "pause",
    run: Run | None = ACTIVE,
    at: datetime = NOON,
    is_left: bool = False,
    **changes: Any,
) -> PostRequest:
    """Return the step for a well-formed REQUEST."""
    request = new_request(command, **changes)
    return PostRequest(request, request_text(command, **changes), run, is_left, stamp(at))


def fold(control: Control | None, *steps: ControlStep) -> Control | None:
    """Return the control after these steps."""
    number = control.sequence if control else 0
    for step in steps:
        for event in decide(control, step):
            number += 1
            control = evolve(control, event, sequence=number)
    return control


def messages(events: tuple[ControlEvent, ...]) -> list[tuple[str, dict[str, Any]]]:
    """Return what the events put on the topic: type and payload."""
    shown = [
        json.loads(msgspec.json.encode(event.message))
        for event in events
        if not isinstance(event, ControlExpired | ControlMalformed)
    ]
    return [(message["type"], message["payload"]) for message in shown]


def resolved(payload: dict[str, Any] | None = None, at: datetime = NOON) -> Control:
    """Return a control that was executed and answered."""
    control = fold(None, post(), ResolveControl(payload or SUCCESS, stamp(at)))
    assert control is not None
    return control


# The table

REQUEST = new_request()
EVENTS: dict[type[ControlEvent], ControlEvent] = {
    ControlRequested: ControlRequested(REQUEST, REQUEST.digest, NOON, str(ANA), msgspec.Raw(b"{}")),
    ControlAcknowledged: ControlAcknowledged(REQUEST_ID, REQUEST.ack(NOON)),
    ControlResolved: ControlResolved(REQUEST_ID, REQUEST.result(NOON, SUCCESS)),
    ControlExpired: ControlExpired(REQUEST_ID, NOON),
    ControlRepeated: ControlRepeated(NOON, str(ANA), msgspec.Raw(b"{}")),
    ControlReplied: ControlReplied(REQUEST_ID, REQUEST.result(NOON, PROCESSED)),
    ControlMalformed: ControlMalformed(NOON, str(ANA), "Not JSON.", "x"),
}
EXPECTED = {
    None: {"ControlRequested": "posted"},
    ControlState.POSTED: {
        "ControlAcknowledged": "accepted",
        "ControlResolved": "resolved",
        "ControlExpired": "expired",
    },
    ControlState.ACCEPTED: {"ControlResolved": "resolved"},
    ControlState.RESOLVED: {},
    ControlState.EXPIRED: {"ControlRequested": "posted"},
}
"""What may happen to a control in which state, and what it is then; a resolved one is final."""
TALK = (ControlRepeated, ControlReplied, ControlMalformed)
"""These tell of messages and of no control."""


def test_table_names_every_state_and_every_event() -> None:
    """A new one must be accounted for here."""
    assert EXPECTED.keys() == TRANSITIONS.keys() == {None, *ControlState}
    assert set(EVENTS) == set(ControlEvent.__args__)


@pytest.mark.parametrize("state", [None, *ControlState])
@pytest.mark.parametrize("kind", EVENTS, ids=[kind.__name__ for kind in EVENTS])
def test_event_changes_the_state_as_the_table_says(
    state: ControlState | None, kind: type[ControlEvent]
) -> None:
    """Walks every pair; what is not in the table is refused, and talk changes nothing."""
    control = None if state is None else new_control(state=state)
    expected = EXPECTED[state].get(kind.__name__)
    if kind in TALK:
        assert evolve(control, EVENTS[kind]) is control
    elif expected is None:
        with pytest.raises(KeyError):
            evolve(control, EVENTS[kind])
    else:
        changed = evolve(control, EVENTS[kind], sequence=7)
        assert changed is not None
        assert (changed.state.value, changed.sequence) == (expected, 7)


# First sight


@proves("I6", "I7", "I24", "I32", "I43")
@pytest.mark.parametrize("command", ["pause", "resume", "cancel", "escalate"])
def test_request_for_an_active_run_is_acknowledged_and_nothing_more(command: str) -> None:
    """Decided rule 3: the receipt is all that its transaction does; no logic has looked at the run."""
    events = decide(None, post(command, at=after(1)))
    assert [type(event) for event in events] == [ControlRequested, ControlAcknowledged]
    assert messages(events)[1] == ("ACK", {})
    control = fold(None, post(command))
    assert control is not None
    assert (control.state, control.result) == (ControlState.ACCEPTED, None)


@proves("I43")
@pytest.mark.parametrize("status", [Status.PAUSED, Status.RUNNING])
def test_receipt_confirms_delivery_and_not_success(status: Status) -> None:
    """I-X4: a command that will fail with invalid_state is acknowledged first."""
    for command in ("pause", "resume"):
        events = decide(None, post(command, run=new_run(status=status)))
        assert isinstance(events[-1], ControlAcknowledged)


@proves("I37", "I38")
@pytest.mark.parametrize("run", [ENDED, new_run(status=Status.ABORTED), None])
def test_request_for_a_run_that_is_not_active_is_answered_without_a_receipt(run: Run | None) -> None:
    """Flow D."""
    events = decide(None, post(run=run))
    assert [type(event) for event in events] == [ControlRequested, ControlResolved]
    assert messages(events)[1] == (
        "RESULT",
        {"status": "failure", "code": "not_found", "message": f"Run {RUN_ID} is not active"},
    )


@proves("I41")
def test_malformed_request_is_answered_and_not_kept() -> None:
    """I-X10: a corrected message may use the id again."""
    text = request_text(payload=3)
    malformed = parse_request(text)
    assert isinstance(malformed, Malformed)
    events = decide(None, RefuseRequest(malformed, text, stamp()))
    assert [type(event) for event in events] == [ControlRepeated, ControlReplied]
    assert messages(events)[1][1]["code"] == "bad_request"
    assert fold(None, RefuseRequest(malformed, text, stamp())) is None


def test_message_that_nobody_can_be_answered_for_is_only_logged() -> None:
    """I-X10: nothing is published; the log keeps the text, not all of an endless one."""
    text = b"\xff" + b"x" * 5_000
    [event] = decide(None, RefuseRequest(Malformed("Not JSON."), text, stamp()))
    assert isinstance(event, ControlMalformed)
    assert (event.problem, event.by, len(event.text)) == ("Not JSON.", "human:ana", 2_000)


@proves("I12", "I41")
@pytest.mark.parametrize("model", ["opus", "haiku"])
@pytest.mark.parametrize("models", [(), ("haiku", "sonnet")])
def test_model_outside_the_runs_own_list_is_malformed(model: str, models: tuple[str, ...]) -> None:
    """I-X11: no list means any model. Like all that is malformed it is not kept."""
    step = post("escalate", run=replace(ACTIVE, models=models), payload={"model": model})
    events = decide(None, step)
    if models and model not in models:
        assert messages(events)[1] == (
            "RESULT",
            {
                "status": "failure",
                "code": "bad_request",
                "message": "payload.model must be one of haiku, sonnet.",
            },
        )
        assert fold(None, step) is None
    else:
        assert isinstance(events[1], ControlAcknowledged)


def test_model_is_not_looked_at_where_the_run_is_not_active() -> None:
    """`not_found` says more."""
    events = decide(None, post("escalate", run=replace(ENDED, models=("haiku",))))
    assert messages(events)[1][1]["code"] == "not_found"


# The same id again: decided rule 1


def repeat(control: Control, seconds: float = 1, command: str = "pause", **changes: Any) -> dict[str, Any]:
    """Return the payload of what the same id gets; nothing but a RESULT follows, and nothing changes."""
    changes = {"timestamp": "2025-01-01T00:00:00Z", **changes}
    step = post(command, at=after(seconds), **changes)
    events = decide(control, step)
    assert [type(event) for event in events] == [ControlRepeated, ControlReplied]
    assert fold(control, step) == control
    reply = events[1]
    assert isinstance(reply, ControlReplied)
    assert (reply.message.type, reply.message.timestamp) == ("RESULT", after(seconds))
    return reply.message.payload


@proves("I30", "I31", "I32", "I33")
@pytest.mark.parametrize("seconds", [0, 1, 150, DEDUP_SECONDS - 3])
def test_retry_within_the_window_gets_the_cached_result_again(seconds: float) -> None:
    """With a timestamp of its own, no ACK, no execution."""
    assert repeat(resolved(), seconds) == SUCCESS


@proves("I31", "I33")
def test_failure_is_cached_as_well() -> None:
    """Also where the same command would succeed by now."""
    failed = {"status": "failure", "code": "invalid_state", "message": "Run x is paused already."}
    assert repeat(resolved(failed)) == failed
    missing = fold(None, post(run=None))
    assert missing is not None
    assert repeat(missing)["code"] == "not_found"


@proves("I31", "I40")
@pytest.mark.parametrize("seconds", [DEDUP_SECONDS, DEDUP_SECONDS + 3, 360, 86_400, 10**9])
def test_retry_after_the_window_is_a_duplicate_and_executes_nothing(seconds: float) -> None:
    """Decided rule 1: a request never executes twice, ever."""
    assert repeat(resolved(), seconds) == PROCESSED


@proves("I31")
def test_window_begins_with_the_result_and_not_with_the_request() -> None:
    """I-X16: a command that waited long for its execution is remembered as long as any."""
    control = resolved(at=after(200))
    assert repeat(control, 200 + DEDUP_SECONDS - 3) == SUCCESS
    assert repeat(control, 200 + DEDUP_SECONDS + 3) == PROCESSED


@proves("I32", "I40")
@pytest.mark.parametrize("seconds", [1, 10_000])
def test_retry_in_flight_is_a_duplicate(seconds: float) -> None:
    """Accepted, RESULT not out yet; the original is untouched."""
    assert repeat(new_control(), seconds) == IN_FLIGHT


OTHERS: dict[str, tuple[str, dict[str, Any]]] = {
    "command": ("cancel", {}),
    "run": ("pause", {"target": {"run_id": "other"}}),
    "issue": ("pause", {"target": {"run_id": RUN_ID, "issue_id": "auth-123"}}),
    "payload": ("pause", {"payload": {"why": "lunch"}}),
}


@proves("I31", "I40")
@pytest.mark.parametrize("seconds", [1, 1_000])
@pytest.mark.parametrize("other", OTHERS)
def test_other_request_under_a_known_id_is_a_duplicate(other: str, seconds: float) -> None:
    """Another command, target or payload gets neither executed nor the first one's result."""
    command, changes = OTHERS[other]
    assert repeat(resolved(), seconds, command, **changes) == PROCESSED
    assert repeat(new_control(), seconds, command, **changes) == IN_FLIGHT


def test_repeat_is_answered_also_where_its_run_has_ended_since() -> None:
    """The cache is looked at first: the controller that lost the RESULT of its cancel gets it again."""
    control = fold(None, post("cancel"), ResolveControl({"status": "success"}, stamp()))
    [_, reply] = decide(control, post("cancel", run=ENDED))
    assert isinstance(reply, ControlReplied)
    assert reply.message.payload == {"status": "success"}


# Left lying, and expiry: decided rule 2


def left(at: datetime = NOON, **parts: Any) -> Control:
    """Return a REQUEST that lies in the topic."""
    control = fold(None, post(at=at, is_left=True, **parts))
    assert control is not None
    return control


def test_request_that_was_only_left_gets_no_reply_at_once() -> None:
    """Whoever writes the topic and no more has nobody to acknowledge it."""
    assert [type(event) for event in decide(None, post(is_left=True))] == [ControlRequested]
    assert left().state is ControlState.POSTED


@proves("I29", "I43")
@pytest.mark.parametrize("seconds", [0, 1, EXPIRY_SECONDS - 0.000001, EXPIRY_SECONDS])
def test_left_request_is_taken_up_within_thirty_seconds(seconds: float) -> None:
    """Exactly 30 s is not yet expired (I-X5)."""
    [event] = decide(left(), TakeUp(ACTIVE, stamp(after(seconds))))
    assert isinstance(event, ControlAcknowledged)
    assert event.message.timestamp == after(seconds)


@proves("I29")
@pytest.mark.parametrize("seconds", [EXPIRY_SECONDS + 0.000001, 31, 86_400])
@pytest.mark.parametrize("run", [ACTIVE, ENDED, None])
def test_left_request_is_expired_after_thirty_seconds(seconds: float, run: Run | None) -> None:
    """Recorded, without a reply, and never executed."""
    [event] = decide(left(), TakeUp(run, stamp(after(seconds))))
    assert event == ControlExpired(REQUEST_ID, after(seconds))


@proves("I29")
@pytest.mark.parametrize("ahead", [EXPIRY_SECONDS + 0.000001, 86_400, 10**9])
def test_left_request_of_a_clock_that_was_ahead_is_expired(ahead: float) -> None:
    """How old it is nobody knows; executed is only what is known to be fresh."""
    [event] = decide(left(at=after(ahead)), TakeUp(ACTIVE, stamp(after(0))))
    assert event == ControlExpired(REQUEST_ID, after(0))


@proves("I31", "I40")
def test_result_of_a_clock_that_was_ahead_is_not_told_again_for_ever() -> None:
    """Five minutes, and not a year and five minutes."""
    assert repeat(resolved(at=after(86_400)), 10) == PROCESSED


def test_age_is_measured_by_the_stores_clock() -> None:
    """I-X5: the sender's timestamp of 2024 plays no part."""
    control = left(at=after(1_000), timestamp="2024-12-28T10:00:00Z")
    [event] = decide(control, TakeUp(ACTIVE, stamp(after(1_030))))
    assert isinstance(event, ControlAcknowledged)


@proves("I29", "I30", "I32")
def test_retry_of_an_expired_request_counts_as_first_sight() -> None:
    """With the same id; also with another command under it."""
    control = fold(left(), TakeUp(ACTIVE, stamp(after(31))))
    assert control is not None
    assert (control.state, control.is_settled, control.is_forgotten) == (ControlState.EXPIRED, True, True)
    for command in ("pause", "cancel"):
        again = fold(control, post(command, at=after(40)))
        assert again is not None
        assert (again.state, again.posted_at) == (ControlState.ACCEPTED, after(40))
        assert again.request.command == command


def test_left_request_for_a_run_that_is_not_active_is_answered_when_it_is_taken_up() -> None:
    """As if it had just been posted."""
    events = decide(left(), TakeUp(ENDED, stamp(after(5))))
    assert messages(events)[0][1]["code"] == "not_found"


def test_left_request_for_a_foreign_model_is_answered_when_it_is_taken_up() -> None:
    """Only then is the run looked at."""
    control = fold(None, post("escalate", is_left=True))
    events = decide(control, TakeUp(replace(ACTIVE, models=("haiku",)), stamp(after(5))))
    assert messages(events)[0][1]["code"] == "bad_request"


@pytest.mark.parametrize("state", [ControlState.ACCEPTED, ControlState.RESOLVED, ControlState.EXPIRED])
def test_control_is_taken_up_once(state: ControlState) -> None:
    """Whoever comes second does nothing; so does whoever finds nothing."""
    assert decide(new_control(state=state), TakeUp(ACTIVE, stamp())) == ()
    assert decide(None, TakeUp(ACTIVE, stamp())) == ()


# The one RESULT


@proves("I8")
def test_accepted_control_is_resolved_with_what_came_of_it() -> None:
    """Under its own id, with its own moment."""
    [event] = decide(new_control(), ResolveControl(SUCCESS, stamp(after(2))))
    assert event == ControlResolved(REQUEST_ID, REQUEST.result(after(2), SUCCESS))


@pytest.mark.parametrize("state", [ControlState.POSTED, ControlState.RESOLVED, ControlState.EXPIRED])
def test_control_is_resolved_once_and_only_when_it_was_accepted(state: ControlState) -> None:
    """Any process may finish it after a crash, and only one does."""
    assert decide(new_control(state=state), ResolveControl(SUCCESS, stamp())) == ()
    assert decide(None, ResolveControl(SUCCESS, stamp())) == ()


def test_control_remembers_who_sent_it() -> None:
    """Whoever executes it acts for them."""
    step = replace(post(), stamp=Stamp(NOON, BOB, ""))
    control = fold(None, step)
    assert control is not None
    assert control.by == "human:bob"


# Properties

_steps: st.SearchStrategy[ControlStep] = st.one_of(
    st.builds(
        post,
        st.sampled_from(["pause", "cancel"]),
        st.sampled_from([ACTIVE, ENDED, None]),
        is_left=st.booleans(),
    ),
    st.builds(TakeUp, st.sampled_from([ACTIVE, ENDED, None])),
    st.just(ResolveControl(SUCCESS)),
)


@given(st.lists(st.tuples(_steps, st.sampled_from([0, 1, 31, 290, 310])), max_size=20))
def test_any_step_makes_happen_what_the_machine_accepts(script: list[tuple[ControlStep, int]]) -> None:
    """An id gets one RESULT of its own at most; whatever else it gets repeats that one or says `duplicate`."""
    control: Control | None = None
    own: list[ControlMessage] = []
    at = NOON
    for step, seconds in script:
        at += timedelta(seconds=seconds)
        for event in decide(control, replace(step, stamp=stamp(at))):
            control = evolve(control, event)
            if isinstance(event, ControlResolved):
                own.append(event.message)
            elif isinstance(event, ControlReplied):
                payload = event.message.payload
                assert payload in (PROCESSED, IN_FLIGHT, *(result.payload for result in own))
    assert len(own) <= 1
