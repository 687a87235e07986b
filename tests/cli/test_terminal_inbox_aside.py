"""The terminal inbox steps aside: for the shell on Ctrl-Z, and for a browser, which gets nothing of the terminal."""

import os
import shlex
import signal
import stat
import sys
import termios
from pathlib import Path

import pytest

from assent import connect
from assent.protocol.principal import Role
from tests.cli.serving import served
from tests.cli.shell import Shell, is_stopped, wait_for
from tests.cli.test_terminal_inbox import is_as_it_was
from tests.cli.window import Window

__all__: list[str] = []

CTRL_C, CTRL_Z, ENTER = "\x03", "\x1a", "\r"
PROMPT = "at the shell:"
FLAGS = 3
"""Where `tcgetattr` has the flags of lines."""


def is_typed_in_lines(window: Window) -> bool:
    """Say whether the terminal shows what is typed, gathers it into lines, and makes signals of keys."""
    wanted = termios.ECHO | termios.ICANON | termios.ISIG
    return bool(termios.tcgetattr(window.master)[FLAGS] & wanted == wanted)


def test_ctrl_z_gives_the_terminal_back_as_it_was(shell: Shell) -> None:
    """Nobody else mends it here: cursor, screen, title, echo and what the keyboard sends are the program's to restore."""
    ask_id = shell.open("Which database?", "-o", "PostgreSQL", "-o", "SQLite")
    with Window(shell) as window:
        window.armed("Which database?")
        assert not is_typed_in_lines(window)
        window.press("b")
        window.until("Marked: SQLite", "Enter: Send")
        window.press(CTRL_Z)
        wait_for(lambda: bool(window.text) and is_stopped(window.process))
        wait_for(lambda: bool(window.text) and is_as_it_was(window))
        assert is_typed_in_lines(window)
        for ended, begun in (
            (b"\x1b[?2004l", b"\x1b[?2004h"),
            (b"\x1b[?1004l", b"\x1b[?1004h"),
            (b"\x1b[<u", b"\x1b[>"),
        ):
            assert window.raw.rfind(ended) > window.raw.rfind(begun)
        assert shell.ask(ask_id).is_open
        os.kill(window.process.pid, signal.SIGCONT)
        window.until("Marked: SQLite", "Enter: Send")
        wait_for(lambda: bool(window.text) and window.title == "(1) Assent")
        assert not is_typed_in_lines(window)
        window.press(CTRL_C)
        assert window.end() == 0
        assert is_as_it_was(window)
        # Each title that was put aside was taken back: the one of whoever started us is there again.
        assert window.raw.count(b"\x1b[22;2t") == window.raw.count(b"\x1b[23;2t") == 2
        assert is_typed_in_lines(window)


def test_inbox_that_is_fetched_back_by_fg_is_at_the_same_place_with_the_words_that_were_being_typed(
    shell: Shell,
) -> None:
    """In a real shell; meanwhile an ask came and nothing was answered, and the next keys go on where the last ones were."""
    older = shell.open("What must stay?")
    newer = shell.open("Which database?", "-o", "PostgreSQL", "-o", "SQLite")
    with Window(shell, program=("/bin/sh", "-i"), changes={"PS1": PROMPT, "ENV": None}) as window:
        window.until(PROMPT)
        window.press(f"{shlex.quote(sys.executable)} -m assent{ENTER}")
        window.armed("Which database?", "2 wait")
        window.press("j")
        window.armed("What must stay?", "Nothing written")
        window.press("i")
        window.until("F2 sends")
        window.press("the ledg")
        window.until("the ledg")
        window.press(CTRL_Z)
        before = len(window.raw)
        wait_for(lambda: bool(window.text) and PROMPT.encode() in window.raw[before:])
        assert is_as_it_was(window)
        window.press(f"stty -a | tr ' ;' '\\n\\n' | grep -x -e echo -e icanon | tr '\\n' '+'{ENTER}")
        wait_for(lambda: bool(window.text) and b"icanon+echo+" in window.raw[before:])
        third = shell.open("Which queue?", "-o", "One", "-o", "Two")
        assert [shell.ask(each).is_open for each in (older, newer, third)] == [True] * 3
        window.press(f"fg{ENTER}")
        window.until("3 wait", "What must stay?", "F2 sends", "the ledg", "Enter: Send")
        window.press("er\x1bOQ")  # F2
        window.until("2 wait", "Accepted")
        window.press(CTRL_C)
        wait_for(lambda: bool(window.text) and is_as_it_was(window))
        window.press(f"exit{ENTER}")
        window.end()
    answer = shell.ask(older).answer
    assert answer is not None
    assert list(answer.values.values()) == [("the ledger",)]
    assert [shell.ask(each).is_open for each in (newer, third)] == [True, True]


def test_ctrl_z_before_the_program_has_loaded_leaves_nobody_at_the_shell_on_its_screen(shell: Shell) -> None:
    """It cannot step aside yet, so it goes on; if it had just loaded, it steps aside as ever."""
    shell.open("Which database?", "-o", "PostgreSQL", "-o", "SQLite")
    with Window(shell, program=("/bin/sh", "-i"), changes={"PS1": PROMPT, "ENV": None}) as window:
        window.until(PROMPT)
        window.press(f"{shlex.quote(sys.executable)} -m assent{ENTER}")
        window.until("Which database?")
        before = len(window.raw)
        window.press(CTRL_Z)
        ends = (PROMPT.encode(), b"Keys ready")
        wait_for(lambda: bool(window.text) and any(end in window.raw[before:] for end in ends))
        is_at_the_shell = PROMPT.encode() in window.raw[before:]
        assert is_as_it_was(window) is is_at_the_shell


# The browser


@pytest.fixture
def browser(tmp_path: Path) -> Path:
    """Give a browser that writes down what it was told to open, prints, and says what it has of a terminal."""
    program = tmp_path / "browser"
    program.write_text(
        f"#!{sys.executable}\n"
        "import os, pathlib, sys\n"
        "print('NOISE OF A BROWSER', flush=True)\n"
        "try:\n"
        "    terminal = os.open('/dev/tty', os.O_RDWR)\n"
        "except OSError:\n"
        "    terminal = -1\n"
        "told = pathlib.Path(__file__).with_name('told')\n"
        "told.with_suffix('.new').write_text(f'{sys.argv[1]} {terminal} {sys.stdin.read()!r}')\n"
        "told.with_suffix('.new').rename(told)\n"
    )
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return program


def test_w_opens_the_page_of_the_ask_in_the_persons_own_browser(shell: Shell, browser: Path) -> None:
    """It gets the address and nothing of the terminal; a project may be called by what an address cannot hold."""
    made = shell.run(
        *("token", "create", "--role", Role.HUMAN, "--name", "ana", "--all-projects", "--unattended")
    )
    assert made.status == 0, made.err
    ask_id = shell.open("Which database?", "-o", "PostgreSQL", "-o", "SQLite", "--project", "shop & 50% #2")
    with served(shell) as server:
        place = {"ASSENT_STORE": server.url, "ASSENT_TOKEN": made.out.strip(), "BROWSER": str(browser)}
        with Window(shell, changes={**place, "DISPLAY": None, "WAYLAND_DISPLAY": None}) as window:
            window.armed("Which database?")
            window.press("b")
            window.until("Marked: SQLite", "Enter: Send")
            window.press("w")
            window.until("Opened in the browser")
            told = browser.with_name("told").read_text()
            assert told == f"{server.url}/#/inbox/shop%20%26%2050%25%20%232/{ask_id} -1 ''"
            assert b"NOISE" not in window.raw
            window.press("q")
            assert window.end() == 0
    with connect(shell.store, project="shop & 50% #2") as client:
        assert client.show(ask_id).is_open


def test_w_says_so_where_the_browser_ends_in_failure_or_is_none(shell: Shell) -> None:
    """The address can still be read, and opened elsewhere."""
    made = shell.run(
        *("token", "create", "--role", Role.HUMAN, "--name", "ana", "--all-projects", "--unattended")
    )
    shell.open("Which database?", "-o", "PostgreSQL", "-o", "SQLite")
    none = {"DISPLAY": None, "WAYLAND_DISPLAY": None}
    with served(shell) as server:
        place = {"ASSENT_STORE": server.url, "ASSENT_TOKEN": made.out.strip(), **none}
        said = []
        for named in (None, "/bin/false"):
            with Window(shell, changes={**place, "BROWSER": named}) as window:
                window.armed("Which database?")
                window.press("w")
                said.append(window.until(f"{server.url}/#/inbox/shop/"))
    assert "There is no browser here: " in said[0]
    assert "The browser did not open: " in said[1]


def test_w_on_a_file_says_that_there_is_no_page(shell: Shell, browser: Path) -> None:
    """Nothing is started; and it is said what would make a page."""
    shell.open("Which database?", "-o", "PostgreSQL", "-o", "SQLite")
    with Window(shell, changes={"BROWSER": str(browser)}) as window:
        window.armed("Which database?")
        window.press("w")
        window.until("This store has no page: no server shows it. assent serve starts one.")
        window.press("q")
        assert window.end() == 0
    assert not browser.with_name("told").exists()
