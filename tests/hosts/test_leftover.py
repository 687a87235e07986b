"""What a loop started is found and ended, however it tried to get away."""

import os
import secrets
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator

import pytest

from assent.hosts import leftover
from assent.hosts.leftover import DONE, NOTHING, Leftovers
from tests.patience import PATIENCE

Start = Callable[[str], subprocess.Popen[bytes]]


@pytest.fixture
def mark() -> Iterator[str]:
    """Give a mark of this test's own; nothing that carries it outlives the test."""
    mark = secrets.token_hex(8)
    yield mark
    Leftovers({"ASSENT_TEST_MARK": mark}).end(0.0)


@pytest.fixture
def start(mark: str) -> Iterator[Callable[[str], subprocess.Popen[bytes]]]:
    """Give a way to start a shell that carries the mark, and says when all is running."""
    shells: list[subprocess.Popen[bytes]] = []

    def start(script: str) -> subprocess.Popen[bytes]:
        environ = {**os.environ, "ASSENT_TEST_MARK": mark}
        shell = subprocess.Popen(
            ["sh", "-c", script], env=environ, stdout=subprocess.PIPE, start_new_session=True
        )
        shells.append(shell)
        assert shell.stdout is not None
        assert select.select([shell.stdout], [], [], PATIENCE)[0]
        assert shell.stdout.readline() == b"ready\n"
        return shell

    yield start
    for shell in shells:
        shell.kill()
        shell.wait(PATIENCE)
        assert shell.stdout is not None
        shell.stdout.close()


def _wait_until_none(leftovers: Leftovers) -> None:
    until = time.monotonic() + PATIENCE
    while leftovers.find():
        assert time.monotonic() < until, "something is left"
        select.select([], [], [], 0.02)


def test_marked_processes_are_found_in_any_session_and_ended(mark: str, start: Start) -> None:
    """A program may leave its group and lose its parent; its environment it keeps."""
    shell = start("setsid sleep 600 & sleep 600 & echo ready; wait")
    leftovers = Leftovers({"ASSENT_TEST_MARK": mark})
    assert len(leftovers.find()) == 3
    assert leftovers.end(5.0)
    assert leftovers.find() == []
    shell.wait(PATIENCE)


def test_what_ignores_the_request_is_killed_after_the_grace_time(mark: str, start: Start) -> None:
    """Asking first, and no asking any more then."""
    shell = start('trap "" TERM; echo ready; while :; do sleep 600; done')
    assert Leftovers({"ASSENT_TEST_MARK": mark}).end(0.2, group=shell.pid)
    assert shell.wait(PATIENCE) == -signal.SIGKILL


def test_processes_with_only_some_of_the_marks_are_left_alone(mark: str, start: Start) -> None:
    """Another run's agent is none of our business."""
    shell = start("echo ready; exec sleep 600")
    assert Leftovers({"ASSENT_TEST_MARK": mark, "ASSENT_LOOP": "none"}).end(0.1)
    assert shell.poll() is None


def _guard(mark: str) -> subprocess.Popen[bytes]:
    words = [sys.executable, "-I", "-S", leftover.__file__, "5", f"ASSENT_TEST_MARK={mark}"]
    return subprocess.Popen(words, stdin=subprocess.PIPE, env={}, start_new_session=True)


def test_the_guard_ends_what_is_left_when_its_loop_dies(mark: str, start: Start) -> None:
    """Its standard input closes without a word: that is a loop that was killed."""
    shell = start("setsid sleep 600 & echo ready; sleep 600")
    guard = _guard(mark)
    assert guard.stdin is not None
    guard.stdin.close()
    shell.wait(PATIENCE)
    guard.wait(PATIENCE)
    _wait_until_none(Leftovers({"ASSENT_TEST_MARK": mark}))


def test_the_guard_leaves_everything_alone_when_its_loop_ends_in_order(mark: str, start: Start) -> None:
    """What a finished loop left in the background on purpose goes on."""
    shell = start("echo ready; exec sleep 600")
    guard = _guard(mark)
    guard.communicate(DONE + b"\n", timeout=PATIENCE)
    assert guard.returncode == 0
    assert shell.poll() is None
    shell.kill()
    shell.wait(PATIENCE)


def test_the_guard_forgets_the_group_of_a_command_that_has_ended(mark: str, start: Start) -> None:
    """By the time the loop dies, the number may be another program's."""
    innocent = start("unset ASSENT_TEST_MARK; echo ready; exec sleep 600")
    guard = _guard("another-" + mark)
    guard.communicate(f"{innocent.pid}\n".encode() + NOTHING + b"\n", timeout=PATIENCE)
    assert innocent.poll() is None


def test_many_processes_that_ignore_the_request_are_ended_in_one_go(mark: str, start: Start) -> None:
    """A look reads of every process on the machine, so there is one for all of them."""
    start('trap "" TERM; for _ in $(seq 60); do sleep 600 & done; echo ready; wait')
    leftovers = Leftovers({"ASSENT_TEST_MARK": mark})
    assert len(leftovers.find()) == 61
    assert leftovers.end(0.1)
    assert leftovers.find() == []
