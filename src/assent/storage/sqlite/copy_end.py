"""A SQLite file as one end of a copy, by a connection of its own. See `storage.copy`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import apsw

from assent.protocol.error import StoreDamagedError, StoreRefusedError
from assent.storage.copy_end import Row
from assent.storage.queries import load_queries
from assent.storage.sql.row import ASK_COLUMNS
from assent.storage.sql.transaction import SqlTransaction
from assent.storage.sqlite.connection import connect, plain_errors, rows
from assent.storage.sqlite.fork import gate
from assent.storage.sqlite.lock import FileLock
from assent.storage.sqlite.mark import give_mark
from assent.storage.sqlite.schema import load_newest
from assent.storage.sqlite.session import SqliteSession
from assent.storage.sqlite.store import SqliteStore

__all__ = ["FileEnd", "SqliteEnd"]

_RESERVE = """
SELECT max(coalesce((SELECT max(project_number) FROM projects), 0),
  coalesce((SELECT max(event_number) FROM events) >> 40, 0)) + 1
"""


class FileEnd:
    """A file that is only read, and left as it is: a backup."""

    def __init__(self, path: Path) -> None:
        """Open it.

        Raises:
            StoreRefusedError: it is no store, or one of another shape.
            StoreDamagedError: it cannot be read.
        """
        self.name = str(path)
        with plain_errors(self.name):
            self._connection = connect(self.name, writes=False)
            self._connection.pragma("query_only", True)
            self.schema = int(self._connection.pragma("user_version"))

    @property
    def is_current(self) -> bool:
        """Whether it is of this program's shape."""
        return self.schema == load_newest()

    @property
    def is_newer(self) -> bool:
        """Whether a newer program has written it."""
        return self.schema > load_newest()

    def query(self, statement: str, values: Row = ()) -> list[Row]:
        """Return the rows that a statement finds."""
        with gate, plain_errors(self.name):
            return rows(self._connection, statement, values)

    @contextmanager
    def still(self, project: str) -> Iterator[None]:  # noqa: ARG002 - a file has one moment for all projects
        """See one moment of the file."""
        with gate, plain_errors(self.name):
            self._connection.execute("BEGIN")
            try:
                yield
            finally:
                self._connection.execute("ROLLBACK")

    def check(self) -> None:
        """Let SQLite look at the whole file.

        Raises:
            StoreDamagedError: something is wrong with it.
        """
        found = [row[0] for row in self.query("PRAGMA integrity_check(5)") if row[0] != "ok"]
        if found:
            raise StoreDamagedError(f"{self.name} is damaged: {found[0]}")

    def save_as(self, path: Path) -> None:
        """Write one moment of it into another file, which must be empty or not there."""
        with gate, plain_errors(str(path)):
            self._connection.pragma("query_only", False)
            self._connection.execute("VACUUM INTO ?", (str(path),))

    def close(self) -> None:
        """Let the connection go."""
        with gate:
            self._connection.close()


class SqliteEnd(FileEnd):
    """A store in a file. Fits `storage.copy_end.End`."""

    def __init__(self, store: SqliteStore) -> None:
        """Open it; an empty one is set up."""
        with store.mutex, store.transaction():
            pass
        super().__init__(store.path)
        self.clock = store.clock
        self._connection.pragma("query_only", False)
        self._lock = FileLock(f"{store.path}-lock")
        self._own: SqlTransaction | None = None
        self._queries = {
            name: query.replace("{ask}", ASK_COLUMNS)
            for name, query in load_queries("assent.storage.sqlite", "queries.sql").items()
        }

    @contextmanager
    def still(self, project: str) -> Iterator[None]:  # noqa: ARG002 - as above
        """Hold the file's one write lock, and change nothing."""
        with self._locked():
            try:
                yield
            finally:
                self._connection.execute("ROLLBACK")

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Keep everything that is written inside, or nothing of it."""
        with self._locked():
            try:
                yield
                if self._own is not None:
                    self._own.flush()
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise
            finally:
                self._own = None

    @contextmanager
    def _locked(self) -> Iterator[None]:
        with gate, plain_errors(self.name):
            self._lock.acquire(may_wait=True)
            try:
                self._connection.execute("BEGIN IMMEDIATE")
                yield
            finally:
                self._lock.release()

    def reserve(self) -> int:
        """Return a project number that nobody has."""
        return int(self.query(_RESERVE)[0][0])

    def insert(self, table: str, columns: Sequence[str], new: Sequence[Row]) -> None:
        """Write new rows."""
        marks = ", ".join("?" * len(columns))
        statement = f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks})"  # noqa: S608 - our own names
        try:
            self._connection.executemany(statement, new)
        except apsw.ConstraintError as error:
            raise StoreRefusedError(
                f"{self.name} already has some of its {table}; nothing was changed there."
            ) from error

    def raise_numbers(self, table: str, column: str, least: int) -> None:
        """Do nothing: SQLite takes the number after the greatest."""

    def give_mark(self, mark: bytes, *, is_alone: bool) -> None:
        """Let the file be known by this mark, too, or by no other any more; inside `writing`."""
        give_mark(self._connection, mark, is_alone=is_alone)

    def transaction(self) -> SqlTransaction:
        """Return the store's own transaction, on what is written so far."""
        self._own = SqlTransaction(SqliteSession(self._connection, self._queries))
        return self._own

    def close(self) -> None:
        """Let the connection go."""
        super().close()
        self._lock.close()
