"""A store with a known past: two days of asks in three projects, and one run, whose figures the tests know."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

import msgspec

from assent.client.client import Client
from assent.protocol.approval import approval_prompt
from assent.protocol.ask import Consequence, Kind
from assent.protocol.principal import Assurance
from assent.testing import FakeClock, ThrowawayStore, throwaway
from assent.testing.server import ThrowawayServer

__all__ = [
    "HAPPENED",
    "HOSTILE",
    "NOW",
    "RUN",
    "Happening",
    "a_known_site",
    "happen",
    "new_clock",
    "run_three_turns",
]

TODAY = datetime(2030, 1, 15, tzinfo=UTC)
NOW = TODAY + timedelta(hours=12, minutes=30)
RUN = "run-ledger-7"
HOSTILE = "<img src=x onerror=alert(1)>\u202e\u200b"


class Happening(msgspec.Struct, frozen=True):
    """One ask: when it was opened, by whom, and what became of it after so many seconds."""

    at: datetime
    project: str
    asker: str
    kind: Kind
    title: str
    seconds: float | None
    """None while it waits."""
    how: str = "1"
    """What was answered; or `decline`, `withdraw`, `expire`."""


def _today(clock: str, *rest: object) -> Happening:
    hour, _, minute = clock.partition(":")
    at = TODAY + timedelta(hours=int(hour), minutes=int(minute))
    return Happening(at, *rest)  # type: ignore[arg-type]  # the parts of one line below


HAPPENED = (
    Happening(TODAY - timedelta(hours=10), "checkout", "coder", Kind.QUESTION, "Keep the old SDK?", 90.0),
    Happening(TODAY - timedelta(hours=9), "handbook", "planner", Kind.QUESTION, "Two languages?", 30.0, "2"),
    _today("8:05", "checkout", "coder", Kind.QUESTION, "Which fixture?", 40.0),
    _today("8:20", "edge", "deployer", Kind.GATE, "Chunk 1 of 5", 20.0),
    _today("9:10", "checkout", "coder", Kind.QUESTION, "Round half to even?", 60.0, "2"),
    _today("9:30", "edge", "deployer", Kind.APPROVAL, "Open port 5432", 120.0, "reject"),
    _today("10:00", "edge", "deployer", Kind.APPROVAL, "Rotate the key", 240.0, "approve"),
    _today("10:15", "handbook", "planner", Kind.QUESTION, f"Ship {HOSTILE}?", 600.0, "decline"),
    _today("11:00", "checkout", "coder", Kind.QUESTION, "Pin pillow?", 300.0, "withdraw"),
    _today("11:20", "edge", "deployer", Kind.QUESTION, "Widen the window?", 600.0, "expire"),
    _today("12:00", "checkout", "coder", Kind.CONFIRM, "Before phase P2", None),
    _today("12:10", "handbook", "planner", Kind.QUESTION, "Which tone?", None),
)


@contextmanager
def a_known_site(*happenings: Happening, now: datetime = NOW) -> Iterator[ThrowawayServer]:
    """Give a server on a store in which all that has happened, and it is half past twelve."""
    clock = new_clock(happenings or HAPPENED)
    with throwaway(project="checkout", clock=clock) as store:
        happen(store, clock, happenings or HAPPENED, now)
        with ThrowawayServer(store) as server:
            yield server


def new_clock(happenings: tuple[Happening, ...]) -> FakeClock:
    """Return a clock that stands where the first of them happens."""
    return FakeClock(min(each.at for each in happenings))


def happen(
    store: ThrowawayStore, clock: FakeClock, happenings: tuple[Happening, ...], now: datetime = NOW
) -> None:
    """Let it happen, in order."""
    agents = {(each.asker, each.project): None for each in happenings}
    clients = {place: store.agent(place[0], project=place[1]) for place in agents}
    people = {
        each.project: store.person("ana", project=each.project, assurance=Assurance.TERMINAL)
        for each in happenings
    }
    opened: dict[int, str] = {}
    moments = [(each.at, 0, index) for index, each in enumerate(happenings)]
    moments += [
        (each.at + timedelta(seconds=each.seconds), 1, index)
        for index, each in enumerate(happenings)
        if each.seconds is not None
    ]
    for at, is_end, index in sorted(moments):
        each = happenings[index]
        clock.set(at)
        if not is_end:
            opened[index] = _open(clients[each.asker, each.project], each)
        elif each.how == "expire":
            continue  # the clock has done it
        elif each.how == "decline":
            people[each.project].decline(opened[index], "Fix the caller instead.")
        elif each.how == "withdraw":
            clients[each.asker, each.project].withdraw(opened[index], "not needed any more")
        else:
            people[each.project].answer(opened[index], each.how)
    clock.set(now)


def _open(client: Client, each: Happening) -> str:
    if each.kind is Kind.APPROVAL:
        return client.open(approval_prompt(each.title, {"do": each.title}), kind=each.kind).ask_id
    if each.how == "expire":
        deadline = timedelta(seconds=each.seconds or 0)
        return client.open(
            each.title, ["Alpha", "Beta"], deadline=deadline, consequence=Consequence.DENY
        ).ask_id
    return client.open(each.title, ["Alpha", "Beta"], kind=each.kind).ask_id


def run_three_turns(store: ThrowawayStore, clock: FakeClock, project: str = "checkout") -> None:
    """Let a run have three iterations; in the second it asks, and is told to pause and to go on."""
    agent, person = store.agent("looper", project=project), store.person("ana", project=project)
    with agent.run(run_id=RUN, mode="loop", max=3, title=f"Sync the ledger {HOSTILE}") as run:
        for turn in run:
            clock.advance(10.0)
            if turn.number == 2:
                ask = agent.open("Post the difference?", ["Yes", "No"], run_id=RUN)
                clock.advance(5.0)
                person.answer(ask.ask_id, "1")
                person.pause(RUN)
                person.resume(RUN)
