"""A door to PostgreSQL that fails on demand: between a store and its server, at an exact statement.

It reads the protocol as far as it must to know which statement is run, also where that was prepared earlier and only
its name travels. A cut is planned, happens once, and takes both sides of that connection with it.

    with FaultProxy(server.port) as proxy:
        store = PostgresStore(proxy.url(database))
        proxy.cut_after(b"COMMIT")      # the server commits, and its reply is lost
"""

from __future__ import annotations

import socket
import struct
import threading
from contextlib import suppress
from typing import Self
from urllib.parse import urlsplit

__all__ = ["FaultProxy"]

_HOST = "127.0.0.1"
_MOST = 65_536
_ENCRYPTION_REQUESTS = {80_877_103, 80_877_104}
_WAIT_SECONDS = 10.0


class _Plan:
    """Where to cut."""

    def __init__(self, needle: bytes, *, is_after: bool, strands: bool) -> None:
        self.needle = needle
        self.is_after = is_after
        self.strands = strands
        """The server is left believing that its client is still there, as after a network has gone."""


class FaultProxy:
    """Hands every byte on to a server on loopback, until it is told not to."""

    def __init__(self, target_port: int) -> None:
        self._target = target_port
        self._lock = threading.Lock()
        self._plan: _Plan | None = None
        self._lines: set[_Line] = set()
        self._stranded: list[socket.socket] = []
        self._is_open = True
        self._is_closed = False
        self._has_cut = threading.Event()
        self.opened = 0
        """How many connections came so far."""
        self._door = socket.create_server((_HOST, 0))
        self.port: int = self._door.getsockname()[1]
        self._thread = threading.Thread(target=self._welcome, daemon=True, name="fault-proxy")
        self._thread.start()

    def url(self, url: str) -> str:
        """Return the address of a database of the server, through this door."""
        parts = urlsplit(url)
        place = f"{parts.username}@{_HOST}:{self.port}" if parts.username else f"{_HOST}:{self.port}"
        return parts._replace(netloc=place).geturl()

    def cut_before(self, needle: bytes) -> None:
        """Cut the connection that next runs a statement with `needle` in it; the server never sees that statement."""
        self._arm(_Plan(needle, is_after=False, strands=False))

    def cut_after(self, needle: bytes) -> None:
        """Cut the connection that next runs such a statement once the server has done it; its reply is lost."""
        self._arm(_Plan(needle, is_after=True, strands=False))

    def strand_before(self, needle: bytes) -> None:
        """Cut it before such a statement for the client only: the server goes on waiting for the rest."""
        self._arm(_Plan(needle, is_after=False, strands=True))

    def cut_all(self) -> None:
        """Cut every connection that there is now."""
        with self._lock:
            lines = list(self._lines)
        for line in lines:
            line.cut()

    def refuse(self) -> None:
        """Let nobody in from now on; who is in stays."""
        self._is_open = False

    def accept(self) -> None:
        """Let everybody in again."""
        self._is_open = True

    def wait_for_cut(self, seconds: float = _WAIT_SECONDS) -> bool:
        """Wait until the planned cut has happened; say whether it has."""
        return self._has_cut.wait(seconds)

    def close(self) -> None:
        """Cut everything and close the door."""
        self._is_closed = True
        with suppress(OSError):
            self._door.shutdown(socket.SHUT_RDWR)
        self._door.close()
        self._thread.join(_WAIT_SECONDS)
        self.cut_all()
        for stranded in self._stranded:
            _hang_up(stranded)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _arm(self, plan: _Plan) -> None:
        with self._lock:
            self._plan = plan
            self._has_cut.clear()

    def take_plan(self, statement: bytes) -> _Plan | None:
        """Return the plan if this is its statement; a plan is carried out once."""
        with self._lock:
            plan = self._plan
            if plan is None or plan.needle not in statement:
                return None
            self._plan = None
            return plan

    def note_cut(self) -> None:
        """Note that the planned cut has happened; and from then on the door may be shut as well."""
        self._has_cut.set()

    def strand(self, server: socket.socket) -> None:
        """Keep the server's side of a line that its client has lost."""
        self._stranded.append(server)

    def forget(self, line: _Line) -> None:
        """A line has ended."""
        with self._lock:
            self._lines.discard(line)

    def _welcome(self) -> None:
        while not self._is_closed:
            try:
                client, _ = self._door.accept()
            except OSError:
                return
            self.opened += 1
            if not self._is_open:
                _hang_up(client)
                continue
            try:
                server = socket.create_connection((_HOST, self._target), timeout=_WAIT_SECONDS)
            except OSError:
                _hang_up(client)
                continue
            server.settimeout(None)
            for end in (client, server):
                end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            line = _Line(self, client, server)
            with self._lock:
                self._lines.add(line)
            line.start()


class _Line:
    """One connection: a thread for each direction, so that neither ever waits for the other."""

    def __init__(self, proxy: FaultProxy, client: socket.socket, server: socket.socket) -> None:
        self._proxy = proxy
        self._client = client
        self._server = server
        self._statements: dict[bytes, bytes] = {}
        self._has_begun = False
        self._is_swallowing = False
        self._is_stranded = False

    def start(self) -> None:
        """Hand on in both directions."""
        for way in (self._go_up, self._go_down):
            threading.Thread(target=way, daemon=True, name="fault-proxy-line").start()

    def cut(self) -> None:
        """End it on both sides."""
        _hang_up(self._client)
        if not self._is_stranded:
            _hang_up(self._server)
        self._proxy.forget(self)

    def _go_up(self) -> None:
        kept = b""
        try:
            while chunk := self._client.recv(_MOST):
                kept = self._hand_on(kept + chunk)
        except OSError:
            pass
        finally:
            self.cut()

    def _hand_on(self, heard: bytes) -> bytes:
        """Hand on the whole messages of what was heard; return the rest."""
        passed = b""
        while message := _next_message(heard, has_type=self._has_begun):
            heard = heard[len(message) :]
            plan = self._proxy.take_plan(self._statement_of(message))
            if plan is None:
                passed += message
                continue
            if plan.is_after:
                self._is_swallowing = True
                passed += message
                continue
            self._server.sendall(passed)
            if plan.strands:
                self._is_stranded = True
                self._proxy.strand(self._server)
            self._proxy.note_cut()
            raise ConnectionAbortedError
        self._server.sendall(passed)
        return heard

    def _statement_of(self, message: bytes) -> bytes:
        """Return the statement that a message has the server run; empty for the others."""
        if not self._has_begun:
            self._has_begun = struct.unpack("!I", message[4:8])[0] not in _ENCRYPTION_REQUESTS
            return b""
        kind, body = message[:1], message[5:]
        if kind == b"P":
            name, text, *_ = body.split(b"\0", 2)
            self._statements[name] = text
            return text
        if kind == b"B":
            return self._statements.get(body.split(b"\0", 2)[1], b"")
        return body if kind == b"Q" else b""

    def _go_down(self) -> None:
        swallowed = b""
        try:
            while chunk := self._server.recv(_MOST):
                if not self._is_swallowing:
                    self._client.sendall(chunk)
                    continue
                swallowed += chunk
                while message := _next_message(swallowed, has_type=True):
                    swallowed = swallowed[len(message) :]
                    if message[:1] == b"Z":  # the server has done it and waits for what is next
                        self._proxy.note_cut()
                        return
        except OSError:
            pass
        finally:
            self.cut()


def _next_message(heard: bytes, *, has_type: bool) -> bytes:
    """Return the first whole message, or nothing yet; the very first of a connection has no letter before its length."""
    start = 1 if has_type else 0
    if len(heard) < start + 4:
        return b""
    size = start + int(struct.unpack("!I", heard[start : start + 4])[0])
    return heard[:size] if len(heard) >= size else b""


def _hang_up(end: socket.socket) -> None:
    with suppress(OSError):
        end.shutdown(socket.SHUT_RDWR)
    end.close()
