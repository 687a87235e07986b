"""Workers of the crowd: one client in many threads, tasks and forked children; and one that stops with the lock."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
import time
import traceback
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from assent.client.async_client import AsyncClient
from assent.client.client import Client
from assent.client.connect import open_hub
from assent.protocol.error import AssentError
from assent.protocol.principal import Principal, Role
from assent.storage.sql.transaction import SqlTransaction
from torture.nursery import Wire
from torture.twins import swap

__all__ = ["bystander", "crowd", "echo", "holder", "orphanage"]

PROJECT = "square"
_AGENT = Principal(Role.AGENT, "coder")
_PERSON = Principal(Role.HUMAN, "ana")


def echo(wire: Wire, store: str) -> None:
    """The person: answers every ask with the words that it was asked to say, whoever asks."""
    client = Client(open_hub(Path(store), os.environ), PROJECT, _PERSON)
    wire.say(ready=True)
    with client.hub.follow(PROJECT, 0) as feed:
        while True:
            for record in feed.wait(60):
                if record.type == "ask.opened":
                    ask = client.show(record.subject)
                    client.answer(ask.ask_id, ask.prompt.title.removeprefix("Say "))


class Crowd:
    """One hub, used by everybody in this process and its children."""

    def __init__(self, store: str, patience: float) -> None:
        self.patience = patience
        self.hub = open_hub(Path(store), os.environ)
        self.client = Client(self.hub, PROJECT, _AGENT)
        self.tasks = AsyncClient(self.hub, PROJECT, _AGENT)
        self.heard: list[tuple[str, str]] = []
        """What was asked for, and what came."""

    def ask(self, word: str) -> None:
        """Ask for a word and note what comes, from a thread."""
        self.heard.append((word, _told(lambda: self.client.ask(f"Say {word}", key=word, wait=self.patience))))

    async def ask_in_task(self, word: str) -> None:
        """The same from a task."""
        try:
            value = await self.tasks.ask(f"Say {word}", key=word, wait=self.patience)
        except AssentError as error:
            value = f"error {error.code}"
        self.heard.append((word, str(value)))

    def threads(self, name: str, count: int, times: int) -> None:
        """Many threads at once."""

        def live(place: int) -> None:
            for turn in range(times):
                self.ask(f"{name}-thread-{place}-{turn}")

        _run([partial(live, place) for place in range(count)], 4 * self.patience)

    def loops(self, name: str, count: int, times: int) -> None:
        """Several event loops at once, each in a thread of its own, each with many tasks."""
        places = list(range(count))

        async def live(place: int) -> None:
            words = [f"{name}-loop-{place}-{turn}" for turn in range(times)]
            await asyncio.gather(*map(self.ask_in_task, words))

        _run([lambda: asyncio.run(live(places.pop())) for _ in range(count)], 4 * self.patience)

    def forks(self, name: str, count: int) -> list[int]:
        """Children that use the parent's client, each in its own way, and leave in their own way."""
        return [self._fork(f"{name}-child-{place}", place) for place in range(count)]

    def _fork(self, name: str, place: int) -> int:
        out, into = os.pipe()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # a fork beside threads is what is tried here
            child = os.fork()
        if child:
            os.close(into)
            self._pipes.append(out)
            return child
        status = 3
        try:
            os.close(out)
            signal.alarm(round(4 * self.patience))
            self.heard = []
            uses: tuple[Callable[[], None], ...] = (
                lambda: self.ask(f"{name}-once"),
                lambda: self.threads(name, 4, 2),
                lambda: self.loops(name, 2, 4),
                lambda: self._grandchild(name),
            )
            uses[place % len(uses)]()
            for word, value in self.heard:
                os.write(into, f"{word}\t{value}\n".encode())
            if place % 3 == 0:
                self.hub.close()
            status = 0
            if place % 3 == 1:
                sys.exit(0)  # through the interpreter's own cleaning up
        except BaseException as error:  # noqa: BLE001 - a child must not run on as its parent
            if not isinstance(error, SystemExit):
                traceback.print_exc()
        finally:
            os._exit(status)

    def _grandchild(self, name: str) -> None:
        self.ask(f"{name}-before")
        child = self._fork(f"{name}-grand", 0)
        self.collect([child])
        self.ask(f"{name}-after")

    _pipes: list[int] = []  # noqa: RUF012 - one crowd a process

    def collect(self, children: list[int]) -> list[int]:
        """Wait for children and hear what they heard; return their exit statuses."""
        for out in self._pipes:
            with os.fdopen(out, "r") as pipe:
                for line in pipe:
                    word, _, value = line.rstrip("\n").partition("\t")
                    self.heard.append((word, value))
        self._pipes.clear()
        return [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]


def _told(call: Callable[[], object]) -> str:
    try:
        return str(call())
    except AssentError as error:
        return f"error {error.code}"


def _run(bodies: list[Callable[[], None]], seconds: float = 60.0) -> None:
    threads = [threading.Thread(target=body, daemon=True) for body in bodies]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(seconds)


def crowd(wire: Wire, store: str, patience: float) -> None:
    """Do what is ordered and tell what everybody heard."""
    everyone = Crowd(store, patience)
    while True:
        told = wire.hear()
        name, count = told["name"], told["count"]
        everyone.heard = []
        statuses: list[int] = []
        if told["what"] == "threads":
            everyone.threads(name, count, 4)
        elif told["what"] == "loops":
            everyone.loops(name, 4, count)
        else:
            # Waits of the parent are under way while it forks, and must come through.
            sleepers = threading.Thread(target=everyone.threads, args=(f"{name}-parent", 6, 2), daemon=True)
            sleepers.start()
            children = everyone.forks(name, count)
            statuses = everyone.collect(children)
            sleepers.join(4 * patience)
            everyone.ask(f"{name}-parent-afterwards")
        wire.say(heard=everyone.heard, statuses=statuses)


def orphanage(wire: Wire, store: str) -> None:
    """Again and again a parent opens the store, forks and leaves; its child goes on. Tell what the child was told."""
    turn = 0
    while True:
        ways = wire.hear()["leaves"]
        turn += 1
        out, into = os.pipe()
        parent = os.fork()
        if parent == 0:
            signal.alarm(30)
            os.close(out)
            _parent(store, f"turn-{turn}", ways, into)
        os.close(into)
        with os.fdopen(out) as pipe:
            keys = pipe.read().split()
        os.waitpid(parent, 0)
        wire.say(keys=keys)


def _parent(store: str, name: str, leaves: str, into: int) -> None:
    client = Client(open_hub(Path(store), os.environ), PROJECT, _AGENT)
    client.open("Parent here?", ["Yes", "No"], key=f"{name}-parent")
    has_begun, has_left = os.pipe(), os.pipe()
    if os.fork() == 0:
        try:
            _ask_on(client, f"{name}-before", into)
            os.close(has_left[1])
            os.write(has_begun[1], b".")
            os.read(has_left[0], 1)  # returns when the last one who could write is gone
            _ask_on(client, f"{name}-after", into)
        finally:
            os._exit(0)
    os.read(has_begun[0], 1)
    os.write(into, f"{name}-parent\n".encode())
    if leaves == "closes":
        client.close()
        os.close(has_left[1])
        os.wait()
    elif leaves == "exits":
        # As the interpreter ends: everything is closed on the way out.
        client.close()
    os._exit(0)


def _ask_on(client: Client, name: str, into: int) -> None:
    for number in range(3):
        ask = client.open("Child here?", ["Yes", "No"], key=f"{name}-{number}").ask
        os.write(into, f"{ask.key}\n".encode())


# Stopped with the lock in its hand


def holder(wire: Wire, store: str) -> None:
    """Stop in the middle of a transaction whenever told to."""
    client = Client(open_hub(Path(store), os.environ), PROJECT, _AGENT)
    flush = SqlTransaction.flush
    client.open("Say ready")

    def stopped(transaction: SqlTransaction) -> None:
        flush(transaction)
        wire.say(stops=True)
        os.kill(os.getpid(), signal.SIGSTOP)

    while True:
        wire.hear()
        swap(SqlTransaction, "flush", stopped)
        ask_id = client.open("Held?", ["Yes", "No"]).ask_id
        swap(SqlTransaction, "flush", flush)
        wire.say(done=ask_id)


class Bystander:
    """Answers from threads and from tasks, and notes what came of each try and how long it took."""

    def __init__(self, store: str) -> None:
        hub = open_hub(Path(store), os.environ)
        self.agent, self.person = Client(hub, PROJECT, _AGENT), Client(hub, PROJECT, _PERSON)
        self.task = AsyncClient(hub, PROJECT, _PERSON)
        self.ids = [str(self.agent.open(f"Free {n}?", ["Yes", "No"]).ask_id) for n in range(4)]
        self.found: list[dict[str, Any]] = []

    def note(self, way: str, call: Callable[[], object]) -> None:
        """Do something and note it."""
        began = time.monotonic()
        value = _told(call)
        self.found.append({"way": way, "value": value, "seconds": time.monotonic() - began})

    def read(self) -> None:
        """Look at what waits."""
        self.note("read", lambda: len(self.agent.inbox()))

    def answer(self) -> None:
        """Answer and ask, in every way at once."""
        ways: dict[str, Callable[[], object]] = {
            "thread": lambda: self.person.answer(self.ids[0], "1").state,
            "second thread": lambda: self.person.answer(self.ids[1], "1").state,
            "task": lambda: asyncio.run(_answer(self.task, self.ids[2])),
            "ask": lambda: self.agent.open("New?", ["Yes", "No"], key=self.ids[3]).ask.state,
        }
        _run([partial(self.note, way, call) for way, call in ways.items()])


def bystander(wire: Wire, store: str) -> None:
    """Read or answer as ordered; tell what came of it."""
    here = Bystander(store)
    wire.say(ids=here.ids)
    while True:
        order = wire.hear()["order"]
        here.found = []
        (here.read if order == "read" else here.answer)()
        wire.say(found=here.found)


async def _answer(client: AsyncClient, ask_id: str) -> str:
    return (await client.answer(ask_id, "1")).state
