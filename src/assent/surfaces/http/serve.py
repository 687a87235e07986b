"""A server that listens, and stops without leaving anybody hanging: uvicorn, with some things done before its own."""

from __future__ import annotations

import asyncio
import logging
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import uvicorn

from assent.surfaces.http.connection import make_connection_class
from assent.surfaces.http.guard import MAX_HEAD_BYTES
from assent.surfaces.http.pulse import Pulse
from assent.surfaces.http.served_socket import ServedSocket
from assent.surfaces.http.site import Site

__all__ = ["CLOSING_SECONDS", "AssentServer", "make_server", "open_socket"]

CLOSING_SECONDS = 10
"""So long at most the server waits for requests that are under way when it is told to stop."""
_LATE_SECONDS = 0.1


class AssentServer(uvicorn.Server):
    """Uvicorn, which lets go of whoever waits before it waits for them."""

    def __init__(
        self, config: uvicorn.Config, site: Site, pulse: Pulse, on_ready: Callable[[], None]
    ) -> None:
        super().__init__(config)
        self._site, self._pulse, self._on_ready = site, pulse, on_ready
        self._beating: asyncio.Task[None] | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to listen, and say so."""
        self._beating = asyncio.create_task(self._pulse.beat())
        await super().startup(sockets)
        self._site.door.keep_time()
        if self.started:
            self._on_ready()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Stop on the first signal, and be ended by the second one: the store does not mind.

        Uvicorn's own raises the signal once more at the end, so that a server which stopped well would look killed.
        """
        if threading.current_thread() is not threading.main_thread():
            yield  # only a main thread hears signals
            return
        before = {number: signal.signal(number, self.handle_exit) for number in _signals()}
        try:
            yield
        finally:
            for number, found in before.items():
                signal.signal(number, found)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Stop; whoever says it again does not want to wait."""
        for number in _signals():
            signal.signal(number, signal.SIG_DFL)
        super().handle_exit(sig, frame)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop: long polls are answered with what is known, streams are closed, commands under way are finished."""
        self._site.close()
        met = list(self.server_state.connections)
        late = asyncio.create_task(self._let_go_of_late_ones(met))
        try:
            await super().shutdown(sockets)
        finally:
            late.cancel()
            if self._beating is not None:
                self._beating.cancel()
            # Whoever did not let go in time is cut off, and comes again: a line that nobody reads looks like patience.
            for connection in list(self.server_state.connections):
                connection.transport.abort()

    async def _let_go_of_late_ones(self, met: list[Any]) -> None:
        # Taken in while the door was closing: uvicorn has told the others already, and would wait for these in vain.
        while True:
            await asyncio.sleep(_LATE_SECONDS)
            for connection in list(self.server_state.connections):
                if connection not in met:
                    met.append(connection)
                    connection.shutdown()


def _signals() -> list[signal.Signals]:
    """Return the signals that stop a server: a terminal that closes, too, unless it was started to outlive it."""
    usual = [signal.SIGINT, signal.SIGTERM]
    is_kept = signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    return usual if is_kept else [*usual, signal.SIGHUP]


def open_socket(host: str, port: int) -> socket.socket:
    """Return a socket that listens there; port 0 is any free one.

    Raises:
        OSError: somebody else listens there, or there is no such place.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # With its protocol named: asyncio sends small replies at once only on a socket that says it is TCP.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        listening.listen(2_048)
    except BaseException:
        listening.close()
        raise
    return listening


def make_server(
    app: Any, site: Site, *, tls: tuple[str, str] | None = None, on_ready: Callable[[], None] = lambda: None
) -> AssentServer:
    """Return a server of this application."""
    # asyncio would note every write to a client that hung up: whoever has a token could fill the log.
    logging.getLogger("asyncio").setLevel(logging.ERROR)
    pulse = Pulse()
    config = uvicorn.Config(
        app,
        log_level="error",  # what strangers send is no news, and they could fill the log with it
        access_log=False,
        lifespan="off",
        server_header=False,
        date_header=False,
        proxy_headers=False,  # whoever forwards may say anything
        timeout_graceful_shutdown=CLOSING_SECONDS,
        http=make_connection_class(pulse=pulse),
        h11_max_incomplete_event_size=MAX_HEAD_BYTES,
        ws=ServedSocket,
        ws_max_size=1 << 16,
        ws_ping_interval=20.0,
        ws_ping_timeout=20.0,
        ssl_certfile=tls[0] if tls else None,
        ssl_keyfile=tls[1] if tls else None,
    )
    return AssentServer(config, site, pulse, on_ready)
