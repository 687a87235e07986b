"""The real opencode, carried by `assent host opencode`: it asks, a person answers, it goes on; and where nobody does."""

import json
import socket
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from host_tests.opencode_server import PASSWORD, Opencode, await_opencode
from host_tests.settings import PATIENCE, opencode_settings
from tests.cli.shell import Shell, Terminal, wait_for
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


@pytest.fixture
def opencode(
    project: Path, environ: dict[str, str], program: Callable[[str], Path]
) -> Iterator[Callable[..., Opencode]]:
    """Give what starts an opencode server against a scripted model."""
    executable = program("opencode")
    started: list[subprocess.Popen[str]] = []

    def start(model: ModelDouble, folder: str = "") -> Opencode:
        settings = opencode_settings(model.url, project)
        process = subprocess.Popen(
            [str(executable), "serve", "--port", "0", "--hostname", "127.0.0.1"],
            cwd=project,
            env={**environ, **settings, "OPENCODE_SERVER_PASSWORD": PASSWORD},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        started.append(process)
        return Opencode(await_opencode(process), folder)

    yield start
    for process in started:
        process.kill()
        process.communicate(timeout=PATIENCE)


@pytest.fixture
def carry(shell: Shell, project: Path, environ: dict[str, str]) -> Callable[..., subprocess.Popen[bytes]]:
    """Give what starts `assent host opencode`."""

    def start(url: str, *options: str) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(
            ["assent", "host", "opencode", url, *options, "--store", str(shell.store)],
            cwd=project,
            env={**environ, "OPENCODE_SERVER_PASSWORD": PASSWORD},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        shell.started.append(process)
        return process

    return start


Serve = Callable[..., Opencode]
Carry = Callable[..., subprocess.Popen[bytes]]


def test_opencode_question_answered_by_a_person_is_told_to_the_model(
    shell: Shell, opencode: Serve, carry: Carry
) -> None:
    """The seventh of seven options goes back by its place."""
    with ModelDouble([ASKING, {"text": "Painted."}]) as model:
        server = opencode(model)
        carry(server.url)
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
        carry(server.url)
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
        first = carry(server.url)
        talk = server.prompt()
        ask = shell.only_open()
        first.kill()
        first.wait(PATIENCE)
        carry(server.url)
        talk.join(3)
        assert talk.is_alive()
        assert [each.ask_id for each in shell.waiting()] == [ask.ask_id]
        (pending,) = server.send("GET", "/question")
        server.send("POST", f"/question/{pending['id']}/reply", {"answers": [["Colour 2"]]})
        talk.join(PATIENCE)
        wait_for(lambda: not shell.waiting())
        assert shell.ask(ask.ask_id).state == "withdrawn"
        assert '"Which colour?"="Colour 2"' in server.outputs()[0]["output"]


def test_question_in_another_folder_of_the_server_is_carried_where_that_folder_is_named(
    shell: Shell, opencode: Serve, carry: Carry, tmp_path: Path
) -> None:
    """A server tells of one folder at a time, and of its own where none is named."""
    other = tmp_path / "other"
    other.mkdir()
    with ModelDouble([ASKING, {"text": "Painted."}]) as model:
        opencode_settings(model.url, other)
        server = opencode(model, str(other))
        carry(server.url, "--cd", str(other))
        talk = server.prompt()
        shell.answer(shell.only_open().ask_id, "Colour 3")
        talk.join(PATIENCE)
        assert '"Which colour?"="Colour 3"' in server.outputs()[0]["output"]


def test_permission_in_the_terminal_of_opencode_is_given_from_elsewhere(
    shell: Shell, carry: Carry, project: Path, program: Callable[[str], Path]
) -> None:
    """The dialog is open, somebody else decides first, and the dialog goes away."""
    with ModelDouble([TOUCHING, {"text": "Made by a terminal."}]) as model, socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        free.close()
        settings: dict[str, Any] = {
            **opencode_settings(model.url, project),
            "OPENCODE_SERVER_PASSWORD": PASSWORD,
        }
        words = ("--port", str(port), "--prompt", "go")
        with Terminal(shell, *words, program=[str(program("opencode"))], stdout_too=True, **settings) as seen:
            seen.until("Permission required")
            assert not (project / "made-by-opencode").exists()
            carry(f"http://127.0.0.1:{port}")
            shell.run("answer", shell.only_open().ask_id, "approve", "--unattended")
            seen.until("Made by a terminal.")
            seen.process.kill()
            seen.end()
    assert (project / "made-by-opencode").exists()
