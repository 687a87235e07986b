"""One of four processes has a clock that is seconds to years off: for the others nothing ends early, and nothing is frozen.

On a file every process judges by its machine's clock, so the stepped one writes first and the others judge behind it. On a
database nobody's clock counts but the database's: there the stepped one goes on writing while the others wait.
"""

from __future__ import annotations

import time
from contextlib import nullcontext
from random import Random
from typing import Any

from torture.clocks_roles import ASK_SECONDS, LATE_SECONDS, LIFE_SECONDS
from torture.look import look
from torture.nest import Nest, Worker
from torture.postgres_ground import Ground
from torture.trial import Plan, Tally, Trial, Twin, Verdict

__all__ = ["STEPS", "TRIAL", "run"]

STEPS = 100
"""Of each store; half of them ahead and half behind."""
ASKS = 4
"""Opened behind each step, by one process, and waited for by another."""
_YEARS = 10 * 365 * 86_400.0
_GOOD = 3
KINDS = (
    "decided early",
    "decided late",
    "wrong time left",
    "tokens or receipts that ended early",
    "tokens or receipts that ended late",
    "claims frozen",
    "out of order",
    "audit problems",
)


def run(plan: Plan) -> Verdict:
    """Step the clock of one process before every round, on both stores."""
    tally = Tally(KINDS)
    for is_database in (False, True):
        _try(plan, tally, is_database=is_database)
    steps = 2 * plan.count(STEPS, 4)
    for name, least in (("steps", steps), ("asks", steps * ASKS), ("tokens and receipts", 2 * steps)):
        tally.require(name, least)
    tally.require("events dated ahead", 1)
    return tally.verdict()


def _try(plan: Plan, tally: Tally, *, is_database: bool) -> None:
    chance = plan.chance()
    steps = plan.count(STEPS, 4)
    with Ground() if is_database else nullcontext() as ground, Nest(plan.twin, in_memory=True) as nest:
        store = str(nest.store) if ground is None else ground.url
        good = [nest.start("torture.clocks_roles:worker", store=store, name=f"w{n}") for n in range(_GOOD)]
        stepped = nest.start("torture.clocks_roles:worker", store=store, name="stepped")
        for number in range(steps):
            seconds = _step(chance, number)
            _round(tally, good, stepped, seconds, is_database=is_database)
            tally.add("steps")
            if plan.twin and any(tally.verdict().faults.values()):
                break  # it has shown itself, and what is frozen takes long
            plan.progress(f"{number + 1} of {steps} steps on {'PostgreSQL' if is_database else 'SQLite'}")
        _call(stepped, "step", seconds=0.0)
        found = _call(good[0], "history")
        tally.add("events dated ahead", found["ahead"])
        tally.check(found["is_ordered"], "out of order", found)
        for problem in look(nest, store).problems:
            tally.fault("audit problems", problem)


def _step(chance: Random, number: int) -> float:
    """Return by how much the clock is off: in every size from a second to ten years, in turns ahead and behind."""
    size: float = _YEARS ** chance.random()
    return size if number % 2 == 0 else -size


def _round(tally: Tally, good: list[Worker], stepped: Worker, seconds: float, *, is_database: bool) -> None:
    opener, waiter, judge = good
    _call(stepped, "step", seconds=seconds)
    _call(stepped, "write")
    held = _call(stepped, "hold")["ask_id"]
    # Whoever claimed by a clock that is further off than a claim lasts holds nothing against the others.
    is_free = _call(judge, "claim", ask_id=held)["is_free"]
    is_off = not is_database and abs(seconds) > 1_000
    tally.check(is_free or not is_off, "claims frozen", seconds)
    _call(judge, "withdraw", ask_id=held)

    opened = _call(opener, "open", count=ASKS)
    granted = _call(opener, "grant")
    waiter.say(do="wait", asks=opened["asks"])
    left = _call(judge, "left", asks=opened["asks"])["left"]
    for each in left:
        tally.check(
            0 < each <= ASK_SECONDS or each <= 0 < opened["spent"], "wrong time left", (seconds, each)
        )
    fresh = _call(judge, "judge", **granted["first"])
    if is_database:
        _call(stepped, "write")
    elif seconds < 0:
        _call(stepped, "write")  # behind, it ends nothing of the others
    heard = waiter.hear()
    for end in heard["ends"]:
        tally.add("asks")
        tally.check(end["after"] >= ASK_SECONDS, "decided early", (seconds, end))
        tally.check(end["is_ended"] and end["after"] < LATE_SECONDS, "decided late", (seconds, end))
    time.sleep(max(0.0, granted["until"] - time.monotonic()))
    stale = _call(judge, "judge", **granted["second"])
    for name in ("token", "receipt"):
        tally.add("tokens and receipts")
        is_early = fresh["at"] < granted["since"] + LIFE_SECONDS and not fresh[name]
        tally.check(not is_early, "tokens or receipts that ended early", (seconds, name, fresh))
        tally.check(not stale[name], "tokens or receipts that ended late", (seconds, name, stale))


def _call(worker: Worker, do: str, **parts: Any) -> dict[str, Any]:
    worker.say(do=do, **parts)
    return worker.hear()


TRIAL = Trial(
    "clocks",
    "with one of four processes seconds to ten years off, nothing is decided early, late or out of order by the others",
    run,
    (
        Twin(
            "time-of-the-last-event", "the moment is the clock's, not the last event's", "decided late", 0.04
        ),
        Twin("time-of-the-host", "a database's own clock is the one that judges", "decided early", 0.04),
    ),
    share=0.04,
)
