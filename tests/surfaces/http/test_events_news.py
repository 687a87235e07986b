"""What is told and kept for a project's listeners: its text, its bounds, and that nothing is lost on the way."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import msgspec
import pytest

from assent.client import news as news_file
from assent.client.broadcast import render_event
from assent.client.embedded import EmbeddedDoor
from assent.client.news import News, Told
from assent.hub.record import Record
from assent.protocol.error import StoreBusyError
from assent.testing import ThrowawayStore, throwaway
from tests.patience import PATIENCE
from tests.surfaces.http.listening import ask_two, post_many

__all__: list[str] = []


@pytest.fixture
def store() -> Iterator[ThrowawayStore]:
    """Give an empty store."""
    with throwaway() as made:
        yield made


def record_of(body: bytes | None, event_type: str = "topic.posted", subject: str = "news") -> Record:
    """Return an event as a store would have it."""
    return Record("test", 7, 1_700_000_000_000_000, event_type, subject, body, bytes(32), bytes(32))


def last_record(store: ThrowawayStore, event_type: str) -> Record:
    """Return the last event of a type."""
    return [record for record in store.person().log() if record.type == event_type][-1]


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b'{"type":"topic.posted",\r\n\n"message":{"a":\n\n1}}', id="white space"),
        pytest.param('{"message":"\u2028id: 1\u2029\x85"}'.encode(), id="rare breaks"),
        pytest.param(b'{"message":"\\nid: 1\\r\\n\\u2028"}', id="escaped"),
    ],
)
def test_text_of_an_event_is_one_line_and_says_the_same(store: ThrowawayStore, body: bytes) -> None:
    """However it was written, no reader finds a second line in it, and every one the same value."""
    told = render_event(EmbeddedDoor(store.hub()), record_of(body))
    assert len(told.text.splitlines()) == 1
    data = json.loads(told.text)["data"]
    assert data == {name: part for name, part in json.loads(body).items() if name != "type"}


def test_number_beyond_any_machine_is_told_as_it_is_written(store: ThrowawayStore) -> None:
    """A log may hold what no number here can; it is passed on, not read."""
    told = render_event(EmbeddedDoor(store.hub()), record_of(b'{"message":' + 400 * b"9" + b"}"))
    assert 400 * "9" in told.text


@pytest.mark.parametrize("body", [None, b"{", b"[1]", b'{"a":"\xff"}'])
def test_erased_or_damaged_event_is_told_as_null(store: ThrowawayStore, body: bytes | None) -> None:
    """It keeps its number, so that nobody waits for it; what it said is gone."""
    told = render_event(EmbeddedDoor(store.hub()), record_of(body))
    assert msgspec.json.decode(told.text) == {
        "sequence": 7,
        "type": "topic.posted",
        "at": "2023-11-14T22:13:20Z",
        "data": None,
    }


@pytest.mark.parametrize("event_type", ["notification.added", "notification.resolved"])
def test_erased_notification_is_not_told_from_its_row(store: ThrowawayStore, event_type: str) -> None:
    """The row may still be there; whoever had the event erased did not want it told."""
    notification_id = ask_two(store.agent())
    store.person().resolve(notification_id, "SQLite")
    record = last_record(store, event_type)
    door = EmbeddedDoor(store.hub())
    assert "T-1" in render_event(door, record).text
    assert '"data":null' in render_event(door, msgspec.structs.replace(record, body=None)).text


@asynccontextmanager
async def following(store: ThrowawayStore) -> AsyncIterator[News]:
    """Give the news of a project, for a bounded time."""
    news = News(EmbeddedDoor(store.hub()), "test", asyncio.get_running_loop())
    try:
        async with asyncio.timeout(PATIENCE):
            yield news
    finally:
        news.close()


async def reach(news: News, number: int) -> None:
    """Wait until the news have come so far."""
    while news.last < number:
        await news.wait(news.last, PATIENCE)


async def collect(news: News, after: int, until: int) -> list[Told]:
    """Return what came after a number, as a listener takes it."""
    found: list[Told] = []
    while after < until:
        page = news.since(after, 10)
        found += page
        if page:
            after = page[-1].sequence
        else:
            await news.wait(after, PATIENCE)
    return found


def test_store_that_is_away_for_a_moment_costs_nobody_an_event(
    store: ThrowawayStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was read but could not be told is tried again: the cursor stands behind it already."""
    tries: list[int] = []

    def render(door: EmbeddedDoor, record: Record) -> Told:
        tries.append(record.sequence)
        if len(tries) in (2, 3):
            raise StoreBusyError
        return render_event(door, record)

    monkeypatch.setattr(news_file, "render_event", render)
    monkeypatch.setattr(news_file, "_NAP", 0.01)
    agent = store.agent()

    async def talk() -> list[Told]:
        async with following(store) as news:
            await asyncio.to_thread(post_many, agent, 5)
            await reach(news, 5)
            return news.since(0, 10)

    assert [told.sequence for told in asyncio.run(talk())] == [1, 2, 3, 4, 5]
    assert len(tries) > 5


@pytest.mark.parametrize("kept", [1, 3, 1_000])
def test_listeners_hear_the_same_however_much_is_kept(
    store: ThrowawayStore, monkeypatch: pytest.MonkeyPatch, kept: int
) -> None:
    """From what is at hand or from the store, from any number: without a gap, in order, in the same words."""
    monkeypatch.setattr(news_file, "KEPT_EVENTS", kept)
    agent = store.agent()
    post_many(agent, 4)

    async def talk() -> list[list[Told]]:
        async with following(store) as news:
            live = asyncio.gather(*(collect(news, after, 12) for after in (0, 2, 4)))
            await asyncio.to_thread(post_many, agent, 8)
            heard = await live
            assert len(news._kept) <= kept
            return [*heard, *[await collect(news, after, 12) for after in range(12)]]

    heard = asyncio.run(talk())
    whole = heard[0]
    assert [told.sequence for told in whole] == list(range(1, 13))
    for found, after in zip(heard, [0, 2, 4, *range(12)], strict=True):
        assert found == whole[after:]


def test_what_is_kept_and_handed_out_is_bounded_by_its_size(
    store: ThrowawayStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Large events are kept in small number and handed out one by one; each still comes through."""
    monkeypatch.setattr(news_file, "KEPT_CHARACTERS", 25_000)
    monkeypatch.setattr(news_file, "PAGE_CHARACTERS", 15_000)
    agent = store.agent()

    async def talk() -> tuple[int, list[int], list[Told]]:
        async with following(store) as news:
            await asyncio.to_thread(post_many, agent, 6, size=10_000)
            await reach(news, 6)
            pages = [len(news.since(after, 10)) for after in range(6)]
            return len(news._kept), pages, await collect(news, 0, 6)

    kept, pages, heard = asyncio.run(talk())
    assert kept == 2
    assert pages == 6 * [1]
    assert [told.sequence for told in heard] == [1, 2, 3, 4, 5, 6]
