"""Several server processes on one database against one of them, over the same projects and with as many callers.

Processes can share the work of Python only where there are processors left: who used them stands beside the figure.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from statistics import median

from bench.figure import Figure, Reading
from bench.peer import Peer
from bench.session import Session
from tools.postgres import PostgresServer

__all__ = ["measure_servers"]

_SERVERS = 4
_PROJECTS = tuple(f"bench-{number}" for number in range(8))
_GOAL = 200.0
_TICKS = os.sysconf("SC_CLK_TCK")

_Told = dict[str, float]


def measure_servers(session: Session, server: PostgresServer) -> Iterator[Figure]:
    """Give the rate of four processes, two projects each, as a share of one process's over all of them."""
    callers = max(1, session.scale.callers // len(_PROJECTS))
    store = session.folder / "servers.url"
    store.write_text(server.new_database(), encoding="utf-8")
    found: dict[int, list[_Told]] = {1: [], _SERVERS: []}
    with ExitStack() as stack:
        peers = [session.start(stack, "postgres", "agent", store) for _ in range(_SERVERS)]
        for peer in peers:  # connections and statements, by their first uses
            peer.call("write_projects", projects=_PROJECTS, callers=1, seconds=0.2)
        for number in session.repetitions(session.scale.server_repetitions):
            for count in session.turns(number, list(found)):
                found[count].append(_write(peers[:count], server, callers, session.scale.writing_seconds))
    many, one = found[_SERVERS], found[1]
    note = "; ".join(
        _profile(f"{count} processes" if count > 1 else "1 process", found[count]) for count in found
    )
    yield Figure(
        "postgres",
        f"asks over {len(_PROJECTS)} projects, {_SERVERS} processes",
        "/s",
        Reading.SHARE,
        [told["rate"] for told in many],
        [told["rate"] for told in one],
        goal=_GOAL,
        floor_name="1 process",
        note=note,
    )


def _write(peers: list[Peer], server: PostgresServer, callers: int, seconds: float) -> _Told:
    share = len(_PROJECTS) // len(peers)
    database, processors, idle = _tree_seconds(server.pid), *_processor_seconds()
    for number, peer in enumerate(peers):
        projects = _PROJECTS[number * share : (number + 1) * share]
        peer.send("write_projects", projects=projects, callers=callers, seconds=seconds)
    replies = [peer.hear() for peer in peers]
    after, left = _processor_seconds()
    took = max(reply["seconds"] for reply in replies)
    spent = after - processors
    ours, theirs = sum(reply["cpu_seconds"] for reply in replies), _tree_seconds(server.pid) - database
    return {
        "rate": sum(reply["count"] for reply in replies) / took,
        "ours": ours / spent,
        "most": max(reply["cpu_seconds"] for reply in replies) / took,
        "database": theirs / spent,
        "idle": (left - idle) / spent,
        "others": max(0.0, 1 - (ours + theirs + left - idle) / spent),
    }


def _profile(who: str, told: list[_Told]) -> str:
    parts = {name: 100 * median(one[name] for one in told) for name in told[0] if name != "rate"}
    return (
        f"{who}: processors used by ours {parts['ours']:.0f} % (the busiest {parts['most']:.0f} % of one), "
        f"PostgreSQL {parts['database']:.0f} %, others {parts['others']:.0f} %, idle {parts['idle']:.0f} %"
    )


def _processor_seconds() -> tuple[float, float]:
    """Return the seconds of all processors since the start, and those in which they had nothing to do."""
    fields = [
        int(field) for field in Path("/proc/stat").read_text(encoding="ascii").splitlines()[0].split()[1:9]
    ]
    return sum(fields) / _TICKS, (fields[3] + fields[4]) / _TICKS


def _tree_seconds(root: int) -> float:
    """Return the CPU seconds of a process and its children, those that have ended included."""
    total = 0
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        try:
            fields = (
                (folder / "stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
            )
        except OSError:
            continue  # it has just ended, and its parent counts it from now on
        if int(folder.name) == root:
            total += sum(int(field) for field in fields[11:15])
        elif int(fields[1]) == root:
            total += int(fields[11]) + int(fields[12])
    return total / _TICKS
