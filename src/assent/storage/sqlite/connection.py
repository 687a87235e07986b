"""Opening SQLite the one safe way, and its failures in our words."""

from __future__ import annotations

from functools import cache
from itertools import chain
from types import TracebackType
from typing import Any

import apsw

from assent.protocol.error import (
    StoreBusyError,
    StoreDamagedError,
    StoreError,
    StoreFullError,
    StoreReadOnlyError,
    StoreRefusedError,
)

__all__ = [
    "APPLICATION_ID",
    "BUSY_MILLISECONDS",
    "OLDEST_SQLITE",
    "connect",
    "plain_errors",
    "rows",
    "write_rows",
]

OLDEST_SQLITE = (3, 51, 3)
"""Before it, two writers of one WAL file can corrupt it (the WAL-reset race)."""
BUSY_MILLISECONDS = 5_000
APPLICATION_ID = 0x41_53_4E_54
"""`ASNT` in the file's header: another program's database is never taken for ours."""

_GROUPS = (32, 8, 1)
"""How many rows go into one statement: few sizes, so that each is prepared once."""


def connect(path: str, *, writes: bool) -> apsw.Connection:
    """Open the file: WAL, full sync, a busy time-out (apsw has none by itself)."""
    found = tuple(int(part) for part in apsw.sqlite_lib_version().split("."))
    if found < OLDEST_SQLITE:
        wanted = ".".join(map(str, OLDEST_SQLITE))
        raise StoreRefusedError(
            f"SQLite {apsw.sqlite_lib_version()} can corrupt shared files; install apsw {wanted} or newer."
        )
    with plain_errors(path):
        flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE
        connection = apsw.Connection(path, flags=flags, statementcachesize=128)
        connection.set_busy_timeout(BUSY_MILLISECONDS)
        # SQLite with STAT4 looks at the bound values of joins and ranges, and so plans such a statement anew each
        # time it runs: 60 microseconds a query in place of 3. Our plans are fixed by their indexes.
        connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
        _refuse_foreign(connection)  # before WAL mode would change its header
        # Only who holds the file lock switches: two at once get "busy" from SQLite without any wait.
        mode = connection.pragma("journal_mode")
        if writes and mode != "wal" and connection.pragma("journal_mode", "wal") != "wal":
            raise StoreRefusedError(f"{path} cannot be kept in WAL mode here.")
        connection.pragma("synchronous", "FULL")
        # Only the writer checkpoints, inside its own commits; SQLite's default of 1,000 pages is kept:
        # a WAL that grows without bound made commits 1.6 times slower.
        connection.wal_autocheckpoint(1_000 if writes else 0)
    return connection


def _refuse_foreign(connection: apsw.Connection) -> None:
    # Tables first: another process may set the file up in between, and marks it in the same transaction.
    tables = rows(connection, "SELECT count(*) FROM sqlite_schema")[0][0]
    owner = connection.pragma("application_id")
    if owner != APPLICATION_ID and (owner or tables):
        connection.close()
        raise StoreRefusedError("This file is another program's database.")


def rows(connection: apsw.Connection, query: str, values: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return all rows at once: a half-read cursor would pin its snapshot."""
    found: list[tuple[Any, ...]] = connection.execute(query, values).fetchall()
    return found


def write_rows(connection: apsw.Connection, query: str, new: list[tuple[Any, ...]]) -> int:
    """Run a query that takes several rows, a few times; return how many rows it changed."""
    start = changed = 0
    for size in _GROUPS:
        while len(new) - start >= size:
            group = new[start : start + size]
            connection.execute(_expand(query, len(group[0]), size), tuple(chain.from_iterable(group)))
            changed += connection.changes()
            start += size
    return changed


@cache
def _expand(query: str, width: int, size: int) -> str:
    row = "(" + ", ".join("?" * width) + ")"
    return query.replace("{rows}", ", ".join([row] * size))


class plain_errors:  # noqa: N801 - used as a verb: `with plain_errors(path):`
    """Turns SQLite's failures into ours, each with one plain sentence. A class: a generator costs three times as much."""

    __slots__ = ("_path",)

    def __init__(self, path: str) -> None:
        self._path = path

    def __enter__(self) -> None:
        return

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, apsw.Error):
            plain = _plain(error, self._path)
            if plain is not None:
                raise plain from error


def _plain(error: apsw.Error, path: str) -> StoreError | None:
    match error:
        case apsw.FullError():
            return StoreFullError()
        case apsw.ReadOnlyError() | apsw.PermissionsError() | apsw.CantOpenError():
            return StoreReadOnlyError(f"{path} cannot be opened for writing; nothing was changed.")
        case apsw.CorruptError() | apsw.NotADBError():
            return StoreDamagedError(f"{path} is damaged or is not an Assent store.")
        case apsw.BusyError() | apsw.LockedError():
            return StoreBusyError()
        case apsw.IOError():
            return StoreError(f"The disk under {path} reports an error; nothing was acknowledged.")
        case _:
            return None
