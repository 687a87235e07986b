"""Each statement finds its rows by an index: what is stored does not slow down what is asked.

The plans are SQLite's own, on an empty store: without statistics it must choose right by the statement alone.
"""

import re
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from assent.storage.queries import load_queries
from assent.storage.sql.row import ASK_COLUMNS
from assent.storage.sqlite.store import SqliteStore
from tests.contract.writing import store_asks
from tests.samples import new_ask

__all__: list[str] = []

BY_ID = "SEARCH {} USING INDEX sqlite_autoindex_asks_1 (ask_id=?)"
INDEXES = {
    "done_command": "SEARCH d USING PRIMARY KEY (project_number=? AND command_id=?)",
    "head": "SEARCH projects USING INDEX sqlite_autoindex_projects_1 (project=?)",
    "take_head": "SEARCH p USING INDEX sqlite_autoindex_projects_1 (project=?)",
    "save_head": "SEARCH projects USING INTEGER PRIMARY KEY",
    "drop_project": "SEARCH projects USING INTEGER PRIMARY KEY",
    "ask": BY_ID.format("a"),
    "asks_in": BY_ID.format("a"),
    "asks_by_key": "SEARCH a USING INDEX asks_key (project_number=? AND key=?)",
    "ask_by_key": "SEARCH a USING INDEX asks_key (project_number=? AND key=?)",
    "open_asks": "SEARCH a USING INDEX asks_open (project_number=?)",
    "count_open": "SEARCH a USING COVERING INDEX asks_open (project_number=?)",
    "due": "SEARCH a USING INDEX asks_due (project_number=? AND deadline>? AND deadline<?)",
    "has_due": "SEARCH a USING INDEX asks_due (project_number=? AND deadline>? AND deadline<?)",
    "next_deadline": "SEARCH a USING INDEX asks_due (project_number=?",
    "end_ask": BY_ID.format("asks"),
    "end_asks": BY_ID.format("asks"),
    "mark_ask": BY_ID.format("asks"),
    "claim_ask": BY_ID.format("asks"),
    "records": "SEARCH e USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)",
    "ended": "SEARCH e USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)",
    "opened_before": "SEARCH a USING INTEGER PRIMARY KEY (rowid<?)",
    "open_before": "SEARCH a USING INDEX asks_open (project_number=?)",
    "ended_before": "SEARCH e USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)",
    "place_of_ask": BY_ID.format("a"),
    "event_at": "SEARCH e USING INTEGER PRIMARY KEY (rowid=?)",
    "spans": "SEARCH e USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)",
    "oldest_open": "SEARCH a USING INDEX asks_open (project_number=?)",
    "steps": "SEARCH s USING PRIMARY KEY (project_number=? AND flow_id=?",
    "messages": "SEARCH e USING INDEX events_topic (topic=? AND event_number>? AND event_number<?)",
    "open_asks_of_run": "SEARCH a USING INDEX asks_run (project_number=? AND run_id=?)",
    "run": "SEARCH r USING INDEX sqlite_autoindex_runs_1 (project_number=? AND run_id=?)",
    "active_runs": "SEARCH r USING INDEX runs_active (project_number=?)",
    "changed_runs": "SEARCH r USING INDEX sqlite_autoindex_runs_1 (project_number=? AND run_id=?)",
    "control": "SEARCH c USING PRIMARY KEY (project_number=? AND request_id=?)",
    "open_controls": "SEARCH c USING INDEX controls_open (project_number=?)",
    "task": "SEARCH t USING INDEX sqlite_autoindex_tasks_1 (project_number=? AND task_id=?)",
    "tasks_of": "SEARCH t USING INDEX tasks_project (project_number=?)",
    "tasks": "SEARCH t USING INDEX tasks_project (project_number=?)",
    "live_tasks": "SEARCH t USING INDEX tasks_live (project_number=?)",
    "notification": (
        "SEARCH n USING INDEX sqlite_autoindex_notifications_1 (project_number=? AND notification_id=?)"
    ),
    "open_notifications_like": (
        "SEARCH n USING INDEX notifications_repeat (project_number=? AND repeat_key=?)"
    ),
    "notifications_of_ask": "SEARCH n USING INDEX notifications_ask (project_number=? AND ask_id=?)",
    "notifications_about": (
        "SEARCH n USING INDEX notifications_source (project_number=? AND source=? AND source_id=?)"
    ),
    "open_notifications": "SEARCH n USING INDEX notifications_open (project_number=?)",
    "count_notifications": "SEARCH n USING COVERING INDEX notifications_open (project_number=?)",
    "policy": "SEARCH o USING INTEGER PRIMARY KEY (rowid=?)",
    "receipt": "SEARCH r USING INDEX sqlite_autoindex_receipts_1 (project_number=? AND receipt_id=?)",
    "receipt_by_key": "SEARCH r USING INDEX receipts_key (project_number=? AND key=?)",
    "receipts": "SEARCH r USING INDEX receipts_project (project_number=?)",
    "redeem_receipt": "SEARCH receipts USING INDEX sqlite_autoindex_receipts_1 (project_number=? AND receipt_id=?)",
    "tail": "SEARCH l USING INDEX sqlite_autoindex_tails_1 (project_number=? AND run_id=?)",
    "token": "SEARCH k USING INDEX sqlite_autoindex_tokens_2 (project_number=? AND token_id=?)",
    "tokens": "SEARCH k USING INDEX tokens_project (project_number=?)",
    "token_by_digest": "SEARCH k USING INDEX sqlite_autoindex_tokens_1 (digest=?)",
    "target": "SEARCH g USING INDEX sqlite_autoindex_targets_1 (project_number=? AND name=?)",
    "claim_target": "SEARCH targets USING INDEX sqlite_autoindex_targets_1 (project_number=? AND name=?)",
    "advance_target": "SEARCH targets USING INDEX sqlite_autoindex_targets_1 (project_number=? AND name=?)",
    "keep_target": "SEARCH targets USING INDEX sqlite_autoindex_targets_1 (project_number=? AND name=?)",
    "put_off_target": "SEARCH targets USING INDEX sqlite_autoindex_targets_1 (project_number=? AND name=?)",
    "target_message": "SEARCH m USING PRIMARY KEY (project_number=? AND name=? AND ask_id=?)",
    "drop_target_message": "SEARCH target_messages USING PRIMARY KEY (project_number=? AND name=? AND ask_id=?)",
    "count_open_of": "SEARCH a USING COVERING INDEX asks_asker (project_number=? AND asker=?)",
    "decided": "SEARCH a USING INDEX asks_action (project_number=? AND action_digest=?)",
    "beginners": "SEARCH s USING PRIMARY KEY (project_number=? AND flow_id=? AND step=?)",
    "drop_target_messages": "SEARCH target_messages USING PRIMARY KEY (project_number=? AND name=?)",
}
"""Statement to the line of its plan that must be there."""
READS_ALL = {
    "heads": "every project is asked for",
    "asks": "newest first until the limit, for a list that a person looks at",
    "asks_ending_in": "for an id that a person typed, which must mean one ask only",
    "secret": "it has one row",
    "all_steps": "an audit looks at everything",
    "runs": "newest first, ended ones too, for a list that a person looks at",
    "all_controls": "an audit looks at everything",
    "run_columns": "an audit looks at everything",
    "control_columns": "an audit looks at everything",
    "drop_tails": "only the tails of one project, which are few, and sorted to keep the newest",
    "notifications": "newest first, resolved ones too, for a list that a person looks at",
    "task_columns": "an audit looks at everything",
    "notification_columns": "an audit looks at everything",
    "policy_columns": "an audit looks at everything",
    "token_columns": "an audit looks at everything",
    "receipt_columns": "an audit looks at everything",
    "target_columns": "an audit looks at everything",
    "targets": "all of a project, which people made, and sorted",
    "due_targets": "the live ones of all projects, which people made",
}
INSERTS = {
    "add_project",
    "insert_asks",
    "insert_events",
    "put_step",
    "put_run",
    "end_run",
    "put_control",
    "put_tasks",
    "put_notifications",
    "put_policy",
    "put_token",
    "insert_receipt",
    "insert_done_command",
    "put_tail",
    "put_target",
    "put_target_message",
}


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[apsw.Connection]:
    """Give a connection to a file that the store has set up."""
    store = SqliteStore(tmp_path / "store.db")
    store_asks(store, new_ask())
    store.close()
    opened = apsw.Connection(str(tmp_path / "store.db"))
    yield opened
    opened.close()


def read_plan(connection: apsw.Connection, query: str) -> list[str]:
    """Return the lines of SQLite's plan for one of our statements."""
    query = query.replace("{ask}", ASK_COLUMNS).replace("{rows}", "(?, ?, ?, ?, ?), (?, ?, ?, ?, ?)")
    numbered = [int(number) for number in re.findall(r"\?(\d)", query)]
    count = max(numbered, default=query.count("?"))
    return [str(row[3]) for row in connection.execute(f"EXPLAIN QUERY PLAN {query}", (None,) * count)]


def scans(plan: list[str]) -> list[str]:
    """Return the lines that read a whole table which grows with use."""
    whole = re.compile(
        r"SCAN (a|asks|e|events|s|steps|r|runs|receipts|c|controls|t|tasks|n|notifications|o|policies|k|tokens|l|tails)\b"
        r"(?! USING INDEX asks_open)|.* AUTOMATIC "
    )
    return [line for line in plan if whole.match(line)]


def test_every_statement_is_accounted_for() -> None:
    """A new statement must say which index it uses, or why it needs none."""
    named = {*INDEXES, *READS_ALL, *INSERTS}
    assert named >= load_queries("assent.storage.sqlite", "queries.sql").keys()


@pytest.mark.parametrize("name", sorted(INDEXES))
def test_statement_uses_its_index_and_reads_no_whole_table(connection: apsw.Connection, name: str) -> None:
    """Newest 50 among a million cost what they cost among a hundred."""
    plan = read_plan(connection, load_queries("assent.storage.sqlite", "queries.sql")[name])
    assert any(line.startswith(INDEXES[name]) for line in plan), plan
    assert scans(plan) == []
    assert not any("TEMP B-TREE" in line for line in plan), plan


def test_statement_without_its_index_is_reported(connection: apsw.Connection) -> None:
    """Twin: a condition that the index does not have reads the whole table, and the test above would see it."""
    assert scans(read_plan(connection, "SELECT {ask} FROM asks a, projects p WHERE a.asker = ?"))
    assert scans(read_plan(connection, "SELECT * FROM events e WHERE e.subject = ?"))
    assert scans(read_plan(connection, "SELECT * FROM runs r WHERE r.record = ?"))
    assert scans(read_plan(connection, "SELECT * FROM controls c WHERE c.request_id = ?"))
    assert scans(read_plan(connection, "SELECT * FROM tasks t WHERE t.status = ?"))
    assert scans(read_plan(connection, "SELECT * FROM notifications n WHERE n.is_open = ?"))
    assert scans(read_plan(connection, "SELECT * FROM policies o WHERE o.record = ?"))
    assert scans(read_plan(connection, "SELECT * FROM tokens k WHERE k.record = ?"))
    assert scans(read_plan(connection, "SELECT * FROM receipts r WHERE r.record = ?"))
    assert scans(read_plan(connection, "SELECT * FROM tails l WHERE l.run_id = ?"))
