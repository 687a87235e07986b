"""One ask, two ways to end it: the first wins and the loser is told."""

import io
import os
import pty
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from assent import Ask, Client, StillOpen, connect
from assent.protocol.approval import approval_prompt
from assent.protocol.error import StoreFullError
from assent.protocol.prompt import Field, Option, Prompt
from assent.surfaces.race import answer_here
from assent.surfaces.terminal import TerminalSurface
from tests.patience import PATIENCE
from tests.surfaces.room import Room

__all__: list[str] = []


class Table:
    """An open ask, the person at the keyboard, and somebody elsewhere."""

    def __init__(self, folder: Path) -> None:
        self.keys, self.keyboard = pty.openpty()
        self.screen = io.StringIO()
        now = datetime(2026, 3, 1, tzinfo=UTC)
        self.surface = TerminalSurface(lambda: now, {}, keyboard=self.keyboard, screen=self.screen)
        path = folder / "x.db"
        self.agent = connect(path, project="p")
        self.here = connect(path, project="p", principal="human:ana")
        self.elsewhere = connect(path, project="p", principal="human:sam")

    def open(self) -> Ask:
        """Ask something."""
        return self.agent.open("Which?", ["Red", "Blue"]).ask

    def close(self) -> None:
        """Let everything go."""
        self.surface.close()
        for client in (self.agent, self.here, self.elsewhere):
            client.close()
        os.close(self.keys)
        os.close(self.keyboard)


@pytest.fixture
def table(tmp_path: Path) -> Iterator[Table]:
    """Give a table on a store of its own."""
    table = Table(tmp_path)
    yield table
    table.close()


def test_typed_reply_wins_when_it_is_first(table: Table) -> None:
    """Two asks in a row: the first one's end does not disturb the second."""
    for key, value in ((b"2\n", "Blue"), (b"red\n", "Red")):
        ask = table.open()
        os.write(table.keys, key)
        ended = answer_here(table.surface, table.here, ask)
        assert ended.answer is not None
        assert (ended.answer.by, ended.answer.values) == ("human:ana", {"q1": (value,)})


def test_answer_from_elsewhere_wins_when_it_is_first(table: Table) -> None:
    """The prompt ends by itself and says who."""
    ask = table.open()
    threading.Timer(0.05, table.elsewhere.answer, (ask.ask_id, "Blue")).start()
    ended = answer_here(table.surface, table.here, ask)
    assert ended.answer is not None
    assert ended.answer.by == "human:sam"
    assert "Answered elsewhere: sam answered at" in table.screen.getvalue()


def test_typed_reply_that_loses_is_told_who_won(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    """The news is still on its way when the line is sent: the store decides, and the loser hears who, when, what."""
    ask = table.open()
    ends = threading.Event()

    def late(*_: object) -> Ask:
        ends.wait(PATIENCE)
        return table.here.show(ask.ask_id)

    def answer(*given: Any, **named: Any) -> Ask:
        try:
            return answering(*given, **named)
        finally:
            ends.set()

    table.elsewhere.answer(ask.ask_id, "Blue")
    answering = Client.answer
    monkeypatch.setattr(Client, "wait", late)
    monkeypatch.setattr(Client, "answer", answer)
    os.write(table.keys, b"1\n")
    ended = answer_here(table.surface, table.here, ask)
    assert ended.answer is not None
    assert (ended.answer.by, ended.answer.values) == ("human:sam", {"q1": ("Blue",)})
    assert "Too late, nothing was changed: sam answered at" in table.screen.getvalue()
    assert '"Blue".' in table.screen.getvalue()


def test_wrong_answer_by_key_is_no_answer_to_the_question_that_is_open(table: Table) -> None:
    """It is echoed; what it was meant to change is asked again, and the rest is kept."""
    fields = (
        Field("colour", "Which?", (Option("r", "Red"), Option("b", "Blue"))),
        Field("why", "Why?", free=True),
        Field("when", "When?", free=True),
    )
    ask = table.agent.open(Prompt("Three", fields=fields)).ask
    os.write(table.keys, b"red\nq1: green\nb\nnice\nq3: soon\n")
    ended = answer_here(table.surface, table.here, ask)
    assert ended.answer is not None
    assert ended.answer.values == {"colour": ("b",), "why": ("nice",), "when": ("soon",)}
    assert '"green" is no answer to q1.' in table.screen.getvalue()


def test_wait_that_lapses_leaves_the_ask_open(table: Table) -> None:
    """With its own error, and the ask in it."""
    ask = table.open()
    with pytest.raises(StillOpen) as lapsed:
        answer_here(table.surface, table.here, ask, 0.05)
    assert lapsed.value.ask is not None
    assert lapsed.value.ask.is_open


def test_end_of_input_leaves_the_ask_open(table: Table) -> None:
    """No reply is no answer."""
    ask = table.open()
    os.write(table.keys, b"\x04")
    with pytest.raises(EOFError):
        answer_here(table.surface, table.here, ask)
    assert table.agent.show(ask.ask_id).is_open


def test_store_that_fails_keeps_the_prompt(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    """A full disk is said in a sentence; once there is room, the same prompt works."""
    ask = table.open()
    real, failures = Client.answer, iter([StoreFullError()])

    def full_once(client: Client, ask_id: str, reply: str, *, confirmed: bool) -> Ask:
        for failure in failures:
            raise failure
        return real(client, ask_id, reply, confirmed=confirmed)

    monkeypatch.setattr(Client, "answer", full_once)
    os.write(table.keys, b"1\n1\n")
    assert answer_here(table.surface, table.here, ask).answer is not None
    assert "The disk is full" in table.screen.getvalue()
    assert "Nothing was sent; try again." in table.screen.getvalue()


# What cannot be undone

GRAVE = Prompt(
    "Which?",
    "",
    (Field("how", "", (Option("keep", "Keep it"), Option("drop", "Drop it", destructive=True))),),
)
CHECK = 'This chooses "Drop it", which cannot be undone. Proceed? [y/n]'


@pytest.fixture
def room() -> Iterator[Room]:
    """Give a room with a keyboard, where a line is typed once the prompt's sign is there."""
    room = Room()
    yield room
    room.close()


@pytest.mark.parametrize("yes", ["y", "yes", " YES "])
def test_destructive_option_is_sent_after_a_yes_to_its_name(room: Room, yes: str) -> None:
    """One of the two words, and nothing else, is a yes."""
    ask = room.agent.open(GRAVE).ask
    room.type(f"2\n{yes}\n")
    ended = answer_here(room.terminal, room.typist, ask)
    assert ended.answer is not None
    assert ended.answer.values == {"how": ("drop",)}
    assert room.screen.getvalue().count(CHECK) == 1


@pytest.mark.parametrize("said", ["", "n", "2", "yes please", "drop it", "y y"])
def test_anything_else_sends_nothing_and_shows_the_ask_again(room: Room, said: str) -> None:
    """Also the option's own number, a second time."""
    ask = room.agent.open(GRAVE).ask
    room.type(f"Drop it\n{said}\nKeep it\n")
    ended = answer_here(room.terminal, room.typist, ask)
    assert ended.answer is not None
    assert ended.answer.values == {"how": ("keep",)}
    shown = room.screen.getvalue()
    assert (shown.count(CHECK), shown.count("A) Keep it")) == (1, 2)


def test_yes_that_was_typed_before_the_question_stood_there_is_none(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody confirms what was not yet on the screen: what came with the reply is thrown away."""
    ask = room.agent.open(GRAVE).ask
    show, typed = room.screen.write, iter([b"2\ny\n", b"n\n", b"1\n"])

    def type_ahead(text: str) -> int:
        if text.endswith("> "):
            os.write(room.keys, next(typed))
        return show(text)

    monkeypatch.setattr(room.screen, "write", type_ahead)
    ended = answer_here(room.terminal, room.typist, ask)
    assert ended.answer is not None
    assert ended.answer.values == {"how": ("keep",)}
    assert CHECK in room.screen.getvalue()


def test_round_asks_its_destructive_question_again_after_a_no(room: Room) -> None:
    """What else was answered stays."""
    fields = (Field("why", "Why?", free=True), *GRAVE.fields)
    ask = room.agent.open(Prompt("Two", fields=fields)).ask
    room.type("old\n2\nn\n1\n")
    ended = answer_here(room.terminal, room.typist, ask)
    assert ended.answer is not None
    assert ended.answer.values == {"why": ("old",), "how": ("keep",)}


def test_approval_is_rejected_with_words_at_the_prompt(room: Room) -> None:
    """The prompt says how, and the agent is told the words."""
    handle = room.agent.open(approval_prompt("Drop it?", {"command": "psql"}), kind="approval")
    room.type("Reject: not on a Friday\n")
    ended = answer_here(room.terminal, room.typist, handle.ask)
    assert ended.answer is not None
    assert (ended.answer.values, ended.answer.reason) == ({"approve": ("Reject",)}, "not on a Friday")
    assert "Reject: WHY says no, and tells the agent why." in room.screen.getvalue()
