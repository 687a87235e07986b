"""Connecting to PostgreSQL the one safe way, and its failures in our words."""

from __future__ import annotations

from types import TracebackType
from typing import Any
from urllib.parse import urlsplit

import psycopg
from psycopg import errors
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.types.numeric import Int8BinaryDumper, Int8Dumper

from assent.protocol.error import (
    BadRequestError,
    StoreAwayError,
    StoreBusyError,
    StoreDamagedError,
    StoreError,
    StoreFullError,
    StoreReadOnlyError,
    StoreRefusedError,
)
from assent.storage.postgres.batch import run_batch
from assent.storage.postgres.clock import DatabaseClock

__all__ = [
    "BUSY_MILLISECONDS",
    "IDLE_MILLISECONDS",
    "SCHEMA",
    "STATEMENT_MILLISECONDS",
    "TRANSACTION_MILLISECONDS",
    "Address",
    "Connection",
    "Row",
    "bounds_transactions",
    "connect",
    "is_lost",
    "plain_errors",
    "rows",
]

Row = tuple[Any, ...]
Connection = psycopg.Connection[Row]

SCHEMA = "assent"
"""Our tables have a schema of their own, so that they can live in a database that others use."""
BUSY_MILLISECONDS = 4_500
"""How long a project's head is waited for; less than a command waits for its turn."""
STATEMENT_MILLISECONDS = 30_000
IDLE_MILLISECONDS = 10_000
"""A process that stops in the middle of a transaction holds its project's head no longer than this."""
TRANSACTION_MILLISECONDS = 20_000
"""Nor does one that the timer above does not see; less than we try to find out what became of a commit, so that a server
which has not noticed that its client is gone cannot outlast that."""

_CONNECT_SECONDS = 5
_DEFAULTS: dict[str, Any] = {
    "application_name": "assent",
    "connect_timeout": _CONNECT_SECONDS,
    # A machine that is gone says nothing: without these, a connection to it lives for hours.
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 20_000,
    # Of several hosts, the one that is written to: after a failover, the other one.
    "target_session_attrs": "read-write",
}
_FORCED = {"client_encoding": "utf8"}
# synchronous_commit: whatever waits for less than the disk would acknowledge what a crash can take back.
_SETTINGS = f"""
SELECT set_config('search_path', '{SCHEMA}', false),
  set_config('lock_timeout', '{BUSY_MILLISECONDS}', false),
  set_config('statement_timeout', '{STATEMENT_MILLISECONDS}', false),
  set_config('idle_in_transaction_session_timeout', '{IDLE_MILLISECONDS}', false),
  set_config('default_transaction_isolation', 'read committed', false),
  CASE WHEN current_setting('synchronous_commit') IN ('off', 'local')
    THEN set_config('synchronous_commit', 'on', false) END,
  current_setting('server_encoding'), current_setting('server_version_num')::int,
  (extract(epoch FROM clock_timestamp()) * 1000000)::bigint
"""  # noqa: S608 - our own words
_OLDEST = 140_000
_BOUNDS = 170_000
"""The first version that ends a transaction which lasts too long."""


class Address:
    """Where the database is. Its password is in no message."""

    def __init__(self, url: str) -> None:
        """Read `postgresql://…`.

        Raises:
            BadRequestError: it is no address of a database.
        """
        try:
            given = conninfo_to_dict(url)
        except psycopg.Error:
            # libpq's words quote what was given, perhaps a password.
            raise BadRequestError(
                "This address of a database cannot be read. Example: postgresql://user@host/database"
            ) from None
        if any("@" in str(given.get(part) or "") for part in ("host", "port", "dbname")):
            raise BadRequestError(
                "This address of a database cannot be read: in a password, @ is %40 and / is %2F."
            )
        self.conninfo = make_conninfo(**{**_DEFAULTS, **given, **_FORCED})
        host, port = given.get("host") or "localhost", given.get("port")
        name = given.get("dbname") or given.get("user") or ""
        self.name = f"{host}{f':{port}' if port else ''}/{name}"
        """For people: where, and which database."""
        user = given.get("user")
        self.url = f"postgresql://{f'{user}@' if user else ''}{self.name}"
        """The address without its password and settings."""
        self.is_local = urlsplit(url).hostname in {None, "", "localhost", "127.0.0.1", "::1"}


def connect(address: Address, clock: DatabaseClock | None = None) -> Connection:
    """Open one connection; each statement is a transaction of its own until somebody says BEGIN. `clock` is set by it.

    Raises:
        StoreAwayError: nobody answers there.
        StoreRefusedError: somebody does, and does not want us, or cannot be used.
    """
    with plain_errors(address):
        connection: Connection = psycopg.connect(
            address.conninfo,
            autocommit=True,
            cursor_factory=psycopg.RawCursor,
            prepare_threshold=None,  # we prepare; whatever the driver had prepared, it would forget with all of ours
        )
    try:
        with plain_errors(address):
            # One type for all whole numbers: else each size would be a statement of its own to prepare.
            connection.adapters.register_dumper(int, Int8Dumper)
            connection.adapters.register_dumper(int, Int8BinaryDumper)
            *_, encoding, version, now = connection.execute(_SETTINGS).fetchone() or ("", 0, 0)
            if clock is not None:
                clock.hear(now)
        if encoding != "UTF8":
            raise StoreRefusedError(f"The database {address.name} keeps {encoding}; Assent needs UTF8.")
        if version < _OLDEST:
            raise StoreRefusedError(f"PostgreSQL at {address.name} is too old; Assent needs 14 or newer.")
    except BaseException:
        connection.close()
        raise
    return connection


def bounds_transactions(connection: Connection) -> bool:
    """Say whether the server can end a transaction that lasts too long."""
    return connection.info.server_version >= _BOUNDS


def rows(
    connection: Connection, query: str, values: tuple[Any, ...] = (), *, may_last: bool = False
) -> list[Row]:
    """Return all rows that a query finds; one that `may_last` is waited for as long as it takes."""
    return run_batch(connection, [(query, values)], may_last=may_last)[0]


def is_lost(error: BaseException) -> bool:
    """Say whether the connection is gone, or the server with it: what was under way may be done or not."""
    if isinstance(error, errors.AdminShutdown | errors.CrashShutdown | errors.CannotConnectNow):
        return True
    if isinstance(error, errors.IdleInTransactionSessionTimeout | errors.TransactionTimeout):
        return True
    if isinstance(error, errors.TooManyConnections):
        return True
    return isinstance(error, psycopg.OperationalError | psycopg.InterfaceError) and error.sqlstate is None


class plain_errors:  # noqa: N801 - used as a verb, as in the other store
    """Turns PostgreSQL's failures into ours, each with one plain sentence."""

    __slots__ = ("_address",)

    def __init__(self, address: Address) -> None:
        self._address = address

    def __enter__(self) -> None:
        return

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, psycopg.Error):
            plain = _plain(error, self._address.name)
            if plain is not None:
                raise plain from error


def _plain(error: psycopg.Error, name: str) -> StoreError | None:
    state = error.sqlstate or ""
    match error:
        case errors.LockNotAvailable() | errors.QueryCanceled() | errors.DeadlockDetected():
            return StoreBusyError()
        case errors.DiskFull():
            return StoreFullError()
        case errors.ReadOnlySqlTransaction():
            return StoreReadOnlyError(f"The database {name} cannot be written; nothing was changed.")
        case errors.InsufficientPrivilege():
            return StoreRefusedError(f"The database {name} does not let this user do that.")
        case (
            errors.DataCorrupted()
            | errors.IndexCorrupted()
            | errors.UndefinedTable()
            | errors.UndefinedColumn()
        ):
            return StoreDamagedError(f"The database {name} is damaged or is not an Assent store.")
    if state.startswith("28"):
        return StoreRefusedError(f"The database {name} does not know this user or password.")
    if state.startswith("3D"):
        return StoreRefusedError(f"There is no database {name}.")
    if is_lost(error):
        return _plain_loss(str(error), name)
    if state.startswith(("53", "57", "58")):
        return StoreError(f"The database {name} cannot do it just now; nothing was acknowledged.")
    return None


def _plain_loss(words: str, name: str) -> StoreError:
    # libpq hands on the words of a server that let nobody in, and not its code.
    if 'role "' in words or "authentication" in words or "password" in words:
        return StoreRefusedError(f"The database {name} does not know this user or password.")
    if 'database "' in words and "does not exist" in words:
        return StoreRefusedError(f"There is no database {name}.")
    if "pg_hba.conf" in words or "permission denied" in words:
        return StoreRefusedError(f"The database {name} does not let this user in from here.")
    return StoreAwayError(f"The database {name} does not answer; nothing was saved.")
