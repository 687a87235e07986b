"""Several answer the same ask at the same moment: one wins, and all are told the same truth."""

from __future__ import annotations

import os
import random
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

import msgspec

from assent.client.connect import open_hub
from assent.engine.ask import AnswerAsk, OpenAsk, WithdrawAsk
from assent.hub.command import Request
from assent.hub.future import LightFuture
from assent.hub.hub import Hub
from assent.hub.ids import new_ask_id, new_command_id
from assent.protocol.answer import FieldValues
from assent.protocol.ask import Ask, AskId, Consequence
from assent.protocol.canonical import digest
from assent.protocol.error import AssentError
from assent.protocol.principal import Principal, Role
from assent.protocol.prompt import encode_prompt, question
from torture.look import Look, Row, look, row_of
from torture.nest import Nest, Worker
from torture.nursery import Wire
from torture.trial import Plan, Tally, Trial, Twin, Verdict

__all__ = ["TRIAL", "opener", "racer", "run"]

ASKS = 3_000
RACERS = 8
PROJECT = "derby"
OPTIONS = ("Red", "Green", "Blue")
KINDS = ("answer", "answer", "answer", "withdraw", "expiry")
_ASKER = Principal(Role.AGENT, "coder")


class Reply(msgspec.Struct, frozen=True):
    """What one racer was told."""

    command_id: str
    name: str
    code: str
    """Empty for the winner."""
    sentence: str
    row: Row | None


def run(plan: Plan) -> Verdict:
    """Race for every ask and compare what all were told with the row and the log."""
    tally = Tally(
        (
            "without one winner",
            "told another winner",
            "sentences without who and when",
            "log differs",
            "audit problems",
        )
    )
    chance = plan.chance()
    asks = plan.count(ASKS, 20)
    rounds: list[tuple[str, str, list[Reply]]] = []
    with Nest(plan.twin) as nest:
        asker = nest.start("torture.race:opener", store=str(nest.store))
        asker.hear()
        racers = [
            nest.start(
                "torture.race:racer", store=str(nest.store), name=f"r{number}", seed=plan.seed + number
            )
            for number in range(RACERS)
        ]
        for racer in racers:
            racer.hear()
        for number in range(asks):
            kind = KINDS[number % len(KINDS)]
            field = chance.sample(racers, chance.randint(2, RACERS))
            # On some machine no withdrawal is ever the first of many, but one that nobody races with.
            is_ahead = number < len(KINDS)
            rounds.append(_race(tally, asker, field, kind, chance.uniform(0, 0.003), is_ahead=is_ahead))
            if number % 500 == 499:
                plan.progress(f"{number + 1} of {asks} asks")
        found = look(nest)
    for ask_id, kind, replies in rounds:
        _compare(tally, found, ask_id, kind, replies)
    for problem in found.problems:
        tally.fault("audit problems", problem)
    for name in ("asks raced for", "losers told"):
        tally.require(name, asks)
    for name in ("won by an answer", "won by withdrawing", "won by the deadline"):
        tally.require(name)
    return tally.verdict()


def _race(
    tally: Tally, asker: Worker, field: list[Worker], kind: str, moment: float, *, is_ahead: bool
) -> tuple[str, str, list[Reply]]:
    asker.say(kind=kind)
    ask_id = str(asker.hear()["ask_id"])
    at = time.monotonic_ns() + round((0.001 + moment) * 1e9)
    withdraws = kind == "withdraw"
    told: list[dict[str, Any]] = []
    for place, racer in enumerate(field):
        racer.say(ask_id=ask_id, at=at, withdraws=withdraws and place == 0)
        if withdraws and is_ahead and place == 0:
            told.append(racer.hear())
    told += [racer.hear() for racer in field[len(told) :]]
    replies = [msgspec.convert(reply, Reply) for reply in told]
    tally.add("asks raced for")
    tally.add("replies", len(replies))
    return ask_id, kind, replies


def _compare(tally: Tally, found: Look, ask_id: str, kind: str, replies: list[Reply]) -> None:
    row = found.rows[ask_id]
    winners = [reply for reply in replies if not reply.code]
    is_expired = row.state == "expired"
    tally.check(len(winners) == (0 if is_expired else 1), "without one winner", (kind, row, replies))
    tally.check(not is_expired or kind == "expiry", "without one winner", (kind, row))
    tally.add(
        {"answered": "won by an answer", "withdrawn": "won by withdrawing"}.get(
            row.state, "won by the deadline"
        )
    )
    for reply in replies:
        tally.check(reply.row == row, "told another winner", (reply, row))
        if reply.code:
            tally.add("losers told")
            # "who": the deadline is nobody, and says so.
            who = "Nobody" if is_expired else row.by.partition(":")[2]
            when = row.at[:19].replace("T", " ")
            is_plain = reply.code == "conflict" and who in reply.sentence and when in reply.sentence
            tally.check(is_plain, "sentences without who and when", reply)
        else:
            tally.check(reply.command_id == row.command_id, "told another winner", (reply, row))
    endings = found.endings(ask_id)
    agrees = [(event.sequence, event.type, event.command_id) for event in endings] == [
        (row.sequence, f"ask.{row.state}", row.command_id)
    ]
    tally.check(agrees, "log differs", (row, endings))


# Workers


def opener(wire: Wire, store: str) -> None:
    """Open one ask for every race."""
    hub = open_hub(Path(store), os.environ)
    wire.say(ready=True)
    while True:
        kind = wire.hear()["kind"]
        prompt = question("Which colour?", OPTIONS)
        due = timedelta(milliseconds=3) if kind == "expiry" else None
        consequence = Consequence.DENY if due else Consequence.WAIT
        encoded = digest(encode_prompt(prompt))
        request = OpenAsk(new_ask_id(), prompt, encoded, deadline=due, consequence=consequence)
        _send(hub, request, _ASKER, new_command_id())
        wire.say(ask_id=request.ask_id)


def racer(wire: Wire, store: str, name: str, seed: int) -> None:
    """Answer or withdraw at the moment that was agreed on."""
    hub = open_hub(Path(store), os.environ)
    chance = random.Random(seed)
    with hub.reading() as reader:
        reader.heads()
    wire.say(ready=True)
    while True:
        told = wire.hear()
        ask_id, command_id = AskId(told["ask_id"]), new_command_id()
        request: Request
        if told["withdraws"]:
            request, who = WithdrawAsk(ask_id, name), _ASKER
        else:
            values: FieldValues = {"q1": (chance.choice(OPTIONS),)}
            request, who = AnswerAsk(ask_id, command_id, values, "torture"), Principal(Role.HUMAN, name)
        pause = told["at"] - time.monotonic_ns()
        if pause > 0:
            time.sleep(pause / 1e9)
        code, sentence = "", ""
        ask: Ask | None
        try:
            ask = _send(hub, request, who, command_id)
        except AssentError as error:
            code, sentence, ask = error.code, error.message, getattr(error, "ask", None)
        wire.say(**_reply(command_id, str(who), code, sentence, ask))


def _reply(command_id: str, name: str, code: str, sentence: str, ask: Ask | None) -> dict[str, Any]:
    row = None if ask is None else row_of(ask)
    return {"command_id": command_id, "name": name, "code": code, "sentence": sentence, "row": row}


def _send(hub: Hub, request: Request, who: Principal, command_id: str) -> Ask | None:
    future = hub.handle(request, project=PROJECT, principal=who, command_id=command_id)
    assert isinstance(future, LightFuture)
    if not future.wait(30):
        raise TimeoutError("No reply in 30 s.")
    ask = future.result()
    assert ask is None or isinstance(ask, Ask)
    return ask


TRIAL = Trial(
    "race",
    "of two to eight answers at the same moment, of answer and withdrawal, of answer and deadline, exactly one wins",
    run,
    (
        Twin(
            "look-then-write",
            "the state is read inside the transaction that changes it",
            "without one winner",
            0.02,
        ),
    ),
    share=0.01,
)
