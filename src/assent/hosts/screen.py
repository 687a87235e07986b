"""What a host's command shows while it carries: the agent's words on standard output, our own on standard error."""

from __future__ import annotations

import asyncio
import sys
import time
from typing import TextIO

from assent.hosts.output import Echo, has_room
from assent.hosts.tail import Teller
from assent.protocol.display import display

__all__ = ["Screen"]

_PIECE = 1 << 16
_LAST_SECONDS = 2.0
"""So long the end may wait for whoever reads along."""


class Screen:
    """Our two streams. Never waits for whoever reads them, except a moment at the end."""

    def __init__(self, out: int | None = None, err: int | None = None) -> None:
        self._out = Echo(_descriptor(sys.stdout) if out is None else out)
        self._err = Echo(_descriptor(sys.stderr) if err is None else err)
        self._is_open = False
        self.teller: Teller | None = None
        """Hands the agent's words on to the board, where they belong to a run."""

    def show(self, text: str) -> None:
        """Show what an agent said."""
        self.show_piece(text.rstrip("\n") + "\n")

    def show_piece(self, text: str) -> None:
        """Show a piece of what an agent says; the line may go on."""
        piece = text.encode("utf-8", "backslashreplace")
        self._is_open = not text.endswith("\n")
        self._out.write(piece)
        if self.teller is not None:
            self.teller.write(piece)

    def finish_line(self) -> None:
        """End a line that an agent left open."""
        if self._is_open:
            self.show_piece("\n")

    async def pass_on(self, stream: asyncio.StreamReader | None) -> None:
        """Show what an agent's program writes to its standard error, framed as all that is not ours."""
        while stream is not None and (piece := await stream.read(_PIECE)):
            self._err.write(piece)

    def tell(self, line: str) -> None:
        """Show a line of our own."""
        self._out.finish_line()
        self._err.tell(f"assent: {display(line, lines=False)}")

    def close(self) -> None:
        """Show the rest."""
        if self.teller is not None:
            self.teller.close()
        until = time.monotonic() + _LAST_SECONDS
        for echo in (self._out, self._err):
            while echo.is_pending and echo.descriptor is not None and time.monotonic() < until:
                has_room(echo.descriptor, _LAST_SECONDS)
                echo.pass_on()


def _descriptor(stream: TextIO | None) -> int | None:
    try:
        return None if stream is None else stream.fileno()
    except (OSError, ValueError):
        return None
