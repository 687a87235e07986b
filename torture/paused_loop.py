"""A worker of the pause trial: the real `assent loop`, started as people start it, and what it says on standard error."""

from __future__ import annotations

import ctypes
import os
import re
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path

from torture.nursery import Wire
from torture.paused_roles import ENDLESS, PROJECT
from torture.shell import store_url

__all__ = ["is_stubborn", "loop_driver"]

_ABOUT = '"$ASSENT_ITERATION $ASSENT_ATTEMPT $ASSENT_FENCE $ASSENT_MODEL"'
_SCRIPT = f"""
echo begin {_ABOUT} >> "$LEDGER"
if [ $((ASSENT_ITERATION % 2)) = 0 ] && [ $ASSENT_ATTEMPT = 1 ]; then
  trap '' TERM
  for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do sleep 0.2; echo still {_ABOUT} >> "$LEDGER"; done
else
  sleep 0.02
fi
echo end {_ABOUT} >> "$LEDGER"
"""
"""The work. Some tries take their time and do not end when they are asked to: see `is_stubborn`."""
_TURN = re.compile(r"iteration (\d+) of \d+, \S+?(?:; attempt (\d+), .*)?")
_TAKEN = 6
_PR_SET_PDEATHSIG = 1


def is_stubborn(number: int, attempt: int) -> bool:
    """Say whether this try lasts four seconds, unless it is killed."""
    return number % 2 == 0 and attempt == 1


def loop_driver(wire: Wire, store: str, run_id: str, ledger: str) -> None:
    """Start a loop and tell what it says, until it ends; it is the loop that is killed, not this worker."""
    words = [str(Path(sys.executable).with_name("assent")), "loop", "--store", store_url(Path(store))]
    words += ["--project", PROJECT, "--run-id", run_id, "--max", str(ENDLESS), "--model", "haiku"]
    words += ["--grace", "0.2", "--", "sh", "-c", _SCRIPT]
    child = subprocess.Popen(
        words,
        env=os.environ | {"LEDGER": ledger},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=_die_with_parent,  # noqa: PLW1509 - there is no thread yet
    )
    wire.say(pid=child.pid)
    threading.Thread(target=_tell, args=(wire, child), daemon=True).start()
    wire.hear()


def _die_with_parent() -> None:
    # A loop without end must not outlive the trial, however that ends.
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def _tell(wire: Wire, child: subprocess.Popen[str]) -> None:
    assert child.stderr is not None
    is_started = False
    for line in child.stderr:
        said = line.rstrip().removeprefix("assent: ")
        if said.startswith("goes on with run"):
            wire.say(taken=True)
        turn = _TURN.fullmatch(said)
        if turn is None and not said.startswith("paused;"):
            continue
        if not is_started:
            wire.say(started="paused" if turn is None else "running")
            is_started = True
        if turn is not None:
            wire.say(begun=int(turn[1]), attempt=int(turn[2] or 1))
    status = child.wait()
    if status == _TAKEN:
        wire.say(refused="run_taken")
    else:
        wire.say(over=status)
