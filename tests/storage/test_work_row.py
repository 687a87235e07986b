"""Rows of tasks, notifications and policies that somebody else has changed: they are refused or named."""

from collections.abc import Callable
from pathlib import Path

import apsw
import pytest

from assent.protocol.error import StoreDamagedError
from assent.protocol.notification import Source
from assent.protocol.policy import Policy, ProjectPolicy
from assent.storage.port import Reader
from assent.storage.sql.row import ask_of, control_of, message_of, run_of
from assent.storage.sql.work_row import notification_of, policy_of, task_of
from assent.storage.sqlite.store import SqliteStore
from tests.contract.writing import AT, writing
from tests.notification_samples import new_notification
from tests.samples import NOON, new_ask
from tests.task_samples import TASK_ID, new_task

__all__: list[str] = []

NO_UTF8 = b'{"task_id":"\xff","id":"\xff","project":"\xff","run_id":"\xff","request":"\xff","message":"\xff"}'

UNREADABLE = {
    "nothing": b"",
    "no JSON": b"yes",
    "no object": b"[]",
    "nothing of it": b"{}",
    "no UTF-8": NO_UTF8,
    "too deep": b"[" * 100_000,
}

CHANGES = {
    "task renamed": ("UPDATE tasks SET task_id = 'x'", "task x"),
    "task hidden": ("UPDATE tasks SET status = 'closed'", f"task {TASK_ID}"),
    "task moved": ("UPDATE tasks SET project_number = 2", f"task {TASK_ID}"),
    "task lost": ("UPDATE tasks SET project_number = 9", f"task {TASK_ID}"),
    "notification renamed": ("UPDATE notifications SET notification_id = 'x'", "notification x"),
    "notification hidden": ("UPDATE notifications SET is_open = 0", "notification oq-00c0ffee"),
    "notification of another source": (
        "UPDATE notifications SET source = 'plan'",
        "notification oq-00c0ffee",
    ),
    "notification about another": ("UPDATE notifications SET source_id = 'x'", "notification oq-00c0ffee"),
    "notification of another ask": ("UPDATE notifications SET ask_id = 'x'", "notification oq-00c0ffee"),
    "notification of no ask": ("UPDATE notifications SET ask_id = NULL", "notification oq-00c0ffee"),
    "notification moved": ("UPDATE notifications SET project_number = 2", "notification oq-00c0ffee"),
    "policy moved": ("UPDATE policies SET project_number = 2", "the policy of p"),
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Give the file of a closed store with one of each, and a second project."""
    store = SqliteStore(tmp_path / "store.db")
    with writing(store) as transaction:
        head = transaction.head("p", AT)
        transaction.append(head, "task.created", TASK_ID, b"{}")
        transaction.put_task(head, new_task())
        transaction.put_notification(head, new_notification())
        transaction.put_policy(head, ProjectPolicy("p", Policy(), NOON, "human:ana"))
        transaction.append(transaction.head("q", AT), "task.created", "t", b"{}")
    store.close()
    return tmp_path / "store.db"


def change(path: Path, sql: str, *values: bytes) -> None:
    """Do something to a file that no store has open."""
    connection = apsw.Connection(str(path))
    connection.execute(sql, values)
    assert connection.changes() == 1
    connection.close()


@pytest.mark.parametrize("how", sorted(UNREADABLE))
@pytest.mark.parametrize("read", [task_of, notification_of, policy_of, run_of, control_of])
def test_record_that_assent_did_not_write_is_damage(read: Callable[[bytes], object], how: str) -> None:
    """In one sentence, whatever is wrong with the bytes."""
    with pytest.raises(StoreDamagedError, match="cannot be read"):
        read(UNREADABLE[how])


def test_bytes_that_are_no_text_are_damage_in_an_ask_and_in_a_message() -> None:
    """These rows hold JSON, too."""
    ask = new_ask()
    row = (ask.ask_id, "p", ask.kind, ask.state, None, b'{"title":"\xff"}', *[None] * 11)
    with pytest.raises(StoreDamagedError, match=ask.ask_id):
        ask_of(row)
    with pytest.raises(StoreDamagedError, match="Event 7"):
        message_of(7, AT, "a", b'{"\xff":1}')


READS: dict[str, Callable[[Reader], object]] = {
    "tasks": lambda reader: reader.tasks("p", 1, is_live=True),
    "notifications": lambda reader: reader.notifications_about("p", Source.EXECUTE, "task-1"),
    "policies": lambda reader: reader.policy("p"),
}


@pytest.mark.parametrize("table", sorted(READS))
def test_store_with_an_unreadable_row_is_damaged_and_still_can_be_checked(path: Path, table: str) -> None:
    """Reading it says so; the check of the columns leaves it to those who read it."""
    change(path, f"UPDATE {table} SET record = ?", NO_UTF8)
    store = SqliteStore(path)
    with pytest.raises(StoreDamagedError), store.reading() as reader:
        READS[table](reader)
    assert store.check() == []
    store.close()


@pytest.mark.parametrize("name", sorted(CHANGES))
def test_row_that_is_listed_under_what_it_is_not_is_named(path: Path, name: str) -> None:
    """A column that was changed would hide a row, or show it to another project."""
    sql, named = CHANGES[name]
    change(path, sql)
    store = SqliteStore(path)
    assert store.check() == [f"the row of {named} is listed under what it is not."]
    store.close()


def test_honest_rows_are_not_named(path: Path) -> None:
    """Twin: nothing was changed, nothing is found."""
    store = SqliteStore(path)
    assert store.check() == []
    store.close()
