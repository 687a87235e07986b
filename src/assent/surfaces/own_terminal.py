"""This process's own terminal, for a flow in memory that was given no other surface."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from datetime import datetime

from assent.client.identity import agent_mark
from assent.surfaces.talk import Talk
from assent.surfaces.terminal import TerminalSurface, is_background

__all__ = ["OwnTerminal", "open_terminal"]


class OwnTerminal(Talk):
    """A talk on standard input and error. Where an agent runs this process, what is typed is not read."""

    def __init__(self, now: Callable[[], datetime], environ: Mapping[str, str]) -> None:
        self._own = TerminalSurface(now, environ)
        mark = agent_mark(environ)
        if mark is not None:
            self._own.say(f"{mark} is set, so an agent runs this: what is typed here is not read.")
        # Where standard input was closed, its number may be that of any other file by now.
        has_input = sys.stdin is not None and not sys.stdin.closed
        super().__init__(self._own, can_type=mark is None and has_input and not is_background(0))

    def close(self) -> None:
        """Let the terminal go."""
        self._own.close()


def open_terminal(now: Callable[[], datetime], environ: Mapping[str, str] | None = None) -> OwnTerminal:
    """Return the terminal of this process as a surface; `now` is the clock that it tells time by."""
    return OwnTerminal(now, os.environ if environ is None else environ)
