"""One client for many threads, event loops and forked children; and a lock whose holder has stopped."""

from __future__ import annotations

import os
import signal
import time
from typing import Any

from torture.look import look
from torture.nest import Nest, Worker, WorkerLostError
from torture.trial import Plan, Tally, Trial, Twin, Verdict

__all__ = ["TRIAL", "run"]

COUNTS = {"threads": 64, "loops": 100, "forks": 40}
"""Threads, tasks in each of four loops, children."""
PARTS: dict[str, tuple[str, ...]] = {
    "wake-anyone": ("threads",),
    "share-after-fork": ("loops", "forks"),
    "wait-for-ever": (),
    "open-over-a-fork": (),
}
"""A twin runs only through the part that it concerns."""
ORPHANS = 60
STOPS = 3
STOPPED_SECONDS = 7.0
BUSY = (4.0, 6.9)
"""Seconds after which a caller must have been told that the store is busy."""
KINDS = (
    "others' answers",
    "unanswered",
    "lost",
    "busy too late or too soon",
    "changed though told busy",
    "reads held up",
    "not normal again",
    "audit problems",
)


def run(plan: Plan) -> Verdict:
    """Use one client in every way that threads, loops and forks allow, then stop the holder of the lock."""
    tally = Tally(KINDS)
    with Nest(plan.twin) as nest:
        person = nest.start("torture.crowd_roles:echo", twin="", store=str(nest.store))
        person.hear()
        parts = PARTS.get(plan.twin, tuple(COUNTS))
        patience = 2 if plan.twin else 20
        everyone = nest.start("torture.crowd_roles:crowd", store=str(nest.store), patience=patience)
        for what in parts:
            # Children come in several waves: each fork is a moment at which something may be held.
            waves = plan.count(5, 1) if what == "forks" else 1
            for wave in range(waves):
                count = max(4, plan.count(COUNTS[what], 4) // waves)
                _order(tally, everyone, what, f"{what}-{wave}", count)
        everyone.kill()
        person.kill()
        if plan.twin in ("", "open-over-a-fork"):
            _orphan(tally, nest, plan.count(ORPHANS, 3))
        for turn in range(plan.count(STOPS, 1) if plan.twin in ("", "wait-for-ever") else 0):
            plan.progress(f"stopping the holder of the lock, {turn + 1}")
            _stop(tally, nest)
        for problem in look(nest).problems:
            tally.fault("audit problems", problem)
    for what in ("threads", "loops", "forks"):
        tally.require(f"answers in {what}", 16)
    tally.require("orphans", plan.count(ORPHANS, 3))
    tally.require("told busy", 3)
    tally.require("stopped with the lock")
    return tally.verdict()


def _order(tally: Tally, everyone: Worker, what: str, name: str, count: int) -> None:
    everyone.say(what=what, name=name, count=count)
    try:
        told = everyone.hear(150)
    except WorkerLostError as error:
        tally.fault("unanswered", error)
        return
    for word, value in told["heard"]:
        tally.add(f"answers in {what}", value == word)
        if value.startswith("error"):
            tally.fault("unanswered", (word, value))
        else:
            tally.check(value == word, "others' answers", (word, value))
    tally.add("children", len(told["statuses"]))
    for status in told["statuses"]:
        tally.check(status == 0, "unanswered", (name, "a child ended with", status))


def _orphan(tally: Tally, nest: Nest, count: int) -> None:
    """Children whose parent leaves first, alone on a store of their own: nobody else keeps its files in place."""
    for number in range(count):
        folder = nest.folder / f"orphan-{number}"
        folder.mkdir()
        worker = nest.start("torture.crowd_roles:orphanage", store=str(folder / "x.db"))
        worker.say(leaves=("closes", "exits", "vanishes")[number % 3])
        keys = worker.hear()["keys"]
        worker.kill()
        found = {row.key for row in look(nest, folder / "x.db").rows.values()}
        tally.add("orphans")
        tally.add("asks of orphans and their parents", len(keys))
        tally.check(len(keys) == 7, "unanswered", (number, keys))
        for key in keys:
            tally.check(key in found, "lost", (number, key))


def _stop(tally: Tally, nest: Nest) -> None:
    holder = nest.start("torture.crowd_roles:holder", twin="", store=str(nest.store))
    bystander = nest.start("torture.crowd_roles:bystander", store=str(nest.store))
    ids = bystander.hear()["ids"]
    holder.say(stop=True)
    holder.hear()
    _until_stopped(holder.pid)
    tally.add("stopped with the lock")
    began = time.monotonic()
    bystander.say(order="read")
    _check_read(tally, bystander.hear())
    bystander.say(order="answer")
    # The stop must outlast the patience of those who wait, and the answer must be given before it ends.
    time.sleep(max(0.0, STOPPED_SECONDS - (time.monotonic() - began)))
    os.kill(holder.pid, signal.SIGCONT)
    tally.check("done" in holder.hear(), "not normal again", "the holder itself")
    for told in bystander.hear()["found"]:
        is_right = told["value"] == "error store_busy" and BUSY[0] <= told["seconds"] <= BUSY[1]
        tally.add("told busy", told["value"] == "error store_busy")
        tally.check(is_right, "busy too late or too soon", told)
    found = look(nest)
    for ask_id in ids:
        tally.check(found.rows[ask_id].state == "open", "changed though told busy", found.rows[ask_id])
    tally.check(ids[3] not in {row.key for row in found.rows.values()}, "changed though told busy", "an ask")
    bystander.say(order="answer")
    for told in bystander.hear()["found"]:
        is_normal = told["value"] in ("answered", "open") and told["seconds"] < 2
        tally.check(is_normal, "not normal again", told)
    for worker in (holder, bystander):
        worker.kill()


def _check_read(tally: Tally, told: dict[str, Any]) -> None:
    for reading in told["found"]:
        is_prompt = not reading["value"].startswith("error") and reading["seconds"] < 1
        tally.check(is_prompt, "reads held up", reading)


def _until_stopped(pid: int) -> None:
    """Return when the kernel says that the process has stopped; where it does not tell, soon."""
    until = time.monotonic() + 5
    while time.monotonic() < until:
        try:
            with open(f"/proc/{pid}/stat", encoding="utf-8") as stat:  # noqa: PTH123 - one line of the kernel's
                if stat.read().rpartition(")")[2].split()[0] == "T":
                    return
        except OSError:
            time.sleep(0.5)
            return
        time.sleep(0.001)


TRIAL = Trial(
    "crowd",
    "one client serves threads, event loops and forked children; a stopped holder of the lock leaves a plain busy",
    run,
    (
        Twin("wake-anyone", "a wait is woken by its own ask", "others' answers", 0.1),
        Twin("share-after-fork", "a forked child starts its hub anew", "unanswered", 0.1),
        Twin("open-over-a-fork", "no connection is open while a process forks", "lost", 0.1),
        Twin(
            "wait-for-ever",
            "a caller is told after five seconds that the store is busy",
            "busy too late or too soon",
            0.1,
        ),
    ),
)
