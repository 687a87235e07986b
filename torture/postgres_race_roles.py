"""Workers of the race over two servers: somebody who asks, people who all answer at once, and a run that is steered.

All of them call a server over HTTP, each its own of the two. A racer tells what it was told: the ask as it ended.
"""

from __future__ import annotations

import queue
import random
import threading
import time
from typing import Any

import msgspec

from assent.client.client import Client
from assent.protocol.ask import Ask
from assent.protocol.error import AssentError, ConflictError, NotFoundError, RunTakenError
from torture.look import row_of
from torture.nursery import Wire
from torture.site import Trusted, caller

__all__ = ["OPTIONS", "opener", "racers", "steering"]

OPTIONS = ("Red", "Green", "Blue")
_TURNS = 6
_PATIENCE = 120.0


def opener(wire: Wire, who: list[Trusted]) -> None:
    """Open one ask for every race, on one server and then on the other."""
    clients = [caller(trusted) for trusted in msgspec.convert(who, list[Trusted])]
    wire.say(ready=True)
    while True:
        number = wire.hear()["number"]
        handle = clients[number % len(clients)].open(f"Which colour, {number}?", OPTIONS)
        wire.say(ask_id=handle.ask_id)


def racers(wire: Wire, who: list[Trusted]) -> None:
    """Several people, each on a thread with a client of their own, who answer at the moment that was agreed on."""
    told: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
    orders: list[queue.SimpleQueue[dict[str, Any]]] = []
    for trusted in msgspec.convert(who, list[Trusted]):
        order: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
        orders.append(order)
        threading.Thread(target=_race, args=(caller(trusted), trusted.name, order, told), daemon=True).start()
    wire.say(ready=[told.get(timeout=_PATIENCE) for _ in orders])
    while True:
        heard = wire.hear()
        for place in heard["places"]:
            orders[place].put(heard)
        wire.say(replies=[told.get(timeout=_PATIENCE) for _ in heard["places"]])


def _race(
    client: Client, name: str, orders: queue.SimpleQueue[dict[str, Any]], told: queue.SimpleQueue[Any]
) -> None:
    client.count()  # acquainted, so that no race waits for a connection
    told.put({"name": name})
    while True:
        order = orders.get()
        pause = order["at"] - time.monotonic_ns()
        if pause > 0:
            time.sleep(pause / 1e9)
        code, sentence = "", ""
        ask: Ask | None = None
        try:
            ask = client.answer(order["ask_id"], {"q1": random.choice(OPTIONS)})
        except ConflictError as error:
            code, sentence, ask = error.code, error.message, error.ask
        except AssentError as error:
            code, sentence = error.code, error.message
        row = None if ask is None else row_of(ask)
        told.put({"name": name, "code": code, "sentence": sentence, "row": row})


def steering(wire: Wire, driver: Trusted, person: Trusted) -> None:
    """Drive runs over one server and steer them over the other, until the trial calls for rest."""
    is_over = threading.Event()
    trusted = msgspec.convert((driver, person), tuple[Trusted, Trusted])
    bodies = (_drive, _steer)
    threads = [
        threading.Thread(target=body, args=(caller(who), is_over, wire), daemon=True)
        for body, who in zip(bodies, trusted, strict=True)
    ]
    for thread in threads:
        thread.start()
    wire.hear()
    is_over.set()
    for thread in threads:
        thread.join(_PATIENCE)
    wire.say(rested=True)
    wire.hear()


def _drive(client: Client, is_over: threading.Event, wire: Wire) -> None:
    while not is_over.is_set():
        try:
            with client.run(max=_TURNS, model="haiku") as run:
                for _ in run:
                    time.sleep(0.03)
        except RunTakenError:
            pass
        except Exception as error:  # noqa: BLE001 - whatever it is, the trial must hear of it
            wire.say(trouble=f"driver: {error!r}")
            return


def _steer(client: Client, is_over: threading.Event, wire: Wire) -> None:
    """Pause and resume, so that the driver always comes to its end."""
    while not is_over.is_set():
        try:
            for run in client.runs():
                for command in ("pause", "resume"):
                    client.control(run.run_id, command)
                    time.sleep(0.02)
        except (NotFoundError, ConflictError):
            pass
        except Exception as error:  # noqa: BLE001 - as above
            wire.say(trouble=f"steerer: {error!r}")
            return
        time.sleep(0.05)
