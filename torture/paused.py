"""Pause, kill, restart: a paused run begins nothing, stays paused whoever dies, and never has two drivers.

A real driver keeps a ledger of its work and is killed at any moment, a controller pauses, escalates and resumes around
that moment, and the next driver takes the run over. Then ledger, log and STATE must tell one story, number by number.
"""

from __future__ import annotations

import itertools
import os
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any

from torture.judge import BROKEN, Judge
from torture.log import Entry, read_log
from torture.nest import Nest, Worker
from torture.paused_loop import is_stubborn
from torture.paused_roles import PROJECT
from torture.trial import Plan, Tally, Trial, Twin, Verdict

__all__ = ["TRIAL", "run"]

CYCLES = 500
CYCLES_A_RUN = 50
LOOP_CYCLES = 25
"""The same with `assent loop` itself, whose every start is a new interpreter's."""
KINDS = (
    "not paused after the restart",
    "worked without leave",
    "not announced",
    "taken from a living driver",
    "never went on",
    "wrong replies",
    *BROKEN,
    "audit problems",
)
_PATIENCE = 120.0
_LITTLE_PATIENCE = 1.0
"""For twins: they are meant to hang."""
_DRIVER = ("torture.paused_roles:driver", 0.012, 0.012)
_LOOP = ("torture.paused_loop:loop_driver", 0.06, 0.7)
"""Who drives; the seconds between what is done to it, at most about two iterations; and those that a start takes."""


class Life:
    """One driver, from its start to its death."""

    def __init__(
        self, nest: Nest, run_id: str, ledger: Path, patience: float, role: str = _DRIVER[0]
    ) -> None:
        self._patience = patience
        self._is_program = role == _LOOP[0]
        self._pid = 0
        """Of the program that the worker started, if it is not the driver itself."""
        self.is_taken = False
        """It said to have taken the run over, and has begun nothing yet."""
        self.announced: list[tuple[int, int]] = []
        """Iterations that it said to have begun, each with its attempt."""
        self.status = ""
        self.refused = ""
        self.turns = 0
        self.is_over = False
        self._news = threading.Condition()
        self.worker = nest.start(
            role, listen=self._hear, store=str(nest.store), run_id=run_id, ledger=str(ledger)
        )

    def _hear(self, message: dict[str, Any]) -> None:
        with self._news:
            self.status = message.get("started", self.status)
            self._pid = message.get("pid", self._pid)
            self.turns += "begun" in message
            if "attempt" in message:
                self.announced.append((message["begun"], message["attempt"]))
            self.is_taken = self.is_taken or "taken" in message
            self.refused = message.get("refused", self.refused)
            self.is_over = self.is_over or bool({"refused", "over"} & message.keys())
            self._news.notify_all()

    def wait_for(self, has_come: Callable[[], bool], seconds: float | None = None) -> bool:
        """Wait until something is so; say whether it came to be."""
        patience = self._patience if seconds is None else seconds
        with self._news:
            return self._news.wait_for(lambda: has_come() or self.worker.is_gone, patience) and has_come()

    def start(self) -> bool:
        """Wait until it drives, or was told that it may not."""
        return self.wait_for(lambda: bool(self.status or self.is_over))

    def kill(self) -> None:
        """Kill it; return when it is dead and its last word is here."""
        if self._is_program:
            self.wait_for(lambda: bool(self._pid))
        if self._pid and not self.is_over:
            with suppress(ProcessLookupError):
                os.kill(self._pid, signal.SIGKILL)
            self.wait_for(lambda: self.is_over)
        self.worker.kill()


class Stage:
    """One run, its present driver, and what is done to both."""

    def __init__(
        self,
        tally: Tally,
        nest: Nest,
        controller: Worker,
        number: int,
        *,
        patience: float,
        driver: tuple[str, float, float] = _DRIVER,
    ) -> None:
        self.patience = patience
        self.role, self.longest_wait, self.longest_start = driver
        self.is_loop = driver == _LOOP
        self.lives: list[Life] = []
        self.tally = tally
        self.nest = nest
        self.controller = controller
        self.run_id = f"loop-{number}-mill"
        self.ledger = nest.folder / f"ledger-{number}"
        self.ledger.touch()
        self.models = itertools.cycle(("opus", "haiku"))
        self.is_lost = False
        """Nothing more can be tried on it."""
        self.life = self.drive()

    def _start_driver(self) -> Life:
        life = Life(self.nest, self.run_id, self.ledger, self.patience, self.role)
        self.lives.append(life)
        return life

    def drive(self) -> Life:
        """Start a driver that must get the run."""
        life = self._start_driver()
        is_driving = life.start() and life.status in ("running", "paused")
        self.tally.check(
            is_driving, "never went on", (self.run_id, life.status, life.refused, life.worker.error)
        )
        self.is_lost = self.is_lost or not is_driving
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
        self.life.kill()
        self.tally.add("kills")

    def cycle(self, chance: Random, number: int) -> None:
        """Pause and kill in any order, restart, look, resume."""
        is_hard = self.is_loop and number % 4 == 1
        if is_hard:
            # What this driver leaves running will not end by itself, and its successor will not live to end it.
            self.life.wait_for(lambda: any(is_stubborn(*turn) for turn in self.life.announced[-1:]))
        self.order("pause", chance.uniform(0, self.longest_wait))
        time.sleep(chance.uniform(0, self.longest_wait))
        self.kill()
        self.check_told("pause")
        if chance.random() < 0.3:
            self.order("escalate")
            self.check_told("escalate")
        if is_hard or chance.random() < 0.3:
            self.life = self._start_driver()
            if is_hard:
                self.life.wait_for(lambda: self.life.is_taken)
            else:
                time.sleep(chance.uniform(0, self.longest_start))
            self.kill()
            self.tally.add("killed while they started")
        self.life = self.drive()
        while True:
            self.tally.check(self.life.status == "paused", "not paused after the restart", self.life.status)
            self.tally.add("restarts of a paused run", self.life.status == "paused")
            if number % 5 == 1:
                self._rival()
            if chance.random() > 0.2:
                break
            time.sleep(chance.uniform(0, self.longest_wait))
            self.kill()
            self.life = self.drive()
        if number % 10 == 3:
            self._replace_by_force()
        time.sleep(chance.uniform(0, self.longest_wait))
        self.tally.check(self.life.turns == 0, "begun while paused", (self.run_id, self.life.turns))
        self._resume(chance)
        if number % 10 == 7 and not self.is_loop:
            self._replace_by_force()
            self._check_going("after a replacement")

    def _resume(self, chance: Random) -> None:
        self.order("resume", chance.uniform(0, self.longest_wait))
        if chance.random() < 0.2:
            time.sleep(chance.uniform(0, self.longest_wait))
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
        rival.kill()

    def _replace_by_force(self) -> None:
        """Somebody clears the hold's file away: the next driver gets in, and the number on its fence decides."""
        for held in self.nest.store.parent.glob("*-hold-*"):
            held.unlink(missing_ok=True)
        replaced, self.life = self.life, self.drive()
        is_out = replaced.wait_for(lambda: replaced.is_over) and replaced.refused == "run_taken"
        self.tally.add("replaced drivers fenced off", is_out)
        self.tally.check(
            is_out, "two drivers at once", (self.run_id, "the first drives on", replaced.refused)
        )
        self.is_lost = self.is_lost or not is_out
        replaced.kill()

    def end(self) -> None:
        """Cancel the run; its driver ends by itself, and another has nothing to do."""
        if self.is_lost:
            self.life.kill()
            return
        self.order("cancel")
        self.check_told("cancel")
        self._check_over(self.life)
        late = self._start_driver()
        self._check_over(late)
        self.tally.check(late.turns == 0, "after the end", (self.run_id, late.turns))

    def _check_over(self, life: Life) -> None:
        is_over = life.wait_for(lambda: life.is_over) and not life.refused
        self.tally.check(is_over, "never went on", (self.run_id, "after its end", life.refused))
        life.kill()


def run(plan: Plan) -> Verdict:
    """Go through the cycles and compare ledger, log and topics."""
    tally = Tally(KINDS)
    chance = plan.chance()
    cycles = plan.count(CYCLES, 10)
    patience = _LITTLE_PATIENCE if plan.twin else _PATIENCE
    stages: list[Stage] = []
    with Nest(plan.twin, in_memory=True) as nest:
        controller = nest.start("torture.paused_roles:controller", store=str(nest.store))
        # The planted faults are in our own drivers: a twin of the loop would be the same once more.
        loops = 0 if plan.twin else plan.count(LOOP_CYCLES, 2)
        for driver, count in ((_LOOP, loops), (_DRIVER, cycles)):
            for first in range(0, count, CYCLES_A_RUN):
                stage = Stage(tally, nest, controller, len(stages), patience=patience, driver=driver)
                stages.append(stage)
                _go_through(tally, stage, chance, range(first, min(count, first + CYCLES_A_RUN)))
                plan.progress(f"{tally.counts['cycles']} of {cycles + loops} cycles")
        tally.add("of them with assent loop", loops)
        log = read_log(nest, PROJECT)
        for stage in stages:
            (_compare_loop if stage.is_loop else _compare)(tally, log.entries, stage)
    Judge(tally).hear_all(log.entries)
    for problem in log.problems:
        tally.fault("audit problems", problem)
    for name in ("cycles", "kills", "pauses", "resumes", "restarts of a paused run", "iterations worked"):
        tally.require(name, cycles)
    for name in (
        "of them with assent loop",
        "killed while they started",
        "escalates",
        "begun again",
        "second drivers refused",
        "replaced drivers fenced off",
    ):
        tally.require(name)
    return tally.verdict()


def _go_through(tally: Tally, stage: Stage, chance: Random, numbers: range) -> None:
    for number in numbers:
        if stage.is_lost:
            break
        stage.cycle(chance, number)
        tally.add("cycles")
    stage.end()


def _compare(tally: Tally, entries: list[Entry], stage: Stage) -> None:
    """Each line of work must be an iteration that the log let begin, for the driver that had the run then."""
    run_id = stage.run_id
    drivers = _drivers(entries, run_id)
    seen: Counter[int] = Counter()
    for line in stage.ledger.read_text().splitlines():
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


def _compare_loop(tally: Tally, entries: list[Entry], stage: Stage) -> None:
    """The same for the lines of a command, which knows its iteration, attempt and fence but not the log."""
    begun: dict[tuple[int, int], tuple[int, str]] = {}
    fence = 1
    for entry in entries:
        if entry.subject == stage.run_id:
            fence = entry.body.get("fence", fence)
            if entry.type == "run.turn_begun":
                turn = (entry.body["number"], entry.body["attempt"])
                begun[turn] = (fence, entry.message["stack"][-1]["model"])
    announced = set().union(*(life.announced for life in stage.lives))
    highest = 0
    for line in stage.ledger.read_text().splitlines():
        word, number, attempt, own, model = line.split()
        # What a dead driver left running is ended before its successor runs anything.
        tally.check(int(own) >= highest, "two drivers at once", (line, highest))
        highest = max(highest, int(own))
        if word == "begin":
            tally.add("iterations worked")
            turn = (int(number), int(attempt))
            tally.check(begun.pop(turn, None) == (int(own), model), "worked without leave", line)
            tally.check(turn in announced, "not announced", line)


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
        Twin(
            "begin-while-paused",
            "an iteration begins only while the run is running",
            "begun while paused",
            0.02,
        ),
        Twin(
            "forget-pause-at-takeover", "a new driver finds the pause", "not paused after the restart", 0.02
        ),
        Twin(
            "work-without-leave", "a driver works on what the record let begin", "worked without leave", 0.02
        ),
        Twin("drive-without-hold", "a living driver holds its run", "taken from a living driver", 0.02),
        Twin("drive-without-fence", "a replaced driver is fenced off", "two drivers at once", 0.02),
    ),
    share=0.02,
)
