"""Tests run the same whoever starts them: signals that were ignored and standard streams that were closed are no matter."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

__all__: list[str] = []

ROOT = Path(__file__).resolve().parents[2]
SIGNALS = ("HUP", "INT", "QUIT", "TERM", "TSTP", "TTIN", "TTOU", "CHLD", "ALRM", "USR1", "USR2")
NAMED = (1 << 31) - 1
"""The signals that have names: what is above them is between the C library and its threads."""
ODD = """
import os, signal, sys
for name in sys.argv[1].split(","):
    signal.signal(getattr(signal, f"SIG{name}"), signal.SIG_IGN)
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGWINCH])
os.close(0)
os.execv(sys.executable, [sys.executable, "-c", sys.argv[2]])
"""
USUAL = """
from tests.inherited import make_usual
make_usual()
import os, subprocess
subprocess.run(["grep", "^Sig[BI]", "/proc/self/status"], check=True)
print(os.readlink("/proc/self/fd/0"))
"""


def test_programs_that_tests_start_heed_every_signal_and_have_an_input() -> None:
    """Whatever the tests themselves were started with."""
    done = subprocess.run(
        [sys.executable, "-c", ODD, ",".join(SIGNALS), USUAL],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    blocked, ignored, stdin = (line.rpartition("\t")[2] for line in done.stdout.splitlines())
    assert (int(blocked, 16), int(ignored, 16) & NAMED, stdin) == (0, 0, "/dev/null")


@pytest.mark.parametrize("name", SIGNALS)
def test_no_signal_is_ignored_here(name: str) -> None:
    """Nor by whatever is started from here."""
    assert signal.getsignal(signal.Signals[f"SIG{name}"]) is not signal.SIG_IGN
