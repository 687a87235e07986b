"""No wake comes late, in quiet and while another process writes the same file as hard as it can."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

from bench.figure import Figure, Reading, percentile
from bench.measure.wake import Pair
from bench.session import Session

__all__ = ["measure"]

_LATE_SECONDS = 1.0


def measure(session: Session) -> Iterator[Figure]:
    """Give the longest wake of half of the count in quiet, and of the other half under writing."""
    session.begin("late")
    store = session.store("ours")
    count = session.scale.late // 2
    with ExitStack() as stack:
        pair = Pair(
            session.start(stack, "ours", "agent", store),
            session.start(stack, "ours", "person", store),
            "thread",
        )
        pair.open()
        yield _longest(session, pair, count, "in quiet")
        writer = session.start(stack, "ours", "agent", store)
        writer.call("write_without_end", callers=session.scale.callers)
        try:
            yield _longest(session, pair, count, "while the store is written hard")
        finally:
            writer.kill()


def _longest(session: Session, pair: Pair, count: int, when: str) -> Figure:
    pair.wakes.clear()
    before = pair.asker.call("wakes")["net"]
    for number in range(count):
        if number % 100 == 0:
            session.tell(f"{number} of {count} wakes {when}")
        pair.wake()
        pair.open()
    net = pair.asker.call("wakes")["net"] - before
    late = sum(wake > _LATE_SECONDS * 1000 for wake in pair.wakes)
    half, most = percentile(pair.wakes, 0.5), percentile(pair.wakes, 0.99)
    return Figure(
        "late",
        f"longest wake {when}",
        "ms",
        Reading.WORST,
        [max(pair.wakes)],
        goal=_LATE_SECONDS * 1000,
        note=f"{count:,} wakes, {late} late, {net} by the clock and not by a ring; p50 {half:.2f}, p99 {most:.1f} ms",
    )
