"""The story of a sitting in a real terminal multiplexer, where there is one, and in the emulator everywhere.

The run says where there is none.
"""

import shutil
import sys

import pytest

from tests.cli.shell import Shell
from tests.cli.tmux_window import TmuxWindow
from tests.cli.window import Window
from tests.missing import MISSING, RecordProperty

__all__: list[str] = []

WINDOWS: list[type[Window] | type[TmuxWindow]] = [Window]
if shutil.which("tmux"):
    WINDOWS.append(TmuxWindow)
ENTER, CTRL_C, F2 = "\r", "\x03", "\x1bOQ"
WRITER = "import pathlib, sys; pathlib.Path(sys.argv[1]).write_text('in my own editor')"


@pytest.mark.parametrize("window_type", WINDOWS, ids=lambda each: each.__name__)
def test_sitting_is_lost_won_resized_and_left(
    shell: Shell, window_type: type[Window] | type[TmuxWindow], record_property: RecordProperty
) -> None:
    """A second process answers first, the next ask is answered here, the window shrinks, and leaving answers nothing."""
    if TmuxWindow not in WINDOWS:
        record_property(MISSING, "tmux, so the terminal inbox was tried in the emulator alone")
    third = shell.open("Third?", "-o", "Yes", "-o", "No")
    second = shell.open("Second?", "-o", "Left", "-o", "Right")
    first = shell.open("First?", "-o", "PostgreSQL", "-o", "SQLite")
    with window_type(shell) as window:
        window.armed("First?", "3 wait")
        window.press("a")
        window.until("Marked: PostgreSQL", "Enter: Send")
        shell.run("answer", first, "SQLite", USER="sam", LOGNAME="sam")
        window.until("sam", "SQLite", "kept here", "2 wait")
        window.press("n")
        window.armed("Second?")
        window.press("b")
        window.until("Marked: Right", "Enter: Send")
        window.press(ENTER)
        window.until("Accepted", "1 wait")
        window.resize(40, 12)
        window.press("n")
        window.armed("Third?")
        window.press("a")
        window.until("Yes", "Marked")
        window.press(CTRL_C)
        window.end()
    answers = [shell.ask(ask_id).answer for ask_id in (first, second)]
    assert [list(answer.values.values()) for answer in answers if answer] == [[("SQLite",)], [("Right",)]]
    assert shell.ask(third).is_open


def test_words_are_written_in_the_persons_own_editor(shell: Shell) -> None:
    """The inbox steps aside for it, and takes what was left in its file."""
    ask_id = shell.open("What must the rollout not touch?")
    editor = f'{sys.executable} -c "{WRITER}"'
    with Window(shell, changes={"EDITOR": editor, "VISUAL": None}) as window:
        window.armed("What must the rollout")
        window.press("e")
        window.until("in my own editor", "Enter: Send")
        window.press(ENTER)
        window.until("0 wait")
    answer = shell.ask(ask_id).answer
    assert answer is not None
    assert list(answer.values.values()) == [("in my own editor",)]


def test_words_and_the_key_that_sends_them_in_one_burst_are_all_sent(shell: Shell) -> None:
    """As a paste or a slow line delivers them: the key must not overtake the letters."""
    ask_id = shell.open("What must the rollout not touch?")
    words = "The ledger of last year. " * 8
    with Window(shell) as window:
        window.armed("What must the rollout")
        window.press("i")
        window.until("F2 sends")
        window.press(f"{words}{F2}")
        window.until("0 wait")
    answer = shell.ask(ask_id).answer
    assert answer is not None
    assert list(answer.values.values()) == [(words.strip(),)]
