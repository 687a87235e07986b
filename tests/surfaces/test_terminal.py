"""The terminal surface on a real pty, in this process."""

import io
import os
import pty
import threading
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from assent.surfaces.terminal import TerminalSurface, is_background, width_of

__all__: list[str] = []


class Desk:
    """A pty whose far end is the keyboard, and a screen that can be read."""

    def __init__(self) -> None:
        self.keys, self.keyboard = pty.openpty()
        self.screen = io.StringIO()
        self.surface = TerminalSurface(
            lambda: datetime(2026, 3, 1, tzinfo=UTC), {}, keyboard=self.keyboard, screen=self.screen
        )

    def type(self, typed: bytes) -> None:
        """Press keys."""
        os.write(self.keys, typed)


@pytest.fixture
def desk() -> Iterator[Desk]:
    """Give a desk with nobody at it yet."""
    desk = Desk()
    yield desk
    desk.surface.close()
    for descriptor in (desk.keys, desk.keyboard):
        os.close(descriptor)


def test_read_returns_whole_lines_in_order(desk: Desk) -> None:
    """Also when several were typed ahead."""
    desk.type("one\nzwei – ü\n\nlast\n".encode())
    assert [desk.surface.read() for _ in range(4)] == ["one", "zwei – ü", "", "last"]


def test_read_is_interrupted_by_wake_from_another_thread(desk: Desk) -> None:
    """Without a limit and without looking again and again."""
    threading.Timer(0.05, desk.surface.wake).start()
    assert desk.surface.read() is None


def test_wake_throws_half_a_line_away(desk: Desk) -> None:
    """What was meant for this question is not left for the next reader."""
    desk.type(b"half a li")
    desk.surface.wake()
    assert desk.surface.read() is None
    desk.type(b"whole\n")
    assert desk.surface.read() == "whole"


def test_end_of_input_is_no_reply(desk: Desk) -> None:
    """Ctrl-D, also in the middle of a line: nothing of it counts."""
    desk.type(b"\x04")
    with pytest.raises(EOFError):
        desk.surface.read()
    desk.type(b"abc\x04\x04")
    with pytest.raises(EOFError):
        desk.surface.read()


def test_forget_drops_what_was_typed_ahead(desk: Desk) -> None:
    """As before an approval is shown."""
    desk.type(b"yes\n")
    desk.surface.forget()
    desk.surface.wake()
    assert desk.surface.read() is None


def test_rest_forgets_a_wake(desk: Desk) -> None:
    """A wake that came too late must not end the next question."""
    desk.surface.wake()
    desk.surface.rest()
    desk.type(b"x\n")
    assert desk.surface.read() == "x"


def test_wake_after_close_does_nothing(desk: Desk) -> None:
    """A thread may come late."""
    other = Desk()
    other.surface.close()
    other.surface.wake()
    os.close(other.keys)
    os.close(other.keyboard)
    assert desk.surface.width >= 30


def test_background_is_told_by_the_terminals_own_group() -> None:
    """A pty that is not our controlling terminal never stops us."""
    keys, keyboard = pty.openpty()
    assert not is_background(keyboard)
    os.close(keys)
    os.close(keyboard)


def test_width_of_something_else_than_a_terminal_is_eighty() -> None:
    """For pipes and files."""
    assert width_of(io.StringIO()) == 80
