"""Every route and socket, asked for by pages from elsewhere and under names that are not the server's: nothing changes."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import suppress

import msgspec

from assent.protocol.principal import Role
from tests.surfaces.http.world import Trial as Fitting
from tests.surfaces.http.world import a_world
from torture.credentials import every_fitting
from torture.nest import Nest
from torture.nursery import Wire
from torture.trial import Plan, Tally, Trial, Twin, Verdict

__all__ = ["HOSTS", "ORIGINS", "TRIAL", "page", "run"]

OWN_HOST = "127.0.0.1:{port}"
HOSTS = (
    None,
    OWN_HOST,
    "",
    "evil.example",
    "evil.example:{port}",
    "127.0.0.1",
    "127.0.0.1:1",
    "127.0.0.1:{port}.evil.example",
    "127.0.0.1.evil.example:{port}",
    "evil.example:{port}@127.0.0.1:{port}",
    "ana@127.0.0.1:{port}",
    "127.0.0.1:{port}/",
    "127.0.0.1:{port}#",
    "LOCALHOST:{port}",
    "localhost.:{port}",
    "localhost",
    "127.1:{port}",
    "2130706433:{port}",
    "0x7f.1:{port}",
    "0177.0.0.1:{port}",
    "[::ffff:127.0.0.1]:{port}",
    "[::1%25lo]:{port}",
    "0.0.0.0:{port}",
    "127.0.0.2:{port}",
    "127.0.0.1:{port}, evil.example",
)
"""As they may stand in `Host`; None is no such line. The second one is the server's own."""
ORIGINS = (
    None,
    "http://127.0.0.1:{port}",
    "null",
    "",
    "http://evil.example",
    "https://evil.example",
    "http://evil.example:{port}",
    "https://127.0.0.1:{port}",
    "http://127.0.0.1",
    "http://127.0.0.1:1",
    "http://localhost",
    "http://localhost:1",
    "http://127.0.0.1:{port}.evil.example",
    "http://127.0.0.1.evil.example:{port}",
    "http://ana@127.0.0.1:{port}",
    "http://127.0.0.1:{port}/",
    "HTTP://127.0.0.1:{port}",
    "http://LOCALHOST:{port}",
    "http://localhost.:{port}",
    "http://2130706433:{port}",
    "http://[::ffff:127.0.0.1]:{port}",
    "file://",
    "chrome-extension://abcdef",
    "ws://127.0.0.1:{port}",
    "http://127.0.0.1:{port} http://evil.example",
)
"""The same for `Origin`; the first two are a program's and the server's own page's."""
_OWN_ORIGINS = ORIGINS[:2]
MOST = 60 * 25 * 25
"""More than there are routes times hosts times origins: at full count each is tried."""
_REFUSED = frozenset({400, 403, 421})


def run(plan: Plan) -> Verdict:
    """Try them in a worker, which has a server of its own."""
    tally = Tally(("let in", "other statuses", "changes"))
    with Nest(plan.twin) as nest:
        worker = nest.start("torture.hosts:page", count=plan.count(MOST), seed=plan.seed)
        while "over" not in (heard := worker.hear(120)):
            if "fault" in heard:
                tally.fault(heard["fault"], heard["detail"])
            elif "done" in heard:
                plan.progress(heard["done"])
            else:
                tally.add(heard["count"], heard["number"])
    tally.require("requests", plan.count(30_000))
    return tally.verdict()


# Worker


def page(wire: Wire, count: int, seed: int) -> None:
    """Send every request that would be done, with a good token, under every pair of names but the server's own."""
    with a_world() as world:
        fittings = list(every_fitting(world))
        tries = [
            (fitting, host, origin)
            for fitting in fittings
            for host in HOSTS
            for origin in ORIGINS
            if not (host == OWN_HOST and origin in _OWN_ORIGINS)
        ]
        chosen = Plan(seed=seed).chance().sample(tries, min(count, len(tries)))
        before = world.look()
        line = _Line(world.server.port, world.tokens[Role.HUMAN])
        for number, (fitting, host, origin) in enumerate(chosen):
            status = line.send(fitting, host, origin)
            about = f"{fitting.verb.name} Host {host!r} Origin {origin!r}: {status}"
            if status < 400:
                wire.say(fault="let in", detail=about)
            elif status not in _REFUSED:
                wire.say(fault="other statuses", detail=about)
            if (now := world.look()) != before:
                wire.say(fault="changes", detail=about)
                before = now
            if number % 5_000 == 4_999:
                wire.say(done=f"{number + 1:,} of {len(chosen):,} requests")
        wire.say(count="routes and sockets", number=len(fittings))
        wire.say(count="requests", number=len(chosen))
    wire.say(over=True)


class _Line:
    """A connection on which anything can be said; made anew where the server has closed it."""

    def __init__(self, port: int, secret: str) -> None:
        self._port, self._secret = port, secret
        self._socket: socket.socket | None = None

    def send(self, fitting: Fitting, host: str | None, origin: str | None) -> int:
        """Send a request; return the status of its reply."""
        text = b"" if fitting.body is None else msgspec.json.encode(fitting.body)
        lines = [f"{fitting.verb.method} {fitting.path} HTTP/1.1", *self._lines(fitting, host, origin)]
        if text:
            lines += ["Content-Type: application/json", f"Content-Length: {len(text)}"]
        request = "\r\n".join([*lines, "", ""]).encode() + text
        for _ in range(2):  # a kept connection may have been closed meanwhile
            with suppress(ConnectionError, EOFError):
                return self._exchange(request)
            self._close()
        raise EOFError(f"Nothing came back for {lines[0]}.")

    def _lines(self, fitting: Fitting, host: str | None, origin: str | None) -> Iterator[str]:
        for name, value in (("Host", host), ("Origin", origin)):
            if value is not None:
                yield f"{name}: {value.format(port=self._port)}"
        yield f"Authorization: Bearer {self._secret}"
        if fitting.verb.name == "follow_socket":
            yield "Connection: Upgrade\r\nUpgrade: websocket"
            yield "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="

    def _exchange(self, request: bytes) -> int:
        if self._socket is None:
            self._socket = socket.create_connection(("127.0.0.1", self._port), timeout=30)
        self._socket.sendall(request)
        told = b""
        while b"\r\n\r\n" not in told:
            told += self._receive()
        head, _, body = told.partition(b"\r\n\r\n")
        status = int(head.split()[1])
        length = head.lower().partition(b"content-length:")[2].split(b"\r\n", 1)[0]
        while length and len(body) < int(length):
            body += self._receive()
        # What has no length stays open, and a refusal may be the last word on its connection.
        if not length or b"connection: close" in head.lower():
            self._close()
        return status

    def _receive(self) -> bytes:
        assert self._socket is not None
        piece = self._socket.recv(1 << 16)
        if not piece:
            raise EOFError
        return piece

    def _close(self) -> None:
        if self._socket is not None:
            self._socket.close()
        self._socket = None


TRIAL = Trial(
    "hosts",
    "under 25 names of the host and from pages of 25 origins no route and no socket does anything",
    run,
    (
        Twin("any-host", "a request for another host is refused", "let in", 0.01),
        Twin("any-origin", "a page from elsewhere is refused", "let in", 0.01),
    ),
    share=0.005,
)
