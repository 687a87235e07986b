"""The named queries on one connection inside one transaction.

Each statement costs a trip to the server and back, so they travel together where nothing hangs on the reply: BEGIN with
the lock of the head and its row; and at the end everything that is written.
"""

from __future__ import annotations

from typing import Any

from psycopg import errors

from assent.protocol.error import CommandReusedError, StoreError
from assent.storage.postgres.connection import Connection, Row, rows

__all__ = ["PostgresSession"]


class _Held:
    """A write that has not been sent."""

    __slots__ = ("changes", "query", "taken", "values")

    def __init__(self, query: str, values: Any, changes: int | None, taken: str) -> None:
        self.query = query
        self.values = values
        self.changes = changes
        """How many rows it must change, if that matters."""
        self.taken = taken


class PostgresSession:
    """Fits `storage.sql.session.Session`."""

    def __init__(self, connection: Connection, queries: dict[str, str], *, may_wait: bool) -> None:
        self._connection = connection
        self._queries = queries
        self._lock = queries["lock_head" if may_wait else "lock_head_now"]
        self._held: list[_Held] = []
        self.has_begun = False

    def take_head(self, project: str) -> Row | None:
        """Lock the head and return its row; the lock first, so that the row is as it is under the lock."""
        with self._connection.pipeline():
            self._begin()
            self._connection.execute(self._lock, (project,), binary=True)
            found = self._connection.execute(self._queries["take_head"], (project,), binary=True)
        return found.fetchone()

    def rows(self, query: str, values: tuple[Any, ...] = ()) -> list[Row]:
        """Return all rows that a query finds."""
        if any(isinstance(value, str) and "\0" in value for value in values):
            return []  # PostgreSQL has no text with a NUL in it, so nothing is found by one
        self.send()
        self._begin()
        return rows(self._connection, self._queries[query], values)

    def run(self, query: str, values: tuple[Any, ...]) -> None:
        """Run a query for what it changes, with the others at the end."""
        self._held.append(_Held(self._queries[query], values, None, ""))

    def write(
        self, query: str, new: list[tuple[Any, ...]], *, changes_all: bool = False, taken: str = ""
    ) -> None:
        """Run a query that takes rows of values, with the others at the end; see the protocol."""
        if not new:
            return
        text = self._queries[query]
        if "unnest(" in text:
            columns = tuple(list(column) for column in zip(*new, strict=True))
            self._held.append(_Held(text, columns, len(new) if changes_all else None, taken))
        else:
            self._held += [_Held(text, row, 1 if changes_all else None, taken) for row in new]

    def send(self) -> None:
        """Send what is held back, and see that it did what it should."""
        if not self._held:
            return
        held, self._held = self._held, []
        try:
            with self._connection.pipeline():
                self._begin()
                cursors = [self._connection.execute(write.query, write.values, binary=True) for write in held]
        except errors.UniqueViolation as error:
            table = f" {error.diag.table_name} "
            for write in held:
                if write.taken and table in write.query:
                    raise CommandReusedError(write.taken) from error
            raise
        for write, cursor in zip(held, cursors, strict=True):
            if write.changes is not None and cursor.rowcount != write.changes:
                raise StoreError("A conditional write did not hold inside its own transaction.")

    def _begin(self) -> None:
        if not self.has_begun:
            self.has_begun = True
            self._connection.execute("BEGIN")
