"""A room with a keyboard and a screen, a store, and somebody elsewhere, for tests of what is shown and typed."""

import fcntl
import io
import os
import pty
import termios
import threading
from datetime import UTC, datetime
from struct import pack

from assent import Ask
from assent.protocol.principal import Assurance
from assent.surfaces.meeting import Meeting
from assent.surfaces.talk import Talk
from assent.surfaces.terminal import TerminalSurface
from assent.testing import throwaway

__all__ = ["Room", "Screen"]


class Screen(io.StringIO):
    """Shows, and lets somebody type once the prompt's sign is there: what was typed before a gate is shown is dropped."""

    def __init__(self, keys: int) -> None:
        super().__init__()
        self.keys = keys
        self.script: list[str] = []

    def write(self, text: str) -> int:
        """Show a text."""
        if text.endswith("> ") and self.script:
            os.write(self.keys, self.script.pop(0).encode())
        return super().write(text)


class Room:
    """A keyboard, a screen, a store, and somebody elsewhere."""

    def __init__(self, *, is_piped: bool = False, columns: int = 0) -> None:
        self.keyboard, self.keys = os.pipe() if is_piped else reversed(pty.openpty())
        if columns:
            fcntl.ioctl(self.keyboard, termios.TIOCSWINSZ, pack("HHHH", 40, columns, 0, 0))
        self.is_piped = is_piped
        self.screen = Screen(self.keys)
        now = datetime(2026, 3, 1, tzinfo=UTC)
        self.terminal = TerminalSurface(lambda: now, {}, keyboard=self.keyboard, screen=self.screen)
        self.store = throwaway()
        self.agent = self.store.agent()
        self.typist = self.store.person(assurance=Assurance.TERMINAL)
        self.elsewhere = self.store.person("sam")

    def meeting(self, name: str | None = None, **parts: object) -> Meeting:
        """Return a meeting in this room."""
        return Meeting(self.agent, self.typist, self.terminal, name=name, **parts)  # type: ignore[arg-type]

    def type(self, typed: str) -> None:
        """Type a line whenever one is wanted, or write into the pipe at once."""
        if self.is_piped:
            os.write(self.keys, typed.encode())
        else:
            self.screen.script += typed.splitlines(keepends=True)

    def end_input(self) -> None:
        """Close the pipe."""
        os.close(self.keys)
        self.keys = -1

    def later(self, ask: Ask | None, reply: str) -> threading.Timer:
        """Answer from elsewhere in a moment."""
        assert ask is not None
        timer = threading.Timer(0.05, self.elsewhere.answer, (ask.ask_id, reply))
        timer.start()
        return timer

    def talk(self, **parts: bool) -> Talk:
        """Return a talk in this room, which knows of no store."""
        return Talk(self.terminal, **parts)

    def shown(self) -> list[str]:
        """Return what the screen has shown, line by line."""
        return self.screen.getvalue().split("\n")

    def close(self) -> None:
        """Let everything go."""
        self.terminal.close()
        self.store.close()
        for descriptor in (self.keys, self.keyboard):
            if descriptor >= 0:
                os.close(descriptor)
