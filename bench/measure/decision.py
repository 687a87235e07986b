"""Decisions about many findings: how long a person waits from a reply to the next question, in memory and durable."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from statistics import median
from typing import Any

from bench.figure import Figure, Reading
from bench.session import Session

__all__ = ["measure"]

_GOAL = 50.0


def measure(session: Session) -> Iterator[Figure]:
    """Give the median and the worst time of a decision, and what the first question and the report take."""
    session.begin("decision")
    count = session.scale.findings
    found: dict[str, list[dict[str, Any]]] = {"in memory": [], "durable": []}
    for number in session.repetitions():
        for way in session.turns(number, list(found)):
            store = session.folder / f"decision-{number}-{way.replace(' ', '-')}.db"
            with ExitStack() as stack:
                reviewing = session.start(stack, "reviewing", store=store)
                found[way].append(reviewing.call("review", count=count, is_durable=way == "durable"))
    for way, reviews in found.items():
        name = f"{count} findings, {way}"
        # The first question comes after no decision.
        figures = {
            "median": (Reading.VALUE, [median(review["gaps"][1:]) for review in reviews], _GOAL),
            "worst": (Reading.WORST, [max(review["gaps"][1:]) for review in reviews], _GOAL),
            "worst, our own time": (Reading.WORST, [max(review["own"][1:]) for review in reviews], _GOAL),
            "first question": (Reading.VALUE, [review["gaps"][0] for review in reviews], None),
            "edits and report": (Reading.VALUE, [review["last"] for review in reviews], None),
        }
        for what, (reading, ours, goal) in figures.items():
            yield Figure("decision", f"{name}, {what}", "ms", reading, ours, goal=goal)
