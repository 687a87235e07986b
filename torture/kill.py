"""kill -9 with a diary: whatever is killed, what was acknowledged is there, once, and everybody wakes."""

from __future__ import annotations

import threading
import time
from collections import Counter
from typing import Any

import msgspec

from torture.kill_roles import Order
from torture.look import Look, Row, look
from torture.nest import Nest, Worker
from torture.trial import Plan, Tally, Trial, Twin, Verdict

__all__ = ["TRIAL", "run"]

KILLS = 1_000
SLEEPING = 200
ROLES = ("asker", "asker", "answerer", "answerer", "keeper")
_REST_SECONDS = 90.0


class Diary:
    """What all lives together said. Filled by the threads that hear them."""

    def __init__(self) -> None:
        self.orders: dict[str, Order] = {}
        self.done: dict[str, Row] = {}
        self.refused: dict[str, tuple[str, Row | None]] = {}
        self.woken: dict[str, Row] = {}
        self.unwoken: Counter[str] = Counter()
        self.troubles: list[str] = []


class Life:
    """One worker of a role, what it left undone, and for which asks it slept."""

    def __init__(self, nest: Nest, diary: Diary, role: str, number: int, before: Life | None = None) -> None:
        self.role = role
        self.diary = diary
        self._mine: dict[str, Order] = {}
        self._asleep: dict[str, str] = {}
        self.is_ready = threading.Event()
        self.is_rested = threading.Event()
        setting: dict[str, Any] = {"store": str(nest.store), "name": f"{role}-{number}"}
        if role == "sleeper":
            setting["count"] = number
        else:
            setting["again"] = before.undone() if before else []
        if role == "asker":
            setting["sleeping"] = list(before.asleep().items()) if before else []
            self._asleep.update(setting["sleeping"])
        self.worker: Worker = nest.start(f"torture.kill_roles:{role}", listen=self._hear, **setting)

    def undone(self) -> list[Order]:
        """Return what was sent and neither acknowledged nor refused."""
        settled = self.diary.done.keys() | self.diary.refused.keys()
        return [order for command_id, order in self._mine.items() if command_id not in settled]

    def asleep(self) -> dict[str, str]:
        """Return the acknowledged asks that nobody was woken for yet, each with its project."""
        return {ask: project for ask, project in self._asleep.items() if ask not in self.diary.woken}

    def _hear(self, message: dict[str, Any]) -> None:
        diary = self.diary
        row = msgspec.convert(message.get("row"), Row | None)
        if "do" in message:
            order = msgspec.convert(message["do"], Order)
            self._mine[order.command_id] = diary.orders[order.command_id] = order
        elif "done" in message and row is not None:
            diary.done[message["done"]] = row
            order = diary.orders[message["done"]]
            if order.what == "ask" and self.role == "asker":
                self._asleep[order.ask_id] = order.project
        elif "refused" in message:
            diary.refused[message["refused"]] = (message["code"], row)
        elif "woken" in message and row is not None:
            diary.woken[message["woken"]] = row
        elif "woken" in message:
            diary.unwoken[message["woken"]] += 1
        elif "trouble" in message:
            diary.troubles.append(message["trouble"])
        if "ready" in message:
            self.is_ready.set()
        if "rested" in message:
            self.is_rested.set()


def run(plan: Plan) -> Verdict:
    """Kill workers at random moments and compare the diary with the store."""
    kinds = (
        "lost",
        "twice",
        "conflicts with oneself",
        "wrong replies",
        "unwoken",
        "store errors",
        "audit problems",
    )
    tally = Tally(kinds)
    diary = Diary()
    with Nest(plan.twin) as nest:
        sleeper = Life(nest, diary, "sleeper", plan.count(SLEEPING, 10))
        sleeper.is_ready.wait(60)
        lives = [Life(nest, diary, role, number) for number, role in enumerate(ROLES)]
        _storm(plan, tally, nest, diary, lives)
        # Those who ask stop first, so that those who answer can empty the store.
        for life in [*(life for life in lives if life.role != "answerer"), sleeper]:
            life.worker.say(rest=True)
            tally.check(
                life.is_rested.wait(_REST_SECONDS), "unwoken", f"{life.role} never rested {life.worker.error}"
            )
        for life in [*lives, sleeper]:
            life.worker.kill()
        _compare(tally, diary, look(nest))
    tally.require("kills", plan.count(KILLS))
    tally.require("answers acknowledged", plan.count(KILLS))
    tally.require("asks woken for", plan.count(SLEEPING, 10))
    for role in set(ROLES):
        tally.require(f"{role} killed")
    tally.require("killed in mid-command")
    # A storm in which most commands die proves little about those that lived.
    tally.add("commands settled", len(diary.done) + len(diary.refused))
    tally.require("commands settled", len(diary.orders) * 6 // 10)
    tally.require("sent again")
    return tally.verdict()


def _storm(plan: Plan, tally: Tally, nest: Nest, diary: Diary, lives: list[Life]) -> None:
    chance = plan.chance()
    kills = plan.count(KILLS)
    for number in range(kills):
        place = chance.randrange(len(lives))
        victim = lives[place]
        # Some die while they still open the store.
        if chance.random() > 0.1:
            victim.is_ready.wait(30)
            time.sleep(chance.uniform(0, 0.08))
        victim.worker.kill()
        undone = victim.undone()
        tally.add("kills")
        tally.add(f"{victim.role} killed")
        tally.add("killed in mid-command", bool(undone))
        tally.add("sent again", len(undone))
        lives[place] = Life(nest, diary, victim.role, len(ROLES) + number, victim)
        if number % 100 == 99:
            plan.progress(f"{number + 1} of {kills} kills, {len(diary.done):,} acknowledged")


def _compare(tally: Tally, diary: Diary, found: Look) -> None:
    for command_id, row in diary.done.items():
        order = diary.orders[command_id]
        tally.add("asks acknowledged" if order.what == "ask" else "answers acknowledged")
        stored = found.rows.get(order.ask_id)
        if stored is None or (order.what != "ask" and stored.command_id != command_id):
            tally.fault("lost", order)
        elif order.what != "ask":
            tally.check(stored == row, "wrong replies", (row, stored))
        else:
            numbers = [event.sequence for event in found.events[order.ask_id]]
            tally.check(row.sequence in numbers, "wrong replies", (row, numbers))
    for command_id, (code, winner) in diary.refused.items():
        tally.add("told who was first")
        tally.check(code == "conflict", "store errors", (code, diary.orders[command_id]))
        is_own = winner is not None and winner.command_id == command_id
        tally.check(not is_own, "conflicts with oneself", diary.orders[command_id])
        tally.check(winner is None or winner == found.rows.get(winner.ask_id), "wrong replies", winner)
    for ask_id, events in found.events.items():
        opened = sum(event.type == "ask.opened" for event in events)
        tally.check(opened == 1 and len(found.endings(ask_id)) <= 1, "twice", events)
    ends = Counter(
        event.command_id for events in found.events.values() for event in events if event.command_id
    )
    for command_id, times in ends.items():
        tally.check(times == 1, "twice", (command_id, times))
    for ask_id, row in diary.woken.items():
        tally.add("asks woken for")
        tally.check(row == found.rows.get(ask_id), "wrong replies", (row, found.rows.get(ask_id)))
    for ask_id in diary.unwoken.keys() - diary.woken.keys():
        tally.fault("unwoken", ask_id)
    for trouble in diary.troubles:
        tally.fault("store errors", trouble)
    tally.add("events", sum(map(len, found.events.values())))
    for problem in found.problems:
        tally.fault("audit problems", problem)


TRIAL = Trial(
    "kill",
    "kill -9 of asker, answerer and whoever is in between loses nothing acknowledged and applies nothing twice",
    run,
    (
        Twin("acknowledge-before-commit", "the reply waits for the commit", "lost", 0.04),
        Twin(
            "forget-command-ids", "an ask remembers the command that ended it", "conflicts with oneself", 0.04
        ),
    ),
    share=0.015,
)
