"""Everything that can be done, done at random by people and agents: the record says of people only what they did."""

from __future__ import annotations

import random
import tempfile
from pathlib import Path
from typing import Any

from torture.nest import Nest
from torture.nursery import Wire
from torture.provenance_flows import Pipes, Plans
from torture.provenance_hosts import Dialogs, Hooks
from torture.provenance_ledger import FAULTS, NOBODY_GAVE, PASSED
from torture.provenance_office import PullRequests, Slack
from torture.provenance_world import World
from torture.trial import Plan, Tally, Trial, Twin, Verdict

__all__ = ["TRIAL", "play", "run"]

STEPS = 50_000
_A_LIFE = 1_000
"""Steps in one store: then another begins, empty."""
_DOORS = (
    *("http", "page-token", "terminal", "declared", "host", "shell"),
    *("hook", "dialog", "comment", "slack", "pipe"),
)

_HAPPENS = (
    *("answers", "declined", "receipts approved", "dismissals", "chat lines", "attacks over HTTP"),
    *("forged events of hosts", "calls by MCP", "replies with a flaw", "second replies by comment"),
    *("presses with a flaw", "presses again", "pipes that end", "edits of plans"),
)


def run(plan: Plan) -> Verdict:
    """Let worlds go by, one after the other, and add up what their ledgers say."""
    tally = Tally(FAULTS)
    steps, done = plan.count(STEPS, 200), 0
    chance = plan.chance()
    while done < steps:
        share = min(_A_LIFE, steps - done)
        with Nest(plan.twin) as nest:
            worker = nest.start("torture.provenance:play", steps=share, seed=chance.getrandbits(32))
            told = worker.hear(600)
            worker.join()
        for name, number in told["counts"].items():
            tally.add(name, number)
        for kind, details in told["faults"].items():
            for detail in details:
                tally.fault(kind, detail)
        done += share
        plan.progress(f"{done:,} of {steps:,} steps")
    for name in _HAPPENS:
        tally.require(name, steps // 1_000)
    tally.require("plans confirmed", steps // 2_000)  # each needs an agent, a person and the agent again
    tally.require("gates that ask on", steps // 2_000)
    for door in _DOORS:
        tally.require(f"replies by {door}", steps // 1_000)
    return tally.verdict()


class _Told(Tally):
    """Keeps every fault, to be told."""

    def __init__(self) -> None:
        super().__init__(FAULTS)
        self.told: dict[str, list[str]] = {}

    def fault(self, kind: str, detail: object = "") -> None:
        self.told.setdefault(kind, []).append(str(detail)[:1_500])


def play(wire: Wire, steps: int, seed: int) -> None:
    """Let so many things happen in a world of its own; tell what was counted, and what was wrong."""
    tally = _Told()
    world = World(tally, random.Random(seed))
    with tempfile.TemporaryDirectory() as folder:
        Hooks(world)
        Dialogs(world, Path(folder))
        PullRequests(world)
        Slack(world)
        Pipes(world)
        Plans(world, Path(folder))
        world.begin()
        try:
            for _ in range(steps):
                world.step()
        finally:
            world.close()
    counts: dict[str, Any] = dict(tally.counts)
    wire.say(counts=counts, faults=tally.told)


TRIAL = Trial(
    "provenance",
    "whatever the record says in a person's name, that person did, in that moment, with that content",
    run,
    (
        Twin("agents-answer", "an agent's credential cannot answer", NOBODY_GAVE, 0.01),
        Twin("unconfirmed", "what cannot be undone is confirmed first", NOBODY_GAVE, 0.02),
        Twin("host-approves", "a host's word is not enough for an approval", NOBODY_GAVE, 0.02),
        Twin("silence-answers", "no deadline answers", NOBODY_GAVE, 0.02),
        Twin("dismissals-answer", "whoever dismisses takes up only their own words", NOBODY_GAVE, 0.03),
        Twin("hosts-are-terminals", "a host's word is recorded as a host's", NOBODY_GAVE, 0.01),
        Twin("files-pass", "what a plan's file says settles nothing", PASSED, 0.05),
        Twin("half-lines-count", "half a line before the end of a pipe is no reply", NOBODY_GAVE, 0.03),
    ),
    share=0.02,
)
