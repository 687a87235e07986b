"""Which asks a process waits for, so that its death can be seen: a lease for each ask, in the table of holds.

A thread takes, renews and gives back the leases, so that no wait is longer for it; a wait that is over before the thread
has come to it leaves nothing. The lease of a process that died stays, runs out, and says so. A server gives the lease of a
client that is gone to nobody.

Rule 1: volatile, and a courtesy. Nothing here is in the log, and nothing here may fail a wait.
Rule 2: whoever waits for an ask again has its lease, and gives it back when they stop.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection
from contextlib import AbstractContextManager, suppress
from typing import Literal

import psycopg

from assent.protocol.error import AssentError
from assent.storage.postgres.connection import Connection, rows
from assent.storage.postgres.hold import LEASE_SECONDS, holder_name, is_dead

__all__ = ["PostgresWaits"]

_PAUSE_SECONDS = 1.0
_Step = Literal["begin", "end", "abandon"]


class PostgresWaits:
    """Fits `storage.port.Waits`."""

    def __init__(
        self, borrow: Callable[[], AbstractContextManager[Connection]], queries: dict[str, str]
    ) -> None:
        self._borrow = borrow
        self._queries = queries
        self._turn = threading.Condition()
        self._counts: dict[str, int] = {}
        self._steps: list[tuple[_Step, str]] = []
        """What the thread has to do, in order."""
        self._has_swept = False
        self._is_closed = False
        self._thread: threading.Thread | None = None

    def begin(self, ask_id: str) -> None:
        """Note that this process waits for an ask."""
        with self._turn:
            count = self._counts.get(ask_id, 0)
            self._counts[ask_id] = count + 1
            if not count:
                self._do("begin", ask_id)

    def end(self, ask_id: str, *, is_over: bool) -> None:
        """Note that it does no longer: the ask is over, or it has been left in order."""
        with self._turn:
            if self._is_last(ask_id):
                if is_over and ("begin", ask_id) in self._steps:
                    self._steps.remove(("begin", ask_id))
                else:
                    self._do("end", ask_id)

    def abandon(self, ask_id: str) -> None:
        """Note that somebody is gone for whom this process has waited."""
        with self._turn:
            if self._is_last(ask_id):
                self._do("abandon", ask_id)

    def gone(self, ask_ids: Collection[str]) -> set[str]:
        """Return those of these asks that somebody waited for who died, and nobody waits for now."""
        with suppress(psycopg.Error, AssentError), self._borrow() as connection:
            found = rows(connection, self._queries["waits"], (list(ask_ids),))
            return {ask_id for ask_id, holder, is_live in found if not is_live or is_dead(holder)}
        return set()

    def sweep(self, is_open: Callable[[str], bool]) -> None:
        """Nothing: the thread forgets what was noted of asks that have ended."""

    def close(self) -> None:
        """Give back what is left; whoever closes a store has ended its waits."""
        with self._turn:
            thread, self._is_closed = self._thread, True
            for ask_id in self._counts:
                self._steps.append(("end", ask_id))
            self._counts.clear()
            self._turn.notify_all()
        if thread is not None:
            thread.join(LEASE_SECONDS / 3)

    def _is_last(self, ask_id: str) -> bool:
        count = self._counts.pop(ask_id, 0)
        if count > 1:
            self._counts[ask_id] = count - 1
        return count == 1

    def _do(self, step: _Step, ask_id: str) -> None:
        self._is_closed = False
        self._steps.append((step, ask_id))
        self._turn.notify_all()
        if self._thread is None or not self._thread.is_alive():
            self._thread = threading.Thread(target=self._run, daemon=True, name="assent-waits")
            self._thread.start()

    def _run(self) -> None:
        while True:
            with self._turn:
                if not self._steps and self._counts:
                    self._turn.wait(LEASE_SECONDS / 3)
                if not self._steps and not self._counts:
                    self._thread = None
                    return
                steps, self._steps = self._steps, []
                waited = list(self._counts)
            try:
                with self._borrow() as connection, connection.transaction():
                    self._write(connection, steps, waited)
            except (psycopg.Error, AssentError):  # the database is away
                with self._turn:
                    if self._is_closed:
                        self._thread = None
                        return
                    self._steps[:0] = steps
                    self._turn.wait(_PAUSE_SECONDS)

    def _write(self, connection: Connection, steps: list[tuple[_Step, str]], waited: list[str]) -> None:
        holder = holder_name()
        connection.execute(
            "SET LOCAL synchronous_commit = off"
        )  # nobody waits for it, and nothing depends on it
        for step, ask_id in steps:
            if step == "begin":
                connection.execute(self._queries["begin_wait"], (ask_id, holder, LEASE_SECONDS))
            else:
                query = self._queries["end_wait"] if step == "end" else self._queries["abandon_wait"]
                connection.execute(query, (ask_id, holder))
        if waited and not steps:
            connection.execute(self._queries["keep_waits"], (waited, holder, LEASE_SECONDS))
        if not self._has_swept:
            self._has_swept = True
            connection.execute(self._queries["sweep_waits"])
