"""Bringing a database to this program's shape, while servers of the shape before go on.

Rule 1: one process migrates at a time, under a lock of the database; the others wait and find it done.
Rule 2: a migration that older programs can live with is applied by whoever comes first. One that they cannot (its name
        ends in `_after`) takes away what only they still use: `assent store migrate --finish` applies it, once they are gone.
"""

from __future__ import annotations

from psycopg import errors

from assent.protocol.error import StoreRefusedError, StoreTooNewError
from assent.storage.migration import Migration, load_migrations
from assent.storage.postgres.connection import SCHEMA, Connection, rows

__all__ = ["MIN_READER", "applied", "migrate", "newest", "pending"]

MIN_READER = 6
"""The lowest schema number whose program can read what this program writes: one of schema 4 cannot read an answer by a
comment.
"""
_LOCK = 0x41_53_4E_54
_PACKAGE = "assent.storage.postgres"
_LEDGER = """
CREATE TABLE migrations (
  number     bigint PRIMARY KEY,
  name       text   NOT NULL,
  checksum   text   NOT NULL,
  min_reader bigint NOT NULL
)
"""


def newest() -> int:
    """Return the number of the last migration that is applied by itself."""
    return max(step.number for step in load_migrations(_PACKAGE) if not _is_after(step))


def applied(connection: Connection) -> dict[int, tuple[str, int]]:
    """Return the checksum and the lowest reader of each migration of this database; empty before the first."""
    try:
        found = rows(connection, "SELECT number, checksum, min_reader FROM migrations")
    except errors.UndefinedTable:
        return {}
    return {number: (checksum, min_reader) for number, checksum, min_reader in found}


def pending(connection: Connection, *, with_after: bool = False) -> list[Migration]:
    """Return what is to be applied.

    Raises:
        StoreTooNewError: a newer program wrote the database and says that this one cannot read it.
        StoreRefusedError: its history is not this program's.
    """
    known = load_migrations(_PACKAGE)
    done = applied(connection)
    mine = max(step.number for step in known)
    if any(min_reader > mine for _, min_reader in done.values()):
        raise StoreTooNewError
    for step in known:
        if step.number in done and done[step.number][0] != step.checksum:
            raise StoreRefusedError(
                f"Migration {step.number} of this database is not the one that this program knows."
            )
    return [step for step in known if step.number not in done and (with_after or not _is_after(step))]


def migrate(connection: Connection, *, with_after: bool = False) -> list[Migration]:
    """Apply what is missing, in one transaction; return what that was.

    Raises:
        StoreTooNewError: a newer program wrote the database and says that this one cannot read it.
        StoreRefusedError: its history is not this program's, or somebody else's tables lie there.
    """
    if applied(connection) and not pending(connection, with_after=with_after):
        return []
    with connection.transaction():
        # Data may have to be moved, and the others wait for us.
        connection.execute("SET LOCAL statement_timeout = 0")
        connection.execute("SET LOCAL lock_timeout = '60s'")
        connection.execute("SELECT pg_advisory_xact_lock($1)", (_LOCK,))
        if not rows(connection, "SELECT to_regnamespace($1) IS NOT NULL", (SCHEMA,))[0][0]:
            connection.execute(f"CREATE SCHEMA {SCHEMA}")
        _refuse_foreign(connection)
        connection.execute(_LEDGER.replace("CREATE TABLE", "CREATE TABLE IF NOT EXISTS"))
        steps = pending(connection, with_after=with_after)
        for step in steps:
            for statement in _statements(step.script):
                connection.execute(statement)
            connection.execute(
                "INSERT INTO migrations (number, name, checksum, min_reader) VALUES ($1, $2, $3, $4)",
                (step.number, step.name, step.checksum, MIN_READER),
            )
    return steps


def _statements(script: str) -> list[str]:
    # The server takes one statement at a time here, and ours have no semicolon inside.
    lines = [line for line in script.splitlines() if not line.lstrip().startswith("--")]
    return [part.strip() for part in "\n".join(lines).split(";") if part.strip()]


def _refuse_foreign(connection: Connection) -> None:
    query = """
    SELECT count(*), count(*) FILTER (WHERE c.relname = 'migrations')
    FROM pg_class c WHERE c.relnamespace = to_regnamespace($1) AND c.relkind IN ('r', 'v')
    """
    tables, own = rows(connection, query, (SCHEMA,))[0]
    if tables and not own:
        raise StoreRefusedError(f"The schema {SCHEMA} of this database has another program's tables.")


def _is_after(step: Migration) -> bool:
    return step.name.endswith("_after")
