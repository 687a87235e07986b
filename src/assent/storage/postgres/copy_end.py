"""A PostgreSQL database as one end of a copy, by a connection of its own. See `storage.copy`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from itertools import count

from psycopg import errors

from assent.protocol.error import StoreError, StoreRefusedError
from assent.storage.copy_end import Row
from assent.storage.postgres.connection import connect, plain_errors, rows
from assent.storage.postgres.session import PostgresSession
from assent.storage.postgres.store import PostgresStore
from assent.storage.queries import load_queries
from assent.storage.sql.row import ASK_COLUMNS
from assent.storage.sql.transaction import SqlTransaction

__all__ = ["PostgresEnd"]

_HOLD = "SELECT 1 FROM projects WHERE project = $1 FOR NO KEY UPDATE"
_RESERVE = """
SELECT greatest(coalesce((SELECT max(project_number) FROM projects), 0),
  coalesce((SELECT max(event_number) FROM events) >> 40, 0)) + 1
"""
# A copy is long, and its other end may be slow: what bounds a command does not bound it.
_PATIENT = (
    "SET LOCAL statement_timeout = 0",
    "SET LOCAL idle_in_transaction_session_timeout = 0",
    "SET LOCAL lock_timeout = '60s'",
)


class PostgresEnd:
    """Fits `storage.copy_end.End`."""

    def __init__(self, store: PostgresStore) -> None:
        """Connect; an empty database is set up."""
        store.migrate()
        self.name = store.url
        self._address = store.address
        self.clock = store.clock
        self._connection = connect(store.address)
        self._is_moment = False
        self._own: tuple[PostgresSession, SqlTransaction] | None = None
        self._queries = {
            name: query.replace("{ask}", ASK_COLUMNS)
            for name, query in load_queries("assent.storage.postgres", "queries.sql").items()
        }

    def query(self, statement: str, values: Row = ()) -> list[Row]:
        """Return the rows that a statement finds; none for one that changes something."""
        with plain_errors(self._address):
            if not statement.lstrip().startswith("SELECT"):
                self._connection.execute(_numbered(statement), values)
                return []
            return rows(self._connection, _numbered(statement), values, may_last=True)

    @contextmanager
    def moment(self) -> Iterator[None]:
        """See one moment of all projects, while others go on."""
        with self._transaction("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"):
            self._is_moment = True
            try:
                yield
            finally:
                self._is_moment = False

    @contextmanager
    def still(self, project: str) -> Iterator[None]:
        """Hold a project's head, and change nothing. What is one moment is still already."""
        if self._is_moment:
            yield
            return
        with self._transaction("BEGIN"):
            self.query(_HOLD.replace("$1", "?"), (project,))
            yield

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Keep everything that is written inside, or nothing of it."""
        with self._transaction("BEGIN"):
            yield
            with plain_errors(self._address):
                if self._own is None:
                    done = self._connection.execute("COMMIT").statusmessage
                else:
                    session, transaction = self._own
                    transaction.flush()
                    done = session.commit()
                if done != "COMMIT":
                    raise StoreError("The database took a transaction back instead of keeping it.")

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[None]:
        with plain_errors(self._address):
            self._connection.execute(begin)
            for setting in _PATIENT:
                self._connection.execute(setting)
            try:
                yield
            finally:
                self._own = None
                if not self._connection.closed and self._connection.info.transaction_status:
                    self._connection.execute("ROLLBACK")

    def reserve(self) -> int:
        """Return a project number that nobody has; nobody begins a project until this transaction ends."""
        self._connection.execute("LOCK TABLE projects IN SHARE ROW EXCLUSIVE MODE")
        return int(self.query(_RESERVE)[0][0])

    def insert(self, table: str, columns: Sequence[str], new: Sequence[Row]) -> None:
        """Write new rows."""
        if any(isinstance(value, str) and "\0" in value for row in new for value in row):
            raise StoreRefusedError(
                f"Some of its {table} hold a text with a NUL in it, which PostgreSQL cannot keep; nothing was changed."
            )
        try:
            with (
                self._connection.cursor() as cursor,
                cursor.copy(f"COPY {table} ({', '.join(columns)}) FROM STDIN") as stream,
            ):
                for row in new:
                    stream.write_row(row)
        except errors.UniqueViolation as error:
            raise StoreRefusedError(
                f"{self.name} already has some of its {table}; nothing was changed there."
            ) from error

    def raise_numbers(self, table: str, column: str, least: int) -> None:
        """Give new rows of a table numbers above `least` from now on: also to those who write meanwhile."""
        self.query(
            "SELECT setval(s.name, greatest(?, nextval(s.name))) FROM "
            "(SELECT pg_get_serial_sequence(?, ?)::regclass AS name) s",
            (least, table, column),
        )

    def transaction(self) -> SqlTransaction:
        """Return the store's own transaction, on what is written so far."""
        session = PostgresSession(self._connection, self._queries, self.clock, may_wait=True)
        session.has_begun = True
        transaction = SqlTransaction(session)
        self._own = (session, transaction)
        return transaction

    def close(self) -> None:
        """Let the connection go."""
        self._connection.close()


@cache
def _numbered(statement: str) -> str:
    numbers = count(1)
    return "".join(f"${next(numbers)}" if sign == "?" else sign for sign in statement)
