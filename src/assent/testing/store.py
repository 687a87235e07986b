"""A store in a folder of its own that goes away, with clients for agents and people on it."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import Self

from assent.client.async_client import AsyncClient
from assent.client.client import Client
from assent.hub.compose import hub_on_database
from assent.hub.hub import Hub
from assent.protocol.principal import Assurance, Principal, Role
from assent.storage.sqlite.store import SqliteStore
from assent.testing.clock import FakeClock
from assent.testing.person import ScriptedPerson

__all__ = ["ThrowawayStore", "throwaway"]


class ThrowawayStore:
    """A real store for one test.

    Each client has a hub of its own and hears of the others as another process would, by the doorbell. People may
    answer here also where an agent's host runs the tests, and nothing is noted in the user's home.

    >>> with throwaway() as store:
    ...     database = store.agent().open("Which database?", ["PostgreSQL", "SQLite"])
    ...     answered = store.person().answer(database.ask_id, "2")
    ...     database.value()
    'SQLite'
    """

    def __init__(
        self, *, project: str = "test", clock: FakeClock | None = None, database: str | None = None
    ) -> None:
        self.project = project
        self.clock = clock
        self.database = database
        """The address of a PostgreSQL database to stand on, which is left as it is then; None for a file of its own."""
        self.path = Path(tempfile.mkdtemp(prefix="assent-test-")) / "assent.db"
        self._maker = os.getpid()
        self._hubs: list[Hub] = []

    def hub(self) -> Hub:
        """Return one more hub on this store, as another process would have it."""
        if self.database is None:
            hub = Hub(SqliteStore(self.path), self.clock)
        else:
            hub = hub_on_database(self.database, self.clock)
        if self.clock is not None:
            self.clock.attach(hub)
        self._hubs.append(hub)
        return hub

    def agent(self, name: str = "coder", *, project: str | None = None) -> Client:
        """Return a client that asks."""
        return Client(self.hub(), project or self.project, Principal(Role.AGENT, name))

    def person(
        self, name: str = "ana", *, project: str | None = None, assurance: Assurance = Assurance.DECLARED
    ) -> Client:
        """Return a client that answers; approvals want `Assurance.TERMINAL` or `Assurance.TOKEN`."""
        principal = Principal(Role.HUMAN, name)
        return Client(self.hub(), project or self.project, principal, assurance=assurance)

    def async_agent(self, name: str = "coder", *, project: str | None = None) -> AsyncClient:
        """Return a client that asks, for tasks."""
        return AsyncClient(self.hub(), project or self.project, Principal(Role.AGENT, name))

    def async_person(
        self, name: str = "ana", *, project: str | None = None, assurance: Assurance = Assurance.DECLARED
    ) -> AsyncClient:
        """Return a client that answers, for tasks."""
        principal = Principal(Role.HUMAN, name)
        return AsyncClient(self.hub(), project or self.project, principal, assurance=assurance)

    def scripted_person(
        self, name: str = "ana", *, project: str | None = None, strict: bool = True
    ) -> ScriptedPerson:
        """Return somebody who answers by script."""
        return ScriptedPerson(self.person(name, project=project), strict=strict)

    def close(self) -> None:
        """Close every hub and remove the folder; a forked child leaves the folder to its parent."""
        for hub in self._hubs:
            hub.close()
        self._hubs.clear()
        if self._maker == os.getpid():
            shutil.rmtree(self.path.parent, ignore_errors=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def throwaway(
    *, project: str = "test", clock: FakeClock | None = None, database: str | None = None
) -> ThrowawayStore:
    """Return a store for a `with` block; on a `clock` of yours, and on a PostgreSQL `database`, if you give them."""
    return ThrowawayStore(project=project, clock=clock, database=database)
