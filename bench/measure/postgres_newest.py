"""The inbox of a large database: the newest 50 open asks must not get slower with what lies behind them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from statistics import median
from typing import Any

import psycopg

import assent
from bench.figure import Figure, Reading
from bench.session import Session
from bench.workload import AGENT, OPTIONS, PROJECT, TITLE
from tools.postgres import PostgresServer

__all__ = ["fill", "measure_newest"]

_SHOWN = 50
_CALLS = 40
_MOST_MILLISECONDS = 1.0
_TIMES = 1.5
_BARE = (
    "SELECT ask_id, kind, state, key, prompt, opened_at FROM asks WHERE project_number = 1 AND state = 'open'"
    " ORDER BY opened DESC LIMIT $1"
)
# Copies of one ask that the client has opened, as nine in ten of them would look after their end.
_COPY = """
INSERT INTO asks (ask_id, project_number, kind, state, key, digest, prompt, asker, run_id, opened_at, opened,
deadline, consequence, escalate_to, flags, sequence, ending, terms)
SELECT a.ask_id || n, a.project_number, a.kind, CASE WHEN n % 10 = 0 THEN 'open' ELSE 'withdrawn' END, NULL, a.digest,
a.prompt, a.asker, a.run_id, a.opened_at, a.opened + n, a.deadline, a.consequence, a.escalate_to, a.flags,
a.opened + n, a.ending, a.terms
FROM (SELECT * FROM asks ORDER BY ask_number LIMIT 1) a, generate_series($1::bigint, $2::bigint) n
"""
_GROUP = 100_000


def measure_newest(session: Session, server: PostgresServer) -> Iterator[Figure]:
    """Give the time of the inbox in a small and in a large database, in turns."""
    small, large = session.scale.stored
    urls = {count: server.new_database() for count in (small, large)}
    for count, url in urls.items():
        fill(url, count, session.tell)
    ours: dict[int, list[float]] = {small: [], large: []}
    bare: dict[int, list[float]] = {small: [], large: []}
    with ExitStack() as stack:
        clients = {
            count: stack.enter_context(assent.connect(url, project=PROJECT, principal=AGENT))
            for count, url in urls.items()
        }
        connections = {count: stack.enter_context(_connect(url)) for count, url in urls.items()}
        for number in session.repetitions(session.scale.server_repetitions):
            for count in session.turns(number, [small, large]):
                ours[count].append(_time(partial(clients[count].inbox, limit=_SHOWN)))
                bare[count].append(_time(partial(_read_bare, connections[count])))
    name = f"newest {_SHOWN} of {large:,}"
    yield Figure(
        "postgres",
        f"{name} against {small:,}",
        "ms",
        Reading.TIMES,
        ours[large],
        ours[small],
        goal=_TIMES,
        floor_name=f"{small:,}",
    )
    yield Figure("postgres", name, "ms", Reading.VALUE, ours[large], bare[large], goal=_MOST_MILLISECONDS)


def fill(url: str, count: int, tell: Callable[[str], None]) -> None:
    """Store so many asks, one in ten open: one through the client, and copies of it by the server itself."""
    with assent.connect(url, project=PROJECT, principal=AGENT) as agent:
        agent.open(TITLE, OPTIONS)
    with _connect(url) as connection:
        connection.execute("SET synchronous_commit = off")
        for start in range(1, count, _GROUP):
            tell(f"{start - 1:,} of {count:,} asks stored")
            connection.execute(_COPY, (start, min(start + _GROUP, count) - 1))
        connection.execute("VACUUM ANALYZE asks")


def _connect(url: str) -> psycopg.Connection[Any]:
    return psycopg.connect(
        url, autocommit=True, cursor_factory=psycopg.RawCursor, options="-c search_path=assent"
    )


def _read_bare(connection: psycopg.Connection[Any]) -> object:
    return connection.execute(_BARE, (_SHOWN,), prepare=True, binary=True).fetchall()


def _time(call: Callable[[], object]) -> float:
    took = []
    for _ in range(_CALLS):
        began = time.perf_counter()
        call()
        took.append(1000 * (time.perf_counter() - began))
    return median(took)
