"""Everybody hears everything once: listeners that lag, drop, poll and are killed miss no message and see none twice."""

from __future__ import annotations

import threading
import time
from collections import Counter
from typing import Any

from assent.protocol.topic import CONTROL_TOPIC, CURRENT_TOPIC
from torture.judge import BROKEN, EFFECTS, Judge
from torture.listeners_roles import MANNERS, PROJECT
from torture.log import Entry, read_log
from torture.nest import Nest, Worker
from torture.trial import Plan, Tally, Trial, Twin, Verdict

__all__ = ["TRIAL", "run"]

COMMANDS = 10_000
SENDERS = 2
ROOMS = 4
"""Processes that listen, each with one listener of every manner."""
KILLS = 100
TOPICS = (CONTROL_TOPIC, CURRENT_TOPIC)
KINDS = (
    "gaps",
    "seen twice or in another order",
    "shown otherwise",
    "state seen before its RESULT",
    "never came to the end",
    *BROKEN,
    "audit problems",
)
_PATIENCE = 120.0
_LITTLE_PATIENCE = 1.0
"""For twins: who has lost the last message waits for it without end."""

Seen = dict[str, dict[str, list[tuple[int, int]]]]


class Room:
    """One process of listeners, and whoever takes its place; remembers what they saw."""

    def __init__(self, nest: Nest, number: int) -> None:
        self._nest = nest
        self.manners = {f"{manner}-{number}": manner for manner in MANNERS}
        self.seen: Seen = {name: {topic: [] for topic in TOPICS} for name in self.manners}
        self.watched: list[tuple[int, int]] = []
        self.is_ready, self.is_rested = threading.Event(), threading.Event()
        self.worker = self._open()

    def _open(self) -> Worker:
        self.is_ready.clear()
        cursors = {
            name: {topic: seen[-1][0] if seen else 0 for topic, seen in places.items()}
            for name, places in self.seen.items()
        }
        role = "torture.listeners_roles:listeners"
        store = str(self._nest.store)
        return self._nest.start(role, listen=self._hear, store=store, cursors=cursors, manners=self.manners)

    def _hear(self, message: dict[str, Any]) -> None:
        if "seen" in message:
            self.seen[message["name"]][message["topic"]] += message["seen"]
            self.watched += [message["watched"]] if "watched" in message else []
        elif "ready" in message:
            self.is_ready.set()
        else:
            self.is_rested.set()

    def reopen(self) -> None:
        """Kill all who listen there; others come and go on behind what these told."""
        self.worker.kill()
        self.worker = self._open()


def run(plan: Plan) -> Verdict:
    """Send commands while all listen, then compare what each saw with the log."""
    tally = Tally(KINDS)
    commands = plan.count(COMMANDS, 60)
    with Nest(plan.twin, in_memory=True) as nest:
        rooms = [Room(nest, number) for number in range(ROOMS)]
        for room in rooms:
            room.is_ready.wait(_PATIENCE)
        codes = _send(plan, tally, nest, rooms, commands)
        log = read_log(nest, PROJECT)
        _rest(tally, rooms, _ends(log.entries), _LITTLE_PATIENCE if plan.twin else _PATIENCE)
    for problem in log.problems:
        tally.fault("audit problems", problem)
    tally.add("commands", sum(codes.values()))
    tally.add("executed", codes["success"])
    Judge(tally).hear_all(log.entries)
    by_number = {entry.sequence: entry for entry in log.entries}
    for room in rooms:
        for name, places in room.seen.items():
            tally.add("listeners")
            for topic, seen in places.items():
                _compare(tally, log.entries, (name, topic), seen)
        for state, before in room.watched:
            if by_number[state].type in EFFECTS.values():
                tally.add("states watched")
                tally.check(before == state - 1, "state seen before its RESULT", (state, before))
    tally.require("commands", commands)
    tally.require("executed", commands * 6 // 10)
    tally.require("messages heard", commands * ROOMS * len(MANNERS) * 3)
    tally.require("listeners", ROOMS * len(MANNERS))
    tally.require("kills", plan.count(KILLS, 4) * 6 // 10)
    tally.require("states watched")
    return tally.verdict()


def _send(plan: Plan, tally: Tally, nest: Nest, rooms: list[Room], commands: int) -> Counter[str]:
    """Let the senders send, and kill listeners until they have."""
    chance = plan.chance()
    shares = [commands // SENDERS + (place < commands % SENDERS) for place in range(SENDERS)]
    role = "torture.listeners_roles:sender"
    senders = [
        nest.start(role, store=str(nest.store), name=f"s{place}", count=share)
        for place, share in enumerate(shares)
    ]
    codes: Counter[str] = Counter()
    is_over = threading.Event()

    def gather() -> None:
        for worker in senders:
            codes.update(worker.hear(300)["codes"])
        is_over.set()

    threading.Thread(target=gather, daemon=True).start()
    kills = plan.count(KILLS, 4)
    until = time.monotonic() + 300
    while not is_over.wait(chance.uniform(0, 0.2)) and time.monotonic() < until:
        if tally.counts["kills"] < kills:
            room = chance.choice(rooms)
            room.is_ready.wait(_PATIENCE)
            room.reopen()
            tally.add("kills")
    # However soon they were done: those who are killed now go on over what is there.
    while tally.counts["kills"] < kills:
        chance.choice(rooms).reopen()
        tally.add("kills")
    return codes


def _ends(entries: list[Entry]) -> dict[str, int]:
    return {
        topic: max((entry.sequence for entry in entries if entry.topic == topic), default=0)
        for topic in TOPICS
    }


def _rest(tally: Tally, rooms: list[Room], ends: dict[str, int], patience: float) -> None:
    for room in rooms:
        room.worker.say(ends=ends)
    until = time.monotonic() + patience
    for room in rooms:
        is_rested = room.is_rested.wait(max(0.0, until - time.monotonic()))
        tally.check(is_rested, "never came to the end", (list(room.manners), room.worker.error))
        room.worker.kill()


def _compare(tally: Tally, entries: list[Entry], whose: tuple[str, str], seen: list[tuple[int, int]]) -> None:
    expected = {entry.sequence: entry.check for entry in entries if entry.topic == whose[1]}
    tally.add("messages heard", len(seen))
    last = 0
    for sequence, check in seen:
        tally.check(sequence > last, "seen twice or in another order", (whose, last, sequence))
        tally.check(expected.get(sequence) == check, "shown otherwise", (whose, sequence))
        last = sequence
    for sequence in sorted(expected.keys() - {number for number, _ in seen}):
        tally.fault("gaps", (whose, sequence))


TRIAL = Trial(
    "listeners",
    "twenty listeners that lag, drop, poll and are killed hear every command's messages once, in order",
    run,
    (
        Twin("feed-skips", "a feed goes on right behind its cursor", "gaps", 0.006),
        Twin(
            "read-from-the-cursor-on",
            "a reader gets what comes after its number",
            "seen twice or in another order",
            0.006,
        ),
    ),
    share=0.006,
)
