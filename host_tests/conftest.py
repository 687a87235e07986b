"""Surroundings for tests with the real agent programs: an empty home, a clean environment, a project with git.

`make test-hosts` runs them; they are no part of `make test`. The programs are fetched with npm where they are not there
yet (tools/programs.py), and talk to a scripted model on loopback (tools/model_double.py). A program that cannot be had
fails its tests: what did not run is never reported as well.
"""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from host_tests.settings import PATIENCE
from tests.cli.shell import Shell
from tests.conftest import surroundings
from tools.node import node_environ
from tools.programs import PROGRAMS, ProgramError, find_program

__all__ = ["environ", "program", "project", "pytest_terminal_summary", "shell", "surroundings"]

_TRIED: set[str] = set()
"""The programs that a test has used."""
_KEPT = ("PATH", "LANG", "LC_ALL", "TMPDIR", "XDG_STATE_HOME", "XDG_RUNTIME_DIR")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Give the folder of a project under git; the store of its asks will be in it."""
    folder = tmp_path / "shop"
    folder.mkdir()
    (folder / "README.md").write_text("# Shop\n")
    for arguments in (("init", "-q", "-b", "main"), ("add", "."), ("commit", "-q", "-m", "Begin")):
        subprocess.run(
            ["git", "-c", "user.name=ana", "-c", "user.email=ana@example.com", *arguments],
            cwd=folder,
            check=True,
            timeout=30,
        )
    return folder


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    """Give the environment of a program: a home of its own, `assent` on the path, no mark of any agent, no key."""
    home = tmp_path / "home"
    home.mkdir()
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    path = f"{Path(sys.executable).parent}{os.pathsep}{node_environ()['PATH']}"
    # Its temporary files go with it: programs leave sockets and caches behind.
    spare = tmp_path / "spare"
    spare.mkdir()
    return {
        **kept,
        "PATH": path,
        "HOME": str(home),
        "TMPDIR": str(spare),
        "XDG_STATE_HOME": str(home / "state"),
        "TERM": "xterm-256color",
        "USER": "ana",
        "LOGNAME": "ana",
        "PYTHONDONTWRITEBYTECODE": "1",
    }


@pytest.fixture
def shell(project: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shell]:
    """Give a person's shell in the project: sees what waits, and answers."""
    monkeypatch.setattr("tests.cli.shell.PATIENCE", PATIENCE)
    shell = Shell(project)
    yield shell
    shell.close()


@pytest.fixture(scope="session")
def program() -> Callable[[str], Path]:
    """Give the function that finds a program by its name, and fails the test where it cannot be had."""

    def find(name: str) -> Path:
        try:
            found = find_program(name)
        except ProgramError as error:
            pytest.fail(str(error))
        _TRIED.add(name)
        return found

    return find


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say which programs the stories were told with."""
    terminalreporter.section("real programs")
    for name in PROGRAMS:
        told = PROGRAMS[name].spec if name in _TRIED else "not tried"
        terminalreporter.write_line(f"{name}: {told}")
