"""How often a stranger may try, and how long one may say nothing: nobody is locked out by it (S28)."""

import asyncio
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import pytest
import uvicorn
from starlette.types import Receive, Scope, Send

from assent.surfaces.http.bucket import Bucket, peer_of
from assent.surfaces.http.connection import make_connection_class
from assent.surfaces.http.serve import open_socket
from assent.testing import throwaway
from assent.testing.server import ThrowawayServer
from tests.patience import PATIENCE
from tests.surfaces.http.hostile import ROUTES, Reply, hosts, speak, write_head

__all__: list[str] = []

TRIES = 5
SILENT = 100


class Clock:
    """A clock that stands until it is moved."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


# The bucket


def test_bucket_runs_out_and_fills_again() -> None:
    """So many at once, then as many as it fills with time, and never more than it holds."""
    clock = Clock()
    bucket = Bucket(3, 0.5, clock=clock)
    assert [bucket.take("a") for _ in range(5)] == [0.0, 0.0, 0.0, 2.0, 2.0]
    clock.seconds += 2.0
    assert [bucket.take("a"), bucket.take("a")] == [0.0, 2.0]
    clock.seconds += 1_000.0
    assert [bucket.take("a") for _ in range(4)] == [0.0, 0.0, 0.0, 2.0]


def test_bucket_of_one_address_is_not_anothers() -> None:
    """Who guesses spends their own tries."""
    bucket = Bucket(1, 0.001)
    assert [bucket.take("a"), bucket.take("b")] == [0.0, 0.0]
    assert bucket.take("a") > 0


def test_bucket_takes_a_fixed_amount_of_memory() -> None:
    """However many addresses come, and the one that was not heard of for the longest time goes first."""
    bucket = Bucket(1, 0.001, most=10)
    for number in range(1_000):
        bucket.take(str(number))
        bucket.take("a")
    assert len(bucket) == 10
    assert bucket.take("a") > 0
    assert bucket.take("0") == 0.0


@pytest.mark.parametrize(
    ("address", "peer"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2::1", "2001:db8:1:2::"),
        ("2001:db8:1:2:ffff::9", "2001:db8:1:2::"),
        ("::1", "::"),
        ("somewhere", "somewhere"),
        ("", ""),
    ],
)
def test_one_sender_is_one_network(address: str, peer: str) -> None:
    """Whoever has a network of 2^64 addresses has as many tries as others."""
    assert peer_of(address) == peer


# Tries over the wire


@pytest.fixture(scope="module", name="strict")
def _strict() -> Iterator[ThrowawayServer]:
    """Give a server whose tries have run out."""
    with throwaway() as store, ThrowawayServer(store, bucket=Bucket(TRIES, 1e-6)) as server:
        seen = [ask(server, f"assent_{number:064x}").status for number in range(TRIES + 1)]
        assert seen == [401] * TRIES + [429]
        yield server


def ask(server: ThrowawayServer, secret: str | None, path: str = "/asks") -> Reply:
    """Look at something with this secret."""
    headers = {"Authorization": f"Bearer {secret}" if secret is not None else None}
    return speak(server.port, write_head("GET", path, hosts(server.port)[0], headers))


@pytest.mark.parametrize("secret", [None, "", "garbage", "assent_" + 64 * "0"])
def test_guess_too_many_is_told_to_wait(strict: ThrowawayServer, secret: str | None) -> None:
    """With a time after which there is a try again, and the shape that all errors have."""
    reply = ask(strict, secret)
    assert (reply.status, reply.code) == (429, "too_many")
    assert int(reply.head["retry-after"]) >= 1


def test_socket_too_many_is_told_to_wait(strict: ThrowawayServer) -> None:
    """Sockets are counted as requests are, and refused before they open."""
    route = next(route for route in ROUTES if route.name == "socket")
    path = route.path.format(project="test")
    text = write_head(route.method, path, hosts(strict.port)[0], route.headers)
    assert speak(strict.port, text).status == 429


def test_good_token_is_not_locked_out_by_bad_ones(strict: ThrowawayServer) -> None:
    """From the same address; and whoever needs no token is let in, too."""
    assert ask(strict, strict.token("human")).status == 200
    for path in ("/", "/sign-in", "/healthz", "/openapi.json", "/page/style.css"):
        assert ask(strict, None, path).status == 200
    answered = strict.person().answer(strict.agent().open("Which?", ["A", "B"]).ask_id, "A")
    assert answered.state == "answered"


# Silence


@contextmanager
def a_line(**limits: float) -> Iterator[int]:
    """Give the port of a small server whose connections have these limits."""

    async def app(_: Scope, __: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
        await send({"type": "http.response.body", "body": b"ok"})

    listening = open_socket("127.0.0.1", 0)
    config = uvicorn.Config(app, log_level="error", lifespan="off", http=make_connection_class(**limits))
    server = uvicorn.Server(config)
    thread = threading.Thread(target=lambda: asyncio.run(server.serve([listening])), daemon=True)
    thread.start()
    try:
        yield listening.getsockname()[1]
    finally:
        server.should_exit = True
        thread.join(PATIENCE)
        assert not thread.is_alive()


def connect(port: int) -> socket.socket:
    """Return a connection on which nothing is said."""
    return socket.create_connection(("127.0.0.1", port), PATIENCE)


def is_closed(line: socket.socket) -> bool:
    """Wait for the other side to hang up, and say that it did."""
    try:
        return line.recv(1) == b""
    except ConnectionResetError:
        return True


def test_connection_that_says_nothing_is_closed() -> None:
    """Nothing at all, a head that does not end, and one that comes byte by byte."""
    with a_line(head_seconds=0.3) as port, connect(port) as mute, connect(port) as slow:
        slow.sendall(b"GET / HTTP/1.1\r\nX: ")
        assert is_closed(mute)
        assert is_closed(slow)


def test_connection_that_is_kept_has_no_longer_to_say_what_it_wants() -> None:
    """The second head on a connection has the same time as the first."""
    with a_line(head_seconds=0.3) as port, connect(port) as line:
        line.sendall(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        came = b""
        while not came.endswith(b"ok"):
            came += line.recv(1_000)
        line.sendall(b"GET / HTTP/1.1\r\nX: ")
        assert is_closed(line)


def test_oldest_silence_makes_room() -> None:
    """Who comes with a request gets in, and of those who say nothing the first goes first."""
    with a_line(most_silent=3, head_seconds=10 * PATIENCE) as port, ExitStack() as stack:
        lines = [stack.enter_context(connect(port)) for _ in range(3)]
        for _ in range(4):
            assert speak(port, b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").status == 200
        assert is_closed(lines[0])


def test_silent_sockets_do_not_keep_anybody_out() -> None:
    """A hundred who say nothing, or half of something; a person answers all the same."""
    with throwaway() as store, ThrowawayServer(store) as server, ExitStack() as stack:
        for number in range(SILENT):
            line = stack.enter_context(connect(server.port))
            line.sendall(b"POST / HTTP/1.1\r\nX-Slow: " if number % 2 else b"")
        handle = server.agent().open("Which?", ["A", "B"])
        began = time.monotonic()
        assert server.person().answer(handle.ask_id, "A").state == "answered"
        assert time.monotonic() - began < 5.0
