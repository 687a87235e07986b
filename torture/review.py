"""Durable document reviews whose driver dies again and again: nothing is asked, appended or applied twice."""

from __future__ import annotations

import random
import re
import threading
from collections import Counter
from pathlib import Path
from typing import Any

from torture.nest import Nest, WorkerLostError
from torture.review_roles import APPLIED, ENTRY, make_review
from torture.trial import Plan, Tally, Trial, Twin, Verdict

__all__ = ["TRIAL", "run"]

KILLS = 800
MOST_LIVES = 14
"""Of one review; the last one is let live, however far it comes."""
LONGEST_MOMENTS, LONGEST_SECONDS = 24, 0.05
KINDS = (
    "asked twice",
    "appended twice",
    "applied twice",
    "half-edited documents",
    "other endings",
    "audit problems",
)
_PATIENCE = 120.0
_DATE = re.compile(r"From \d{4}-\d\d-\d\d review")


def run(plan: Plan) -> Verdict:
    """Kill drivers until there were enough; each review is then gone on with to its end, and looked at."""
    tally = Tally(KINDS)
    chance = plan.chance()
    kills = plan.count(KILLS, 30)
    with Nest(plan.twin, in_memory=True) as nest:
        number = 0
        while tally.counts["kills"] < kills:
            number += 1
            _Story(nest, tally, plan.seed * 1_000 + number).tell(chance)
            if number % 20 == 0:
                plan.progress(f"{tally.counts['kills']} of {kills} kills, {number} reviews")
    tally.require("kills", kills)
    tally.require("killed at a moment of their own", kills // 4)
    tally.require("killed from outside", kills // 4)
    tally.require("entries")
    tally.require("fixes")
    return tally.verdict()


class _Story:
    """One review, from its first driver to its last."""

    def __init__(self, nest: Nest, tally: Tally, seed: int) -> None:
        self._nest, self._tally, self._seed = nest, tally, seed
        self._project = f"review-{seed}"
        folder = nest.folder / self._project
        (folder / ".assent").mkdir(parents=True)
        self._path = folder / "plan.md"
        self._copy = folder / "copy.md"
        _, self._before = make_review(seed)
        for path in (self._path, self._copy):
            path.write_text(self._before, encoding="utf-8")
        self._parts: dict[str, Any] = {"store": str(nest.store), "seed": seed}

    def tell(self, chance: random.Random) -> None:
        """Kill its drivers, let the last one live, and compare with a review that nobody disturbed."""
        expected = self._nest.start(
            "torture.review_roles:undisturbed",
            twin="",
            project=f"{self._project}-copy",
            document=str(self._copy),
            **self._parts,
        ).hear(_PATIENCE)
        states = [_undated(state) for state in expected["states"]]
        person = self._nest.start("torture.review_roles:person", project=self._project, **self._parts)
        person.hear(_PATIENCE)
        for life in range(MOST_LIVES):
            if self._live(chance, is_last=life == MOST_LIVES - 1):
                break
            self._tally.add("kills")
            self._look(states)
        person.kill()
        self._tally.add("reviews")
        self._compare(states, expected)

    def _live(self, chance: random.Random, *, is_last: bool) -> bool:
        """Let one driver live for a while; say whether it came to the end."""
        moments = 0 if is_last or chance.random() < 0.5 else chance.randint(1, LONGEST_MOMENTS)
        heard: list[dict[str, Any]] = []
        is_ready, is_over = threading.Event(), threading.Event()

        def listen(message: dict[str, Any]) -> None:
            heard.append(message)
            is_ready.set()
            if "ready" not in message:
                is_over.set()

        driver = self._nest.start(
            "torture.review_roles:driver",
            listen=listen,
            project=self._project,
            document=str(self._path),
            moments=moments,
            **self._parts,
        )
        is_ready.wait(_PATIENCE)
        is_over.wait(_PATIENCE if is_last or moments else chance.uniform(0, LONGEST_SECONDS))
        driver.kill()
        if driver.error:
            raise WorkerLostError(driver.error)
        has_ended = any("verdict" in message for message in heard)
        if not has_ended:
            is_own = any("dies" in message for message in heard)
            self._tally.add("killed at a moment of their own" if is_own else "killed from outside")
        return has_ended

    def _look(self, states: list[str]) -> None:
        """What a driver left behind is a document that some whole step made."""
        text = _undated(self._path.read_text(encoding="utf-8", errors="replace"))
        is_whole = text in states
        self._tally.check(is_whole, "half-edited documents", (self._seed, text))

    def _compare(self, states: list[str], expected: dict[str, Any]) -> None:
        text = self._path.read_text(encoding="utf-8", errors="replace")
        seen = self._nest.start(
            "torture.review_roles:witness", twin="", store=str(self._nest.store), project=self._project
        ).hear(_PATIENCE)
        tally = self._tally
        tally.add("questions", len(seen["titles"]))
        tally.add("entries", text.count(ENTRY))
        tally.add("fixes", text.count(APPLIED))
        for title, times in Counter(seen["titles"]).items():
            tally.check(times == 1, "asked twice", (self._seed, times, title))
        for line, times in Counter(re.findall(f"{ENTRY}.*", text)).items():
            tally.check(times == 1, "appended twice", (self._seed, times, line))
        tally.check(f"{APPLIED} {APPLIED}" not in text, "applied twice", (self._seed, text))
        is_same = _undated(text) == states[-1] and len(seen["titles"]) == expected["asked"]
        tally.check(is_same, "other endings", (self._seed, text, states[-1]))
        for problem in seen["problems"]:
            tally.fault("audit problems", problem)
        left = [path.name for path in Path(self._path.parent).glob(".assent-*")]
        tally.check(not left, "half-edited documents", (self._seed, left))


def _undated(text: str) -> str:
    """Return a document without the day of its review: a copy may be a day older."""
    return _DATE.sub("From DAY review", text)


TRIAL = Trial(
    "review",
    "a document review whose driver is killed at any moment ends as if nobody had disturbed it",
    run,
    (
        Twin("forget-the-review", "a review goes on from its journal", "asked twice", 0.05),
        Twin("forget-the-review", "a review goes on from its journal", "applied twice", 0.1),
        Twin("append-without-looking", "an entry that stands there is known", "appended twice", 0.1),
        Twin("write-in-place", "a document is replaced whole", "half-edited documents", 0.1),
    ),
)
