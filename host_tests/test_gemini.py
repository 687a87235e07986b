"""The real Gemini CLI with the tools of `assent mcp`. It shows no forms, so people answer elsewhere.

The tools are connected as a person connects them, by `gemini mcp add`.
"""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from host_tests.settings import gemini_settings
from tests.cli.shell import Shell, Terminal
from tools.model_double import ModelDouble

__all__: list[str] = []

QUESTION = {"question": "Which database?", "options": ["PostgreSQL", "SQLite"]}
ASKING = {"tool": "mcp_assent_ask_person", "input": QUESTION}
CONFIRMING = {"tool": "mcp_assent_confirm", "input": {"question": "Drop the table?"}}


class Gemini:
    """Gemini CLI in a project that has our tools."""

    def __init__(self, executable: Path, shell: Shell, environ: dict[str, Any]) -> None:
        self.executable = executable
        self.shell = shell
        self.environ = environ

    def connect(self, model: ModelDouble, *options: str) -> None:
        """Write its settings, and add our tools to them."""
        home, project = Path(self.environ["HOME"]), self.shell.folder
        self.environ |= gemini_settings(model.url, home, project)
        added = self.start("mcp", "add", "--trust", "assent", "assent", "mcp", "--as", "gemini", *options)
        assert self.shell.finish(added).status == 0

    def start(self, *arguments: str) -> subprocess.Popen[bytes]:
        """Start it with nobody at it."""
        process = subprocess.Popen(
            [str(self.executable), *arguments],
            cwd=self.shell.folder,
            env=self.environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self.shell.started.append(process)
        return process


@pytest.fixture
def gemini(program: Callable[[str], Path], shell: Shell, environ: dict[str, str]) -> Gemini:
    """Give Gemini CLI in a project."""
    return Gemini(program("gemini"), shell, environ)


def told(model: ModelDouble) -> str:
    """Return what our tool has told the model."""
    part = model.requests[-1]["body"]["contents"][-1]["parts"][0]
    response: dict[str, str] = part["functionResponse"]["response"]
    return response.get("output") or json.dumps(response)


def test_gemini_call_waits_for_the_answer_of_a_person_and_goes_on_with_it(
    gemini: Gemini, shell: Shell
) -> None:
    """Ask, answer, continue: the model is told who answered and what."""
    with ModelDouble([ASKING, {"text": "SQLite it is."}]) as model:
        gemini.connect(model)
        process = gemini.start("-p", "go")
        ask = shell.only_open()
        assert (ask.prompt.title, ask.asker) == ("Which database?", "agent:gemini")
        shell.answer(ask.ask_id, "SQLite")
        ended = shell.finish(process)
        assert (ended.status, ended.out) == (0, "SQLite it is.\n"), ended.err
        assert "sam answered" in told(model)
        assert told(model).partition("The answer, whole:\n")[2].startswith("SQLite\n")
    assert shell.waiting() == []


def test_gemini_call_that_nobody_answers_is_told_to_stop_and_the_next_run_finds_the_answer(
    gemini: Gemini, shell: Shell
) -> None:
    """Nobody answers: the model reads the question with its options and that it has to stop; the ask stays open."""
    with ModelDouble([CONFIRMING, {"text": "I stop."}]) as model:
        gemini.connect(model, "--wait", "1")
        ended = shell.finish(gemini.start("-p", "go"))
        assert (ended.status, ended.out) == (0, "I stop.\n"), ended.err
        assert "A) Yes\nB) No" in told(model)
        assert "STOP: nobody has answered yet, and this is no answer." in told(model)
    ask = shell.only_open()
    shell.answer(ask.ask_id, "Yes")
    with ModelDouble([CONFIRMING, {"text": "Dropped."}]) as model:
        gemini.connect(model, "--wait", "1")
        ended = shell.finish(gemini.start("-p", "go on"))
        assert (ended.status, ended.out) == (0, "Dropped.\n"), ended.err
        assert "sam answered" in told(model)
    assert shell.waiting() == []


def test_question_in_the_terminal_of_gemini_is_answered_from_elsewhere(gemini: Gemini, shell: Shell) -> None:
    """Somebody sits at it and sees the call wait; whoever has the inbox open answers."""
    with ModelDouble([ASKING, {"text": "SQLite it is."}]) as model:
        gemini.connect(model)
        with Terminal(
            shell, "-i", "go", program=[str(gemini.executable)], stdout_too=True, **gemini.environ
        ) as seen:
            seen.until("ask_person (assent MCP Server)")
            shell.answer(shell.only_open().ask_id, "SQLite")
            seen.until("SQLite it is.")
            assert told(model).partition("The answer, whole:\n")[2].startswith("SQLite\n")
            seen.process.kill()
            seen.end()
