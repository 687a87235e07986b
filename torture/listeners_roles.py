"""Workers of the listener trial: those who send commands without a pause, and those who listen as people do.

A listener has a cursor in each of the two topics, and a manner. What it has told the trial it has seen; whoever comes
after it goes on behind that.
"""

from __future__ import annotations

import itertools
import os
import random
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from zlib import crc32

from assent.client.client import Client
from assent.client.connect import open_hub
from assent.hub.ids import new_request_id
from assent.protocol.principal import Principal, Role
from assent.protocol.topic import CONTROL_TOPIC, CURRENT_TOPIC, Message
from torture.nursery import Wire

__all__ = ["MANNERS", "PROJECT", "THREADS", "listeners", "sender"]

PROJECT = "forum"
THREADS = 4
MANNERS = ("steady", "lagging", "dropping", "iterating", "polling")
_ANA = Principal(Role.HUMAN, "ana")
_GLANCE = 0.3
_WATCHED = 40
"""One message in so many is looked at closely."""


def sender(wire: Wire, store: str, name: str, count: int) -> None:
    """Send `count` commands, from several threads, each to a run of its own."""
    hub = open_hub(Path(store), os.environ)
    client, agent = Client(hub, PROJECT, _ANA), Client(hub, PROJECT, Principal(Role.AGENT, "coder"))
    codes: list[str] = []

    def send(place: int) -> None:
        run_id = f"loop-{place}-{name}"
        share = count // THREADS + (place < count % THREADS)
        with agent.run(run_id=run_id, model="haiku"):
            told = [_command(client, run_id, number, is_last=number == share - 1) for number in range(share)]
        codes.extend(told)

    threads = [threading.Thread(target=send, args=(place,)) for place in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(300)
    wire.say(codes=codes)
    wire.hear()


def _command(client: Client, run_id: str, number: int, *, is_last: bool) -> str:
    if is_last:
        return _told(client, run_id, "cancel")
    command = ("pause", "escalate", "resume", "escalate")[number % 4]
    if number % 10 == 9:
        # Never possible: it is acknowledged, and refused by its RESULT.
        command = "pause" if number % 4 in (1, 2) else "resume"
    model = "opus" if number % 4 == 1 else "haiku"
    request_id = new_request_id()
    code = _told(client, run_id, command, model, request_id)
    if number % 25 == 24:
        _told(client, run_id, command, model, request_id)  # the same again: its RESULT, and nothing else
    return code


def _told(
    client: Client, run_id: str, command: str, model: str | None = None, request_id: str | None = None
) -> str:
    result = client.control(run_id, command, model=model, request_id=request_id)
    return result.code or "success"


class Listener:
    """One listener in one topic."""

    def __init__(self, wire: Wire, client: Client, name: str, topic: str, cursor: int) -> None:
        self._wire = wire
        self._client = client
        self._name = name
        self._topic = topic
        self._cursor = cursor
        self._chance = random.Random()
        self.until: int | None = None
        """The last number that will come, once that is known."""

    def listen(self, manner: str) -> None:
        """Listen in this manner until the end."""
        ways: dict[str, Callable[[], None]] = {
            "steady": lambda: self._follow(1_000_000, 0.0),
            "lagging": lambda: self._follow(1_000_000, 0.2),
            "dropping": lambda: self._follow(self._chance.randint(1, 20), 0.0),
            "iterating": self._iterate,
            "polling": self._poll,
        }
        while not self._is_over():
            ways[manner]()

    def _is_over(self) -> bool:
        return self.until is not None and self._cursor >= self.until

    def _follow(self, pages: int, lag: float) -> None:
        with self._client.hub.follow_topic(PROJECT, self._topic, self._cursor) as feed:
            for _ in range(pages):
                self._tell(feed.wait(_GLANCE))
                if self._is_over():
                    return
                time.sleep(self._chance.uniform(0, lag))

    def _iterate(self) -> None:
        # The iterator has no end, so as many are taken as are known to be there.
        known = len(self._client.read(self._topic, self._cursor, self._chance.randint(1, 50)))
        messages: Iterator[Message] = self._client.follow_topic(self._topic, self._cursor)
        for message in itertools.islice(messages, known):
            self._tell([message])
        time.sleep(0 if known else _GLANCE / 10)

    def _poll(self) -> None:
        self._tell(self._client.read(self._topic, self._cursor, self._chance.randint(1, 200)))
        time.sleep(self._chance.uniform(0, _GLANCE / 10))

    def _tell(self, messages: list[Message]) -> None:
        if not messages:
            return
        seen = [(message.sequence, crc32(message.body)) for message in messages]
        told: dict[str, object] = {"name": self._name, "topic": self._topic, "seen": seen}
        if self._topic == CURRENT_TOPIC and self._chance.random() < len(messages) / _WATCHED:
            # Who sees a state sees the RESULT that caused it: they became visible together.
            last = messages[-1].sequence
            before = self._client.read(CONTROL_TOPIC, max(0, last - 2), 1)
            told["watched"] = (last, before[0].sequence if before else 0)
        self._wire.say(**told)
        self._cursor = messages[-1].sequence


def listeners(wire: Wire, store: str, cursors: dict[str, dict[str, int]], manners: dict[str, str]) -> None:
    """Several listeners of one process, each from its cursors on."""
    client = Client(open_hub(Path(store), os.environ), PROJECT, Principal(Role.OBSERVER, "wall"))
    ears = [
        (manners[name], Listener(wire, client, name, topic, cursor))
        for name, places in cursors.items()
        for topic, cursor in places.items()
    ]
    threads = [threading.Thread(target=ear.listen, args=(manner,), daemon=True) for manner, ear in ears]
    for thread in threads:
        thread.start()
    wire.say(ready=True)
    ends = wire.hear()["ends"]
    for _, ear in ears:
        ear.until = ends[ear._topic]
    for thread in threads:
        thread.join(60)
    wire.say(rested=True)
    wire.hear()
