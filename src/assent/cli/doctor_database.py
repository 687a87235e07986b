"""`assent doctor` on a database: is it reachable, of our shape, and does it keep what it acknowledges?

It looks and never makes: an empty database stays empty. No line has a password.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import version

from assent.cli.doctor_check import Check, guarded
from assent.protocol.error import AssentError
from assent.protocol.words import count
from assent.storage.postgres.connection import SCHEMA, Address, Connection, connect, plain_errors, rows
from assent.storage.postgres.schema import applied, newest, pending
from assent.storage.postgres.store import CONNECTIONS

__all__ = ["look_at_database"]

_OTHER = "Correct the address, or ask whoever runs the database."
_SERVER = """
SELECT current_setting('server_version'), current_setting('fsync'), current_setting('full_page_writes'),
  current_setting('max_connections')::int, (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'),
  coalesce((SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()), false),
  (SELECT setting FROM pg_settings WHERE name = 'synchronous_commit'), pg_database_size(current_database())
"""
_CONTENTS = """
SELECT (SELECT count(*) FROM projects), (SELECT coalesce(sum(sequence), 0)::bigint FROM projects),
  (SELECT count(*) FROM asks WHERE state = 'open')
"""


def look_at_database(url: str) -> Iterator[Check]:
    """Look at everything that the database tells."""
    yield Check("psycopg", f"psycopg {version('psycopg')}")
    found: list[Connection] = []

    def reach() -> Check:
        address = Address(url)
        found.append(connect(address))
        return Check("database", f"{address.name} answers")

    reached = guarded("database", reach, _OTHER)
    if not reached.ok:
        yield reached
        return
    address, connection = Address(url), found[0]
    try:
        yield from _server(address, connection)
        shape = guarded("schema", lambda: _shape(address, connection), _OTHER)
        yield shape
        if shape.ok and _has_store(address, connection):
            yield guarded("contents", lambda: _contents(address, connection), _OTHER)
    finally:
        connection.close()


def _server(address: Address, connection: Connection) -> Iterator[Check]:
    try:
        with plain_errors(address):
            told = rows(connection, _SERVER)[0]
    except AssentError as error:
        yield Check("database", error.message, ok=False, remedy=_OTHER)
        return
    release, fsync, whole_pages, most, used, is_private, commit, size = told
    yield Check("database", f"PostgreSQL {release} at {address.name}, {size:,} bytes")
    yield _durability(fsync, whole_pages, commit)
    pool = f"up to {CONNECTIONS} of this process; the server allows {most}, and {used} are in use"
    crowded = (
        "Raise max_connections, or put a pooler in front (session mode)." if most - used < CONNECTIONS else ""
    )
    yield Check("connections", pool, remedy=crowded)
    yield _privacy(address, is_private=is_private)


def _durability(fsync: str, whole_pages: str, commit: str) -> Check:
    told = f"fsync {fsync}, full_page_writes {whole_pages}, synchronous_commit {commit}"
    if "off" in (fsync, whole_pages):
        remedy = "A crash of its machine can lose or damage what was acknowledged: set both to on."
        return Check("durability", told, ok=False, remedy=remedy)
    return Check("durability", told)


def _privacy(address: Address, *, is_private: bool) -> Check:
    if is_private:
        return Check("tls", "yes")
    if address.is_local:
        return Check("tls", "no, and the database is on this machine")
    remedy = "Everybody on the way can read it: add ?sslmode=verify-full to the address."
    return Check("tls", "no, and the database is on another machine", ok=False, remedy=remedy)


def _shape(address: Address, connection: Connection) -> Check:
    with plain_errors(address):
        done = applied(connection)
        if not done:
            return Check("schema", f"no store in it yet; the first ask makes it, in the schema {SCHEMA}")
        missing, later = pending(connection), pending(connection, with_after=True)
    told = f"{max(done)} of {newest()}, in the schema {SCHEMA}"
    if missing:
        return Check("schema", told, remedy="The next command brings it to this program's shape.")
    if later:
        return Check("schema", told, remedy="Once no older program runs: assent store migrate --finish")
    return Check("schema", told)


def _has_store(address: Address, connection: Connection) -> bool:
    try:
        with plain_errors(address):
            return bool(applied(connection))
    except AssentError:  # it has just gone, which the next look tells
        return False


def _contents(address: Address, connection: Connection) -> Check:
    with plain_errors(address):
        projects, events, waiting = rows(connection, _CONTENTS)[0]
    held = f"{count(projects, 'project')}, {count(events, 'event')}, {count(waiting, 'open ask')}"
    return Check("contents", held)
