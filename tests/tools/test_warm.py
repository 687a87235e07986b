"""Processes that are forked from a warm Python: real ones, which end and fail as those that `python` starts."""

import os
import pty
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.patience import PATIENCE
from tools import warm
from tools.warm import COLD, run, spawn

__all__: list[str] = []

ENDS = {
    "well": "pass",
    "status": "import sys; sys.exit(7)",
    "words": "import sys; sys.exit('no')",
    "thread": "import threading; threading.Timer(0.01, print, ['late']).start()",
    "exit function": "import atexit; atexit.register(print, 'last')",
    "signal": "import os, signal; os.kill(os.getpid(), signal.SIGKILL)",
    "interrupt": "import os, signal; os.kill(os.getpid(), signal.SIGINT); signal.pause()",
    "closed": "import os; print('x'); os.close(1)",
}


@pytest.fixture
def cold(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Give the switch that has everything started the ordinary way."""
    monkeypatch.setenv(COLD, "1")
    return monkeypatch


def told(*words: str, **options: Any) -> tuple[int, str, str]:
    """Run Python with these words; return its status, its output, and the last line of its errors."""
    done = run(
        [sys.executable, *words], capture_output=True, text=True, timeout=PATIENCE, check=False, **options
    )
    return done.returncode, done.stdout, (done.stderr.splitlines() or [""])[-1]


@pytest.mark.parametrize("code", ENDS.values(), ids=ENDS)
def test_forked_process_ends_as_a_started_one(cold: pytest.MonkeyPatch, code: str) -> None:
    """Status, output and last words are the same."""
    started = told("-c", code)
    cold.delenv(COLD)
    assert told("-c", code) == started


def test_forked_process_is_one_of_its_own(tmp_path: Path) -> None:
    """It has a pid, a session, a folder and an environment of its own, and no descriptor but those it is given."""
    looks = (
        "import os, sys; print(os.getpid(), os.getsid(0), os.getcwd(), os.environ['X'], sys.argv[1:], "
        "[int(each) for each in os.listdir('/proc/self/fd') if os.path.exists(f'/proc/self/fd/{each}')])"
    )
    reads, writes = os.pipe()
    process = spawn(
        [sys.executable, "-c", looks, "a b"],
        cwd=tmp_path,
        env={**os.environ, "X": "Ä"},
        pass_fds=[writes],
        start_new_session=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    out, _ = process.communicate(timeout=PATIENCE)
    os.close(reads)
    os.close(writes)
    pid = process.pid
    assert out == f"{pid} {pid} {tmp_path} Ä ['a b'] {[0, 1, 2, writes]}\n"
    assert pid != os.getpid()


def test_module_is_run_with_its_words(tmp_path: Path) -> None:
    """`python -m MODULE`: found in the folder first, with its own name and words."""
    (tmp_path / "mine.py").write_text("import sys; print(__name__, sys.argv[0][-7:], sys.argv[1:])")
    assert told("-m", "mine", "x", cwd=tmp_path) == (0, "__main__ mine.py ['x']\n", "")


def test_error_is_told_with_its_trace() -> None:
    """A mistake in a story can be found."""
    assert told("-c", "raise ValueError('here')") == (1, "", "ValueError: here")


def test_terminal_controls_the_session(cold: pytest.MonkeyPatch) -> None:
    """Ctrl-C at the pty reaches the process, forked or not; a signal that it was told to ignore does not."""
    code = "import os, signal; os.close(os.open('/dev/tty', os.O_RDWR)); print('ready', flush=True); signal.pause()"
    for _ in range(2):
        master, slave = pty.openpty()
        options: dict[str, Any] = {"stdin": slave, "stdout": subprocess.PIPE, "start_new_session": True}
        words = [sys.executable, "-c", code]
        with spawn(words, has_terminal=True, ignores=[signal.SIGHUP], **options) as process:
            os.close(slave)
            assert process.stdout is not None
            assert process.stdout.readline() == b"ready\n"
            process.send_signal(signal.SIGHUP)
            os.write(master, b"\x03")
            assert process.wait(PATIENCE) == -signal.SIGINT
        os.close(master)
        cold.delenv(COLD, raising=False)


def test_what_python_reads_at_its_start_is_read_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another locale or a setting of Python itself, and a process is started the ordinary way."""
    monkeypatch.setattr(warm, "_Forked", None)  # which nobody can call
    says = "import sys; print(sys.flags.optimize)"
    assert told("-c", says, env={**os.environ, "PYTHONOPTIMIZE": "1"}) == (0, "1\n", "")
    assert told("-S", "-c", "print(2)") == (0, "2\n", "")
    with pytest.raises(TypeError):
        told("-c", says)
