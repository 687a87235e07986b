"""The doorbell between processes: a hint that may be lost, and everybody is told to look when it may have been."""

import os
import resource
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack

import psycopg
import pytest

from assent.storage.port import EVERYTHING
from assent.storage.postgres.bell import PostgresBell, PostgresListener
from assent.storage.postgres.store import PostgresStore
from tests.patience import PATIENCE
from tests.storage.postgres.conftest import OpenStore
from tools.fault_proxy import FaultProxy

__all__: list[str] = []

Direct = psycopg.Connection[tuple[object, ...]]


def hear(ear: PostgresListener, *names: str) -> set[str]:
    """Return what is heard, until all of `names` are."""
    heard: set[str] = set()
    until = time.monotonic() + PATIENCE
    while not heard.issuperset(names):
        left = until - time.monotonic()
        assert left > 0, f"heard only {heard}"
        heard.update(ear.wait(left) or ())
    return heard


def listeners(direct: Direct) -> list[int]:
    """Return the server's numbers of the connections that listen."""
    query = "SELECT pid FROM pg_stat_activity WHERE query = 'LISTEN assent' AND datname = current_database()"
    return [int(str(row[0])) for row in direct.execute(query).fetchall()]


@pytest.fixture
def listening(database: str, open_store: OpenStore) -> PostgresStore:
    """Give the store of a process that listens."""
    return open_store(database)


@pytest.fixture
def ear(listening: PostgresStore) -> Iterator[PostgresListener]:
    """Give an ear for what ends."""
    made = listening.bell.listen(follows_feed=False)
    yield made
    made.close()


@pytest.fixture
def ringing(database: str, open_store: OpenStore) -> PostgresStore:
    """Give the store of a process that rings."""
    return open_store(database)


def test_ear_whose_connection_the_server_ends_hears_again_and_is_told_to_look(
    ear: PostgresListener, ringing: PostgresStore, direct: Direct
) -> None:
    """Whatever was said meanwhile, it looks; and what is said afterwards it hears."""
    [pid] = listeners(direct)
    direct.execute("SELECT pg_terminate_backend(%s, 5000)", (pid,))
    hear(ear, EVERYTHING)
    ringing.bell.ring(["ask_1"], has_news=True)
    assert "ask_1" in hear(ear, "ask_1")
    assert listeners(direct) != [pid]


def test_ear_is_told_to_look_each_time_that_its_connection_was_lost(
    database: str, proxy: FaultProxy, open_store: OpenStore, ringing: PostgresStore
) -> None:
    """Ten losses, and not one of them leaves it deaf."""
    ear = open_store(proxy.url(database)).bell.listen(follows_feed=False)
    for number in range(10):
        proxy.cut_all()
        hear(ear, EVERYTHING)
        ringing.bell.ring([f"ask_{number}"], has_news=False)
        hear(ear, f"ask_{number}")
    assert proxy.opened >= 11
    ear.close()


def test_ear_that_began_while_the_server_was_away_is_told_to_look_when_it_is_back(
    database: str, proxy: FaultProxy, open_store: OpenStore
) -> None:
    """It did not listen from the beginning, so it may have missed something from the beginning."""
    proxy.refuse()
    ear = open_store(proxy.url(database)).bell.listen(follows_feed=False)
    proxy.accept()
    assert hear(ear, EVERYTHING) == {EVERYTHING}
    ear.close()


def test_ring_that_is_too_large_for_one_message_tells_everybody_to_look(
    ear: PostgresListener, ringing: PostgresStore
) -> None:
    """A payload has less than 8,000 bytes."""
    small = [f"ask_{number:018}" for number in range(300)]
    ringing.bell.ring(small, has_news=False)
    assert hear(ear, small[-1]) == set(small)
    ringing.bell.ring([f"ask_{number:018}" for number in range(400)], has_news=False)
    assert hear(ear, EVERYTHING) == {EVERYTHING}


def test_size_of_a_ring_is_counted_in_bytes(ear: PostgresListener, ringing: PostgresStore) -> None:
    """A character may have four of them."""
    ringing.bell.ring(["\U0001f600" * 1_990], has_news=False)
    assert hear(ear, EVERYTHING) == {EVERYTHING}


def test_own_ring_is_not_heard(
    ear: PostgresListener, listening: PostgresStore, ringing: PostgresStore
) -> None:
    """Who rings has told its own waiters already."""
    listening.bell.ring(["ask_own"], has_news=True)
    listening.bell.ring(["ask_own_2"], has_news=True)
    wait_until_said(listening)
    ringing.bell.ring(["ask_other"], has_news=True)
    assert hear(ear, "ask_other") == {"ask_other"}


def test_only_who_follows_the_feed_is_told_of_news_alone(
    ear: PostgresListener, listening: PostgresStore, ringing: PostgresStore
) -> None:
    """Nothing ended: whoever waits for an end need not look."""
    follower = listening.bell.listen(follows_feed=True)
    ringing.bell.ring([], has_news=True)
    assert hear(follower, EVERYTHING) == {EVERYTHING}
    assert ear.wait(0) is None
    follower.close()


def test_one_connection_listens_however_many_ears_there_are(listening: PostgresStore, direct: Direct) -> None:
    """And none when the last ear has gone."""
    ears = [listening.bell.listen(follows_feed=bool(number % 2)) for number in range(50)]
    assert len(listeners(direct)) == 1
    for ear in ears[1:]:
        ear.close()
    assert len(listeners(direct)) == 1
    ears[0].close()
    until = time.monotonic() + PATIENCE
    while listeners(direct):
        assert time.monotonic() < until


def test_many_rings_go_out_as_few(
    database: str, open_store: OpenStore, ear: PostgresListener, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While one is under way the others gather: a NOTIFY for each commit would make commits wait for each other."""
    sent: list[str] = []
    gather = PostgresBell._payload

    def count(bell: PostgresBell) -> str:
        sent.append(gather(bell))
        return sent[-1]

    monkeypatch.setattr(PostgresBell, "_payload", count)
    ringing = open_store(database)
    names = [f"ask_{number:04}" for number in range(2_000)]

    def ring(mine: list[str]) -> None:
        for name in mine:
            ringing.bell.ring([name], has_news=True)

    threads = [threading.Thread(target=ring, args=(names[start::4],)) for start in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    wait_until_said(ringing)
    assert len(sent) < len(names) / 10
    told = {name for payload in sent for name in payload.split("\n")}
    assert EVERYTHING in told or told == set(names)
    assert ear.wait(PATIENCE)


def test_ring_while_the_server_is_away_stops_nobody(
    database: str, proxy: FaultProxy, open_store: OpenStore, ear: PostgresListener
) -> None:
    """It is lost, and the next one is heard."""
    ringing = open_store(proxy.url(database))
    ringing.bell.ring(["ask_1"], has_news=False)
    hear(ear, "ask_1")
    proxy.refuse()
    proxy.cut_all()
    ringing.bell.ring(["ask_lost"], has_news=False)
    wait_until_said(ringing)
    proxy.accept()
    ringing.bell.ring(["ask_2"], has_news=False)
    assert "ask_lost" not in hear(ear, "ask_2")


@pytest.fixture
def many_files() -> Iterator[None]:
    """Have more than a thousand files open; an ordinary user is allowed fewer until they ask for more."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    with ExitStack() as taken:
        taken.callback(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
        for _ in range(1_100):
            taken.callback(os.close, os.open(os.devnull, os.O_RDONLY))
        yield


@pytest.mark.usefixtures("many_files")
def test_process_with_thousands_of_open_files_hears(ringing: PostgresStore, listening: PostgresStore) -> None:
    """A server has a file for each client; select() knows 1,024."""
    ear = listening.bell.listen(follows_feed=False)
    ringing.bell.ring(["ask_1"], has_news=False)
    assert hear(ear, "ask_1") == {"ask_1"}
    ear.close()
    with listening.transaction() as transaction:
        transaction.head("p", 1)
    with listening.transaction() as transaction:  # by the connection of the one before
        assert transaction.head("p", 1).sequence == 0


def wait_until_said(store: PostgresStore) -> None:
    """Wait until everything that was rung has gone out."""
    bell = store.bell
    with bell._turn:
        assert bell._turn.wait_for(lambda: not bell._has_pending and not bell._is_ringing, PATIENCE)
