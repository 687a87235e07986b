"""Small servers on this machine that take what is sent to them, keep it, and answer as a test wants."""

from __future__ import annotations

import json
import ssl
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from tests.patience import PATIENCE

__all__ = ["CERTIFICATE", "KEY", "Answer", "Sent", "Sink", "sink"]

_TLS = Path(__file__).parents[2] / "cli" / "tls"
CERTIFICATE, KEY = _TLS / "cert.pem", _TLS / "key.pem"
"""Of localhost, signed by itself: good for whoever is told to believe it (SSL_CERT_FILE)."""


@dataclass
class Sent:
    """One request that arrived."""

    path: str
    headers: dict[str, str]
    """By their names in small letters."""
    body: bytes

    @property
    def json(self) -> Any:
        """Its body, read."""
        return json.loads(self.body)


@dataclass
class Answer:
    """What is said to a request."""

    status: int = 200
    body: bytes = b"ok"
    headers: Mapping[str, str] = field(default_factory=dict)
    drips: bool = False
    """Its body comes byte by byte, and never ends."""


class Sink:
    """An HTTP server that keeps what it is sent."""

    def __init__(self, host: str, *, is_tls: bool) -> None:
        self.sent: list[Sent] = []
        self.answers: list[Answer] = []
        """For the next requests; then all is well."""
        self.decide: Callable[[Sent], Answer] | None = None
        """Says what is answered where no answer was laid out."""
        self.is_over = threading.Event()
        sink = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("content-length", 0)))
                headers = {name.lower(): value for name, value in self.headers.items()}
                self._answer(sink.take(Sent(self.path, headers, body)))

            def do_GET(self) -> None:
                self.do_POST()

            def _answer(self, answer: Answer) -> None:
                self.close_connection = True
                self.send_response(answer.status)
                for name, value in answer.headers.items():
                    self.send_header(name, value)
                length = 1_000_000 if answer.drips else len(answer.body)
                self.send_header("content-length", str(length))
                self.end_headers()
                self.wfile.write(answer.body)
                while answer.drips and not sink.is_over.wait(0.02):
                    self.wfile.write(b".")

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        self._server = ThreadingHTTPServer((host, 0), Handler)
        self._server.handle_error = lambda *_: None  # type: ignore[method-assign]  # whoever hangs up is no fault here
        if is_tls:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(CERTIFICATE, KEY)
            self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        self.host, self.port = host, int(self._server.server_address[1])
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()

    @property
    def place(self) -> str:
        """Its host and port."""
        return f"{self.host}:{self.port}"

    def take(self, sent: Sent) -> Answer:
        """Keep what was sent; return what is answered."""
        self.sent.append(sent)
        if self.answers:
            return self.answers.pop(0)
        return self.decide(sent) if self.decide else Answer()

    def close(self) -> None:
        """End it."""
        self.is_over.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(PATIENCE)


@contextmanager
def sink(host: str = "127.0.0.1", *, is_tls: bool = False) -> Iterator[Sink]:
    """Give a server on a free port."""
    made = Sink(host, is_tls=is_tls)
    try:
        yield made
    finally:
        made.close()
