"""The protocol text's own example flows, message for message, with its ids and on its days.

Each flow is one controller and one driver, each with a hub of its own. A clock gives every transaction the instant
that the text prints: the first has REQUEST and ACK, the second RESULT and state.
"""

import json
from collections.abc import Iterator
from datetime import datetime
from typing import Any

import pytest

from assent.client.client import Client
from assent.hub.command import BeginTurn, EndTurn, FinishRun, StartRun
from assent.hub.desk import instant
from assent.hub.hub import Hub
from assent.protocol.run import Frame, Mode, RunId
from assent.protocol.topic import CONTROL_TOPIC, CURRENT_TOPIC
from assent.storage.sqlite.store import SqliteStore
from assent.testing import ThrowawayStore, throwaway
from tests.proves import proves
from tests.samples import ANA, microseconds
from tests.steering import PROJECT, drive, execute, post, topic

__all__: list[str] = []

LOOP = RunId("loop-1703123456-12345")
GRIND = RunId("grind-1703123456-99999")
FINISHED = RunId("loop-completed-xyz")

PAUSE_REQUEST = """
{
  "schema": 0,
  "type": "REQUEST",
  "request_id": "req-pause-001",
  "command": "pause",
  "target": {"run_id": "loop-1703123456-12345", "issue_id": "auth-123"},
  "timestamp": "2024-12-28T10:00:00Z",
  "payload": {}
}
"""
PAUSE_ACK = """
{
  "schema": 0,
  "type": "ACK",
  "request_id": "req-pause-001",
  "command": "pause",
  "target": {"run_id": "loop-1703123456-12345", "issue_id": "auth-123"},
  "timestamp": "2024-12-28T10:00:01Z",
  "payload": {}
}
"""
PAUSE_RESULT = """
{
  "schema": 0,
  "type": "RESULT",
  "request_id": "req-pause-001",
  "command": "pause",
  "target": {"run_id": "loop-1703123456-12345", "issue_id": "auth-123"},
  "timestamp": "2024-12-28T10:00:02Z",
  "payload": {"status": "success", "message": "Loop paused at iteration 4"}
}
"""
RESUME_REQUEST = """
{
  "schema": 0,
  "type": "REQUEST",
  "request_id": "req-resume-001",
  "command": "resume",
  "target": {"run_id": "loop-1703123456-12345", "issue_id": "auth-123"},
  "timestamp": "2024-12-28T10:05:00Z",
  "payload": {}
}
"""
CANCEL_REQUEST = """
{
  "schema": 0,
  "type": "REQUEST",
  "request_id": "req-cancel-001",
  "command": "cancel",
  "target": {"run_id": "grind-1703123456-99999"},
  "timestamp": "2024-12-28T11:00:00Z",
  "payload": {}
}
"""
CANCEL_ACK = """
{
  "schema": 0,
  "type": "ACK",
  "request_id": "req-cancel-001",
  "command": "cancel",
  "target": {"run_id": "grind-1703123456-99999"},
  "timestamp": "2024-12-28T11:00:01Z",
  "payload": {}
}
"""
CANCEL_RESULT = """
{
  "schema": 0,
  "type": "RESULT",
  "request_id": "req-cancel-001",
  "command": "cancel",
  "target": {"run_id": "grind-1703123456-99999"},
  "timestamp": "2024-12-28T11:00:02Z",
  "payload": {"status": "success"}
}
"""
CANCEL_ABORT = """
{
  "schema": 1,
  "event": "ABORT",
  "reason": "USER_CANCELLED",
  "run_id": "grind-1703123456-99999",
  "stack": []
}
"""
ESCALATE_REQUEST = """
{
  "schema": 0,
  "type": "REQUEST",
  "request_id": "req-escalate-001",
  "command": "escalate",
  "target": {"run_id": "loop-1703123456-12345", "issue_id": "complex-refactor"},
  "timestamp": "2024-12-28T12:00:00Z",
  "payload": {
    "model": "opus",
    "reason": "Stuck on complex type inference"
  }
}
"""
ESCALATE_ACK = """
{
  "schema": 0,
  "type": "ACK",
  "request_id": "req-escalate-001",
  "command": "escalate",
  "target": {"run_id": "loop-1703123456-12345", "issue_id": "complex-refactor"},
  "timestamp": "2024-12-28T12:00:01Z",
  "payload": {}
}
"""
ESCALATE_RESULT = """
{
  "schema": 0,
  "type": "RESULT",
  "request_id": "req-escalate-001",
  "command": "escalate",
  "target": {"run_id": "loop-1703123456-12345", "issue_id": "complex-refactor"},
  "timestamp": "2024-12-28T12:00:02Z",
  "payload": {
    "status": "success",
    "previous_model": "haiku",
    "new_model": "opus"
  }
}
"""
ESCALATE_STATE = """
{
  "schema": 1,
  "event": "STATE",
  "run_id": "loop-1703123456-12345",
  "updated_at": "2024-12-28T12:00:02Z",
  "stack": [
    {
      "id": "loop-1703123456-12345",
      "mode": "issue",
      "iter": 5,
      "max": 10,
      "model": "opus",
      "escalation_reason": "Stuck on complex type inference"
    }
  ]
}
"""
LATE_REQUEST = """
{
  "schema": 0,
  "type": "REQUEST",
  "request_id": "req-race-001",
  "command": "pause",
  "target": {"run_id": "loop-completed-xyz"},
  "timestamp": "2024-12-28T13:00:00Z",
  "payload": {}
}
"""
LATE_RESULT = """
{
  "schema": 0,
  "type": "RESULT",
  "request_id": "req-race-001",
  "command": "pause",
  "target": {"run_id": "loop-completed-xyz"},
  "timestamp": "2024-12-28T13:00:01Z",
  "payload": {
    "status": "failure",
    "code": "not_found",
    "message": "Run loop-completed-xyz is not active"
  }
}
"""


class Hands:
    """A clock whose hands stand where the test puts them."""

    def __init__(self) -> None:
        self._now = 0

    def put(self, moment: str) -> None:
        """Let it be this moment of that day."""
        self._now = microseconds(datetime.fromisoformat(f"2024-12-28T{moment}Z"))

    def now(self) -> int:
        """Return microseconds since 1970."""
        return self._now


class Stage:
    """A driver's hub and a controller's, on one store and one clock."""

    def __init__(self, store: ThrowawayStore) -> None:
        self.clock = Hands()
        self.driver = Hub(SqliteStore(store.path), self.clock)
        self.controller = Hub(SqliteStore(store.path), self.clock)

    def begin(self, run_id: RunId, mode: Mode, iteration: int, most: int, model: str | None = None) -> None:
        """Have a run in its iteration of that number, since half past nine."""
        self.clock.put("09:30:00")
        drive(self.driver, StartRun(run_id, Frame(run_id, mode, 0, most, model=model), "host:1"))
        drive(self.driver, BeginTurn(run_id, 1))
        for _ in range(iteration - 1):
            drive(self.driver, EndTurn(run_id, 1))
            drive(self.driver, BeginTurn(run_id, 1))

    def send(self, request: str, received: str, executed: str) -> None:
        """Post a REQUEST, received at one moment and executed at another."""
        self.clock.put(received)
        posted = post(self.controller, request.encode())
        self.clock.put(executed)
        assert posted.control is not None
        execute(self.controller, posted.control.request.request_id)

    def control(self) -> list[dict[str, Any]]:
        """Return all of `loop:control`."""
        return [body for _, body in topic(self.driver, CONTROL_TOPIC)]

    def current(self) -> list[dict[str, Any]]:
        """Return all of `loop:current`."""
        return [body for _, body in topic(self.driver, CURRENT_TOPIC)]

    def number_of(self, name: str, text: str) -> int:
        """Return the place of a message in the project's one sequence."""
        [number] = [number for number, body in topic(self.driver, name) if body == json.loads(text)]
        return number

    def close(self) -> None:
        """Let both go."""
        self.driver.close()
        self.controller.close()


@pytest.fixture
def stage() -> Iterator[Stage]:
    """Give an empty stage."""
    with throwaway(project=PROJECT) as store:
        made = Stage(store)
        yield made
        made.close()


def parsed(*texts: str) -> list[dict[str, Any]]:
    """Return messages of the text as JSON has them."""
    return [json.loads(text) for text in texts]


def resumed(type_: str, moment: str, payload: dict[str, Any]) -> dict[str, Any]:
    """Return what the text calls "similar structure" for flow A's second half."""
    return {**json.loads(RESUME_REQUEST), "type": type_, "timestamp": moment, "payload": payload}


@proves(
    *("I1", "I2", "I4", "I6", "I7", "I8", "I9", "I10", "I13", "I14", "I15", "I16", "I17", "I18", "I19"),
    *("I20", "I21", "I22", "I24", "I25", "I28", "I34", "I43", "I44", "I45"),
)
def test_flow_a_pause_and_resume_of_an_issue(stage: Stage) -> None:
    """Paused at iteration 4, fixed by hand, resumed; `loop:current` says so from the RESULT on (I-X6)."""
    stage.begin(LOOP, Mode.ISSUE, 4, 10)
    before = stage.current()
    stage.send(PAUSE_REQUEST, "10:00:01", "10:00:02")
    assert stage.control() == parsed(PAUSE_REQUEST, PAUSE_ACK, PAUSE_RESULT)
    stage.send(RESUME_REQUEST, "10:05:01", "10:05:02")
    assert stage.control()[3:] == [
        json.loads(RESUME_REQUEST),
        resumed("ACK", "2024-12-28T10:05:01Z", {}),
        resumed(
            "RESULT",
            "2024-12-28T10:05:02Z",
            {"status": "success", "message": "Loop resumed at iteration 4"},
        ),
    ]
    stack = [{"id": LOOP, "mode": "issue", "iter": 4, "max": 10}]
    assert stage.current()[len(before) :] == [
        {
            "schema": 1,
            "event": "STATE",
            "run_id": LOOP,
            "updated_at": "2024-12-28T10:00:02Z",
            "stack": stack,
            "status": "paused",
            "paused_at": "2024-12-28T10:00:02Z",
        },
        {"schema": 1, "event": "STATE", "run_id": LOOP, "updated_at": "2024-12-28T10:05:02Z", "stack": stack},
    ]


@proves("I1", "I3", "I11", "I16", "I17", "I19", "I22", "I25", "I26", "I35", "I45")
def test_flow_b_cancel_of_a_grind(stage: Stage) -> None:
    """The target has no issue, and none comes back; ABORT is the last word."""
    stage.begin(GRIND, Mode.GRIND, 2, 100)
    before = stage.current()
    stage.send(CANCEL_REQUEST, "11:00:01", "11:00:02")
    assert stage.control() == parsed(CANCEL_REQUEST, CANCEL_ACK, CANCEL_RESULT)
    assert stage.current()[len(before) :] == parsed(CANCEL_ABORT)
    result = stage.number_of(CONTROL_TOPIC, CANCEL_RESULT)
    assert stage.number_of(CURRENT_TOPIC, CANCEL_ABORT) == result + 1


@proves("I1", "I3", "I12", "I23", "I24", "I26", "I27", "I36", "I45")
def test_flow_c_escalation_to_opus(stage: Stage) -> None:
    """A `loop-…` run with an `issue` frame: the id says nothing about the mode (I-U5)."""
    stage.begin(LOOP, Mode.ISSUE, 5, 10, "haiku")
    before = stage.current()
    stage.send(ESCALATE_REQUEST, "12:00:01", "12:00:02")
    assert stage.control() == parsed(ESCALATE_REQUEST, ESCALATE_ACK, ESCALATE_RESULT)
    assert stage.current()[len(before) :] == parsed(ESCALATE_STATE)
    result = stage.number_of(CONTROL_TOPIC, ESCALATE_RESULT)
    assert stage.number_of(CURRENT_TOPIC, ESCALATE_STATE) == result + 1


@proves("I5", "I25", "I37", "I38")
def test_flow_d_pause_of_a_run_that_has_finished(stage: Stage) -> None:
    """No ACK, one RESULT, and not a word on `loop:current`."""
    stage.begin(FINISHED, Mode.LOOP, 1, 10)
    drive(stage.driver, FinishRun(FINISHED, 1))
    before = stage.current()
    stage.send(LATE_REQUEST, "13:00:01", "13:00:02")
    assert stage.control() == parsed(LATE_REQUEST, LATE_RESULT)
    assert stage.current() == before


@proves("I37", "I38")
def test_flow_d_for_a_run_that_never_was(stage: Stage) -> None:
    """Missing and finished are the same to a controller."""
    stage.send(LATE_REQUEST, "13:00:01", "13:00:02")
    assert stage.control() == parsed(LATE_REQUEST, LATE_RESULT)


def test_flows_share_one_store_and_one_run(stage: Stage) -> None:
    """I-X13: flows A and C address one run with two issue ids; `run_id` alone addresses it."""
    stage.begin(LOOP, Mode.ISSUE, 4, 10, "haiku")
    stage.begin(GRIND, Mode.GRIND, 2, 100)
    stage.send(PAUSE_REQUEST, "10:00:01", "10:00:02")
    stage.send(RESUME_REQUEST, "10:05:01", "10:05:02")
    stage.send(CANCEL_REQUEST, "11:00:01", "11:00:02")
    drive(stage.driver, EndTurn(LOOP, 1))
    drive(stage.driver, BeginTurn(LOOP, 1))
    stage.send(ESCALATE_REQUEST, "12:00:01", "12:00:02")
    stage.send(LATE_REQUEST, "13:00:01", "13:00:02")
    assert stage.control()[:3] == parsed(PAUSE_REQUEST, PAUSE_ACK, PAUSE_RESULT)
    assert stage.control()[6:] == parsed(
        CANCEL_REQUEST,
        CANCEL_ACK,
        CANCEL_RESULT,
        ESCALATE_REQUEST,
        ESCALATE_ACK,
        ESCALATE_RESULT,
        LATE_REQUEST,
        LATE_RESULT,
    )
    last = {body["run_id"]: body for body in stage.current()}
    assert [last[LOOP], last[GRIND]] == parsed(ESCALATE_STATE, CANCEL_ABORT)


@proves("I29", "I30", "I31", "I32", "I33", "I40")
def test_retry_behaviour_of_the_text(stage: Stage) -> None:
    """Its four steps with its id `abc123`: no ACK within 30 seconds, a retry, and what comes of further ones."""
    stage.begin(LOOP, Mode.ISSUE, 4, 10)
    request = json.dumps({**json.loads(PAUSE_REQUEST), "request_id": "abc123"})
    stage.clock.put("10:00:00")
    post(stage.controller, request.encode(), is_left=True)
    stage.send(request, "10:00:31", "10:00:32")
    types = [body["type"] for body in stage.control()]
    assert types == ["REQUEST", "REQUEST", "ACK", "RESULT"]
    stage.send(request, "10:01:00", "10:01:00")
    cached = stage.control()[-1]
    assert (cached["payload"], cached["timestamp"]) == (
        {"status": "success", "message": "Loop paused at iteration 4"},
        "2024-12-28T10:01:00Z",
    )
    other = json.dumps({**json.loads(CANCEL_REQUEST), "request_id": "def456", "target": {"run_id": LOOP}})
    stage.clock.put("10:02:00")
    post(stage.controller, other.encode(), is_left=True)
    post(stage.controller, other.encode())
    assert stage.control()[-1]["payload"] == {
        "status": "failure",
        "code": "duplicate",
        "message": "Request is still in flight",
    }
    stage.send(other, "10:02:01", "10:02:01")
    assert stage.control()[-1]["payload"] == {"status": "success"}
    stage.send(other, "10:08:00", "10:08:00")
    assert stage.control()[-1]["payload"]["code"] == "duplicate"
    assert [body["event"] for body in stage.current()].count("ABORT") == 1


@pytest.mark.parametrize(
    ("requests", "expected"),
    [
        ((PAUSE_REQUEST, RESUME_REQUEST), ["ACK", "RESULT success"] * 2),
        ((ESCALATE_REQUEST,), ["ACK", "RESULT success"]),
        ((LATE_REQUEST,), ["RESULT not_found"]),
        ((CANCEL_REQUEST,), ["RESULT not_found"]),
    ],
)
def test_flow_through_the_clients_raw_door(
    stage: Stage, requests: tuple[str, ...], expected: list[str]
) -> None:
    """Decided rule 11: posted as it stands, a REQUEST is received and executed by the time the call returns."""
    stage.begin(LOOP, Mode.ISSUE, 4, 10, "haiku")
    client = Client(stage.controller, PROJECT, ANA)
    for request in requests:
        message = client.post_text(CONTROL_TOPIC, request.encode())
        assert json.loads(bytes(message.body)) == json.loads(request)
        assert message.posted_at == instant(stage.clock.now())
    replies = [
        f"{body['type']} {body['payload'].get('code') or body['payload'].get('status', '')}".strip()
        for body in stage.control()
        if body["type"] != "REQUEST"
    ]
    assert replies == expected
