"""The terminal as Textual drives it, save that it may go away.

Textual's own driver reads a terminal that is gone again and again, and waits without end for the thread that could not
write to it. Here both tell of it, and what is written later is dropped.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TextIO, cast

from textual.drivers.linux_driver import LinuxDriver

from assent.surfaces.tui.hangup import Hangup

if TYPE_CHECKING:
    from assent.surfaces.tui.app import InboxApp

__all__ = ["InboxDriver"]


class _Screen:
    """A stream to a terminal. One that is gone takes everything and shows nothing."""

    def __init__(self, stream: TextIO, hangup: Hangup) -> None:
        self._stream, self._hangup = stream, hangup

    def fileno(self) -> int:
        """Return the descriptor."""
        return self._stream.fileno()

    def write(self, text: str) -> int:
        """Write, as far as there is a terminal."""
        try:
            return self._stream.write(text)
        except OSError:
            self._hangup.lose()
            return len(text)

    def flush(self) -> None:
        """Have it shown, as far as there is a terminal."""
        try:
            self._stream.flush()
        except OSError:
            self._hangup.lose()


class InboxDriver(LinuxDriver):
    """Drives the terminal of the inbox, and says when there is none any more."""

    def __init__(self, app: InboxApp, **given: Any) -> None:
        super().__init__(app, **given)
        self._hangup = app.hangup
        self._file = cast("Any", _Screen(cast("TextIO", self._file), self._hangup))

    def write(self, data: str) -> None:
        """Write, unless nobody can see it: the thread that does it may be stuck or gone."""
        if not self._hangup.is_gone:
            super().write(data)

    def run_input_thread(self) -> None:
        """Read keys until the app is left, or the terminal cannot be read."""
        try:
            super().run_input_thread()
        except OSError:
            self._hangup.lose()
