"""What the tests of the command line start from."""

import contextlib
import io
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from assent.cli.exit import run
from tests.cli.shell import Result, Shell

__all__ = ["call", "shell"]


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shell]:
    """Give a shell in an empty folder; what it started is ended with the test. Here, too, its stores are one's own."""
    folder = tmp_path / "shop"
    folder.mkdir()
    shell = Shell(folder)
    monkeypatch.setenv("XDG_STATE_HOME", shell.environ()["XDG_STATE_HOME"])
    yield shell
    shell.close()


@pytest.fixture
def call(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    """Give the same command without the cost of a process, for what does not wait and has no terminal."""
    for name in set(os.environ) - set(shell.environ()):
        monkeypatch.delenv(name)
    for name, value in shell.environ().items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(shell.folder)

    def call(*arguments: str) -> Result:
        out, err = io.BytesIO(), io.BytesIO()
        with (
            io.TextIOWrapper(out, "utf-8", write_through=True) as stdout,
            io.TextIOWrapper(err, "utf-8", write_through=True) as stderr,
            contextlib.redirect_stdout(stdout),
            contextlib.redirect_stderr(stderr),
        ):
            status = run(arguments)
            return Result(status, out.getvalue().decode(), err.getvalue().decode())

    return call
