"""Many processes write one file at full speed: how long did the unluckiest command take?

Two floors for orientation: bare rows behind one file lock, and behind SQLite's own busy handler, which starves some.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from statistics import median
from typing import Any

from bench.figure import Figure, Reading
from bench.session import Session

__all__ = ["measure"]

_GOAL_MILLISECONDS = 100.0


def measure(session: Session) -> Iterator[Figure]:
    """Give the longest wait of any process on our side; the floors' beside it."""
    session.begin("contention")
    writers, seconds = session.scale.writers, session.scale.writing_seconds
    longest: dict[str, list[float]] = {"ours": [], "locked": [], "busy": []}
    counts: dict[str, list[int]] = {"ours": [], "locked": [], "busy": []}
    arguments: dict[str, dict[str, Any]] = {
        "ours": {},
        "locked": {"takes_lock": True},
        "busy": {"takes_lock": False},
    }
    with ExitStack() as stack:
        ours = [session.start(stack, "ours") for _ in range(writers)]
        bare = [session.start(stack, "bare") for _ in range(writers)]
        for number in session.repetitions():
            for name in session.turns(number, list(longest)):
                peers = ours if name == "ours" else bare
                for peer in peers:
                    peer.send("write_for", seconds=seconds, **arguments[name])
                replies = [peer.hear() for peer in peers]
                longest[name].append(1000 * max(reply["longest"] for reply in replies))
                counts[name].append(sum(reply["count"] for reply in replies))
    rates = {name: median(counts[name]) / seconds for name in counts}
    yield Figure(
        "contention",
        f"longest command, {writers} processes",
        "ms",
        Reading.WORST,
        longest["ours"],
        longest["locked"],
        goal=_GOAL_MILLISECONDS,
        floor_name="bare+lock",
        note=f"writes a second: {rates['ours']:,.0f}, bare with a lock {rates['locked']:,.0f}, "
        f"bare without {rates['busy']:,.0f} (longest {median(longest['busy']):,.0f} ms)",
    )
