"""Sixteen clients over two servers answer the same ask at once: one wins, all are told so, and every listener sees it."""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from random import Random
from typing import Any

import msgspec

from assent.protocol.principal import Role
from torture.judge import BROKEN, Judge
from torture.log import Log, read_log
from torture.look import Look, Row, look
from torture.nest import Nest, Worker
from torture.postgres_ground import Ground
from torture.site import PROJECT, Served, Trusted
from torture.trial import Plan, Tally, Trial, Twin, Verdict

__all__ = ["TRIAL", "run"]

ASKS = 3_000
RACERS = 16
_CREWS = 4
_WAYS = ("socket", "stream")
_REST_SECONDS, _TWIN_SECONDS = 60.0, 3.0
KINDS = (
    "without one winner",
    "told another winner",
    "sentences without who and when",
    "log differs",
    "gaps",
    "never caught up",
    "troubles",
    *BROKEN,
    "audit problems",
)


class Reply(msgspec.Struct, frozen=True):
    """What one racer was told."""

    name: str
    code: str
    """Empty for the winner."""
    sentence: str
    row: Row | None


class Ears:
    """What the listeners heard. Filled by the threads that hear them."""

    def __init__(self) -> None:
        self.last: defaultdict[str, int] = defaultdict(int)
        self.gaps: list[dict[str, Any]] = []
        self.troubles: list[str] = []
        self.has_rested = threading.Event()

    def hear(self, who: str, message: dict[str, Any]) -> None:
        """Keep one line."""
        if "trouble" in message:
            self.troubles.append(message["trouble"])
        elif "rested" in message:
            self.has_rested.set()
        elif message["kind"] == "gap":
            self.gaps.append({"who": who, **message})
        else:
            self.last[who] = message["number"]


class Derby:
    """The two servers and all who call them."""

    def __init__(self, nest: Nest, url: str, ears: Ears) -> None:
        self.servers = [Served(nest, url) for _ in range(2)]
        agents = self._trust(Role.AGENT, "coder", 2)
        people = self._trust(Role.HUMAN, "person", RACERS)
        steering = self._trust(Role.HUMAN, "pilot", 2)
        watchers = self._trust(Role.OBSERVER, "eye", 2)

        def hear_of(name: str) -> Any:
            return lambda message: ears.hear(name, message)

        self.listeners = [f"{way} {number + 1}" for way in _WAYS for number in range(2)]
        for name in self.listeners:
            way, _, number = name.partition(" ")
            watcher = watchers[int(number) - 1]
            nest.start("torture.server_listeners:listener", listen=hear_of(name), way=way, who=watcher)
        self.pilot = nest.start(
            "torture.postgres_race_roles:steering",
            listen=hear_of("pilot"),
            driver=agents[0],
            person=steering[1],
        )
        self.opener = nest.start("torture.postgres_race_roles:opener", who=agents)
        self.crews = [
            nest.start("torture.postgres_race_roles:racers", who=people[number::_CREWS])
            for number in range(_CREWS)
        ]
        for worker in (self.opener, *self.crews):
            worker.hear()

    def _trust(self, role: Role, name: str, count: int) -> list[Trusted]:
        """Return tokens for so many, in turns for one server and for the other."""
        made = self.servers[0].trust(*((role, f"{name}-{number}") for number in range(count)))
        # In pairs by crew, so that each crew has clients of both servers.
        return [
            msgspec.structs.replace(trusted, url=self.servers[(number + number // _CREWS) % 2].url)
            for number, trusted in enumerate(made)
        ]

    def race(self, number: int, chance: Random) -> tuple[str, list[Reply]]:
        """Open an ask and have some answer it at the same moment; return what each was told."""
        self.opener.say(number=number)
        ask_id = str(self.opener.hear()["ask_id"])
        field = chance.sample(range(RACERS), chance.randint(2, RACERS))
        by_crew: defaultdict[int, list[int]] = defaultdict(list)
        for place in field:
            by_crew[place % _CREWS].append(place // _CREWS)
        at = time.monotonic_ns() + round(0.002 * 1e9)
        called: list[Worker] = []
        for crew, places in by_crew.items():
            self.crews[crew].say(ask_id=ask_id, at=at, places=places)
            called.append(self.crews[crew])
        return ask_id, [msgspec.convert(told, Reply) for crew in called for told in crew.hear()["replies"]]


def run(plan: Plan) -> Verdict:
    """Race for every ask and compare what all were told with the row, the log and what the listeners heard."""
    tally = Tally(KINDS)
    chance = plan.chance()
    asks = plan.count(ASKS, 20)
    ears = Ears()
    patience = _TWIN_SECONDS if plan.twin else _REST_SECONDS
    with Ground() as ground, Nest(plan.twin) as nest:
        derby = Derby(nest, ground.url, ears)
        rounds: list[tuple[str, list[Reply]]] = []
        began = time.monotonic()
        for number in range(asks):
            rounds.append(derby.race(number, chance))
            tally.add("asks raced for")
            if number % 500 == 499:
                plan.progress(f"{number + 1} of {asks} asks, {time.monotonic() - began:.0f} s")
        derby.pilot.say(rest=True)
        tally.check(ears.has_rested.wait(patience), "troubles", f"the pilot never rested {derby.pilot.error}")
        log = read_log(nest, PROJECT, store=ground.url)
        _catch_up(tally, ears, log, derby.listeners, patience)
        found = look(nest, ground.url)
    for ask_id, replies in rounds:
        _compare(tally, found, ask_id, replies)
    _judge(tally, ears, log)
    for name in ("asks raced for", "losers told", "won on the first server", "won on the second server"):
        tally.require(name, asks if name in ("asks raced for", "losers told") else asks // 10)
    tally.require("controls", plan.count(100, 2))
    return tally.verdict()


def _compare(tally: Tally, found: Look, ask_id: str, replies: list[Reply]) -> None:
    row = found.rows[ask_id]
    winners = [reply for reply in replies if not reply.code]
    tally.add("replies", len(replies))
    tally.check(len(winners) == 1 and row.state == "answered", "without one winner", (row, replies))
    for reply in replies:
        tally.check(reply.row == row, "told another winner", (reply, row))
        if reply.code:
            tally.add("losers told", reply.code == "conflict")
            who, when = row.by.partition(":")[2], row.at[:19].replace("T", " ")
            is_plain = reply.code == "conflict" and who in reply.sentence and when in reply.sentence
            tally.check(is_plain, "sentences without who and when", reply)
        else:
            number = int(reply.name.rpartition("-")[2])
            tally.add(f"won on the {('first', 'second')[(number + number // _CREWS) % 2]} server")
            tally.check(row.by == f"human:{reply.name}", "told another winner", (reply, row))
    endings = [(event.sequence, event.type, event.command_id) for event in found.endings(ask_id)]
    tally.check(endings == [(row.sequence, "ask.answered", row.command_id)], "log differs", (row, endings))


def _catch_up(tally: Tally, ears: Ears, log: Log, listeners: list[str], patience: float) -> None:
    """Wait until every listener has heard the whole log."""
    last = log.entries[-1].sequence
    until = time.monotonic() + patience
    for name in listeners:
        while ears.last[name] < last and time.monotonic() < until:
            time.sleep(0.02)
        tally.check(ears.last[name] >= last, "never caught up", (name, ears.last[name], last))
        tally.add("events heard by listeners", ears.last[name])


def _judge(tally: Tally, ears: Ears, log: Log) -> None:
    numbers = [entry.sequence for entry in log.entries]
    tally.check(numbers == list(range(1, len(numbers) + 1)), "gaps", "in the log itself")
    tally.add("events", len(numbers))
    for gap in ears.gaps:
        tally.fault("gaps", gap)
    for trouble in ears.troubles:
        tally.fault("troubles", trouble)
    # What every listener heard without a gap is this very log: REQUEST, ACK, RESULT and STATE stand in it in order.
    Judge(tally).hear_all(log.entries)
    tally.add("controls", sum(entry.type == "control.resolved" for entry in log.entries))
    for problem in log.problems:
        tally.fault("audit problems", problem)


TRIAL = Trial(
    "pg-race",
    "of two to sixteen answers at once over two servers on one database exactly one wins, and no listener sees a gap",
    run,
    (
        Twin(
            "look-then-write",
            "the state is read inside the transaction that changes it",
            "without one winner",
            0.007,
        ),
        Twin("feed-skips", "a follower goes on where it was", "gaps", 0.01),
    ),
    share=0.007,
)
