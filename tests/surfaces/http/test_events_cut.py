"""Streams that end before their time: slow listeners, revoked tokens, servers that stop; and nothing is missed."""

import asyncio
import time
from collections.abc import Iterator
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.types import Message

from assent.client.embedded import EmbeddedDoor
from assent.client.news import News, Told
from assent.protocol.principal import Assurance, Role
from assent.protocol.token import DEFAULT_LIFE
from assent.surfaces.http import served_socket, telling
from assent.surfaces.http.events import event_routes
from assent.surfaces.http.site import Site
from assent.surfaces.http.telling import Ending
from assent.testing import FakeClock, throwaway
from assent.testing.server import ThrowawayServer
from tests.cli.shell import wait_for
from tests.patience import PATIENCE
from tests.samples import NOON
from tests.surfaces.http.listening import Listener, Reader, post_many, refusal, serving

__all__: list[str] = []

LARGE = 200_000
"""Of a message: some dozens of them are more than two machines' buffers hold."""
MANY = 60


@pytest.fixture
def server() -> Iterator[ThrowawayServer]:
    """Give a server on an empty store."""
    with serving() as made:
        yield made


def site_of(server: ThrowawayServer) -> Site:
    """Return what the server has, to look at."""
    assert server._server is not None
    return server._server._site


def followers(server: ThrowawayServer) -> int:
    """Count those who follow a project."""
    return sum(count for _, count in site_of(server)._news.values())


def test_slow_listener_is_let_go_of_and_resumes_without_gap_or_double(
    server: ThrowawayServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It reads nothing while 12 MB happen; the others hear all of it; it comes again with its last number."""
    assert telling.SLOW_SECONDS == 10.0
    monkeypatch.setattr(telling, "SLOW_SECONDS", 0.2)
    agent, token = server.agent(), server.token("observer")
    begin = agent.log()[-1].sequence
    with Listener(server, token) as brisk, Listener(server, token, is_lazy=True) as lazy:
        assert followers(server) == 2
        post_many(agent, MANY, size=LARGE)
        assert len(brisk.take(MANY)) == MANY
        wait_for(lambda: followers(server) == 1)
        before, code = lazy.rest()
    assert 0 < len(before) < MANY
    assert code == Ending.SLOW
    with Listener(server, token, after=before[-1].sequence) as again:
        after = again.take(MANY - len(before))
    assert [event.sequence for event in before + after] == list(range(begin + 1, begin + MANY + 1))
    assert [event.data["message"]["n"] for event in before + after] == list(range(MANY))


def test_slow_reader_of_a_stream_is_cut_off(
    server: ThrowawayServer, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Whoever does not read its stream has it ended; nothing of it is left, and nothing is written to the log."""
    monkeypatch.setattr(telling, "SLOW_SECONDS", 0.2)
    agent, token = server.store.agent(), server.token("observer")
    with Reader.on(server, token):
        assert followers(server) == 1
        post_many(agent, MANY, size=LARGE)
        assert server._server is not None
        connections = server._server.server_state.connections
        wait_for(lambda: not connections)
    assert followers(server) == 0
    assert caplog.text == ""


@pytest.mark.parametrize("door", ["socket", "stream"])
def test_revoked_token_cuts_the_stream_within_two_seconds(server: ThrowawayServer, door: str) -> None:
    """S11: what was opened with a token ends with it."""
    minter = server.store.person("minter", assurance=Assurance.TERMINAL)
    token, secret = minter.create_token("observer", name="eve")
    if door == "socket":
        with Listener(server, secret) as listener:
            began = time.monotonic()
            minter.revoke_token(token.token_id)
            _, code = listener.rest()
        assert (code, Ending.REVOKED.value) == (4401, 4401)
    else:
        with Reader.on(server, secret) as reader:
            began = time.monotonic()
            minter.revoke_token(token.token_id)
            while reader.frame() is not None:
                pass
    assert time.monotonic() - began < PATIENCE / 4


def test_token_that_expires_cuts_the_stream() -> None:
    """By the store's clock, not by this machine's."""
    clock = FakeClock(NOON)
    with serving(clock) as server, Listener(server, server.token("agent")) as listener:
        clock.advance(DEFAULT_LIFE[Role.AGENT].total_seconds())
        assert listener.rest()[1] == Ending.REVOKED


def test_other_streams_outlive_a_revoked_token(server: ThrowawayServer) -> None:
    """Only its own are cut."""
    minter = server.store.person("minter", assurance=Assurance.TERMINAL)
    token, secret = minter.create_token("observer", name="eve")
    other = server.token("observer")
    with Listener(server, other) as stays, Listener(server, secret) as goes:
        minter.revoke_token(token.token_id)
        assert goes.rest()[1] == Ending.REVOKED
        post_many(server.agent(), 1)
        assert stays.until("topic.posted")


def test_server_that_stops_says_so_and_its_successor_goes_on_from_the_last_number(
    server: ThrowawayServer,
) -> None:
    """An upgrade: the socket is closed with 1012, the stream ends; what happened meanwhile is told afterwards."""
    token = server.token("observer")
    writer = server.store.agent()
    with Listener(server, token, after=0) as listener, Reader.on(server, token, after=0) as reader:
        post_many(writer, 3)
        heard = listener.until("topic.posted")
        began = time.monotonic()
        server.stop()
        took = time.monotonic() - began
        more, code = listener.rest()
        heard += more
        streamed = 0
        while reader.hear() is not None:
            streamed += 1
    assert (code, Ending.RESTARTING.value) == (1012, 1012)
    assert took < 5.0
    post_many(writer, 3)  # while nobody serves
    server.start()
    last = heard[-1].sequence
    with Listener(server, token, after=last) as again:
        heard += again.take(writer.log()[-1].sequence - last)
        post_many(writer, 1)
        heard += again.take(1)
    assert [event.sequence for event in heard] == list(range(1, writer.log()[-1].sequence + 1))
    assert 0 < streamed <= len(heard)


def test_project_that_nobody_follows_any_more_costs_nothing(server: ThrowawayServer) -> None:
    """The last who leaves ends the thread that listened for all."""
    token = server.token("observer")
    with Listener(server, token), Listener(server, token):
        wait_for(lambda: followers(server) == 2)
        news = site_of(server)._news["test"][0]
    wait_for(lambda: followers(server) == 0)
    wait_for(lambda: not news._thread.is_alive())
    assert site_of(server)._news == {}


def test_slow_socket_is_told_why_once_it_listens_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Driven by hand: it takes two events and then none; what it is sent next is the code to come again with."""
    monkeypatch.setattr(telling, "SLOW_SECONDS", 0.2)

    async def drive(door: EmbeddedDoor, secret: str) -> list[Message]:
        app = Starlette(routes=event_routes(Site(door)))
        sent: list[Message] = []
        incoming: asyncio.Queue[Message] = asyncio.Queue()
        incoming.put_nowait({"type": "websocket.connect"})

        async def send(message: Message) -> None:
            events_taken = [each for each in sent if each["type"] == "websocket.send"]
            if message["type"] == "websocket.send" and len(events_taken) == 2:
                await asyncio.Event().wait()  # its buffers are full
            sent.append(message)

        scope: dict[str, Any] = {
            "type": "websocket",
            "path": "/projects/test/events",
            "query_string": b"after=0",
            "headers": [(b"authorization", f"Bearer {secret}".encode())],
            "subprotocols": [],
        }
        async with asyncio.timeout(PATIENCE):
            await app(scope, incoming.get, send)
        return sent

    with throwaway() as store:
        _, secret = store.person(assurance=Assurance.TERMINAL).create_token("observer", name="eve")
        post_many(store.agent(), 5)
        sent = asyncio.run(drive(EmbeddedDoor(store.hub()), secret))
    assert [message["type"] for message in sent] == [
        "websocket.accept",
        *2 * ["websocket.send"],
        "websocket.close",
    ]
    assert (sent[-1]["code"], "last number" in sent[-1]["reason"]) == (4408, True)


def test_listener_far_behind_keeps_nobody_waiting() -> None:
    """It takes all at once and never lets go; whoever else has a turn on the loop gets it before it has everything."""
    many = 3 * telling.PAGE

    async def drive(door: EmbeddedDoor) -> int:
        site, heard, is_done = Site(door), list[Told](), asyncio.Event()

        async def say(told: Told) -> None:
            heard.append(told)
            if len(heard) == many:
                is_done.set()

        async def another() -> int:
            return len(heard)

        news = News(door, "test", asyncio.get_running_loop())
        behind = asyncio.create_task(telling.tell(news, 0, say, site))
        seen = await asyncio.create_task(another())
        async with asyncio.timeout(PATIENCE):
            await is_done.wait()
        site.close()
        news.close()
        assert await behind is Ending.RESTARTING
        return seen

    with throwaway() as store:
        post_many(store.agent(), many)
        seen = asyncio.run(drive(EmbeddedDoor(store.hub())))
    assert seen <= telling.PAGE


def test_slow_listener_that_never_comes_back_is_cut_off(
    server: ThrowawayServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing of it is left: neither its connection nor what was kept for it."""
    monkeypatch.setattr(telling, "SLOW_SECONDS", 0.2)
    monkeypatch.setattr(served_socket, "LINGER_SECONDS", 0.2)
    agent, token = server.agent(), server.token("observer")
    with Listener(server, token, is_lazy=True):
        post_many(agent, MANY, size=LARGE)
        assert server._server is not None
        connections = server._server.server_state.connections
        wait_for(lambda: not [each for each in connections if isinstance(each, served_socket.ServedSocket)])
    assert followers(server) == 0


def test_refused_handshake_is_not_written_to_the_log(
    server: ThrowawayServer, caplog: pytest.LogCaptureFixture
) -> None:
    """Strangers could fill it."""
    assert refusal(server, {})[0] == 401
    server.stop()
    assert caplog.text == ""
