"""The real Claude Code with the tools of `assent mcp`: what it says with nobody at it decides nothing."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from host_tests.settings import PATIENCE, claude_code_settings
from tests.cli.shell import Shell
from tools.model_double import ModelDouble

__all__: list[str] = []

QUESTION = {"question": "Which database?", "options": ["PostgreSQL", "SQLite"]}
ASKING = {"tool": "mcp__assent__ask_user", "input": QUESTION}
Start = Callable[..., subprocess.Popen[bytes]]


@pytest.fixture
def claude(shell: Shell, project: Path, environ: dict[str, str], program: Callable[[str], Path]) -> Start:
    """Give what starts `claude -p` with our tools, as `claude mcp add` connects them."""
    executable = str(program("claude-code"))

    def start(model: ModelDouble, wait: str) -> subprocess.Popen[bytes]:
        settings = {**environ, **claude_code_settings(model.url)}
        adding = [executable, "mcp", "add", "assent", "--", "assent", "mcp", "--as", "claude", "--wait", wait]
        # Where it is there already, from a run before, Claude Code says so and keeps it.
        subprocess.run(adding, cwd=project, env=settings, check=False, capture_output=True, timeout=PATIENCE)
        process = subprocess.Popen(
            [executable, "-p", "go", "--allowedTools", "mcp__assent"],
            cwd=project,
            env=settings,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        shell.started.append(process)
        return process

    return start


def told(model: ModelDouble) -> str:
    """Return all that the model was told."""
    return json.dumps([request["body"] for request in model.requests])


def test_form_that_claude_code_cancels_by_itself_waits_for_a_person_who_answers_elsewhere(
    shell: Shell, claude: Start
) -> None:
    """With nobody at it Claude Code cancels every form at once; that is nobody's no."""
    with ModelDouble([ASKING, {"text": "SQLite it is."}]) as model:
        process = claude(model, "60")
        ask = shell.only_open()
        assert ask.asker == "agent:claude"
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(3)
        shell.answer(ask.ask_id, "SQLite")
        ended = shell.finish(process)
        assert (ended.status, ended.out) == (0, "SQLite it is.\n"), ended.err
        assert "sam answered" in told(model)


def test_question_that_nobody_answers_in_claude_code_is_told_as_open_and_found_by_the_next_run(
    shell: Shell, claude: Start
) -> None:
    """The model reads that it has to stop; on the next day the same call has its answer."""
    with ModelDouble([ASKING, {"text": "I stop."}]) as model:
        ended = shell.finish(claude(model, "1"))
        assert (ended.status, ended.out) == (0, "I stop.\n"), ended.err
        assert "STOP: nobody has answered yet" in told(model)
    shell.answer(shell.only_open().ask_id, "SQLite")
    with ModelDouble([ASKING, {"text": "SQLite it is."}]) as model:
        ended = shell.finish(claude(model, "1"))
        assert (ended.status, ended.out) == (0, "SQLite it is.\n"), ended.err
        assert "sam answered" in told(model)
    assert shell.waiting() == []
