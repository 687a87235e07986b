"""Control messages: their exact JSON, what is malformed about a REQUEST, and what is left of a malformed one."""

import json
from datetime import datetime, timedelta
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assent.protocol.control import (
    MAX_REASON,
    MAX_REQUEST_ID,
    Code,
    ControlCommand,
    ControlMessage,
    ControlRequest,
    Malformed,
    failure,
    parse_request,
    render_request,
)
from assent.protocol.run import MAX_MODEL, MAX_RUN_ID
from assent.protocol.topic import CONTROL_TOPIC, CURRENT_TOPIC
from tests.proves import proves
from tests.run_samples import REQUEST_ID, RUN_ID, new_request, request_body, request_text

__all__: list[str] = []

AT = datetime.fromisoformat("2024-12-28T10:00:01Z")
UUID = "550e8400-e29b-41d4-a716-446655440000"
COMMANDS = ("pause", "resume", "cancel", "escalate")
FIELDS = ["schema", "type", "request_id", "command", "target", "timestamp", "payload"]
MISSING = object()


def encoded(message: object) -> Any:
    """Return a message as JSON has it."""
    return json.loads(msgspec.json.encode(message))


def malformed(text: bytes, *, is_strict: bool = False) -> Malformed:
    """Return what is read of a message that cannot be executed."""
    read = parse_request(text, is_strict=is_strict)
    assert isinstance(read, Malformed)
    return read


def changed(command: str = "pause", /, **changes: object) -> bytes:
    """Return a REQUEST with these fields changed; MISSING takes one away."""
    body = request_body(command) | changes
    return msgspec.json.encode({name: value for name, value in body.items() if value is not MISSING})


# Messages


@proves("I13", "I14", "I15", "I16", "I17", "I18", "I20", "I21")
@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("field", FIELDS)
def test_request_without_a_required_field_is_malformed(command: str, field: str) -> None:
    """Every field of the table is required, whatever the command, and the problem names it."""
    read = malformed(changed(command, **{field: MISSING}))
    assert read.problem == f"{field} is missing."
    assert isinstance(parse_request(request_text(command)), ControlRequest)


@proves("I13", "I16", "I17", "I20", "I22", "I23")
@pytest.mark.parametrize(
    ("command", "payload"),
    [("pause", {}), ("resume", {}), ("cancel", {}), ("escalate", {"model": "opus", "reason": "stuck"})],
)
def test_request_is_posted_as_the_text_shows_it(command: str, payload: dict[str, Any]) -> None:
    """Field for field, in the text's own order."""
    text = render_request(UUID, ControlCommand(command), RUN_ID, AT, issue_id="auth-123", payload=payload)
    assert list(json.loads(text).items()) == [
        ("schema", 0),
        ("type", "REQUEST"),
        ("request_id", UUID),
        ("command", command),
        ("target", {"run_id": RUN_ID, "issue_id": "auth-123"}),
        ("timestamp", "2024-12-28T10:00:01Z"),
        ("payload", payload),
    ]
    assert isinstance(parse_request(text, is_strict=True), ControlRequest)


@proves("I7", "I15", "I16", "I17", "I20", "I24")
@pytest.mark.parametrize("command", COMMANDS)
def test_receipt_repeats_the_request_and_says_nothing_else(command: str) -> None:
    """Its payload is empty, also for escalate; its time is its own."""
    target = {"run_id": RUN_ID, "issue_id": "auth-123"}
    ack = new_request(command, target=target, timestamp="2024-12-28T09:00:00Z").ack(AT)
    assert list(encoded(ack).items()) == [
        ("schema", 0),
        ("type", "ACK"),
        ("request_id", REQUEST_ID),
        ("command", command),
        ("target", target),
        ("timestamp", "2024-12-28T10:00:01Z"),
        ("payload", {}),
    ]


@proves("I8", "I15", "I16", "I17", "I20", "I25")
@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(
    "payload", [{"status": "success"}, failure(Code.INVALID_STATE, "Run x is not paused.")]
)
def test_result_repeats_the_request_and_says_what_came_of_it(command: str, payload: dict[str, Any]) -> None:
    """The same seven fields; the payload is the outcome."""
    result = new_request(command, timestamp="2024-12-28T09:00:00Z").result(AT, payload)
    assert list(encoded(result).items()) == [
        ("schema", 0),
        ("type", "RESULT"),
        ("request_id", REQUEST_ID),
        ("command", command),
        ("target", {"run_id": RUN_ID}),
        ("timestamp", "2024-12-28T10:00:01Z"),
        ("payload", payload),
    ]


@proves("I19")
@pytest.mark.parametrize("target", [{"run_id": RUN_ID}, {"run_id": RUN_ID, "issue_id": ""}])
def test_issue_is_repeated_when_given_and_stays_absent_otherwise(target: dict[str, str]) -> None:
    """Neither null nor an empty string stands in for it."""
    request = new_request(target=target)
    assert request.ack(AT).target == target
    assert request.result(AT, {}).target == target
    rendered = render_request("x", ControlCommand.PAUSE, RUN_ID, AT, issue_id=target.get("issue_id"))
    assert json.loads(rendered)["target"] == target


@proves("I25", "I42")
def test_failure_has_a_status_a_code_and_a_sentence() -> None:
    """Three fields, and of four codes one."""
    assert [code.value for code in Code] == ["not_found", "invalid_state", "duplicate", "bad_request"]
    for code in Code:
        payload = failure(code, "Something.")
        assert payload == {"status": "failure", "code": code.value, "message": "Something."}
        result = new_request().result(AT, payload)
        assert (result.is_success, result.code) == (False, code.value)


def test_success_has_no_code() -> None:
    """Twin: what succeeded says so, and an ACK says neither."""
    result = new_request().result(AT, {"status": "success"})
    assert (result.is_success, result.code) == (True, None)
    assert (new_request().ack(AT).is_success, new_request().ack(AT).code) == (False, None)


@proves("I9", "I10", "I11", "I12", "I16")
def test_there_are_four_commands() -> None:
    """Spelled as the text spells them."""
    assert tuple(command.value for command in ControlCommand) == COMMANDS


@proves("I1")
def test_topics_have_their_names() -> None:
    """Commands and states never share a topic."""
    assert (CONTROL_TOPIC, CURRENT_TOPIC) == ("loop:control", "loop:current")


def test_message_is_read_back_as_the_same_message() -> None:
    """A controller in another process sees what was sent."""
    ack = new_request("escalate").ack(AT)
    assert msgspec.json.decode(msgspec.json.encode(ack), type=ControlMessage) == ack


# What is malformed

MALFORMED: dict[str, tuple[bytes, str]] = {
    "schema of state events": (changed(schema=1), "schema must be 0."),
    "schema as text": (changed(schema="0"), "schema must be a whole number."),
    "schema as false": (changed(schema=False), "schema must be a whole number."),
    "schema with a fraction": (changed(schema=0.5), "schema must be a whole number."),
    "schema as null": (changed(schema=None), "schema must be a whole number."),
    "type unknown": (changed(type="QUESTION"), 'type "QUESTION" is not known.'),
    "type in lower case": (changed(type="request"), 'type "request" is not known.'),
    "type as a list": (changed(type=["REQUEST"]), "type must be a string."),
    "type as an object": (changed(type={}), "type must be a string."),
    "command unknown": (
        changed(command="dance"),
        'command "dance" is not known: use pause, resume, cancel or escalate.',
    ),
    "command in upper case": (
        changed(command="PAUSE"),
        'command "PAUSE" is not known: use pause, resume, cancel or escalate.',
    ),
    "command as a number": (changed(command=1), "command must be a string."),
    "request_id empty": (changed(request_id=""), f"request_id must have 1 to {MAX_REQUEST_ID} characters."),
    "request_id endless": (
        changed(request_id="x" * (MAX_REQUEST_ID + 1)),
        f"request_id must have 1 to {MAX_REQUEST_ID} characters.",
    ),
    "request_id as a number": (changed(request_id=7), "request_id must be a string."),
    "request_id as null": (changed(request_id=None), "request_id must be a string."),
    "target as text": (changed(target=RUN_ID), "target must be an object."),
    "target as null": (changed(target=None), "target must be an object."),
    "target as a list": (changed(target=[RUN_ID]), "target must be an object."),
    "run_id missing": (changed(target={}), "target.run_id is missing."),
    "run_id missing beside an issue": (changed(target={"issue_id": "a"}), "target.run_id is missing."),
    "run_id empty": (
        changed(target={"run_id": ""}),
        f"target.run_id must be a string of 1 to {MAX_RUN_ID} characters.",
    ),
    "run_id as a number": (
        changed(target={"run_id": 5}),
        f"target.run_id must be a string of 1 to {MAX_RUN_ID} characters.",
    ),
    "run_id endless": (
        changed(target={"run_id": "x" * (MAX_RUN_ID + 1)}),
        f"target.run_id must be a string of 1 to {MAX_RUN_ID} characters.",
    ),
    "issue_id as a number": (
        changed(target={"run_id": RUN_ID, "issue_id": 1}),
        "target.issue_id must be a string.",
    ),
    "issue_id as null": (
        changed(target={"run_id": RUN_ID, "issue_id": None}),
        "target.issue_id must be a string.",
    ),
    "timestamp as a number": (changed(timestamp=1735380000), "timestamp must be a string."),
    "timestamp that is none": (changed(timestamp="yesterday"), "timestamp must be an ISO 8601 moment."),
    "timestamp empty": (changed(timestamp=""), "timestamp must be an ISO 8601 moment."),
    "timestamp of no day": (
        changed(timestamp="2024-02-30T10:00:00Z"),
        "timestamp must be an ISO 8601 moment.",
    ),
    "timestamp without a zone": (changed(timestamp="2024-12-28T10:00:00"), "timestamp must be in UTC."),
    "timestamp of another zone": (
        changed(timestamp="2024-12-28T10:00:00+01:00"),
        "timestamp must be in UTC.",
    ),
    "payload missing": (changed(payload=MISSING), "payload is missing."),
    "payload as null": (changed(payload=None), "payload must be an object."),
    "payload as a list": (changed(payload=[]), "payload must be an object."),
    "escalate without a model": (
        changed("escalate", payload={"reason": "x"}),
        "payload.model must name a model.",
    ),
    "escalate to a number": (changed("escalate", payload={"model": 4}), "payload.model must name a model."),
    "escalate to null": (changed("escalate", payload={"model": None}), "payload.model must name a model."),
    "escalate to nothing": (changed("escalate", payload={"model": ""}), "payload.model must name a model."),
    "escalate to an endless model": (
        changed("escalate", payload={"model": "x" * (MAX_MODEL + 1)}),
        "payload.model must name a model.",
    ),
    "escalate to a control character": (
        changed("escalate", payload={"model": "opus\u001b[2J"}),
        "payload.model must name a model.",
    ),
    "escalate for a number": (
        changed("escalate", payload={"model": "opus", "reason": 3}),
        f"payload.reason must be a string of at most {MAX_REASON} characters.",
    ),
    "escalate for an endless reason": (
        changed("escalate", payload={"model": "opus", "reason": "x" * (MAX_REASON + 1)}),
        f"payload.reason must be a string of at most {MAX_REASON} characters.",
    ),
    "escalate for null": (
        changed("escalate", payload={"model": "opus", "reason": None}),
        f"payload.reason must be a string of at most {MAX_REASON} characters.",
    ),
}
"""I-X11, a case each: the message, and the sentence that says what is wrong with it."""


@proves("I13", "I14", "I15", "I16", "I17", "I18", "I19", "I20", "I21", "I23", "I41")
@pytest.mark.parametrize("case", MALFORMED)
def test_malformed_request_is_told_what_is_wrong(case: str) -> None:
    """One sentence, and a RESULT with code bad_request where there is an id to answer under."""
    text, problem = MALFORMED[case]
    read = malformed(text)
    assert read.problem == problem
    assert not read.is_reply
    if read.request_id is not None:
        assert encoded(read.result(AT))["payload"] == {
            "status": "failure",
            "code": "bad_request",
            "message": problem,
        }


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"pause",
        b"{",
        b'{"schema": 0,}',
        b"[]",
        b"null",
        b"0",
        b'"pause"',
        b"[" * 40 + b"]" * 40,
        b"\xff\xfe",
        b'{"request_id": "a", "request_id": "b"}',
        b'{"request_id": "a", "n": NaN}',
        b'{"request_id": "\\ud800"}',
        b" " * (1 << 20) + b"{}",
    ],
)
def test_text_that_is_no_object_is_malformed_and_cannot_be_answered(text: bytes) -> None:
    """I-X10: there is nothing to correlate, so there is no id; and nothing is raised, whatever was posted."""
    read = malformed(text)
    assert read.request_id is None
    assert read.problem.endswith(".")


@pytest.mark.parametrize("given", [MISSING, None, 7, True, ["x"], {"a": 1}])
def test_message_without_a_readable_id_cannot_be_answered(given: object) -> None:
    """I-X10: missing or not a string."""
    assert malformed(changed(request_id=given)).request_id is None


READABLE: dict[str, tuple[bytes, dict[str, Any]]] = {
    "target missing": (changed(target=MISSING), {"command": "pause", "target": {"run_id": ""}}),
    "target unreadable": (changed(target=4), {"command": "pause", "target": {"run_id": ""}}),
    "run_id missing": (changed(target={}), {"command": "pause", "target": {"run_id": ""}}),
    "run_id missing beside an issue": (
        changed(target={"issue_id": "auth-123"}),
        {"command": "pause", "target": {"run_id": "", "issue_id": "auth-123"}},
    ),
    "run_id unreadable": (changed(target={"run_id": 4}), {"command": "pause", "target": {"run_id": ""}}),
    "issue unreadable": (
        changed(target={"run_id": RUN_ID, "issue_id": 4}),
        {"command": "pause", "target": {"run_id": RUN_ID}},
    ),
    "command missing": (changed(command=MISSING), {"command": "", "target": {"run_id": RUN_ID}}),
    "command unreadable": (changed(command=None), {"command": "", "target": {"run_id": RUN_ID}}),
    "command unknown": (changed(command="dance"), {"command": "dance", "target": {"run_id": RUN_ID}}),
    "everything missing": (
        b'{"request_id": "req-pause-001"}',
        {"command": "", "target": {"run_id": ""}},
    ),
}


@proves("I41")
@pytest.mark.parametrize("case", READABLE)
def test_answer_to_a_malformed_request_echoes_what_is_readable(case: str) -> None:
    """I-X10: what could not be read is an empty string; the RESULT itself has all seven fields."""
    text, echoed = READABLE[case]
    result = encoded(malformed(text).result(AT))
    assert list(result) == FIELDS
    assert {name: result[name] for name in ("command", "target")} == echoed
    assert (result["schema"], result["type"], result["request_id"]) == (0, "RESULT", REQUEST_ID)
    assert result["timestamp"] == "2024-12-28T10:00:01Z"


@pytest.mark.parametrize("type_", ["ACK", "RESULT"])
def test_receipt_that_somebody_posts_is_known_for_one(type_: str) -> None:
    """I-X12: nobody takes it for a REQUEST, whole or broken."""
    assert malformed(changed(type=type_)).is_reply
    assert malformed(changed(type=type_, payload=MISSING)).is_reply


# What is not malformed


def test_unknown_fields_are_ignored() -> None:
    """I-U10, I-X11: at the top, in the target, and in a payload that is said to be empty."""
    text = changed(target={"run_id": RUN_ID, "host": "a"}, payload={"why": "lunch"}, note="x", sender=["y"])
    read = parse_request(text)
    assert isinstance(read, ControlRequest)
    assert (read.command, read.run_id) == (ControlCommand.PAUSE, RUN_ID)
    assert read.ack(AT).target == {"run_id": RUN_ID, "host": "a"}


@proves("I20")
@pytest.mark.parametrize(
    "timestamp",
    [
        "2024-12-28T10:00:00Z",
        "2024-12-28T10:00:00+00:00",
        "2024-12-28T10:00:00.123456Z",
        "2024-12-28T10:00:00.5+00:00",
        "1999-01-01T00:00:00Z",
        "2999-01-01T00:00:00Z",
    ],
)
def test_moment_in_utc_is_accepted_in_every_spelling(timestamp: str) -> None:
    """I-U7: both `Z` and `+00:00`; how old it is plays no part, or the text's own examples could not be replayed."""
    assert isinstance(parse_request(changed(timestamp=timestamp)), ControlRequest)


@proves("I15")
@pytest.mark.parametrize("request_id", ["req-pause-001", "abc123", UUID, "x" * MAX_REQUEST_ID, "ключ", " "])
def test_id_is_opaque(request_id: str) -> None:
    """I-X1: the text's own examples are accepted, and the id comes back as it was."""
    read = parse_request(changed(request_id=request_id))
    assert isinstance(read, ControlRequest)
    assert encoded(read.ack(AT))["request_id"] == request_id


@proves("I15")
@pytest.mark.parametrize(
    ("request_id", "is_accepted"),
    [
        (UUID, True),
        (UUID.upper(), True),
        ("req-pause-001", False),
        ("550e8400-e29b-11d4-a716-446655440000", False),
        ("550e8400-e29b-41d4-c716-446655440000", False),
        ("550e8400e29b41d4a716446655440000", False),
        (UUID + "\n", False),
        ("{" + UUID + "}", False),
    ],
)
def test_strict_switch_accepts_only_a_uuid_v4(request_id: str, is_accepted: bool) -> None:
    """I-X1: off by default; with it, the examples of the text are malformed."""
    text = changed(request_id=request_id)
    read = parse_request(text, is_strict=True)
    assert isinstance(read, ControlRequest) is is_accepted
    if isinstance(read, Malformed):
        assert (read.problem, read.request_id) == ("request_id must be a UUID v4.", request_id)


@proves("I23")
@pytest.mark.parametrize("payload", [{"model": "opus"}, {"model": "opus", "reason": ""}])
def test_escalation_without_a_reason_is_accepted(payload: dict[str, str]) -> None:
    """I-X11: it counts as empty."""
    request = new_request("escalate", payload=payload)
    assert (request.model, request.reason) == ("opus", "")


def test_other_commands_may_carry_any_payload() -> None:
    """What is required of an escalation is not required of them."""
    for command in ("pause", "resume", "cancel"):
        assert isinstance(parse_request(changed(command, payload={"model": 4})), ControlRequest)


# Telling a retry from another request


def test_digest_tells_command_target_and_payload_and_nothing_else() -> None:
    """Decided rule 1: a retry has a fresh timestamp and is the same request."""
    first = new_request("escalate")
    assert new_request("escalate", timestamp="2024-12-28T11:00:00Z").digest == first.digest
    assert new_request("escalate", request_id="other", note="x").digest == first.digest
    others = [
        new_request("pause", payload=first.payload),
        new_request("escalate", target={"run_id": "other"}),
        new_request("escalate", target={"run_id": RUN_ID, "issue_id": "a"}),
        new_request("escalate", payload={"model": "sonnet", "reason": "stuck"}),
        new_request("escalate", payload={"model": "opus"}),
    ]
    assert len({first.digest, *(other.digest for other in others)}) == len(others) + 1


def test_digest_does_not_depend_on_the_order_of_fields() -> None:
    """Another program may write the same retry in another order."""
    one = new_request("escalate", payload={"model": "opus", "reason": "x"})
    other = new_request("escalate", payload={"reason": "x", "model": "opus"})
    assert one.digest == other.digest


_json = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=4), inner, max_size=2),
    max_leaves=6,
)


@given(
    st.dictionaries(st.sampled_from([*FIELDS, "extra"]), _json),
    st.sampled_from(COMMANDS),
    st.booleans(),
)
def test_whatever_is_posted_is_read_or_malformed(
    changes: dict[str, Any], command: str, is_strict: bool
) -> None:
    """Nothing is raised; what is accepted can be answered; what has an id can be refused."""
    text = msgspec.json.encode({**request_body(command), **changes})
    read = parse_request(text, is_strict=is_strict)
    if isinstance(read, ControlRequest):
        assert list(encoded(read.ack(AT + timedelta(seconds=1)))) == FIELDS
        assert read.digest
    else:
        assert read.problem
        assert list(encoded(read.result(AT))) == FIELDS
