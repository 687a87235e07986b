"""A long pass tells how far it has come, and leaves nothing behind on a terminal."""

import fcntl
import io
import os
import pty
import select
import termios
from collections.abc import Iterator
from datetime import UTC, datetime
from struct import pack
from typing import TextIO

import pyte
import pytest

from assent.surfaces.progress import Progress
from assent.surfaces.terminal import TerminalSurface
from tests.patience import PATIENCE

__all__: list[str] = []

COLUMNS = 40


class Watched:
    """A terminal whose screen can be looked at."""

    def __init__(self) -> None:
        self.master, self.slave = pty.openpty()
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, pack("HHHH", 10, COLUMNS, 0, 0))
        self.stream: TextIO = os.fdopen(self.slave, "w", closefd=False)
        self.terminal = surface(self.stream, self.slave)
        self.screen = pyte.Screen(COLUMNS, 10)
        self.feed = pyte.ByteStream(self.screen)

    def until(self, text: str) -> bytes:
        """Return what was written up to `text`, and put it on the screen."""
        seen = b""
        while text.encode() not in seen:
            assert select.select([self.master], [], [], PATIENCE)[0], seen
            seen += os.read(self.master, 65_536)
        self.feed.feed(seen)
        return seen

    def lines(self) -> list[str]:
        """Return what is on the screen now, without the empty lines beneath."""
        self.terminal.say("(end)")
        self.until("(end)")
        return [line.rstrip() for line in self.screen.display if line.strip()]


def surface(stream: TextIO, keyboard: int) -> TerminalSurface:
    """Return a terminal that shows on `stream`."""
    return TerminalSurface(
        lambda: datetime(2026, 3, 1, tzinfo=UTC), {"NO_COLOR": "1"}, keyboard=keyboard, screen=stream
    )


@pytest.fixture
def watched() -> Iterator[Watched]:
    """Give a terminal that somebody looks at."""
    watched = Watched()
    yield watched
    watched.terminal.close()
    watched.stream.close()
    os.close(watched.master)
    os.close(watched.slave)


@pytest.fixture
def piped() -> Iterator[tuple[TerminalSurface, io.StringIO]]:
    """Give a screen that is a pipe, with a pipe as its keyboard."""
    reading, writing = os.pipe()
    screen = io.StringIO()
    terminal = surface(screen, reading)
    yield terminal, screen
    terminal.close()
    os.close(reading)
    os.close(writing)


def test_progress_is_one_line_that_is_rewritten_and_gone_at_the_end(watched: Watched) -> None:
    """A shorter line leaves nothing of a longer one; what an agent wrote is made safe."""
    with Progress(watched.terminal) as progress:
        progress.show("Applying", 1, 3, "A title that is much longer than the window is wide")
        progress.show("Applying", 2, 3, "Two\x1b[2J")
        watched.until("[2J")
        assert [line.rstrip() for line in watched.screen.display[:2]] == [
            "Applying 2 of 3: Two<U+001B>[2J",
            "",
        ]
    assert watched.lines() == ["(end)"]


def test_what_is_said_meanwhile_stands_alone(watched: Watched) -> None:
    """The passing line is taken away first, and the next one begins beneath."""
    progress = Progress(watched.terminal)
    progress.show("Applying", 1, 3, "Two tiers")
    watched.terminal.say("→ Skipped.")
    progress.show("Applying", 2, 3)
    watched.terminal.say("Done.")
    progress.close()
    assert watched.lines() == ["→ Skipped.", "Done.", "(end)"]


@pytest.mark.parametrize(("total", "count"), [(1, 0), (2, 2), (10, 10), (12, 10), (500, 10), (2_000, 10)])
def test_progress_on_a_pipe_is_a_line_for_each_tenth(
    piped: tuple[TerminalSurface, io.StringIO], total: int, count: int
) -> None:
    """Nothing can be taken back there; the last one is always told, and one alone is not."""
    terminal, screen = piped
    with Progress(terminal) as progress:
        for number in range(1, total + 1):
            progress.show("Applying", number, total, "Two tiers\x1b")
    lines = screen.getvalue().splitlines()
    assert len(lines) == count
    if lines:
        assert lines[-1] == f"Applying {total} of {total}: Two tiers<U+001B>"
    assert "\r" not in screen.getvalue()


def test_progress_is_shown_while_it_lasts(watched: Watched) -> None:
    """The line as it is before the end."""
    Progress(watched.terminal).show("Applying", 3, 12, "Two tiers")
    assert watched.until("tiers") == b"\rApplying 3 of 12: Two tiers"


def test_long_title_is_cut_to_the_window(watched: Watched) -> None:
    """The last column stays free: some terminals begin a new line when it is written."""
    Progress(watched.terminal).show("Applying", 3, 12, "x" * 200)
    seen = watched.until("…").decode()
    assert len(seen) == COLUMNS
    assert seen.endswith("…")
