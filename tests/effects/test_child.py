"""Programs that end with the reason for them, wherever Ctrl-C strikes."""

import os
import signal
import subprocess
import sys
from typing import Any

import psutil
import pytest

from assent.effects.child import child_of

__all__: list[str] = []

SLEEPS = (sys.executable, "-c", "import time; time.sleep(60)")


@pytest.mark.parametrize("moment", ["while it starts", "while it runs", "while it is ended"])
def test_interrupted_program_is_ended_whenever_the_interrupt_comes(
    moment: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As soon as it runs it may do harm, and that is before whoever started it has heard of it."""
    started: list[int] = []

    class Interrupted(subprocess.Popen[bytes]):
        def __init__(self, *given: Any, **named: Any) -> None:
            super().__init__(*given, **named)
            started.append(self.pid)
            if moment == "while it starts":
                os.kill(os.getpid(), signal.SIGINT)

    def end(group: int, number: int) -> None:
        if moment == "while it is ended":
            os.kill(os.getpid(), signal.SIGINT)
        killpg(group, number)

    def story() -> None:
        with child_of(SLEEPS, None, stderr=subprocess.DEVNULL):
            if moment == "while it runs":
                os.kill(os.getpid(), signal.SIGINT)

    killpg = os.killpg
    monkeypatch.setattr(os, "killpg", end)
    monkeypatch.setattr(subprocess, "Popen", Interrupted)
    with pytest.raises(KeyboardInterrupt):
        story()

    assert [psutil.pid_exists(number) for number in started] == [False]


def test_program_that_cannot_be_started_says_so_and_leaves_ctrl_c_as_it_was() -> None:
    with pytest.raises(FileNotFoundError), child_of(["./nobody"], None, stderr=subprocess.DEVNULL):
        pass

    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_program_is_ended_though_an_interrupt_left_its_lock_taken() -> None:
    """Python lets Ctrl-C strike between taking a lock and the block that gives it back: nobody waits for it then."""
    ended = []

    def story() -> None:
        with child_of(SLEEPS, None, stderr=subprocess.DEVNULL) as child:
            ended.append(child)
            child._waitpid_lock.acquire()  # type: ignore[attr-defined]  # where the interrupt struck
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        story()
    assert [child.returncode for child in ended] == [-signal.SIGKILL]
