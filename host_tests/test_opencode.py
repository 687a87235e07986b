"""The real opencode, carried by `assent host opencode`: it asks, a person answers, it goes on; and where nobody does."""

import json
import re
import subprocess
import threading
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.shell import PATIENCE, Shell, wait_for
from tools.model_double import ModelDouble

__all__: list[str] = []

COLOURS = [f"Colour {number}" for number in range(1, 8)]
ASKING = {
    "tool": "question",
    "input": {
        "questions": [
            {
                "question": "Which colour?",
                "header": "Colour",
                "options": [{"label": label, "description": ""} for label in COLOURS],
            }
        ]
    },
}
TOUCHING = {"tool": "bash", "input": {"command": "touch made-by-opencode", "description": "Makes a file"}}
PASSWORD = "open sesame"


class Opencode:
    """An opencode server of a test."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.replies: list[Any] = []
        self._session = self.send("POST", "/session", {})["id"]

    def send(self, method: str, path: str, body: Any = None) -> Any:
        """Send a request as its user."""
        given = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.url}{path}", given, method=method)
        request.add_header("content-type", "application/json")
        password = urllib.request.HTTPPasswordMgrWithDefaultRealm()
        password.add_password(None, self.url, "opencode", PASSWORD)
        opener = urllib.request.build_opener(urllib.request.HTTPBasicAuthHandler(password))
        with opener.open(request, timeout=PATIENCE) as answer:
            text = answer.read()
        return json.loads(text) if text else None

    def prompt(self) -> threading.Thread:
        """Say something to the agent; it takes as long as it takes."""
        body = {"parts": [{"type": "text", "text": "go"}]}
        path = f"/session/{self._session}/message"
        thread = threading.Thread(
            target=lambda: self.replies.append(self.send("POST", path, body)), daemon=True
        )
        thread.start()
        return thread

    def outputs(self) -> list[dict[str, Any]]:
        """Return how the tool calls of the session stand."""
        messages = self.send("GET", f"/session/{self._session}/message")
        return [part["state"] for each in messages for part in each["parts"] if part["type"] == "tool"]


@pytest.fixture
def opencode(
    project: Path, environ: dict[str, str], program: Callable[[str], Path]
) -> Iterator[Callable[[ModelDouble], Opencode]]:
    """Give what starts an opencode server against a scripted model."""
    executable = program("opencode")
    started: list[subprocess.Popen[str]] = []

    def start(model: ModelDouble) -> Opencode:
        models = {
            "double": {"name": "double", "tool_call": True, "limit": {"context": 100000, "output": 1000}}
        }
        provider = {
            "npm": "@ai-sdk/openai-compatible",
            "name": "double",
            "options": {"baseURL": f"{model.url}/v1", "apiKey": "none"},
            "models": models,
        }
        settings = {
            "model": "double/double",
            "small_model": "double/double",
            "autoupdate": False,
            "share": "disabled",
            "permission": {"bash": "ask"},
            "provider": {"double": provider},
        }
        (project / "opencode.json").write_text(json.dumps(settings))
        process = subprocess.Popen(
            [str(executable), "serve", "--port", "0", "--hostname", "127.0.0.1"],
            cwd=project,
            env={
                **environ,
                "OPENCODE_ENABLE_QUESTION_TOOL": "1",
                "OPENCODE_SERVER_PASSWORD": PASSWORD,
                "OPENCODE_DISABLE_MODELS_FETCH": "1",
                "OPENCODE_DISABLE_AUTOUPDATE": "1",
            },
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        started.append(process)
        assert process.stdout is not None
        for line in process.stdout:
            found = re.search(r"http://127\.0\.0\.1:\d+", line)
            if found:
                return Opencode(found[0])
        pytest.fail("opencode ended before it listened")

    yield start
    for process in started:
        process.kill()
        process.communicate(timeout=PATIENCE)


@pytest.fixture
def carry(
    shell: Shell, project: Path, environ: dict[str, str]
) -> Callable[[Opencode], subprocess.Popen[bytes]]:
    """Give what starts `assent host opencode`."""

    def start(opencode: Opencode) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(
            ["assent", "host", "opencode", opencode.url, "--store", str(shell.store)],
            cwd=project,
            env={**environ, "OPENCODE_SERVER_PASSWORD": PASSWORD},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        shell.started.append(process)
        return process

    return start


Serve = Callable[[ModelDouble], Opencode]
Carry = Callable[[Opencode], subprocess.Popen[bytes]]


def test_opencode_question_answered_by_a_person_is_told_to_the_model(
    shell: Shell, opencode: Serve, carry: Carry
) -> None:
    """The seventh of seven options goes back by its place."""
    with ModelDouble([ASKING, {"text": "Painted."}]) as model:
        server = opencode(model)
        carry(server)
        talk = server.prompt()
        ask = shell.only_open()
        assert [option.label for option in ask.prompt.fields[0].options] == COLOURS
        shell.answer(ask.ask_id, "Colour 7")
        talk.join(PATIENCE)
        assert '"Which colour?"="Colour 7"' in server.outputs()[0]["output"]


def test_opencode_permission_approved_by_a_person_lets_the_command_run_once(
    shell: Shell, opencode: Serve, carry: Carry, project: Path
) -> None:
    """The same command again is asked again."""
    with ModelDouble([TOUCHING, TOUCHING, {"text": "Made."}]) as model:
        server = opencode(model)
        carry(server)
        talk = server.prompt()
        first = shell.only_open()
        assert "touch made-by-opencode" in json.dumps(first.prompt.action)
        assert not (project / "made-by-opencode").exists()
        shell.run("answer", first.ask_id, "approve", "--unattended")
        wait_for(lambda: any(ask.ask_id != first.ask_id for ask in shell.waiting()))
        assert (project / "made-by-opencode").exists()
        shell.run("answer", shell.only_open().ask_id, "reject", "--unattended")
        talk.join(PATIENCE)
        assert [state["status"] for state in server.outputs()] == ["completed", "error"]


def test_opencode_question_that_nobody_answers_waits_and_one_answered_there_is_withdrawn_here(
    shell: Shell, opencode: Serve, carry: Carry
) -> None:
    """Silence decides nothing, a carrier that was killed finds its ask, and the first answer wins."""
    with ModelDouble([ASKING, {"text": "Painted."}]) as model:
        server = opencode(model)
        first = carry(server)
        talk = server.prompt()
        ask = shell.only_open()
        first.kill()
        first.wait(PATIENCE)
        carry(server)
        talk.join(3)
        assert talk.is_alive()
        assert [each.ask_id for each in shell.waiting()] == [ask.ask_id]
        (pending,) = server.send("GET", "/question")
        server.send("POST", f"/question/{pending['id']}/reply", {"answers": [["Colour 2"]]})
        talk.join(PATIENCE)
        wait_for(lambda: not shell.waiting())
        assert shell.ask(ask.ask_id).state == "withdrawn"
        assert '"Which colour?"="Colour 2"' in server.outputs()[0]["output"]
