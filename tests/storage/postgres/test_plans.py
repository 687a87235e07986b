"""The queries that are run often read what they return and little more, however much has ended."""

import json
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from psycopg import sql

from assent.storage.postgres.store import PostgresStore
from assent.storage.sql.transaction import LOG_SHIFT
from tests.samples import NOON, microseconds
from tools.postgres import PostgresServer

__all__: list[str] = []

ASKS = 20_000
PROJECTS = 5
AT = microseconds(NOON)
FILL = f"""
INSERT INTO projects SELECT n, 'p' || n, {2 * ASKS // PROJECTS}, 'x', {AT} FROM generate_series(1, {PROJECTS}) n;
INSERT INTO asks (ask_id, project_number, kind, state, key, digest, prompt, asker, run_id, opened_at, opened, deadline,
consequence, flags, sequence)
SELECT 'ask_' || lpad(n::text, 18, '0'), 1 + n % {PROJECTS}, 'question', CASE WHEN n % 25 < 20 THEN 'answered' ELSE 'open' END,
'key ' || n, 'd', repeat('x', 300)::bytea, 'agent:coder', 'run ' || n % 100, {AT} + n, n / {PROJECTS},
CASE WHEN n % 10 = 0 THEN {AT} + n END, 'wait', 0, n / {PROJECTS} FROM generate_series(1, {ASKS}) n;
INSERT INTO events (event_number, at, type, subject, body, hash, topic)
SELECT (1 + n % {PROJECTS}) * {LOG_SHIFT} + 1 + n / {PROJECTS}, {AT} + n,
CASE WHEN n % 2 = 0 THEN 'ask.opened' ELSE 'ask.answered' END, 'ask_' || lpad((n / 2)::text, 18, '0'), 'x', 'x',
CASE WHEN n % 20 = 0 THEN 'loop:control' END FROM generate_series(1, {2 * ASKS}) n;
INSERT INTO runs (project_number, run_id, is_active, record)
SELECT 1 + n % {PROJECTS}, 'run ' || n, (n % 10 = 0)::int, 'x' FROM generate_series(1, 5000) n;
INSERT INTO tokens (project_number, token_id, digest, record)
SELECT 1 + n % {PROJECTS}, 'tok_' || n, 'digest ' || n, 'x' FROM generate_series(1, 5000) n;
INSERT INTO notifications (project_number, notification_id, is_open, source, source_id, repeat_key, record)
SELECT 1 + n % {PROJECTS}, 'oq-' || n, (n % 10 = 0)::int, 'execute', 'task ' || n, 'r' || n, 'x' FROM generate_series(1, 5000) n;
INSERT INTO controls (project_number, request_id, is_settled, sequence, record)
SELECT 1 + n % {PROJECTS}, 'req ' || n, 1, n, 'x' FROM generate_series(1, 5000) n
"""
BASE = 2 * LOG_SHIFT
LAST = 1 << 62
CASES: dict[str, tuple[tuple[Any, ...], int]] = {
    "head": (("p2",), 20),
    "take_head": (("p2",), 30),
    "lock_head": (("p2",), 20),
    "ask": (("ask_000000000000000777",), 20),
    "asks_in": (('["ask_000000000000000777","ask_000000000000000778"]',), 40),
    "ask_by_key": (("p2", "key 776"), 20),
    "asks_by_key": (("p2", '["key 776","key 781"]'), 40),
    "open_asks": (("p2", 50), 130),
    "open_before": ((2, LAST, None, 51), 130),
    "opened_before": ((LAST, "[1,2,3,4,5]", None, None, 51), 130),
    "ended_before": ((BASE, BASE + LOG_SHIFT, None, 51), 600),
    "oldest_open": ((2,), 20),
    "count_open": (("p2",), 800),
    "due": ((2, AT + 500), 90),
    "has_due": ((AT + 100,), 130),
    "next_deadline": ((), 20),
    "records": ((BASE, BASE + LOG_SHIFT, 50), 60),
    "ended": ((BASE + 7_900, BASE + LOG_SHIFT), 600),
    "messages": (("loop:control", BASE, BASE + LOG_SHIFT, 50), 130),
    "open_asks_of_run": ((2, "run 20"), 130),
    "run": (("p2", "run 1"), 20),
    "runs": (("p2", 50), 130),
    "active_runs": (("p2", 50), 130),
    "control": ((2, "req 1"), 20),
    "open_controls": ((2,), 20),
    "token_by_digest": (("digest 77",), 20),
    "open_notifications": (("p2", 50), 130),
    "count_notifications": (("p2",), 250),
    "event_hash": ((BASE + 7,), 20),
}
"""Query to values and the most pages of 8 KiB that it may look at, wherever they are."""


@pytest.fixture(scope="module")
def connection(postgres_server: PostgresServer) -> Iterator[psycopg.Connection[tuple[Any, ...]]]:
    """Give a connection to a store in which much has ended."""
    url = postgres_server.new_database()
    with psycopg.connect(
        url, autocommit=True, cursor_factory=psycopg.RawCursor, options="-c search_path=assent"
    ) as opened:
        for statement in FILL.split(";"):
            opened.execute(statement)
        opened.execute("VACUUM ANALYZE")
        # As the store's own statements are planned: once, for whatever values.
        opened.execute("SET plan_cache_mode = force_generic_plan")
        yield opened
    postgres_server.drop_database(url)


def explain(
    connection: psycopg.Connection[tuple[Any, ...]], query: str, values: tuple[Any, ...]
) -> dict[str, Any]:
    """Run a query as it runs when it was prepared; return its plan with what it has read."""
    connection.execute(f"PREPARE hot AS {query}")
    try:
        given = sql.SQL(", ").join(sql.Literal(value) for value in values)
        call = sql.SQL("EXECUTE hot ({})").format(given) if values else sql.SQL("EXECUTE hot")
        cursor = connection.execute(sql.SQL("EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ") + call)
    finally:
        connection.execute("DEALLOCATE hot")
    found = cursor.fetchone()
    assert found is not None
    plan = found[0] if isinstance(found[0], list) else json.loads(found[0])
    root: dict[str, Any] = plan[0]["Plan"]
    return root


def nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Return a plan's parts, from the top."""
    yield plan
    for part in plan.get("Plans", ()):
        yield from nodes(part)


def whole_tables(plan: dict[str, Any]) -> list[str]:
    """Return the tables that are read from one end to the other; that of the projects is small."""
    found = [node["Relation Name"] for node in nodes(plan) if node["Node Type"] == "Seq Scan"]
    return [name for name in found if name != "projects"]


@pytest.mark.parametrize("name", sorted(CASES))
def test_query_reads_by_an_index_and_no_more_than_it_should(
    connection: psycopg.Connection[tuple[Any, ...]], name: str
) -> None:
    """What it costs depends on what it returns, and not on how much lies there."""
    values, most = CASES[name]
    query = PostgresStore("postgresql://h/d")._queries[name]
    plan = explain(connection, query, values)
    pages = plan.get("Shared Hit Blocks", 0) + plan.get("Shared Read Blocks", 0)
    assert whole_tables(plan) == []
    assert pages <= most, (pages, [node["Node Type"] for node in nodes(plan)])


def test_query_without_an_index_is_seen(connection: psycopg.Connection[tuple[Any, ...]]) -> None:
    """Twin: what reads a whole table would be reported by the test above."""
    plan = explain(connection, "SELECT * FROM asks WHERE asker = $1", ("agent:other",))
    assert whole_tables(plan) == ["asks"]
