"""A project's events as server-sent events: the same events as on a socket, resumed by the last id."""

import re
from collections.abc import Iterator

import httpx2
import pytest

from assent.surfaces.http import events
from assent.testing.server import ThrowawayServer
from tests.patience import PATIENCE
from tests.surfaces.http.listening import Listener, Reader, post_many, serving

__all__: list[str] = []


@pytest.fixture
def server() -> Iterator[ThrowawayServer]:
    """Give a server on an empty store."""
    with serving() as made:
        yield made


def test_stream_tells_what_a_socket_tells(server: ThrowawayServer) -> None:
    """Both doors, from the beginning and live: the same events, each with its id and type beside it."""
    agent, token = server.agent(), server.token("observer")
    post_many(agent, 3)
    with Listener(server, token, after=0) as listener, Reader.on(server, token, after=0) as reader:
        assert reader.reply.status_code == 200
        assert reader.reply.headers["content-type"].startswith("text/event-stream")
        assert reader.reply.headers["cache-control"] == "no-store"
        count = agent.log()[-1].sequence
        assert reader.take(count) == listener.take(count)
        post_many(agent, 2)
        live = reader.take(2)
        assert live == listener.take(2)
    assert [event.sequence for event in live] == [count + 1, count + 2]


def test_stream_goes_on_behind_its_last_id(server: ThrowawayServer) -> None:
    """A browser comes again with the address that it began with; its last id wins over the number there."""
    agent, token = server.agent(), server.token("observer")
    post_many(agent, 6)
    with Reader.on(server, token, after=0) as reader:
        first = reader.take(4)
        last_id = reader.last_id
    with Reader.on(server, token, after=0, last_id=last_id) as again:
        rest = again.take(agent.log()[-1].sequence - 4)
    numbers = [event.sequence for event in first + rest]
    assert numbers == list(range(1, len(numbers) + 1))


def test_stream_that_is_cut_before_its_first_event_misses_nothing(server: ThrowawayServer) -> None:
    """Without a number it begins with an id and no event, so that a browser knows where it was."""
    agent, token = server.agent(), server.token("observer")
    post_many(agent, 2)
    last = agent.log()[-1].sequence
    with Reader.on(server, token) as reader:
        assert reader.frame() == {"retry": "1000", "id": str(last)}
        last_id = reader.last_id
    post_many(agent, 2)
    with Reader.on(server, token, last_id=last_id) as again:
        assert [event.sequence for event in again.take(2)] == [last + 1, last + 2]


@pytest.mark.parametrize("last_id", ["-1", "x", "1.5", "٣", 19 * "9", "1\t2"])
def test_last_id_that_is_no_number_is_refused(server: ThrowawayServer, last_id: str) -> None:
    """Whoever sends what we never gave is told so, and not begun with from anywhere."""
    headers = [
        (b"Authorization", f"Bearer {server.token('human')}".encode()),
        (b"Last-Event-ID", last_id.encode()),
    ]
    reply = httpx2.get(f"{server.url}/projects/test/events", headers=headers, timeout=PATIENCE)
    assert (reply.status_code, reply.json()["error"]["code"]) == (400, "bad_request")


def test_silent_stream_has_a_line_now_and_then(
    server: ThrowawayServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So nobody between the two takes it for dead; a reader sees no event in it."""
    assert events.BEAT_SECONDS == 10.0
    monkeypatch.setattr(events, "BEAT_SECONDS", 0.05)
    with Reader.on(server, server.token("observer")) as reader:
        frames = [reader.frame() for _ in range(3)]
    assert reader.comments == 2
    assert frames[1:] == [{"": ""}, {"": ""}]


def test_head_of_a_stream_has_no_body(server: ThrowawayServer) -> None:
    """Whoever asks for the head alone is not kept."""
    headers = {"Authorization": f"Bearer {server.token('human')}"}
    reply = httpx2.head(f"{server.url}/projects/test/events", headers=headers, timeout=PATIENCE)
    assert (reply.status_code, reply.content) == (200, b"")
    assert re.match("text/event-stream", reply.headers["content-type"])


def test_stream_cannot_be_posted_to(server: ThrowawayServer) -> None:
    """There is one way to follow."""
    headers = {"Authorization": f"Bearer {server.token('human')}"}
    reply = httpx2.post(f"{server.url}/projects/test/events", headers=headers, timeout=PATIENCE)
    assert reply.status_code == 405
