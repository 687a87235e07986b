"""Opening SQLite the one safe way, and its failures in our words."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
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

__all__ = ["BUSY_MILLISECONDS", "OLDEST_SQLITE", "connect", "plain_errors", "rows"]

OLDEST_SQLITE = (3, 51, 3)
"""Before it, two writers of one WAL file can corrupt it (the WAL-reset race)."""
BUSY_MILLISECONDS = 5_000


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
        if connection.pragma("journal_mode", "wal") != "wal":
            raise StoreRefusedError(f"{path} cannot be kept in WAL mode here.")
        connection.pragma("synchronous", "FULL")
        # Only the writer checkpoints, inside its own commits; SQLite's default of 1,000 pages is kept:
        # a WAL that grows without bound made commits 1.6 times slower.
        connection.wal_autocheckpoint(1_000 if writes else 0)
    return connection


def rows(connection: apsw.Connection, query: str, values: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return all rows at once: a half-read cursor would pin its snapshot."""
    found: list[tuple[Any, ...]] = connection.execute(query, values).fetchall()
    return found


@contextmanager
def plain_errors(path: str) -> Iterator[None]:
    """Turn SQLite's failures into ours, each with one plain sentence."""
    try:
        yield
    except apsw.FullError as error:
        raise StoreFullError from error
    except (apsw.ReadOnlyError, apsw.PermissionsError, apsw.CantOpenError) as error:
        raise StoreReadOnlyError(f"{path} cannot be opened for writing; nothing was changed.") from error
    except (apsw.CorruptError, apsw.NotADBError) as error:
        raise StoreDamagedError(f"{path} is damaged or is not an Assent store.") from error
    except (apsw.BusyError, apsw.LockedError) as error:
        raise StoreBusyError from error
    except apsw.IOError as error:
        raise StoreError(f"The disk under {path} reports an error; nothing was acknowledged.") from error
