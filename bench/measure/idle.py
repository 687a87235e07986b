"""Idle: what a process costs that only waits. Measured for some seconds and scaled to a minute."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

from bench.figure import Figure, Reading
from bench.session import Session

__all__ = ["measure"]


def measure(session: Session) -> Iterator[Figure]:
    """Give CPU seconds a minute and memory, with no ask and with many that wait."""
    session.begin("idle")
    pending, seconds = session.scale.pending, session.scale.idle_seconds
    holders = {
        "0 pending": (0, "handle"),
        f"{pending:,} pending, as handles": (pending, "handle"),
        f"{pending:,} pending, a task each": (pending, "task"),
    }
    with ExitStack() as stack:
        peers = {}
        for number, (name, (count, waiter)) in enumerate(holders.items()):
            session.tell(f"{count:,} asks begin to wait")
            peers[name] = session.start(stack, "ours", "agent", session.folder / f"idle-{number}.db")
            peers[name].call("hold", count=count, waiter=waiter)
        session.tell(f"nothing happens for {seconds:.0f} seconds")
        for peer in peers.values():
            peer.send("rest", seconds=seconds)
        replies = {name: peer.hear() for name, peer in peers.items()}
    for name, reply in replies.items():
        is_task = name.endswith("task each")
        yield Figure(
            "idle",
            f"processor, {name}",
            "s/min",
            Reading.VALUE,
            [reply["cpu_seconds"] * 60 / seconds],
            goal=None if is_task else 0.1,
            note=f"measured for {seconds:.0f} s and scaled" if name == "0 pending" else "",
        )
    for name, reply in replies.items():
        goal = 60.0 if name.endswith("handles") else None
        yield Figure("idle", f"memory, {name}", "MiB", Reading.VALUE, [reply["mebibytes"]], goal=goal)
