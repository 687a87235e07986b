"""Many who come at once: a server that has not yet had time to look at what they want does not take them for silent."""

import socket
import threading
from contextlib import ExitStack

from assent.surfaces.http.connection import MAX_SILENT
from assent.testing import throwaway
from assent.testing.server import ThrowawayServer
from tests.patience import PATIENCE

__all__: list[str] = []


def test_burst_of_requests_that_waited_for_the_server_is_answered_in_full() -> None:
    """After a restart all agents come at the same moment, and each has said what it wants when it is let in."""
    release = threading.Event()
    with throwaway() as store, ThrowawayServer(store) as server, ExitStack() as stack:
        assert server._loop is not None
        server._loop.call_soon_threadsafe(release.wait, PATIENCE)
        stack.callback(release.set)
        sockets = []
        request = f"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n\r\n".encode()
        for _ in range(MAX_SILENT + 200):
            each = stack.enter_context(socket.create_connection(("127.0.0.1", server.port), PATIENCE))
            each.sendall(request)
            sockets.append(each)
        release.set()
        statuses = {_status(each) for each in sockets}
    assert statuses == {b"200"}


def _status(each: socket.socket) -> bytes:
    try:
        return each.recv(1 << 16)[9:12]
    except ConnectionError:
        return b"reset"
