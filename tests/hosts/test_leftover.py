"""What a loop started is found and ended, however it tried to get away."""

import os
import secrets
import select
import signal
import subprocess
import sys
import time

from assent.hosts import leftover
from assent.hosts.leftover import DONE, Leftovers

_PATIENCE = 20.0


def _start(script: str, **marks: str) -> subprocess.Popen[bytes]:
    """Start a shell that says when all is running."""
    shell = subprocess.Popen(
        ["sh", "-c", script], env={**os.environ, **marks}, stdout=subprocess.PIPE, start_new_session=True
    )
    assert shell.stdout is not None
    assert select.select([shell.stdout], [], [], _PATIENCE)[0]
    assert shell.stdout.readline() == b"ready\n"
    return shell


def _wait_until_none(leftovers: Leftovers) -> None:
    until = time.monotonic() + _PATIENCE
    while leftovers.find():
        assert time.monotonic() < until, "something is left"
        select.select([], [], [], 0.02)


def test_marked_processes_are_found_in_any_session_and_ended() -> None:
    """A program may leave its group and lose its parent; its environment it keeps."""
    mark = secrets.token_hex(8)
    shell = _start("setsid sleep 600 & sleep 600 & echo ready; wait", ASSENT_TEST_MARK=mark)
    leftovers = Leftovers({"ASSENT_TEST_MARK": mark})
    assert len(leftovers.find()) == 3
    assert leftovers.end(5.0)
    assert leftovers.find() == []
    shell.wait(_PATIENCE)
    assert shell.stdout is not None
    shell.stdout.close()


def test_what_ignores_the_request_is_killed_after_the_grace_time() -> None:
    """Asking first, and no asking any more then."""
    mark = secrets.token_hex(8)
    shell = _start('trap "" TERM; echo ready; while :; do sleep 600; done', ASSENT_TEST_MARK=mark)
    assert Leftovers({"ASSENT_TEST_MARK": mark}).end(0.2, group=shell.pid)
    assert shell.wait(_PATIENCE) == -signal.SIGKILL
    assert shell.stdout is not None
    shell.stdout.close()


def test_processes_with_only_some_of_the_marks_are_left_alone() -> None:
    """Another run's agent is none of our business."""
    mark = secrets.token_hex(8)
    shell = _start("echo ready; exec sleep 600", ASSENT_TEST_MARK=mark)
    assert Leftovers({"ASSENT_TEST_MARK": mark, "ASSENT_LOOP": "none"}).end(0.1)
    assert shell.poll() is None
    shell.kill()
    shell.wait(_PATIENCE)
    assert shell.stdout is not None
    shell.stdout.close()


def _guard(mark: str) -> subprocess.Popen[bytes]:
    words = [sys.executable, "-I", "-S", leftover.__file__, "5", f"ASSENT_TEST_MARK={mark}"]
    return subprocess.Popen(words, stdin=subprocess.PIPE, env={}, start_new_session=True)


def test_the_guard_ends_what_is_left_when_its_loop_dies() -> None:
    """Its standard input closes without a word: that is a loop that was killed."""
    mark = secrets.token_hex(8)
    shell = _start("setsid sleep 600 & echo ready; sleep 600", ASSENT_TEST_MARK=mark)
    guard = _guard(mark)
    assert guard.stdin is not None
    guard.stdin.close()
    shell.wait(_PATIENCE)
    guard.wait(_PATIENCE)
    _wait_until_none(Leftovers({"ASSENT_TEST_MARK": mark}))
    assert shell.stdout is not None
    shell.stdout.close()


def test_the_guard_leaves_everything_alone_when_its_loop_ends_in_order() -> None:
    """What a finished loop left in the background on purpose goes on."""
    mark = secrets.token_hex(8)
    shell = _start("echo ready; exec sleep 600", ASSENT_TEST_MARK=mark)
    guard = _guard(mark)
    guard.communicate(DONE + b"\n", timeout=_PATIENCE)
    assert guard.returncode == 0
    assert shell.poll() is None
    shell.kill()
    shell.wait(_PATIENCE)
    assert shell.stdout is not None
    shell.stdout.close()
