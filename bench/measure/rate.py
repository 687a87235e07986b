"""Rates: how many durable asks and answers a second, by one caller, by many tasks and by many threads.

One caller is compared with bare one-row commits. Many are compared with the bare writer of the same rows behind a
queue, called by as many tasks, and with its plain form: ready-made groups of as many rows, nobody waiting for them.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass

from bench.figure import Figure, Reading
from bench.peer import Peer
from bench.session import Session

__all__ = ["measure"]

_TURNS = 5
"""So often a side has its turn within one repetition."""


@dataclass(frozen=True)
class _Entrant:
    """Who takes part in a repetition, and how it is called."""

    name: str
    how: str
    asker: Peer
    answerer: Peer


def measure(session: Session) -> Iterator[Figure]:
    """Give asks and answers a second for each sort of caller."""
    yield from _lone(session)
    yield from _crowd(session)


def _lone(session: Session) -> Iterator[Figure]:
    session.begin("rate-one")
    with ExitStack() as stack:
        bare, same = session.start(stack, "bare"), session.start(stack, "same_rows")
        entrants = [
            _Entrant("ours", "lone", session.start(stack, "ours"), session.start(stack, "ours", "person")),
            _Entrant("bare", "lone", bare, bare),
            _Entrant("same rows", "lone", same, same),
        ]
        found = _race(session, entrants, session.scale.lone, 1)
    for verb in ("asks", "answers"):
        name = f"{verb}, one caller"
        yield _share(name, found["ours", verb], found["bare", verb], "bare", 70)
        yield _share(f"{name}, of the same rows", found["ours", verb], found["same rows", verb], "rows", None)


def _crowd(session: Session) -> Iterator[Figure]:
    session.begin("rate-many")
    callers = session.scale.callers
    with ExitStack() as stack:
        asker, answerer = session.start(stack, "ours"), session.start(stack, "ours", "person")
        same = session.start(stack, "same_rows")
        entrants = [
            _Entrant("tasks", "tasks", asker, answerer),
            _Entrant("queue", "tasks", same, same),
            _Entrant("threads", "threads", asker, answerer),
            _Entrant("plain", "plain", same, same),
            _Entrant("queue of threads", "threads", same, same),
        ]
        found = _race(session, entrants, session.scale.crowd, callers)
    for how, goal in (("tasks", 60), ("threads", 30)):
        for verb in ("asks", "answers"):
            name = f"{verb}, {callers} {how}"
            yield _share(name, found[how, verb], found["queue", verb], "queue", goal)
            yield _share(f"{name}, of the plain form", found[how, verb], found["plain", verb], "plain", goal)
            if how == "threads":
                floor = found["queue of threads", verb]
                yield _share(f"{name}, of {callers} bare threads", found[how, verb], floor, "threads", None)


def _race(
    session: Session, entrants: list[_Entrant], count: int, callers: int
) -> dict[tuple[str, str], list[float]]:
    found: dict[tuple[str, str], list[float]] = {}
    part = max(callers, count // _TURNS)
    for number in session.repetitions():
        took = {(entrant.name, verb): 0.0 for entrant in entrants for verb in ("asks", "answers")}
        for turn in range(_TURNS):
            for entrant in session.turns(number + turn, entrants):
                asked = entrant.asker.call("asks", count=part, callers=callers, how=entrant.how)
                ask_ids = asked["ask_ids"]
                answered = entrant.answerer.call("answers", ask_ids=ask_ids, callers=callers, how=entrant.how)
                took[entrant.name, "asks"] += asked["seconds"]
                took[entrant.name, "answers"] += answered["seconds"]
        for key, seconds in took.items():
            found.setdefault(key, []).append(part * _TURNS / seconds)
    return found


def _share(name: str, ours: list[float], floor: list[float], floor_name: str, goal: float | None) -> Figure:
    return Figure("rate", name, "/s", Reading.SHARE, ours, floor, goal=goal, floor_name=floor_name)
