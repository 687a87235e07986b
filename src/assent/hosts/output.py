"""What an iteration's command prints: shown as it comes, kept in a file, and looked through for a completion signal.

Rule 1: a terminal gets agents' text behind a bar and with its control characters made visible; a pipe gets the
        exact bytes.
Rule 2: showing may fail (whoever read along has left) and never waits (they may have stopped to look, and the run must
        still hear that it is cancelled); keeping goes on, up to a limit that is said to have been reached.
Rule 3: only standard output is looked through. Some agents repeat their prompt on standard error, and the prompt
        usually names the signal.
"""

from __future__ import annotations

import codecs
import os
import select
import unicodedata
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO

from assent.protocol.completion import LONGEST_SIGNAL, recognise_signal
from assent.protocol.display import display
from assent.protocol.run import DoneReason, Mode

__all__ = ["MAX_KEPT_BYTES", "Echo", "Keeper", "SignalScan", "has_room", "output_file", "output_folder"]

MAX_KEPT_BYTES = 10 << 20
"""Of each iteration."""
_SAFE = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-")
_LONGEST_NAME = 100
_MAX_PENDING = 256 << 10
_BAR = "│ "
_NARROWEST = 10
_USUAL_WIDTH = 80
_TAB = 4
_LONGEST_LINE = 2 * LONGEST_SIGNAL
"""With blanks behind the signal; no longer line is remembered."""
_TOO_LONG = b"\0" * (_LONGEST_LINE + 1)


def output_folder(folder: Path, project: str, run_id: str, frame_id: str = "") -> Path:
    """Return where the output of a run is kept; that of a loop inside its own has a folder there."""
    place = folder / _safe(project) / _safe(run_id)
    return place / _safe(frame_id) if frame_id else place


def output_file(folder: Path, number: int, attempt: int) -> Path:
    """Return where an iteration's output is kept."""
    return folder / (f"{number:04}.log" if attempt == 1 else f"{number:04}.attempt-{attempt}.log")


def _safe(name: str) -> str:
    """Return a file's name for `name`: itself where that is harmless, else what is harmless of it and a digest."""
    kept = "".join(character if character in _SAFE else "_" for character in name)[:_LONGEST_NAME]
    if kept == name and not name.startswith("."):
        return name
    return f"{kept.lstrip('.')}-{sha256(name.encode()).hexdigest()[:12]}"


class Keeper:
    """A file that takes so much and no more."""

    def __init__(self, path: Path, limit: int = MAX_KEPT_BYTES) -> None:
        self.path = path
        self.trouble = ""
        """Why nothing is kept."""
        self._left = limit
        self._lost = 0
        self._file: BinaryIO | None = None
        try:
            # One by one: with `parents=True` others could look into all but the last.
            for folder in reversed([path.parent, *path.parent.parents]):
                folder.mkdir(mode=0o700, exist_ok=True)
            self._file = open(path, "wb", opener=_private)  # noqa: SIM115 - closed by `close`
        except OSError as error:
            self.trouble = error.strerror or str(error)  # it costs the output, and not the run

    def write(self, piece: bytes) -> None:
        """Keep a piece of output; a full disk costs the output, and not the run."""
        kept = piece[: self._left]
        self._lost += len(piece) - len(kept)
        self._left -= len(kept)
        try:
            if self._file is not None and kept:
                self._file.write(kept)
                self._file.flush()
        except OSError:
            self._left, self._lost = 0, self._lost + len(kept)

    def close(self) -> None:
        """Close the file; what did not fit is counted at its end."""
        file, self._file = self._file, None
        if file is None:
            return
        try:
            with file:
                if self._lost:
                    file.write(f"\n[{self._lost} more bytes were not kept]\n".encode())
        except OSError:
            return  # the same full disk


def _private(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)


class Echo:
    """One of our own streams, for the output of others. Never waits: whoever reads it may have stopped to look."""

    def __init__(self, descriptor: int | None, *, is_raw: bool = False) -> None:
        self.descriptor = descriptor
        self._decoder: codecs.IncrementalDecoder | None = None
        self._is_terminal = descriptor is not None and os.isatty(descriptor)
        if self._is_terminal and not is_raw:
            self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._is_inked = self._decoder is not None and _shows_ink()
        self._pending = b""
        self._is_at_line_start = True
        self._column = 0
        """How far the row has come that an agent's text stands in."""

    @property
    def is_pending(self) -> bool:
        """Something is left to be shown."""
        return bool(self._pending)

    @property
    def is_backed_up(self) -> bool:
        """So much is left that nothing should be added."""
        return len(self._pending) > _MAX_PENDING

    def write(self, piece: bytes) -> None:
        """Show a piece of output, as soon as there is room for it."""
        if self._decoder is not None:
            piece = self._frame(display(self._decoder.decode(piece).replace("\r\n", "\n"))).encode()
        self._show(piece)

    def tell(self, line: str) -> None:
        """Show a line of our own, on a line of its own."""
        start = "" if self._is_at_line_start else "\n"
        self._column = 0
        shown = f"\x1b[1m{line}\x1b[0m" if self._is_inked else line
        self._show(f"{start}{shown}\n".encode("utf-8", "backslashreplace"))

    def finish_line(self) -> None:
        """End a line that was left open on a terminal. A program gets the output's bytes, and none of ours."""
        if self._is_terminal and not self._is_at_line_start:
            self._show(b"\n")
            self._column = 0

    def _frame(self, text: str) -> str:
        """Put a bar before each row, so that nothing that an agent prints looks like a line of ours.

        The rows are broken here: a line that the terminal breaks would go on without a bar.
        """
        width = self._row_width()
        framed = []
        for character in text:
            if character == "\n":
                framed.append("\n" if self._column else f"{_BAR}\n")
                self._column = 0
                continue
            # A tab's stops are the terminal's own, and could lead out of the row.
            shown = " " * _TAB if character == "\t" else character
            size = sum(2 if unicodedata.east_asian_width(part) in "WF" else 1 for part in shown)
            if self._column + size > width:
                framed.append("\n")
                self._column = 0
            if not self._column:
                framed.append(_BAR)
            framed.append(shown)
            self._column += size
        return "".join(framed)

    def _row_width(self) -> int:
        try:
            columns = os.get_terminal_size(self.descriptor or 0).columns
        except OSError:
            columns = 0
        return max(_NARROWEST, (columns or _USUAL_WIDTH) - len(_BAR))

    def _show(self, piece: bytes) -> None:
        if self.descriptor is None or not piece:
            return
        self._is_at_line_start = piece.endswith(b"\n")
        self._pending += piece
        self.pass_on()

    def pass_on(self) -> None:
        """Show what can be shown without waiting."""
        while self._pending and self.descriptor is not None:
            try:
                if not has_room(self.descriptor, 0):
                    return
                # No more at once than a pipe takes whole: a longer piece would wait for the rest of its room.
                written = os.write(self.descriptor, self._pending[: select.PIPE_BUF])
            except OSError:
                self.descriptor, self._pending = None, b""  # nobody looks any more
                return
            self._pending = self._pending[written:]


def has_room(descriptor: int, seconds: float) -> bool:
    """Wait until something can be written, or nobody reads any more. Not `select`: it fails from descriptor 1024 on."""
    poll = select.poll()
    poll.register(descriptor, select.POLLOUT)
    return bool(poll.poll(seconds * 1000))


def _shows_ink() -> bool:
    return not os.environ.get("NO_COLOR") and os.environ.get("TERM", "dumb") != "dumb"


class SignalScan:
    """Looks through output for the last completion signal in it."""

    def __init__(self, mode: Mode) -> None:
        self._mode = mode
        self._line = b""
        self.signal: DoneReason | None = None

    def feed(self, piece: bytes) -> None:
        """Look through a piece of output."""
        *lines, rest = piece.split(b"\n")
        for line in lines:
            self._look(self._line + line)
            self._line = b""
        line = self._line + rest
        self._line = line if len(line) <= _LONGEST_LINE else _TOO_LONG

    def close(self) -> None:
        """The last line may have no end."""
        self._look(self._line)
        self._line = b""

    def _look(self, line: bytes) -> None:
        found = recognise_signal(line.decode("utf-8", "replace"), self._mode)
        self.signal = found or self.signal
