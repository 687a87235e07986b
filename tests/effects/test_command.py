"""Running a command that is asked something: what is kept of its words, and that an interrupt leaves nothing behind."""

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from assent.effects.command import Order, Speech, run_command
from tests.effects.processes import DEADLINE, STARTS_ANOTHER, Alive, wait_until_empty

__all__: list[str] = []

LIMIT = 100


def order(folder: Path, source: str, *, keeps_errors_apart: bool = True) -> Order:
    """Return how a small program is run."""
    command = (sys.executable, "-c", source)
    return Order(
        command, folder, os.environ, "agent:ace", DEADLINE, LIMIT, keeps_errors_apart=keeps_errors_apart
    )


def test_words_and_complaints_are_kept_apart(tmp_path: Path) -> None:
    """And how it ended, which is for others to judge."""
    source = "import sys; print(sys.stdin.read()); print('oh', file=sys.stderr); sys.exit(4)"
    assert run_command(order(tmp_path, source), b"who?") == Speech(b"who?\n", 5, b"oh\n", 4)


def test_complaints_are_part_of_the_words_where_they_are_not_kept_apart(tmp_path: Path) -> None:
    """In the order in which they were said."""
    source = "import sys; print('a', flush=True); print('b', file=sys.stderr, flush=True); print('c')"
    assert run_command(order(tmp_path, source, keeps_errors_apart=False), b"") == Speech(
        b"a\nb\nc\n", 6, b"", 0
    )


def test_of_many_words_the_first_and_of_many_complaints_the_last_are_kept(tmp_path: Path) -> None:
    """So much and no more is ever held."""
    source = (
        "import sys\n"
        "for _ in range(100): print('x' * 65535); sys.stderr.write('y' * 65536)\n"
        "sys.stderr.write('the end')"
    )
    speech = run_command(order(tmp_path, source), b"")
    assert (speech.said, speech.size) == (b"x" * LIMIT, 100 << 16)
    assert len(speech.complaint) == 4_096
    assert speech.complaint.endswith(b"yythe end")


@pytest.fixture
def interrupt(tmp_path: Path) -> Iterator[None]:
    """Press Ctrl-C as soon as two processes have written their number into the folder."""

    def look(*_: object) -> None:
        if len(list(tmp_path.glob("pid-*"))) == 2:
            signal.setitimer(signal.ITIMER_REAL, 0)  # once
            raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, look)
    signal.setitimer(signal.ITIMER_REAL, 0.05, 0.05)
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.usefixtures("interrupt")
def test_interrupted_command_is_ended_with_all_that_it_started(tmp_path: Path, left_behind: Alive) -> None:
    """It does not hear the Ctrl-C itself: it has a group of its own."""
    with pytest.raises(KeyboardInterrupt):
        run_command(order(tmp_path, STARTS_ANOTHER), b"")
    wait_until_empty(left_behind)
