"""Drivers, holders and timers in many processes on one database, killed and stopped: one at a time, and each deadline once.

A process that was stopped for longer than its lease wakes up in a world that went on without it. It must find out before
it does anything more. A dead one's right is taken over, and so is that of one of which nothing is heard.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any

from torture.judge import BROKEN, Judge
from torture.log import Entry, Log, read_log
from torture.nest import Nest, Worker
from torture.postgres_ground import Ground
from torture.postgres_leases_roles import PROJECT
from torture.trial import Plan, Tally, Trial, Twin, Verdict

__all__ = ["TRIAL", "run"]

FAULTS = 300
DEADLINES = 2_000
_CONTENDERS = 3
_TICKERS = 4
_LEASE = 0.6
"""Seconds; the real one is longer, and nothing else of it is changed."""
_STOPPED = (1.3, 2.2)
"""For so many leases a process is stopped."""
_PATIENCE, _TWIN_PATIENCE = 45.0, 2.0
_GROUPS = {
    "run-one": "driver",
    "run-two": "driver",
    "right-one": "holder",
    "right-two": "holder",
}
KINDS = (
    "two holders at once",
    "worked without leave",
    "never taken over",
    "expired twice",
    "left open",
    "troubles",
    *BROKEN,
    "audit problems",
)


class Group:
    """Some who want the same right, and which of them has it."""

    def __init__(self, tally: Tally, nest: Nest, url: str, name: str, role: str) -> None:
        self._tally = tally
        self._nest = nest
        self._setting: dict[str, Any] = {"url": url, "name": name, "lease": _LEASE}
        self.name = name
        self.is_run = role == "driver"
        self._role = f"torture.postgres_leases_roles:{role}"
        self.ledger = nest.folder / f"ledger-{name}"
        self.ledger.touch()
        self.fence = 0
        self.owner = 0
        """The pid of the last one who got it."""
        self._lock = threading.Condition()
        self.troubles: list[str] = []
        self.contenders = [self._start() for _ in range(_CONTENDERS)]

    def _start(self) -> Worker:
        pid: list[int] = []

        def hear(message: dict[str, Any]) -> None:
            with self._lock:
                if message.get("begun", 0) > self.fence:
                    while not pid:  # told before the trial knew its number
                        self._lock.wait(0.01)
                    self.fence, self.owner = message["begun"], pid[0]
                if "trouble" in message:
                    self.troubles.append(message["trouble"])
                self._tally.add("told that somebody else has it", message.get("lost") is not None)
                self._lock.notify_all()

        worker = self._nest.start(self._role, listen=hear, ledger=str(self.ledger), **self._setting)
        pid.append(worker.pid)
        return worker

    def wait_for_next(self, fence: int, seconds: float) -> bool:
        """Wait until somebody got it after this fence."""
        with self._lock:
            return self._lock.wait_for(lambda: self.fence > fence, seconds)

    def pick(self, chance: Random) -> Worker:
        """Return who is to suffer: mostly the one who has it."""
        owners = [worker for worker in self.contenders if worker.pid == self.owner]
        return owners[0] if owners and chance.random() < 0.8 else chance.choice(self.contenders)

    def kill(self, worker: Worker) -> None:
        """Kill one; another one comes."""
        worker.kill()
        self.contenders[self.contenders.index(worker)] = self._start()


def run(plan: Plan) -> Verdict:
    """Kill and stop them, and compare ledgers, log and rows."""
    tally = Tally(KINDS)
    chance = plan.chance()
    faults = plan.count(FAULTS, 8)
    patience = _TWIN_PATIENCE if plan.twin else _PATIENCE
    with Ground() as ground, Nest(plan.twin, in_memory=True) as nest:
        share = plan.count(DEADLINES, 20) // _TICKERS
        tickers = [
            nest.start("torture.postgres_leases_roles:ticker", url=ground.url, count=share)
            for _ in range(_TICKERS)
        ]
        groups = [Group(tally, nest, ground.url, name, role) for name, role in _GROUPS.items()]
        for group in groups:
            tally.check(group.wait_for_next(0, _PATIENCE), "never taken over", (group.name, "at the start"))
        while tally.counts["faults"] < faults:
            _suffer(tally, groups, chance, patience)
            if tally.counts["faults"] % 40 < len(groups):
                plan.progress(f"{tally.counts['faults']} of {faults} faults")
        opened = _rest(tickers)
        for group in groups:
            for worker in group.contenders:
                worker.kill()
            for trouble in group.troubles:
                tally.fault("troubles", (group.name, trouble))
        log = read_log(nest, PROJECT, store=ground.url)
        for group in groups:
            (_compare_run if group.is_run else _compare_right)(tally, group.ledger, log.entries, group.name)
    _compare_deadlines(tally, log, opened)
    Judge(tally).hear_all(log.entries)
    for problem in log.problems:
        tally.fault("audit problems", problem)
    tally.require("faults", faults)
    for name in ("kills", "stops longer than a lease"):
        tally.require(name, faults // 4)
    for name in ("takeovers", "iterations worked", "moments held"):
        tally.require(name, faults // 3)
    tally.require("deadlines", round(0.6 * share * _TICKERS))
    return tally.verdict()


def _suffer(tally: Tally, groups: list[Group], chance: Random, patience: float) -> None:
    """Do something to one of each group, and wait until each right is had by somebody again."""
    stopped: list[Worker] = []
    struck: list[tuple[Group, int]] = []
    for group in groups:
        worker, fence = group.pick(chance), group.fence
        if worker.pid == group.owner:
            struck.append((group, fence))
        number = tally.counts["faults"]
        tally.add("faults")
        if (number + number // len(groups)) % 2:
            tally.add("stops longer than a lease")
            with suppress(ProcessLookupError):
                os.kill(worker.pid, signal.SIGSTOP)
            stopped.append(worker)
        else:
            tally.add("kills")
            group.kill(worker)
    # Counted from the last stop, and until the others have what was theirs: a lease that nobody else has taken may go
    # on. A driver that was stopped in the middle of a transaction holds all others up, until the server ends it.
    time.sleep(_LEASE * chance.uniform(*_STOPPED))
    for group, fence in struck:
        is_taken = group.wait_for_next(fence, patience)
        tally.add("takeovers", is_taken)
        tally.check(is_taken, "never taken over", (group.name, fence))
    for worker in stopped:
        with suppress(ProcessLookupError):
            os.kill(worker.pid, signal.SIGCONT)


def _rest(tickers: list[Worker]) -> set[str]:
    opened: set[str] = set()
    for ticker in tickers:
        while "rested" not in (heard := ticker.hear(_PATIENCE)):
            opened.add(heard["opened"])
    return opened


def _lines_of(ledger: Path) -> list[str]:
    """Return what was written down; a last line that death cut short was not."""
    return ledger.read_text().rpartition("\n")[0].splitlines()


def _compare_right(tally: Tally, ledger: Path, entries: list[Entry], name: str) -> None:
    """In the order of time the fence never falls, and each fence has one holder."""
    del entries
    lines = sorted(tuple(map(int, line.split())) for line in _lines_of(ledger))
    highest = 0
    owners: dict[int, int] = {}
    for moment, fence, pid in lines:
        tally.add("moments held")
        is_alone = fence >= highest and owners.setdefault(fence, pid) == pid
        tally.check(is_alone, "two holders at once", (name, moment, fence, pid, highest))
        highest = max(highest, fence)


def _compare_run(tally: Tally, ledger: Path, entries: list[Entry], name: str) -> None:
    """Each line of work is an iteration that the log let begin, for the driver and the fence that it had then."""
    seen: Counter[int] = Counter()
    holders: dict[int, str] = {}
    fences: dict[int, int] = {}
    fence = 0
    for entry in entries:
        if entry.subject == name:
            if entry.type in ("run.started", "run.taken"):
                fence = entry.body.get("fence", 1)
                holders[fence] = entry.body["driver"]
            fences[entry.sequence] = fence
    for line in _lines_of(ledger):
        number, attempt, sequence, pid, own = map(int, line.split())
        tally.add("iterations worked")
        begun = entries[sequence - 1]
        is_allowed = (begun.type, begun.subject) == ("run.turn_begun", name) and (
            (begun.body["number"], begun.body["attempt"]) == (number, attempt)
        )
        seen[sequence] += 1
        tally.check(is_allowed and seen[sequence] == 1, "worked without leave", (name, line))
        is_alone = fences.get(sequence) == own and holders.get(own, "").endswith(f":{pid}")
        tally.check(is_alone, "two drivers at once", (name, line, fences.get(sequence), holders.get(own)))


def _compare_deadlines(tally: Tally, log: Log, opened: set[str]) -> None:
    expired: Counter[str] = Counter(entry.subject for entry in log.entries if entry.type == "ask.expired")
    asked = {entry.subject for entry in log.entries if entry.type == "ask.opened"}
    tally.check(opened <= asked, "left open", sorted(opened - asked)[:3])
    for ask_id in asked:
        tally.add("deadlines")
        tally.check(expired[ask_id] <= 1, "expired twice", (ask_id, expired[ask_id]))
        tally.check(expired[ask_id] >= 1, "left open", ask_id)


TRIAL = Trial(
    "pg-leases",
    "drivers and holders killed or stopped for longer than their lease: one at a time, taken over, each deadline once",
    run,
    (
        Twin("lease-for-ever", "a lease is not believed after its time", "two holders at once", 0.04),
        Twin("take-from-the-living", "a right that somebody has is not given", "two holders at once", 0.04),
        Twin("lease-for-ever-without-fence", "a stopped driver is fenced off", "two drivers at once", 0.06),
    ),
    share=0.02,
)
