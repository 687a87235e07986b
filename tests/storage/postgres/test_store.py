"""Projects that do not wait for each other, heads that are held too long, and connections that stay usable."""

import threading
import time

import psycopg
import pytest

from assent.protocol.error import (
    BadRequestError,
    CommandReusedError,
    StoreAwayError,
    StoreBusyError,
    TooLargeError,
)
from assent.storage.postgres import connection as connection_module
from assent.storage.postgres import pool as pool_module
from assent.storage.postgres import store as store_module
from assent.storage.postgres.store import PostgresStore
from assent.storage.sql.session import MAX_NAME_BYTES
from tests.contract.writing import AT, append_open, store_asks
from tests.notification_samples import new_notification, new_question
from tests.patience import PATIENCE
from tests.samples import new_ask
from tests.storage.postgres.conftest import OpenStore

__all__: list[str] = []

Direct = psycopg.Connection[tuple[object, ...]]


@pytest.fixture
def store(database: str, open_store: OpenStore) -> PostgresStore:
    """Give a store with two projects."""
    made = open_store(database)
    store_asks(made, new_ask(1, "a"), new_ask(2, "b"))
    return made


def add(store: PostgresStore, project: str, number: int, *, may_wait: bool = True) -> None:
    """Open one ask in a transaction of its own."""
    with store.transaction(may_wait=may_wait) as transaction:
        append_open(transaction, transaction.head(project, AT), new_ask(number, project))


def test_project_commits_while_another_ones_head_is_held(
    store: PostgresStore, database: str, open_store: OpenStore
) -> None:
    """Neither in this process nor from another one."""
    with store.transaction() as transaction:
        transaction.head("a", AT)
        add(store, "b", 11)
        add(open_store(database), "b", 12)
        add(open_store(database), "c", 13)
    with store.reading() as reader:
        assert [head.sequence for head in reader.heads()] == [1, 3, 1]


def test_head_that_a_stopped_process_holds_makes_the_store_busy_in_time(
    store: PostgresStore, direct: Direct, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever waits is told, and not left hanging; and at once where it may not wait."""
    shorter = connection_module._SETTINGS.replace(f"'{connection_module.BUSY_MILLISECONDS}'", "'300'")
    monkeypatch.setattr(connection_module, "_SETTINGS", shorter)
    store.close()
    with direct.transaction():
        direct.execute("SELECT 1 FROM projects WHERE project = 'a' FOR UPDATE")
        began = time.monotonic()
        with pytest.raises(StoreBusyError):
            add(store, "a", 11, may_wait=False)
        with pytest.raises(StoreBusyError):
            add(store, "a", 11)
        assert 0.3 <= time.monotonic() - began < PATIENCE
        add(store, "b", 12)
    add(store, "a", 11)
    with store.reading() as reader:
        assert [head.sequence for head in reader.heads()] == [2, 2]


def test_process_that_stops_in_a_transaction_does_not_hold_its_head_for_ever(
    database: str, open_store: OpenStore, store: PostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server ends the transaction, also where the timer for idle ones was stopped by the driver."""
    monkeypatch.setattr(store_module, "TRANSACTION_MILLISECONDS", 400)
    stopped = open_store(database)
    with pytest.raises(StoreAwayError), stopped.transaction() as transaction:  # noqa: PT012 - what happens meanwhile
        append_open(transaction, transaction.head("a", AT), new_ask(11, "a"))
        add(store, "a", 12)  # it waits for less than a head is waited for
    with store.reading() as reader:
        assert [ask.ask_id for ask in reader.asks("a", None, 10)] == [f"ask_{12:018}", f"ask_{1:018}"]


@pytest.mark.parametrize("where", ["before the head", "after the head", "after an event"])
def test_error_inside_a_transaction_leaves_no_trace_and_a_usable_connection(
    store: PostgresStore, direct: Direct, where: str
) -> None:
    """A hundred of them use one connection, and nothing of them is kept."""

    def fail() -> None:
        with store.transaction() as transaction:
            if where != "before the head":
                head = transaction.head("a", AT)
                if where == "after an event":
                    append_open(transaction, head, new_ask(50, "a"))
            raise ZeroDivisionError

    for _ in range(100):
        with pytest.raises(ZeroDivisionError):
            fail()
    add(store, "a", 11)
    open_now = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'assent' AND datname = current_database()"
    assert direct.execute(open_now).fetchone() == (1,)
    with store.reading() as reader:
        assert reader.head_sequence("a") == 2


def test_statement_that_fails_leaves_no_trace_and_a_usable_store(store: PostgresStore) -> None:
    """The same where it is the server that says no: twelve times, as a driver prepares what it sees often."""
    for _ in range(12):
        with pytest.raises(CommandReusedError, match="already belongs"):
            add(store, "b", 1)  # the id of an ask of the other project
        add(store, "a", 100 + _)
    with store.reading() as reader:
        assert [head.sequence for head in reader.heads()] == [13, 1]


def test_process_that_uses_all_of_its_connections_is_told_and_does_not_hang(
    store: PostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """More projects than connections at once: the last ones are refused after a moment."""
    monkeypatch.setattr(pool_module, "_TURN_SECONDS", 0.2)
    store_asks(store, *(new_ask(20 + number, f"p{number}") for number in range(store_module.MOST_WRITING)))
    go_on = threading.Event()
    begun = threading.Barrier(store_module.MOST_WRITING + 1)

    def hold_head(project: str) -> None:
        with store.transaction() as transaction:
            transaction.head(project, AT)
            begun.wait(PATIENCE)
            go_on.wait(PATIENCE)

    threads = [
        threading.Thread(target=hold_head, args=(f"p{number}",))
        for number in range(store_module.MOST_WRITING)
    ]
    for thread in threads:
        thread.start()
    try:
        begun.wait(PATIENCE)
        with pytest.raises(StoreBusyError, match="all of its connections"):
            add(store, "a", 11)
    finally:
        go_on.set()
        for thread in threads:
            thread.join(PATIENCE)
    add(store, "a", 11)
    with store.reading() as reader:
        assert reader.head_sequence("a") == 2


@pytest.mark.parametrize("name", ["key", "run_id"])
def test_name_that_no_index_can_hold_is_refused(store: PostgresStore, name: str) -> None:
    """As long as it may be it is kept, and one byte more is too long."""
    longest = "ё" * (MAX_NAME_BYTES // 2)
    store_asks(store, new_ask(11, "a", **{name: longest}))
    with pytest.raises(TooLargeError):
        store_asks(store, new_ask(12, "a", **{name: longest + "x"}))


def test_name_with_a_nul_is_refused_and_found_nowhere(store: PostgresStore) -> None:
    """PostgreSQL has no such text; neither store keeps one."""
    with pytest.raises(BadRequestError):
        store_asks(store, new_ask(11, "a", key="a\0b"))
    with store.reading() as reader:
        assert reader.asks_by_key("a", ["a\0b", "a"]) == []
        assert reader.ask("ask_\0") is None


def test_table_of_the_protocol_text_can_be_read_whatever_was_asked(
    store: PostgresStore, direct: Direct
) -> None:
    """PostgreSQL's JSON has no NUL, and one question with one must not hide all the others."""
    with store.transaction() as transaction:
        head = transaction.head("a", AT)
        transaction.append(head, "notification.added", "oq-1", b"{}")
        note = new_notification(project_id="a", questions=(new_question(1, "Is \0 or \\u0000 a character?"),))
        transaction.put_notification(head, note)
    found = direct.execute("SELECT questions::text FROM open_questions").fetchall()
    assert len(found) == 1
    assert "a character?" in str(found[0][0])


def test_store_that_is_closed_keeps_no_connection_that_was_in_use_then(
    store: PostgresStore, direct: Direct
) -> None:
    """A thread that still reads or writes ends its own."""
    with store.reading() as reader, store.transaction() as transaction:
        reader.heads()
        transaction.head("a", AT)
        store.close()
        assert _come_to(direct, 2)

    assert _come_to(direct, 0)
    add(store, "a", 11)  # the next use opens it again
    assert _come_to(direct, 1)


def _come_to(direct: Direct, wanted: int) -> bool:
    """Wait until so many connections beside this one are open: one that is closed is still seen for a moment."""
    query = (
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
    )
    until = time.monotonic() + PATIENCE
    while direct.execute(query).fetchone() != (wanted,):
        if time.monotonic() > until:
            return False
        time.sleep(0.01)
    return True
