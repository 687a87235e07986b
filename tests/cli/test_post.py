"""`assent post`: messages as they stand, and the protocol's own examples from a shell."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from assent.protocol.run import Status
from tests.cli.drive import agent_of, begun, look
from tests.cli.shell import Result, Shell, Terminal
from tests.proves import proves

__all__: list[str] = []

Call = Callable[..., Result]

RUN = "loop-1703123456-12345"
TARGET = {"run_id": RUN, "issue_id": "auth-123"}


def request(command: str, request_id: str, **changes: Any) -> str:
    """Return a REQUEST as the text writes it."""
    message = {
        "schema": 0,
        "type": "REQUEST",
        "request_id": request_id,
        "command": command,
        "target": TARGET,
        "timestamp": "2024-12-28T10:00:00Z",
        "payload": {},
    }
    return json.dumps(message | changes)


def bodies(call: Call, topic: str) -> list[dict[str, Any]]:
    """Return what a topic holds."""
    return [json.loads(line)["body"] for line in call("read", topic).out.splitlines()]


def without_time(body: dict[str, Any]) -> dict[str, Any]:
    """Return a message without its own moment."""
    return {name: value for name, value in body.items() if name != "timestamp"}


@pytest.mark.parametrize("way", ["argument", "-", "nothing"])
def test_message_is_stored_and_printed_on_one_line(shell: Shell, way: str) -> None:
    """From an argument or from standard input; what is printed is what is read."""
    text = '{\n  "note": "the demo\\nis on Friday",\n  "n": 1.50\n}'
    if way == "argument":
        posted = shell.run("post", "project:shop", text)
    else:
        posted = shell.run("post", "project:shop", *(["-"] if way == "-" else []), typed=text)
    assert (posted.status, posted.err, posted.out.count("\n")) == (0, "", 1)
    assert list(posted.json) == ["sequence", "topic", "posted_at", "body"]
    assert (posted.json["sequence"], posted.json["topic"]) == (1, "project:shop")
    assert posted.json["body"] == json.loads(text)
    assert shell.run("read", "project:shop").out == posted.out


def test_poster_is_a_person_unless_an_agent_runs_it(
    call: Call, shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The log says who."""
    call("post", "notes", "1")
    monkeypatch.setenv("CLAUDECODE", "1")
    call("post", "notes", "2")
    with agent_of(shell) as client:
        by = [json.loads(record.body or b"")["by"] for record in client.log()]
    assert by == ["human:ana", "agent:ana"]


@proves("I4", "I16", "I17", "I34")
def test_flow_of_pause_and_resume_from_a_shell(call: Call, shell: Shell) -> None:
    """The text's flow A, posted raw: REQUEST, ACK, RESULT, in this order on one topic, each executed at once."""
    with begun(shell, RUN, mode="issue", model="haiku"):
        for command in ("pause", "resume"):
            assert call("post", "loop:control", request(command, f"req-{command}-001")).status == 0
            assert (look(shell, RUN).status is Status.PAUSED) is (command == "pause")
        control = bodies(call, "loop:control")
    told = [(body["type"], body["command"], body["request_id"]) for body in control]
    assert told == [
        (type_, command, f"req-{command}-001")
        for command in ("pause", "resume")
        for type_ in ("REQUEST", "ACK", "RESULT")
    ]
    assert {json.dumps(body["target"]) for body in control} == {json.dumps(TARGET)}
    assert control[0] == json.loads(request("pause", "req-pause-001"))
    assert control[1]["payload"] == {}
    assert control[2]["payload"] == {"status": "success", "message": "Loop paused at iteration 1"}


@proves("I35")
def test_flow_of_cancel_from_a_shell(call: Call, shell: Shell) -> None:
    """The text's flow B, with its ABORT message for message."""
    run_id = "grind-1703123456-99999"
    with begun(shell, run_id, mode="grind"):
        target = {"run_id": run_id}
        assert call("post", "loop:control", request("cancel", "req-cancel-001", target=target)).status == 0
    control = bodies(call, "loop:control")
    assert [without_time(body) for body in control[1:]] == [
        {"schema": 0, "type": type_, "request_id": "req-cancel-001", "command": "cancel", "target": target, "payload": payload}
        for type_, payload in (("ACK", {}), ("RESULT", {"status": "success"}))
    ]  # fmt: skip
    assert bodies(call, "loop:current")[-1] == {
        "schema": 1,
        "event": "ABORT",
        "reason": "USER_CANCELLED",
        "run_id": run_id,
        "stack": [],
    }


@proves("I41")
def test_malformed_request_gets_a_result_and_no_ack(call: Call) -> None:
    """Correlated by its id; the corrected message may use it again."""
    posted = call("post", "loop:control", request("pause", "req-1", target={}))
    assert posted.status == 0
    control = bodies(call, "loop:control")
    assert [body["type"] for body in control] == ["REQUEST", "RESULT"]
    assert control[1]["payload"] == {
        "status": "failure",
        "code": "bad_request",
        "message": "target.run_id is missing.",
    }


@pytest.mark.parametrize("text", ["", "{", '{"a": 1, "a": 2}', "NaN", "[" * 40 + "]" * 40, "\udcff"])
def test_text_that_is_no_json_is_refused_in_one_sentence(call: Call, shell: Shell, text: str) -> None:
    """Status 2, and no store is made for a slip of the finger."""
    refused = call("post", "notes", text)
    assert (refused.status, refused.out, refused.err.count("\n")) == (2, "", 1)
    assert list(shell.folder.iterdir()) == []


def test_text_that_nobody_can_be_answered_for_is_logged_and_not_posted(call: Call) -> None:
    """On the control topic: status 2, nothing in the topic, and the log knows of it."""
    for text in ("{", "[]", '{"type": "REQUEST"}'):
        refused = call("post", "loop:control", text)
        assert (refused.status, refused.out, refused.err.count("\n")) == (2, "", 1)
    assert call("read", "loop:control").out == ""
    assert call("log").out.count("ana sends what is no message: ") == 3


@pytest.mark.parametrize(
    ("topic", "text", "sentence"),
    [
        ("loop:current", "{}", "Only runs post on loop:current; nothing was posted.\n"),
        ("loop:control", request("pause", "x", type="RESULT"), "ACK and RESULT are Assent's own"),
    ],
)
def test_what_only_assent_says_cannot_be_posted(call: Call, topic: str, text: str, sentence: str) -> None:
    """Nobody forges a run's state, or an answer to a command."""
    refused = call("post", topic, text)
    assert (refused.status, refused.out) == (4, "")
    assert refused.err.startswith(sentence)


def test_agent_cannot_post_a_command(call: Call, shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    """By no door."""
    with begun(shell, RUN):
        monkeypatch.setenv("ASSENT_RUN_ID", RUN)
        refused = call("post", "loop:control", request("pause", "req-1"))
        assert (refused.status, refused.out) == (4, "")
        assert "only a person can steer a run" in refused.err
        assert look(shell, RUN).status is Status.RUNNING


@pytest.mark.parametrize("topic", ["", "two words", "esc\x1b[2J", "x" * 201])
def test_text_that_is_no_topic_is_refused(call: Call, shell: Shell, topic: str) -> None:
    """For both commands."""
    for arguments in (("post", topic, "1"), ("read", topic)):
        refused = call(*arguments)
        assert (refused.status, "is no topic" in refused.err) == (2, True)
        assert refused.err.replace("\n", "").isprintable()
    assert list(shell.folder.iterdir()) == []


def test_message_on_a_terminal_is_the_same_json_and_inert(shell: Shell) -> None:
    """What a terminal would obey is escaped there, so that a reader still gets the same text."""
    text = {"note": "\x9b2J\u202e\u200b\U000e0041 plain é"}
    with Terminal(shell, "post", "notes", json.dumps(text, ensure_ascii=False), stdout_too=True) as terminal:
        assert terminal.end().status == 0
        shown = terminal.seen.decode().strip()
    assert shown.isprintable()
    assert json.loads(shown)["body"] == text
    assert "é" in shown
