"""Wake and cycle: an asker in one process, an answerer in another, one answer at a time.

The floor commits one row and sends a datagram; its clock stops in the listening thread. Ours stops in the caller's
own thread or task, with the answer in hand.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from statistics import median

from bench.figure import Figure, Reading, percentile
from bench.peer import Peer
from bench.session import Session

__all__ = ["Pair", "measure"]

_BLOCK = 10
"""So many wakes of one side before the other has its turn."""
SETTLE_SECONDS = 0.002
"""People take longer than this, so by then the asker waits; the same pause on either side."""


@dataclass
class Pair:
    """An asker and an answerer of one side."""

    asker: Peer
    answerer: Peer
    waiter: str
    wakes: list[float] = field(default_factory=list)
    """Milliseconds."""
    cycles: list[float] = field(default_factory=list)
    waiting: list[tuple[str, float]] = field(default_factory=list)
    """The asks that wait, oldest first, each with the milliseconds that it took to store."""
    settle_seconds: float = SETTLE_SECONDS

    def open(self) -> None:
        """Have one more ask wait."""
        reply = self.asker.call("open", waiter=self.waiter)
        self.waiting.append((reply["ask_id"], (reply["ended"] - reply["began"]) / 1e6))

    def wake(self, seconds: float = 60.0) -> float:
        """Answer the oldest ask; return the milliseconds until its asker was there again."""
        ask_id, stored = self.waiting.pop(0)
        time.sleep(self.settle_seconds)
        answered = self.answerer.call("answer", ask_id=ask_id)
        woken = self.asker.hear(seconds)
        assert woken["ask_id"] == ask_id, (woken, ask_id)
        wake: float = (woken["woke"] - answered["began"]) / 1e6
        self.wakes.append(wake)
        self.cycles.append(stored + wake)
        return wake


def measure(session: Session) -> Iterator[Figure]:
    """Give wake and cycle, with one ask waiting and with many, in threads and in tasks."""
    many = session.scale.waiting
    yield from _with(session, "one", 1, "thread", 1.5)
    yield from _with(session, "many", many, "thread", 1.75)
    yield from _with(session, "tasks", many, "task", None)


def _with(session: Session, name: str, waiting: int, waiter: str, goal: float | None) -> Iterator[Figure]:
    session.begin(f"wake-{name}")
    found: dict[tuple[str, str], list[float]] = {}
    everything: dict[str, list[float]] = {"ours": [], "bare": []}
    with ExitStack() as stack:
        pairs = {}
        for side, role in (("ours", "agent"), ("bare", "listener")):
            asker = session.start(stack, side, role)
            pairs[side] = Pair(asker, session.start(stack, side, "person"), waiter)
            for _ in range(waiting):
                pairs[side].open()
        for number in session.repetitions():
            for block in range(session.scale.wakes // _BLOCK):
                for side in session.turns(number + block, list(pairs)):
                    for _ in range(_BLOCK):
                        pairs[side].wake()
                        pairs[side].open()
            for side, pair in pairs.items():
                everything[side].extend(pair.wakes)
                found.setdefault((side, "wake p50"), []).append(median(pair.wakes))
                found.setdefault((side, "wake p99"), []).append(percentile(pair.wakes, 0.99))
                found.setdefault((side, "cycle p50"), []).append(median(pair.cycles))
                pair.wakes.clear()
                pair.cycles.clear()
        net = pairs["ours"].asker.call("wakes")["net"]
    title = f"{waiting} waiting" + (f" in {waiter}s" if waiting > 1 else "")
    pooled = percentile(everything["ours"], 0.99) / percentile(everything["bare"], 0.99)
    notes = {
        "wake p50": f"{net} of them woken by the look at the clock, the others by a ring",
        "wake p99": f"over all {len(everything['ours']):,} wakes of a side: {pooled:.2f}x",
    }
    goals = {"wake p50": goal, "wake p99": 2.0 if goal else None, "cycle p50": 1.5 if waiting == 1 else None}
    for kind, limit in goals.items():
        if kind == "cycle p50" and waiting > 1:
            continue
        shown = "whole cycle: stored, answered, woken" if kind == "cycle p50" else f"{title}, {kind[5:]}"
        yield Figure(
            "wake",
            shown,
            "ms",
            Reading.TIMES,
            found["ours", kind],
            found["bare", kind],
            goal=limit,
            note=notes.get(kind, ""),
        )
