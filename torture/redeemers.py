"""Two to sixteen redeemers of one receipt at the same moment, half of them on the file and half over HTTP: one wins."""

from __future__ import annotations

import os
import random
import threading
import time
from collections import Counter, defaultdict
from pathlib import Path
from random import Random
from typing import Any

import msgspec

from assent.client.client import Client
from assent.client.connect import open_hub
from assent.protocol.error import AssentError
from assent.protocol.principal import Principal, Role
from torture.log import read_log
from torture.nest import Nest
from torture.nursery import Wire
from torture.site import PROJECT, Served, Trusted, caller
from torture.trial import Plan, Tally, Trial, Twin, Verdict

__all__ = ["TRIAL", "granter", "redeemers", "run"]

RECEIPTS = 3_000
_DOORS = ("file", "http")
_FEWEST, _MOST = 2, 16
_ASKER = "coder"
_EVERY_SECONDS = 0.02
"""One receipt after the other; whoever is late for one redeems it at once."""
_HEADSTART_SECONDS = 0.5
_LONGEST_LAG = 0.02
"""A file is faster than a request, and would win every time."""


class Race(msgspec.Struct, frozen=True):
    """One receipt, and which of the redeemers present it."""

    receipt_id: str
    number: int
    racers: list[int]


def run(plan: Plan) -> Verdict:
    """Race for every receipt, and compare what the racers were told with the log."""
    tally = Tally(("without one winner", "told another winner", "refusals of another kind", "audit problems"))
    chance = plan.chance()
    count = plan.count(RECEIPTS, 20)
    with Nest(plan.twin) as nest:
        served = Served(nest)
        person, asker = served.trust((Role.HUMAN, "ana"), (Role.AGENT, _ASKER))
        told = nest.start("torture.redeemers:granter", person=person, asker=asker, count=count).hear(300)
        races = [
            Race(receipt_id, number, _field(chance, number))
            for number, receipt_id in enumerate(told["receipts"])
        ]
        setting: dict[str, Any] = {"store": str(nest.store), "asker": asker, "races": races}
        workers = [nest.start("torture.redeemers:redeemers", door=door, **setting) for door in _DOORS]
        for worker in workers:
            worker.hear()
        at = time.monotonic() + _HEADSTART_SECONDS
        for worker in workers:
            worker.say(at=at)
        replies: dict[str, list[tuple[int, str, str]]] = defaultdict(list)
        for worker in workers:
            for receipt_id, racer, code, winner in worker.hear(600)["replies"]:
                replies[receipt_id].append((racer, code, winner))
        tally.check(not served.worker.is_gone, "without one winner", served.worker.error)
        log = read_log(nest, PROJECT)
    redeemed = Counter(entry.subject for entry in log.entries if entry.type == "receipt.redeemed")
    commands = {
        entry.subject: entry.body["command_id"] for entry in log.entries if entry.type == "receipt.redeemed"
    }
    for race in races:
        _compare(tally, race, replies[race.receipt_id], redeemed[race.receipt_id], commands)
    for problem in log.problems:
        tally.fault("audit problems", problem)
    tally.require("receipts raced for", count)
    tally.require("losers told", count)
    for door in _DOORS:
        tally.require(f"won over {door}", count // 20)
    return tally.verdict()


def _field(chance: Random, number: int) -> list[int]:
    """Choose who races; in some races all come by one door, so that on any machine each door has winners."""
    alone = number % 10
    everyone = range(alone, _MOST, len(_DOORS)) if alone < len(_DOORS) else range(_MOST)
    return chance.sample(everyone, min(len(everyone), chance.randint(_FEWEST, _MOST)))


def _compare(
    tally: Tally, race: Race, replies: list[tuple[int, str, str]], redeemed: int, commands: dict[str, str]
) -> None:
    tally.add("receipts raced for")
    winners = [(racer, told) for racer, code, told in replies if not code]
    is_one = len(winners) == 1 and redeemed == 1 and len(replies) == len(race.racers)
    tally.check(is_one, "without one winner", (race, replies, redeemed))
    for racer, told in winners:
        tally.add(f"won over {_DOORS[racer % len(_DOORS)]}")
        # Over HTTP the id of the command is bound to its sender; that it is one of this racer's is what counts.
        tally.check(told == commands.get(race.receipt_id), "told another winner", (race, told))
    for _, code, _ in replies:
        if code:
            tally.add("losers told")
            tally.check(code == "conflict", "refusals of another kind", (race, code))


# Workers


def granter(wire: Wire, person: Trusted, asker: Trusted, count: int) -> None:
    """Have receipts granted: the policy says yes at once, so that nobody has to."""
    caller(msgspec.convert(person, Trusted)).set_policy({"scopeChanges": "automated"})
    agent = caller(msgspec.convert(asker, Trusted))
    granted = [
        agent.approve(f"Step {number}", action={"step": number}, category="scopeChanges")
        for number in range(count)
    ]
    wire.say(receipts=[receipt.receipt_id for receipt in granted])
    wire.hear()


def redeemers(wire: Wire, door: str, store: str, asker: Trusted, races: list[Race]) -> None:
    """Present the receipts, every racer of this door in a thread of its own, each receipt at its moment."""
    mine = [racer for racer in range(_MOST) if _DOORS[racer % len(_DOORS)] == door]
    trusted = msgspec.convert(asker, Trusted)
    planned = msgspec.convert(races, list[Race])
    replies: list[tuple[str, int, str, str]] = []
    clients = {racer: _client(door, store, trusted) for racer in mine}
    for client in clients.values():
        client.count()
    wire.say(ready=True)
    at: float = wire.hear()["at"]

    def present(racer: int) -> None:
        for race in planned:
            if racer not in race.racers:
                continue
            late = random.uniform(0, _LONGEST_LAG) if door == "file" else 0.0
            time.sleep(max(0.0, at + race.number * _EVERY_SECONDS + late - time.monotonic()))
            code = winner = ""
            try:
                receipt = clients[racer].redeem(race.receipt_id, {"step": race.number})
                winner = receipt.command_id
            except AssentError as error:
                code = error.code
            replies.append((race.receipt_id, racer, code, winner))

    threads = [threading.Thread(target=present, args=(racer,), daemon=True) for racer in mine]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(500)
    wire.say(replies=replies)
    wire.hear()


def _client(door: str, store: str, trusted: Trusted) -> Client:
    if door == "http":
        return caller(trusted)
    return Client(open_hub(Path(store), os.environ), PROJECT, Principal(trusted.role, trusted.name))


TRIAL = Trial(
    "redeemers",
    "of two to sixteen who present one receipt at the same moment, on the file and over HTTP, exactly one wins",
    run,
    (Twin("redeem-again", "a receipt that was redeemed is refused", "without one winner", 0.01),),
    share=0.02,
)
