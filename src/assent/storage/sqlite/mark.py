"""Which file a store is, by chance that stands inside of it: a copy has it too, a file that took its place has not.

Rule 1: a file with tables of another mark is refused by every connection, before anything else of it is read.
Rule 2: a file of nothing at all is whoever's sets it up.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import apsw

from assent.protocol.error import StoreCopyError, StoreUntrustedError
from assent.storage.sqlite.connection import connect, plain_errors, rows
from assent.storage.sqlite.fork import gate
from assent.storage.sqlite.place import check_owner

__all__ = ["Found", "check_mark", "find_mark", "give_mark", "mark_as_backup"]

_FIRST = 13
"""The schema that brought marks."""
_SECRETS = 11
"""The schema whose secret becomes the first mark."""


class Found(NamedTuple):
    """What a file says of itself."""

    marks: tuple[bytes, ...]
    """None where an older program made it: it gets one when it is brought to this program's shape."""
    is_backup: bool = False


def check_mark(connection: apsw.Connection, mark: bytes, path: str) -> None:
    """Refuse a file that is not the one which was noted. One of an older shape is looked at once it has this one.

    Raises:
        StoreUntrustedError: another file is in its place.
        StoreCopyError: a backup is.
    """
    if connection.pragma("user_version") < _FIRST:
        return
    found = rows(connection, "SELECT is_backup FROM store_marks WHERE mark = ?", (mark,))
    if not found:
        raise StoreUntrustedError(
            f"{path} is not the store that you made or adopted there: another file is in its place. "
            "A person can look at it and take it over: assent store adopt."
        )
    if found[0][0]:
        raise StoreCopyError(f"A backup was put in the place of {path}: {_RESTORE}")


_RESTORE = "assent store restore brings it back into an empty store, assent store adopt goes on with it here."


def find_mark(path: Path) -> Found:
    """Return what the file at `path` says of itself; nothing of it is changed.

    Raises:
        StoreRefusedError: it is another program's file, or another user's.
        StoreDamagedError: it cannot be read.
    """
    check_owner(path)
    with gate, plain_errors(str(path)):
        connection = connect(str(path), writes=False)
        try:
            connection.pragma("query_only", True)
            schema = connection.pragma("user_version")
            if schema >= _FIRST:
                found = rows(connection, "SELECT mark, is_backup FROM store_marks")
                return Found(tuple(bytes(mark) for mark, _ in found), any(backup for _, backup in found))
            if schema == _SECRETS:
                secrets = rows(connection, "SELECT substr(secret, 1, 16) FROM store_secret")
                return Found(tuple(bytes(secret) for (secret,) in secrets))
        finally:
            connection.close()
    return Found(())


def give_mark(connection: apsw.Connection, mark: bytes, *, is_alone: bool) -> None:
    """Let a file have this mark: beside those that others know it by, or alone where it is no longer a copy."""
    if is_alone:
        connection.execute("DELETE FROM store_marks")
    connection.execute("INSERT OR IGNORE INTO store_marks (mark) VALUES (?)", (mark,))


def mark_as_backup(path: Path) -> None:
    """Let a file say that it is a backup."""
    with gate, plain_errors(str(path)):
        connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
        try:
            connection.execute("UPDATE store_marks SET is_backup = 1")
        finally:
            connection.close()
