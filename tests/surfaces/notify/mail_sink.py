"""A small mail server on this machine: it takes mail, with TLS and a password where a test wants them, and keeps it."""

from __future__ import annotations

import socket
import socketserver
import ssl
import threading
from base64 import b64decode
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email import message_from_bytes, policy
from email.message import EmailMessage

from tests.patience import PATIENCE
from tests.surfaces.notify.sink import CERTIFICATE, KEY

__all__ = ["Letterbox", "Mail", "mail_sink"]


@dataclass
class Mail:
    """One mail that arrived."""

    sender: str
    to: list[str]
    message: EmailMessage
    user: str
    """Who has logged in, with which password."""
    is_hidden: bool
    """It came over TLS."""


@dataclass
class Letterbox:
    """What a mail server took, and how it behaves."""

    port: int = 0
    mails: list[Mail] = field(default_factory=list)
    greeting: str = "220 here I am"
    recipient: str = "250 ok"
    """What is said to each recipient."""
    farewell: str = "221 bye"
    has_tls: bool = False
    """It offers STARTTLS."""
    drips: bool = False
    """Its greeting never ends."""
    is_over: threading.Event = field(default_factory=threading.Event)

    @property
    def place(self) -> str:
        """Its host and port; TLS is good for this name."""
        return f"localhost:{self.port}"


def _context() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATE, KEY)
    return context


class _Talk:
    """One connection."""

    def __init__(self, line: socket.socket, box: Letterbox, *, is_hidden: bool) -> None:
        self._line, self._box, self._is_hidden = line, box, is_hidden
        self._file = line.makefile("rb")
        self._user, self._sender = "", ""
        self._to: list[str] = []

    def run(self) -> None:
        try:
            self._talk()
        finally:
            self._file.close()
            self._line.close()

    def _talk(self) -> None:
        while self._box.drips and not self._box.is_over.wait(0.02):
            self._line.sendall(b"2")
        self._say(self._box.greeting)
        while (line := self._file.readline()) and self._hear(line.decode().rstrip("\r\n")):
            pass

    def _say(self, *lines: str) -> None:
        self._line.sendall("".join(f"{line}\r\n" for line in lines).encode())

    def _hear(self, line: str) -> bool:
        verb, _, rest = line.partition(" ")
        match verb.upper():
            case "EHLO":
                tls = ["250-STARTTLS"] if self._box.has_tls and not self._is_hidden else []
                self._say("250-localhost", *tls, "250-AUTH PLAIN", "250 8BITMIME")
            case "STARTTLS":
                self._say("220 go on")
                self._file.close()
                self._line = _context().wrap_socket(self._line, server_side=True)
                self._file, self._is_hidden = self._line.makefile("rb"), True
            case "AUTH":
                self._user = b64decode(rest.removeprefix("PLAIN ")).decode().replace("\0", " ").strip()
                self._say("235 welcome" if self._user == "ana se:cret" else "535 no")
            case "MAIL":
                self._sender = rest
                self._say("250 ok")
            case "RCPT":
                self._to.append(rest)
                self._say(self._box.recipient)
            case "DATA":
                self._say("354 go on")
                self._take()
                self._say("250 taken")
            case "QUIT":
                self._say(self._box.farewell)
                return False
            case _:
                self._say("250 ok")
        return True

    def _take(self) -> None:
        lines = []
        while (line := self._file.readline()) not in (b".\r\n", b""):
            lines.append(line.removeprefix(b"."))
        message = message_from_bytes(b"".join(lines), policy=policy.default)
        assert isinstance(message, EmailMessage)
        self._box.mails.append(Mail(self._sender, self._to, message, self._user, self._is_hidden))


@contextmanager
def mail_sink(*, is_tls: bool = False) -> Iterator[Letterbox]:
    """Give a mail server on a free port; `is_tls` from the start."""
    box = Letterbox()

    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            line = _context().wrap_socket(self.request, server_side=True) if is_tls else self.request
            _Talk(line, box, is_hidden=is_tls).run()

    class Server(socketserver.ThreadingTCPServer):
        daemon_threads = True
        allow_reuse_address = True

        def handle_error(self, *_: object) -> None:
            """Say nothing: whoever hangs up is no fault here."""

    with Server(("127.0.0.1", 0), Handler) as server:
        box.port = server.server_address[1]
        thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        try:
            yield box
        finally:
            box.is_over.set()
            server.shutdown()
            thread.join(PATIENCE)
