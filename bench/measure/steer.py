"""Steering: a controller in one process, a follower of `loop:control` in another, drivers in further ones.

Every figure begins when the controller calls `client.control`. Those with a goal end in the follower, with the ACK or
the RESULT read: the floor, too, is a commit and the wake of another process, and a RESULT that nobody has heard of is
worth nothing. The controller itself needs no wake; when it knows the same is told without a goal. Floor and goals are
of one commit, of which an ACK has one and a RESULT two.

Each run that is active has a thread that waits for it, as its driver has. They share an ear a process; in the last
lines each has its own, as a hundred `assent loop` have, and every commit that changes a run rings them all.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from statistics import median

from bench.figure import Figure, Reading, percentile
from bench.measure.wake import SETTLE_SECONDS, Pair
from bench.peer import Peer
from bench.session import Session

__all__ = ["Trio", "measure"]

_BLOCK = 10
"""So many commands before the floor has its turn."""
_GOALS = {"ACK": 2.0, "RESULT": 4.0}
_SHARES = {"p50": 0.5, "p99": 0.99}


@dataclass
class Trio:
    """Drivers with their runs, a controller and a follower."""

    drivers: list[Peer]
    controller: Peer
    follower: Peer
    took: dict[str, list[float]] = field(default_factory=dict)
    """Milliseconds from the call, by what was waited for."""

    def control(self, run_id: str, command: str) -> dict[str, int]:
        """Send one command; return the moments of it, and note how long each took."""
        time.sleep(SETTLE_SECONDS)
        moments: dict[str, int] = self.controller.call("control", run_id=run_id, command=command)
        for type_ in ("ACK", "RESULT"):
            heard = self.follower.hear()
            assert (heard["request_id"], heard["type"]) == (moments["request_id"], type_), (heard, moments)
            moments[f"{type_} read"] = heard["read"]
        ends = {
            "ACK read": moments["ACK read"],
            "RESULT read": moments["RESULT read"],
            "ACK known": moments["acknowledged"],
            "RESULT known": moments["resolved"],
        }
        for name, moment in ends.items():
            self.took.setdefault(name, []).append((moment - moments["began"]) / 1e6)
        return moments


def measure(session: Session) -> Iterator[Figure]:
    """Give ACK and RESULT with one and with many active runs, then cancel and the rate of iterations."""
    many = session.scale.runs
    yield from _with(session, "one", 1, "shared")
    yield from _with(session, "many", many, "shared")
    yield from _with(session, "ears", many, "own")
    yield from _cancel(session)
    yield _turns(session)


def start_trio(session: Session, stack: ExitStack, runs: int, ears: str) -> tuple[Trio, list[str]]:
    """Start the processes of our side and so many runs, spread over the drivers; return their ids."""
    store = session.store("ours")
    drivers = [session.start(stack, "driver", store=store) for _ in range(min(runs, session.scale.drivers))]
    controller = session.start(stack, "controller", store=store)
    trio = Trio(drivers, controller, session.start(stack, "follower", store=store))
    shares = [len(range(number, runs, len(drivers))) for number in range(len(drivers))]
    run_ids = []
    for driver, share in zip(drivers, shares, strict=True):
        run_ids += driver.call("start", count=share, ears=ears)["run_ids"]
    return trio, run_ids


def start_floor(session: Session, stack: ExitStack) -> Pair:
    """Start the floor: one row's commit, and a datagram to the process that waits."""
    pair = Pair(session.start(stack, "bare", "listener"), session.start(stack, "bare", "person"), "thread")
    pair.open()
    return pair


def _with(session: Session, name: str, runs: int, ears: str) -> Iterator[Figure]:
    session.begin(f"steer-{name}")
    found: dict[str, dict[str, list[float]]] = {}
    everything: dict[str, list[float]] = {}
    with ExitStack() as stack:
        floor = start_floor(session, stack)
        trio, run_ids = start_trio(session, stack, runs, ears)
        # Every second time round a run is paused, and then resumed again.
        calls = ((run, verb) for verb in itertools.cycle(("pause", "resume")) for run in run_ids)
        for run_id, command in itertools.islice(calls, 2 * len(run_ids)):
            trio.control(run_id, command)  # nothing is opened or compiled for the first time from now on
        trio.took.clear()
        for number in session.repetitions():
            for block in range(session.scale.wakes // _BLOCK):
                for side in session.turns(number + block, ("ours", "bare")):
                    for _ in range(_BLOCK):
                        if side == "ours":
                            trio.control(*next(calls))
                        else:
                            floor.wake()
                            floor.open()
            for kind, values in {**trio.took, "bare": floor.wakes}.items():
                everything.setdefault(kind, []).extend(values)
                for share, part in _SHARES.items():
                    found.setdefault(kind, {}).setdefault(share, []).append(percentile(values, part))
                values.clear()
    title = f"{runs} run{'s' if runs > 1 else ''}" + (", an ear each" if ears == "own" else "")
    for kind in ("ACK read", "RESULT read", "ACK known", "RESULT known"):
        yield from _figures(title, kind, found, everything, has_goal=ears == "shared")


def _figures(
    title: str,
    kind: str,
    found: dict[str, dict[str, list[float]]],
    everything: dict[str, list[float]],
    *,
    has_goal: bool,
) -> Iterator[Figure]:
    type_, end = kind.split()
    where = "" if end == "read" else ", controller"
    pooled = percentile(everything[kind], 0.99) / percentile(everything["bare"], 0.99)
    for share in _SHARES if end == "read" else ("p50",):
        yield Figure(
            "steer",
            f"{type_}, {title}{where}, {share}",
            "ms",
            Reading.TIMES,
            found[kind][share],
            found["bare"][share],
            goal=_GOALS[type_] if has_goal and end == "read" else None,
            note=f"over all {len(everything[kind]):,}: {pooled:.2f}x" if share == "p99" else "",
        )


def _cancel(session: Session) -> Iterator[Figure]:
    session.begin("steer-cancel")
    found: dict[str, list[float]] = {"heard": [], "after": [], "bare": []}
    count = _BLOCK
    with ExitStack() as stack:
        floor = start_floor(session, stack)
        trio, run_ids = start_trio(session, stack, 1, "shared")
        driver = trio.drivers[0]
        _end(trio, run_ids[0])
        for number in session.repetitions():
            heard, after = [], []
            for side in session.turns(number, ("ours", "bare")):
                for _ in range(count):
                    if side == "bare":
                        floor.wake()
                        floor.open()
                        continue
                    run_id = driver.call("start", count=1, ears="shared")["run_ids"][0]
                    moments, woke = _end(trio, run_id)
                    heard.append((woke - moments["began"]) / 1e6)
                    after.append((woke - moments["resolved"]) / 1e6)
            found["heard"].append(median(heard))
            found["after"].append(median(after))
            found["bare"].append(median(floor.wakes))
            floor.wakes.clear()
    name = "cancel, call to the driver's wake, p50"
    yield Figure("steer", name, "ms", Reading.TIMES, found["heard"], found["bare"])
    yield Figure("steer", "the same from the known RESULT on", "ms", Reading.VALUE, found["after"])


def _end(trio: Trio, run_id: str) -> tuple[dict[str, int], int]:
    moments = trio.control(run_id, "cancel")
    heard = trio.drivers[0].hear()
    assert heard["run_id"] == run_id, (heard, run_id)
    return moments, heard["woke"]


def _turns(session: Session) -> Figure:
    """An iteration that is begun and ended is two commits; so is one of the floor's."""
    session.begin("steer-turns")
    count = session.scale.lone
    found: dict[str, list[float]] = {"ours": [], "bare": []}
    with ExitStack() as stack:
        driver = session.start(stack, "driver", store=session.store("ours"))
        bare = session.start(stack, "bare")
        for number in session.repetitions():
            for side in session.turns(number, list(found)):
                if side == "ours":
                    seconds = driver.call("turns", count=count)["seconds"]
                else:
                    seconds = bare.call("asks", count=2 * count, callers=1, how="lone")["seconds"]
                found[side].append(count / seconds)
    name = "iterations begun and ended"
    return Figure(
        "steer", name, "/s", Reading.SHARE, found["ours"], found["bare"], floor_name="2 commits", note=""
    )
