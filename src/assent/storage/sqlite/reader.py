"""Short reads of what is committed, on a connection of their own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import apsw

from assent.storage.sql.reader import SqlReader
from assent.storage.sqlite.connection import connect, plain_errors, rows
from assent.storage.sqlite.fork import gate
from assent.storage.sqlite.mark import check_mark
from assent.storage.sqlite.schema import is_current

__all__ = ["SqliteReader"]


class SqliteReader(SqlReader):
    """Reads one file."""

    def __init__(self, path: str, queries: dict[str, str], mark: bytes | None = None) -> None:
        super().__init__()
        self._mark = mark
        self._path = path
        self._queries = queries
        self._opened: apsw.Connection | None = None
        gate.note(self)

    @property
    def _connection(self) -> apsw.Connection:
        """Opened by the first use, and again by the first use after a fork."""
        if self._opened is None:
            self._opened = self._connect()
        return self._opened

    def _connect(self) -> apsw.Connection:
        connection = connect(self._path, writes=False)
        if self._mark is not None:
            try:
                check_mark(connection, self._mark, self._path)
            except BaseException:
                connection.close()
                raise
        return connection

    def is_current(self) -> bool:
        """Say whether the file is of this program's shape."""
        with gate, plain_errors(self._path):
            return is_current(self._connection)

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """See one moment of the store in several reads."""
        with gate:
            self._connection.execute("BEGIN")
            try:
                yield
            finally:
                self._connection.execute("COMMIT")

    def version(self) -> int:
        """Return a number that changes when another connection has committed."""
        with gate, plain_errors(self._path):
            return int(self._connection.pragma("data_version"))

    def close(self) -> None:
        """Close the connection."""
        with gate:
            self.let_go()

    def let_go(self) -> None:
        """Close the connection before a fork; not where the forking thread itself is in the middle of a snapshot."""
        connection = self._opened
        if connection is not None and not connection.in_transaction:
            self._opened = None
            self._numbers.clear()  # the next one may find another file there
            connection.close()

    def _rows(self, query: str, values: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
        with gate, plain_errors(self._path):
            return rows(self._connection, self._queries[query], values)
