"""A terminal that goes away ends whatever asked or showed something on it, also where SIGHUP is ignored as under nohup."""

import os
import signal
import termios
from pathlib import Path

import pytest

from tests.cli.reviews import Desk as ReviewDesk
from tests.cli.sessions import Desk as SessionDesk
from tests.cli.shell import Shell, Terminal, wait_for
from tests.patience import PATIENCE

__all__: list[str] = []

QUESTION = ("Which database?", "-o", "PostgreSQL", "-o", "SQLite")
GONE = 128 + signal.SIGHUP
CTRL_Z = "\x1a"
LOCAL = 3
"""Where `tcgetattr` has the flags of lines."""
COOKED = termios.ECHO | termios.ICANON | termios.ISIG | termios.IEXTEN
MODES = {
    "screen": (b"\x1b[?1049h", b"\x1b[?1049l"),
    "cursor": (b"\x1b[?25l", b"\x1b[?25h"),
    "paste": (b"\x1b[?2004h", b"\x1b[?2004l"),
    "focus": (b"\x1b[?1004h", b"\x1b[?1004l"),
    "wrapping": (b"\x1b[?7l", b"\x1b[?7h"),
    "keyboard": (b"\x1b[>", b"\x1b[<u"),
    "title": (b"\x1b[22;2t", b"\x1b[23;2t"),
}
"""What a program for the whole screen says when it begins, and what it says when it has given the terminal back."""
MOUSE = (b"\x1b[?1000h", b"\x1b[?1002h", b"\x1b[?1003h", b"\x1b[?1006h", b"\x1b[?1015h", b"\x1b[?1016h")


def is_cooked(terminal: Terminal) -> bool:
    """Say whether the terminal shows what is typed, gathers it into lines, and makes signals of keys."""
    return bool(termios.tcgetattr(terminal.master)[LOCAL] & COOKED == COOKED)


def left_on(terminal: Terminal) -> list[str]:
    """Return what the program has switched on and not off again."""
    seen = terminal.seen
    assert all(begun in seen for begun, _ in MODES.values())
    left = [name for name, (begun, ended) in MODES.items() if seen.rfind(ended) < seen.rfind(begun)]
    return [*left, *(mode.decode() for mode in MOUSE if mode in seen)]


def is_shown(terminal: Terminal, text: str) -> bool:
    """Say whether a text is on the screen, as one line."""
    return terminal._read(0.05) and any(text in line for line in terminal.screen())


def inbox(shell: Shell, *, ignores_hangup: bool = False) -> Terminal:
    """Open the terminal inbox, and wait until it reads keys."""
    terminal = Terminal(shell, columns=120, stdout_too=True, ignores_hangup=ignores_hangup)
    terminal.until("Keys ready")
    assert not is_cooked(terminal)
    return terminal


# The terminal inbox


@pytest.mark.parametrize("ignores_hangup", [True, False], ids=["ignored", "usual"])
def test_inbox_ends_when_its_terminal_is_gone(shell: Shell, ignores_hangup: bool) -> None:
    """Reading a terminal that is gone returns at once, for ever: nobody must be left doing that."""
    ask_id = shell.open(*QUESTION)
    with inbox(shell, ignores_hangup=ignores_hangup) as terminal:
        terminal.hang_up()
        wanted = GONE if ignores_hangup else -signal.SIGHUP
        assert terminal.process.wait(PATIENCE) == wanted
    assert shell.ask(ask_id).is_open


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_signal_gives_the_terminal_back_and_then_ends_the_inbox(shell: Shell, number: signal.Signals) -> None:
    """Whoever waits for it sees the signal; whoever types next sees a terminal as it was."""
    ask_id = shell.open(*QUESTION)
    with inbox(shell) as terminal:
        terminal.process.send_signal(number)
        assert terminal.end().status == -number
        assert left_on(terminal) == []
        assert is_cooked(terminal)
    assert shell.ask(ask_id).is_open


def test_ignored_hangup_does_not_end_an_inbox_that_has_its_terminal(shell: Shell) -> None:
    """Under nohup the signal alone says nothing."""
    shell.open(*QUESTION)
    with inbox(shell, ignores_hangup=True) as terminal:
        terminal.process.send_signal(signal.SIGHUP)
        terminal.type("b")
        terminal.until("Marked: SQLite")
        terminal.type("\x03")
        assert terminal.end().status == 0
        assert left_on(terminal) == []


def test_inbox_ends_when_its_terminal_goes_while_it_starts(shell: Shell) -> None:
    """The first screen is there before anything reads keys."""
    shell.open(*QUESTION)
    with Terminal(shell, columns=120, stdout_too=True, ignores_hangup=True) as terminal:
        terminal.until("Which database?")
        terminal.hang_up()
        assert terminal.process.wait(PATIENCE) == GONE


def test_signal_while_the_inbox_starts_gives_the_terminal_back(shell: Shell) -> None:
    """The first screen is taken away again."""
    shell.open(*QUESTION)
    with Terminal(shell, columns=120, stdout_too=True) as terminal:
        terminal.until("Which database?")
        terminal.process.send_signal(signal.SIGTERM)
        assert terminal.end().status == -signal.SIGTERM
        assert is_cooked(terminal)
        for begun, ended in (MODES["screen"], MODES["cursor"], MODES["title"]):
            assert terminal.seen.rfind(ended) > terminal.seen.rfind(begun) >= 0


@pytest.mark.parametrize("ignores_hangup", [True, False], ids=["ignored", "usual"])
def test_inbox_that_was_stopped_ends_when_its_terminal_is_gone(shell: Shell, ignores_hangup: bool) -> None:
    """The system wakes it, and there is no terminal to take over again."""
    shell.open(*QUESTION)
    with inbox(shell, ignores_hangup=ignores_hangup) as terminal:
        terminal.type(CTRL_Z)
        wait_for(lambda: terminal._read(0.01) and is_cooked(terminal))
        status = Path(f"/proc/{terminal.process.pid}/stat")
        wait_for(lambda: status.read_text().rpartition(") ")[2].startswith("T"))
        terminal.hang_up()
        os.kill(terminal.process.pid, signal.SIGCONT)
        assert terminal.process.wait(PATIENCE) in (GONE, -signal.SIGHUP)


def test_words_in_a_field_are_kept_as_a_draft_when_the_terminal_is_gone(shell: Shell) -> None:
    """Nothing is sent, and nothing is lost."""
    ask_id = shell.open("What shall it be called?")
    with inbox(shell, ignores_hangup=True) as terminal:
        terminal.type("i")
        terminal.until("F2 sends")
        terminal.type("Blue heron")
        wait_for(lambda: is_shown(terminal, "Blue heron"))
        terminal.hang_up()
        assert terminal.process.wait(PATIENCE) == GONE
    assert shell.ask(ask_id).is_open
    with Terminal(shell, columns=120, stdout_too=True) as terminal:
        wait_for(lambda: is_shown(terminal, "Blue heron"))


# Prompts


@pytest.mark.parametrize(
    "command",
    [
        ("ask", *QUESTION),
        ("ask", *QUESTION, "--kind", "approval"),
        ("gate", "chunk-loop", "--summary", "Chunk 2 of 5."),
    ],
    ids=["question", "approval", "gate"],
)
def test_prompt_ends_with_its_ask_open_when_the_terminal_is_gone(
    shell: Shell, command: tuple[str, ...]
) -> None:
    """The end of the terminal is the end of input, and no answer."""
    with Terminal(shell, *command, ignores_hangup=True) as terminal:
        terminal.until("> ")
        terminal.hang_up()
        assert terminal.process.wait(PATIENCE) == 3
    assert shell.only_open().is_open


def test_session_ends_with_its_gate_open_when_the_terminal_is_gone(shell: Shell) -> None:
    """It is resumed another time."""
    desk = SessionDesk(shell)
    with Terminal(
        shell, "session", "findings.json", stdout_too=True, ignores_hangup=True, **desk.surroundings
    ) as terminal:
        terminal.until("> ")
        terminal.hang_up()
        assert terminal.process.wait(PATIENCE) == 3
    assert shell.only_open().is_open


@pytest.mark.parametrize("durable", [("--durable",), ()], ids=["durable", "in memory"])
def test_review_ends_when_the_terminal_is_gone(shell: Shell, durable: tuple[str, ...]) -> None:
    """A durable one leaves its question open."""
    desk = ReviewDesk(shell)
    with Terminal(shell, *desk.arguments, *durable, stdout_too=True, ignores_hangup=True) as terminal:
        terminal.until("> ")
        terminal.hang_up()
        assert terminal.process.wait(PATIENCE) == 3
    assert len(shell.waiting()) == len(durable)


def test_watched_board_ends_when_the_terminal_is_gone(shell: Shell) -> None:
    """It draws every second, and there is nothing to draw on."""
    with Terminal(shell, "runs", "--watch", stdout_too=True, ignores_hangup=True) as terminal:
        terminal.until("none active")
        terminal.hang_up()
        assert terminal.process.wait(PATIENCE) in (0, GONE)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_signal_gives_the_terminal_of_a_watched_board_back(shell: Shell, number: signal.Signals) -> None:
    """Keys are shown and gathered into lines again."""
    with Terminal(shell, "runs", "--watch", stdout_too=True) as terminal:
        terminal.until("none active")
        assert not is_cooked(terminal)
        terminal.process.send_signal(number)
        assert terminal.end().status == 128 + number
        assert is_cooked(terminal)


def test_loop_goes_on_without_its_terminal_where_hangups_are_ignored(shell: Shell) -> None:
    """It asks nothing there: that is what nohup is for."""
    go, done = shell.folder / "go", shell.folder / "done"
    line = f"while ! test -e {go}; do sleep 0.05; done; echo on; touch {done}"
    with Terminal(
        shell, "loop", "--max", "1", "--", "sh", "-c", line, stdout_too=True, ignores_hangup=True
    ) as terminal:
        terminal.until("iteration 1")
        terminal.hang_up()
        go.touch()
        assert terminal.process.wait(PATIENCE) == 7
    assert done.exists()
