"""The database goes away again and again, and connections break around COMMIT: what was acknowledged is there, once."""

from __future__ import annotations

import signal
import threading
import time
from collections import defaultdict
from typing import Any

import msgspec

from torture.look import Look, Row, look
from torture.nest import Nest
from torture.postgres_ground import Ground
from torture.postgres_proxy import CUTS, CuttingProxy
from torture.trial import Plan, Tally, Trial, Twin, Verdict, is_plain

__all__ = ["TRIAL", "run"]

ANSWERS = 10_000
RESTARTS = 50
_HUBS, _THREADS = 3, 6
_WAYS = (signal.SIGINT, signal.SIGQUIT, signal.SIGKILL)
_LONGEST_AWAY = 2.0
_LONGEST_LIFE = 15.0
_CUT_SHARE = 0.03
_REST_SECONDS = 90.0
_HEALTHY_SECONDS = 10.0
KINDS = (
    "lost",
    "twice",
    "told otherwise",
    "false saved",
    "false unsaved",
    "left unknown",
    "unclear errors",
    "troubles",
    "audit problems",
)


class Diary:
    """What the hubs were told. Filled by the threads that hear them."""

    def __init__(self) -> None:
        self.told: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
        self.moments: defaultdict[str, list[float]] = defaultdict(list)
        """By hub, when each acknowledgement came."""
        self.rested: defaultdict[str, threading.Event] = defaultdict(threading.Event)

    def hear(self, who: str, message: dict[str, Any]) -> None:
        """Keep one line."""
        kind = message.pop("kind")
        if kind == "rested":
            self.rested[who].set()
            return
        self.told[kind].append(message)
        if kind in ("opened", "answered"):
            self.moments[who].append(time.monotonic())

    def wait_for(self, kind: str, count: int, seconds: float) -> None:
        """Wait until so much of a kind was told, or the time is over."""
        until = time.monotonic() + seconds
        while len(self.told[kind]) < count and time.monotonic() < until:
            time.sleep(0.005)


def run(plan: Plan) -> Verdict:
    """End the database in every way during a load of answers, and compare the diaries with what it holds."""
    tally = Tally(KINDS)
    diary = Diary()
    with (
        Ground() as ground,
        CuttingProxy(ground.server.port, seed=plan.seed, share=_CUT_SHARE) as proxy,
        Nest(plan.twin) as nest,
    ):
        url = proxy.url(ground.url)

        def hear_of(name: str) -> Any:
            return lambda message: diary.hear(name, message)

        names = [f"hub{number}" for number in range(_HUBS)]
        hubs = [
            nest.start(
                "torture.postgres_outage_roles:answers",
                listen=hear_of(name),
                url=url,
                name=name,
                threads=_THREADS,
            )
            for name in names
        ]
        backs = _storm(plan, tally, ground, diary)
        proxy.is_cutting = False
        for hub in hubs:
            hub.say(rest=True)
        for name, hub in zip(names, hubs, strict=True):
            has_rested = diary.rested[name].wait(_REST_SECONDS)
            tally.check(has_rested, "troubles", f"{name} never rested {hub.error}")
        hashes = ground.hashes()
        found = look(nest, ground.url)
        for how in CUTS:
            tally.add(f"cut {how} COMMIT", proxy.cuts[how])
    _compare(tally, diary, found)
    _compare_unknown(tally, diary, hashes)
    _measure(tally, diary, backs)
    _require(plan, tally)
    return tally.verdict()


def _storm(plan: Plan, tally: Tally, ground: Ground, diary: Diary) -> list[float]:
    """Restart the database between answers, evenly over all of them; return when it was back."""
    chance = plan.chance()
    answers, restarts = plan.count(ANSWERS), plan.count(RESTARTS, 2)
    backs: list[float] = []
    for number in range(restarts):
        least = round(answers * (number + chance.random()) / (restarts + 1))
        diary.wait_for("answered", least, _LONGEST_LIFE)
        how = _WAYS[number % len(_WAYS)]
        backs.append(ground.away(how, chance.uniform(0, _LONGEST_AWAY)))
        tally.add("restarts")
        tally.add(f"by {how.name}")
        if number % 10 == 9:
            plan.progress(f"{number + 1} of {restarts} restarts, {len(diary.told['answered']):,} answers")
    diary.wait_for("answered", answers, 4 * _LONGEST_LIFE)
    return backs


def _compare(tally: Tally, diary: Diary, found: Look) -> None:
    for told in (*diary.told["opened"], *diary.told["answered"]):
        row = msgspec.convert(told["row"], Row)
        tally.add("acknowledged")
        events = found.events.get(row.ask_id, [])
        is_answer = row.state == "answered"
        tally.add("answers", is_answer)
        type_ = "ask.answered" if is_answer else "ask.opened"
        times = sum(event.type == type_ for event in events)
        tally.check(times > 0 and row.ask_id in found.rows, "lost", told)
        tally.check(times <= 1, "twice", (told, events))
        if is_answer and row.ask_id in found.rows:
            is_same = found.rows[row.ask_id] == row and row.command_id == told["command_id"]
            tally.check(is_same, "told otherwise", (told, found.rows[row.ask_id]))
    for ask_id in found.rows:
        tally.check(len(found.endings(ask_id)) <= 1, "twice", ask_id)
    for told in diary.told["refused"]:
        tally.fault("twice", told)
    for told in diary.told["trouble"]:
        tally.fault("troubles", told["what"])
    for told in diary.told["away"]:
        tally.add("told that it is away")
        tally.check(is_plain(told["sentence"]), "unclear errors", told)
    for problem in found.problems:
        tally.fault("audit problems", problem)


def _compare_unknown(tally: Tally, diary: Diary, hashes: dict[int, str]) -> None:
    """Each commit whose reply was lost: what was found out about it must be so."""
    for told in diary.told["unknown"]:
        tally.add("commits of unknown end")
        is_there = hashes.get(told["number"]) == told["hash"]
        match told["verdict"]:
            case "saved":
                tally.add("found saved")
                tally.check(is_there, "false saved", told)
            case "not saved":
                tally.add("found not saved")
                tally.check(not is_there, "false unsaved", told)
            case _:
                tally.fault("left unknown", told)


def _measure(tally: Tally, diary: Diary, backs: list[float]) -> None:
    """How soon after the database was back each hub acknowledged something: told, and no verdict hangs on it."""
    waits = sorted(
        next((moment - back for moment in moments if moment >= back), _REST_SECONDS)
        for back in backs
        for moments in diary.moments.values()
    )
    if waits:
        tally.notes["s until healthy p50"] = round(waits[len(waits) // 2], 2)
        tally.notes["s until healthy at most"] = round(waits[-1], 2)
        tally.notes["healthy within 10 s"] = (
            f"{sum(wait <= _HEALTHY_SECONDS for wait in waits)} of {len(waits)}"
        )


def _require(plan: Plan, tally: Tally) -> None:
    answers, restarts = plan.count(ANSWERS), plan.count(RESTARTS, 2)
    tally.require("answers", answers)
    tally.require("restarts", restarts)
    for how in _WAYS[: min(len(_WAYS), restarts)]:
        tally.require(f"by {how.name}", restarts // len(_WAYS))
    for cut in CUTS:
        tally.require(f"cut {cut} COMMIT", answers // 400)
    for name in ("found saved", "found not saved"):
        tally.require(name, answers // 400)
    # Of all that was tried, most must have gone through.
    tried = tally.counts["acknowledged"] + tally.counts["told that it is away"]
    tally.require("acknowledged", round(0.6 * tried))


TRIAL = Trial(
    "pg-outage",
    "answers while the database is ended again and again and connections break around COMMIT: none lost, none doubled",
    run,
    (
        Twin("believe-it-saved", "a commit of unknown end is looked for", "false saved", 0.03),
        Twin("believe-it-lost", "a commit of unknown end is found where it is", "false unsaved", 0.03),
    ),
    share=0.01,
)
