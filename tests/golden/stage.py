"""A store on which everything that a log holds is given: the clock, the ids, the machine's name and the store's secret."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from types import SimpleNamespace
from unittest import mock

import msgspec

from assent.client.client import Client
from assent.client.embedded import EmbeddedDoor
from assent.hub import ids
from assent.hub.hub import Hub
from assent.protocol.principal import Assurance
from assent.testing import FakeClock, ThrowawayStore

__all__ = ["Stage", "set_stage"]


class Stage:
    """The people and agents of one story, and the clock that they look at."""

    def __init__(self, store: ThrowawayStore, clock: FakeClock) -> None:
        self.store, self.clock = store, clock

    @cached_property
    def coder(self) -> Client:
        """The agent that asks."""
        return self.store.agent()

    @cached_property
    def reviewer(self) -> Client:
        """Another agent."""
        return self.store.agent("reviewer")

    @cached_property
    def ana(self) -> Client:
        """A person at a terminal."""
        return self.store.person(assurance=Assurance.TERMINAL)

    @cached_property
    def bob(self) -> Client:
        """Another person, of whom nothing but the name is known."""
        return self.store.person("bob")

    @cached_property
    def hub(self) -> Hub:
        """The hub of a process that sends commands of its own."""
        return self.store.hub()

    def log(self) -> list[str]:
        """Return what the log holds, a line of JSON for each event, topics too; the last line is the end of the chain."""
        records = self.ana.log(limit=10_000)
        lines = [
            msgspec.json.encode([each.sequence, each.at, each.type, each.subject, each.topic]).decode()[:-1]
            + f",{(each.body or b'null').decode()}]"
            for each in records
        ]
        return [*lines, msgspec.json.encode(records[-1].hash.hex()).decode()]


@contextmanager
def set_stage(database: str | None = None) -> Iterator[Stage]:
    """Give a stage on a file, or on a PostgreSQL database."""
    clock = FakeClock()
    moment = SimpleNamespace(time=lambda: clock.now() / 1e6, time_ns=lambda: clock.now() * 1_000)
    machine = SimpleNamespace(getpid=lambda: 42, uname=lambda: SimpleNamespace(nodename="host"))
    with (
        mock.patch.object(ids, "_chance", random.Random(1)),
        mock.patch.object(ids, "_last_second", 0),
        mock.patch.object(ids, "time", moment),
        mock.patch.object(ids, "os", machine),
        mock.patch.object(EmbeddedDoor, "secret", return_value=b"golden"),
        ThrowawayStore(clock=clock, database=database) as store,
    ):
        yield Stage(store, clock)
