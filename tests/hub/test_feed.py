"""The feed: a project's log, live, resumable by its numbers."""

import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from assent.hub.command import AnswerAsk
from assent.hub.feed import Feed
from assent.hub.hub import Hub
from assent.storage.port import Record
from assent.testing import ThrowawayStore
from tests.hub.conftest import PROJECT, opening, send, send_group
from tests.patience import PATIENCE
from tests.samples import AGENT, ANA

__all__: list[str] = []


@pytest.fixture
def feed(hub: Hub) -> Iterator[Feed[Record]]:
    """Give a feed from the beginning."""
    with hub.follow(PROJECT, 0) as feed:
        yield feed


def collect(feed: Feed[Record], count: int) -> list[Record]:
    """Read until `count` events have come."""
    records: list[Record] = []
    while len(records) < count:
        page = feed.wait(PATIENCE)
        assert page
        records += page
    return records


def test_feed_gives_events_of_this_process(hub: Hub, feed: Feed[Record]) -> None:
    """In order, each once, with its cursor behind the last."""
    ask = send(hub, opening())
    send(hub, AnswerAsk(ask.ask_id, "2"), ANA)
    assert [record.type for record in collect(feed, 2)] == ["ask.opened", "ask.answered"]
    assert feed.cursor == 2
    assert feed.wait(0) == []


def test_feed_is_woken_by_another_process(store: ThrowawayStore, feed: Feed[Record]) -> None:
    """Follows what others write, as soon as it is committed."""
    seen: list[Record] = []
    thread = threading.Thread(target=lambda: seen.extend(collect(feed, 1)))
    thread.start()
    send(store.hub(), opening())
    thread.join(PATIENCE)
    assert [record.type for record in seen] == ["ask.opened"]


def test_feed_resumes_after_a_number(hub: Hub) -> None:
    """Who remembers the last number misses nothing and gets nothing twice."""
    for _ in range(5):
        send(hub, opening())
    with hub.follow(PROJECT, 0) as first:
        assert [record.sequence for record in first.read(3)] == [1, 2, 3]
    with hub.follow(PROJECT, first.cursor) as second:
        assert [record.sequence for record in second.wait(PATIENCE)] == [4, 5]


def test_feed_of_one_project_is_silent_about_others(hub: Hub, feed: Feed[Record]) -> None:
    """Projects do not mix."""
    send(hub, opening(), project="other")
    assert feed.wait(0.01) == []
    send(hub, opening())
    assert [record.project for record in collect(feed, 1)] == [PROJECT]


def test_feed_gives_more_than_a_page_without_a_gap(hub: Hub, feed: Feed[Record]) -> None:
    """However much was written meanwhile."""
    send_group(hub, *((opening(), AGENT) for _ in range(510)))
    assert [record.sequence for record in collect(feed, 510)] == list(range(1, 511))


def test_feed_that_is_iterated_ends_with_its_close(hub: Hub, feed: Feed[Record]) -> None:
    """A loop over it goes on until somebody closes it."""
    seen: list[int] = []
    send(hub, opening())
    send(hub, opening())
    for record in feed:
        seen.append(record.sequence)
        if record.sequence == 2:
            feed.close()
    assert seen == [1, 2]


def test_close_from_another_thread_ends_a_wait(hub: Hub) -> None:
    """In the middle of listening, without an error, at once; and closing twice is harmless."""
    for _ in range(20):
        feed = hub.follow(PROJECT, 0)
        ends: list[object] = []
        begun = threading.Event()

        def listen(
            feed: Feed[Record] = feed, begun: threading.Event = begun, ends: list[object] = ends
        ) -> None:
            begun.set()
            try:
                ends.append(feed.wait(PATIENCE))
            except BaseException as error:  # noqa: BLE001 - any error is the failure looked for
                ends.append(error)

        thread = threading.Thread(target=listen)
        thread.start()
        assert begun.wait(PATIENCE)
        feed.close()
        feed.close()
        thread.join(PATIENCE)
        assert ends == [[]]


def test_closed_feed_is_never_written_to(hub: Hub, tmp_path: Path) -> None:
    """Its descriptors' numbers are free for other files: a commit must not put a byte into them."""
    send(hub, opening())
    feed = hub.follow(PROJECT, 0)
    feed.close()
    taken = [os.open(tmp_path / f"file{number}", os.O_CREAT | os.O_RDWR) for number in range(8)]
    send(hub, opening())
    assert {os.fstat(descriptor).st_size for descriptor in taken} == {0}
    for descriptor in taken:
        os.close(descriptor)


def test_closed_hub_ends_its_feeds(store: ThrowawayStore) -> None:
    """Nobody goes on listening to a store that was let go of."""
    hub = store.hub()
    feed = hub.follow(PROJECT, 0)
    thread = threading.Thread(target=lambda: feed.wait(PATIENCE))
    thread.start()
    hub.close()
    thread.join(PATIENCE)
    assert not thread.is_alive()


def test_feed_where_no_socket_can_be_bound_goes_by_the_clock(
    store: ThrowawayStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Slower, but nothing is lost."""
    hub = store.hub()
    monkeypatch.setattr(hub.store.bell, "listen", lambda **_: None)
    with hub.follow(PROJECT, 0) as feed:
        send(store.hub(), opening())
        assert len(collect(feed, 1)) == 1
