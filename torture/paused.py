"""Pause, kill, restart: a paused run begins nothing, stays paused whoever dies, and never has two drivers.

A real driver keeps a ledger of its work and is killed at any moment, a controller pauses, escalates and resumes around
that moment, and the next driver takes the run over. Then ledger, log and STATE must tell one story, number by number.
"""

from __future__ import annotations

import itertools
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

from torture.judge import BROKEN, Judge
from torture.log import Entry, read_log
from torture.nest import Nest, Worker
from torture.paused_roles import PROJECT
from torture.trial import Plan, Tally, Trial, Twin, Verdict

__all__ = ["TRIAL", "run"]

CYCLES = 500
CYCLES_A_RUN = 50
KINDS = (
    "not paused after the restart",
    "worked without leave",
    "taken from a living driver",
    "never went on",
    "wrong replies",
    *BROKEN,
    "audit problems",
)
_PATIENCE = 10.0
_LITTLE_PATIENCE = 1.5
"""For twins: they are meant to hang."""
_LONGEST_WAIT = 0.012
"""Seconds between what is done to a driver, at most: about two iterations."""


class Life:
    """One driver, from its start to its death."""

    def __init__(self, nest: Nest, run_id: str, ledger: Path, patience: float) -> None:
        self._patience = patience
        self.status = ""
        self.refused = ""
        self.turns = 0
        self.is_over = False
        self._news = threading.Condition()
        setting = {"store": str(nest.store), "run_id": run_id, "ledger": str(ledger)}
        self.worker = nest.start("torture.paused_roles:driver", listen=self._hear, **setting)

    def _hear(self, message: dict[str, Any]) -> None:
        with self._news:
            self.status = message.get("started", self.status)
            self.turns += "begun" in message
            self.refused = message.get("refused", self.refused)
            self.is_over = self.is_over or bool({"refused", "over"} & message.keys())
            self._news.notify_all()

    def wait_for(self, has_come: Callable[[], bool]) -> bool:
        """Wait until something is so; say whether it came to be."""
        with self._news:
            return self._news.wait_for(lambda: has_come() or self.worker.is_gone, self._patience) and has_come()

    def start(self) -> bool:
        """Wait until it drives, or was told that it may not."""
        return self.wait_for(lambda: bool(self.status or self.refused))


class Stage:
    """One run, its present driver, and what is done to both."""

    def __init__(
        self, tally: Tally, nest: Nest, controller: Worker, number: int, *, patience: float
    ) -> None:
        self.patience = patience
        self.tally = tally
        self.nest = nest
        self.controller = controller
        self.run_id = f"loop-{number}-mill"
        self.ledger = nest.folder / f"ledger-{number}"
        self.models = itertools.cycle(("opus", "haiku"))
        self.is_lost = False
        """Nothing more can be tried on it."""
        self.life = self.drive()

    def _start_driver(self) -> Life:
        return Life(self.nest, self.run_id, self.ledger, self.patience)

    def drive(self) -> Life:
        """Start a driver that must get the run."""
        life = self._start_driver()
        is_driving = life.start() and life.status in ("running", "paused")
        self.tally.check(is_driving, "never went on", (self.run_id, life.status, life.refused, life.worker.error))
        self.is_lost = not is_driving
        return life

    def order(self, command: str, after: float = 0.0) -> None:
        """Have a command sent a little later."""
        model = next(self.models) if command == "escalate" else None
        self.controller.say(run_id=self.run_id, command=command, after=after, model=model)

    def check_told(self, command: str) -> None:
        """The command that was ordered must have succeeded."""
        told = self.controller.hear()["told"]
        self.tally.add(f"{command}s", told == "success")
        self.tally.check(told == "success", "wrong replies", (self.run_id, command, told))

    def kill(self) -> None:
        """Kill the driver."""
        self.life.worker.kill()
        self.tally.add("kills")

    def cycle(self, chance: Random, number: int) -> None:
        """Pause and kill in any order, restart, look, resume."""
        self.order("pause", chance.uniform(0, _LONGEST_WAIT))
        time.sleep(chance.uniform(0, _LONGEST_WAIT))
        self.kill()
        self.check_told("pause")
        if chance.random() < 0.3:
            self.order("escalate")
            self.check_told("escalate")
        self.life = self.drive()
        while True:
            self.tally.check(self.life.status == "paused", "not paused after the restart", self.life.status)
            self.tally.add("restarts of a paused run", self.life.status == "paused")
            if number % 5 == 1:
                self._rival()
            if chance.random() > 0.2:
                break
            time.sleep(chance.uniform(0, _LONGEST_WAIT))
            self.kill()
            self.life = self.drive()
        if number % 10 == 3:
            self._replace_by_force()
        time.sleep(chance.uniform(0, _LONGEST_WAIT))
        self.tally.check(self.life.turns == 0, "begun while paused", (self.run_id, self.life.turns))
        self._resume(chance)
        if number % 10 == 7:
            self._replace_by_force()
            self._check_going("after a replacement")

    def _resume(self, chance: Random) -> None:
        self.order("resume", chance.uniform(0, _LONGEST_WAIT))
        if chance.random() < 0.2:
            time.sleep(chance.uniform(0, _LONGEST_WAIT))
            self.kill()
            self.life = self.drive()
        self.check_told("resume")
        self._check_going("after a resume")

    def _check_going(self, when: str) -> None:
        has_gone = self.life.wait_for(lambda: self.life.turns > 0)
        self.tally.check(has_gone, "never went on", (self.run_id, when, self.life.worker.error))
        self.is_lost = self.is_lost or not has_gone

    def _rival(self) -> None:
        """A second driver beside a living one."""
        rival = self._start_driver()
        is_refused = rival.start() and rival.refused == "run_taken"
        self.tally.add("second drivers refused", is_refused)
        self.tally.check(is_refused, "taken from a living driver", (self.run_id, rival.status, rival.refused))
        rival.worker.kill()

    def _replace_by_force(self) -> None:
        """Somebody clears the hold's file away: the next driver gets in, and the number on its fence decides."""
        for held in self.nest.store.parent.glob("*-hold-*"):
            held.unlink(missing_ok=True)
        replaced, self.life = self.life, self.drive()
        is_out = replaced.wait_for(lambda: replaced.is_over) and replaced.refused == "run_taken"
        self.tally.add("replaced drivers fenced off", is_out)
        self.tally.check(is_out, "two drivers at once", (self.run_id, "the first drives on", replaced.refused))
        self.is_lost = self.is_lost or not is_out
        replaced.worker.kill()

    def end(self) -> None:
        """Cancel the run; its driver ends by itself, and another has nothing to do."""
        if self.is_lost:
            self.life.worker.kill()
            return
        self.order("cancel")
        self.check_told("cancel")
        for life in (self.life, self._start_driver()):
            is_over = life.wait_for(lambda life=life: life.is_over)  # type: ignore[misc]  # bound at once
            self.tally.check(is_over and not life.refused, "never went on", (self.run_id, "after its end"))
            self.tally.check(life is self.life or life.turns == 0, "after the end", (self.run_id, life.turns))
            life.worker.kill()


def run(plan: Plan) -> Verdict:
    """Go through the cycles and compare ledger, log and topics."""
    tally = Tally(KINDS)
    chance = plan.chance()
    cycles = plan.count(CYCLES, 10)
    patience = _LITTLE_PATIENCE if plan.twin else _PATIENCE
    stages: list[Stage] = []
    with Nest(plan.twin, in_memory=True) as nest:
        controller = nest.start("torture.paused_roles:controller", store=str(nest.store))
        for number in range(cycles):
            if number % CYCLES_A_RUN == 0:
                if stages:
                    stages[-1].end()
                stages.append(Stage(tally, nest, controller, len(stages), patience=patience))
                plan.progress(f"{number} of {cycles} cycles")
            stages[-1].cycle(chance, number)
            tally.add("cycles")
            if stages[-1].is_lost:
                break
        stages[-1].end()
        log = read_log(nest, PROJECT)
        for stage in stages:
            _compare(tally, log.entries, stage.run_id, stage.ledger)
    Judge(tally).hear_all(log.entries)
    for problem in log.problems:
        tally.fault("audit problems", problem)
    for name in ("cycles", "kills", "pauses", "resumes", "restarts of a paused run", "iterations worked"):
        tally.require(name, cycles)
    for name in ("escalates", "begun again", "second drivers refused", "replaced drivers fenced off"):
        tally.require(name)
    return tally.verdict()


def _compare(tally: Tally, entries: list[Entry], run_id: str, ledger: Path) -> None:
    """Each line of work must be an iteration that the log let begin, for the driver that had the run then."""
    drivers = _drivers(entries, run_id)
    seen: Counter[int] = Counter()
    for line in ledger.read_text().splitlines():
        word, *parts = line.split()
        if word != "begin":
            continue
        number, attempt, sequence, pid = map(int, parts[:4])
        tally.add("iterations worked")
        begun = entries[sequence - 1]
        is_allowed = (begun.type, begun.subject) == ("run.turn_begun", run_id) and (
            (begun.body["number"], begun.body["attempt"], begun.message["stack"][-1]["model"])
            == (number, attempt, parts[4])
        )
        tally.check(is_allowed, "worked without leave", (line, begun.type))
        seen[sequence] += 1
        tally.check(seen[sequence] == 1, "worked without leave", (line, "twice"))
        driver = next(name for since, name in reversed(drivers) if since <= sequence)
        tally.check(driver.endswith(f":{pid}"), "two drivers at once", (line, driver))


def _drivers(entries: list[Entry], run_id: str) -> list[tuple[int, str]]:
    return [
        (entry.sequence, entry.body["driver"])
        for entry in entries
        if entry.type in ("run.started", "run.taken") and entry.subject == run_id
    ]


TRIAL = Trial(
    "paused",
    "a paused run begins nothing and stays paused whoever is killed; its driver is one, and each turn is begun once",
    run,
    (
        Twin("begin-while-paused", "an iteration begins only while the run is running", "begun while paused", 0.02),
        Twin("forget-pause-at-takeover", "a new driver finds the pause", "not paused after the restart", 0.02),
        Twin("work-without-leave", "a driver works on what the record let begin", "worked without leave", 0.02),
        Twin("drive-without-hold", "a living driver holds its run", "taken from a living driver", 0.02),
        Twin("drive-without-fence", "a replaced driver is fenced off", "two drivers at once", 0.02),
    ),
)
