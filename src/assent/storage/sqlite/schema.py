"""Bringing a file to this program's shape, also when two processes try at once.

The caller holds the file lock, so only one process migrates; the others find it done.
"""

from __future__ import annotations

import apsw

from assent.protocol.error import StoreRefusedError, StoreTooNewError
from assent.storage.migration import Migration, load_migrations
from assent.storage.sqlite.connection import APPLICATION_ID, rows
from assent.storage.sqlite.mark import give_mark

__all__ = ["APPLICATION_ID", "MIN_READER", "is_current", "migrate"]

MIN_READER = 14
"""The lowest schema number whose program can read what this program writes.

One of schema 2 would answer an ask, and leave its notification open and its task blocked; the audit of one of schema 3
would take the events of tokens for damage; one of schema 4 would answer an approval, and make no receipt of it; the
audit of one of schema 8 would take the events of targets for damage; one of schema 11 cannot read an answer by a
comment.
"""

_LEDGER = """
CREATE TABLE migrations (
  number     INTEGER PRIMARY KEY,
  name       TEXT    NOT NULL,
  checksum   TEXT    NOT NULL,
  min_reader INTEGER NOT NULL
) STRICT;
"""


def is_current(connection: apsw.Connection) -> bool:
    """Say whether nothing is left to do; three cheap reads of the header."""
    found = tuple(connection.pragma(name) for name in ("application_id", "user_version", "journal_mode"))
    return found == (APPLICATION_ID, load_newest(), "wal")


def load_newest() -> int:
    """Return this program's schema number."""
    return load_migrations("assent.storage.sqlite")[-1].number


def migrate(connection: apsw.Connection, mark: bytes | None = None) -> None:
    """Apply what is missing, in one transaction. An empty file gets the `mark`.

    Raises:
        StoreTooNewError: a newer program wrote the file and says that this one cannot read it.
        StoreRefusedError: it is another program's file, or its history is not this program's.
    """
    migrations = load_migrations("assent.storage.sqlite")
    connection.execute("BEGIN IMMEDIATE")
    try:
        applied = _applied(connection)
        _check_history(applied, migrations)
        for migration in migrations[len(applied) :]:
            connection.execute(migration.script)
            connection.execute(
                "INSERT INTO migrations (number, name, checksum, min_reader) VALUES (?, ?, ?, ?)",
                (migration.number, migration.name, migration.checksum, MIN_READER),
            )
        if mark is not None and not applied:
            give_mark(connection, mark, is_alone=True)
        if len(applied) < len(migrations):
            connection.pragma("application_id", APPLICATION_ID)
            connection.pragma("user_version", migrations[-1].number)
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _applied(connection: apsw.Connection) -> list[tuple[int, str, int]]:
    if connection.pragma("application_id") != APPLICATION_ID:
        connection.execute(_LEDGER)  # an empty file: `connect` has looked
        return []
    known = rows(connection, "SELECT number, checksum, min_reader FROM migrations ORDER BY number")
    return [(number, checksum, min_reader) for number, checksum, min_reader in known]


def _check_history(applied: list[tuple[int, str, int]], migrations: list[Migration]) -> None:
    newest = migrations[-1].number
    if any(min_reader > newest for _, _, min_reader in applied):
        raise StoreTooNewError
    for (number, checksum, _), migration in zip(applied, migrations, strict=False):
        if (number, checksum) != (migration.number, migration.checksum):
            raise StoreRefusedError(
                f"Migration {number} of this file is not the one that this program knows."
            )
