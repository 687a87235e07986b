"""The server: wakes over a long poll and over a socket, one event to many sockets, many who wait, and requests a second.

The floor is a bare echo under the same uvicorn, called by the same client library. It commits nothing and checks nobody:
ours looks up a token for every request and flushes every answer to the disk before it is told.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack
from statistics import median
from typing import Any

from bench.figure import Figure, Reading, percentile
from bench.measure.wake import Pair
from bench.peer import Peer
from bench.session import Session

__all__ = ["measure"]

_GOAL = 3.0
_MOST_MEBIBYTES = 300.0
_MOST_MILLISECONDS = 5_000.0
_BLOCK = 5
_SETTLE_SECONDS = 0.01
"""A request on its way takes longer than a ring, so the waiter is given longer to be there; the same on either side."""
_ARRIVAL_SECONDS = 0.5
"""The same for the last of many polls."""
_SIDES = {"served": "remote_caller", "echo": "plain_caller"}
_LINES = (1, 16)


def measure(session: Session) -> Iterator[Figure]:
    """Give every figure of the server."""
    yield from _wakes(session, "poll", "long poll")
    yield from _wakes(session, "socket", "WebSocket")
    yield from _broadcast(session)
    yield from _polls(session)
    yield from _rates(session)


def _start(session: Session, stack: ExitStack) -> dict[str, tuple[Peer, dict[str, Any]]]:
    servers = {side: session.start(stack, side) for side in _SIDES}
    return {side: (server, server.call("address")) for side, server in servers.items()}


def _caller(session: Session, stack: ExitStack, side: str, address: dict[str, Any], role: str) -> Peer:
    caller = session.start(stack, side, role)
    caller.call("connect", port=address["port"], secret=address[role])
    return caller


def _wakes(session: Session, waiter: str, title: str) -> Iterator[Figure]:
    session.begin(f"server-{waiter}")
    everything: dict[str, list[float]] = {side: [] for side in _SIDES}
    found: dict[tuple[str, str], list[float]] = {}
    with ExitStack() as stack:
        pairs = {}
        for side, (_, address) in _start(session, stack).items():
            agent, person = (
                _caller(session, stack, _SIDES[side], address, role) for role in ("agent", "person")
            )
            if waiter == "socket":
                agent.call("listen", port=address["port"], secret=address["agent"])
            pairs[side] = Pair(agent, person, waiter, settle_seconds=_SETTLE_SECONDS)
        for number in session.repetitions():
            for block in range(session.scale.server_wakes // _BLOCK):
                for side in session.turns(number + block, list(pairs)):
                    for _ in range(_BLOCK):
                        pairs[side].open()
                        pairs[side].wake()
            for side, pair in pairs.items():
                everything[side] += pair.wakes
                found.setdefault((side, "p50"), []).append(median(pair.wakes))
                found.setdefault((side, "p99"), []).append(percentile(pair.wakes, 0.99))
                pair.wakes.clear()
    pooled = percentile(everything["served"], 0.99) / percentile(everything["echo"], 0.99)
    for share in ("p50", "p99"):
        note = (
            f"over all {len(everything['served']):,} wakes of a side: {pooled:.2f}x" if share == "p99" else ""
        )
        yield _times(
            f"wake by {title}, {share}", found["served", share], found["echo", share], _GOAL, note=note
        )


def _broadcast(session: Session) -> Iterator[Figure]:
    session.begin("server-sockets")
    count = session.scale.sockets
    found: dict[tuple[str, str], list[float]] = {}
    with ExitStack() as stack:
        sides = {}
        for side, (_, address) in _start(session, stack).items():
            audience = _caller(session, stack, "web_crowd", address, "agent")
            audience.call("listen", count=count)
            speaker = _caller(session, stack, "web_crowd", address, "person")
            asker = _caller(session, stack, "web_crowd", address, "agent")
            sides[side] = audience, speaker, asker
        for number in session.repetitions():
            for side in session.turns(number, list(sides)):
                audience, speaker, asker = sides[side]
                ask_ids = asker.call("asks", count=1, lines=1)["ask_ids"]
                audience.call("await_answer")
                began = speaker.call("answers", ask_ids=ask_ids, lines=1)["began"]
                moments = sorted((moment - began) / 1e6 for moment in audience.hear()["moments"])
                for name, value in (("first", moments[0]), ("median", median(moments)), ("last", moments[-1])):
                    found.setdefault((side, name), []).append(value)
    for name in ("first", "median", "last"):
        yield _times(
            f"one event to {count} sockets, {name}", found["served", name], found["echo", name], None
        )


def _polls(session: Session) -> Iterator[Figure]:
    session.begin("server-polls")
    count = session.scale.polls
    memory: dict[str, list[float]] = {}
    waited: dict[str, list[float]] = {}
    whole: dict[str, list[float]] = {}
    for _ in session.repetitions(session.scale.server_repetitions):
        for side in _SIDES:
            with ExitStack() as stack:
                server = session.start(stack, side)
                address = server.call("address")
                crowd = _caller(session, stack, "web_crowd", address, "agent")
                people = _caller(session, stack, "web_crowd", address, "person")
                ask_ids = server.call("open_many", count=count)["ask_ids"]
                crowd.call("hold", ask_ids=ask_ids)
                time.sleep(_ARRIVAL_SECONDS)
                memory.setdefault(side, []).append(server.call("resident")["mebibytes"])
                answered = people.call("answers", ask_ids=ask_ids, lines=_LINES[-1])
                last = crowd.hear()["last"]
                waited.setdefault(side, []).append(max(0.0, (last - answered["ended"]) / 1e6))
                whole.setdefault(side, []).append((last - answered["began"]) / 1e6)
            session.store(side).unlink(missing_ok=True)
    name = f"{count:,} waiting polls"
    yield Figure(
        "server",
        f"{name}, memory",
        "MiB",
        Reading.WORST,
        memory["served"],
        memory["echo"],
        goal=_MOST_MEBIBYTES,
        floor_name="echo",
    )
    yield Figure(
        "server",
        f"{name}, last woken after last answer",
        "ms",
        Reading.WORST,
        waited["served"],
        waited["echo"],
        goal=_MOST_MILLISECONDS,
        floor_name="echo",
        note=f"from the first answer's request to the last wake: {median(whole['served']):,.0f} ms, "
        f"echo {median(whole['echo']):,.0f} ms",
    )


def _rates(session: Session) -> Iterator[Figure]:
    session.begin("server-rate")
    found: dict[tuple[str, str], list[float]] = {}
    with ExitStack() as stack:
        sides = {
            side: tuple(
                _caller(session, stack, "web_crowd", address, role) for role in ("agent", "person")
            )
            for side, (_, address) in _start(session, stack).items()
        }
        for number in session.repetitions(session.scale.server_repetitions):
            for lines in _LINES:
                count = session.scale.requests * (1 if lines == 1 else 4)
                plural = "connection" if lines == 1 else "connections"
                for side in session.turns(number, list(sides)):
                    agent, person = sides[side]
                    asked = agent.call("asks", count=count, lines=lines)
                    answered = person.call("answers", ask_ids=asked["ask_ids"], lines=lines)
                    for what, told in (("asks", asked), ("answers", answered)):
                        name = f"{what}, {lines} {plural}"
                        found.setdefault((side, name), []).append(count / told["seconds"])
    for side, name in found:
        if side == "served":
            yield Figure(
                "server",
                name,
                "/s",
                Reading.SHARE,
                found["served", name],
                found["echo", name],
                floor_name="echo",
            )


def _times(
    name: str, ours: list[float], floor: list[float], goal: float | None, *, note: str = ""
) -> Figure:
    return Figure(
        "server", name, "ms", Reading.TIMES, ours, floor, goal=goal, floor_name="echo", note=note
    )
