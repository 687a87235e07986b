"""Workers of the lease trial: drivers of a run, holders of a right, and those who apply deadlines, all in competition.

The ledger is the work itself: one line, appended by one system call. A holder writes down the moment at which it began to
ask itself whether the right is still its own, if the answer is yes: then it was its own at that moment.
"""

from __future__ import annotations

import os
import random
import time
from contextlib import suppress
from datetime import timedelta

from assent.client.client import Client
from assent.client.connect import open_hub
from assent.engine.ask import OpenAsk
from assent.hub.future import LightFuture
from assent.hub.hub import Hub
from assent.hub.ids import new_ask_id
from assent.protocol.ask import Consequence
from assent.protocol.canonical import digest
from assent.protocol.error import (
    AssentError,
    FlowTakenError,
    RunTakenError,
    StoreAwayError,
    StoreBusyError,
)
from assent.protocol.principal import Principal, Role
from assent.protocol.prompt import encode_prompt, question
from assent.storage.postgres import hold as hold_module
from torture.nursery import Wire
from torture.paused_roles import ENDLESS
from torture.swap import swap

__all__ = ["PROJECT", "driver", "holder", "ticker"]

PROJECT = "mill"
_PAUSE = 0.05
_LONGEST_LOOK = 0.02
_LONGEST_TURN = 0.15
"""Most of the time a driver works. One that is stopped in a transaction holds up its project until the server ends it."""
_AGENT = Principal(Role.AGENT, "coder")


def driver(wire: Wire, url: str, name: str, ledger: str, lease: float) -> None:
    """Drive the run as often as it can be had, until it has ended."""
    swap(hold_module, "LEASE_SECONDS", lease)
    client = Client(open_hub(url, os.environ), PROJECT, _AGENT)
    book = os.open(ledger, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    while True:
        try:
            with client.run(max=ENDLESS, model="haiku", run_id=name) as run:
                fence = run.state.fence
                wire.say(begun=fence)
                for turn in run:
                    about = (turn.number, turn.attempt, run.state.sequence, os.getpid(), fence)
                    os.write(book, f"{' '.join(map(str, about))}\n".encode())
                    time.sleep(random.uniform(0, _LONGEST_TURN))
        except (RunTakenError, StoreAwayError, StoreBusyError) as taken:
            wire.say(lost=taken.code)
            time.sleep(random.uniform(0, _PAUSE))
        except AssentError as error:
            wire.say(trouble=f"{name}: {error!r}")
            time.sleep(_PAUSE)
        else:
            wire.say(over=True)
            wire.hear()


def holder(wire: Wire, url: str, name: str, ledger: str, lease: float) -> None:
    """Hold a right as often as it can be had, and write down when it was had."""
    swap(hold_module, "LEASE_SECONDS", lease)
    hub = open_hub(url, os.environ)
    book = os.open(ledger, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    while True:
        try:
            hold = hub.hold(name, PROJECT)
        except (FlowTakenError, StoreAwayError, StoreBusyError):
            time.sleep(random.uniform(0, _PAUSE))
            continue
        assert isinstance(hold, hold_module.PostgresHold)
        wire.say(begun=hold.fence)
        while True:
            moment = time.monotonic_ns()
            if not hold.is_held:
                break
            os.write(book, f"{moment} {hold.fence} {os.getpid()}\n".encode())
            time.sleep(random.uniform(0, _LONGEST_LOOK))
        wire.say(lost="lease")
        hold.release()


def ticker(wire: Wire, url: str, count: int) -> None:
    """Open asks that lapse soon, and apply what is due, as every process does."""
    hub = open_hub(url, os.environ)
    prompt = question("Now?", ("Yes", "No"))
    encoded = digest(encode_prompt(prompt))
    for _ in range(count):
        due = timedelta(milliseconds=random.choice((1, 5, 20)))
        request = OpenAsk(new_ask_id(), prompt, encoded, deadline=due, consequence=Consequence.DENY)
        future = hub.handle(request, project=PROJECT, principal=_AGENT)
        assert isinstance(future, LightFuture)
        try:
            future.result()
        except (StoreAwayError, StoreBusyError):
            continue  # somebody was stopped in the middle of a transaction
        wire.say(opened=request.ask_id)
        _tick(hub)
        time.sleep(random.uniform(0, _PAUSE))
    until = time.monotonic() + 1
    while time.monotonic() < until:
        _tick(hub)
        time.sleep(random.uniform(0, _PAUSE))
    wire.say(rested=True)
    wire.hear()


def _tick(hub: Hub) -> None:
    # As above; the next one comes soon.
    with suppress(StoreAwayError, StoreBusyError):
        hub.tick()
