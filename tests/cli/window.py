"""A terminal window with a program in it: keys go in, and what a person would see is read from an emulator."""

import fcntl
import os
import pty
import select
import signal
import sys
import termios
import time
from collections.abc import Callable, Mapping, Sequence
from struct import pack
from typing import Self

import pyte

from tests.cli.shell import Shell
from tests.patience import PATIENCE
from tools.warm import spawn

__all__ = ["Window"]


class Window:
    """`assent`, or another program, in a window of its own."""

    def __init__(
        self,
        shell: Shell,
        *arguments: str,
        columns: int = 120,
        rows: int = 36,
        program: Sequence[str] = (),
        changes: Mapping[str, str | None] | None = None,
    ) -> None:
        self.master, slave = pty.openpty()
        self._screen = pyte.Screen(columns, rows)
        self._stream = pyte.ByteStream(self._screen)
        self.raw = b""
        self._set_size(columns, rows)
        self.process = spawn(
            [*(program or (sys.executable, "-m", "assent")), *arguments],
            has_terminal=True,
            cwd=shell.folder,
            env=shell.environ(**(changes or {})),
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
        )
        shell.started.append(self.process)
        os.close(slave)

    def _set_size(self, columns: int, rows: int) -> None:
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, pack("HHHH", rows, columns, 0, 0))

    def _read(self, seconds: float) -> bool:
        """Read what is there; say whether there can be more."""
        if not select.select([self.master], [], [], seconds)[0]:
            return True
        try:
            more = os.read(self.master, 65_536)
        except OSError:
            return False  # the other side is closed
        self.raw += more
        self._stream.feed(more)
        return bool(more)

    @property
    def lines(self) -> list[str]:
        """What is on the screen now."""
        while select.select([self.master], [], [], 0)[0] and self._read(0):
            pass
        return [line.rstrip() for line in self._screen.display]

    @property
    def text(self) -> str:
        """The same, in one."""
        return "\n".join(self.lines)

    @property
    def title(self) -> str:
        """The window's title."""
        return str(self._screen.title)

    @property
    def bells(self) -> int:
        """How often it rang: the one that ends a title, or another order to the terminal, is none."""
        return self.raw.count(b"\x07") - self.raw.count(b"\x1b]")

    def until(self, *wanted: str, gone: Sequence[str] = ()) -> str:
        """Wait until all of this is on the screen and none of `gone` is; return the screen."""
        until = time.monotonic() + PATIENCE
        while True:
            text = self.text
            if all(each in text for each in wanted) and not any(each in text for each in gone):
                return text
            assert self.process.poll() is None, f"It ended with {self.process.returncode}:\n{text}"
            assert time.monotonic() < until, f"{wanted} without {gone} never came:\n{text}"
            self._read(0.05)

    def wait(self, condition: Callable[[], bool]) -> None:
        """Wait until something is true of what is there."""
        until = time.monotonic() + PATIENCE
        while not condition():
            assert self.process.poll() is None, f"It ended with {self.process.returncode}:\n{self.text}"
            assert time.monotonic() < until, f"It never came true:\n{self.text}"
            self._read(0.02)

    def armed(self, *wanted: str, gone: Sequence[str] = ()) -> str:
        """Wait for this and until keys count."""
        return self.until(*wanted, "Keys ready", gone=gone)

    def press(self, keys: str) -> None:
        """Press keys, as a terminal sends them: Enter is a carriage return."""
        os.write(self.master, keys.encode())

    def resize(self, columns: int, rows: int) -> None:
        """Make the window another size."""
        self.text  # noqa: B018 - what was written for the old size is drawn in it
        self._screen.resize(rows, columns)
        self._set_size(columns, rows)
        os.kill(self.process.pid, signal.SIGWINCH)

    def kill(self) -> None:
        """End the program at once, as a crash does."""
        self.process.kill()
        self.process.wait(PATIENCE)

    def end(self) -> int:
        """Wait for the program to end; return its status."""
        until = time.monotonic() + PATIENCE
        while self.process.poll() is None:
            self._read(0.05)
            if time.monotonic() > until:
                self.process.send_signal(signal.SIGABRT)  # its threads say where they are
                self.process.wait(PATIENCE)
                raise AssertionError(self.text)
        self.text  # noqa: B018 - its last words
        return self.process.returncode

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.kill()
        os.close(self.master)
