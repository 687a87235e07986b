"""`assent` in tmux: the same window as in `window`, kept by a real terminal multiplexer."""

import itertools
import os
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Self

from tests.cli.shell import Shell
from tests.patience import PATIENCE

__all__ = ["TmuxWindow"]

_NAMES = {"\r": "Enter", "\x03": "C-c", "\x1b": "Escape", "\t": "Tab"}
_numbers = itertools.count(1)


class TmuxWindow:
    """A window of a tmux server of its own, which goes with it."""

    def __init__(
        self,
        shell: Shell,
        *arguments: str,
        columns: int = 120,
        rows: int = 36,
        changes: Mapping[str, str | None] | None = None,
    ) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="assent-tmux-")
        self._socket = Path(self._folder.name) / f"{os.getpid()}-{next(_numbers)}"
        program = shlex.join([sys.executable, "-m", "assent", *arguments])
        environ = {**shell.environ(**(changes or {})), "TERM": "xterm-256color"}
        self._tmux(
            *("-f", os.devnull, "new-session", "-d", "-x", str(columns), "-y", str(rows), program),
            cwd=shell.folder,
            environ=environ,
        )

    def _tmux(
        self,
        *arguments: str,
        cwd: Path | None = None,
        environ: dict[str, str] | None = None,
        check: bool = True,
    ) -> str:
        ran = subprocess.run(
            ["tmux", "-S", str(self._socket), *arguments],
            cwd=cwd,
            env=environ,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        assert ran.returncode == 0 or not check, ran.stderr
        return ran.stdout

    @property
    def text(self) -> str:
        """What is on the screen now."""
        return self._tmux("capture-pane", "-p")

    def until(self, *wanted: str, gone: Sequence[str] = ()) -> str:
        """Wait until all of this is on the screen and none of `gone` is; return the screen."""
        until = time.monotonic() + PATIENCE
        while True:
            text = self.text
            if all(each in text for each in wanted) and not any(each in text for each in gone):
                return text
            assert time.monotonic() < until, f"{wanted} without {gone} never came:\n{text}"

    def armed(self, *wanted: str, gone: Sequence[str] = ()) -> str:
        """Wait for this and until keys count."""
        return self.until(*wanted, "Keys ready", gone=gone)

    def press(self, keys: str) -> None:
        """Press keys, one after the other."""
        for key in keys:
            self._tmux("send-keys", *([_NAMES[key]] if key in _NAMES else ["-l", key]))

    def resize(self, columns: int, rows: int) -> None:
        """Make the window another size."""
        self._tmux("resize-window", "-x", str(columns), "-y", str(rows))

    def end(self) -> None:
        """Wait until the program has ended, and the server with it."""
        until = time.monotonic() + PATIENCE
        while "no server" not in self._told_of_end():
            assert time.monotonic() < until, "It did not end."

    def _told_of_end(self) -> str:
        ran = subprocess.run(
            ["tmux", "-S", str(self._socket), "list-sessions"],
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        return "no server" if ran.returncode else ran.stdout

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._tmux("kill-server", check=False)
        self._folder.cleanup()
