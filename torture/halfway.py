"""A controller dies in the middle of a command: what was acknowledged gets its one RESULT from whoever comes next."""

from __future__ import annotations

import itertools
import threading
from typing import Any

import msgspec

from torture.halfway_roles import PLACES, Order
from torture.judge import BROKEN, Judge
from torture.log import read_log
from torture.nest import Nest, Worker
from torture.paused import Life as Driver
from torture.paused_roles import PROJECT
from torture.trial import Plan, Tally, Trial, Twin, Verdict

__all__ = ["TRIAL", "run"]

KILLS = 400
QUIET = 40
"""Resumes whose sender dies in a quiet store, where only the paused driver itself is left to execute them."""
CONTROLLERS = 3
PARTS: dict[str, tuple[str, ...]] = {
    "only-the-sender-executes": ("storm",),
    "mute-bell-and-slow-net": ("quiet",),
    "execute-again-and-again": ("storm",),
}
"""A twin runs only through the part that it concerns."""
KINDS = ("lost", "told otherwise", "nobody came", *BROKEN, "audit problems")
SOON = 2.0
"""Seconds after which the driver must go on: it looks twice a second."""
_PATIENCE = 120.0


class Diary:
    """What all controllers together said. Filled by the threads that hear them."""

    def __init__(self) -> None:
        self.orders: dict[str, Order] = {}
        self.acknowledged: set[str] = set()
        self.done: dict[str, dict[str, Any]] = {}
        self.deaths: list[str] = []


class Life:
    """One controller, from its start to its death."""

    def __init__(
        self, nest: Nest, diary: Diary, place: str, after: int, orders: list[Order], *, is_busy: bool = True
    ) -> None:
        self._diary = diary
        self._mine: list[str] = []
        self.place = place
        self.is_ready = threading.Event()
        self.is_over = threading.Event()
        """It is about to die, or has done all that it was told to."""
        self.worker: Worker = nest.start(
            "torture.halfway_roles:controller",
            listen=self._hear,
            store=str(nest.store),
            place=place,
            after=after,
            orders=orders,
            is_busy=is_busy,
        )

    def undone(self) -> list[Order]:
        """Return what it began and heard no RESULT of."""
        return [self._diary.orders[name] for name in self._mine if name not in self._diary.done]

    def _hear(self, message: dict[str, Any]) -> None:
        diary = self._diary
        if "do" in message:
            order = msgspec.convert(message["do"], Order)
            diary.orders[order.request_id] = order
            self._mine.append(order.request_id)
        elif "acknowledged" in message:
            diary.acknowledged.add(message["acknowledged"])
        elif "done" in message:
            diary.done[message["done"]] = message["payload"]
        elif "dies" in message:
            diary.deaths.append(message["dies"])
            self.is_over.set()
        elif "ready" in message:
            self.is_ready.set()
        else:
            self.is_over.set()


def run(plan: Plan) -> Verdict:
    """Kill controllers everywhere, then compare their diary with the log."""
    tally = Tally(KINDS)
    diary = Diary()
    with Nest(plan.twin, in_memory=True) as nest:
        parts = PARTS.get(plan.twin, ("quiet", "storm"))
        if "quiet" in parts:
            _quiet(plan, tally, nest, diary)
        if "storm" in parts:
            _storm(plan, tally, nest, diary)
        # What the last ones left, whoever only looks has executed.
        nest.start("torture.halfway_roles:visitor", store=str(nest.store)).hear()
        log = read_log(nest, PROJECT)
    judge = Judge(tally).hear_all(log.entries)
    for problem in log.problems:
        tally.fault("audit problems", problem)
    _compare(tally, judge, diary)
    kills = plan.count(KILLS, 20)
    tally.require("kills", kills)
    tally.require("RESULTs heard", kills)
    tally.require("executed", len(judge.requests) * 6 // 10)
    for name in ("killed at random", "sent again", "given up after the ACK", "finished by others"):
        tally.require(name)
    for place in PLACES:
        tally.require(f"killed {place}")
    tally.require("resumed by the driver itself", plan.count(QUIET, 2))
    return tally.verdict()


def _storm(plan: Plan, tally: Tally, nest: Nest, diary: Diary) -> None:
    """Kill controllers of driven runs, again and again."""
    drivers = nest.start("torture.halfway_roles:drivers", store=str(nest.store))
    drivers.hear()
    chance = plan.chance()
    kills = plan.count(KILLS, 20)

    places = itertools.cycle(("", *PLACES, ""))

    def begin(orders: list[Order]) -> Life:
        return Life(nest, diary, next(places), chance.randint(0, 5), orders)

    lives = [begin([]) for _ in range(CONTROLLERS)]
    for number in range(kills):
        place = number % CONTROLLERS
        victim = lives[place]
        victim.is_ready.wait(_PATIENCE)
        # One in three waits for its death from outside, the others see to it themselves.
        victim.is_over.wait(_PATIENCE if victim.place else chance.uniform(0, 0.05))
        victim.worker.kill()
        tally.add("kills")
        undone = victim.undone()
        is_again = chance.random() < 0.5
        tally.add("sent again", len(undone) if is_again else 0)
        given_up = [order for order in undone if not is_again and order.request_id in diary.acknowledged]
        tally.add("given up after the ACK", len(given_up))
        lives[place] = begin(undone if is_again else [])
        if number % 100 == 99:
            plan.progress(f"{number + 1} of {kills} kills, {len(diary.done):,} RESULTs")
    for life in lives:
        life.worker.kill()
    drivers.kill()
    for where in PLACES:
        tally.add(f"killed {where}", diary.deaths.count(where))
    tally.add("killed at random", tally.counts["kills"] - len(diary.deaths))


def _quiet(plan: Plan, tally: Tally, nest: Nest, diary: Diary) -> None:
    """Nobody but a paused driver is there when the sender of its resume dies between ACK and RESULT."""
    driver = Driver(nest, "loop-quiet", nest.folder / "ledger", _PATIENCE)
    driver.start()
    for number in range(plan.count(QUIET, 2)):
        has_come = _resume_halfway(nest, diary, driver, number)
        tally.add("resumed by the driver itself", has_come)
        tally.check(has_come, "nobody came", number)
        if not has_come:
            break
    driver.kill()


def _resume_halfway(nest: Nest, diary: Diary, driver: Driver, number: int) -> bool:
    for command, place in (("pause", ""), ("resume", PLACES[2])):
        order = Order(f"quiet-{command}-{number}", command, "loop-quiet")
        life = Life(nest, diary, place, 0, [order], is_busy=False)
        life.is_over.wait(_PATIENCE)
        life.worker.kill()
    # Asleep as it is, it has begun nothing since the pause but what it was in the middle of.
    turns = driver.turns
    return driver.wait_for(lambda: driver.turns > turns, SOON)


def _compare(tally: Tally, judge: Judge, diary: Diary) -> None:
    for request_id in diary.acknowledged:
        request = judge.requests.get(request_id)
        is_kept = request is not None and request.is_acknowledged
        tally.check(is_kept, "lost", diary.orders[request_id])
        tally.add("finished by others", request_id not in diary.done)
    for request_id, payload in diary.done.items():
        tally.add("RESULTs heard")
        request = judge.requests.get(request_id)
        is_same = request is not None and request.result == payload
        tally.check(
            is_same, "told otherwise", (diary.orders[request_id], payload, request and request.result)
        )
    for request in judge.requests.values():
        tally.add("executed", request.result.get("status") == "success")


TRIAL = Trial(
    "halfway",
    "a controller killed between its ACK and its RESULT leaves a command that whoever comes next executes, once",
    run,
    (
        Twin(
            "only-the-sender-executes",
            "whoever comes next executes what was accepted",
            "without RESULT",
            0.05,
        ),
        Twin("mute-bell-and-slow-net", "a waiting driver looks for what was accepted", "nobody came", 0.05),
        Twin("execute-again-and-again", "a control that has its RESULT is done with", "out of order", 0.05),
    ),
)
