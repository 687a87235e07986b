"""A real agent that speaks the Agent Client Protocol, opencode, driven by `assent host acp`."""

import json
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from host_tests.settings import PATIENCE, opencode_settings
from tests.cli.shell import Shell, wait_for
from tools.model_double import ModelDouble

__all__: list[str] = []

TOUCHING = {"tool": "bash", "input": {"command": "echo x >> made", "description": "Makes a file"}}
Host = Callable[..., subprocess.Popen[bytes]]


@pytest.fixture
def host(shell: Shell, project: Path, environ: dict[str, str], program: Callable[[str], Path]) -> Host:
    """Give what starts `assent host acp` with opencode against a scripted model."""
    opencode = program("opencode")

    def start(model: ModelDouble, *arguments: str) -> subprocess.Popen[bytes]:
        settings = opencode_settings(model.url, project)
        words = ["host", "acp", "--store", str(shell.store), *arguments, "go", "--", str(opencode), "acp"]
        process = subprocess.Popen(
            ["assent", *words],
            cwd=project,
            env={**environ, **settings},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        shell.started.append(process)
        return process

    return start


def made(project: Path) -> int:
    """Return how often the command of `TOUCHING` was run."""
    path = project / "made"
    return len(path.read_text().splitlines()) if path.exists() else 0


def test_tool_call_of_an_acp_agent_that_a_person_approved_happens_once(
    shell: Shell, host: Host, project: Path
) -> None:
    """The same call again is asked again, and a no is a no."""
    with ModelDouble([TOUCHING, TOUCHING, {"text": "Made."}]) as model:
        process = host(model)
        first = shell.only_open()
        assert "echo x >> made" in json.dumps(first.prompt.action)
        assert made(project) == 0
        shell.run("answer", first.ask_id, "approve", "--unattended")
        wait_for(lambda: any(ask.ask_id != first.ask_id for ask in shell.waiting()))
        shell.run("answer", shell.only_open().ask_id, "reject", "--unattended")
        ended = shell.finish(process)
        assert ended.status == 0, ended.err
    assert made(project) == 1


def test_tool_call_of_an_acp_agent_that_nobody_approves_waits_and_is_found_again_after_a_kill(
    shell: Shell, host: Host, project: Path
) -> None:
    """Silence decides nothing; the answer that came meanwhile is found by the run."""
    with ModelDouble([TOUCHING]) as model:
        process = host(model, "--run-id", "night")
        ask = shell.only_open()
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(3)
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=PATIENCE)
        assert (shell.ask(ask.ask_id).is_open, made(project)) == (True, 0)
    shell.run("answer", ask.ask_id, "approve", "--unattended")
    with ModelDouble([TOUCHING, {"text": "Made."}]) as model:
        again = shell.finish(host(model, "--run-id", "night"))
        assert (again.status, again.out) == (0, "Made.\n"), again.err
    assert (made(project), shell.waiting()) == (1, [])


def test_cancelled_run_of_an_acp_agent_withdraws_its_ask_and_nothing_happens(
    shell: Shell, host: Host, project: Path
) -> None:
    """A person ends it from elsewhere."""
    with ModelDouble([TOUCHING]) as model:
        process = host(model, "--run-id", "night")
        ask = shell.only_open()
        assert shell.run("cancel", "night").status == 0
        assert shell.finish(process).status == 5
    assert (shell.ask(ask.ask_id).state, made(project)) == ("withdrawn", 0)
