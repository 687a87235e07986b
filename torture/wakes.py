"""Nobody sleeps on: every wake comes within a second while others write hard, and it is the ring that wakes."""

from __future__ import annotations

import asyncio
import os
import threading
import time
from pathlib import Path
from typing import Any

from assent.client.async_client import AsyncClient
from assent.client.client import Client
from assent.client.connect import open_hub
from assent.hub import waiters
from assent.hub.hub import Hub
from assent.protocol.error import StillOpen
from assent.protocol.principal import Principal, Role
from torture.nest import Nest, Worker
from torture.nursery import Wire
from torture.trial import Plan, Tally, Trial, Twin, Verdict

__all__ = ["TRIAL", "person", "run", "scribbler", "sleeper"]

WAKES = 10_000
QUIET = 1_000
"""Wakes in a quiet store with the safety net out of reach: these are the ring's alone."""
BATCH = 50
LATE = 1.0
_PATIENCE = 3.0
_NO_NET = 3_600.0
PROJECT = "dorm"


def run(plan: Plan) -> Verdict:
    """Put asks to sleep, answer them from another process, and compare the clocks of both."""
    tally = Tally(("late", "never woken", "not woken by the ring"))
    slowest: list[float] = []
    with Nest(plan.twin) as nest:
        _part(plan, tally, nest, slowest, plan.count(QUIET, BATCH), net_seconds=_NO_NET)
        scribblers = [
            nest.start("torture.wakes:scribbler", store=str(nest.store), name=f"s{n}") for n in range(2)
        ]
        _part(plan, tally, nest, slowest, plan.count(WAKES, 2 * BATCH), net_seconds=None)
        written = 0
        for scribbler in scribblers:
            scribbler.say(rest=True)
            written += scribbler.hear()["written"]
        tally.add("written by others meanwhile", written)
    slowest.sort()
    tally.notes["p50"] = f"{slowest[len(slowest) // 2] * 1e3:.1f} ms"
    tally.notes["p99"] = f"{slowest[len(slowest) * 99 // 100] * 1e3:.1f} ms"
    tally.notes["slowest"] = f"{slowest[-1] * 1e3:.0f} ms"
    tally.require("wakes", plan.count(WAKES, 2 * BATCH))
    tally.require("written by others meanwhile", plan.count(WAKES, BATCH) // 10)
    return tally.verdict()


def _part(
    plan: Plan, tally: Tally, nest: Nest, slowest: list[float], count: int, *, net_seconds: float | None
) -> None:
    sleeper = nest.start("torture.wakes:sleeper", store=str(nest.store), net_seconds=net_seconds)
    answerer = nest.start("torture.wakes:person", store=str(nest.store))
    is_quiet = net_seconds is not None
    done = 0
    while done < count:
        _batch(tally, sleeper, answerer, slowest, is_quiet=is_quiet)
        done += BATCH
        if done % 2_000 == 0:
            plan.progress(f"{done} of {count} wakes")
    sleeper.say(rest=True)
    told = sleeper.hear()
    if is_quiet:
        tally.add("wakes by the ring alone", done)
        # Without a net an unheard ring is an ask that sleeps on; see `never woken`.
        tally.check(told["net_wakes"] == 0, "not woken by the ring", told)
    else:
        tally.add("wakes that the net found first", told["net_wakes"])
    for worker in (sleeper, answerer):
        worker.kill()


def _batch(tally: Tally, sleeper: Worker, answerer: Worker, slowest: list[float], *, is_quiet: bool) -> None:
    sleeper.say(count=BATCH)
    ids = sleeper.hear()["asleep"]
    answerer.say(answer=ids)
    sent: dict[str, int] = answerer.hear()["sent"]
    woken: dict[str, int] = sleeper.hear()["woken"]
    for ask_id, at in sent.items():
        if ask_id not in woken:
            tally.fault("not woken by the ring" if is_quiet else "never woken", ask_id)
            continue
        tally.add("wakes")
        seconds = (woken[ask_id] - at) / 1e9
        slowest.append(seconds)
        # Without a ring and without a net, a wait only finds its answer when it lapses by itself.
        tally.check(seconds <= LATE, "not woken by the ring" if is_quiet else "late", (ask_id, seconds))


# Workers


def sleeper(wire: Wire, store: str, net_seconds: float | None) -> None:
    """Open asks and sleep on them, half in threads and half in tasks; note when each wakes."""
    if net_seconds is not None:
        waiters.NET_SECONDS = net_seconds
    hub = open_hub(Path(store), os.environ)
    agent = Principal(Role.AGENT, "coder")
    client, tasks = Client(hub, PROJECT, agent), AsyncClient(hub, PROJECT, agent)
    while True:
        count = wire.hear().get("count")
        if count is None:
            wire.say(net_wakes=hub.waiters.net_wakes, ring_wakes=hub.waiters.ring_wakes)
            continue
        ids = [str(client.open(f"Awake {n}?", ["Yes", "No"]).ask_id) for n in range(count)]
        woken: dict[str, int] = {}
        threads = [
            threading.Thread(target=_sleep, args=(client, ask_id, woken)) for ask_id in ids[: count // 2]
        ]
        awaited = _sleep_all(tasks, ids[count // 2 :], woken)
        threads.append(threading.Thread(target=asyncio.run, args=(awaited,)))
        for thread in threads:
            thread.start()
        _until_all_wait(hub, count)
        wire.say(asleep=ids)
        for thread in threads:
            thread.join(2 * _PATIENCE)
        wire.say(woken=woken)


def _until_all_wait(hub: Hub, count: int) -> None:
    until = time.monotonic() + _PATIENCE
    while len(hub.waiters._waiting) < count and time.monotonic() < until:
        time.sleep(0.001)


def _sleep(client: Client, ask_id: str, woken: dict[str, int]) -> None:
    try:
        client.wait(ask_id, _PATIENCE)
    except StillOpen:
        return
    woken[ask_id] = time.monotonic_ns()


async def _sleep_all(client: AsyncClient, ids: list[str], woken: dict[str, int]) -> None:
    async def sleep(ask_id: str) -> None:
        try:
            await client.wait(ask_id, _PATIENCE)
        except StillOpen:
            return
        woken[ask_id] = time.monotonic_ns()

    await asyncio.gather(*map(sleep, ids))


def person(wire: Wire, store: str) -> None:
    """Answer what is named, from a few threads, and tell when each answer was sent."""
    client = Client(open_hub(Path(store), os.environ), PROJECT, Principal(Role.HUMAN, "ana"))
    while True:
        ids = wire.hear()["answer"]
        sent: dict[str, int] = {}

        def answer(mine: list[str], sent: dict[str, int] = sent) -> None:
            for ask_id in mine:
                sent[ask_id] = time.monotonic_ns()
                client.answer(ask_id, "1")

        threads = [threading.Thread(target=answer, args=(ids[place::4],)) for place in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        wire.say(sent=sent)


def scribbler(wire: Wire, store: str, name: str) -> None:
    """Write as hard as a process can: ask and answer without a pause, from four threads."""
    hub = open_hub(Path(store), os.environ)
    # One in the sleepers' own project, so that their cursors run through foreign events, one in another.
    project = PROJECT if name == "s0" else name
    agent = Client(hub, project, Principal(Role.AGENT, name))
    human = Client(hub, project, Principal(Role.HUMAN, name))
    written = [0] * 4
    is_over = threading.Event()

    def write(place: int) -> None:
        while not is_over.is_set():
            ask_id = agent.open("More?", ["Yes", "No"]).ask_id
            human.answer(ask_id, "2")
            written[place] += 2

    threads = [threading.Thread(target=write, args=(place,), daemon=True) for place in range(4)]
    for thread in threads:
        thread.start()
    told: dict[str, Any] = wire.hear()
    assert told["rest"]
    is_over.set()
    wire.say(written=sum(written))


TRIAL = Trial(
    "wakes",
    "no wake later than a second while others write hard, and without its safety net the bell alone wakes all",
    run,
    (
        Twin("mute-bell", "a commit rings those who wait", "not woken by the ring", 0.01),
        Twin("mute-bell-and-slow-net", "what no ring told is found within half a second", "late", 0.01),
    ),
    share=0.01,
)
