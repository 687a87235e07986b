"""A connection, as uvicorn has it, that nobody can hold without saying what they want.

Rule 1: a request's head has to arrive within HEAD_SECONDS, the first one of a connection and each that follows.
Rule 2: where more than MAX_SILENT connections have said nothing, the one that did so for the longest time is closed. So
        whoever comes with a request gets in, however many others sit there in silence.
Rule 3: each request is told since when it may have been waiting, and whether its sender is still there.
Rule 4: what is no HTTP is refused in the shape that all errors have, and not written to the log: strangers could fill it.
"""

from __future__ import annotations

import asyncio
import select
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from assent.protocol.error import BadRequestError
from assent.protocol.wire_error import render_error
from assent.surfaces.http.guard import SECURITY_HEADERS, clock_header
from assent.surfaces.http.pulse import HUNG_UP, SINCE, Pulse

__all__ = ["ABORT", "HEAD_SECONDS", "LINGER_SECONDS", "MAX_SILENT", "Connection", "make_connection_class"]

HEAD_SECONDS = 10.0
MAX_SILENT = 500
LINGER_SECONDS = 60.0
"""So long a connection that is closed waits for the last of its reply to be taken."""
ABORT = "abort"
"""Under this name the application finds what ends a connection whose other side takes nothing."""
_BAD = 400
_GONE = getattr(select, "POLLRDHUP", 0) | select.POLLHUP | select.POLLERR


class Connection(H11Protocol):
    """One connection; `silent` is shared by all of a server, the oldest first."""

    silent: dict[Connection, asyncio.TimerHandle]
    head_seconds = HEAD_SECONDS
    most_silent = MAX_SILENT
    pulse = Pulse()

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for what they want."""
        super().connection_made(transport)
        self.app_state = {**self.app_state, ABORT: transport.abort, HUNG_UP: self._is_hung_up}
        self._expect()

    def data_received(self, data: bytes) -> None:
        """Take what has arrived; a request that began to arrive before is as old as its beginning."""
        if not self.conn.trailing_data[0]:
            self.app_state[SINCE] = self.pulse.waiting_since()
        super().data_received(data)

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget it."""
        self._hear()
        super().connection_lost(exc)

    def handle_events(self) -> None:
        """Take what has arrived."""
        before = self.cycle
        super().handle_events()
        if self.cycle is not before:
            self._hear()

    def handle_websocket_upgrade(self, event: h11.Request) -> None:
        """Hand the connection over to a socket."""
        self._hear()
        super().handle_websocket_upgrade(event)

    def on_response_complete(self) -> None:
        """Wait for the next request; uvicorn closes the connection where none begins."""
        if not self.transport.is_closing():
            self._expect()
        super().on_response_complete()

    def timeout_keep_alive_handler(self) -> None:
        """Close it, also where the other side takes nothing of what it was sent."""
        super().timeout_keep_alive_handler()
        self.loop.call_later(LINGER_SECONDS, self.transport.abort)

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no HTTP, unless a reply is under way: then there is nothing left to say."""
        if self.conn.our_state not in (h11.IDLE, h11.SEND_RESPONSE):
            self.transport.abort()
            return
        body = render_error(BadRequestError(msg))
        headers = [
            *SECURITY_HEADERS.items(),
            clock_header(),
            (b"content-type", b"application/json"),
            (b"content-length", b"%d" % len(body)),
            (b"connection", b"close"),
        ]
        for event in (
            h11.Response(status_code=_BAD, headers=headers, reason=b"Bad Request"),
            h11.Data(data=body),
            h11.EndOfMessage(),
        ):
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()

    def _expect(self) -> None:
        self._hear()
        self.silent[self] = self.loop.call_later(self.head_seconds, self._hang_up)
        if len(self.silent) > self.most_silent:
            next(iter(self.silent))._make_room()  # noqa: SLF001 - one of us

    def _hear(self) -> None:
        timer = self.silent.pop(self, None)
        if timer is not None:
            timer.cancel()

    def _make_room(self) -> None:
        """Hang up; not where something has arrived that nobody looked at yet: that is a busy server, and no silence."""
        if self._poll(select.POLLIN):
            self.silent[self] = self.silent.pop(self)  # to the end of the line, with its own time to be heard
        else:
            self._hang_up()

    def _is_hung_up(self) -> bool:
        """Say whether the other side is gone, also where that has arrived and nobody looked at it yet."""
        return self.transport.is_closing() or self._poll(_GONE)

    def _poll(self, wanted: int) -> bool:
        poll = select.poll()
        poll.register(self.transport.get_extra_info("socket").fileno(), wanted)
        return bool(poll.poll(0))

    def _hang_up(self) -> None:
        self._hear()
        self.transport.abort()  # nothing is under way, and whoever says nothing need not be told


def make_connection_class(**limits: Any) -> type[Connection]:
    """Return the class for the connections of one server; `limits` are of its attributes."""
    return type("ServedConnection", (Connection,), {"silent": {}, **limits})
