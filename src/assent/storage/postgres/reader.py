"""Short reads of what is committed, on a connection of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import psycopg

from assent.storage.postgres.batch import run_batch
from assent.storage.postgres.clock import DatabaseClock
from assent.storage.postgres.connection import Address, Connection, Row, is_lost, plain_errors, rows
from assent.storage.sql.reader import SqlReader

__all__ = ["PostgresReader"]

_FEW = 3
"""For fewer projects a statement that is prepared already is quicker."""


class PostgresReader(SqlReader):
    """Reads one database. A connection that was lost is replaced, once a read: the server may have been restarted."""

    def __init__(
        self,
        address: Address,
        open_: Callable[[], Connection],
        queries: dict[str, str],
        clock: DatabaseClock,
    ) -> None:
        super().__init__()
        self._clock = clock
        self._address = address
        self._open = open_
        self._queries = queries
        self._connection: Connection | None = None
        self._is_snapshot = False

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """See one moment of the store in several reads."""
        # The first statement finds out whether the connection is still there, and may replace it.
        self._run("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", ())
        self._is_snapshot = True
        try:
            yield
        finally:
            self._is_snapshot = False
            connection = self._connection
            if connection is not None and not connection.closed:
                with plain_errors(self._address):
                    connection.execute("ROLLBACK")  # nothing was written

    def version(self) -> int:
        """Return a number that grows with every event."""
        return int(self._rows("version")[0][0])

    @property
    def is_whole(self) -> bool:
        """Whether it can be used again."""
        return self._connection is None or not self._connection.closed

    def inherited(self) -> Connection | None:
        """Return the connection and forget it, in a forked child: it is the parent's."""
        connection, self._connection = self._connection, None
        return connection

    def close(self) -> None:
        """Close the connection."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def _rows(self, query: str, values: tuple[Any, ...] = ()) -> list[Row]:
        if any(isinstance(value, str) and "\0" in value for value in values):
            return []  # PostgreSQL has no text with a NUL in it, so nothing is found by one
        return self._run(self._queries[query], values)

    def _each(self, query: str, first: Sequence[str | int], rest: tuple[Any, ...]) -> list[Row]:
        """Ask for all of them in one trip: there may be thousands of projects."""
        if len(first) < _FEW:
            return super()._each(query, first, rest)
        kind = "text" if isinstance(first[0], str) else "bigint"
        inner = self._queries[query].replace("$1", "given.first")
        every = (
            f"SELECT q.* FROM unnest($1::{kind}[]) WITH ORDINALITY AS given (first, place)"  # noqa: S608 - our own words
            f" CROSS JOIN LATERAL ({inner}) q ORDER BY given.place"
        )
        return self._run(every, (list(first), *rest))

    def _run(self, query: str, values: tuple[Any, ...]) -> list[Row]:
        with plain_errors(self._address):
            is_old = self._connection is not None
            connection = self._connection = self._connection or self._open()
            try:
                return self._read(connection, query, values)
            except psycopg.Error as error:
                if not is_old or self._is_snapshot or not is_lost(error):
                    raise
            connection.close()
            connection = self._connection = self._open()
            return self._read(connection, query, values)

    def _read(self, connection: Connection, query: str, values: tuple[Any, ...]) -> list[Row]:
        if query.startswith("BEGIN"):
            connection.execute(query)
            return []
        if not self._clock.is_old:
            return rows(connection, query, values)
        found, ((now,),) = run_batch(connection, [(query, values), (self._queries["now"], ())])
        self._clock.hear(now)
        return found
