"""The pages that show what a real program does: played with that program, and compared line by line.

Each cast below makes a program ready as its reader has it: on the path, with settings in its home. The model says what
the page's prompt would lead to.
"""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from host_tests.opencode_server import PASSWORD, Opencode, await_opencode
from host_tests.settings import PATIENCE, codex_settings, gemini_settings, opencode_settings
from tools.model_double import ModelDouble
from tools.node import node_environ
from tools.page import Page, pages
from tools.play import Cast, play, program_of
from tools.programs import find_program

__all__: list[str] = []

WRITE = "echo '# Changes' > CHANGES.md"
CODEX_STEPS: list[dict[str, Any]] = [
    {
        "tool": "exec_command",
        "input": {
            "cmd": WRITE,
            "sandbox_permissions": "require_escalated",
            "justification": "The changelog has to be written.",
        },
    },
    {"text": "CHANGES.md is begun."},
]
OPENCODE_STEPS: list[dict[str, Any]] = [
    {"tool": "bash", "input": {"command": WRITE, "description": "Begins a changelog"}},
    {"text": "CHANGES.md is begun."},
]
CONFIRM = {"tool": "mcp_assent_confirm", "input": {"question": "Drop the column users.legacy_id?"}}
GEMINI_STEPS: list[dict[str, Any]] = [CONFIRM, {"text": "The column stays."}]


def path_with(program: Path) -> str:
    """Return a path on which the program is found, and `assent`."""
    return os.pathsep.join((str(program.parent), str(Path(sys.executable).parent), node_environ()["PATH"]))


@contextmanager
def codex(folder: Path, ports: Mapping[str, str]) -> Iterator[dict[str, str]]:
    """Make Codex ready."""
    del ports
    with ModelDouble(CODEX_STEPS) as model:
        settings = codex_settings(model.url, folder / "home", folder / "shop")
        yield {**settings, "PATH": path_with(find_program("codex"))}


@contextmanager
def gemini(folder: Path, ports: Mapping[str, str]) -> Iterator[dict[str, str]]:
    """Make Gemini CLI ready."""
    del ports
    with ModelDouble(GEMINI_STEPS) as model:
        settings = gemini_settings(model.url, folder / "home", folder / "shop")
        yield {**settings, "PATH": path_with(find_program("gemini"))}


@contextmanager
def opencode(folder: Path, ports: Mapping[str, str]) -> Iterator[dict[str, str]]:
    """Make opencode ready."""
    del ports
    with ModelDouble(OPENCODE_STEPS) as model:
        settings = opencode_settings(model.url, folder / "shop")
        yield {**settings, "PATH": path_with(find_program("opencode"))}


@contextmanager
def opencode_server(folder: Path, ports: Mapping[str, str]) -> Iterator[dict[str, str]]:
    """Make opencode ready, with a server where the page says and a prompt that it works on."""
    with opencode(folder, ports) as made_ready:
        settings = {**made_ready, "OPENCODE_SERVER_PASSWORD": PASSWORD}
        environ = {**os.environ, **settings, "HOME": str(folder / "home")}
        serving = subprocess.Popen(
            ["opencode", "serve", "--port", ports["4096"]],
            cwd=folder / "shop",
            env=environ,
            executable=find_program("opencode"),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        try:
            server = Opencode(await_opencode(serving))
            talk = server.prompt()
            yield settings
            talk.join(PATIENCE)
        finally:
            serving.kill()
            serving.communicate(timeout=PATIENCE)


CASTS: dict[str, Cast] = {
    "docs/how-to/codex.md": codex,
    "docs/how-to/gemini.md": gemini,
    "docs/how-to/opencode.md": opencode_server,
    "docs/how-to/acp.md": opencode,
}
SHOWING = [page for page in pages() if program_of(page)]


def test_every_page_with_a_real_program_has_a_cast() -> None:
    """A page that is played nowhere may say anything."""
    assert {page.name for page in SHOWING} == set(CASTS)


@pytest.mark.parametrize("page", SHOWING, ids=lambda page: page.name)
def test_page_shows_what_the_real_program_does(
    page: Page, program: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What stands on the page was told by the program itself."""
    assert program(program_of(page)).exists()
    monkeypatch.setattr("tools.terminal.PATIENCE", PATIENCE)
    assert play(page, cast=CASTS[page.name]) == page.text
