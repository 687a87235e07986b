"""The server: wakes over a long poll and over a socket, one event to many sockets, many who wait, and requests a second.

The floor is a bare echo under the same uvicorn, called by the same client library. It commits nothing and checks nobody:
ours looks up a token for every request and flushes every answer to the disk before it is told.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack
from statistics import median

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
_ARRIVAL_SECONDS = 0.25
"""The same for the last of many."""
_SIDES = {"served": "remote_caller", "echo": "plain_caller"}
_ROLES = ("agent", "person")
_LINES = (1, 16)


class _Cast:
    """The processes of one side: a server, two programs that call it, and two crowds."""

    def __init__(self, session: Session, stack: ExitStack, side: str) -> None:
        self.address = session.start(stack, side).call("address")
        self.agent, self.person = (
            self._connect(session.start(stack, _SIDES[side], role), role) for role in _ROLES
        )
        self.agents, self.people = (
            self._connect(session.start(stack, "web_crowd", role), role) for role in _ROLES
        )

    def _connect(self, caller: Peer, role: str) -> Peer:
        caller.call("connect", port=self.address["port"], secret=self.address[role])
        return caller

    def turn_to(self, server: Peer) -> None:
        """Have the crowds call another server."""
        self.address = server.call("address")
        self._connect(self.agents, "agent")
        self._connect(self.people, "person")


Casts = dict[str, _Cast]


def measure(session: Session) -> Iterator[Figure]:
    """Give every figure of the server."""
    session.begin("server")
    with ExitStack() as stack:
        casts = {side: _Cast(session, stack, side) for side in _SIDES}
        yield from _wakes(session, casts, "poll", "long poll")
        for cast in casts.values():
            cast.agent.call("listen", port=cast.address["port"], secret=cast.address["agent"])
        yield from _wakes(session, casts, "socket", "WebSocket")
        yield from _broadcast(session, casts)
        yield from _rates(session, casts)
        yield from _polls(session, casts)


def _wakes(session: Session, casts: Casts, waiter: str, title: str) -> Iterator[Figure]:
    everything: dict[str, list[float]] = {side: [] for side in casts}
    found: dict[tuple[str, str], list[float]] = {}
    pairs = {
        side: Pair(cast.agent, cast.person, waiter, settle_seconds=_SETTLE_SECONDS)
        for side, cast in casts.items()
    }
    for number in session.repetitions(session.scale.server_repetitions):
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
    notes = {"p99": f"over all {len(everything['served']):,} wakes of a side: {pooled:.2f}x"}
    for share in ("p50", "p99"):
        ours, floor = found["served", share], found["echo", share]
        yield _times(f"wake by {title}, {share}", ours, floor, _GOAL, note=notes.get(share, ""))


def _broadcast(session: Session, casts: Casts) -> Iterator[Figure]:
    count = session.scale.sockets
    found: dict[tuple[str, str], list[float]] = {}
    for cast in casts.values():
        cast.agents.call("listen", count=count)
    for number in session.repetitions(session.scale.server_repetitions):
        for side in session.turns(number, list(casts)):
            cast = casts[side]
            ask_ids = cast.agents.call("asks", count=1, lines=1)["ask_ids"]
            cast.agents.call("await_answer")
            time.sleep(_ARRIVAL_SECONDS)  # ours told everybody of the ask, too: that is over by then
            began = cast.people.call("answers", ask_ids=ask_ids, lines=1)["began"]
            moments = sorted((moment - began) / 1e6 for moment in cast.agents.hear()["moments"])
            for name, value in (("first", moments[0]), ("median", median(moments)), ("last", moments[-1])):
                found.setdefault((side, name), []).append(value)
    for cast in casts.values():
        cast.agents.call("hang_up")
    for name in ("first", "median", "last"):
        title = f"one event to {count} sockets, {name}"
        yield _times(title, found["served", name], found["echo", name], None)


def _rates(session: Session, casts: Casts) -> Iterator[Figure]:
    found: dict[tuple[str, str], list[float]] = {}
    for number in session.repetitions(session.scale.server_repetitions):
        for lines in _LINES:
            count = session.scale.requests * (1 if lines == 1 else 4)
            plural = "connection" if lines == 1 else "connections"
            for side in session.turns(number, list(casts)):
                asked = casts[side].agents.call("asks", count=count, lines=lines)
                answered = casts[side].people.call("answers", ask_ids=asked["ask_ids"], lines=lines)
                for what, told in (("asks", asked), ("answers", answered)):
                    name = f"{what}, {lines} {plural}"
                    found.setdefault((side, name), []).append(count / told["seconds"])
    for name in dict.fromkeys(name for _, name in found):
        yield Figure(
            "server",
            name,
            "/s",
            Reading.SHARE,
            found["served", name],
            found["echo", name],
            floor_name="echo",
        )


def _polls(session: Session, casts: Casts) -> Iterator[Figure]:
    count = session.scale.polls
    memory: dict[str, list[float]] = {side: [] for side in casts}
    waited: dict[str, list[float]] = {side: [] for side in casts}
    whole: dict[str, list[float]] = {side: [] for side in casts}
    for number in session.repetitions(session.scale.poll_repetitions):
        for side, cast in casts.items():
            with ExitStack() as stack:
                # A server of its own: what others left behind is not what these polls take.
                server = session.start(stack, side, store=session.folder / f"polls-{number}-{side}.db")
                cast.turn_to(server)
                ask_ids = server.call("open_many", count=count)["ask_ids"]
                cast.agents.call("hold", ask_ids=ask_ids)
                time.sleep(_ARRIVAL_SECONDS)
                memory[side].append(server.call("resident")["mebibytes"])
                answered = cast.people.call("answers", ask_ids=ask_ids, lines=_LINES[-1])
                last = cast.agents.hear()["last"]
            waited[side].append(max(0.0, (last - answered["ended"]) / 1e6))
            whole[side].append((last - answered["began"]) / 1e6)
    name = f"{count:,} waiting polls"
    yield _worst(f"{name}, memory", "MiB", memory, _MOST_MEBIBYTES)
    note = (
        f"from the first answer's request to the last wake: {median(whole['served']):,.0f} ms, "
        f"echo {median(whole['echo']):,.0f} ms"
    )
    yield _worst(f"{name}, last woken after last answer", "ms", waited, _MOST_MILLISECONDS, note=note)


def _worst(name: str, unit: str, values: dict[str, list[float]], goal: float, *, note: str = "") -> Figure:
    ours, floor = values["served"], values["echo"]
    return Figure("server", name, unit, Reading.WORST, ours, floor, goal=goal, floor_name="echo", note=note)


def _times(name: str, ours: list[float], floor: list[float], goal: float | None, *, note: str = "") -> Figure:
    return Figure("server", name, "ms", Reading.TIMES, ours, floor, goal=goal, floor_name="echo", note=note)
