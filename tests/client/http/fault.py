"""A line on loopback that loses replies: the server has done what it was told, and nobody hears of it."""

import re
import socket
import threading
from contextlib import suppress
from types import TracebackType
from typing import Self

from assent.client.verbs import VERBS
from tests.patience import PATIENCE

__all__ = ["LossyLine", "verb_of"]

_REQUEST = re.compile(rb"(POST|PUT|PATCH|DELETE) (\S+) HTTP/1\.1\r\n").match
_PART = re.compile(r"\{\w+(:path)?\}")


def verb_of(method: str, path: str) -> str:
    """Return the name of the verb that changes something by this request."""
    found = [
        name
        for name, verb in VERBS.items()
        if verb.method == method
        and re.fullmatch(_PART.sub(lambda part: ".+" if part[1] else "[^/]+", verb.path), path)
    ]
    assert found, (method, path)
    return min(found, key=lambda name: len(_PART.findall(VERBS[name].path)) - len(VERBS[name].path))


class LossyLine:
    """Passes everything on, both ways, except the first reply to each request that changes something."""

    def __init__(self, port: int) -> None:
        self._target = port
        self._listening = socket.create_server(("127.0.0.1", 0))
        self._names = self.url.partition("//")[2].encode(), f"127.0.0.1:{port}".encode()
        self._lost: dict[bytes, str] = {}
        self._open: list[socket.socket] = []
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._accept, daemon=True, name="lossy-line")
        self._thread.start()

    @property
    def url(self) -> str:
        """Where to come in."""
        return f"http://127.0.0.1:{self._listening.getsockname()[1]}"

    @property
    def lost(self) -> list[str]:
        """The verbs whose replies were lost, in their order."""
        with self._lock:
            return list(self._lost.values())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._listening.shutdown(socket.SHUT_RDWR)  # a close alone would not wake who waits in `accept`
        self._listening.close()
        self._thread.join(PATIENCE)
        for connection in self._open:
            _end(connection)

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                near, _ = self._listening.accept()
                far = socket.create_connection(("127.0.0.1", self._target), 5)
                far.settimeout(None)
                for connection in (near, far):
                    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                self._open += [near, far]
                _Pair(self, near, far)

    def _is_lost(self, request: bytes) -> bool:
        """Say whether the reply to this request is to be lost: that of the first time it is sent."""
        found = _REQUEST(request)
        if found is None:
            return False
        head = request.partition(b"\r\n\r\n")[0]  # it has the key in it, or in its path
        with self._lock:
            if head in self._lost:
                return False
            self._lost[head] = verb_of(found[1].decode(), found[2].decode().partition("?")[0])
            return True


class _Pair:
    """One connection from a client, and the one to the server that belongs to it."""

    def __init__(self, line: LossyLine, near: socket.socket, far: socket.socket) -> None:
        self._line, self._near, self._far = line, near, far
        self._is_losing = False
        for pump in (self._forth, self._back):
            threading.Thread(target=pump, daemon=True).start()

    def _forth(self) -> None:
        with suppress(OSError):
            while part := self._near.recv(1 << 16):
                self._is_losing = self._line._is_lost(part) or self._is_losing
                # The server looks whether it is the one that is meant.
                self._far.sendall(part.replace(*self._line._names, 1))
        _end(self._far)

    def _back(self) -> None:
        with suppress(OSError):
            while part := self._far.recv(1 << 16):
                if self._is_losing:
                    break
                self._near.sendall(part)
        _end(self._near)
        _end(self._far)


def _end(connection: socket.socket) -> None:
    with suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)
    with suppress(OSError):
        connection.close()
