"""The real Claude Code with our hooks: asked in the inbox, answered there, and nothing happens that nobody allowed.

The settings are those that `assent install` writes. The model is scripted and listens on loopback.
"""

import json
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from assent import connect
from host_tests.settings import PATIENCE, claude_code_settings
from tests.cli.shell import Shell, Terminal, wait_for
from tools.model_double import ModelDouble

__all__: list[str] = []

TOUCH = {"tool": "Bash", "input": {"command": "touch made && echo x >> made", "description": "Make a file"}}
QUESTION = {
    "question": "Which database?",
    "header": "Database",
    "options": [
        {"label": "PostgreSQL", "description": "A server"},
        {"label": "SQLite", "description": "A file"},
    ],
    "multiSelect": False,
}
ASK = {"tool": "AskUserQuestion", "input": {"questions": [QUESTION]}}


class Claude:
    """Claude Code in print mode, in a project that is connected to the inbox."""

    def __init__(self, executable: Path, project: Path, environ: dict[str, str]) -> None:
        self.executable = executable
        self.project = project
        self.environ = environ
        self.started: list[subprocess.Popen[str]] = []

    def install(self, *options: str) -> None:
        """Write the settings as a person would."""
        done = subprocess.run(
            ["assent", "install", "claude-code", "--yes", *options],
            cwd=self.project,
            env=self.environ,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        assert done.returncode == 0, done.stderr

    def seen_by(self, model: ModelDouble) -> dict[str, Any]:
        """Return the environment in which it talks to this model, and to nobody else."""
        return {**self.environ, **claude_code_settings(model.url)}

    def start(self, model: ModelDouble, *arguments: str) -> subprocess.Popen[str]:
        """Start it; what it tells comes as lines of JSON."""
        process = subprocess.Popen(
            [str(self.executable), "-p", "--output-format", "stream-json", "--verbose", *arguments],
            cwd=self.project,
            env=self.seen_by(model),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.started.append(process)
        return process

    def run(self, model: ModelDouble, *arguments: str) -> dict[str, Any]:
        """Run it to its end; return its result."""
        return end_of(self.start(model, *arguments))

    @property
    def made(self) -> int:
        """How often the command of `TOUCH` was run."""
        made = self.project / "made"
        return len(made.read_text().splitlines()) if made.exists() else 0


def end_of(process: subprocess.Popen[str]) -> dict[str, Any]:
    """Wait for the end, and return the result that it told."""
    try:
        out, err = process.communicate(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        raise
    told = [json.loads(line) for line in out.splitlines() if line.startswith("{")]
    results = [line for line in told if line["type"] == "result"]
    assert len(results) == 1, (out[-2000:], err[-2000:])
    result: dict[str, Any] = results[0]
    return result


def decide(shell: Shell, ask_id: str, reply: str) -> None:
    """Let a person at a terminal decide about an approval; the word of a process would not do."""
    with Terminal(shell, "answer", ask_id, reply) as terminal:
        ended = terminal.end()
    assert ended.status == 0, ended


def told_to_model(model: ModelDouble) -> str:
    """Return all that the model was told, as one text."""
    return json.dumps([request["body"] for request in model.requests])


@pytest.fixture
def claude(program: Callable[[str], Path], project: Path, environ: dict[str, str]) -> Iterator[Claude]:
    """Give Claude Code in a project; what a test that failed left running is ended."""
    claude = Claude(program("claude-code"), project, environ)
    yield claude
    for process in claude.started:
        if process.poll() is None:
            process.kill()
        process.communicate(timeout=PATIENCE)


def test_a_question_that_is_put_off_and_answered_later_goes_on_with_the_answer(
    claude: Claude, shell: Shell
) -> None:
    """Ask, end, answer, resume: the process is gone in between, and asks nobody twice."""
    claude.install("--wait", "0")
    with ModelDouble([ASK, {"text": "All set."}]) as model:
        # Print mode offers the question tool only to somebody who says that they can answer it.
        first = claude.run(model, "Begin", "--permission-prompt-tool", "stdio")
        assert (first["stop_reason"], first["deferred_tool_use"]["name"]) == (
            "tool_deferred",
            "AskUserQuestion",
        )
        ask = shell.only_open()
        assert (ask.prompt.title, ask.asker) == ("Which database?", "agent:claude-code")
        shell.answer(ask.ask_id, "SQLite")
        resumed = ("--resume", first["session_id"], "--permission-prompt-tool", "stdio")
        second = claude.run(model, *resumed)
        assert (second["result"], second["is_error"]) == ("All set.", False)
        assert '\\"Which database?\\"=\\"SQLite\\"' in told_to_model(model)
    assert shell.waiting() == []


def test_a_question_that_nobody_answers_ends_the_run_as_put_off(claude: Claude, shell: Shell) -> None:
    """Silence is no answer: the session can be resumed as often as one likes, and waits for a person."""
    claude.install("--wait", "0")
    with ModelDouble([ASK, {"text": "All set."}]) as model:
        first = claude.run(model, "Begin", "--permission-prompt-tool", "stdio")
        again = claude.run(model, "--resume", first["session_id"], "--permission-prompt-tool", "stdio")
        assert (first["stop_reason"], again["stop_reason"]) == ("tool_deferred", "tool_deferred")
        assert not model.is_spent
    assert shell.only_open().prompt.title == "Which database?"


def test_a_call_that_was_approved_while_the_host_waits_runs_once(claude: Claude, shell: Shell) -> None:
    """A pattern finds the command, a person sees it whole, and exactly that happens."""
    claude.install("--ask", "Bash(touch *)", "--wait", "60")
    with ModelDouble([TOUCH, {"text": "Made."}]) as model:
        running = claude.start(model, "Begin")
        ask = shell.only_open()
        assert claude.made == 0
        assert ask.prompt.action == {
            "tool": "Bash",
            "input": TOUCH["input"],
            "cwd": str(claude.project),
        }
        decide(shell, ask.ask_id, "approve")
        assert end_of(running)["result"] == "Made."
    assert claude.made == 1


def test_a_call_that_nobody_approves_is_put_off_and_runs_once_after_the_yes(
    claude: Claude, shell: Shell
) -> None:
    """Nobody answers: nothing has run. The yes comes, the session is resumed: it runs, once."""
    claude.install("--ask", "Bash(touch *)", "--wait", "0")
    with ModelDouble([TOUCH, {"text": "Made."}]) as model:
        first = claude.run(model, "Begin")
        assert (first["stop_reason"], claude.made) == ("tool_deferred", 0)
        decide(shell, shell.only_open().ask_id, "approve")
        second = claude.run(model, "--resume", first["session_id"])
        assert second["result"] == "Made."
    assert claude.made == 1


def test_a_call_that_a_person_refuses_does_not_run_and_the_model_is_told_who(
    claude: Claude, shell: Shell
) -> None:
    """A no reaches the model as a no, with a name."""
    claude.install("--ask", "Bash(touch *)", "--wait", "60")
    with ModelDouble([TOUCH, {"text": "Well."}]) as model:
        running = claude.start(model, "Begin")
        decide(shell, shell.only_open().ask_id, "reject")
        result = end_of(running)
        assert [denied["tool_name"] for denied in result["permission_denials"]] == ["Bash"]
        assert "ana rejected it" in told_to_model(model)
    assert claude.made == 0


def test_a_call_that_must_be_approved_does_not_run_where_the_store_cannot_be_opened(claude: Claude) -> None:
    """Fails closed: a fault of ours is no yes."""
    claude.install("--ask", "Bash(touch *)", "--wait", "60")
    (claude.project / ".assent").mkdir()
    (claude.project / ".assent" / "assent.db").write_bytes(b"no database" * 100)
    with ModelDouble([TOUCH, {"text": "Well."}]) as model:
        result = claude.run(model, "Begin", "--allowedTools", "Bash")
        assert [denied["tool_name"] for denied in result["permission_denials"]] == ["Bash"]
        assert "nobody could be asked" in told_to_model(model)
    assert claude.made == 0


def test_a_call_that_must_be_approved_does_not_run_where_assent_is_gone(claude: Claude) -> None:
    """A hook that cannot be started stops the call, also one that the host would have allowed."""
    claude.install("--ask", "Bash(touch *)")
    claude.environ["PATH"] = "/usr/bin:/bin"
    with ModelDouble([TOUCH, {"text": "Well."}]) as model:
        result = claude.run(model, "Begin", "--allowedTools", "Bash")
        assert result["result"] == "Well."
    assert claude.made == 0


def test_a_request_for_permission_is_answered_from_the_inbox(claude: Claude, shell: Shell) -> None:
    """Also without a pattern: what the host itself would refuse, a person can allow."""
    claude.install("--wait", "60")
    with ModelDouble([TOUCH, {"text": "Made."}]) as model:
        running = claude.start(model, "Begin")
        decide(shell, shell.only_open().ask_id, "approve")
        assert end_of(running)["result"] == "Made."
    assert claude.made == 1


def test_a_request_for_permission_that_nobody_answers_is_refused_in_print_mode(
    claude: Claude, shell: Shell
) -> None:
    """Nobody answers: nothing has run, and nothing waits that no longer matters."""
    claude.install("--wait", "0")
    with ModelDouble([TOUCH, {"text": "Well."}]) as model:
        result = claude.run(model, "Begin")
        assert [denied["tool_name"] for denied in result["permission_denials"]] == ["Bash"]
        assert "Nobody has answered in time" in told_to_model(model)
    assert (claude.made, shell.waiting()) == (0, [])


def _sit_down(claude: Claude) -> None:
    """Let a person have been here before: the questions of a first start are answered."""
    known = {
        "hasCompletedOnboarding": True,
        "theme": "dark",
        "customApiKeyResponses": {"approved": ["sk-none"], "rejected": []},
        "projects": {str(claude.project): {"hasTrustDialogAccepted": True}},
    }
    (Path(claude.environ["HOME"]) / ".claude.json").write_text(json.dumps(known))


def test_a_question_in_the_dialog_can_be_answered_from_elsewhere(claude: Claude, shell: Shell) -> None:
    """The dialog is open, somebody else answers first, and the dialog goes away."""
    claude.install()
    _sit_down(claude)
    with (
        ModelDouble([ASK, {"text": "All set."}]) as model,
        Terminal(
            shell, "Begin", program=[str(claude.executable)], stdout_too=True, **claude.seen_by(model)
        ) as seen,
    ):
        seen.until("Which database?")
        shell.answer(shell.only_open().ask_id, "SQLite")
        seen.until("SQLite", times=2)
        wait_for(lambda: model.is_spent)
        assert '\\"Which database?\\"=\\"SQLite\\"' in told_to_model(model)
        seen.process.terminate()
        seen.end()


def test_a_question_that_was_answered_in_the_dialog_is_recorded_as_the_hosts_word(
    claude: Claude, shell: Shell
) -> None:
    """Nobody elsewhere is bothered with what is settled."""
    claude.install()
    _sit_down(claude)
    with (
        ModelDouble([ASK, {"text": "All set."}]) as model,
        Terminal(
            shell, "Begin", program=[str(claude.executable)], stdout_too=True, **claude.seen_by(model)
        ) as seen,
    ):
        seen.until("Which database?")
        ask_id = shell.only_open().ask_id
        seen.type("\r")
        wait_for(lambda: model.is_spent)
        wait_for(lambda: shell.waiting() == [])
        assert '\\"Which database?\\"=\\"PostgreSQL\\"' in told_to_model(model)
        seen.process.terminate()
        seen.end()
    with connect(shell.store, project="shop") as client:
        answer = client.show(ask_id).answer
    assert answer is not None
    assert (answer.values, answer.via) == ({"q1": ("PostgreSQL",)}, "host:claude-code")
