"""Decisions about many findings: how long a person waits from a reply to the next question, in memory and durable."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from statistics import median
from typing import Any

from assent.client.client import Client
from assent.flows.step import Ask as AskStep
from assent.hub.compose import hub_on_file
from assent.protocol.ask import Ask
from assent.protocol.error import AssentError
from assent.protocol.principal import Principal, Role
from bench.figure import Figure, Reading
from bench.session import Session
from bench.workload import PROJECT

__all__ = ["Clock", "measure"]

_GOAL = 50.0
_REPLIES = "ABC"
"""Apply, defer and skip, in turns: every third finding is appended to the document."""


class Clock:
    """Takes the time from each reply to the next question."""

    def __init__(self) -> None:
        self._replied = time.perf_counter()
        self.gaps: list[float] = []

    def ask(self) -> str:
        """Note that a question is here; return its reply, which is given in this moment."""
        self.gaps.append(self.stop())
        self._replied = time.perf_counter()
        # The first one is the way: one by one.
        return "A" if len(self.gaps) == 1 else _REPLIES[len(self.gaps) % len(_REPLIES)]

    def stop(self) -> float:
        """Return the milliseconds since the last reply."""
        return 1000 * (time.perf_counter() - self._replied)


class _Surface:
    """Somebody who replies at once, and to whom nothing is shown."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    def present(self, ask: AskStep) -> None:
        """Nothing is drawn."""

    def read(self) -> str:
        """Reply."""
        return self._clock.ask()

    def echo(self, ask: AskStep, refusal: AssentError) -> None:
        """Nothing is refused."""
        raise AssertionError(ask, refusal)

    def say(self, markdown: str) -> None:
        """Nothing is drawn."""


def measure(session: Session) -> Iterator[Figure]:
    """Give the median and the worst time of a decision, and what the first question and the report take."""
    session.begin("decision")
    count = session.scale.findings
    document = session.folder / "plan.md"
    found: dict[str, list[tuple[list[float], float]]] = {"in memory": [], "durable": []}
    for number in session.repetitions():
        for way in session.turns(number, list(found)):
            document.write_text(_document(count), encoding="utf-8")
            store = session.folder / f"decision-{number}-{way.replace(' ', '-')}.db"
            found[way].append(_review(store, document, count, is_durable=way == "durable"))
    for way, reviews in found.items():
        name = f"{count} findings, {way}"
        medians = [median(gaps[1:]) for gaps, _ in reviews]
        worst = [max(gaps[1:]) for gaps, _ in reviews]
        yield Figure("decision", f"{name}, median", "ms", Reading.VALUE, medians, goal=_GOAL)
        yield Figure("decision", f"{name}, worst", "ms", Reading.WORST, worst, goal=_GOAL)
        yield Figure(
            "decision", f"{name}, first question", "ms", Reading.VALUE, [gaps[0] for gaps, _ in reviews]
        )
        yield Figure(
            "decision", f"{name}, edits and report", "ms", Reading.VALUE, [last for _, last in reviews]
        )


def _review(store: Path, document: Path, count: int, *, is_durable: bool) -> tuple[list[float], float]:
    """Go through a review; return the time before each question, and that after the last reply."""
    findings = {"findings": [_finding(number) for number in range(count)]}
    with (
        closing(Client(hub_on_file(store), PROJECT, Principal(Role.AGENT, "bench"))) as agent,
        closing(Client(hub_on_file(store), PROJECT, Principal(Role.HUMAN, "bench"))) as person,
    ):
        clock = Clock()

        def present(ask: Ask) -> None:
            person.answer(ask.ask_id, clock.ask())

        if is_durable:
            report = agent.review(findings, document=document, durable=True, present=present)
        else:
            report = agent.review(findings, document=document, surface=_Surface(clock))
        last = clock.stop()
    if len(report.decisions) != count or report.failures:
        raise AssertionError(report.failures or len(report.decisions))
    return clock.gaps, last


def _finding(number: int) -> dict[str, Any]:
    passage = f"Passage {number} stands here."
    return {
        "id": f"p{number}",
        "title": f"Passage {number} is unclear",
        "severity": "P2",
        "section": f"Part {number}",
        "why_it_matters": f"Readers of passage {number} stop. Then they ask somebody else about it.",
        "finding_type": "error",
        "autofix_class": "gated_auto",
        "confidence": 75,
        "recommended_action": "Apply",
        "evidence": [passage],
        "reviewers": ["coherence", "feasibility"],
        "suggested_fix": "Say it in one clear sentence.",
        "edit": {"before": passage, "after": f"Passage {number} is clear."},
    }


def _document(count: int) -> str:
    passages = (f"## Part {number}\n\nPassage {number} stands here.\n" for number in range(count))
    return "\n".join(itertools.chain(["# Plan\n"], passages))
