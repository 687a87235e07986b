"""The real Codex with the tools of `assent mcp`, in its own command: what it says by itself decides nothing."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from host_tests.settings import codex_settings
from tests.cli.shell import Shell
from tools.model_double import ModelDouble

__all__: list[str] = []

QUESTION = {"question": "Which database?", "options": ["PostgreSQL", "SQLite"]}
ASKING = {"tool": "ask_user", "namespace": "mcp__assent", "input": QUESTION}
CONFIRMING = {"tool": "confirm", "namespace": "mcp__assent", "input": {"question": "Drop the table?"}}
Exec = Callable[..., subprocess.Popen[bytes]]


@pytest.fixture
def codex_exec(shell: Shell, project: Path, environ: dict[str, str], program: Callable[[str], Path]) -> Exec:
    """Give what starts `codex exec` with our tools."""
    codex = program("codex")

    def start(model: ModelDouble, wait: str, *arguments: str) -> subprocess.Popen[bytes]:
        # Not by `codex mcp add`, which cannot say `required`: the first call would come before the tools are there.
        server = (
            f'[mcp_servers.assent]\ncommand = "assent"\nargs = ["mcp", "--as", "codex", "--wait", "{wait}"]\n'
            "required = true\nstartup_timeout_sec = 60\n"
        )
        settings = codex_settings(model.url, Path(environ["HOME"]), project, server)
        process = subprocess.Popen(
            [str(codex), "exec", *arguments, "go"],
            cwd=project,
            env={**environ, **settings},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        shell.started.append(process)
        return process

    return start


def told(model: ModelDouble) -> dict[str, Any]:
    """Return what our tool has told the model."""
    output = model.requests[-1]["body"]["input"][-1]["output"]
    found: dict[str, Any] = json.loads(output.partition("Output:\n")[2])
    return found


def test_codex_that_declines_a_form_by_itself_waits_for_a_person_who_answers_elsewhere(
    shell: Shell, codex_exec: Exec
) -> None:
    """With nobody at it Codex declines every form at once; that is nobody's no."""
    with ModelDouble([ASKING, {"text": "SQLite it is."}]) as model:
        process = codex_exec(model, "60")
        ask = shell.only_open()
        assert ask.asker == "agent:codex"
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(3)
        shell.answer(ask.ask_id, "SQLite")
        ended = shell.finish(process)
        assert (ended.status, ended.out) == (0, "SQLite it is.\n"), ended.err
        assert (told(model)["state"], told(model)["answer"], told(model)["by"]) == (
            "answered",
            "SQLite",
            "human:sam",
        )


@pytest.mark.parametrize(
    "arguments", [(), ("--dangerously-bypass-approvals-and-sandbox",)], ids=["as it is", "full access"]
)
def test_confirmation_that_nobody_gives_in_codex_is_told_as_open_and_found_by_the_next_run(
    shell: Shell, codex_exec: Exec, arguments: tuple[str, ...]
) -> None:
    """With full access Codex accepts forms by itself where they are empty, so none of ours is."""
    with ModelDouble([CONFIRMING, {"text": "I stop."}]) as model:
        ended = shell.finish(codex_exec(model, "1", *arguments))
        assert (ended.status, ended.out) == (0, "I stop.\n"), ended.err
        assert told(model)["state"] == "open"
        assert told(model)["message"].startswith("STOP: nobody has answered yet")
    ask = shell.only_open()
    shell.answer(ask.ask_id, "No")
    with ModelDouble([CONFIRMING, {"text": "Then not."}]) as model:
        ended = shell.finish(codex_exec(model, "1", *arguments))
        assert (ended.status, ended.out) == (0, "Then not.\n"), ended.err
        assert (told(model)["state"], told(model)["is_confirmed"]) == ("answered", False)
    assert shell.waiting() == []
