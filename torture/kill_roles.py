"""The workers of the kill trial. Each writes every intent and every acknowledgement into a diary that survives it.

What was sent and not acknowledged is sent again by the next life, under the same command id.
"""

from __future__ import annotations

import os
import random
import threading
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import msgspec

from assent.client.connect import open_hub
from assent.engine.ask import AnswerAsk, DeclineAsk, OpenAsk
from assent.hub.command import ClaimAsk, Request, Tick
from assent.hub.future import LightFuture
from assent.hub.hub import Hub
from assent.hub.ids import new_ask_id, new_command_id
from assent.protocol.ask import Ask, AskId, Consequence, State
from assent.protocol.canonical import digest
from assent.protocol.error import AssentError
from assent.protocol.principal import Principal, Role
from assent.protocol.prompt import encode_prompt, question
from torture.look import Row, row_of
from torture.nursery import Wire

__all__ = ["OPTIONS", "PROJECTS", "Order", "answerer", "asker", "keeper", "sleeper"]

PROJECTS = ("amber", "birch")
OPTIONS = ("Go on", "Stop here", "Ask again")
_PATIENCE = 120.0


class Order(msgspec.Struct, frozen=True):
    """One command as the diary keeps it: enough to send it again."""

    command_id: str
    what: str
    project: str
    ask_id: str
    name: str
    """Who sends it; a retry under another name would be somebody else's."""
    choice: str = ""
    lives: int = 0
    """Milliseconds until an ask expires; 0 for one that waits."""

    def request(self) -> Request:
        """Return the command; the same one every time."""
        ask_id = AskId(self.ask_id)
        if self.what == "answer":
            return AnswerAsk(ask_id, self.command_id, {"q1": (self.choice,)}, "torture")
        if self.what == "decline":
            return DeclineAsk(ask_id, self.command_id, "torture")
        prompt = question(f"What about {ask_id}?", OPTIONS)
        due = timedelta(milliseconds=self.lives) if self.lives else None
        consequence = Consequence.DENY if self.lives else Consequence.WAIT
        encoded = digest(encode_prompt(prompt))
        return OpenAsk(ask_id, prompt, encoded, key=ask_id, deadline=due, consequence=consequence)


class Life:
    """What one worker does on one hub."""

    def __init__(self, wire: Wire, store: str, role: Role, name: str) -> None:
        self.wire = wire
        self.hub: Hub = open_hub(Path(store), os.environ)
        self.role = role
        self.name = name
        self.is_over = threading.Event()

    def send(self, order: Order) -> Ask | None:
        """Write down what is about to be sent, send it, write down what came of it."""
        self.wire.say(do=order)
        try:
            ask = self.ask_hub(order.request(), order.project, order)
        except AssentError as error:
            winner = getattr(error, "ask", None)
            self.wire.say(refused=order.command_id, code=error.code, row=winner and row_of(winner))
            return None
        if ask is not None:
            self.wire.say(done=order.command_id, row=row_of(ask))
        return ask

    def ask_hub(self, request: Request, project: str, order: Order | None = None) -> Ask | None:
        """Send a command and wait for its reply."""
        who = Principal(self.role, order.name if order else self.name)
        command_id = order.command_id if order else None
        future = self.hub.handle(request, project=project, principal=who, command_id=command_id)
        assert isinstance(future, LightFuture)
        if not future.wait(_PATIENCE):
            raise TimeoutError(f"No reply to {request} in {_PATIENCE} s.")
        ask = future.result()
        assert ask is None or isinstance(ask, Ask)
        return ask

    def sleep_on(self, ask_id: str, project: str) -> None:
        """Wait for the end of an ask and say how it ended."""
        future = self.hub.wait(AskId(ask_id), project)
        assert isinstance(future, LightFuture)
        row: Row | None = row_of(future.result()) if future.wait(_PATIENCE) else None
        self.wire.say(woken=ask_id, row=row)

    def new_ask(self, lives: int = 0) -> Order:
        """Return an order for a new ask."""
        return Order(new_command_id(), "ask", random.choice(PROJECTS), new_ask_id(), self.name, lives=lives)

    def run(self, *bodies: Callable[[], None]) -> None:
        """Run each body on a thread; say so when all have ended after the trial called for rest."""
        threads = [threading.Thread(target=body, daemon=True) for body in bodies]
        for thread in threads:
            thread.start()
        self.wire.say(ready=True)
        self.wire.hear()
        self.is_over.set()
        for thread in threads:
            thread.join(2 * _PATIENCE)
        self.wire.say(rested=True)
        self.wire.hear()


def asker(wire: Wire, store: str, name: str, again: list[Order], sleeping: list[tuple[str, str]]) -> None:
    """Open asks and wait for their answers, also those of the lives before."""
    life = Life(wire, store, Role.AGENT, name)

    def ask(orders: list[Order]) -> None:
        for order in orders:
            life.send(order)
            life.sleep_on(order.ask_id, order.project)
        while not life.is_over.is_set():
            opened = [order for order in (life.new_ask() for _ in range(4)) if life.send(order)]
            for order in opened:
                life.sleep_on(order.ask_id, order.project)

    def wait() -> None:
        for ask_id, project in sleeping:
            life.sleep_on(ask_id, project)

    redo = msgspec.convert(again, list[Order])
    life.run(lambda: ask(redo[::2]), lambda: ask(redo[1::2]), wait)


def answerer(wire: Wire, store: str, name: str, again: list[Order]) -> None:
    """Answer what is open, in any project; sometimes decline."""
    life = Life(wire, store, Role.HUMAN, name)

    def answer(orders: list[Order]) -> None:
        for order in orders:
            life.send(order)
        while True:
            project = random.choice(PROJECTS)
            with life.hub.reading() as reader:
                waiting = reader.asks(project, State.OPEN, 30)
            for ask in random.sample(waiting, min(3, len(waiting))):
                what = "decline" if random.random() < 0.15 else "answer"
                choice = random.choice(OPTIONS)
                life.send(Order(new_command_id(), what, project, ask.ask_id, name, choice))
            if not waiting:
                if life.is_over.is_set():
                    return
                time.sleep(0.002)

    redo = msgspec.convert(again, list[Order])
    life.run(lambda: answer(redo[::2]), lambda: answer(redo[1::2]))


def keeper(wire: Wire, store: str, name: str, again: list[Order]) -> None:
    """The one in between: claims, lets asks expire, follows the feed, opens and closes the store."""
    life = Life(wire, store, Role.HUMAN, name)

    def keep() -> None:
        for order in msgspec.convert(again, list[Order]):
            life.send(order)
        while not life.is_over.is_set():
            project = random.choice(PROJECTS)
            life.send(life.new_ask(lives=random.choice((1, 5, 20))))
            with life.hub.reading() as reader:
                waiting = reader.asks(project, State.OPEN, 10)
            try:
                for ask in waiting[:2]:
                    life.ask_hub(ClaimAsk(ask.ask_id), project)
                life.ask_hub(Tick(), project)
            except AssentError as error:
                if error.code not in {"conflict", "not_found"}:
                    life.wire.say(trouble=error.code)

    def follow() -> None:
        with life.hub.follow(PROJECTS[0], 0) as feed:
            while not life.is_over.is_set():
                feed.wait(0.5)

    def reopen() -> None:
        while not life.is_over.is_set():
            other = open_hub(Path(store), os.environ)
            with other.reading() as reader:
                reader.count_open(None)
            other.close()
            time.sleep(0.01)

    life.run(keep, follow, reopen)


def sleeper(wire: Wire, store: str, name: str, count: int) -> None:
    """Never killed: opens asks before the storm and sleeps on all of them through it."""
    life = Life(wire, store, Role.AGENT, name)
    orders = [life.new_ask() for _ in range(count)]
    for order in orders:
        life.send(order)
    bodies = [lambda o=order: life.sleep_on(o.ask_id, o.project) for order in orders]
    life.run(*bodies)
