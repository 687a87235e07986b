"""A WebSocket, as uvicorn has it, that can be closed also while the other side takes nothing.

Rule 1: why it is closed goes out behind what was not taken yet, and does not wait for it: whoever listens again is told.
Rule 2: whoever does not listen again is cut off after LINGER_SECONDS; what was kept for it is let go of.
Rule 3: a handshake that was refused is no failure, and not written to the log: strangers could fill it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

if TYPE_CHECKING:
    from uvicorn._types import ASGISendEvent

__all__ = ["LINGER_SECONDS", "ServedSocket"]

LINGER_SECONDS = 10.0
"""So long a socket that was closed waits for a client that takes nothing."""


class ServedSocket(WebSocketsSansIOProtocol):
    """One socket."""

    async def send(self, message: ASGISendEvent) -> None:
        """Send what the application says."""
        is_close = message["type"] == "websocket.close"
        if is_close:
            self.writable.set()
            self.loop.call_later(LINGER_SECONDS, self.transport.abort)
        await super().send(message)
        if self.close_sent and not is_close:
            self.handshake_complete = True  # by a refusal, which uvicorn does not count as an end of it
