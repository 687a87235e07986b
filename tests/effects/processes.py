"""Small programs that write down which processes they are, and how to see that none of them stayed behind."""

import time
from collections.abc import Callable

import psutil

__all__ = ["DEADLINE", "SLEEPS", "STARTS_ANOTHER", "WRITES_NUMBER", "Alive", "wait_until_empty"]

DEADLINE = 40.0
WRITES_NUMBER = "import os, pathlib; pathlib.Path(f'pid-{os.getpid()}').touch();"
SLEEPS = WRITES_NUMBER + "import time; time.sleep(600)"
STARTS_ANOTHER = (
    WRITES_NUMBER
    + f"import subprocess, sys, time; subprocess.Popen([sys.executable, '-c', {SLEEPS!r}]);"
    + "time.sleep(600)"
)

Alive = Callable[[], list[psutil.Process]]


def wait_until_empty(alive: Alive) -> None:
    """A process that was killed takes a moment to be gone."""
    until = time.monotonic() + DEADLINE
    while alive():
        assert time.monotonic() < until, "something stayed behind"
