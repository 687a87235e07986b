"""Steering: a controller in one process, a follower of `loop:control` in another, drivers in further ones.

Every figure begins when the controller calls `client.control`. Those with a goal end in the follower, with the ACK or
the RESULT read there: the floor, too, is a commit and the wake of another process. The controller itself waits for
nobody, and when it knows the same is told without a goal. An ACK is one commit away and a RESULT two; floor and goals
are of one.

Each active run has a thread that waits for it, as its driver has. The runs of a process share its ear. In the lines
with own ears each has one, as a hundred `assent loop` have, and every commit that changes a run rings them all.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from bench.figure import Figure, Reading, percentile
from bench.measure.wake import SETTLE_SECONDS, Pair
from bench.peer import Peer
from bench.session import Session

__all__ = ["Trio", "measure"]

_BLOCK = 10
"""So many commands before the floor has its turn."""
_GOALS = {"ACK": 2.0, "RESULT": 4.0}
_SHARES = {"p50": 0.5, "p99": 0.99}
_Found = dict[tuple[str, str], list[float]]
"""By what was waited for and the share, a value a repetition."""


@dataclass
class Trio:
    """Drivers with their runs, a controller and a follower."""

    drivers: list[Peer]
    controller: Peer
    follower: Peer
    took: dict[str, list[float]] = field(default_factory=dict)
    """Milliseconds from the call, by what was waited for."""

    def control(self, run_id: str, command: str) -> dict[str, Any]:
        """Send one command and note how long everything took; return the controller's moments."""
        time.sleep(SETTLE_SECONDS)
        moments = self.controller.call("control", run_id=run_id, command=command)
        ends = {"ACK known": moments["acknowledged"], "RESULT known": moments["resolved"]}
        for type_ in ("ACK", "RESULT"):
            heard = self.follower.hear()
            assert (heard["request_id"], heard["type"]) == (moments["request_id"], type_), (heard, moments)
            ends[f"{type_} read"] = heard["read"]
        for name, moment in ends.items():
            self.took.setdefault(name, []).append((moment - moments["began"]) / 1e6)
        return moments

    def cancel(self, run_id: str) -> tuple[dict[str, Any], int]:
        """Cancel a run of the first driver; return the controller's moments and that of the driver's wake."""
        moments = self.control(run_id, "cancel")
        heard = self.drivers[0].hear()
        assert heard["run_id"] == run_id, (heard, run_id)
        return moments, heard["woke"]


def measure(session: Session) -> Iterator[Figure]:
    """Give ACK and RESULT with one and with many active runs, then cancel, then the rate of iterations."""
    many = session.scale.runs
    yield from _with(session, "one", 1, "shared")
    yield from _with(session, "many", many, "shared")
    yield from _with(session, "ears", many, "own")
    yield from _cancel(session)
    yield _turns(session)


def _with(session: Session, name: str, runs: int, ears: str) -> Iterator[Figure]:
    session.begin(f"steer-{name}")
    found: _Found = {}
    everything: dict[str, list[float]] = {}
    with ExitStack() as stack:
        floor = _start_floor(session, stack)
        trio, run_ids = _start_trio(session, stack, runs, ears)
        commands = ((run_id, verb) for verb in itertools.cycle(("pause", "resume")) for run_id in run_ids)
        for command in itertools.islice(commands, 2 * runs):
            trio.control(*command)  # from now on nothing is opened or read for the first time
        trio.took.clear()
        for number in session.repetitions():
            for block in range(session.scale.wakes // _BLOCK):
                for side in session.turns(number + block, ("ours", "bare")):
                    for _ in range(_BLOCK):
                        if side == "bare":
                            _wake(floor)
                        else:
                            trio.control(*next(commands))
            for end, values in {**trio.took, "bare": floor.wakes}.items():
                everything.setdefault(end, []).extend(values)
                for share, part in _SHARES.items():
                    found.setdefault((end, share), []).append(percentile(values, part))
                values.clear()
    title = f"{runs} run{'s' if runs > 1 else ''}"
    if ears == "own":
        yield _figure(f"ACK, {title}, own ears", "ACK read", "p50", found)
        yield _figure(f"RESULT, {title}, own ears", "RESULT read", "p50", found)
        return
    for type_, goal in _GOALS.items():
        end = f"{type_} read"
        pooled = percentile(everything[end], 0.99) / percentile(everything["bare"], 0.99)
        note = f"over all {len(everything[end]):,} commands: {pooled:.2f}x"
        yield _figure(f"{type_}, {title}", end, "p50", found, goal)
        yield _figure(f"{type_}, {title}", end, "p99", found, goal, note)
    for type_ in _GOALS:
        yield _figure(f"{type_} at the controller, {title}", f"{type_} known", "p50", found)


def _cancel(session: Session) -> Iterator[Figure]:
    session.begin("steer-cancel")
    found: _Found = {}
    with ExitStack() as stack:
        floor = _start_floor(session, stack)
        trio, run_ids = _start_trio(session, stack, 1, "shared")
        trio.cancel(run_ids[0])
        for number in session.repetitions():
            heard, after = [], []
            for side in session.turns(number, ("ours", "bare")):
                for _ in range(_BLOCK):
                    if side == "bare":
                        _wake(floor)
                        continue
                    run_id = trio.drivers[0].call("start", count=1, ears="shared")["run_ids"][0]
                    moments, woke = trio.cancel(run_id)
                    heard.append((woke - moments["began"]) / 1e6)
                    after.append((woke - moments["resolved"]) / 1e6)
            for end, values in (("heard", heard), ("after", after), ("bare", floor.wakes)):
                found.setdefault((end, "p50"), []).append(median(values))
            floor.wakes.clear()
    yield _figure("cancel heard by the driver", "heard", "p50", found)
    name = "the same from the controller's RESULT on"
    yield Figure("steer", name, "ms", Reading.VALUE, found["after", "p50"], found["bare", "p50"])


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
                if side == "bare":
                    reply = bare.call("asks", count=2 * count, callers=1, how="lone")
                else:
                    reply = driver.call("turns", count=count)
                found[side].append(count / reply["seconds"])
    name = "iterations begun and ended, one driver"
    return Figure("steer", name, "/s", Reading.SHARE, found["ours"], found["bare"], floor_name="2 bare")


def _start_trio(session: Session, stack: ExitStack, runs: int, ears: str) -> tuple[Trio, list[str]]:
    """Start the processes of our side and so many runs, spread over the drivers; return the runs' ids."""
    store = session.store("ours")
    drivers = [session.start(stack, "driver", store=store) for _ in range(min(runs, session.scale.drivers))]
    controller = session.start(stack, "controller", store=store)
    follower = session.start(stack, "follower", store=store)
    run_ids: list[str] = []
    for number, driver in enumerate(drivers):
        share = len(range(number, runs, len(drivers)))
        run_ids += driver.call("start", count=share, ears=ears)["run_ids"]
    return Trio(drivers, controller, follower), run_ids


def _start_floor(session: Session, stack: ExitStack) -> Pair:
    """Start the floor of "wake": one row's commit, and a datagram to the process that waits for it."""
    floor = Pair(session.start(stack, "bare", "listener"), session.start(stack, "bare", "person"), "thread")
    floor.open()
    return floor


def _wake(floor: Pair) -> None:
    floor.wake()
    floor.open()


def _figure(
    name: str, end: str, share: str, found: _Found, goal: float | None = None, note: str = ""
) -> Figure:
    return Figure(
        "steer",
        f"{name}, {share}",
        "ms",
        Reading.TIMES,
        found[end, share],
        found["bare", share],
        goal=goal,
        note=note,
    )
