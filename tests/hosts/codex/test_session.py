"""`assent host codex` against a peer that speaks as the app-server does and checks what it is sent."""

import json
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from assent.protocol.ask import Ask, State
from tests.cli.shell import Shell, wait_for
from tests.hosts.codex import app_server
from tests.patience import PATIENCE

__all__: list[str] = []

RUN = {"method": "item/commandExecution/requestApproval", "params": {"command": "rm -r build", "cwd": "/srv"}}
CHANGES = [{"path": "a.py", "kind": {"type": "update"}, "diff": "-a\n+b"}]
CHANGING = {
    "notify": "item/started",
    "params": {"item": {"type": "fileChange", "id": "item-1", "changes": CHANGES}},
}
CHANGE = {"method": "item/fileChange/requestApproval", "params": {"reason": "needed"}}
NETWORK = {"network": {"enabled": True}}
PERMIT = {"method": "item/permissions/requestApproval", "params": {"cwd": "/srv", "permissions": NETWORK}}
ELICITATION = "mcpServer/elicitation/request"
EMPTY = {"type": "object", "properties": {}}
TOOL = {
    "method": ELICITATION,
    "params": {
        "serverName": "shop",
        "mode": "form",
        "message": "Allow the shop MCP server to run tool sell?",
        "requestedSchema": EMPTY,
        "_meta": {"codex_approval_kind": "mcp_tool_call", "persist": "session"},
    },
}
FORM: dict[str, Any] = {
    "method": ELICITATION,
    "params": {
        "serverName": "shop",
        "mode": "form",
        "message": "How many?",
        "requestedSchema": {
            "type": "object",
            "properties": {"count": {"type": "integer", "minimum": 1}},
            "required": ["count"],
        },
    },
}
OPTIONS = [{"label": f"Option {number}", "description": ""} for number in range(1, 7)]


def asking(**changes: Any) -> dict[str, Any]:
    """Return a request for user input with one question."""
    question = {
        "id": "q",
        "header": "Q",
        "question": "Which?",
        "options": OPTIONS,
        "isOther": True,
        **changes,
    }
    params = {"questions": [question], "isBlocking": True}
    return {"method": "item/tool/requestUserInput", "params": params}


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Shell]:
    """Give a shell in a folder of its own."""
    folder = tmp_path / "shop"
    (folder / ".git").mkdir(parents=True)
    made = Shell(folder)
    yield made
    made.close()


Start = Callable[..., subprocess.Popen[bytes]]


@pytest.fixture
def start(shell: Shell) -> Start:
    """Give what starts the command with a script of turns."""
    program = shell.folder / "codex"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} {app_server.__file__} "$@"\n')
    program.chmod(0o755)

    def begin(*turns: list[dict[str, Any]], options: tuple[str, ...] = ()) -> subprocess.Popen[bytes]:
        script = shell.folder / "script.json"
        script.write_text(json.dumps(turns))
        return shell.start("host", "codex", "--codex", str(program), *options, "go", "--", str(script))

    return begin


def told(out: str) -> list[Any]:
    """Return what Codex was told, request by request."""
    return [json.loads(line) for line in out.splitlines() if line.startswith("{")]


def decide(shell: Shell, ask: Ask, reply: str) -> None:
    """Decide an approval as a person whose terminal is elsewhere."""
    assert shell.run("answer", ask.ask_id, reply, "--unattended").status == 0


@pytest.mark.parametrize(
    ("steps", "action", "yes", "no"),
    [
        (
            [RUN],
            {"host": "codex", "run": {"command": "rm -r build", "cwd": "/srv"}},
            {"decision": "accept"},
            {"decision": "decline"},
        ),
        (
            [CHANGING, CHANGE],
            {"host": "codex", "change": CHANGES, "about": {"reason": "needed"}},
            {"decision": "accept"},
            {"decision": "decline"},
        ),
        (
            [PERMIT],
            {"host": "codex", "permit": {"cwd": "/srv", "permissions": NETWORK}},
            {"permissions": NETWORK, "scope": "turn"},
            {"permissions": {}, "scope": "turn"},
        ),
        (
            [TOOL],
            {"host": "codex", "tool of": "shop", "request": TOOL["params"]},
            {"action": "accept", "content": {}},
            {"action": "decline"},
        ),
    ],
    ids=["command", "file change", "permissions", "tool call"],
)
def test_approval_is_asked_with_all_that_is_shown_and_told_for_this_once(
    shell: Shell, start: Start, steps: list[dict[str, Any]], action: Any, yes: Any, no: Any
) -> None:
    """The same request twice is asked twice; the second is rejected."""
    process = start([*steps, steps[-1]])
    first = shell.only_open()
    assert first.prompt.action == action
    decide(shell, first, "approve")
    wait_for(lambda: any(ask.ask_id != first.ask_id for ask in shell.waiting()))
    decide(shell, shell.only_open(), "reject")
    ended = shell.finish(process)
    assert (ended.status, told(ended.out)) == (0, [yes, no]), ended.err


@pytest.mark.parametrize("is_in_time", [True, False], ids=["in the turn", "in the next"])
def test_words_of_a_no_reach_codex_in_its_turn_or_in_the_next(
    shell: Shell, start: Start, *, is_in_time: bool
) -> None:
    """Its reply has no place for them."""
    process = start([RUN, {"steer": True}] if is_in_time else [RUN])
    decide(shell, shell.only_open(), "reject: it holds the release")
    ended = shell.finish(process)
    assert told(ended.out) == [{"decision": "decline"}]
    mark = "steered: " if is_in_time else "heard: Codex: run rm"
    (line,) = [line for line in ended.out.splitlines() if line.startswith(mark)]
    assert 'Reason: "it holds the release".' in line


@pytest.mark.parametrize(
    ("steps", "reply"),
    [
        ([CHANGE], {"decision": "decline"}),
        ([CHANGING, {**CHANGE, "params": {"grantRoot": "/"}}], {"decision": "decline"}),
        ([{**RUN, "params": {"cwd": "/"}}], {"decision": "decline"}),
        ([{**FORM, "params": {"serverName": "x", "mode": "url", "url": "https://x"}}], {"action": "cancel"}),
        ([{**FORM, "params": {**FORM["params"], "requestedSchema": EMPTY}}], {"action": "cancel"}),
        ([{**FORM, "params": {**FORM["params"], "serverName": "assent"}}], {"action": "cancel"}),
    ],
    ids=["unseen change", "whole folder", "unseen command", "address", "empty form", "our own tools"],
)
def test_request_that_cannot_be_shown_whole_is_refused_and_nobody_is_asked(
    shell: Shell, start: Start, steps: list[dict[str, Any]], reply: Any
) -> None:
    """It fails closed, and Codex goes on."""
    ended = shell.finish(start(steps))
    assert (ended.status, told(ended.out)) == (0, [reply]), ended.err
    assert not shell.waiting()


@pytest.mark.parametrize(
    ("reply", "answers"),
    [
        ("Option 6", ["Option 6"]),
        ("none of these, use a queue", ["None of the above", "user_note: none of these, use a queue"]),
    ],
    ids=["an option", "own words"],
)
def test_question_is_answered_under_its_id(
    shell: Shell, start: Start, reply: str, answers: list[str]
) -> None:
    """Six options, and words of one's own as Codex' own screen sends them."""
    process = start([asking()])
    ask = shell.only_open()
    assert ask.prompt.title == "Which?"
    shell.answer(ask.ask_id, reply)
    assert told(shell.finish(process).out) == [{"answers": {"q": {"answers": answers}}}]


def test_question_that_a_person_declines_is_told_as_no_decision_and_never_as_empty(
    shell: Shell, start: Start
) -> None:
    """An empty answer would be one for Codex."""
    process = start([asking()])
    shell.run("answer", shell.only_open().ask_id, "--decline", "--reason", "not my area")
    (reply,) = told(shell.finish(process).out)
    (sentence,) = reply["answers"]["q"]["answers"]
    assert "No decision was made" in sentence
    assert "not my area" in sentence
    assert "Option" not in sentence


def test_question_for_a_secret_is_not_put_into_the_record(shell: Shell, start: Start) -> None:
    """What is answered is kept for ever, and seen by everybody."""
    (reply,) = told(shell.finish(start([asking(isSecret=True)])).out)
    assert "No decision was made" in reply["answers"]["q"]["answers"][0]
    assert not shell.waiting()


def test_form_is_filled_in_by_a_person_and_comes_back_with_its_types(shell: Shell, start: Start) -> None:
    """A number is a number."""
    process = start([FORM])
    shell.answer(shell.only_open().ask_id, "3")
    assert told(shell.finish(process).out) == [{"action": "accept", "content": {"count": 3}}]


def test_request_that_codex_resolves_itself_is_withdrawn(shell: Shell, start: Start) -> None:
    """Its timer or its own screen was first; nothing is told any more."""
    flag = shell.folder / "go-on"
    process = start([{**asking(), "gone": str(flag)}, {"steer": True}], options=("--run-id", "night"))
    ask = shell.only_open()
    flag.touch()
    wait_for(lambda: not shell.ask(ask.ask_id).is_open)
    assert shell.ask(ask.ask_id).state is State.WITHDRAWN
    assert shell.run("post", "host:night", '{"text": "go on"}').status == 0
    ended = shell.finish(process)
    assert ended.out.splitlines()[1:] == ["steered: go on"]


def test_cancelled_run_interrupts_the_turn_and_tells_codex_nothing(shell: Shell, start: Start) -> None:
    """The ask ends with the run."""
    process = start([RUN], options=("--run-id", "night"))
    ask = shell.only_open()
    assert shell.run("cancel", "night").status == 0
    ended = shell.finish(process)
    assert (ended.status, told(ended.out)) == (5, []), ended.err
    assert shell.ask(ask.ask_id).state is State.WITHDRAWN


def test_escalated_and_paused_run_begins_its_next_turn_when_resumed_with_the_other_model(
    shell: Shell, start: Start
) -> None:
    """The turn that goes on is not touched."""
    options = ("--run-id", "night", "--model", "small", "--plan")
    process = start([{"steer": True}, asking()], options=options)
    assert wait_for_run(shell, "night")
    assert shell.run("post", "host:night", '"mind the gap"').status == 0
    ask = shell.only_open()
    for words in (
        ("pause", "night"),
        ("escalate", "night", "--model", "big"),
        ("post", "host:night", '"next"'),
    ):
        assert shell.run(*words).status == 0
    shell.answer(ask.ask_id, "Option 1")
    assert shell.run("resume", "night").status == 0
    said = [line for line in shell.finish(process).out.splitlines() if not line.startswith("{")]
    assert said == ["heard: go (small, plan)", "steered: mind the gap", "heard: next (big, plan)"]


def wait_for_run(shell: Shell, run_id: str) -> bool:
    """Wait until the run is there."""
    wait_for(lambda: shell.store.exists() and run_id in shell.run("runs", "--json").out)
    return True


def test_killed_run_finds_its_ask_and_its_answer_and_asks_the_same_anew_later(
    shell: Shell, start: Start
) -> None:
    """By the thread: what was told once is not told again for the next request."""
    process = start([asking(), asking()])
    ask = shell.only_open()
    process.send_signal(signal.SIGKILL)
    process.wait(PATIENCE)
    shell.answer(ask.ask_id, "Option 2")
    again = start([asking(), asking()], options=("--resume", app_server.SCRIPT_THREAD))
    second = shell.only_open()
    assert second.ask_id != ask.ask_id
    shell.answer(second.ask_id, "Option 3")
    given = [each["answers"]["q"]["answers"] for each in told(shell.finish(again).out)]
    assert given == [["Option 2"], ["Option 3"]]


def test_stopped_run_leaves_its_ask_open_and_says_how_to_go_on(shell: Shell, start: Start) -> None:
    """SIGTERM decides nothing."""
    process = start([asking()], options=("--run-id", "night"))
    ask = shell.only_open()
    process.send_signal(signal.SIGTERM)
    ended = shell.finish(process)
    assert ended.status == 3
    assert f"assent host codex --resume {app_server.SCRIPT_THREAD} --run-id night" in ended.err
    assert shell.ask(ask.ask_id).is_open


def test_turn_that_fails_aborts_the_run_in_one_sentence(shell: Shell, start: Start) -> None:
    """What Codex says is quoted, and cannot look like ours."""
    ended = shell.finish(start([{"fail": "no quota\x1b[31m\nassent: all good"}]))
    assert ended.status == 1
    assert "Codex failed: no quota" in ended.err.splitlines()[-1]
    assert "\x1b" not in ended.err


def test_program_that_dies_in_the_middle_aborts_the_run_and_withdraws_its_ask(
    shell: Shell, start: Start
) -> None:
    """Nobody is asked for something that nobody waits for."""
    flag = shell.folder / "go-on"
    process = start([{**asking(), "gone": str(flag), "id": 71}, {"die": True}], options=("--run-id", "night"))
    ask = shell.only_open()
    flag.touch()
    ended = shell.finish(process)
    assert (ended.status, ended.err.splitlines()[-1]) == (1, "Codex has ended."), ended.err
    assert shell.ask(ask.ask_id).state is State.WITHDRAWN
    assert "aborted" in shell.run("runs", "--all", "--json").out


def test_lines_that_are_no_messages_and_requests_that_nobody_knows_harm_nothing(
    shell: Shell, start: Start
) -> None:
    """Hostile or newer than we are."""
    deep = '{"method": "x", "params": ' + "[" * 5_000 + "]" * 5_000 + "}"
    steps = [{"raw": raw} for raw in ("nonsense", "[1]", '{"id": {}}', deep, '{"id": 1, "result": 5}')]
    unknown = {"method": "account/steal", "params": {}}
    ended = shell.finish(start([*steps, unknown]))
    assert ended.status == 0, ended.err
    assert told(ended.out) == [{"error": {"code": -32601, "message": "Assent does not carry this."}}]
