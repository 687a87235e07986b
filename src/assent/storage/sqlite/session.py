"""The named queries on SQLite's one writing connection. BEGIN IMMEDIATE has the whole file, so no head need be locked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import apsw

from assent.protocol.error import CommandReusedError, StoreError
from assent.storage.sql.session import refuse_nul
from assent.storage.sqlite.connection import rows, write_rows

__all__ = ["SqliteSession"]


class SqliteSession:
    """Fits `storage.sql.session.Session`."""

    __slots__ = ("_connection", "_queries")

    def __init__(self, connection: apsw.Connection, queries: dict[str, str]) -> None:
        self._connection = connection
        self._queries = queries

    def take_head(
        self, project: str, then: Sequence[tuple[str, tuple[Any, ...]]] = ()
    ) -> tuple[tuple[Any, ...] | None, list[list[tuple[Any, ...]]]]:
        """Return the head's row, and what these queries find."""
        found = rows(self._connection, self._queries["take_head"], (project,))
        return found[0] if found else None, [self.rows(query, values) for query, values in then]

    def rows(self, query: str, values: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
        """Return all rows that a query finds."""
        return rows(self._connection, self._queries[query], values)

    def run(self, query: str, values: tuple[Any, ...]) -> None:
        """Run a query for what it changes."""
        refuse_nul([values])
        self._connection.execute(self._queries[query], values)

    def write(
        self, query: str, new: list[tuple[Any, ...]], *, changes_all: bool = False, taken: str = ""
    ) -> None:
        """Run a query that takes rows of values; see the protocol."""
        refuse_nul(new)
        try:
            changed = write_rows(self._connection, self._queries[query], new)
        except apsw.ConstraintError as error:
            if taken:
                raise CommandReusedError(taken) from error
            raise
        if changes_all and changed != len(new):
            raise StoreError("A conditional write did not hold inside its own transaction.")
