"""A shell on a terminal of its own, and what a person would see there."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import subprocess
import termios
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from struct import pack

import pyte

from tools import warm_shell

__all__ = ["PATIENCE", "Terminal"]

PATIENCE = 120.0
"""Seconds that anything may take on a busy machine."""
_QUIET = 0.6
"""Seconds without a word after which a command that waits has said all."""
_LOOK = 0.1
"""Seconds after which to look again at what no terminal tells."""
_COLUMNS = 80
_WIDE, _LONG = 400, 2_000
"""Of the screen: it must hold all that a page shows on one terminal, for a line that scrolls away is lost."""


class Terminal:
    """`bash` with the prompt `$ `. Programs think it 80 columns wide; what they write is never wrapped here.

    `programs` is an empty folder, for those that are forked from a warm Python.
    """

    def __init__(self, folder: Path, environ: Mapping[str, str], programs: Path) -> None:
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, pack("HHHH", 40, _COLUMNS, 0, 0))
        shell = ["bash", "--norc", "--noprofile", "--noediting", "-i"]
        self._process = warm_shell.start(
            shell,
            programs,
            environ,
            has_terminal=True,
            cwd=folder,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
        )
        os.close(slave)
        self._screen = pyte.Screen(_WIDE, _LONG)
        self._stream = pyte.ByteStream(self._screen)
        self._taken = 0

    def type(self, text: str) -> None:
        """Type; a new line is the Enter key."""
        os.write(self._master, text.encode())
        line = self._screen.cursor.y
        # The echo comes from the terminal at once; without it a prompt still seems to stand there.
        self.until(lambda: self._screen.cursor.y > line or text == "\x03")

    def interrupt(self) -> None:
        """Press Ctrl-C. Not by its character: the system may echo that behind what the command still says."""
        self.until(lambda: self._screen.cursor.x == 0, waits=True)  # the line that it waits behind is whole
        self._stream.feed(b"^C")
        os.killpg(os.tcgetpgrp(self._master), signal.SIGINT)

    def await_prompt(self, sign: str) -> None:
        """Wait until a line of just `sign` waits for input."""
        self.until(lambda: self._line() == sign)

    def kill(self) -> None:
        """Kill the command that this terminal waits for, and nothing else."""
        group = os.tcgetpgrp(self._master)
        if group == self._process.pid:
            raise TimeoutError("The command has ended and cannot be killed.")
        os.killpg(group, signal.SIGKILL)

    def settle(self, *, waits: bool) -> None:
        """Wait until the shell has its prompt again, or the command that waits has said all."""
        if not waits:
            self.await_prompt("$")
            return
        while self._read(_QUIET):
            pass

    def until(self, is_so: Callable[[], bool], *, waits: bool = False) -> None:
        """Read until something is so.

        Raises:
            TimeoutError: it never was, or the shell is ready for more and it still is not.
        """
        began = heard = time.monotonic()
        while not is_so():
            is_over = not waits and self._line() == "$"
            if self._read(_LOOK):
                heard = time.monotonic()
            elif is_over and time.monotonic() - heard > _QUIET:
                raise TimeoutError("The command has ended.")
            if time.monotonic() - began > PATIENCE:
                raise TimeoutError(f"Nothing came in {PATIENCE:.0f} s.")

    def fresh(self) -> str:
        """Return what was shown since the last `take`, without a prompt that waits for a command."""
        last = self._screen.cursor.y
        lines = [self._text(row) for row in range(self._taken, last + 1)]
        if lines and lines[-1] in ("$", ""):
            lines.pop()
        return "".join(f"{line}\n" for line in lines)

    def take(self) -> str:
        """Return the same, and begin anew behind it."""
        fresh = self.fresh()
        self._taken += fresh.count("\n")
        return fresh

    def give_back_line(self) -> None:
        """Let the last line be shown once more: what is typed there now belongs to what follows."""
        self._taken -= 1

    def everything(self) -> str:
        """Return all that was ever shown."""
        return "\n".join(map(self._text, range(self._screen.cursor.y + 1)))

    def close(self) -> None:
        """Hang up; the shell and what it started are told so, and go."""
        os.close(self._master)
        try:
            self._process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait(PATIENCE)

    def _line(self) -> str:
        return self._text(self._screen.cursor.y)

    def _text(self, row: int) -> str:
        # Not Screen.display: it draws every cell of the screen each time.
        cells = self._screen.buffer[row]
        return "".join(cells[column].data for column in range(max(cells, default=-1) + 1)).rstrip()

    def _read(self, seconds: float) -> bool:
        if not select.select([self._master], [], [], seconds)[0]:
            return False
        try:
            shown = os.read(self._master, 65_536)
        except OSError:
            return False  # the shell has ended
        self._stream.feed(shown)
        return bool(shown)
