"""Workers of the halfway trial: controllers that die in the middle of a command, and drivers that live on.

A controller writes every intent, every ACK and every RESULT into a diary that survives it. It is killed from outside
at any moment, or kills itself at one of four places around its two transactions.
"""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from functools import partial
from pathlib import Path

import msgspec

from assent.client import steer
from assent.client.calls import Calls
from assent.client.client import Client
from assent.client.connect import open_hub
from assent.client.door import Call
from assent.hub.command import Posted, PostMessage
from assent.hub.ids import new_request_id
from assent.protocol.control import Control
from assent.protocol.principal import Principal, Role
from torture.nursery import Wire
from torture.paused_roles import ENDLESS, PROJECT
from torture.swap import swap

__all__ = ["PLACES", "Order", "controller", "drivers", "visitor"]

PLACES = (
    "before the REQUEST",
    "before its ACK is known",
    "between ACK and RESULT",
    "before the RESULT is known",
)
"""Where a controller kills itself."""
_DRIVERS = 3
_ANA = Principal(Role.HUMAN, "ana")


class Order(msgspec.Struct, frozen=True):
    """One command as the diary keeps it: enough to send it again."""

    request_id: str
    command: str
    run_id: str
    model: str | None = None


def drivers(wire: Wire, store: str) -> None:
    """Drive several runs, each until it is cancelled, and then the next."""
    client = Client(open_hub(Path(store), os.environ), PROJECT, Principal(Role.AGENT, "coder"))

    def drive(place: int) -> None:
        for generation in range(1_000_000):
            with client.run(max=ENDLESS, model="haiku", run_id=f"loop-{place}-{generation}") as run:
                for _ in run:
                    time.sleep(random.uniform(0, 0.004))

    for place in range(_DRIVERS):
        threading.Thread(target=drive, args=(place,), daemon=True).start()
    while len(client.runs()) < _DRIVERS:
        time.sleep(0.001)
    wire.say(ready=True)
    wire.hear()


class _Death:
    """Kills its controller at the place and the command that were chosen for it."""

    def __init__(self, wire: Wire, place: str, after: int) -> None:
        self._wire = wire
        self._place = place
        self.left = after
        send, execute = steer._send, steer._execute

        def dying_send(calls: Calls, request: PostMessage) -> Call[Posted]:
            self.strike(PLACES[0])
            posted = yield from send(calls, request)
            self.strike(PLACES[1])
            if posted.reply is not None and posted.reply.type == "ACK":
                wire.say(acknowledged=posted.reply.request_id)
                self.strike(PLACES[2])
            return posted

        def dying_execute(calls: Calls, request_id: str) -> Call[Control]:
            control = yield from execute(calls, request_id)
            self.strike(PLACES[3])
            return control

        swap(steer, "_send", dying_send)
        swap(steer, "_execute", dying_execute)

    def strike(self, place: str) -> None:
        """Die here, if it is time."""
        if place == self._place and self.left <= 0:
            self._wire.say(dies=place)
            os.kill(os.getpid(), signal.SIGKILL)


def controller(wire: Wire, store: str, place: str, after: int, orders: list[Order], is_busy: bool) -> None:
    """Send what is ordered; then, if busy, whatever comes to mind, until killed."""
    client = Client(open_hub(Path(store), os.environ), PROJECT, _ANA)
    death = _Death(wire, place, after)
    wire.say(ready=True)
    for order in msgspec.convert(orders, list[Order]):
        _send(wire, client, death, order)
    while is_busy:
        runs = client.runs()
        if runs:
            run = random.choice(runs)
            fitting = "resume" if run.status == "paused" else "pause"
            command = random.choices((fitting, "escalate", "cancel", "resume"), (6, 2, 1, 1))[0]
            model = "opus" if run.model == "haiku" else "haiku"
            _send(wire, client, death, Order(new_request_id(), command, run.run_id, model))
    wire.say(over=True)
    wire.hear()


def _send(wire: Wire, client: Client, death: _Death, order: Order) -> None:
    wire.say(do=order)
    death.left -= 1
    model = order.model if order.command == "escalate" else None
    result = client.control(order.run_id, order.command, model=model, request_id=order.request_id)
    wire.say(done=order.request_id, payload=result.payload)


def visitor(wire: Wire, store: str) -> None:
    """Somebody who only looks at the runs, some time later."""
    client = Client(open_hub(Path(store), os.environ), PROJECT, Principal(Role.OBSERVER, "wall"))
    look = partial(client.runs, all_states=True)
    wire.say(runs=len(look()))
