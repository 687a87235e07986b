"""The SQLite store: one connection that writes, a few that read, one lock file, one bell.

No code opens, copies or hashes the database's files while this process has the store open, except through the
store: closing any descriptor of the file would drop SQLite's locks (it lost acknowledged commits in 20 of 20 trials).
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

import apsw

from assent.protocol.error import StoreBusyError
from assent.storage.queries import load_queries
from assent.storage.sql.row import ASK_COLUMNS
from assent.storage.sql.strayed import find_strayed
from assent.storage.sql.transaction import SqlTransaction
from assent.storage.sqlite.bell import SocketBell
from assent.storage.sqlite.connection import connect, plain_errors, rows
from assent.storage.sqlite.fork import gate
from assent.storage.sqlite.hold import FileHold, is_held
from assent.storage.sqlite.lock import FileLock
from assent.storage.sqlite.mark import check_mark
from assent.storage.sqlite.place import prepare
from assent.storage.sqlite.reader import SqliteReader
from assent.storage.sqlite.schema import is_current, migrate
from assent.storage.sqlite.session import SqliteSession
from assent.storage.sqlite.waits import FileWaits

__all__ = ["SqliteStore"]

_inherited: list[Any] = []
"""What a forked child inherited in spite of the gate: never used, never closed, so never collected."""


class SqliteStore:
    """Fits `storage.port.Store`. Opened lazily: the first transaction or read sets an empty file up."""

    def __init__(self, path: Path, mark: bytes | None = None) -> None:
        """Open it; with a `mark`, only the file that has it."""
        self.path = path.absolute()
        self._mark = mark
        self.url = f"sqlite:///{self.path}"
        self.clock = None
        """A file is read and written by one machine, whose clock everybody here has."""
        prepare(self.path)
        self._queries = {
            name: query.replace("{ask}", ASK_COLUMNS)
            for name, query in load_queries("assent.storage.sqlite", "queries.sql").items()
        }
        self._fresh()
        gate.note(self)

    def _fresh(self) -> None:
        self.mutex = threading.Lock()
        """Whoever has it may use `transaction`: one writer at a time in this process."""
        self._pool = threading.Lock()
        self._lock = FileLock(f"{self.path}-lock")
        self._writer: apsw.Connection | None = None
        self._readers: list[SqliteReader] = []
        self.bell = SocketBell(self.path)
        self.waits = FileWaits(f"{self.path}-waits")

    @property
    def connections_in_use(self) -> int:
        """None: a file has no server that could run out of them."""
        return 0

    def mutex_of(self, project: str) -> threading.Lock:  # noqa: ARG002 - a file has one writer, whatever the project
        """Return the lock that lets one thread write; see `mutex`."""
        return self.mutex

    @contextmanager
    def transaction(self, *, may_wait: bool = True) -> Iterator[SqlTransaction]:
        """Give a transaction that is committed at the end, or rolled back on any error.

        One at a time a process: the caller holds `mutex`. Without `may_wait`, a lock that another
        process holds raises StoreBusyError at once.
        """
        with plain_errors(str(self.path)):
            try:
                if not self._lock.acquire(may_wait=may_wait):
                    raise StoreBusyError
                with gate:
                    connection = self._writer or self._open_writer()
                    connection.execute("BEGIN IMMEDIATE")
                    try:
                        transaction = SqlTransaction(SqliteSession(connection, self._queries))
                        yield transaction
                        transaction.flush()
                        connection.execute("COMMIT")
                    except BaseException as error:
                        self._roll_back(connection, error)
                        raise
            finally:
                self._lock.release()

    def _roll_back(self, connection: apsw.Connection, error: BaseException) -> None:
        try:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
        except apsw.Error:
            self._writer = None
        if isinstance(error, apsw.IOError):
            # After a failed sync the kernel may call the page clean: start again from what the file really holds.
            self._writer = None
        if self._writer is None:
            connection.close(True)

    @contextmanager
    def reading(self) -> Iterator[SqliteReader]:
        """Give a reader; one a thread at a time."""
        with plain_errors(str(self.path)):
            with self._pool:
                reader = self._readers.pop() if self._readers else None
            if reader is None:
                reader = self._open_reader()
            try:
                yield reader
            except BaseException:
                reader.close()
                raise
            with self._pool:
                self._readers.append(reader)

    def reader(self) -> SqliteReader:
        """Return a reader of one's own, to be closed: only on one connection do versions compare."""
        with plain_errors(str(self.path)):
            return self._open_reader()

    def hold(self, name: str) -> FileHold:
        """Take the right that goes by `name`; see `FileHold`."""
        return FileHold(self._hold_path(name))

    def is_held(self, name: str) -> bool:
        """Say whether somebody alive has the right that goes by `name`."""
        return is_held(self._hold_path(name))

    def _hold_path(self, name: str) -> str:
        return f"{self.path}-hold-{sha256(name.encode()).hexdigest()[:32]}"

    def check(self) -> list[str]:
        """Return what SQLite's own integrity check finds wrong, and the rows that are found by something else than
        what they hold; empty when all is well.
        """
        with gate, plain_errors(str(self.path)):
            connection = connect(str(self.path), writes=False)
            try:
                checked = connection.execute("PRAGMA integrity_check(20)").fetchall()
                is_ours = is_current(connection)  # an empty file has no tables yet
                strayed = find_strayed(lambda name: rows(connection, self._queries[name])) if is_ours else []
            finally:
                connection.close()
        return [f"SQLite: {row[0]}" for row in checked if row[0] != "ok"] + strayed

    def let_go(self) -> None:
        """Close the writer before a fork; not where the forking thread itself is in the middle of a transaction."""
        connection = self._writer
        if connection is not None and not connection.in_transaction:
            self._writer = None
            connection.close()

    def after_fork(self) -> None:
        """In the child: drop what was inherited unclosed and start anew."""
        _inherited.extend((self._writer, self._readers, self.bell))
        self._lock.close()
        self._fresh()

    def close(self) -> None:
        """Close everything; the next use opens it again."""
        with self._pool:
            readers, self._readers = self._readers, []
        for reader in readers:
            reader.close()
        with gate:
            self.let_go()
        self.waits.close()
        self.bell.close()
        self._lock.close()

    def _open_writer(self) -> apsw.Connection:
        self._create()
        connection = connect(str(self.path), writes=True)
        try:
            if not is_current(connection):
                migrate(connection, self._mark)
            if self._mark is not None:
                check_mark(connection, self._mark, str(self.path))
        except BaseException:
            connection.close()
            raise
        self._writer = connection
        return connection

    def _create(self) -> None:
        # Ours alone under any umask; WAL and shared memory take over the file's mode. Only a file that was not
        # there is opened and closed here, so nobody's locks on it can be lost.
        with suppress(FileExistsError):
            os.close(os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600))

    def _open_reader(self) -> SqliteReader:
        reader = SqliteReader(str(self.path), self._queries, self._mark)
        if self.path.exists() and reader.is_current():
            return reader
        reader.close()
        with self.mutex, self.transaction():
            pass
        return reader
