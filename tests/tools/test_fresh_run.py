"""The newcomer of `make fresh`: what it makes of a server that says nothing, ends, or leaves something behind."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.patience import PATIENCE
from tools import fresh_run
from tools.fresh_run import RunError, check_nothing_left, processes_here, read_link

__all__: list[str] = []

Start = Callable[[str], "subprocess.Popen[bytes]"]


@pytest.fixture
def start() -> Iterator[Start]:
    """Give a function that starts a program in place of make; it is ended with the test."""
    started: list[subprocess.Popen[bytes]] = []

    def start(program: str) -> "subprocess.Popen[bytes]":
        command = [sys.executable, "-c", program]
        started.append(subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE))
        return started[-1]

    yield start
    for each in started:
        each.communicate(timeout=PATIENCE)


def test_link_is_read_and_shown(start: Start, capsys: pytest.CaptureFixture[str]) -> None:
    """Address and code come apart; whoever looks on sees what a newcomer sees."""
    made = start("print('Open\\n    http://127.0.0.1:8484/sign-in#c0de\\nCtrl-C stops it.')")
    assert read_link(made) == ("http://127.0.0.1:8484", "c0de")
    assert "sign-in#c0de" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("program", "why"),
    [
        ("print('no'); raise SystemExit(3)", "it ended by itself with status 3"),
        ("print('Ctrl-C stops it.')", "it printed no link"),
        ("input()", "it printed no link in time"),
    ],
    ids=["ended", "linkless", "silent"],
)
def test_server_that_gives_no_link_is_told(
    start: Start, monkeypatch: pytest.MonkeyPatch, program: str, why: str
) -> None:
    """In one sentence."""
    monkeypatch.setattr(fresh_run, "INSTALL_SECONDS", 0.5 if "input" in program else PATIENCE)
    with pytest.raises(RunError) as told:
        read_link(start(program))
    assert str(told.value) == why


def test_what_is_left_behind_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder of the demo is; a folder of the system's own is not."""
    monkeypatch.setattr(fresh_run, "ROOT", tmp_path)
    monkeypatch.setattr(fresh_run, "STOP_SECONDS", 0.0)
    (tmp_path / "assent-1000").mkdir()
    check_nothing_left(tmp_path)
    (tmp_path / "assent-demo-x").mkdir()
    with pytest.raises(RunError, match="assent-demo-x"):
        check_nothing_left(tmp_path)


def test_process_of_the_folder_is_found(
    start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the path of its Python."""
    monkeypatch.setattr(fresh_run, "ROOT", tmp_path)
    assert processes_here() == []
    made = start(f"print('begun', flush=True); input()  # {tmp_path / '.venv' / 'bin'}")
    # Until it runs, the system need not know what it was started with.
    assert made.stdout is not None
    assert made.stdout.readline().strip() == b"begun"
    assert len(processes_here()) == 1
