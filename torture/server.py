"""kill -9 of the server during a mixed load: what was acknowledged over HTTP is there, once, and every stream is dense."""

from __future__ import annotations

import threading
import time
from collections import Counter, defaultdict
from random import Random
from typing import Any

from assent.protocol.principal import Role
from torture.judge import BROKEN, Judge
from torture.log import Log, read_log
from torture.nest import Nest, Worker
from torture.server_listeners import WAYS
from torture.server_roles import TOPIC
from torture.site import PROJECT, Served
from torture.trial import Plan, Tally, Trial, Twin, Verdict

__all__ = ["TRIAL", "run"]

KILLS = 200
_CREWS = ("agents", "people")
_REST_SECONDS, _TWIN_SECONDS = 120.0, 2.0
_LONGEST_LIFE, _SPREAD = 3.0, 0.1
_MOST_TOLD = 20
"""A server dies after so many acknowledgements at most, and in the middle of the next ones."""
_MOST_CHANGES = 8
_ENDS = ("ask.answered", "ask.declined", "ask.withdrawn", "ask.expired", "ask.superseded")
_KINDS = ("lost", "twice", "told otherwise", "gaps", "never caught up", "troubles")


class Diary:
    """What everybody was told. Filled by the threads that hear them."""

    def __init__(self) -> None:
        self.told: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
        self.heard: dict[str, dict[str, Any]] = {}
        self.ready = {who: threading.Event() for who in _CREWS}
        self.rested = {who: threading.Event() for who in _CREWS}

    @property
    def count(self) -> int:
        """How much was acknowledged so far."""
        return sum(len(self.told[kind]) for kind in (*_MUST_BE, "posted", "turn", "steered"))

    def hear(self, who: str, message: dict[str, Any]) -> None:
        """Keep one line."""
        kind = message.pop("kind")
        if kind == "heard":
            self.heard[who] = message
        elif kind in ("ready", "rested"):
            getattr(self, kind)[who].set()
        else:
            self.told[kind].append(message)


def run(plan: Plan) -> Verdict:
    """Kill the server at random moments and compare what was acknowledged with the log."""
    tally = Tally((*_KINDS, *BROKEN, "audit problems"))
    diary = Diary()
    with Nest(plan.twin) as nest:
        served = Served(nest)
        agents = served.trust(*((Role.AGENT, f"coder-{number}") for number in range(3)))
        people = served.trust(*((Role.HUMAN, name) for name in ("ana", "ben", "cleo", "dora")))
        (watcher,) = served.trust((Role.OBSERVER, "eye"))

        def start(role: str, name: str, **setting: Any) -> Worker:
            return nest.start(role, listen=lambda message: diary.hear(name, message), **setting)

        for way in WAYS:
            start("torture.server_listeners:listener", way, way=way, who=watcher)
        crew = start("torture.server_roles:agents", "agents", who=agents)
        start("torture.server_roles:people", "people", who=people)
        for who in _CREWS:
            tally.check(diary.ready[who].wait(_REST_SECONDS), "troubles", f"{who} never began")
        _storm(plan, tally, served, diary)
        served.worker.kill()
        served.start()  # one that lives on
        crew.say(rest=True)
        # Without a guard some wait for what is gone for ever; what is to be seen then has been seen.
        patience = _TWIN_SECONDS if plan.twin else _REST_SECONDS
        tally.check(diary.rested["agents"].wait(patience), "troubles", f"agents never rested {crew.error}")
        log = _catch_up(tally, nest, diary, patience)
        served.worker.kill()
    _compare(tally, diary, log)
    tally.require("kills", plan.count(KILLS))
    tally.require("died between deed and reply", plan.count(KILLS) // 20)
    tally.require("acknowledged", 3 * plan.count(KILLS))
    for kind in (*_MUST_BE, "posted", "turns", "steered"):
        tally.require(kind, plan.count(KILLS) // 20)
    for way in ("socket", "stream"):  # whoever follows the log by polls does not notice a death
        tally.require(f"{way} came again", plan.count(KILLS) // 4)
    return tally.verdict()


def _storm(plan: Plan, tally: Tally, served: Served, diary: Diary) -> None:
    chance = plan.chance()
    kills = plan.count(KILLS)
    aways: list[float] = []
    for number in range(kills):
        _live(served, diary, chance)
        tally.add("died between deed and reply", served.worker.is_gone)
        served.worker.kill()
        began = time.monotonic()
        # The moment that a kill from outside seldom meets is met on purpose in every other life: done, and not told.
        served.start(untold=chance.randint(1, _MOST_CHANGES) if number % 2 else 0)
        aways.append(1000 * (time.monotonic() - began))
        tally.add("kills")
        if number % 20 == 19:
            plan.progress(f"{number + 1} of {kills} kills, {diary.count:,} acknowledged")
    aways.sort()
    tally.notes["ms away p50"] = round(aways[len(aways) // 2])
    tally.notes["ms away p99"] = round(aways[min(len(aways) - 1, len(aways) * 99 // 100)])


def _live(served: Served, diary: Diary, chance: Random) -> None:
    """Let the server live for a moment: most of its lives long enough to be of use, however busy the machine is."""
    least = diary.count + chance.randint(0, _MOST_TOLD)
    until = time.monotonic() + _LONGEST_LIFE
    time.sleep(chance.uniform(0.0, _SPREAD))
    while diary.count < least and not served.worker.is_gone and time.monotonic() < until:
        time.sleep(0.002)


def _catch_up(tally: Tally, nest: Nest, diary: Diary, patience: float) -> Log:
    """Read the log, and wait until every listener has heard all of it."""
    log = read_log(nest, PROJECT)
    last = log.entries[-1].sequence
    until = time.monotonic() + patience
    for way in WAYS:
        while diary.heard.get(way, {}).get("number", 0) < last and time.monotonic() < until:
            time.sleep(0.05)
        heard = diary.heard.get(way, {"number": 0, "comings": 0})
        tally.check(heard["number"] >= last, "never caught up", (way, heard, last))
        tally.add(f"{way} came again", heard["comings"] - 1)
    return log


class Found:
    """What the log says, sorted by what it is about."""

    def __init__(self, log: Log) -> None:
        self.types: defaultdict[str, list[str]] = defaultdict(list)
        """By ask, receipt, task or notification."""
        self.endings: dict[str, dict[str, Any]] = {}
        self.titles: Counter[str] = Counter()
        self.notes: Counter[str] = Counter()
        self.chats: Counter[str] = Counter()
        """By task, how often something was said."""
        for entry in log.entries:
            self.types[entry.subject].append(entry.type)
            if entry.type == "ask.opened":
                self.titles[entry.body["prompt"]["title"]] += 1
            elif entry.type in _ENDS:
                self.endings[entry.subject] = entry.body.get("answer") or entry.body["outcome"]
            elif entry.type == "topic.posted" and entry.topic == TOPIC:
                self.notes[entry.message["note"]] += 1
            elif entry.type == "topic.posted":
                self.chats[(entry.topic or "").partition(":")[2]] += 1


def _compare(tally: Tally, diary: Diary, log: Log) -> None:
    found = Found(log)
    for subject, happened in found.types.items():
        ends = [type_ for type_ in happened if type_ in _ENDS]
        tally.check(len(ends) <= 1, "twice", (subject, happened))
    asked = {title: times for title, times in found.titles.items() if title.startswith(("Question", "Do"))}
    for name, times in (asked | found.notes).items():
        tally.check(times == 1, "twice", (name, times))
    _compare_acknowledged(tally, diary, found)
    for trouble in diary.told["trouble"]:
        tally.fault("troubles", trouble["what"])
    for gap in diary.told["gap"]:
        tally.fault("gaps", gap)
    numbers = [entry.sequence for entry in log.entries]
    tally.check(numbers == list(range(1, len(numbers) + 1)), "gaps", "in the log itself")
    tally.add("events", len(numbers))
    tally.add("acknowledged", diary.count)
    tally.add("turns", len(diary.told["turn"]))
    tally.add("steered", len(diary.told["steered"]))
    Judge(tally).hear_all(log.entries)
    for problem in log.problems:
        tally.fault("audit problems", problem)


_MUST_BE = {
    "opened": ("ask_id", "ask.opened"),
    "answered": ("ask_id", "ask.answered"),
    "declined": ("ask_id", "ask.declined"),
    "withdrawn": ("ask_id", "ask.withdrawn"),
    "granted": ("receipt_id", "receipt.granted"),
    "redeemed": ("receipt_id", "receipt.redeemed"),
    "task": ("task_id", "task.created"),
    "handed": ("notification_id", "notification.added"),
    "resolved": ("notification_id", "notification.resolved"),
}
"""What somebody was told, and the event that must be in the log for it, exactly once."""


def _compare_acknowledged(tally: Tally, diary: Diary, found: Found) -> None:
    for kind, (name, type_) in _MUST_BE.items():
        for told in diary.told[kind]:
            tally.add(kind)
            times = found.types[told[name]].count(type_)
            tally.check(times > 0, "lost", (kind, told))
            tally.check(times <= 1, "twice", (kind, told, times))
    for told in (*diary.told["answered"], *diary.told["woken"]):
        ending = found.endings.get(told["ask_id"], {})
        is_same = "values" not in told or told["values"] == ending.get("values")
        is_mine = "by" not in told or ending.get("by") == f"human:{told['by']}"
        tally.check(not ending or (is_same and is_mine), "told otherwise", (told, ending))
    for told in diary.told["refused"]:
        tally.add("told who was first")
        # Each answers an ask once: whoever is told that they were first were heard twice.
        tally.check(told["winner"] != f"human:{told['by']}", "twice", told)
    for told in diary.told["posted"]:
        tally.add("posted")
        tally.check(found.notes[told["note"]] > 0, "lost", told)
    for told in diary.told["clarified"]:
        tally.add("clarified")
        tally.check(found.chats[told["task_id"]] == 1, "twice", (told, found.chats[told["task_id"]]))
    for told in diary.told["spent again"]:
        tally.fault("twice", told)


TRIAL = Trial(
    "server",
    "kill -9 of the server during a mixed load loses nothing acknowledged, does nothing twice, and leaves no gap",
    run,
    (
        Twin("acknowledge-before-commit", "the reply waits for the commit", "lost", 0.03),
        Twin("forget-idempotency-keys", "what is sent again under its key is done once", "twice", 0.04),
        Twin("resume-from-now", "a stream goes on where it was cut off", "gaps", 0.025),
    ),
    share=0.02,
)
