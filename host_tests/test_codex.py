"""The real Codex, driven by `assent host codex`: it asks, a person answers, it goes on; and where nobody answers."""

import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from host_tests import order_server
from host_tests.settings import PATIENCE, codex_settings
from tests.cli.shell import Shell, wait_for
from tools.model_double import ModelDouble

__all__: list[str] = []

ASKING = {
    "tool": "request_user_input",
    "input": {
        "questions": [
            {
                "id": "database",
                "header": "Database",
                "question": "Which database?",
                "options": [
                    {"label": "PostgreSQL (Recommended)", "description": "A server."},
                    {"label": "SQLite", "description": "A file."},
                ],
            }
        ]
    },
}
TOUCHING = {
    "tool": "exec_command",
    "input": {
        "cmd": "touch made-by-codex",
        "sandbox_permissions": "require_escalated",
        "justification": "The test wants it.",
    },
}
PATCH = "*** Begin Patch\n*** Add File: notes.txt\n+hello\n*** End Patch\n"
PATCHING = {"tool": "exec_command", "input": {"cmd": f"apply_patch <<'EOF'\n{PATCH}EOF"}}
Host = Callable[..., subprocess.Popen[bytes]]


@pytest.fixture
def host(shell: Shell, project: Path, environ: dict[str, str], program: Callable[[str], Path]) -> Host:
    """Give what starts `assent host codex` against a scripted model."""
    codex = program("codex")

    def start(model: ModelDouble, *arguments: str, more: str = "") -> subprocess.Popen[bytes]:
        told = codex_settings(model.url, Path(environ["HOME"]), project, more)
        words = ["host", "codex", "--codex", str(codex), "--store", str(shell.store), *arguments, "go"]
        process = subprocess.Popen(
            ["assent", *words],
            cwd=project,
            env={**environ, **told},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        shell.started.append(process)
        return process

    return start


def outputs(model: ModelDouble) -> list[str]:
    """Return what Codex has told the model of its tools, newest last."""
    bodies = [request["body"] for request in model.requests if isinstance(request["body"], dict)]
    given: list[dict[str, Any]] = bodies[-1].get("input", [])
    return [json.dumps(each.get("output")) for each in given if each.get("type") == "function_call_output"]


def read_until(process: subprocess.Popen[bytes], sentence: bytes) -> None:
    """Read the standard error of a process until it says something."""
    assert process.stderr is not None
    seen, until = b"", time.monotonic() + PATIENCE
    while sentence not in seen:
        assert select.select([process.stderr], [], [], max(0.0, until - time.monotonic()))[0], seen
        more = os.read(process.stderr.fileno(), 65_536)
        assert more, seen
        seen += more


def test_codex_question_answered_by_a_person_is_told_to_the_model(shell: Shell, host: Host) -> None:
    """Ask, answer, continue: the label goes back under the question's id."""
    with ModelDouble([ASKING, {"text": "SQLite it is."}]) as model:
        process = host(model, "--plan")
        ask = shell.only_open()
        assert ask.prompt.title == "Which database?"
        shell.answer(ask.ask_id, "SQLite")
        ended = shell.finish(process)
        assert (ended.status, ended.out) == (0, "SQLite it is.\n"), ended.err
        assert "SQLite" in outputs(model)[-1]
        assert "PostgreSQL" not in outputs(model)[-1]


def test_codex_command_approved_by_a_person_is_run_once(shell: Shell, host: Host, project: Path) -> None:
    """The action is the whole command; the yes is spent on it."""
    with ModelDouble([TOUCHING, {"text": "Made."}]) as model:
        process = host(model)
        ask = shell.only_open()
        action = ask.prompt.action
        assert isinstance(action, dict)
        assert "touch made-by-codex" in json.dumps(action)
        assert not (project / "made-by-codex").exists()
        shell.run("answer", ask.ask_id, "approve", "--unattended")
        ended = shell.finish(process)
        assert (ended.status, ended.out) == (0, "Made.\n"), ended.err
        assert (project / "made-by-codex").exists()


def test_codex_command_rejected_by_a_person_is_not_run(shell: Shell, host: Host, project: Path) -> None:
    """A no is a no, and Codex goes on with it."""
    with ModelDouble([TOUCHING, {"text": "Then not."}]) as model:
        process = host(model)
        ask = shell.only_open()
        shell.run("answer", ask.ask_id, "reject", "--unattended")
        ended = shell.finish(process)
        assert ended.status == 0, ended.err
        assert not (project / "made-by-codex").exists()


def test_codex_run_that_nobody_answers_waits_and_a_killed_one_finds_its_ask(shell: Shell, host: Host) -> None:
    """Silence decides nothing. After a kill the answer that came meanwhile is found by the same thread."""
    with ModelDouble([ASKING, ASKING, {"text": "SQLite it is."}]) as model:
        process = host(model, "--plan", "--run-id", "night")
        ask = shell.only_open()
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(3)
        process.send_signal(signal.SIGKILL)
        _, told = process.communicate(timeout=PATIENCE)
        thread = told.decode().partition("Codex thread ")[2].split()[0]
        shell.answer(ask.ask_id, "SQLite")
        again = shell.finish(host(model, "--plan", "--run-id", "night", "--resume", thread))
        assert (again.status, again.out) == (0, "SQLite it is.\n"), again.err
        assert "SQLite" in outputs(model)[-1]
        assert not shell.waiting()


def test_cancelled_codex_run_is_interrupted_and_its_ask_withdrawn(shell: Shell, host: Host) -> None:
    """A person ends it from elsewhere."""
    with ModelDouble([ASKING]) as model:
        process = host(model, "--plan", "--run-id", "night")
        ask = shell.only_open()
        assert shell.run("cancel", "night").status == 0
        assert shell.finish(process).status == 5
        wait_for(lambda: shell.ask(ask.ask_id).state == "withdrawn")
        assert model.said == 1


def test_file_change_of_codex_is_shown_whole_and_made_after_a_person_approved_it(
    shell: Shell, host: Host, project: Path
) -> None:
    """Codex asks without saying what it would write; what it said before belongs to the action."""
    with ModelDouble([PATCHING, {"text": "Written."}]) as model:
        process = host(model)
        ask = shell.only_open()
        made = project / "notes.txt"
        assert ask.prompt.action == {
            "host": "codex",
            "change": [{"path": str(made), "kind": {"type": "add"}, "diff": "hello\n"}],
            "about": {},
        }
        assert not made.exists()
        shell.run("answer", ask.ask_id, "approve", "--unattended")
        ended = shell.finish(process)
        assert (ended.status, made.read_text()) == (0, "hello\n"), ended.err


def test_word_of_a_person_is_put_into_the_turn_that_codex_has(shell: Shell, host: Host) -> None:
    """Posted while a question is open: the model reads it in the same turn, beside the answer."""
    with ModelDouble([ASKING, {"text": "SQLite, in two files."}]) as model:
        process = host(model, "--plan", "--run-id", "night")
        ask = shell.only_open()
        assert shell.run("post", "host:night", '"Keep orders in a file of their own."').status == 0
        read_until(process, b"Codex was told what a person said")
        shell.answer(ask.ask_id, "SQLite")
        assert shell.finish(process).status == 0
        assert "Keep orders in a file of their own." in json.dumps(model.requests[-1]["body"]["input"])
        assert model.said == 2


def test_paused_and_escalated_codex_run_has_its_next_turn_with_the_other_model(
    shell: Shell, host: Host
) -> None:
    """The turn that goes on is not touched; the next one waits for the resume."""
    with ModelDouble([ASKING, {"text": "SQLite it is."}, {"text": "Sharded."}]) as model:
        process = host(model, "--plan", "--run-id", "night")
        ask = shell.only_open()
        assert shell.run("pause", "night").status == 0
        assert shell.run("escalate", "night", "--model", "big").status == 0
        shell.answer(ask.ask_id, "SQLite")
        wait_for(lambda: model.said == 2)
        assert shell.run("post", "host:night", '"Now shard it."').status == 0
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(2)
        assert model.said == 2
        assert shell.run("resume", "night").status == 0
        ended = shell.finish(process)
        assert (ended.status, ended.out) == (0, "SQLite it is.\nSharded.\n"), ended.err
        models = [request["body"]["model"] for request in model.requests if request["body"]]
        assert models == ["double", "double", "big"]


def test_form_of_an_mcp_server_in_codex_is_filled_in_by_a_person_after_its_tool_was_approved(
    shell: Shell, host: Host
) -> None:
    """Both come as forms; only the one without a question is a request for approval."""
    server = (
        f'[mcp_servers.shop]\ncommand = "{sys.executable}"\nargs = ["{order_server.__file__}"]\n'
        "required = true\nstartup_timeout_sec = 60\n"
    )
    ordering = {"tool": "order", "namespace": "mcp__shop", "input": {}}
    with ModelDouble([ordering, {"text": "Ordered."}]) as model:
        process = host(model, more=server)
        approval = shell.only_open()
        assert (approval.kind, "run tool" in approval.prompt.title) == ("approval", True)
        shell.run("answer", approval.ask_id, "approve", "--unattended")
        wait_for(lambda: any(ask.ask_id != approval.ask_id for ask in shell.waiting()))
        form = shell.only_open()
        assert form.prompt.title == "How many shall be ordered?"
        shell.answer(form.ask_id, "3")
        ended = shell.finish(process)
        assert (ended.status, ended.out) == (0, "Ordered.\n"), ended.err
        assert "AcceptedElicitation(action='accept', data=Order(count=3))" in outputs(model)[-1]
