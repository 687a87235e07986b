"""`assent` alone on a terminal: the real program, real keys, real second processes, in a terminal emulator."""

import os
import re
import shutil
import signal
import sys
from pathlib import Path

import pytest

from assent import connect
from assent.protocol.ask import State
from tests.cli.shell import Shell, is_stopped, wait_for
from tests.cli.window import Window

__all__: list[str] = []

QUESTION = ("Which database?", "-o", "PostgreSQL", "-o", "SQLite")
CTRL_C, CTRL_Z, ENTER = "\x03", "\x1a", "\r"
WITHOUT_TEXTUAL = "import sys; sys.modules['textual'] = None; from assent.cli import main; main()"


def is_as_it_was(window: Window) -> bool:
    """Say whether the program has left the terminal's own screen, cursor and title behind."""
    ends = window.raw.rfind(b"\x1b[?1049l"), window.raw.rfind(b"\x1b[?25h"), window.raw.rfind(b"\x1b]2;\x07")
    begins = (
        window.raw.rfind(b"\x1b[?1049h"),
        window.raw.rfind(b"\x1b[?25l"),
        window.raw.rfind(b") Assent\x07"),
    )
    return all(end > begin for begin, end in zip(begins, ends, strict=True))


def test_assent_alone_on_a_terminal_opens_the_inbox_and_answers_by_two_keys(shell: Shell) -> None:
    """A letter marks and Enter sends; the agent is told, and the terminal is left as it was."""
    ask_id = shell.open(*QUESTION)
    with Window(shell) as window:
        window.armed("Which database?", "1 wait")
        assert window.title == "(1) Assent"
        window.press("b")
        window.until("Marked: SQLite", "Enter: Send")
        assert shell.ask(ask_id).is_open
        window.press(ENTER)
        window.until("0 wait")
        told = shell.ask(ask_id).answer
        assert told is not None
        assert told.values == {"q1": ("SQLite",)}
        assert str(told.by) == "human:ana"
        window.press("q")
        assert window.end() == 0
        assert is_as_it_was(window)


@pytest.mark.parametrize("size", [(120, 36), (80, 24), (40, 10)], ids=["wide", "usual", "small"])
def test_first_screen_is_drawn_before_textual_has_loaded(shell: Shell, size: tuple[int, int]) -> None:
    """What the program draws later is the same: nothing flashes, and nothing has moved when keys count."""
    shell.open(*QUESTION)
    columns, rows = size
    with Window(shell, columns=columns, rows=rows) as window:
        first = window.until("Assent", "Which database?")
        taken_over = b"\x1b[?1004h"  # written by the program that takes over, and by nobody before
        assert taken_over not in window.raw[: window.raw.find(b"Which database?")]
        wait_for(lambda: "Which database?" in window.text and taken_over in window.raw)
        later = window.until("Which database?", "Assent")
        head, same = (re.sub(r"\d+ s\b", "now", text).splitlines()[1:4] for text in (first, later))
        assert head == same


@pytest.mark.parametrize(
    "changes",
    [{"CLAUDECODE": "1"}, {"TERM": "dumb"}, {"ASSENT_RUN_ID": "run-1"}],
    ids=["host", "dumb", "run"],
)
def test_assent_alone_is_a_summary_where_nobody_can_use_a_screen(
    shell: Shell, changes: dict[str, str]
) -> None:
    """An agent with a terminal is no person, and a dumb terminal has no screen."""
    shell.open(*QUESTION)
    with Window(shell, changes=changes) as window:
        assert window.end() == 0
        lines = [line for line in window.lines if line]
        assert lines[0] == "1 ask waits in all your projects."
        assert lines[-1] == "assent --help lists the commands."
        assert b"\x1b[?1049h" not in window.raw


def test_assent_alone_without_the_extra_says_how_to_get_the_inbox(shell: Shell) -> None:
    """The summary, and the line that installs what is missing."""
    shell.open(*QUESTION)
    with Window(shell, program=(sys.executable, "-c", WITHOUT_TEXTUAL)) as window:
        assert window.end() == 0
        lines = [line for line in window.lines if line]
    assert lines[0] == "1 ask waits in all your projects."
    assert lines[-1] == "pip install 'assent[tui]' makes this an inbox that you answer from."


def test_store_that_cannot_be_read_is_an_error_and_no_screen(shell: Shell) -> None:
    """It is said as every command says it, on the terminal that there was."""
    shell.open(*QUESTION)
    for path in shell.store.parent.glob("assent.db*"):
        path.unlink()
    shell.store.write_text("no store")
    with Window(shell) as window:
        assert window.end() not in (0, None)
        assert b"\x1b[?1049h" not in window.raw
        assert window.text.strip()
        assert "Traceback" not in window.text


def test_second_process_that_answers_first_folds_the_card_and_keeps_the_draft(shell: Shell) -> None:
    """Who, what and when stand there; what was marked here is kept and was not sent."""
    ask_id = shell.open(*QUESTION)
    with Window(shell) as window:
        window.armed("Which database?")
        window.press("a")
        window.until("Marked: PostgreSQL", "Enter: Send")
        done = shell.run("answer", ask_id, "SQLite", USER="sam", LOGNAME="sam")
        assert done.status == 0, done.err
        shown = window.until("sam", "SQLite", "0 wait")
        assert "PostgreSQL" in shown
        window.press(ENTER)
        told = shell.ask(ask_id).answer
        assert told is not None
        assert told.values == {"q1": ("SQLite",)}
        window.press("q")
        assert window.end() == 0


def test_new_ask_rings_once_and_moves_nothing(shell: Shell) -> None:
    """The count and the title change; what is open stays open, and what is marked stays marked."""
    shell.open(*QUESTION)
    with Window(shell) as window:
        window.armed("Which database?")
        assert window.bells == 0
        window.press("b")
        before = window.until("Marked: SQLite", "Enter: Send").splitlines()
        row = next(number for number, line in enumerate(before) if line.startswith("│>"))
        shell.open("Which queue?", "-o", "One", "-o", "Two")
        after = window.until("2 wait", "Marked: SQLite").splitlines()
        assert after[row].startswith("│>")
        window.wait(lambda: bool(window.text) and window.bells == 1)
        assert window.title == "(2) Assent"
        shell.open("Which cache?", "-o", "One", "-o", "Two")
        window.until("3 wait")
        window.wait(lambda: bool(window.text) and window.bells == 2)


def test_five_stores_are_one_list_and_a_sixth_joins_it(shell: Shell, tmp_path: Path) -> None:
    """Five agents in five folders: one list, each answered where it was asked; a store that is new is found."""
    others = []
    for name in ("api", "docs", "infra", "ledger", "web"):
        other = Shell(tmp_path / name)
        other.folder.mkdir()
        others.append((other, other.open(f"Question of {name}?", "-o", "Yes", "-o", "No")))
    with Window(shell) as window:
        window.armed("5 wait", "5 stores", *(f"Question of {other.folder.name}?" for other, _ in others))
        for left in range(5, 0, -1):
            window.armed(f"{left} wait", "Nothing marked")
            window.press("a")
            window.until("Marked: Yes", "Enter: Send")
            window.press(ENTER)
            window.until(f"{left - 1} wait")
            window.press("n")
        assert {str(other.ask(ask_id).state) for other, ask_id in others} == {"answered"}
        shell.open("Sixth?", "-o", "Yes", "-o", "No")
        window.until("1 wait", "6 stores")
        window.press("n")
        window.until("Sixth?")


def test_window_made_small_and_large_again_keeps_the_mark_and_waits_a_beat(shell: Shell) -> None:
    """40 columns and 10 rows still show options and status; an answer goes out from there, too."""
    ask_id = shell.open(*QUESTION)
    with Window(shell) as window:
        window.armed("Which database?")
        window.press("b")
        window.until("Marked: SQLite", "Enter: Send")
        window.resize(40, 10)
        small = window.until("SQLite", "Marked", gone=["┌"])
        assert all(len(line) <= 40 for line in small.splitlines())
        window.resize(120, 36)
        window.until("┌", "Marked: SQLite", "Enter: Send")
        window.press(ENTER)
        window.until("0 wait")
    assert not shell.ask(ask_id).is_open


def test_ctrl_c_leaves_and_answers_nothing(shell: Shell) -> None:
    """Marked or not: the ask waits on, and the mark is there when one comes back."""
    ask_id = shell.open(*QUESTION)
    with Window(shell) as window:
        window.armed("Which database?")
        window.press("b")
        window.until("Marked: SQLite", "Enter: Send")
        window.press(CTRL_C)
        assert window.end() == 0
        assert is_as_it_was(window)
    assert shell.ask(ask_id).is_open
    with Window(shell) as window:
        window.until("Marked: SQLite", "Enter: Send")
        window.press(CTRL_C)
        assert window.end() == 0


def test_ctrl_c_before_the_program_has_loaded_leaves_the_terminal_as_it_was(shell: Shell) -> None:
    """Whoever leaves while it opens finds their own screen, and has answered nothing."""
    ask_id = shell.open(*QUESTION)
    with Window(shell) as window:
        window.until("Which database?")
        window.press(CTRL_C)
        # An interpreter that was interrupted while it loaded a module ends by the signal, though that was dealt with.
        assert window.end() in (0, -signal.SIGINT)
        assert window.raw.rfind(b"\x1b[?1049l") > window.raw.rfind(b"\x1b[?1049h")
    assert shell.ask(ask_id).is_open


def test_stopped_and_resumed_program_arms_its_keys_again(shell: Shell) -> None:
    """Ctrl-Z gives the terminal back; after it the same screen comes, with the mark, and takes an answer."""
    ask_id = shell.open(*QUESTION)
    with Window(shell) as window:
        window.armed("Which database?")
        window.press("b")
        window.until("Marked: SQLite", "Enter: Send")
        window.press(CTRL_Z)
        wait_for(lambda: bool(window.text) and is_stopped(window.process))
        stopped_at = len(window.raw)
        os.kill(window.process.pid, signal.SIGCONT)
        wait_for(lambda: bool(window.text) and b"Keys arm in a moment" in window.raw[stopped_at:])
        window.until("Marked: SQLite", "Enter: Send")
        window.press(ENTER)
        window.until("0 wait")
    assert not shell.ask(ask_id).is_open


def test_store_that_goes_away_is_said_to_and_comes_back_by_itself(shell: Shell, tmp_path: Path) -> None:
    """Nothing is sent meanwhile, and the mark is kept; when the store is there again the answer goes out."""
    ask_id = shell.open(*QUESTION)
    with Window(shell) as window:
        window.armed("Which database?")
        window.press("b")
        window.until("Marked: SQLite", "Enter: Send")
        shutil.move(shell.store.parent, tmp_path / "elsewhere")
        window.until("OFFLINE", "SQLite")
        window.press(ENTER)
        window.until("Offline: nothing was sent.")
        shutil.move(tmp_path / "elsewhere", shell.store.parent)
        window.until("Marked: SQLite", "Enter: Send", gone=["OFFLINE"])
        assert shell.ask(ask_id).is_open
        window.press(ENTER)
        window.until("0 wait")
    assert shell.ask(ask_id).state is State.ANSWERED


def test_count_for_a_status_line_is_one_number_of_all_stores(shell: Shell, tmp_path: Path) -> None:
    """What `#(assent inbox --count --all)` shows in tmux: no terminal, no colour, one line."""
    other = Shell(tmp_path / "other")
    other.folder.mkdir()
    shell.open(*QUESTION)
    other.open("Another?", "-o", "Yes")
    counted = other.run("inbox", "--count", "--all")
    told = other.run("inbox", "--all", "--format", "{count} in {projects}")
    assert (counted.out, counted.err) == ("2\n", "")
    assert told.out == "2 in other, shop\n"
    with connect(shell.store, project="shop") as client:
        assert client.inbox()


def test_size_in_the_environment_is_not_that_of_the_window(shell: Shell) -> None:
    """A parent may have exported its own; the window is as large as it is."""
    shell.open(*QUESTION)
    with Window(shell, changes={"COLUMNS": "80", "LINES": "24"}) as window:
        window.armed("Which database?", "┌ Inbox")
        window.press("b")
        window.until("Marked: SQLite", "┌ Inbox")
        assert len(window.lines[1]) == 120
