"""The view `open_questions`: notifications for whoever reads the file with plain SQL."""

import json
from pathlib import Path

import apsw
import pytest
from msgspec.structs import replace

from assent.protocol.notification import (
    ErrorCode,
    Notification,
    NotificationId,
    NotificationKind,
    NotificationStatus,
)
from assent.storage.sqlite.store import SqliteStore
from tests.contract.writing import AT, writing
from tests.notification_samples import ANSWERS, new_notification, new_question
from tests.proves import proves
from tests.samples import NOON

__all__: list[str] = []

COLUMNS = (
    "id",
    "project_id",
    "source",
    "source_id",
    "questions",
    "status",
    "created_at",
    "resolved_at",
    "kind",
    "error_code",
    "scope_change_metadata",
    "responses",
)
"""As the text has them."""
TEXT = 'Öl – 油 "quoted"\n\\ \u2028 <!-- \x00'
METADATA = {"summary": TEXT, "sections": [{"old": None, "new": "x"}], "count": 3, "ratio": 0.5, "is": True}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Give the file of a closed store with a notification of each sort: open, answered, blocked, approval, foreign."""
    opened = new_notification(questions=(new_question(1, TEXT), new_question(2)))
    answered = replace(
        new_notification(notification_id=NotificationId("oq-00000002")),
        status=NotificationStatus.RESOLVED,
        resolved_at=NOON,
        responses=ANSWERS,
    )
    blocked = new_notification(
        notification_id=NotificationId("ab-00000003"),
        kind=NotificationKind.API_BLOCKED,
        error_code=ErrorCode.RATE_LIMIT,
        ask_id=None,
    )
    approval = new_notification(
        notification_id=NotificationId("hil-00000004"),
        kind=NotificationKind.HIL_APPROVAL,
        scope_change_metadata=METADATA,
    )
    store = SqliteStore(tmp_path / "store.db")
    for notification in (opened, answered, blocked, approval, replace(opened, project_id="q")):
        keep(store, notification)
    store.close()
    return tmp_path / "store.db"


def keep(store: SqliteStore, notification: Notification) -> None:
    """Put one notification as the hub would."""
    with writing(store) as transaction:
        head = transaction.head(notification.project_id, AT)
        transaction.append(head, "notification.added", notification.notification_id, b"{}")
        transaction.put_notification(head, notification)


def read_rows(path: Path, condition: str = "1 = 1") -> dict[str, dict[str, object]]:
    """Return the view's rows for which `condition` holds, by project and id."""
    connection = apsw.Connection(str(path))
    cursor = connection.execute(f"SELECT * FROM open_questions WHERE {condition}")
    found = [dict(zip(COLUMNS, row, strict=True)) for row in cursor.fetchall()]
    connection.close()
    return {f"{row['project_id']} {row['id']}": row for row in found}


@proves("Q16")
def test_view_has_the_columns_of_the_text(path: Path) -> None:
    """In its order, and no others (Q-U1)."""
    connection = apsw.Connection(str(path))
    columns = [row[1] for row in connection.execute("PRAGMA table_info(open_questions)")]
    connection.close()
    assert tuple(columns) == COLUMNS


@proves("Q16")
def test_view_shows_an_open_notification_as_it_was_created(path: Path) -> None:
    """What is not there yet is null; the questions are a JSON array as text."""
    row = read_rows(path)["p oq-00c0ffee"]
    questions = row.pop("questions")
    assert isinstance(questions, str)
    assert json.loads(questions) == [
        {"id": "q1", "text": TEXT, "createdAt": "2030-01-01T12:00:00Z"},
        {"id": "q2", "text": "Question 2?", "createdAt": "2030-01-01T12:00:00Z"},
    ]
    assert row == {
        "id": "oq-00c0ffee",
        "project_id": "p",
        "source": "execute",
        "source_id": "task-1",
        "status": "open",
        "created_at": "2030-01-01T12:00:00Z",
        "resolved_at": None,
        "kind": "open_question",
        "error_code": None,
        "scope_change_metadata": None,
        "responses": None,
    }


def test_view_shows_how_a_notification_was_resolved(path: Path) -> None:
    """The moment, and the responses as a JSON array."""
    row = read_rows(path)["p oq-00000002"]
    assert (row["status"], row["resolved_at"]) == ("resolved", "2030-01-01T12:00:00Z")
    assert json.loads(str(row["responses"])) == [
        {"questionId": "q1", "answer": "SQLite"},
        {"questionId": "q2", "answer": "Yes."},
    ]


def test_view_shows_the_parts_that_only_some_kinds_have(path: Path) -> None:
    """A code as a word, metadata as JSON."""
    rows = read_rows(path)
    blocked, approval = rows["p ab-00000003"], rows["p hil-00000004"]
    assert (blocked["kind"], blocked["error_code"]) == ("api_blocked", "rate_limit")
    assert approval["kind"] == "hil_approval"
    assert json.loads(str(approval["scope_change_metadata"])) == METADATA


def test_view_can_be_asked_by_project_and_status(path: Path) -> None:
    """As the text's own table is; the same id in another project is another row."""
    found = read_rows(path, "project_id = 'p' AND status = 'open'")
    assert sorted(found) == ["p ab-00000003", "p hil-00000004", "p oq-00c0ffee"]
    assert list(read_rows(path, "project_id = 'q'")) == ["q oq-00c0ffee"]


def test_view_is_only_read(path: Path) -> None:
    """Nobody can resolve a notification past the log by writing there."""
    connection = apsw.Connection(str(path))
    with pytest.raises(apsw.SQLError, match="it is a view"):
        connection.execute("UPDATE open_questions SET status = 'resolved'")
    connection.close()
