"""Tokens in the file: what their table holds, columns that stray, rows of others, and a store from before there were any."""

from pathlib import Path

import apsw
import pytest

from assent.protocol.error import StoreDamagedError, StoreTooNewError
from assent.storage.migration import load_migrations
from assent.storage.sqlite import schema
from assent.storage.sqlite.store import SqliteStore
from tests.contract.test_token import store_tokens
from tests.contract.writing import AT, writing
from tests.storage.test_migration import EVENT_COLUMNS, OLD_EVENTS
from tests.task_samples import TASK_ID, new_task
from tests.token_samples import TOKEN_ID, new_token

__all__: list[str] = []

BEFORE = 3
"""The last schema without tokens."""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Give the place of a store that is not there yet."""
    return tmp_path / "store.db"


def do(path: Path, sql: str) -> list[tuple[object, ...]]:
    """Do something to a file that no store has open."""
    connection = apsw.Connection(str(path))
    found = connection.execute(sql).fetchall()
    connection.close()
    return found


def set_up(path: Path) -> SqliteStore:
    """Make a store with one token, and close it."""
    store = SqliteStore(path)
    store_tokens(store, new_token())
    store.close()
    return store


@pytest.mark.parametrize(
    "change",
    ["digest = 'x'", "token_id = 'tok_x'", "project_number = 77"],
    ids=["digest", "token_id", "project"],
)
def test_token_that_is_found_by_what_it_is_not_is_named(path: Path, change: str) -> None:
    """A row that was bent would open a door that its record does not; a whole one is not named."""
    store = set_up(path)
    assert store.check() == []
    do(path, f"UPDATE tokens SET {change}")
    named = TOKEN_ID if "token_id" not in change else "tok_x"
    assert store.check() == [f"the row of token {named} is listed under what it is not."]


@pytest.mark.parametrize("record", ["x'7b7d'", "x'ff'", "x''"], ids=["object", "no_text", "empty"])
def test_token_that_assent_did_not_write_is_damage(path: Path, record: str) -> None:
    """A typed error, never a token that lets somebody in."""
    store = set_up(path)
    do(path, f"UPDATE tokens SET record = {record}")
    with store.reading() as reader:
        with pytest.raises(StoreDamagedError):
            reader.token_by_digest(new_token().digest)
        with pytest.raises(StoreDamagedError):
            reader.tokens("p", 10)
    store.close()


def test_store_without_tokens_is_brought_up_to_date(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was there stays to the byte, and a token can be kept beside it at once."""
    with monkeypatch.context() as patch:
        patch.setattr(schema, "load_migrations", lambda package: load_migrations(package)[:BEFORE])
        patch.setattr(schema, "MIN_READER", BEFORE)
        old = SqliteStore(path)
        patch.setitem(old._queries, "insert_events", OLD_EVENTS)
        with writing(old) as transaction:
            head = transaction.head("p", AT)
            transaction.append(head, "task.created", TASK_ID, b"{}")
            transaction.put_task(head, new_task())
        old.close()
    tables = "* FROM projects", f"{EVENT_COLUMNS} FROM events", "* FROM tasks"
    before = [do(path, f"SELECT {table}") for table in tables]
    assert all(before)
    assert do(path, "PRAGMA user_version") == [(BEFORE,)]
    store = SqliteStore(path)
    with store.reading() as reader:
        assert (reader.tokens(None, 10), reader.task("p", TASK_ID)) == ([], new_task())
    store.close()
    assert [do(path, f"SELECT {table}") for table in tables] == before
    [kept] = store_tokens(store, new_token())
    with store.reading() as reader:
        assert reader.token_by_digest(kept.digest) == kept
    assert store.check() == []
    store.close()


def test_program_without_tokens_refuses_a_file_of_this_one(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its audit would call the log damaged."""
    set_up(path)
    monkeypatch.setattr(schema, "load_migrations", lambda package: load_migrations(package)[:BEFORE])
    store = SqliteStore(path)
    with pytest.raises(StoreTooNewError), store.reading() as reader:
        reader.count_open("p")
