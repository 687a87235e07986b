"""Whoever hangs up is not waited for."""

import socket

from assent.testing import throwaway
from assent.testing.server import ThrowawayServer
from tests.cli.shell import wait_for
from tests.patience import PATIENCE

__all__: list[str] = []


def test_long_poll_whose_client_is_gone_ends_with_it() -> None:
    """A thousand clients that die and come back would otherwise be kept twice."""
    with throwaway() as store, ThrowawayServer(store) as server:
        ask = store.agent().open("Which?").ask
        secret = server.token("agent")
        head = (
            f"GET /projects/{store.project}/asks/{ask.ask_id}/answer?wait=60 HTTP/1.1\r\n"
            f"Host: 127.0.0.1:{server.port}\r\nAuthorization: Bearer {secret}\r\n\r\n"
        )
        with socket.create_connection(("127.0.0.1", server.port), PATIENCE) as client:
            client.sendall(head.encode())
            wait_for(lambda: server.waiting == 1)
        wait_for(lambda: server.waiting == 0)
        assert store.person().show(ask.ask_id).is_open
