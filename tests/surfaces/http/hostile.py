"""What a page elsewhere, or a client that lies, may send: names and origins that are not the server's, on a raw socket.

Of a port p, `hosts(p)` and `origins(p)` give 25 values each. All pairs of them but the two honest ones have to be
refused, on every route, with the token of somebody who may do everything.
"""

from __future__ import annotations

import itertools
import socket
from collections.abc import Iterator, Mapping

import msgspec

from assent.client.verbs import VERBS
from assent.surfaces.http.events import EVENTS
from tests.patience import PATIENCE

__all__ = ["ROUTES", "Reply", "Route", "hosts", "is_honest", "origins", "pairs", "speak", "write_head"]

_SOCKET = {
    "Connection": "Upgrade",
    "Upgrade": "websocket",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
}


class Route(msgspec.Struct, frozen=True):
    """One place where something can be sent."""

    name: str
    method: str
    path: str = ""
    """Empty for a verb, whose path is made."""
    headers: dict[str, str] = {}


ROUTES: list[Route] = [
    *(Route(name, verb.method) for name, verb in VERBS.items()),
    Route("events", "GET", EVENTS.path),
    Route("socket", "GET", EVENTS.path, _SOCKET),
    *(
        Route(f"GET {path}", "GET", path)
        for path in ("/", "/sign-in", "/healthz", "/metrics", "/openapi.json", "/nowhere")
    ),
    Route("sign in", "POST", "/sign-in"),
    Route("sign out", "POST", "/sign-out"),
    Route("preflight", "OPTIONS", "/asks"),
]


def hosts(port: int) -> list[str | None]:
    """Return what may stand in `Host`; the first is honest, None is none at all."""
    return [
        f"127.0.0.1:{port}",
        None,
        "",
        "127.0.0.1",
        "localhost",
        "127.0.0.1:1",
        f"127.0.0.1.:{port}",
        f"localhost.:{port}",
        f"LOCALHOST:{port}",
        f"127.0.0.1.evil.example:{port}",
        f"localhost.evil.example:{port}",
        f"evil.example:{port}",
        "evil.example",
        f"rebound.127.0.0.1.example:{port}",
        f"evil@127.0.0.1:{port}",
        f"127.0.0.1:{port}@evil.example",
        f"2130706433:{port}",
        f"0177.0.0.1:{port}",
        f"0x7f.0.0.1:{port}",
        f"127.1:{port}",
        f"[::ffff:127.0.0.1]:{port}",
        f"0.0.0.0:{port}",
        f"127.0.0.2:{port}",
        f"127.0.0.1:0{port}",
        f"127.0.0.1:{port}, evil.example",
    ]


def origins(port: int) -> list[str | None]:
    """Return what may stand in `Origin`; the first two are honest."""
    return [
        None,
        f"http://127.0.0.1:{port}",
        "null",
        "",
        "*",
        "http://127.0.0.1",
        "http://localhost",
        f"https://127.0.0.1:{port}",
        "http://127.0.0.1:1",
        f"http://127.0.0.1.:{port}",
        f"http://localhost.:{port}",
        f"HTTP://LOCALHOST:{port}",
        f"http://127.0.0.1:{port}/",
        f"http://127.0.0.1:{port}.evil.example",
        f"http://127.0.0.1.evil.example:{port}",
        f"http://localhost.evil.example:{port}",
        f"http://evil.example:{port}",
        "https://evil.example",
        f"http://evil@127.0.0.1:{port}",
        f"http://2130706433:{port}",
        f"http://0177.0.0.1:{port}",
        f"http://[::ffff:127.0.0.1]:{port}",
        f"http://0.0.0.0:{port}",
        "file://",
        f"http://127.0.0.1:{port} http://evil.example",
    ]


def is_honest(host: str | None, origin: str | None, port: int) -> bool:
    """Say whether a pair is one that the server has to let in."""
    return host == hosts(port)[0] and origin in origins(port)[:2]


def pairs(port: int, share: int, of: int, shift: int = 0) -> Iterator[tuple[str | None, str | None]]:
    """Give the pairs that are to be refused: one of so many shares, another one for each shift."""
    every = itertools.product(hosts(port), origins(port))
    for number, pair in enumerate(every):
        if (number + shift) % of == share and not is_honest(*pair, port):
            yield pair


class Reply(msgspec.Struct, frozen=True):
    """What came back."""

    text: bytes

    @property
    def status(self) -> int:
        """Its status; 0 where nothing came."""
        return int(self.text.split(b" ", 2)[1]) if self.text else 0

    @property
    def head(self) -> dict[str, str]:
        """Its headers."""
        lines = self.text.partition(b"\r\n\r\n")[0].decode("latin-1").split("\r\n")[1:]
        return {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}

    @property
    def body(self) -> bytes:
        """All that follows."""
        return self.text.partition(b"\r\n\r\n")[2]

    @property
    def code(self) -> str:
        """The code of the error in it; empty where there is none of our shape."""
        try:
            return str(msgspec.json.decode(self.body)["error"]["code"])
        except (msgspec.DecodeError, KeyError, TypeError):
            return ""


def write_head(
    method: str, target: str, host: str | None, headers: Mapping[str, str | None], more: str = ""
) -> bytes:
    """Return what comes before a body, as it goes over the wire; what is None is left out."""
    lines = [f"{method} {target} HTTP/1.1"]
    lines += [f"{name}: {value}" for name, value in {"Host": host, **headers}.items() if value is not None]
    return ("\r\n".join(lines) + "\r\n" + more + "\r\n").encode("latin-1")


def speak(port: int, text: bytes) -> Reply:
    """Send some bytes on a connection of their own, which stays open as if more was to come; return the reply."""
    with socket.create_connection(("127.0.0.1", port), PATIENCE) as line:
        line.sendall(text)
        came = b""
        while not _is_complete(came):
            try:
                part = line.recv(65_536)
            except ConnectionResetError:  # it did not want to hear the rest
                break
            if not part:
                break
            came += part
        return Reply(came)


def _is_complete(came: bytes) -> bool:
    _, gap, body = came.partition(b"\r\n\r\n")
    if not gap:
        return False
    reply = Reply(came)
    if reply.status == 101 or "text/event-stream" in reply.head.get("content-type", ""):  # it was let in
        return True
    return len(body) >= int(reply.head.get("content-length", 1 << 30))
