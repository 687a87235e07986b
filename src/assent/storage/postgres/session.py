"""The named queries on one connection inside one transaction.

Each statement costs a trip to the server and back, so they travel together where nothing hangs on the reply: BEGIN with
the lock of the head, its row and what else will be wanted; and at the end everything that is written, with the COMMIT.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from psycopg import errors

from assent.protocol.error import CommandReusedError, StoreError
from assent.storage.postgres.array import packers_of
from assent.storage.postgres.batch import SYNC, Statement, run_batch
from assent.storage.postgres.clock import DatabaseClock
from assent.storage.postgres.connection import Connection, Row
from assent.storage.sql.session import refuse_nul

__all__ = ["PostgresSession"]

_packers_of = cache(packers_of)


class _Held:
    """A write that has not been sent."""

    __slots__ = ("query", "taken", "values")

    def __init__(self, query: str, values: Any, taken: str = "") -> None:
        self.query = query
        self.values = values
        self.taken = taken


class PostgresSession:
    """Fits `storage.sql.session.Session`."""

    def __init__(
        self, connection: Connection, queries: dict[str, str], clock: DatabaseClock, *, may_wait: bool
    ) -> None:
        self._connection = connection
        self._queries = queries
        self._clock = clock
        self._lock = queries["lock_head" if may_wait else "lock_head_now"]
        self._held: list[_Held] = []
        self.has_begun = False

    def take_head(
        self, project: str, then: Sequence[tuple[str, tuple[Any, ...]]] = ()
    ) -> tuple[Row | None, list[list[Row]]]:
        """Lock the head and return its row and what else is found; the lock first, so that it is as under the lock."""
        statements = [*self._begin(), (self._lock, (project,)), (self._queries["take_head"], (project,))]
        head = len(statements) - 1
        places: list[int | None] = []
        for query, values in then:
            if _has_nul(values):
                places.append(None)
            else:
                places.append(len(statements))
                statements.append((self._queries[query], values))
        found = run_batch(self._connection, statements)
        # A head that was not there to be locked may be there to be read: somebody has begun the project in between.
        row = next(iter(found[head]), None) if found[head - 1] else None
        if row is not None:
            self._clock.hear(row[-1])
        return row, [[] if place is None else found[place] for place in places]

    def rows(self, query: str, values: tuple[Any, ...] = ()) -> list[Row]:
        """Return all rows that a query finds."""
        if _has_nul(values):
            return []
        self._send(commits=False)
        return run_batch(self._connection, [*self._begin(), (self._queries[query], values)])[-1]

    def run(self, query: str, values: tuple[Any, ...]) -> None:
        """Run a query for what it changes, with the others at the end."""
        refuse_nul([values])
        self._held.append(_Held(self._queries[query], values))

    def write(
        self, query: str, new: list[tuple[Any, ...]], *, changes_all: bool = False, taken: str = ""
    ) -> None:
        """Run a query that takes rows of values, with the others at the end; see the protocol.

        One that must change all of its rows fails by itself if it does not: see `end_asks`.
        """
        del changes_all
        if not new:
            return
        refuse_nul(new)
        text = self._queries[query]
        packers = _packers_of(text)
        if packers:
            columns = zip(packers, zip(*new, strict=True), strict=True)
            self._held.append(_Held(text, tuple(pack(column) for pack, column in columns), taken))
        else:
            self._held += [_Held(text, row, taken) for row in new]

    def commit(self) -> str | None:
        """Send what is held back and COMMIT; return what the server says to that, None where nothing had begun."""
        if not self._held and not self.has_begun:
            return None
        return self._send(commits=True)

    def _send(self, *, commits: bool) -> str | None:
        if not self._held and not commits:
            return None
        held, self._held = self._held, []
        statements = [*self._begin(), *((write.query, write.values) for write in held)]
        if commits:
            # After a SYNC the server gives up if it never hears the COMMIT. And of a transaction in which something
            # failed, COMMIT keeps nothing.
            statements += [SYNC, ("COMMIT", ())]
        try:
            found = run_batch(self._connection, statements)
        except errors.UniqueViolation as error:
            table = f" {error.diag.table_name} "
            for write in held:
                if write.taken and table in write.query:
                    raise CommandReusedError(write.taken) from error
            raise
        except errors.DivisionByZero as error:
            raise StoreError("A conditional write did not hold inside its own transaction.") from error
        return str(found[-1][0][0]) if commits else None

    def _begin(self) -> list[Statement]:
        if self.has_begun:
            return []
        self.has_begun = True
        return [("BEGIN", ())]


def _has_nul(values: tuple[Any, ...]) -> bool:
    """Say whether nothing can be found by these: PostgreSQL has no text with a NUL in it."""
    return any(isinstance(value, str) and "\0" in value for value in values)
