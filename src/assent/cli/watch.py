"""`assent runs --watch`: the board, live. Drawn anew when a bell rings, and once a second for the time that goes by.

Rule 1: it is drawn in place, below what stood on the terminal before, and what was drawn last stays there at the end.
Rule 2: the terminal is given back as it was found, however this ends. The cursor is never hidden and wrapping is off
        only within one write, so that even a kill leaves nothing behind but a shell's own business.
Rule 3: where nobody looks at a screen it is a line a change.
"""

from __future__ import annotations

import os
import signal
import sys
import termios
import time
import tty
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from types import FrameType
from typing import Any, NoReturn, Self

import click
import msgspec

from assent.cli.exit import DONE, say
from assent.cli.lookout import Lookout
from assent.cli.place import Place
from assent.cli.runs import board_width, encode_run, heading
from assent.protocol.run import RunId
from assent.surfaces.board import BoardRun, render_board, render_change, render_word
from assent.surfaces.ink import Ink, ink_for
from assent.surfaces.terminal import is_background
from assent.surfaces.wake import Wake
from assent.surfaces.width import columns, cut

__all__ = ["watch_runs"]

_TICK_SECONDS = 1.0
_CALM_SECONDS = 0.1
"""A run that iterates a hundred times a second is still drawn no more often than can be seen."""
_KEYBOARD = 0
_USUAL_ROWS = 24
_LEAVE = b"qQ\x04"
_AGAIN = b"rR"
_KEYS = "q leaves  r looks again"


def watch_runs(place: Place, *, everywhere: bool, ended_since: timedelta | None, as_json: bool) -> int:
    """Show the runs until somebody has seen enough."""
    is_screen = sys.stdout.isatty() and place.environ.get("TERM", "dumb") != "dumb" and not as_json
    with (
        Wake() as wake,
        Lookout(place, everywhere=everywhere, ended_since=ended_since, tell=wake.call) as lookout,
    ):
        try:
            if is_screen:
                with _Screen() as screen:
                    _draw(lookout, wake, screen, heading(ended_since))
            else:
                _tell_changes(lookout, wake, as_json=as_json)
        except KeyboardInterrupt:
            if not is_screen:
                say("")
    return DONE


def _draw(lookout: Lookout, wake: Wake, screen: _Screen, ended: str) -> None:
    ink = ink_for(sys.stdout, os.environ)
    while True:
        runs = lookout.look(lookout.now())
        at = lookout.now()
        width = board_width() - 1  # a full line leaves some terminals in two minds about where they are
        lines = [_head(runs, ink, width, at), "", *render_board(runs, ink, width, at, ended)]
        lines += [ink.caution(cut(f"Not looked at: {trouble}", width)) for trouble in lookout.troubles]
        screen.draw(lines, width)
        if not _pause(wake, screen):
            return


def _head(runs: Sequence[BoardRun], ink: Ink, width: int, at: datetime) -> str:
    words = Counter(render_word(seen, at) for seen in runs if seen.run.is_active)
    told = ", ".join(f"{number} {word}" for word, number in words.items()) or "none active"
    left = cut(f"Runs  {told}", width)
    right = f"{_KEYS}  {at:%H:%M:%S} UTC"
    gap = width - columns(left) - columns(right)
    return f"{ink.strong(left)}{' ' * gap}{ink.faint(right)}" if gap >= 2 else ink.strong(left)  # noqa: PLR2004 - a gap


def _pause(wake: Wake, screen: _Screen) -> bool:
    """Wait until it is worth looking again; False when somebody wants to leave."""
    looked_at = time.monotonic()
    is_news = False
    while True:
        left = looked_at + (_CALM_SECONDS if is_news else _TICK_SECONDS) - time.monotonic()
        if left <= 0:
            return True
        ready = wake.wait(screen.keyboards(), left)
        if ready is None:
            is_news = True
            continue
        typed = screen.typed() if ready else b""
        if typed is None or any(key in _LEAVE for key in typed):
            return False
        if any(key in _AGAIN for key in typed):
            screen.forget()  # whoever asks for a new look wants to see one, also where nothing has changed
            return True
        if screen.is_stale:
            return True


def _tell_changes(lookout: Lookout, wake: Wake, *, as_json: bool) -> None:
    known: dict[tuple[str, RunId, datetime], str] | None = None
    while True:
        runs = lookout.look(lookout.now())
        at = lookout.now()
        seen_now = {(seen.run.project, seen.run.run_id, seen.run.started_at): seen for seen in reversed(runs)}
        told = {key: render_change(seen, at) for key, seen in seen_now.items()}
        for key, seen in seen_now.items():
            is_new = seen.run.is_active if known is None else known.get(key) != told[key]
            if is_new:
                line = msgspec.json.encode(encode_run(seen, at)) if as_json else f"{at:%H:%M:%S}  {told[key]}"
                click.echo(line)
        known = told
        wake.wait(seconds=_TICK_SECONDS)


class _Screen:
    """This process's terminal, for as long as something is drawn on it."""

    def __init__(self) -> None:
        self.is_stale = False
        """What was drawn is no longer where it was."""
        self._is_resized = False
        self._height = 0
        """How many lines were drawn."""
        self._drawn = ""
        self._has_keyboard = sys.stdin is not None and os.isatty(_KEYBOARD)
        self._modes: list[Any] | None = None
        self._before: dict[int, Any] = {}

    def draw(self, lines: list[str], width: int) -> None:
        """Put these lines where the last ones were; leave where there is no terminal any more."""
        try:
            self._put(lines, width)
        except (OSError, termios.error):
            _leave(signal.SIGHUP, None)

    def _put(self, lines: list[str], width: int) -> None:
        self._take()
        lines = _fit(lines, width)
        text = "\x1b[K\r\n".join(lines) + "\x1b[K"
        if text == self._drawn and not self.is_stale:
            return
        up = f"\x1b[{self._height - 1}A" if self._height > 1 and not self.is_stale else ""
        clear = "\x1b[2J\x1b[H" if self._is_resized else "\r" + up
        sys.stdout.write(f"{clear}\x1b[?7l{text}\x1b[J\x1b[?7h")
        sys.stdout.flush()
        self._drawn, self._height = text, len(lines)
        self.is_stale = self._is_resized = False

    def forget(self) -> None:
        """Draw the next lines in any case."""
        self._drawn = ""

    def keyboards(self) -> list[int]:
        """Return what can be typed on now; a job that is not in front must not read what is typed to others."""
        return [_KEYBOARD] if self._has_keyboard and not is_background(_KEYBOARD) else []

    def typed(self) -> bytes | None:
        """Return the keys that were pressed; None when the terminal is gone."""
        try:
            return os.read(_KEYBOARD, 1024) or None
        except OSError:
            return None

    def _take(self) -> None:
        """Have keys come one by one and unseen. Asked again and again: a shell sets its own way while we are stopped."""
        if not self.keyboards():
            return
        modes = termios.tcgetattr(_KEYBOARD)
        if self._modes is None:
            self._modes = modes
        if modes[3] & (termios.ICANON | termios.ECHO):
            tty.setcbreak(_KEYBOARD)

    def __enter__(self) -> Self:
        handlers: dict[int, Callable[[int, FrameType | None], object]] = {
            signal.SIGWINCH: self._on_resize,
            signal.SIGCONT: self._on_return,
            signal.SIGTERM: _leave,
            signal.SIGHUP: _leave,
        }
        self._before = {
            number: signal.signal(number, handler)
            for number, handler in handlers.items()
            if signal.getsignal(number) is not signal.SIG_IGN
        }
        return self

    def __exit__(self, *_: object) -> None:
        for number, before in self._before.items():
            signal.signal(number, before)
        with suppress(OSError, termios.error):  # there may be no terminal any more
            if self._modes is not None and not is_background(_KEYBOARD):
                termios.tcsetattr(_KEYBOARD, termios.TCSADRAIN, self._modes)
            if self._height:
                sys.stdout.write("\r\n")
                sys.stdout.flush()

    def _on_resize(self, _: int, __: FrameType | None) -> None:
        # The terminal has laid out its lines anew, and nobody can tell where ours are.
        self.is_stale = self._is_resized = True

    def _on_return(self, _: int, __: FrameType | None) -> None:
        self.is_stale = True


def _fit(lines: list[str], width: int) -> list[str]:
    rows = os.get_terminal_size(sys.stdout.fileno()).lines or _USUAL_ROWS
    if len(lines) < rows:
        return lines
    left_out = len(lines) - rows + 2
    return [*lines[: rows - 2], cut(f"… {left_out} more lines than there is room for", width)]


def _leave(number: int, _: FrameType | None) -> NoReturn:
    sys.exit(128 + number)
