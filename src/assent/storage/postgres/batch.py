"""Statements that travel together: all of them are sent, and then all replies are read.

The driver can do that, too, but looks anew at every value and every statement each time, which took longer than the
server did (measured). Ours are few and always the same: each is prepared once a connection, its columns are known then.
"""

from __future__ import annotations

import itertools
import select
import time
from collections.abc import Callable, Sequence
from typing import Any
from weakref import WeakKeyDictionary

import psycopg
from psycopg import pq
from psycopg.adapt import Transformer
from psycopg.errors import InvalidSqlStatementName, error_from_result

from assent.storage.postgres.array import pack_texts

__all__ = ["SYNC", "Statement", "run_batch"]

Statement = tuple[str, Sequence[Any]]
"""A query and its values."""
SYNC: Statement = ("", ())
"""What comes before it is done for itself: from there the server may give up waiting for the rest."""

_Row = tuple[Any, ...]
_Load = Callable[[bytes], Any]
_TEXT, _BINARY = 0, 1
_MANY = 4
_REPLY_SECONDS = 40.0
"""Longer than any statement may take at the server. One that is there and says nothing is as good as gone: a COMMIT that waits
for a standby which never comes has no other bound."""


def _load_whole(raw: bytes) -> int:
    return int.from_bytes(raw, signed=True)


_LOADS: dict[int, _Load] = {
    16: lambda raw: raw != b"\0",
    17: lambda raw: raw,
    20: _load_whole,
    21: _load_whole,
    23: _load_whole,
    25: bytes.decode,
    2278: lambda _: None,
}
"""By the server's number of a type: boolean, bytea, bigint, smallint, integer, text, and what a function returns that
returns nothing."""


class _Prepared:
    """The statements that one connection knows."""

    def __init__(self) -> None:
        self.names: dict[str, bytes] = {}
        self.loads: dict[str, list[_Load]] = {}
        self.numbers = itertools.count()


_prepared: WeakKeyDictionary[psycopg.Connection[Any], _Prepared] = WeakKeyDictionary()


def run_batch(
    connection: psycopg.Connection[Any], statements: Sequence[Statement], *, may_last: bool = False
) -> list[list[_Row]]:
    """Run these in order; return the rows of each, for a SYNC none. Of an unfinished batch the connection is closed.

    With `may_last` the replies are waited for as long as it takes.

    Raises:
        psycopg.Error: what the first one that failed met; those behind it were not run, up to the next SYNC.
    """
    if connection.closed:
        raise psycopg.OperationalError("the connection is closed")
    known = _prepared.get(connection)
    if known is None:
        known = _prepared[connection] = _Prepared()
    raw = connection.pgconn
    try:
        raw.enter_pipeline_mode()
        plan = _send(raw, known, statements)
        until = None if may_last else time.monotonic() + _REPLY_SECONDS
        results = _read(raw, sum(query is None for query, _ in plan), until)
        raw.exit_pipeline_mode()
    except BaseException:
        connection.close()
        raise
    return _rows_of(connection, known, plan, results)


_Plan = list[tuple[str | None, bytes | None]]
"""The replies to expect: a query's rows, that it was prepared under a name, or None for a SYNC."""


def _send(raw: pq.abc.PGconn, known: _Prepared, statements: Sequence[Statement]) -> _Plan:
    plan: _Plan = []
    fresh: dict[str, bytes] = {}
    for statement in (*statements, SYNC):
        query, values = statement
        if statement is SYNC:
            raw.pipeline_sync()
            plan.append((None, None))
            continue
        name = known.names.get(query) or fresh.get(query)
        if name is None:
            name = fresh[query] = b"a%d" % next(known.numbers)
            raw.send_prepare(name, query.encode())
            plan.append((query, name))
        sent = [_encode(value) for value in values]
        raw.send_query_prepared(name, [text for text, _ in sent], [form for _, form in sent], _BINARY)
        plan.append((query, None))
    return plan


def _encode(value: Any) -> tuple[bytes | None, int]:
    """Return a value as it travels, and in which of the two formats that is."""
    if value is None or isinstance(value, bytes):
        return value, _BINARY
    if isinstance(value, str):
        text = value.encode()
        if b"\0" in text:
            raise psycopg.DataError("PostgreSQL text fields cannot contain NUL (0x00) bytes")
        return text, _TEXT
    if isinstance(value, bool):
        return b"t" if value else b"f", _TEXT
    if isinstance(value, list):
        if value and isinstance(value[0], str):
            return pack_texts(value), _BINARY
        return b"{%s}" % b",".join(b"%d" % number for number in value), _TEXT
    return str(value).encode(), _TEXT


def _read(raw: pq.abc.PGconn, syncs: int, until: float | None) -> list[pq.abc.PGresult]:
    """Read until so many SYNCs were reached."""
    ready = select.poll()
    ready.register(raw.socket, select.POLLIN | select.POLLOUT)
    while raw.flush():
        if _wait(ready, until) & ~select.POLLOUT:
            raw.consume_input()
    ready.modify(raw.socket, select.POLLIN)
    results = []
    while syncs:
        while raw.is_busy():
            _wait(ready, until)
            raw.consume_input()
        result = raw.get_result()
        if result is None:
            continue
        results.append(result)
        if result.status == pq.ExecStatus.PIPELINE_SYNC:
            syncs -= 1
        elif result.status == pq.ExecStatus.FATAL_ERROR and raw.status == pq.ConnStatus.BAD:
            break
    return results


def _wait(ready: select.poll, until: float | None) -> int:
    """Wait for the server; return what there is to do."""
    found = ready.poll(None if until is None else max(0.0, until - time.monotonic()) * 1_000)
    if not found:
        raise psycopg.OperationalError("the server does not reply")
    return found[0][1]


def _rows_of(
    connection: psycopg.Connection[Any], known: _Prepared, plan: _Plan, results: list[pq.abc.PGresult]
) -> list[list[_Row]]:
    found: list[list[_Row]] = []
    failure: psycopg.Error | None = None
    # A connection that has gone says so in place of the rest.
    for (query, name), result in zip(plan, results, strict=False):
        status = result.status
        if status == pq.ExecStatus.FATAL_ERROR:
            failure = failure or error_from_result(result, encoding="utf-8")
        elif query is None:
            found.append([])
        elif name is not None:
            if status == pq.ExecStatus.COMMAND_OK:
                known.names[query] = name
        elif status == pq.ExecStatus.TUPLES_OK:
            found.append(_load(connection, known, query, result) if result.ntuples else [])
        elif status == pq.ExecStatus.COMMAND_OK:
            found.append([((result.command_status or b"").decode(),)])
    if failure is not None:
        if isinstance(failure, InvalidSqlStatementName):
            connection.close()  # somebody between us and the server has given our connection to others
        raise failure
    return found[:-1]


def _load(
    connection: psycopg.Connection[Any], known: _Prepared, query: str, result: pq.abc.PGresult
) -> list[_Row]:
    loads = known.loads.get(query)
    if loads is None:
        loads = known.loads[query] = [
            _loader(connection, result.ftype(column)) for column in range(result.nfields)
        ]
    if result.ntuples >= _MANY:
        # For many rows the driver's own reading, which is not in Python, is worth its preparations.
        transformer = Transformer(connection)
        transformer.set_pgresult(result, set_loaders=True, format=pq.Format.BINARY)
        return transformer.load_rows(0, result.ntuples, tuple)
    value = result.get_value
    columns = list(enumerate(loads))
    return [
        tuple(None if (raw := value(row, column)) is None else load(raw) for column, load in columns)
        for row in range(result.ntuples)
    ]


def _loader(connection: psycopg.Connection[Any], oid: int) -> _Load:
    known = _LOADS.get(oid)
    if known is not None:
        return known
    kind = connection.adapters.get_loader(oid, pq.Format.BINARY)
    if kind is None:
        raise psycopg.NotSupportedError(f"nothing reads values of the type {oid}")
    return kind(oid, connection).load
