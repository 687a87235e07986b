"""Steering through a real hub on a real store: two transactions, nothing lost, nothing twice."""

import json
import threading
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from assent.hub.audit import verify
from assent.hub.command import (
    AnswerAsk,
    BeginTurn,
    EndTurn,
    ExecuteControl,
    FailRun,
    FinishRun,
    Posted,
    PostMessage,
    PushFrame,
    StartRun,
    Tick,
)
from assent.hub.desk import Desk
from assent.hub.future import Future, LightFuture
from assent.hub.hub import Hub
from assent.protocol.ask import Consequence, State
from assent.protocol.control import ControlState
from assent.protocol.error import (
    BadJsonError,
    BadRequestError,
    ForbiddenError,
    NotFoundError,
    RunEndedError,
    RunTakenError,
    StoreError,
)
from assent.protocol.principal import Principal, Role
from assent.protocol.prompt import question
from assent.protocol.run import Run, RunId, Status
from assent.protocol.topic import CONTROL_TOPIC, CURRENT_TOPIC, Message
from assent.storage.sqlite.store import SqliteStore
from assent.testing import FakeClock, ThrowawayStore
from tests.hub.conftest import PROJECT, dump, opening, send, tell_group
from tests.patience import PATIENCE
from tests.proves import proves
from tests.run_samples import REQUEST_ID, RUN_ID, new_frame, request_text
from tests.samples import AGENT, ANA, BOB
from tests.steering import drive, execute, find_control, find_run, post, said, tell, topic

__all__: list[str] = []

START = StartRun(RUN_ID, new_frame(model="haiku"), "host:1")
BEGIN, END = BeginTurn(RUN_ID, 1), EndTurn(RUN_ID, 1)


@pytest.fixture
def hub(store: ThrowawayStore) -> Hub:
    """Give a hub on a store with a run in its first iteration."""
    hub = store.hub()
    drive(hub, START)
    drive(hub, BEGIN)
    return hub


@pytest.fixture
def run(hub: Hub) -> Run:
    """Give that run."""
    return find_run(hub)


def steer(hub: Hub, command: str, request_id: str = REQUEST_ID, **changes: Any) -> dict[str, Any]:
    """Send a command to the run and return the payload of its RESULT."""
    reply = post(hub, request_text(command, request_id=request_id, **changes)).reply
    assert reply is not None
    if reply.type == "ACK":
        reply = execute(hub, request_id).result
        assert reply is not None
    return reply.payload


def results(hub: Hub, request_id: str = REQUEST_ID) -> list[dict[str, Any]]:
    """Return the payloads of all RESULTs for an id."""
    return [
        body["payload"]
        for _, body in topic(hub)
        if (body["type"], body["request_id"]) == ("RESULT", request_id)
    ]


# Two transactions


@proves("I4", "I6", "I7", "I43")
@pytest.mark.parametrize("command", ["pause", "cancel", "escalate"])
def test_receipt_is_committed_and_readable_before_anything_is_executed(
    store: ThrowawayStore, hub: Hub, run: Run, command: str
) -> None:
    """Whoever looks between the two transactions, in another process, sees the ACK and an untouched run."""
    posted = post(hub, request_text(command))
    assert posted.reply is not None
    assert (posted.reply.type, posted.reply.payload) == ("ACK", {})
    other = store.hub()
    assert [body["type"] for _, body in topic(other)] == ["REQUEST", "ACK"]
    assert find_control(other, REQUEST_ID).state is ControlState.ACCEPTED
    assert find_run(other) == run
    execute(hub, REQUEST_ID)
    assert [body["type"] for _, body in topic(other)] == ["REQUEST", "ACK", "RESULT"]
    assert find_run(other) != run


@proves("I43")
def test_receipt_and_execution_never_share_a_transaction(hub: Hub) -> None:
    """Also where both were sent at once and commands are committed in groups."""
    pause = PostMessage(CONTROL_TOPIC, request_text())
    tell_group(hub, (pause, ANA), (ExecuteControl(REQUEST_ID), ANA), (Tick(), ANA), (END, AGENT))
    assert [body["type"] for _, body in topic(hub)] == ["REQUEST", "ACK"]
    assert find_run(hub).status is Status.RUNNING
    assert execute(hub, REQUEST_ID).result is not None
    assert find_run(hub).status is Status.PAUSED


@proves("I3", "I45")
@pytest.mark.parametrize("command", ["pause", "cancel", "escalate"])
def test_result_stands_before_the_state_that_it_causes(hub: Hub, command: str) -> None:
    """Decided rule 4: one number space, RESULT the lower, nothing between the two."""
    steer(hub, command)
    *_, (result, body) = topic(hub)
    *_, (state, _) = topic(hub, CURRENT_TOPIC)
    assert body["type"] == "RESULT"
    assert state == result + 1


@proves("I45")
def test_result_and_state_are_one_transaction(hub: Hub, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the second half cannot be written, the first is not there either; whoever comes next does both."""
    post(hub, request_text())
    real = Desk.happen
    broken = True

    def happen(self: Desk, *args: Any) -> Run | None:
        if broken:
            raise StoreError("The disk is full.")
        return real(self, *args)

    monkeypatch.setattr(Desk, "happen", happen)
    with pytest.raises(StoreError):
        execute(hub, REQUEST_ID)
    assert (said(hub)[-2:], find_run(hub)) == (["REQUEST", "ACK"], run)
    broken = False
    execute(hub, REQUEST_ID)
    assert said(hub)[-2:] == ["RESULT success", "STATE paused"]
    assert verify(hub.store).problems == ()


@proves("I1", "I3", "I4", "I11")
def test_cancel_shows_on_both_topics(hub: Hub) -> None:
    """RESULT on one, ABORT on the other; every message on its own topic with its own schema."""
    steer(hub, "cancel")
    assert said(hub) == ["STATE", "STATE", "REQUEST", "ACK", "RESULT success", "ABORT USER_CANCELLED"]
    assert {body["schema"] for _, body in topic(hub)} == {0}
    assert {body["schema"] for _, body in topic(hub, CURRENT_TOPIC)} == {1}
    assert {body["type"] for _, body in topic(hub)} == {"REQUEST", "ACK", "RESULT"}


@proves("I2", "I9", "I10", "I11", "I12", "I38", "I39", "I42")
def test_whole_matrix_through_the_hub(hub: Hub) -> None:
    """I-X9, in one life of a run."""
    story = [
        ("resume", "invalid_state", "running"),
        ("pause", "success", "paused"),
        ("pause", "invalid_state", "paused"),
        ("escalate", "success", "paused"),
        ("escalate", "invalid_state", "paused"),
        ("resume", "success", "running"),
        ("escalate", "invalid_state", "running"),
        ("cancel", "success", "aborted"),
        ("pause", "not_found", "aborted"),
        ("resume", "not_found", "aborted"),
        ("cancel", "not_found", "aborted"),
        ("escalate", "not_found", "aborted"),
    ]
    for number, (command, outcome, status) in enumerate(story):
        payload = steer(hub, command, f"req-{number}")
        assert payload.get("code", payload["status"]) == outcome
        assert find_run(hub).status == status
    acknowledged = [body["request_id"] for _, body in topic(hub) if body["type"] == "ACK"]
    assert acknowledged == [f"req-{number}" for number in range(8)]
    states = [body["event"] for _, body in topic(hub, CURRENT_TOPIC)]
    assert states == ["STATE"] * 2 + ["STATE"] * 3 + ["ABORT"]
    assert verify(hub.store).problems == ()


@proves("I5", "I9")
def test_accepted_pause_really_pauses(hub: Hub) -> None:
    """I-X8: the iteration under way ends; no other begins until somebody resumes."""
    assert steer(hub, "pause")["message"] == "Loop paused at iteration 1"
    drive(hub, END)
    assert not drive(hub, BEGIN).top.is_open
    assert not drive(hub, BEGIN).top.is_open
    steer(hub, "resume", "req-2")
    begun = drive(hub, BEGIN)
    assert (begun.top.is_open, begun.iteration) == (True, 2)


@proves("I5")
def test_pause_that_was_acknowledged_comes_before_the_drivers_next_step(hub: Hub) -> None:
    """Races are answered and not lost: what is accepted is executed before any later command decides."""
    drive(hub, END)
    post(hub, request_text())
    assert not drive(hub, BEGIN).top.is_open
    assert said(hub)[-2:] == ["RESULT success", "STATE paused"]


@proves("I5", "I38")
def test_pause_that_meets_the_end_of_the_run_is_answered(hub: Hub) -> None:
    """Accepted before it: the run is held until somebody resumes it. Posted behind it: not_found."""
    post(hub, request_text())
    drive(hub, FinishRun(RUN_ID, 1))
    assert said(hub)[-3:] == ["RESULT success", "STATE paused", "STATE paused"]
    assert steer(hub, "resume", "req-2")["status"] == "success"
    assert said(hub)[-3:] == ["RESULT success", "STATE", "DONE COMPLETE"]
    assert steer(hub, "pause", "req-3")["code"] == "not_found"


def test_several_accepted_controls_are_executed_in_their_order(hub: Hub) -> None:
    """All that were acknowledged together, by whoever comes next, oldest first."""
    commands = ["pause", "resume", "resume", "cancel", "pause"]
    requests = [
        (PostMessage(CONTROL_TOPIC, request_text(command, request_id=f"req-{number}")), ANA)
        for number, command in enumerate(commands)
    ]
    tell_group(hub, *requests)
    assert said(hub)[2:] == ["REQUEST", "ACK"] * 5
    tell(hub, Tick(), AGENT)
    assert said(hub)[12:] == [
        "RESULT success",
        "STATE paused",
        "RESULT success",
        "STATE",
        "RESULT invalid_state",
        "RESULT success",
        "ABORT USER_CANCELLED",
        "RESULT not_found",
    ]


# Whoever comes next


def look(hub: Hub) -> None:
    """Only read."""
    with hub.reading():
        pass


NEXT: dict[str, Callable[[Hub], object]] = {
    "another request": lambda hub: send(hub, opening()),
    "a driver": lambda hub: drive(hub, END),
    "a repeat": lambda hub: post(hub, request_text()),
    "a timer": lambda hub: hub.tick(),
    "somebody who only looks": look,
}


@proves("I5", "I8")
@pytest.mark.parametrize("who", NEXT)
def test_control_whose_sender_died_is_finished_by_whoever_comes_next(
    store: ThrowawayStore, hub: Hub, who: str
) -> None:
    """In any other process, once, in the name of whoever sent it."""
    sender = store.hub()
    post(sender, request_text(), BOB)
    sender.close()
    finisher = store.hub()
    NEXT[who](finisher)
    paused = find_run(hub)
    assert (paused.status, paused.paused_by) == (Status.PAUSED, "human:bob")
    look(store.hub())
    execute(store.hub(), REQUEST_ID)
    assert len(results(hub)) == (2 if who == "a repeat" else 1)  # the repeat is answered from the cache
    assert said(hub).count("STATE paused") == 1
    assert verify(hub.store).problems == ()


def test_control_whose_sender_died_is_finished_by_who_waits(store: ThrowawayStore, run: Run) -> None:
    """A driver that waits for its run to change need not be told: it finds what was accepted."""
    waiter = store.hub()
    changed = waiter.wait_for_run(RUN_ID, PROJECT, run.sequence)
    sender = store.hub()
    post(sender, request_text())
    sender.close()
    assert isinstance(changed, LightFuture)
    assert changed.wait(PATIENCE)
    assert changed.result().status is Status.PAUSED


def test_control_is_executed_once_however_many_come_at_once(store: ThrowawayStore, hub: Hub) -> None:
    """Conditional on accepted and without RESULT."""
    post(hub, request_text())
    hubs = [store.hub() for _ in range(4)]
    barrier = threading.Barrier(len(hubs))

    def finish(own: Hub) -> None:
        barrier.wait(PATIENCE)
        for _ in range(3):
            execute(own, REQUEST_ID)

    threads = [threading.Thread(target=finish, args=(own,)) for own in hubs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    assert [payload["status"] for payload in results(hub)] == ["success"]
    assert said(hub).count("STATE paused") == 1


def test_execution_of_an_unknown_request_is_refused(hub: Hub) -> None:
    """There is nothing to finish."""
    with pytest.raises(NotFoundError, match="no such request"):
        execute(hub, "req-nobody")


@pytest.mark.parametrize("driver", ["hangs", "dead"])
@proves("I5", "I9", "I11")
def test_control_is_executed_while_the_driver_does_nothing(store: ThrowawayStore, driver: str) -> None:
    """Decided rule 9: the driver is bound by the record and never asked."""
    hub = store.hub()
    own = store.hub()
    hold = own.hold_run(RUN_ID, PROJECT)
    drive(own, START)
    drive(own, BEGIN)
    if driver == "dead":
        hold.release()
        own.close()
    assert hub.is_driven(RUN_ID, PROJECT) is (driver == "hangs")
    assert steer(hub, "pause")["status"] == "success"
    assert steer(hub, "cancel", "req-2")["status"] == "success"
    if driver == "hangs":
        late = drive(own, EndTurn(RUN_ID, 1))
        assert (late.status, drive(own, BEGIN).status) == (Status.ABORTED, Status.ABORTED)
    assert said(hub)[-1] == "ABORT USER_CANCELLED"


@proves("I11")
def test_nothing_of_a_run_follows_its_end(hub: Hub) -> None:
    """I-X14: whatever its driver still sends, and whoever would begin it again."""
    drive(hub, PushFrame(RUN_ID, 1, new_frame(id="inner"), 1))
    drive(hub, BeginTurn(RUN_ID, 1, 1))
    steer(hub, "cancel")
    before = topic(hub, CURRENT_TOPIC)
    for command in (
        EndTurn(RUN_ID, 1, 1),
        END,
        BEGIN,
        FinishRun(RUN_ID, 1),
        FailRun(RUN_ID, 1, "late"),
        START,
    ):
        assert drive(hub, command).status is Status.ABORTED
    for number, late in enumerate(("pause", "resume", "cancel", "escalate")):
        assert steer(hub, late, f"late-{number}")["code"] == "not_found"
    assert topic(hub, CURRENT_TOPIC) == before
    assert before[-1][1]["stack"] == []


# Left lying, and expiry


@proves("I29", "I43")
@pytest.mark.parametrize("seconds", [0, 29, 30])
def test_left_request_is_taken_up_by_the_next_transaction(
    store: ThrowawayStore, hub: Hub, clock: FakeClock, seconds: float
) -> None:
    """ACK in one transaction, effect and RESULT in the one after that."""
    assert post(hub, request_text(), is_left=True).reply is None
    assert said(hub)[2:] == ["REQUEST"]
    clock._now += int(seconds * 1_000_000)  # nobody is told that time goes by
    other = store.hub()
    tell(other, Tick(), ANA)
    assert said(hub)[2:] == ["REQUEST", "ACK"]
    assert find_run(hub).status is Status.RUNNING
    tell(other, Tick(), ANA)
    assert said(hub)[2:] == ["REQUEST", "ACK", "RESULT success", "STATE paused"]


@proves("I29")
@pytest.mark.parametrize("seconds", [30.000001, 31, 86_400])
def test_left_request_expires_without_a_reply(
    store: ThrowawayStore, hub: Hub, run: Run, clock: FakeClock, seconds: float
) -> None:
    """Recorded as expired, never executed; a person gave it up long ago."""
    post(hub, request_text("cancel"), is_left=True)
    clock._now += round(seconds * 1_000_000)  # nobody is told that time goes by
    other = store.hub()
    for _ in range(3):
        tell(other, Tick(), ANA)
    assert said(hub)[2:] == ["REQUEST"]
    assert find_control(hub, REQUEST_ID).state is ControlState.EXPIRED
    assert find_run(hub) == run
    with hub.store.reading() as reader:
        types = [record.type for record in reader.records(PROJECT, 0, 100)]
    assert types.count("control.expired") == 1


@proves("I29", "I30", "I32")
def test_retry_of_an_expired_request_is_executed(hub: Hub, clock: FakeClock) -> None:
    """Decided rule 2: it counts as first sight, also where the retry itself finds the first one expired."""
    post(hub, request_text(), is_left=True)
    clock._now += 31_000_000
    assert steer(hub, "pause", timestamp="2024-12-28T10:00:31Z")["status"] == "success"
    assert said(hub)[2:] == ["REQUEST", "REQUEST", "ACK", "RESULT success", "STATE paused"]
    assert verify(hub.store).problems == ()


@proves("I30", "I32")
def test_retry_of_a_left_request_that_is_still_fresh_is_in_flight(hub: Hub) -> None:
    """The retry's own transaction takes the first one up; both are executed as one."""
    post(hub, request_text(), is_left=True)
    reply = post(hub, request_text()).reply
    assert reply is not None
    assert reply.code == "duplicate"
    execute(hub, REQUEST_ID)
    assert said(hub)[2:] == [
        "REQUEST",
        "ACK",
        "REQUEST",
        "RESULT duplicate",
        "RESULT success",
        "STATE paused",
    ]


# Repeats


@proves("I30", "I31", "I32", "I33")
def test_retry_gets_the_cached_result_and_nothing_is_executed(hub: Hub, clock: FakeClock) -> None:
    """The same payload, a new timestamp, no ACK, no state event; also where the run has gone on since."""
    first = steer(hub, "pause")
    steer(hub, "resume", "req-2")
    before = topic(hub, CURRENT_TOPIC)
    clock.advance(200)
    assert steer(hub, "pause", timestamp="2024-12-28T10:05:00Z") == first
    assert topic(hub, CURRENT_TOPIC) == before
    assert find_run(hub).status is Status.RUNNING
    *_, (_, request), (_, result) = topic(hub)
    assert (request["type"], result["type"]) == ("REQUEST", "RESULT")
    assert result["timestamp"] == "2030-01-01T12:03:20Z"


@proves("I31", "I40")
@pytest.mark.parametrize("seconds", [6 * 60, 24 * 3_600])
def test_request_never_executes_again_whenever_and_wherever_it_comes(
    store: ThrowawayStore, hub: Hub, clock: FakeClock, seconds: float
) -> None:
    """Decided rule 1: the memory is durable, and outlives the window and every process."""
    steer(hub, "pause")
    steer(hub, "resume", "req-2")
    hub.close()
    clock.advance(seconds)
    fresh = store.hub()
    before = topic(fresh, CURRENT_TOPIC)
    assert steer(fresh, "pause") == {
        "status": "failure",
        "code": "duplicate",
        "message": "Request ID was already processed",
    }
    look(fresh)
    assert topic(fresh, CURRENT_TOPIC) == before
    assert find_run(fresh).status is Status.RUNNING


@proves("I31", "I33")
def test_cache_survives_a_restart_within_the_window(
    store: ThrowawayStore, hub: Hub, clock: FakeClock
) -> None:
    """I-X16: rebuilt from what is stored."""
    first = steer(hub, "pause")
    hub.close()
    clock.advance(290)
    assert steer(store.hub(), "pause") == first
    clock.advance(15)
    assert steer(store.hub(), "pause")["code"] == "duplicate"


@proves("I40")
def test_other_command_under_a_used_id_is_a_duplicate(hub: Hub) -> None:
    """The original is untouched, the run is not cancelled."""
    first = steer(hub, "pause")
    assert steer(hub, "cancel")["code"] == "duplicate"
    assert find_run(hub).status is Status.PAUSED
    assert steer(hub, "pause") == first


def test_id_is_known_per_project(hub: Hub) -> None:
    """Projects do not mix: neither their ids, nor their runs, nor their topics."""
    drive(hub, START, project="other")
    steer(hub, "pause")
    posted = post(hub, request_text(), project="other")
    assert posted.reply is not None
    assert posted.reply.type == "ACK"
    execute(hub, REQUEST_ID, project="other")
    assert find_run(hub, project="other").status is Status.PAUSED
    assert [body["type"] for _, body in topic(hub, project="other")] == ["REQUEST", "ACK", "RESULT"]


@proves("I41")
def test_malformed_request_does_not_use_up_its_id(hub: Hub) -> None:
    """I-X10: a corrected message may reuse it."""
    refused = post(hub, request_text(target={"issue_id": "auth-123"}))
    assert refused.reply is not None
    assert refused.reply.payload == {
        "status": "failure",
        "code": "bad_request",
        "message": "target.run_id is missing.",
    }
    assert refused.reply.target == {"run_id": "", "issue_id": "auth-123"}
    assert refused.control is None
    assert steer(hub, "pause")["status"] == "success"
    assert said(hub)[2:4] == ["REQUEST", "RESULT bad_request"]


def test_malformed_request_leaves_a_known_id_as_it_is(hub: Hub) -> None:
    """What came of the first one can still be asked for."""
    first = steer(hub, "pause")
    refused = post(hub, request_text(payload=3))
    assert refused.reply is not None
    assert refused.reply.code == "bad_request"
    assert steer(hub, "pause") == first
    assert verify(hub.store).problems == ()


@pytest.mark.parametrize("text", [b"pause please", b"[]", b"{}", b"\xff", request_text(request_id=7)])
def test_message_that_nobody_can_be_answered_for_is_logged_and_not_published(hub: Hub, text: bytes) -> None:
    """I-X10: whoever reads the topic never sees it; the audit log does."""
    posted = post(hub, text)
    assert (posted.message, posted.reply, posted.control) == (None, None, None)
    assert posted.problem
    assert topic(hub) == []
    with hub.store.reading() as reader:
        assert reader.records(PROJECT, 0, 100)[-1].type == "control.malformed"
    assert verify(hub.store).problems == ()


@proves("I12", "I41")
def test_model_that_the_run_did_not_declare_is_malformed(store: ThrowawayStore) -> None:
    """I-X11; the id is free for the corrected message."""
    hub = store.hub()
    drive(hub, replace(START, models=("haiku", "sonnet")))
    assert steer(hub, "escalate")["code"] == "bad_request"
    assert steer(hub, "escalate", payload={"model": "sonnet"}) == {
        "status": "success",
        "previous_model": "haiku",
        "new_model": "sonnet",
    }


@proves("I15")
def test_strict_hub_takes_only_uuids(store: ThrowawayStore, clock: FakeClock) -> None:
    """I-X1: off by default, so that the text's own examples work."""
    drive(store.hub(), START)
    strict = Hub(SqliteStore(store.path), clock, is_strict=True)
    try:
        refused = post(strict, request_text())
        assert refused.reply is not None
        assert refused.reply.payload["message"] == "request_id must be a UUID v4."
        accepted = post(strict, request_text(request_id="550e8400-e29b-41d4-a716-446655440000"))
        assert accepted.reply is not None
        assert accepted.reply.type == "ACK"
    finally:
        strict.close()


# Who may post what


@pytest.mark.parametrize("is_left", [True, False])
def test_agent_cannot_steer_a_run(hub: Hub, is_left: bool) -> None:
    """Not its own either: an agent that could resume itself would not be paused."""
    before = dump(hub)
    with pytest.raises(ForbiddenError, match="only a person can steer"):
        post(hub, request_text(), AGENT, is_left=is_left)
    assert dump(hub) == before


@pytest.mark.parametrize("who", [ANA, AGENT, Principal(Role.OPERATOR, "op")])
def test_nobody_posts_on_the_topic_of_states(hub: Hub, who: Principal) -> None:
    """Only what happened to a run stands there."""
    before = dump(hub)
    state = b'{"schema":1,"event":"DONE","reason":"COMPLETE","run_id":"x","stack":[]}'
    with pytest.raises(ForbiddenError, match="Only runs post on loop:current"):
        tell(hub, PostMessage(CURRENT_TOPIC, state), who)
    assert dump(hub) == before


@pytest.mark.parametrize("type_", ["ACK", "RESULT"])
def test_nobody_posts_a_receipt_or_a_result(hub: Hub, type_: str) -> None:
    """I-X12: a controller may believe every one that it reads."""
    before = dump(hub)
    with pytest.raises(ForbiddenError, match="ACK and RESULT are Assent's own"):
        post(hub, request_text(type=type_))
    assert dump(hub) == before


def test_other_topics_take_any_json_of_anybody(store: ThrowawayStore) -> None:
    """I-U6, I-U9: posting creates the topic; what is posted is read back as it was, on one line."""
    hub = store.hub()
    for who, text in ((AGENT, b'{"a":\n  [1, 2.50]}\n'), (ANA, b'"word"'), (ANA, b"null")):
        posted = tell(hub, PostMessage("issue:auth-123", text), who)
        assert isinstance(posted, Posted)
        assert posted.message is not None
        assert b"\n" not in bytes(posted.message.body)
    with hub.store.reading() as reader:
        found = reader.messages(PROJECT, "issue:auth-123", 0, 10)
    assert [bytes(message.body) for message in found] == [b'{"a":[1,2.50]}', b'"word"', b"null"]
    assert [message.sequence for message in found] == [1, 2, 3]


def test_request_on_several_lines_is_published_on_one(hub: Hub) -> None:
    """`assent read` prints a message a line."""
    text = json.dumps(json.loads(request_text()), indent=2).encode()
    post(hub, text)
    post(hub, json.dumps({"request_id": "x"}, indent=2).encode())
    with hub.store.reading() as reader:
        found = reader.messages(PROJECT, CONTROL_TOPIC, 0, 10)
    assert [b"\n" in bytes(message.body) for message in found] == [False] * 5


@pytest.mark.parametrize(
    ("topic_", "text", "error"),
    [
        ("issue:1", b"not json", BadJsonError),
        ("issue:1", b'{"a":1,"a":2}', BadJsonError),
        ("issue 1", b"{}", BadRequestError),
        ("", b"{}", BadRequestError),
    ],
)
def test_message_that_is_no_json_or_on_no_topic_is_refused(
    store: ThrowawayStore, topic_: str, text: bytes, error: type[Exception]
) -> None:
    """Nothing is written for it."""
    hub = store.hub()
    with pytest.raises(error):
        tell(hub, PostMessage(topic_, text), ANA)
    with hub.store.reading() as reader:
        assert reader.heads() == []


# Runs and asks


@pytest.mark.parametrize("ending", ["cancel", "done", "error"])
def test_end_of_a_run_withdraws_its_open_asks(store: ThrowawayStore, hub: Hub, ending: str) -> None:
    """In the same transaction; whoever waits for the answer wakes; answered ones and others' stay as they are."""
    open_, answered, other, free = (
        send(hub, opening(key=key, run_id=run_id))
        for key, run_id in (("a", RUN_ID), ("b", RUN_ID), ("c", "other"), ("d", None))
    )
    send(hub, AnswerAsk(answered.ask_id, "2"), ANA)
    waiting: Future[Any] = store.hub().wait(open_.ask_id, PROJECT)
    if ending == "cancel":
        steer(hub, "cancel")
    else:
        drive(hub, FinishRun(RUN_ID, 1) if ending == "done" else FailRun(RUN_ID, 1, "boom"))
    assert isinstance(waiting, LightFuture)
    assert waiting.wait(PATIENCE)
    outcome = waiting.result().outcome
    reason = {
        "cancel": f"ana cancelled the run {RUN_ID}.",
        "done": f"The run {RUN_ID} is done (COMPLETE).",
        "error": f"The run {RUN_ID} was aborted.",
    }[ending]
    assert (outcome.state, outcome.by, outcome.reason) == (State.WITHDRAWN, "operator:assent", reason)
    with hub.store.reading() as reader:
        states = [reader.ask(ask.ask_id).state for ask in (answered, other, free)]  # type: ignore[union-attr]  # it was just opened
    assert states == [State.ANSWERED, State.OPEN, State.OPEN]
    assert verify(hub.store).problems == ()


def test_pause_leaves_the_asks_of_the_run_open(hub: Hub) -> None:
    """Twin: it is no end, and the answer is still wanted."""
    ask = send(hub, opening(run_id=RUN_ID))
    steer(hub, "pause")
    assert send(hub, AnswerAsk(ask.ask_id, "2"), ANA).state is State.ANSWERED


@pytest.mark.parametrize("is_replacing", [True, False])
def test_ask_of_an_ended_run_is_refused(hub: Hub, is_replacing: bool) -> None:
    """Nobody would hear the answer; nor may it replace one that is still wanted."""
    wanted = send(hub, opening(key="k", run_id="other"))
    steer(hub, "cancel")
    before = dump(hub)
    prompt = question("Something else?", ["yes", "no"])
    request = opening(prompt, key="k" if is_replacing else "new", run_id=RUN_ID, is_replacing=is_replacing)
    with pytest.raises(RunEndedError, match="USER_CANCELLED"):
        send(hub, request)
    assert dump(hub) == before
    with hub.store.reading() as reader:
        kept = reader.ask(wanted.ask_id)
    assert kept is not None
    assert kept.is_open


def test_key_is_replayed_also_after_the_end_of_the_run(hub: Hub) -> None:
    """A replayed flow gets the answer that it got before, and never a refusal for what is over."""
    request = opening(key="k", run_id=RUN_ID)
    ask = send(hub, request)
    send(hub, AnswerAsk(ask.ask_id, "2"), ANA)
    drive(hub, FinishRun(RUN_ID, 1))
    again = send(hub, opening(key="k", run_id=RUN_ID))
    assert (again.ask_id, again.replayed, again.state) == (ask.ask_id, True, State.ANSWERED)
    assert send(hub, request).ask_id == ask.ask_id


def test_ask_may_name_a_run_that_nobody_began_here(store: ThrowawayStore) -> None:
    """The id may come from another program's loop."""
    hub = store.hub()
    assert send(hub, opening(run_id="elsewhere")).is_open


@pytest.mark.parametrize("consequence", [Consequence.END_RUN, Consequence.DENY])
def test_lapsed_deadline_ends_the_run_where_that_was_declared(
    hub: Hub, clock: FakeClock, consequence: Consequence
) -> None:
    """Decided rule 6: with the run's other asks, in the same transaction; several that are due end it once."""
    for key in "ab":
        send(
            hub,
            opening(key=key, run_id=RUN_ID, deadline=timedelta(seconds=10), consequence=consequence),
        )
    other = send(hub, opening(key="c", run_id=RUN_ID))
    clock.advance(11)
    ended = find_run(hub)
    with hub.store.reading() as reader:
        last = reader.ask(other.ask_id)
    assert last is not None
    if consequence is Consequence.END_RUN:
        assert (ended.status, ended.reason, ended.ended_by) == (Status.ABORTED, "ERROR", "operator:assent")
        assert "before its deadline" in ended.note
        assert last.state is State.WITHDRAWN
        assert said(hub)[-1] == "ABORT ERROR"
    else:
        assert (ended.status, last.state) == (Status.RUNNING, State.OPEN)
    assert verify(hub.store).problems == ()


# Holding and taking over


def test_run_has_one_driver(store: ThrowawayStore) -> None:
    """Somebody alive is not pushed aside, and is named."""
    hub = store.hub()
    own = store.hub()
    hold = own.hold_run(RUN_ID, PROJECT)
    drive(own, replace(START, driver="host:77"))
    with pytest.raises(RunTakenError, match=f"host:77 drives the run {RUN_ID}"):
        hub.hold_run(RUN_ID, PROJECT)
    hub.hold_run(RUN_ID, "other").release()
    hold.release()
    hub.hold_run(RUN_ID, PROJECT).release()


@proves("I44")
def test_paused_run_is_still_paused_after_a_crash(store: ThrowawayStore, hub: Hub) -> None:
    """From the store alone: a new process takes it over, and it begins nothing."""
    steer(hub, "pause")
    hub.close()
    fresh = store.hub()
    *_, (_, state) = topic(fresh, CURRENT_TOPIC)
    assert (state["event"], state["status"], state["paused_at"]) == (
        "STATE",
        "paused",
        "2030-01-01T12:00:00Z",
    )
    taken = drive(fresh, replace(START, driver="host:2"))
    assert (taken.status, taken.fence) == (Status.PAUSED, 2)
    assert not drive(fresh, BeginTurn(RUN_ID, 2)).top.is_open
    *_, (_, state) = topic(fresh, CURRENT_TOPIC)
    assert state["status"] == "paused"
    steer(fresh, "resume", "req-2")
    begun = drive(fresh, BeginTurn(RUN_ID, 2))
    assert (begun.top.is_open, begun.iteration, begun.top.attempt) == (True, 1, 2)


def test_driver_that_was_taken_over_changes_nothing_any_more(store: ThrowawayStore, hub: Hub) -> None:
    """Its fence is old, whatever it still believes."""
    drive(store.hub(), replace(START, driver="host:2"))
    before = dump(hub)
    for command in (BEGIN, END, FinishRun(RUN_ID, 1), FailRun(RUN_ID, 1, "x")):
        with pytest.raises(RunTakenError, match="host:2 drives"):
            drive(hub, command)
    assert dump(hub) == before


# Waiting and following


def test_change_of_a_run_wakes_who_waits_in_another_process(
    store: ThrowawayStore, hub: Hub, run: Run
) -> None:
    """Once for each change; a change that has been is not waited for."""
    waiter = store.hub()
    future = waiter.wait_for_run(RUN_ID, PROJECT, run.sequence)
    steer(hub, "pause")
    assert isinstance(future, LightFuture)
    assert future.wait(PATIENCE)
    paused = future.result()
    assert paused.status is Status.PAUSED
    past = waiter.wait_for_run(RUN_ID, PROJECT, run.sequence)
    assert isinstance(past, LightFuture)
    assert past.wait(PATIENCE)
    still = waiter.wait_for_run(RUN_ID, PROJECT, paused.sequence)
    assert isinstance(still, LightFuture)
    assert not still.wait(0.05)
    waiter.waiters.discard_for_run(RUN_ID, PROJECT, still)


def test_wait_for_a_run_that_does_not_exist_is_refused(hub: Hub) -> None:
    """Nobody hangs on a mistyped id."""
    with pytest.raises(NotFoundError, match="no run nobody"):
        hub.wait_for_run(RunId("nobody"), PROJECT, 0)


def test_close_tells_whoever_waits_for_a_run(hub: Hub, run: Run) -> None:
    """As for asks."""
    future = hub.wait_for_run(RUN_ID, PROJECT, run.sequence)
    hub.close()
    assert isinstance(future, LightFuture)
    with pytest.raises(StoreError, match="goes on"):
        future.result()


@proves("I2", "I4")
def test_topic_is_followed_across_processes(store: ThrowawayStore, hub: Hub) -> None:
    """Only its own messages, in order, each once; numbers rise and have gaps."""
    with store.hub().follow_topic(PROJECT, CONTROL_TOPIC, 0) as feed:
        steer(hub, "pause")
        seen: list[Message] = []
        while len(seen) < 3:
            found = feed.wait(PATIENCE)
            assert found
            seen += found
    assert [json.loads(bytes(message.body))["type"] for message in seen] == ["REQUEST", "ACK", "RESULT"]
    assert [message.sequence for message in seen] == [3, 4, 5]
    with hub.follow_topic(PROJECT, CURRENT_TOPIC, 5) as states:
        assert [message.sequence for message in states.wait(PATIENCE)] == [6]


def test_several_runs_share_the_topic_of_states(hub: Hub) -> None:
    """Decided rule 10: a run's state is the last message with its id."""
    drive(hub, replace(START, run_id=RunId("loop-2")))
    steer(hub, "pause", "req-1")
    steer(hub, "pause", "req-2", target={"run_id": "loop-2"})
    steer(hub, "resume", "req-3")
    last = {body["run_id"]: body.get("status") for _, body in topic(hub, CURRENT_TOPIC)}
    assert last == {RUN_ID: None, "loop-2": "paused"}


def test_ask_that_comes_behind_an_accepted_cancel_is_refused(hub: Hub) -> None:
    """What was acknowledged is executed first, and the others of the group are served."""
    post(hub, request_text("cancel"))
    replies = tell_group(hub, (opening(run_id=RUN_ID), AGENT), (opening(), AGENT))
    assert isinstance(replies[0], RunEndedError)
    assert not isinstance(replies[1], Exception)
    assert verify(hub.store).problems == ()
