"""Several steer one run at the same moment, and one of them cancels: one end, one RESULT each, and nothing after it."""

from __future__ import annotations

import os
import threading
import time
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any

import msgspec

from assent.client.client import Client
from assent.client.connect import open_hub
from assent.hub.command import BeginTurn, FinishRun, StartRun
from assent.hub.future import LightFuture
from assent.hub.ids import new_request_id
from assent.protocol.error import RunEndedError
from assent.protocol.principal import Principal, Role
from assent.protocol.run import DoneReason, Frame, Mode, RunId
from torture.judge import BROKEN, Judge
from torture.log import read_log
from torture.nest import Nest, Worker
from torture.nursery import Wire
from torture.trial import Plan, Tally, Trial, Twin, Verdict

__all__ = ["TRIAL", "controller", "owner", "run"]

ROUNDS = 1_000
CONTROLLERS = 3
PROJECT = "derby"
RIVALS = ("resume", "cancel", "pause", "escalate", "again", "finish", "ask", "everything")
"""What cancel races against; `again` is the same request sent twice, under one id."""
KINDS = ("without one end", "told otherwise", *BROKEN, "audit problems")
_STEER = ("pause", "resume", "escalate", "cancel")


class Order(msgspec.Struct, frozen=True):
    """One command of one controller."""

    request_id: str
    command: str
    run_id: str


class Reply(msgspec.Struct, frozen=True):
    """What it was told."""

    request_id: str
    payload: dict[str, Any]


def run(plan: Plan) -> Verdict:
    """Race for every run, then let the judge explain what each was told."""
    tally = Tally(KINDS)
    chance = plan.chance()
    rounds = plan.count(ROUNDS, 2 * len(RIVALS))
    replies: list[Reply] = []
    with Nest(plan.twin, in_memory=True) as nest:
        store = str(nest.store)
        host = nest.start("torture.cancel:owner", store=store)
        host.hear()
        field = [
            nest.start("torture.cancel:controller", store=store, name=f"c{n}") for n in range(CONTROLLERS)
        ]
        for racer in field:
            racer.hear()
        for number in range(rounds):
            replies += _race(tally, host, field, chance, number)
            if number % 200 == 199:
                plan.progress(f"{number + 1} of {rounds} rounds")
        log = read_log(nest, PROJECT)
    judge = Judge(tally).hear_all(log.entries)
    for problem in log.problems:
        tally.fault("audit problems", problem)
    _compare(tally, judge, replies)
    tally.add("asks withdrawn", sum(entry.type == "ask.withdrawn" for entry in log.entries))
    for name in ("rounds", "commands", "asks withdrawn"):
        tally.require(name, rounds)
    tally.require("runs cancelled", rounds * 6 // 10)
    for name in (
        "runs finished first",
        "told not_found",
        "told invalid_state",
        "too late though acknowledged",
    ):
        tally.require(name)
    return tally.verdict()


def _race(tally: Tally, host: Worker, field: list[Worker], chance: Random, number: int) -> list[Reply]:
    rival = RIVALS[number % len(RIVALS)]
    run_id = f"loop-{number}-derby"
    # One is no race: that a run finishes first must be seen, and is not left to chance. A paused one finishes nothing.
    is_over = rival == "finish" and number < len(RIVALS)
    host.say(run_id=run_id, is_paused=chance.random() < 0.5 and not is_over)
    host.hear()
    shares = _shares(chance, rival, run_id)
    at = time.monotonic_ns() + round(chance.uniform(0.001, 0.003) * 1e9)
    host.say(act=rival if rival in ("finish", "ask") else "wait", at=at)
    is_over = rival == "finish" and number < len(
        RIVALS
    )  # one is no race: what it wants to see is not left to chance
    if is_over:
        host.hear()
    for racer, share in zip(field, shares, strict=True):
        racer.say(orders=share, at=at)
    told = [reply for racer in field for reply in msgspec.convert(racer.hear()["replies"], list[Reply])]
    if not is_over:
        host.hear()
    tally.add("rounds")
    return told


def _shares(chance: Random, rival: str, run_id: str) -> list[list[Order]]:
    """Deal the commands of one race to the controllers; several of one process share its transactions."""
    commands = {"everything": [*_STEER, *_STEER], "again": ["cancel"]}.get(rival, ["cancel"])
    if rival in _STEER:
        commands = ["cancel", rival, *chance.choices(("cancel", rival), k=2)]
    orders = [Order(new_request_id(), command, run_id) for command in commands]
    if rival == "again":
        orders *= 4
    shares: list[list[Order]] = [[] for _ in range(CONTROLLERS)]
    for order in orders:
        chance.choice(shares).append(order)
    return shares


def _compare(tally: Tally, judge: Judge, replies: list[Reply]) -> None:
    for reply in replies:
        tally.add("commands")
        word = reply.payload.get("code") or reply.payload["status"]
        tally.add(f"told {word}")
        result = judge.requests[reply.request_id].result
        tally.check(reply.payload == result, "told otherwise", (reply, result))
    for request in judge.requests.values():
        is_late = request.result.get("code") == "not_found" and request.is_acknowledged
        tally.add("too late though acknowledged", is_late)
    for told in judge.runs.values():
        cancels = [
            request
            for request in judge.requests.values()
            if request.run_id == told.run_id and request.command == "cancel"
        ]
        wins = sum(request.result.get("status") == "success" for request in cancels)
        tally.add("runs cancelled", wins)
        tally.add("runs finished first", told.ends["DONE"])
        is_one = told.ends.total() == 1 and told.ends["ABORT"] == wins
        tally.check(is_one, "without one end", (told.run_id, dict(told.ends), wins))


# Workers


def owner(wire: Wire, store: str) -> None:
    """Begin a run with two asks for every race; at the agreed moment finish it, ask again, or do nothing."""
    hub = open_hub(Path(store), os.environ)
    agent = Client(hub, PROJECT, Principal(Role.AGENT, "coder"))
    person = Client(hub, PROJECT, Principal(Role.HUMAN, "bea"))

    def send(request: StartRun | BeginTurn | FinishRun) -> None:
        future = hub.handle(request, project=PROJECT, principal=agent.principal)
        assert isinstance(future, LightFuture)
        future.wait(30)
        future.result()

    wire.say(ready=True)
    while True:
        told = wire.hear()
        run_id = RunId(told["run_id"])
        send(StartRun(run_id, Frame(run_id, Mode.LOOP, 0, 10, model="haiku"), "derby:1"))
        send(BeginTurn(run_id, 1))
        for _ in range(2):
            agent.open("Which way?", ["Left", "Right"], run_id=run_id)
        if told["is_paused"]:
            person.pause(run_id)
        wire.say(ready=True)
        order = wire.hear()
        _sleep_until(order["at"])
        if order["act"] == "finish":
            send(FinishRun(run_id, 1, DoneReason.COMPLETE))
        elif order["act"] == "ask":
            with suppress(RunEndedError):
                agent.open("And now?", ["Left", "Right"], run_id=run_id)
        wire.say(done=True)


def controller(wire: Wire, store: str, name: str) -> None:
    """Send what is ordered, all at once at the agreed moment, and tell every RESULT."""
    client = Client(open_hub(Path(store), os.environ), PROJECT, Principal(Role.HUMAN, name))
    client.runs()
    wire.say(ready=True)
    while True:
        told = wire.hear()
        orders = msgspec.convert(told["orders"], list[Order])
        replies: list[Reply] = []

        def send(order: Order, at: int, replies: list[Reply] = replies) -> None:
            _sleep_until(at)
            result = client.control(order.run_id, order.command, request_id=order.request_id)
            replies.append(Reply(order.request_id, result.payload))

        threads = [threading.Thread(target=send, args=(order, told["at"])) for order in orders]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        wire.say(replies=replies)


def _sleep_until(at: int) -> None:
    pause = at - time.monotonic_ns()
    if pause > 0:
        time.sleep(pause / 1e9)


TRIAL = Trial(
    "cancel",
    "cancel against resume, pause, escalate, finish, an ask and itself: one end, one RESULT each, nothing after ABORT",
    run,
    (
        Twin("cancel-the-ended", "a run that has ended is steered no more", "without one end", 0.016),
        Twin("leave-asks-open", "the asks of an ended run are withdrawn", "asks left open", 0.016),
        Twin("result-after-effect", "RESULT comes before the state event", "out of order", 0.016),
    ),
)
