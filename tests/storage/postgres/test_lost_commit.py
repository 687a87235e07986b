"""The connection ends before, in the middle of and after a commit: its caller is told the truth, and nothing is doubled."""

import time
from collections.abc import Callable, Iterator
from types import SimpleNamespace

import pytest

from assent.hub.command import AnswerAsk, PostMessage
from assent.hub.hub import Hub
from assent.protocol.ask import Ask, State
from assent.protocol.error import StoreAwayError, StoreUnknownError
from assent.storage.postgres import store as store_module
from assent.storage.postgres.connection import TRANSACTION_MILLISECONDS
from assent.storage.postgres.store import PostgresStore
from tests.contract.writing import append_open
from tests.hub.conftest import PROJECT, opening, send, tell
from tests.samples import AGENT, ANA, new_ask
from tests.storage.postgres.conftest import OpenStore
from tools.fault_proxy import FaultProxy

__all__: list[str] = []

Cut = Callable[[FaultProxy], None]
CUTS: dict[str, Cut] = {
    "before the commit": lambda proxy: proxy.cut_before(b"COMMIT"),
    "after the commit": lambda proxy: proxy.cut_after(b"COMMIT"),
    "before the events": lambda proxy: proxy.cut_before(b"INSERT INTO events"),
    "after the events": lambda proxy: proxy.cut_after(b"INSERT INTO events"),
    "before the head is taken": lambda proxy: proxy.cut_before(b"FOR NO KEY UPDATE"),
    "after the head was taken": lambda proxy: proxy.cut_after(b"FOR NO KEY UPDATE"),
}
IS_SAVED = {"after the commit"}
EITHER_WAY = {"after the events"}
"""The COMMIT travels with them: it is on its way when the connection is cut, and may arrive."""
NOTE = PostMessage("notes", b'"hello"')


@pytest.fixture
def store(database: str, proxy: FaultProxy, open_store: OpenStore) -> PostgresStore:
    """Give a store behind the door that fails."""
    return open_store(proxy.url(database))


@pytest.fixture
def hub(store: PostgresStore) -> Iterator[Hub]:
    """Give a hub on that store."""
    made = Hub(store)
    yield made
    made.close()


def save_one(store: PostgresStore, number: int) -> None:
    """Open one ask, in a transaction of its own."""
    with store.transaction() as transaction:
        append_open(transaction, transaction.head("p", 1), new_ask(number))


def stored(store: PostgresStore, project: str = "p") -> tuple[int, int]:
    """Return how many asks there are, and the number of the last event."""
    with store.reading() as reader:
        return len(reader.asks(project, None, 1_000)), reader.head_sequence(project)


@pytest.mark.parametrize("where", CUTS)
def test_transaction_whose_connection_is_cut_says_whether_it_was_saved(
    store: PostgresStore, proxy: FaultProxy, database: str, open_store: OpenStore, where: str
) -> None:
    """`nothing was saved` is said exactly where nothing was."""
    save_one(store, 1)
    CUTS[where](proxy)
    try:
        save_one(store, 2)
    except StoreAwayError:
        is_saved = False
    else:
        is_saved = True
    assert proxy.wait_for_cut()
    assert where in EITHER_WAY or is_saved == (where in IS_SAVED)
    assert stored(open_store(database)) == ((2, 2) if is_saved else (1, 1))


@pytest.mark.parametrize("where", CUTS)
def test_first_transaction_of_a_project_that_is_cut_says_whether_it_was_saved(
    store: PostgresStore, proxy: FaultProxy, database: str, open_store: OpenStore, where: str
) -> None:
    """There is no head to wait for yet."""
    CUTS[where](proxy)
    try:
        save_one(store, 1)
    except StoreAwayError:
        is_saved = False
    else:
        is_saved = True
    assert proxy.wait_for_cut()
    assert where in EITHER_WAY or is_saved == (where in IS_SAVED)
    assert stored(open_store(database)) == ((1, 1) if is_saved else (0, 0))


@pytest.mark.parametrize("where", CUTS)
def test_commands_through_a_hub_are_done_once_wherever_the_connection_is_cut(
    hub: Hub, proxy: FaultProxy, where: str
) -> None:
    """An ask, its answer, and a message that nothing but the truth keeps from being posted twice."""
    send(hub, opening(), project="other")
    CUTS[where](proxy)
    ask = send(hub, opening())
    assert proxy.wait_for_cut()
    CUTS[where](proxy)
    answered = send(hub, AnswerAsk(ask.ask_id, "2"), ANA)
    assert proxy.wait_for_cut()
    CUTS[where](proxy)
    tell(hub, NOTE, AGENT)
    assert proxy.wait_for_cut()
    with hub.store.reading() as reader:
        records = reader.records(PROJECT, 0, 100)
        kept = reader.ask(ask.ask_id)
    assert [record.type for record in records] == ["ask.opened", "ask.answered", "topic.posted"]
    assert kept == answered
    assert answered.state is State.ANSWERED


def test_message_is_posted_twice_where_the_log_is_not_asked(
    hub: Hub, proxy: FaultProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Twin: without the guard, what was saved is taken for lost and done again, and the test above would see it."""
    monkeypatch.setattr(PostgresStore, "_is_saved", lambda _self, _transaction: False)
    proxy.cut_after(b"COMMIT")
    tell(hub, NOTE, AGENT)
    with hub.store.reading() as reader:
        assert [record.type for record in reader.records(PROJECT, 0, 100)] == ["topic.posted"] * 2


@pytest.mark.parametrize("is_committed", [True, False], ids=["committed", "not committed"])
def test_commit_that_nobody_can_ask_about_is_unknown_and_its_command_can_be_sent_again(
    hub: Hub, proxy: FaultProxy, monkeypatch: pytest.MonkeyPatch, is_committed: bool
) -> None:
    """The database stays away: neither `saved` nor `not saved` would be true. The same command id finds out."""
    monkeypatch.setattr(store_module, "UNKNOWN_SECONDS", 0.2)
    send(hub, opening(), project="other")
    request = opening()
    proxy.refuse()
    (proxy.cut_after if is_committed else proxy.cut_before)(b"COMMIT")
    with pytest.raises(StoreUnknownError):
        send(hub, request, command_id="http_1")
    proxy.accept()
    told = send(hub, request, command_id="http_1")
    with hub.store.reading() as reader:
        assert (reader.head_sequence(PROJECT), reader.ask(request.ask_id)) == (1, told)


def test_commit_is_known_as_soon_as_the_database_is_back(
    hub: Hub, proxy: FaultProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was away for a moment: whoever waits is told what happened, and not that nobody knows."""
    tries: list[float] = []

    def come_back(_seconds: float) -> None:
        tries.append(_seconds)
        if len(tries) == 3:
            proxy.accept()

    send(hub, opening(), project="other")
    monkeypatch.setattr(store_module, "time", SimpleNamespace(monotonic=time.monotonic, sleep=come_back))
    proxy.refuse()
    proxy.cut_after(b"COMMIT")
    assert isinstance(send(hub, opening()), Ask)
    assert len(tries) >= 3


def test_commit_that_never_reached_a_server_which_keeps_waiting_for_it_is_found_out_in_time(
    store: PostgresStore,
    proxy: FaultProxy,
    database: str,
    open_store: OpenStore,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The network goes, and the server holds the head for a client that is gone: it gives it up before we do."""
    assert store_module.UNKNOWN_SECONDS >= 1.5 * TRANSACTION_MILLISECONDS / 1_000
    monkeypatch.setattr(store_module, "TRANSACTION_MILLISECONDS", 400)
    save_one(store, 1)
    proxy.strand_before(b"COMMIT")
    with pytest.raises(StoreAwayError):
        save_one(store, 2)
    assert stored(open_store(database)) == (1, 1)
