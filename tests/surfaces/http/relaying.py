"""A man in the middle, who passes everything on and keeps it."""

from __future__ import annotations

import re
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from tests.patience import PATIENCE

__all__ = ["relayed"]


@contextmanager
def relayed(target: int, port: int = 0) -> Iterator[tuple[int, list[bytes]]]:
    """Stand before the server on a port of loopback, under whose name all is passed on; give the port, and what was heard."""
    heard: list[bytes] = []
    listening = socket.create_server(("127.0.0.1", port))
    own: int = listening.getsockname()[1]

    def pass_on(line: socket.socket) -> None:
        with line, socket.create_connection(("127.0.0.1", target), PATIENCE) as onward:
            asked = _read(line)
            if not asked:
                return
            heard.append(asked)
            told = asked.replace(f"127.0.0.1:{own}".encode(), f"127.0.0.1:{target}".encode(), 1)  # the Host
            onward.sendall(told.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n", 1))
            while part := onward.recv(1 << 16):
                line.sendall(part)

    def serve() -> None:
        while True:
            try:
                line, _ = listening.accept()
            except OSError:
                return
            line.settimeout(PATIENCE)
            threading.Thread(target=pass_on, args=[line], daemon=True).start()

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield own, heard
    finally:
        listening.shutdown(socket.SHUT_RDWR)
        listening.close()
        thread.join(PATIENCE)


def _read(line: socket.socket) -> bytes:
    """Return a whole request; nothing where nobody says anything."""
    text = b""
    while part := line.recv(1 << 16):
        text += part
        head, found, body = text.partition(b"\r\n\r\n")
        length = re.search(rb"content-length: (\d+)", head.lower())
        if found and len(body) >= (int(length[1]) if length else 0):
            break
    return text
