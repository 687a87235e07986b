"""The store on PostgreSQL, beside bare psycopg on the same server: wakes, rates, servers, the inbox, many who wait.

The server is one of our own on this disk, and waits for it at every commit. Ours and the floor have a database each.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from statistics import median

from bench.figure import Figure, Reading, percentile
from bench.measure.postgres_newest import measure_newest
from bench.measure.postgres_servers import measure_servers
from bench.measure.wake import Pair
from bench.postgres import create_bare
from bench.session import Session
from tools.postgres import PostgresServer

__all__ = ["measure"]

_BLOCK = 5
_TURNS = 4
"""So often a side has its turn within one repetition of the rates."""
_WAKE_TIMES = 2.0
_BATCHED_SHARE = 25.0
_NOTIFY_SHARE = 500.0
_MOST_MEBIBYTES = 150.0
_WOKEN_SECONDS = 60.0
_NOTIFY_PART = 10
"""A commit a row is so slow that a tenth of the rows says the same."""


def measure(session: Session) -> Iterator[Figure]:
    """Give every figure of the store on PostgreSQL."""
    session.begin("postgres")
    session.tell("a server starts")
    with PostgresServer(is_durable=True) as server:
        yield from _wakes(session, server)
        yield from _rates(session, server)
        yield from measure_servers(session, server)
        yield from _waiting(session, server)
        yield from measure_newest(session, server)


def _stores(session: Session, server: PostgresServer, part: str) -> dict[str, Path]:
    """Return the files with the addresses of a new database a side."""
    ours, bare = session.folder / f"{part}-ours.url", session.folder / f"{part}-bare.url"
    ours.write_text(server.new_database(), encoding="utf-8")
    url = server.new_database()
    bare.write_text(f"{url}\n{create_bare(url)}", encoding="utf-8")
    return {"postgres": ours, "bare_postgres": bare}


def _wakes(session: Session, server: PostgresServer) -> Iterator[Figure]:
    everything: dict[str, list[float]] = {}
    found: dict[tuple[str, str], list[float]] = {}
    with ExitStack() as stack:
        pairs = {}
        for side, store in _stores(session, server, "wake").items():
            asker = session.start(stack, side, "listener" if side == "bare_postgres" else "agent", store)
            pairs[side] = Pair(asker, session.start(stack, side, "person", store), "thread")
            for _ in range(_BLOCK):  # what is prepared by its first uses
                pairs[side].open()
                pairs[side].wake()
            pairs[side].wakes.clear()
        for number in session.repetitions(session.scale.server_repetitions):
            for block in range(session.scale.wakes // _BLOCK):
                for side in session.turns(number + block, list(pairs)):
                    for _ in range(_BLOCK):
                        pairs[side].open()
                        pairs[side].wake()
            for side, pair in pairs.items():
                everything.setdefault(side, []).extend(pair.wakes)
                found.setdefault((side, "p50"), []).append(median(pair.wakes))
                found.setdefault((side, "p99"), []).append(percentile(pair.wakes, 0.99))
                pair.wakes.clear()
        net = pairs["postgres"].asker.call("wakes")["net"]
    pooled = percentile(everything["postgres"], 0.99) / percentile(everything["bare_postgres"], 0.99)
    notes = {
        "p50": f"the floor: an update and a NOTIFY in one commit, one trip; {net} of ours woken by the clock",
        "p99": f"over all {len(everything['postgres']):,} wakes of a side: {pooled:.2f}x",
    }
    for share, goal in (("p50", _WAKE_TIMES), ("p99", None)):
        ours, floor = found["postgres", share], found["bare_postgres", share]
        yield Figure(
            "postgres", f"wake, {share}", "ms", Reading.TIMES, ours, floor, goal=goal, note=notes[share]
        )


def _rates(session: Session, server: PostgresServer) -> Iterator[Figure]:
    callers = session.scale.callers
    part = max(callers, session.scale.crowd // _TURNS)
    entrants = {"ours": ("postgres", "tasks"), "batched": ("bare_postgres", "batched")}
    entrants["notify"] = ("bare_postgres", "notify")
    found: dict[str, list[float]] = {name: [] for name in entrants}
    with ExitStack() as stack:
        stores = _stores(session, server, "rate")
        peers = {side: session.start(stack, side, "agent", store) for side, store in stores.items()}
        for side, how in entrants.values():  # what is prepared by its first uses
            peers[side].call("asks", count=2 * callers, callers=callers, how=how)
        for number in session.repetitions(session.scale.server_repetitions):
            took = dict.fromkeys(entrants, 0.0)
            rows = dict.fromkeys(entrants, 0)
            for turn in range(_TURNS):
                for name in session.turns(number + turn, list(entrants)):
                    side, how = entrants[name]
                    count = max(callers, part // _NOTIFY_PART) if how == "notify" else part
                    took[name] += peers[side].call("asks", count=count, callers=callers, how=how)["seconds"]
                    rows[name] += count
            for name, rates in found.items():
                rates.append(rows[name] / took[name])
    title = f"asks, {callers} tasks"
    yield _share(f"{title}, of batched inserts", found["ours"], found["batched"], "batched", _BATCHED_SHARE)
    yield _share(f"{title}, of a NOTIFY a commit", found["ours"], found["notify"], "NOTIFY", _NOTIFY_SHARE)


def _waiting(session: Session, server: PostgresServer) -> Iterator[Figure]:
    count = session.scale.pending
    memory: list[float] = []
    asleep: list[float] = []
    for number in session.repetitions(session.scale.poll_repetitions):
        with ExitStack() as stack:
            store = session.folder / f"waiting-{number}.url"
            store.write_text(server.new_database(), encoding="utf-8")
            agent = session.start(stack, "postgres", "agent", store)
            person = session.start(stack, "postgres", "person", store)
            held = agent.call("hold_tasks", count=count)
            memory.append(held["mebibytes"])
            person.call("answers", ask_ids=held["ask_ids"], callers=session.scale.callers, how="tasks")
            asleep.append(count - agent.call("woken", seconds=_WOKEN_SECONDS)["woken"])
    name = f"{count:,} waiting asks"
    yield Figure("postgres", f"{name}, memory", "MiB", Reading.WORST, memory, goal=_MOST_MEBIBYTES)
    yield Figure("postgres", f"{name}, never woken", "asks", Reading.WORST, asleep, goal=0.0)


def _share(name: str, ours: list[float], floor: list[float], floor_name: str, goal: float) -> Figure:
    return Figure("postgres", name, "/s", Reading.SHARE, ours, floor, goal=goal, floor_name=floor_name)
