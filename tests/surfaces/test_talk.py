"""A flow in memory on a terminal: the exact lines, nothing stored, and nothing decided by silence."""

import os
import re
import signal
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from assent.client.drive import drive
from assent.flows.step import Answered, Ask, Ended, Flow, ask, say
from assent.protocol.ask import Kind
from assent.protocol.error import StillOpen
from assent.protocol.gate import PHASE_GATE, Gate, render_gate
from assent.protocol.prompt import Field, Option, Prompt, question
from tests.cli.shell import Shell, Terminal
from tests.proves import proves
from tests.surfaces.menus import (
    BLOCK,
    FINDING,
    FINDING_LINES,
    MENUS,
    ROUTING,
    ROUTING_LINES,
    SHORT_LINES,
    WITHOUT_B,
)
from tests.surfaces.room import Room

__all__: list[str] = []

UP = "\x1b[A"


@pytest.fixture
def room() -> Iterator[Room]:
    """Give a room with a terminal whose width nobody knows."""
    room = Room()
    yield room
    room.close()


@pytest.fixture
def pipe() -> Iterator[Room]:
    """Give a room whose keyboard is a pipe."""
    room = Room(is_piped=True)
    yield room
    room.close()


def play(prompt: Prompt, kind: Kind = Kind.FINDING) -> Flow[Answered | Ended]:
    """Ask once, and say one line on each side of it."""
    yield from say("Before.")
    came = yield from ask(prompt, kind)
    yield from say("→ Skipped.")
    return came


@proves("W29")
@pytest.mark.parametrize(
    ("prompt", "block", "question_lines"),
    [(ROUTING, [], ROUTING_LINES), (FINDING, BLOCK, FINDING_LINES), (WITHOUT_B, BLOCK, SHORT_LINES)],
    ids=["routing", "finding", "without B"],
)
def test_menu_is_the_block_then_the_question_and_then_only_the_prompt_sign(
    room: Room, prompt: Prompt, block: list[str], question_lines: list[str]
) -> None:
    """No id, no word of ours between the two parts, none behind the last option."""
    room.type("C\n")
    came = drive(play(prompt), room.talk())
    assert isinstance(came, Answered)
    assert came.text == "C"
    parts = [*block, "", *question_lines] if block else question_lines
    assert room.shown() == ["Before.", "", *parts, "> → Skipped.", ""]
    assert room.agent.inbox() == []


@proves("W29")
@pytest.mark.parametrize("columns", [40, 80, 200])
def test_only_prose_of_a_block_is_wrapped_and_nothing_of_the_question(columns: int) -> None:
    """Headings, labels, tables and code stay whole at every width; so does what can be chosen."""
    prose = "word " * 60 + "end"
    kept = [
        f"## {'Heading ' * 30}end",
        f"**{'Label ' * 50}end**",
        "| a | b |" * 30,
        "```",
        "code " * 60 + "end",
        "~~~",
        "```",
    ]
    room = Room(columns=columns)
    room.talk().present(Ask(replace(FINDING, body="\n".join([*kept, "", prose, "", "short  line"]))))
    shown = room.shown()
    room.close()
    assert shown[: len(kept) + 2] == ["", *kept, ""]
    wrapped = shown[len(kept) + 2 : -len(FINDING_LINES) - 4]
    assert max(map(len, wrapped)) <= columns
    assert " ".join(wrapped) == prose
    assert shown[-len(FINDING_LINES) - 4 :] == ["", "short  line", "", *FINDING_LINES, ""]


@pytest.mark.parametrize("typed", ["E", "", "Z.", "5", "apply it", "A B", "A" + UP, "A\x1f", UP])
def test_reply_that_is_none_is_echoed_with_the_list_alone(room: Room, typed: str) -> None:
    """G17 and G18 hold for every menu; a key that types no text is no answer either."""
    room.type(f"{typed}\nA\n")
    came = drive(play(FINDING), room.talk())
    assert isinstance(came, Answered)
    assert came.values == {"decision": ("Apply",)}
    after = room.shown()[-len(FINDING_LINES[2:]) - 3 :]
    assert after[0].startswith("> I didn't recognize \"")
    assert after[1:] == [*FINDING_LINES[2:], "> → Skipped.", ""]


def test_key_that_types_no_text_is_refused_where_any_text_would_do(room: Room) -> None:
    """As a meeting refuses it."""
    room.type(f"well{UP}\nwell\n")
    talk = room.talk()
    talk.present(Ask(question("Why?")))
    assert talk.read() == "well"
    assert "There are keys in it that type no text." in room.screen.getvalue()


@pytest.mark.parametrize("prompt", MENUS.values(), ids=MENUS)
def test_what_was_typed_before_a_menu_was_shown_does_not_answer_it(room: Room, prompt: Prompt) -> None:
    """Nobody decides on what was not yet on the screen."""
    os.write(room.keys, b"A\n")
    room.type("B\n" if prompt.fields[0].options[1].mark == "B" else "2\n")
    came = drive(play(prompt), room.talk())
    assert isinstance(came, Answered)
    assert came.values == {"decision": (prompt.fields[0].options[1].key,)}


def test_lines_in_a_pipe_stay_for_the_menus_that_they_were_written_for(pipe: Room) -> None:
    """One reply a line, and each is shown behind the prompt's sign."""
    pipe.type("A\nD\n")
    talk = pipe.talk()
    assert drive(play(FINDING), talk) == Answered({"decision": ("Apply",)}, "A")
    assert drive(play(ROUTING), talk) == Answered({"decision": ("Report only",)}, "D")
    assert "> A" in pipe.shown()
    assert "> D" in pipe.shown()


@proves("W5")
def test_end_of_input_is_no_decision(pipe: Room) -> None:
    """Half a line counts for nothing, and the flow stops where it is."""
    pipe.type("A")
    pipe.end_input()
    with pytest.raises(StillOpen):
        drive(play(ROUTING), pipe.talk())
    assert "→ Skipped." not in pipe.screen.getvalue()
    assert pipe.shown()[2:7] == ROUTING_LINES


@proves("W5")
def test_question_is_shown_where_nobody_can_type_and_none_is_read(pipe: Room) -> None:
    """What waits in the pipe is not for it."""
    pipe.type("A\n")
    talk = pipe.talk(can_type=False)
    talk.present(Ask(ROUTING))
    assert talk.read() is None
    assert pipe.shown() == ["", *ROUTING_LINES, ""]


def test_interruption_passes_through(room: Room) -> None:
    """Ctrl-C ends the talk; whoever called decides what that means."""
    talk = room.talk()
    talk.present(Ask(FINDING))
    threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        talk.read()


def test_wake_ends_a_talk_without_a_reply(room: Room) -> None:
    """As the end of input does."""
    talk = room.talk()
    talk.present(Ask(FINDING))
    room.terminal.wake()
    assert talk.read() is None


def test_gate_in_memory_is_its_block(room: Room) -> None:
    """Without a header, as there is no ask."""
    gate = Gate(PHASE_GATE, "12 files, 340 lines.").prompt
    room.type("Quick mode\n")
    talk = room.talk()
    talk.present(Ask(gate))
    assert talk.read() == "Quick mode"
    assert room.screen.getvalue() == f"\n{render_gate(gate)}\n> "


def test_round_in_memory_is_asked_one_by_one(room: Room) -> None:
    """And all answers come together."""
    red = Field("colour", "Which?", (Option("red", "Red"), Option("blue", "Blue")))
    room.type("x\nb\nas it is free\n")
    came = drive(play(Prompt("Two", fields=(red, Field("why", "Why?", free=True)))), room.talk())
    assert came == Answered({"colour": ("blue",), "why": ("as it is free",)})


def test_letters_given_to_an_approval_do_not_hide_its_action(room: Room) -> None:
    """What has an action to show is shown whole, and marked."""
    room.talk().present(Ask(replace(FINDING, action={"command": "rm -rf x"}), Kind.APPROVAL))
    assert ": ## Finding 2 of 3 — P1 Readers see two tiers" in room.shown()
    assert ':   "command": "rm -rf x"' in room.shown()


def test_hostile_text_is_made_safe_in_a_block_a_stem_and_what_is_said(room: Room) -> None:
    """No byte of an agent's reaches the terminal as it is."""
    talk = room.talk()
    evil = "\x1b[2J\x9b31m\u202e\x07"
    talk.present(Ask(replace(FINDING, title=f"P1 {evil}.\nGo?", body=f"## {evil}\n```\n{evil}")))
    talk.say(f"**{evil}**")
    shown = room.screen.getvalue()
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", shown)
    assert shown.count("<U+001B>[2J") == 4


_TALK = """
import os
from assent.cli.place import now
from assent.client.drive import drive
from assent.flows.step import ask, say
from assent.surfaces.talk import Talk
from assent.surfaces.terminal import TerminalSurface
from tests.surfaces.menus import FINDING, ROUTING

def walk():
    yield from ask(ROUTING)
    came = yield from ask(FINDING)
    yield from say("→ Skipped.")
    return came.values["decision"][0]

with TerminalSurface(now, os.environ) as terminal:
    print(drive(walk(), Talk(terminal)), flush=True)
"""


@proves("W5", "W29")
def test_two_menus_on_a_real_terminal_line_by_line(tmp_path: Path) -> None:
    """A process on a pty of 100 columns: all that it writes is here, and a wrong reply brings only the list again."""
    folder = tmp_path / "shop"
    folder.mkdir()
    shell = Shell(folder)
    root = str(Path(__file__).parents[2])
    program = (sys.executable, "-c", _TALK)
    with Terminal(shell, program=program, columns=100, NO_COLOR="1", PYTHONPATH=root) as terminal:
        terminal.until("> ")
        terminal.type("A\n")
        terminal.until("remaining findings\r\n> ")
        terminal.type("maybe\n")
        terminal.until("remaining findings\r\n> ", 2)
        terminal.type("c\n")
        ended = terminal.end()
    shell.close()
    assert ended.err.replace("\r\n", "\n").split("\n") == [
        "",
        *ROUTING_LINES,
        "> A",
        "",
        *BLOCK,
        "",
        *FINDING_LINES,
        "> maybe",
        'I didn\'t recognize "maybe".',
        *FINDING_LINES[2:],
        "> c",
        "→ Skipped.",
        "",
    ]
    assert (ended.status, ended.out) == (0, "Skip\n")
