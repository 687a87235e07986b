"""Ten thousand agents wait at two servers on one database, and one server dies: all come again, and none misses its answer."""

from __future__ import annotations

import threading
import time
from typing import Any

from assent.protocol.principal import Role
from torture.look import look
from torture.nest import Nest, Worker
from torture.postgres_crowd_roles import value_for
from torture.postgres_ground import Ground
from torture.site import Served
from torture.trial import Plan, Tally, Trial, Twin, Verdict

__all__ = ["TRIAL", "run"]

AGENTS = 10_000
_HOSTS = 4
_PATIENCE, _TWIN_PATIENCE = 90.0, 3.0
_AGAIN_SECONDS = 60.0
"""All who waited at the dead server wait again after so long at most."""
_AWAY_SECONDS = 1.0
_EARLY = 10
"""One in so many is answered while the server is dead."""
KINDS = (
    "missed",
    "others' answers",
    "never attached",
    "attached again too late",
    "troubles",
    "audit problems",
)


class Answers:
    """What the agents were told. Filled by the threads that hear them."""

    def __init__(self, tally: Tally) -> None:
        self._tally = tally
        self._lock = threading.Lock()
        self.got: dict[str, tuple[str, str]] = {}
        self.troubles: list[str] = []

    def hear(self, message: dict[str, Any]) -> None:
        """Keep what some of them got."""
        with self._lock:
            self.got.update({ask_id: (own, value) for ask_id, own, value in message["got"]})
            self.troubles += message["troubles"]

    def wait_for(self, count: int, seconds: float) -> float:
        """Wait until so many have their answer; return how long that took."""
        began = time.monotonic()
        while len(self.got) < count and time.monotonic() < began + seconds:
            time.sleep(0.02)
        return time.monotonic() - began


def run(plan: Plan) -> Verdict:
    """Let them wait, kill one of the servers, answer everybody."""
    tally = Tally(KINDS)
    count = plan.count(AGENTS, 40)
    answers = Answers(tally)
    patience = _TWIN_PATIENCE if plan.twin else _PATIENCE
    with Ground() as ground, Nest(plan.twin) as nest:
        servers = [Served(nest, ground.url, role="torture.postgres_crowd_roles:crowd_server") for _ in "12"]
        who = [server.trust((Role.AGENT, f"crowd-{number}"))[0] for number, server in enumerate(servers)]
        desk = nest.start("torture.postgres_crowd_roles:desk", url=ground.url)
        desk.say(opens=count)
        asks: list[str] = desk.hear()["asks"]
        hosts = [
            nest.start(
                "torture.postgres_crowd_roles:agents",
                listen=answers.hear,
                # In turns, so that each server has half of every host's.
                who=who,
                asks=asks[number::_HOSTS],
            )
            for number in range(_HOSTS)
        ]
        took = _attach(tally, plan, servers, count, "never attached", _PATIENCE)
        tally.notes["s to attach"] = round(took, 1)
        early = asks[::_EARLY]
        _kill_one(tally, plan, servers, desk, early, answers)
        late = sorted(set(asks) - set(early))
        desk.say(answers=late)
        began = time.monotonic()
        desk.hear(_PATIENCE)
        tally.notes["s to answer all"] = round(time.monotonic() - began, 1)
        took = answers.wait_for(count, patience)
        tally.notes["s until the last was woken"] = round(took, 1)
        for host in hosts:
            tally.check(not host.error, "troubles", host.error)
        found = look(nest, ground.url)
    _compare(tally, asks, answers)
    for problem in found.problems:
        tally.fault("audit problems", problem)
    tally.require("agents", count)
    tally.require("answers", count if not plan.twin else 0)
    tally.require("answered while the server was dead", count // _EARLY)
    tally.require("waited at the server that died", count // 4)
    return tally.verdict()


def _attach(tally: Tally, plan: Plan, servers: list[Served], count: int, kind: str, seconds: float) -> float:
    """Wait until so many wait at the servers; return how long that took."""
    began = time.monotonic()
    waiting = 0
    while waiting < count and time.monotonic() < began + seconds:
        waiting = sum(_size(server.worker)["waiting"] for server in servers)
        time.sleep(0.05)
    took = time.monotonic() - began
    tally.check(waiting >= count, kind, (waiting, count))
    plan.progress(f"{waiting:,} of {count:,} wait after {took:.1f} s")
    return took


def _kill_one(
    tally: Tally, plan: Plan, servers: list[Served], desk: Worker, early: list[str], answers: Answers
) -> None:
    """Kill a server, answer some meanwhile, start it again; the others must come back by themselves."""
    sizes = [_size(server.worker) for server in servers]
    tally.notes["MiB of the servers"] = " and ".join(str(size["mebibytes"]) for size in sizes)
    tally.add("waited at the server that died", sizes[0]["waiting"])
    servers[0].worker.kill()
    began = time.monotonic()
    desk.say(answers=early)
    desk.hear(_PATIENCE)
    tally.add("answered while the server was dead", len(early))
    time.sleep(max(0.0, began + _AWAY_SECONDS - time.monotonic()))
    servers[0].start()
    # Whoever has its answer waits no more; all others must.
    if not plan.twin:
        answers.wait_for(len(early), _AGAIN_SECONDS)
    _attach_again(tally, plan, servers, answers, began)


def _attach_again(tally: Tally, plan: Plan, servers: list[Served], answers: Answers, began: float) -> None:
    waiting = 0
    while time.monotonic() < began + _AGAIN_SECONDS:
        left = plan.count(AGENTS, 40) - len(answers.got)
        waiting = sum(_size(server.worker)["waiting"] for server in servers)
        if waiting >= left:
            break
        time.sleep(0.05)
    took = time.monotonic() - began
    tally.check(took < _AGAIN_SECONDS, "attached again too late", (waiting, took))
    tally.notes["s until all waited again"] = round(took, 1)
    sizes = [_size(server.worker)["mebibytes"] for server in servers]
    tally.notes["MiB afterwards"] = " and ".join(map(str, sizes))
    plan.progress(f"{waiting:,} wait again after {took:.1f} s")


def _size(worker: Worker) -> dict[str, Any]:
    worker.say(look=True)
    return worker.hear()


def _compare(tally: Tally, asks: list[str], answers: Answers) -> None:
    for ask_id in asks:
        tally.add("agents")
        got = answers.got.get(ask_id)
        tally.add("answers", got is not None)
        tally.check(got is not None, "missed", ask_id)
        is_own = got is None or got == (ask_id, value_for(ask_id))
        tally.check(is_own, "others' answers", (ask_id, got))
    for trouble in answers.troubles:
        tally.fault("troubles", trouble)


TRIAL = Trial(
    "pg-crowd",
    "ten thousand agents wait at two servers, one is killed: all wait again within a minute, none misses its answer",
    run,
    (
        Twin("nobody-rings-or-looks", "a lost ring costs a moment and never an answer", "missed", 0.004),
        Twin("wake-anyone", "a wait is woken by its own ask", "others' answers", 0.02),
    ),
    share=0.004,
)
