"""Workers of the pause trial: a program that drives a run and keeps a ledger, and somebody who steers it.

The ledger is the work itself: one line a begun and an ended iteration, appended by one system call each, so that
what a killed driver did is there, and what it did not do is not.
"""

from __future__ import annotations

import os
import random
import time
from pathlib import Path

from assent.client.client import Client
from assent.client.connect import open_hub
from assent.protocol.error import AssentError
from assent.protocol.principal import Principal, Role
from torture.nursery import Wire

__all__ = ["ENDLESS", "PROJECT", "controller", "driver"]

PROJECT = "mill"
ENDLESS = 1_000_000
"""No run of the trial comes to its limit."""
_LONGEST_TURN = 0.006


def driver(wire: Wire, store: str, run_id: str, ledger: str) -> None:
    """Drive a run as a program does, until it ends or is somebody else's."""
    client = Client(open_hub(Path(store), os.environ), PROJECT, Principal(Role.AGENT, "coder"))
    book = os.open(ledger, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        with client.run(max=ENDLESS, model="haiku", run_id=run_id) as run:
            wire.say(started=run.state.status)
            for turn in run:
                about = (turn.number, turn.attempt, run.state.sequence, os.getpid(), turn.model)
                os.write(book, f"begin {' '.join(map(str, about))}\n".encode())
                wire.say(begun=turn.number)
                time.sleep(random.uniform(0, _LONGEST_TURN))
                os.write(book, f"end {turn.number}\n".encode())
    except AssentError as error:
        wire.say(refused=error.code)
    else:
        wire.say(over=run.state.status)
    wire.hear()


def controller(wire: Wire, store: str) -> None:
    """Send the commands that are ordered, each at its moment; tell the RESULT."""
    client = Client(open_hub(Path(store), os.environ), PROJECT, Principal(Role.HUMAN, "ana"))
    while True:
        told = wire.hear()
        time.sleep(told["after"])
        result = client.control(told["run_id"], told["command"], model=told.get("model"))
        wire.say(told=result.code or result.payload["status"])
