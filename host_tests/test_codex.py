"""The real Codex, driven by `assent host codex`: it asks, a person answers, it goes on; and where nobody answers."""

import json
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.shell import PATIENCE, Shell, wait_for
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
Host = Callable[..., subprocess.Popen[bytes]]


@pytest.fixture
def host(shell: Shell, project: Path, environ: dict[str, str], program: Callable[[str], Path]) -> Host:
    """Give what starts `assent host codex` against a scripted model."""
    codex = program("codex")

    def start(model: ModelDouble, *arguments: str) -> subprocess.Popen[bytes]:
        home = Path(environ["HOME"]) / ".codex"
        home.mkdir(exist_ok=True)
        (home / "config.toml").write_text(
            'model = "double"\nmodel_provider = "double"\napproval_policy = "on-request"\n'
            'sandbox_mode = "read-only"\n'
            f'[projects."{project}"]\ntrust_level = "trusted"\n'
            f'[model_providers.double]\nname = "double"\nbase_url = "{model.url}/v1"\nwire_api = "responses"\n'
            "requires_openai_auth = false\nrequest_max_retries = 0\nstream_max_retries = 0\n"
            "supports_websockets = false\n"
        )
        words = ["host", "codex", "--codex", str(codex), "--store", str(shell.store), *arguments, "go"]
        process = subprocess.Popen(
            ["assent", *words],
            cwd=project,
            env=environ,
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
