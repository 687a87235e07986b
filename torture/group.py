"""A poisoned command inside a group fails alone: its neighbours, which came by chance, are done."""

from __future__ import annotations

import os
import random
import threading
import time
from pathlib import Path
from typing import Any

import apsw
import msgspec

from assent.client.connect import open_hub
from assent.engine.ask import AnswerAsk, OpenAsk
from assent.hub.command import Request
from assent.hub.future import LightFuture
from assent.hub.hub import Hub
from assent.hub.ids import new_ask_id, new_command_id
from assent.protocol.ask import Ask, AskId
from assent.protocol.canonical import digest
from assent.protocol.error import AssentError, ConflictError
from assent.protocol.principal import Principal, Role
from assent.protocol.prompt import encode_prompt, question
from assent.storage.port import Head
from assent.storage.sql.transaction import SqlTransaction
from torture.look import Look, Row, look, row_of
from torture.nest import Nest
from torture.nursery import Wire
from torture.trial import Plan, Tally, Trial, Twin, Verdict
from torture.twins import swap

__all__ = ["POISONS", "TRIAL", "grouper", "run"]

GROUPS = 300
PROJECT = "pack"
POISONS = ("append", "put", "spoil", "flush")
"""Where the write of a marked ask fails: before it, after it, after it with a refusal of ours, or at the very end."""


class Reply(msgspec.Struct, frozen=True):
    """What came of one command of a group."""

    ask_id: str
    what: str
    is_poisoned: bool
    code: str
    row: Row | None


def run(plan: Plan) -> Verdict:
    """Let groups of commands commit together, with one to three among them whose write fails."""
    tally = Tally(
        ("neighbours harmed", "poison accepted", "wrong replies", "traces of poison", "audit problems")
    )
    groups = plan.count(GROUPS, 8)
    heard: list[Reply] = []
    with Nest(plan.twin, in_memory=True) as nest:
        worker = nest.start("torture.group:grouper", store=str(nest.store), seed=plan.seed)
        for number in range(groups):
            poison = POISONS[number % len(POISONS)]
            worker.say(poison=poison)
            replies = msgspec.convert(worker.hear()["replies"], list[Reply])
            tally.add("groups")
            tally.add(f"poisoned at {poison}", sum(reply.is_poisoned for reply in replies))
            heard += replies
        found = look(nest)
    for reply in heard:
        _compare(tally, found, reply)
    for problem in found.problems:
        tally.fault("audit problems", problem)
    tally.require("groups", groups)
    for poison in POISONS:
        tally.require(f"poisoned at {poison}")
    tally.require("neighbours done", groups)
    return tally.verdict()


def _compare(tally: Tally, found: Look, reply: Reply) -> None:
    stored = found.rows.get(reply.ask_id)
    if reply.is_poisoned:
        tally.check(bool(reply.code), "poison accepted", reply)
        kept = stored is None if reply.what == "ask" else stored is not None and stored.state == "open"
        tally.check(kept, "traces of poison", (reply, stored))
        return
    tally.check(not reply.code, "neighbours harmed", reply)
    tally.add("neighbours done", not reply.code)
    if not reply.code and reply.what == "answer":
        tally.check(reply.row == stored, "wrong replies", (reply, stored))
    elif not reply.code:
        tally.check(stored is not None, "wrong replies", reply)


# The worker


class Poison:
    """Makes the writes of marked asks fail, at one place or another."""

    def __init__(self) -> None:
        self.marked: set[str] = set()
        self.place = ""
        append, put, flush = SqlTransaction.append, SqlTransaction.put, SqlTransaction.flush

        def poisoned_append(tx: SqlTransaction, head: Head, type_: str, subject: str, *rest: Any) -> None:
            if self.place == "append" and subject in self.marked:
                raise RuntimeError("poison")
            append(tx, head, type_, subject, *rest)

        def poisoned_put(tx: SqlTransaction, head: Head, ask: Ask) -> None:
            put(tx, head, ask)
            if self.place == "put" and ask.ask_id in self.marked:
                raise RuntimeError("poison")
            if self.place == "spoil" and ask.ask_id in self.marked:
                raise ConflictError("poison", ask=ask)

        def poisoned_flush(tx: SqlTransaction) -> None:
            flush(tx)
            if self.place == "flush" and not self.marked.isdisjoint(tx._asks):
                raise apsw.ConstraintError("poison")

        swap(SqlTransaction, "append", poisoned_append)
        swap(SqlTransaction, "put", poisoned_put)
        swap(SqlTransaction, "flush", poisoned_flush)


def grouper(wire: Wire, store: str, seed: int) -> None:
    """Send groups as they are ordered and tell what came of every command."""
    hub = open_hub(Path(store), os.environ)
    poison = Poison()
    chance = random.Random(seed)
    while True:
        poison.place, poison.marked = "", set()
        where = wire.hear()["poison"]
        requests: list[Request] = [_ask() for _ in range(chance.randint(2, 24))]
        opened = [_ask() for _ in range(chance.randint(2, 24))]
        _send_together(hub, list(opened))
        requests += [AnswerAsk(ask.ask_id, "", {"q1": ("Yes",)}, "torture") for ask in opened]
        chance.shuffle(requests)
        ids = [_ask_id(request) for request in requests]
        poison.marked = set(chance.sample(ids, chance.randint(1, 3)))
        poison.place = where
        told = _send_together(hub, requests)
        wire.say(
            replies=[
                _reply(request, outcome, poison) for request, outcome in zip(requests, told, strict=True)
            ]
        )


def _ask() -> OpenAsk:
    ask_id = new_ask_id()
    prompt = question("Together?", ["Yes", "No"])
    return OpenAsk(ask_id, prompt, digest(encode_prompt(prompt)), key=ask_id)


def _ask_id(request: Request) -> AskId:
    assert isinstance(request, OpenAsk | AnswerAsk)
    return request.ask_id


def _send_together(hub: Hub, requests: list[Request]) -> list[Ask | AssentError | None]:
    """Hold the writer until all have come in, so that they commit as one group."""
    outcomes: dict[int, Ask | AssentError | None] = {}

    def send(place: int, request: Request) -> None:
        role = Role.AGENT if isinstance(request, OpenAsk) else Role.HUMAN
        try:
            future = hub.handle(
                request, project=PROJECT, principal=Principal(role, "ana"), command_id=new_command_id()
            )
            assert isinstance(future, LightFuture)
            future.wait(30)
            ask = future.result()
            assert ask is None or isinstance(ask, Ask)
            outcomes[place] = ask
        except AssentError as error:
            outcomes[place] = error

    threads = [threading.Thread(target=send, args=pair) for pair in enumerate(requests)]
    with hub.store.mutex_of(PROJECT):
        for thread in threads:
            thread.start()
        until = time.monotonic() + 4
        # The writer thread itself takes the first one and then waits for the mutex that we hold.
        while hub._writer_of(PROJECT)._queue.qsize() < len(requests) - 1 and time.monotonic() < until:
            time.sleep(0.001)
    for thread in threads:
        thread.join(60)
    return [outcomes[place] for place in range(len(requests))]


def _reply(request: Request, outcome: Ask | AssentError | None, poison: Poison) -> dict[str, Any]:
    ask_id = _ask_id(request)
    return {
        "ask_id": ask_id,
        "what": "ask" if isinstance(request, OpenAsk) else "answer",
        "is_poisoned": ask_id in poison.marked,
        "code": "" if isinstance(outcome, Ask) else getattr(outcome, "code", "none"),
        "row": row_of(outcome) if isinstance(outcome, Ask) else None,
    }


TRIAL = Trial(
    "group",
    "a command whose write fails takes none of its neighbours along",
    run,
    (Twin("fail-together", "a spoiled group is done again one by one", "neighbours harmed", 0.03),),
)
