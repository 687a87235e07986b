"""Pipes that end and plans that agents edit, as doors of the world: neither says yes for a person.

A whole line of a pipe is the deed of whoever runs the command; its end, and half a line, are none. A confirm of a plan
passes by a person's yes to one of its asks, whatever the plan's file says, and whoever comes back to it.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

import msgspec

import assent
from assent.flows.confirm import How
from assent.protocol.error import AssentError, StillOpen
from assent.protocol.gate import PHASE_GATE
from assent.protocol.plan import Status
from tests.flows.plan_page import fill, human
from torture.provenance_ledger import PASSED, Deed
from torture.provenance_world import PEOPLE, World

__all__ = ["Pipes", "Plans"]

_AGENT = "builder"
_MOST_PLANS = 4


class Pipes:
    """Gates whose keyboard is a pipe."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._keys: list[str] = []
        """Of gates that were left open."""
        world.acts.append((3, self.meet))

    def meet(self) -> None:
        """Somebody stops at a gate, anew or again, and a pipe says a line, half a line, something else or nothing."""
        world, chance = self._world, self._world.chance
        name, key = chance.choice(PEOPLE), f"gate-{world.number()}"
        if self._keys and chance.random() < 0.7:
            key = chance.choice(self._keys)
        self._stop(name, key, b"")  # the end of a pipe decides nothing; the gate stands where it stood
        asks = [ask for ask in world.looker.inbox(limit=200) if (ask.key or "").startswith(f"{key}:")]
        self._keys = [known for known in self._keys if known != key][-3:] + [key] * len(asks)
        if not asks:
            return  # over
        [ask] = asks
        if ask.prompt.fields[0].options:
            number = chance.choice((1, 2, 2, 2, 3, 4))  # the second one asks on
            option = ask.prompt.fields[0].options[number - 1].key
            lines = [f"{number}\n", f"{PHASE_GATE.options[number - 1]}\n", f"perhaps\n\n{number}\n"]
            content = {"action": [option]}
        else:  # somebody chose what asks on, here or elsewhere
            word = chance.choice(("security", "types", "back"))
            lines, content = [f"{word}\n", f"3\n{word}\n", f"\n\n{word}\n"], {"reply": [word]}
            world.tally.add("gates that ask on")
        line, is_deed = chance.choice(
            [
                *((line, True) for line in lines),
                (lines[0].rstrip(), False),
                ("", False),
                ("\n\n", False),
                ("perhaps\n", False),
            ]
        )
        if is_deed:
            deed = Deed("answer", f"human:{name}", ask.ask_id, (content, ""), ("declared",), via="pipe")
            world.ledger.did(deed)
        self._stop(name, key, line.encode())
        world.tally.add("replies by pipe" if is_deed else "pipes that end")

    def _stop(self, name: str, key: str, typed: bytes, *flags: str) -> None:
        with _keyboard(typed):
            self._world.shell(
                name, "gate", "phase-gate", "--summary", key, "--key", key, "--as", _AGENT, *flags
            )


@contextlib.contextmanager
def _keyboard(typed: bytes) -> Iterator[None]:
    """Have a pipe with these bytes, and then its end, for standard input."""
    kept = os.dup(0)
    reader, writer = os.pipe()
    try:
        os.write(writer, typed)
        os.close(writer)
        os.dup2(reader, 0)
        os.close(reader)
        yield
    finally:
        os.dup2(kept, 0)
        os.close(kept)


class _Plan(msgspec.Struct):
    """A plan with one confirm, and what was asked for it."""

    path: Path
    summary: str
    asks: set[str] = set()


class Plans:
    """Durable confirms, taken up again and again, on the file and over HTTP."""

    def __init__(self, world: World, folder: Path) -> None:
        self._world, self._folder = world, folder
        self._plans: list[_Plan] = []
        world.acts += [(3, self.confirm), (2, self.edit)]

    def confirm(self) -> None:
        """An agent asks for a confirm, or comes back to one; it passes by a yes in the ledger alone."""
        world, chance = self._world, self._world.chance
        is_new = len(self._plans) < _MOST_PLANS
        if is_new:
            self._plans.append(self._write())
        plan = self._plans[-1] if is_new else chance.choice(self._plans)
        agent = chance.choice((world.agents, world.agents_far))[_AGENT]
        try:
            verdict = assent.confirm_plan(agent, plan.path, "T1.1", "before", plan.summary, wait=0)
        except StillOpen as still:
            if still.ask is not None:
                plan.asks.add(still.ask.ask_id)
            return
        except AssentError:
            return
        world.tally.add(f"plans {verdict.how}")
        if verdict.how in (How.CONFIRMED, How.DROPPED, How.NOTHING):
            has_yes = verdict.how is How.CONFIRMED and world.ledger.has_yes(plan.asks, "yes")
            world.tally.check(has_yes, PASSED, (plan, verdict))
            self._plans.remove(plan)

    def edit(self) -> None:
        """An agent writes into a plan's file that it is confirmed, or that nothing is to be."""
        if self._plans:
            plan, status = (
                self._world.chance.choice(self._plans),
                self._world.chance.choice((Status.DONE, *Status)),
            )
            spots = [] if self._world.chance.random() < 0.1 else [human("T1.1", "before", status)]
            plan.path.write_bytes(fill(spots))
            self._world.tally.add("edits of plans")

    def _write(self) -> _Plan:
        number = self._world.number()
        folder = self._folder / f"plan-{number}"
        (folder / ".git").mkdir(parents=True)
        path = folder / "plan.xml"
        path.write_bytes(fill([human("T1.1", "before")]))
        return _Plan(path, f"Step {number}")
