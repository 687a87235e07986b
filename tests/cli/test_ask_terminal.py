"""`assent ask` on a terminal: answered right there or from anywhere else, and silence stays silence."""

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from assent import ConflictError
from assent.protocol.principal import Assurance
from tests.cli.shell import Shell, Terminal
from tests.patience import PATIENCE

__all__: list[str] = []

QUESTION = ("Which database?", "-o", "PostgreSQL", "-o", "SQLite")


@pytest.fixture
def terminal(shell: Shell) -> Iterator[Terminal]:
    """Give a terminal on which the question stands and the prompt waits."""
    with Terminal(shell, "ask", *QUESTION) as terminal:
        terminal.until("> ")
        yield terminal


def test_reply_typed_at_the_prompt_is_the_persons_answer(shell: Shell, terminal: Terminal) -> None:
    """Standard output has the answer; the record has who typed it and where."""
    ask_id = shell.only_open().ask_id
    terminal.type("2\n")
    ended = terminal.end()
    assert (ended.status, ended.out) == (0, "SQLite\n")
    ask = shell.ask(ask_id)
    assert ask.asker.startswith("agent:")
    assert ask.answer is not None
    assert (ask.answer.by, ask.answer.via, ask.answer.assurance) == (
        "human:ana",
        "terminal",
        Assurance.TERMINAL,
    )
    assert ask.answer.text == "2"


def test_terminal_shows_question_options_silence_and_the_other_way(shell: Shell, terminal: Terminal) -> None:
    """All that a person needs before answering."""
    ask_id = shell.only_open().ask_id
    screen = terminal.screen()
    assert screen[1] == "? question  shop / agent:ana".ljust(80 - len(ask_id)) + ask_id
    assert screen[2:6] == ["Which database?", "", "  A) PostgreSQL", "  B) SQLite"]
    assert "If nobody answers, it waits." in screen
    assert f"Or from elsewhere: assent answer {ask_id[-6:]} …" in screen


def test_answer_from_elsewhere_ends_the_prompt_and_names_who(shell: Shell, terminal: Terminal) -> None:
    """The first answer wins, and the terminal folds by itself, half a line typed or not."""
    ask_id = shell.only_open().ask_id
    terminal.type("half a li")
    shell.answer(ask_id, "PostgreSQL", "sam")
    ended = terminal.end()
    assert (ended.status, ended.out) == (0, "PostgreSQL\n")
    assert "Answered elsewhere: sam answered at " in ended.err
    assert '"PostgreSQL".' in ended.err


def test_loser_elsewhere_is_told_who_was_first(shell: Shell, terminal: Terminal) -> None:
    """Typed here first: whoever comes later gets a conflict with the winner."""
    ask_id = shell.only_open().ask_id
    terminal.type("1\n")
    assert terminal.end().status == 0
    with pytest.raises(ConflictError, match=r'ana answered at .*: "PostgreSQL"'):
        shell.answer(ask_id, "SQLite", "sam")
    late = shell.run("answer", ask_id, "SQLite")
    assert (late.status, late.out) == (6, "")
    assert "ana answered at " in late.err


@pytest.mark.parametrize(
    ("key", "name"), [("\x03", "Ctrl-C"), ("\x04", "Ctrl-D"), ("1\x04\x04", "half a line")]
)
def test_leaving_the_prompt_decides_nothing(shell: Shell, terminal: Terminal, key: str, name: str) -> None:
    """Ctrl-C and the end of input, also in the middle of a line: status 3, and how to answer later."""
    ask_id = shell.only_open().ask_id
    terminal.type(key)
    ended = terminal.end()
    assert (ended.status, ended.out) == (3, ""), name
    assert "Nothing was decided; the ask stays open." in ended.err
    assert f"assent answer {ask_id[-6:]} …" in ended.err
    assert shell.only_open().is_open


def test_unknown_and_empty_replies_are_echoed_and_asked_again(shell: Shell, terminal: Terminal) -> None:
    """Never an answer, never ignored, without a limit; then a good one counts."""
    for times, reply in enumerate(["", "c", "SQL", "0", "yes", "   ", "1, 2", "\t"], start=1):
        terminal.type(f"{reply}\n")
        terminal.until("I didn't recognize ", times)
        terminal.until("> ", times + 1)
    assert shell.only_open().is_open
    screen = terminal.screen()
    at = screen.index('I didn\'t recognize "SQL".')
    assert screen[at + 1 : at + 3] == ["  A) PostgreSQL", "  B) SQLite"]
    terminal.type("postgresql\n")
    assert terminal.end().out == "PostgreSQL\n"


def test_closed_terminal_leaves_the_ask_open(shell: Shell, terminal: Terminal) -> None:
    """A hang-up ends the command, not the ask."""
    shell.only_open()
    terminal.hang_up()
    assert terminal.process.wait(PATIENCE) in (3, -signal.SIGHUP)
    assert shell.only_open().is_open


def test_closed_terminal_with_hangup_ignored_ends_with_3(shell: Shell) -> None:
    """As under nohup: the end of the terminal is the end of input."""
    with Terminal(shell, "ask", *QUESTION, ignores_hangup=True) as terminal:
        terminal.until("> ")
        terminal.hang_up()
        assert terminal.process.wait(PATIENCE) == 3
    assert shell.only_open().is_open


def test_agent_mark_keeps_the_terminal_from_being_read(shell: Shell) -> None:
    """An agent that has a terminal cannot answer itself by typing."""
    with Terminal(shell, "ask", *QUESTION, CLAUDECODE="1") as terminal:
        terminal.until("waiting for an answer")
        terminal.type("1\n")
        assert "CLAUDECODE is set" in terminal.seen.decode()
        ask = shell.only_open()
        shell.answer(ask.ask_id, "2")
        ended = terminal.end()
    assert (ended.status, ended.out) == (0, "SQLite\n")


def test_background_job_waits_without_reading_the_terminal(shell: Shell) -> None:
    """A job that is not in front must neither take what is typed to others nor be stopped for trying."""
    line = f"{sys.executable} -m assent ask 'Which?' -o Red -o Blue & wait $!"
    with Terminal(shell, program=("/bin/bash", "-mc", line)) as terminal:
        terminal.until("waiting for an answer")
        terminal.type("1\n")
        shell.answer(shell.only_open().ask_id, "Blue")
        assert terminal.end().out == "Blue\n"


def test_round_is_asked_one_by_one_and_sent_together(shell: Shell, tmp_path: Path) -> None:
    """Each question by itself; an earlier answer can be changed by its key."""
    (tmp_path / "round.json").write_text(
        '{"title": "New shop", "body": "Please.", "fields": ['
        '{"text": "Database?", "options": ["PostgreSQL", "SQLite"]},'
        '{"text": "Extras?", "options": ["Red", "Green", "Blue"], "multiple": true},'
        '{"text": "Name?"}]}'
    )
    with Terminal(shell, "ask", "--file", str(tmp_path / "round.json")) as terminal:
        terminal.until("Q1 of 3  Database?")
        assert "Q2" not in terminal.seen.decode()
        terminal.until("> ")
        terminal.type("nope\n")
        terminal.until('I didn\'t recognize "nope".')
        terminal.type("1\n")
        terminal.until("Q2 of 3  Extras?")
        terminal.type("q1: SQLite\n")
        terminal.until("Q2 of 3  Extras?", 2)
        terminal.type("a, blue\n")
        terminal.until("Q3 of 3  Name?")
        assert shell.only_open().is_open
        terminal.type("corner shop\n")
        ended = terminal.end()
    assert (ended.status, ended.out) == (0, "SQLite\nRed, Blue\ncorner shop\n")


def test_approval_ignores_what_was_typed_before_it_was_shown(shell: Shell) -> None:
    """Nobody approves what was not yet on the screen."""
    with Terminal(shell, "ask", "Drop it?", "-o", "Yes", "-o", "No", "--kind", "approval") as terminal:
        terminal.type("Yes\n")
        terminal.until("> ")
        assert shell.only_open().is_open
        terminal.type("No\n")
        assert terminal.end().out == "No\n"


def test_line_longer_than_a_terminal_hands_over_is_not_sent(shell: Shell) -> None:
    """Better nothing than an answer that was cut off in silence."""
    with Terminal(shell, "ask", "Tell me.") as terminal:
        terminal.until("> ")
        terminal.type("x" * 3_000)
        terminal.until("x" * 100)
        terminal.type("x" * 2_000 + "\n")
        terminal.until("nothing was sent")
        terminal.type("short\n")
        assert terminal.end().out == "short\n"


def test_line_that_is_not_text_is_not_sent(shell: Shell) -> None:
    """Bytes that are no UTF-8 would be changed on the way."""
    with Terminal(shell, "ask", "Tell me.") as terminal:
        terminal.until("> ")
        os.write(terminal.master, b"caf\xe9\n")
        terminal.until("is not UTF-8 text, so nothing was sent")
        terminal.type("café\n")
        assert terminal.end().out == "café\n"


@pytest.mark.parametrize(
    ("changes", "is_coloured"), [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)]
)
def test_colour_is_only_used_where_it_is_wanted(
    shell: Shell, changes: dict[str, Any], *, is_coloured: bool
) -> None:
    """The words are the same without it."""
    with Terminal(shell, "ask", *QUESTION, **changes) as terminal:
        terminal.until("> ")
        assert (b"\x1b[" in terminal.seen) is is_coloured
        terminal.type("1\n")
        assert terminal.end().out == "PostgreSQL\n"


def test_question_is_also_shown_when_standard_error_is_elsewhere(shell: Shell) -> None:
    """Whoever types sees what they answer."""
    line = f"exec {sys.executable} -m assent ask 'Which?' -o Red -o Blue 2>errors"
    with Terminal(shell, program=("/bin/sh", "-c", line)) as terminal:
        terminal.until("> ")
        assert "Which?" in terminal.screen()
        terminal.type("2\n")
        assert terminal.end().out == "Blue\n"
    assert "Which?" in (shell.folder / "errors").read_text()
