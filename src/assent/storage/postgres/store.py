"""The store on a PostgreSQL server: connections as they are needed, a lock for each project, one bell, leases.

Rule 1: a transaction is of one project, and takes its head row first: projects do not wait for each other.
Rule 2: no success leaves here that is not known to be saved. When the reply to a COMMIT is lost, the log is asked: the
        hash of the last event that was to be saved stands there, or it does not.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg

from assent.protocol.error import (
    StoreAwayError,
    StoreBusyError,
    StoreError,
    StoreUnknownError,
)
from assent.storage.postgres.bell import PostgresBell
from assent.storage.postgres.clock import DatabaseClock
from assent.storage.postgres.connection import (
    TRANSACTION_MILLISECONDS,
    Address,
    Connection,
    bounds_transactions,
    connect,
    is_lost,
    plain_errors,
    rows,
)
from assent.storage.postgres.hold import Leases, PostgresHold
from assent.storage.postgres.pool import Pool
from assent.storage.postgres.reader import PostgresReader
from assent.storage.postgres.schema import migrate
from assent.storage.postgres.session import PostgresSession
from assent.storage.postgres.waits import PostgresWaits
from assent.storage.queries import load_queries
from assent.storage.sql.row import ASK_COLUMNS
from assent.storage.sql.strayed import find_strayed
from assent.storage.sql.transaction import SqlTransaction

__all__ = ["CONNECTIONS", "MOST_READING", "MOST_WRITING", "PostgresStore"]

MOST_WRITING = 8
"""Connections of a process that write at once, each another project."""
MOST_READING = 8
CONNECTIONS = MOST_WRITING + MOST_READING + 3
"""Of a process, at most: one more rings, one listens, and one looks by the clock."""
UNKNOWN_SECONDS = 30.0
"""How long we try to find out whether a commit has happened whose reply was lost."""
_PAUSE = 0.1

_inherited: list[Any] = []
"""What a forked child inherited: never used, never closed, so never collected."""


class PostgresStore:
    """Fits `storage.port.Store`. Opened lazily: the first use connects, and sets an empty database up."""

    def __init__(self, url: str) -> None:
        self.address = Address(url)
        self.url = self.address.url
        self._queries = {
            name: query.replace("{ask}", ASK_COLUMNS)
            for name, query in load_queries("assent.storage.postgres", "queries.sql").items()
        }
        self.clock = DatabaseClock(self._ask_time)
        self._fresh()

    def _fresh(self) -> None:
        self._lock = threading.Lock()
        self._mutexes: dict[str, threading.Lock] = {}
        self._preparing = threading.Lock()
        self._is_prepared = False
        self._writers = Pool(self._connect_to_write, MOST_WRITING)
        self._turns = threading.BoundedSemaphore(MOST_READING)
        self._readers: list[PostgresReader] = []
        """Those that nobody uses; another list after each closing."""
        self._reading = 0
        self.bell = PostgresBell(self._connect, self._queries["ring"])
        self._leases = Leases(self._borrow_plainly, self._queries)
        self.waits = PostgresWaits(self._borrow_plainly, self._queries)

    @property
    def connections_in_use(self) -> int:
        """How many connections of this process write or read now."""
        return self._writers.in_use + self._reading

    def mutex_of(self, project: str) -> threading.Lock:
        """Return the lock of a project: whoever has it may use `transaction` for it."""
        with self._lock:
            return self._mutexes.setdefault(project, threading.Lock())

    @contextmanager
    def transaction(self, *, may_wait: bool = True) -> Iterator[SqlTransaction]:
        """Give a transaction of one project that is committed at the end, or rolled back on any error.

        Without `may_wait`, a head that another process has raises StoreBusyError at once.

        Raises:
            StoreAwayError: the database does not answer; nothing was saved.
            StoreUnknownError: it went away in the middle of a commit and does not come back.
        """
        with plain_errors(self.address), self._writers.borrow() as connection:
            session = PostgresSession(connection, self._queries, self.clock, may_wait=may_wait)
            transaction = SqlTransaction(session)
            try:
                yield transaction
                transaction.flush()
            except BaseException as error:
                self._roll_back(connection, error)
                raise
            try:
                done = session.commit()
            except BaseException as error:
                # Closed whatever it was: psycopg takes what it meant to prepare in a pipeline that failed for prepared.
                connection.close()
                if not is_lost(error):
                    raise
                self._writers.clear()  # the others lead to the same server that has gone
                is_unknown = True
            else:
                is_unknown = False
                if done not in (None, "COMMIT"):
                    raise StoreError("The database took a transaction back instead of keeping it.")
        # Only now: the connection has been given back, and another one is needed.
        if is_unknown and not self._is_saved(transaction):
            raise StoreAwayError(f"The database {self.address.name} went away; nothing was saved.")

    def _roll_back(self, connection: Connection, error: BaseException) -> None:
        try:
            if not connection.closed:
                # Not a statement: psycopg takes what it meant to prepare in a pipeline that failed for prepared.
                # Only its own rollback forgets that, and the connection would fail at every use after it.
                connection.rollback()
        except psycopg.Error:
            connection.close()
        if is_lost(error):
            self._writers.clear()  # the others lead to the same server that has gone

    def _is_saved(self, transaction: SqlTransaction) -> bool:
        """Find out whether a transaction was committed, by its last event.

        Its head is taken first, which waits until the lost connection's transaction has ended one way or the other.
        """
        last = transaction.last_event()
        if last is None:
            return False  # nothing but what is volatile: to be done again
        project, number, hash_ = last
        until = time.monotonic() + UNKNOWN_SECONDS
        while True:
            try:
                with plain_errors(self.address), self._writers.borrow(is_fresh=True) as connection:
                    session = PostgresSession(connection, self._queries, self.clock, may_wait=True)
                    SqlTransaction(session).head(project, None)
                    found = session.rows("event_hash", (number,))
                    connection.execute("ROLLBACK")
                    return bool(found) and bytes(found[0][0]) == hash_
            except (StoreAwayError, StoreBusyError) as error:
                if time.monotonic() > until:
                    raise StoreUnknownError from error
                time.sleep(_PAUSE)

    @contextmanager
    def reading(self) -> Iterator[PostgresReader]:
        """Give a reader; one a thread at a time."""
        if not self._turns.acquire(timeout=5.0):
            raise StoreBusyError("This process uses all of its connections to the database.")
        try:
            with self._lock:
                kept_in = self._readers
                reader = kept_in.pop() if kept_in else None
                self._reading += 1
            reader = reader or self.reader()
            try:
                yield reader
            except BaseException:
                reader.close()
                raise
            finally:
                with self._lock:
                    self._reading -= 1
            with self._lock:
                is_kept = reader.is_whole and self._readers is kept_in
                if is_kept:
                    kept_in.append(reader)
            if not is_kept:
                reader.close()  # the store was closed meanwhile
        finally:
            self._turns.release()

    def reader(self) -> PostgresReader:
        """Return a reader of one's own, to be closed."""
        return PostgresReader(self.address, self._connect, self._queries, self.clock)

    def hold(self, name: str) -> PostgresHold:
        """Take the right that goes by `name`; see `Leases`."""
        return self._leases.take(name)

    def is_held(self, name: str) -> bool:
        """Say whether somebody has the right that goes by `name`."""
        return self._leases.is_held(name)

    def check(self) -> list[str]:
        """Return the rows that are found by something else than what they hold; empty when all is well."""
        with self._borrow_plainly() as connection:
            return find_strayed(lambda name: rows(connection, self._queries[name], may_last=True))

    def migrate(self, *, is_last: bool = False) -> list[str]:
        """Bring the database to this program's shape; with `is_last` also take away what only older ones use."""
        with plain_errors(self.address):
            connection = connect(self.address)
            try:
                steps = migrate(connection, with_after=is_last)
            finally:
                connection.close()
        return [f"{step.number:04}_{step.name}" for step in steps]

    def after_fork(self) -> None:
        """In the child: drop what was inherited and start anew."""
        self._leases.forget()
        self.bell.after_fork()
        readers = [reader.inherited() for reader in self._readers]
        _inherited.extend((self._writers.inherited(), readers, self.bell, self._leases, self.waits))
        self._fresh()

    def close(self) -> None:
        """Close everything; the next use opens it again."""
        self.waits.close()
        self._leases.close()
        with self._lock:
            readers, self._readers = self._readers, []
        for reader in readers:
            reader.close()
        self._writers.clear()
        self.bell.close()

    def _ask_time(self) -> None:
        with self.reading() as reader:
            reader.version()

    @contextmanager
    def _borrow_plainly(self) -> Iterator[Connection]:
        with plain_errors(self.address), self._writers.borrow() as connection:
            yield connection

    def _connect_to_write(self) -> Connection:
        connection = self._connect()
        if bounds_transactions(connection):
            with plain_errors(self.address):
                connection.execute(f"SET transaction_timeout = {TRANSACTION_MILLISECONDS}")
        return connection

    def _connect(self) -> Connection:
        connection = connect(self.address, self.clock)
        if not self._is_prepared:
            try:
                with self._preparing, plain_errors(self.address):
                    if not self._is_prepared:
                        migrate(connection)
                        self._is_prepared = True
            except BaseException:
                connection.close()
                raise
        return connection
