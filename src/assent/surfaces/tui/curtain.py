"""The first screen, drawn before the program that draws all later ones has loaded, and the terminal as it was at the end.

Loading that program takes longer than looking at a thousand asks. So the lines of the first screen are written here, and
the program finds them there when it takes over.

Rule 1: what is written are the lines of `screen` and codes of ours: nothing that an agent wrote comes by another way.
Rule 2: whatever happens, the terminal is left as it was found: its mode, its screen, its cursor and its title.
"""

from __future__ import annotations

import os
import signal
import termios
from contextlib import suppress
from typing import IO, Any, Self

from assent.surfaces.tui.line import Line

__all__ = ["TITLE_AS_IT_WAS", "TITLE_KEPT", "Curtain", "render_title"]

TITLE_KEPT = "\x1b[22;2t"
_OPEN = f"{TITLE_KEPT}\x1b[?1049h\x1b[?25l\x1b[2J"
"""Keeps the title, and goes to a screen of its own without a cursor."""
_SHUT = "\x1b[?1049l\x1b[?25h"
TITLE_AS_IT_WAS = "\x1b]2;\x07\x1b[23;2t"
"""Empty, for terminals that keep none; then the one that was kept."""
_ECHO_AT = 3
"""Where `tcgetattr` has the flags of lines."""


class Curtain:
    """A terminal that is about to be taken over by a program for the whole screen."""

    def __init__(self, keyboard: int, screen: IO[str], *, is_plain: bool) -> None:
        self._keyboard, self._screen, self._is_plain = keyboard, screen, is_plain
        self._mode: list[Any] | None = None
        self._stop: Any = None
        self._is_up = self._is_handed_over = False

    def __enter__(self) -> Self:
        # Whoever presses Ctrl-Z now would find their shell on a screen that is not its own: it counts once the program,
        # which can step aside, has taken over.
        self._stop = signal.signal(signal.SIGTSTP, signal.SIG_IGN)
        with suppress(termios.error):
            self._mode = termios.tcgetattr(self._keyboard)
            silent = [*self._mode]
            silent[_ECHO_AT] &= ~termios.ECHO  # what is typed early is for the program, not for the screen
            termios.tcsetattr(self._keyboard, termios.TCSANOW, silent)
        return self

    @property
    def size(self) -> tuple[int, int]:
        """Columns and rows of the terminal; nought where it does not say."""
        try:
            width, height = os.get_terminal_size(self._screen.fileno())
        except OSError:
            return 0, 0
        return width, height

    def draw(self, lines: list[Line]) -> None:
        """Draw the whole screen."""
        parts = [] if self._is_up else [_OPEN]
        self._is_up = True
        for row, each in enumerate(lines, 1):
            parts += [f"\x1b[{row};1H", *(self._paint(text, paint) for text, paint in each.pieces)]
        with suppress(OSError):  # there may be no terminal any more
            self._screen.write("".join(parts))
            self._screen.flush()

    def _paint(self, text: str, paint: str) -> str:
        return text if self._is_plain or not paint else f"\x1b[{paint}m{text}\x1b[0m"

    def hand_over(self) -> None:
        """Let the program have it, in the mode in which it was found: the program goes back to that."""
        self._restore()
        self._is_handed_over = True

    def _restore(self) -> None:
        if self._mode is not None:
            with suppress(termios.error):
                termios.tcsetattr(self._keyboard, termios.TCSANOW, self._mode)

    def __exit__(self, *_: object) -> None:
        signal.signal(signal.SIGTSTP, self._stop)
        self._restore()
        shut = _SHUT if self._is_up and not self._is_handed_over else ""
        with suppress(OSError):  # there may be no terminal any more
            self._screen.write(shut + TITLE_AS_IT_WAS)
            self._screen.flush()


def render_title(waiting: int) -> str:
    """Return what makes the count the window's title."""
    return f"\x1b]2;{f'({waiting}) Assent' if waiting else 'Assent'}\x07"
