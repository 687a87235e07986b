"""A flow's asks on a terminal, stored: answered here or elsewhere, found again by name, and never answered by silence."""

import os
import threading
from collections.abc import Iterator

import pytest

from assent import State
from assent.client.drive import drive
from assent.flows.gate import check, pass_gate
from assent.flows.step import Answered, Ended, Flow
from assent.flows.step import Ask as AskStep
from assent.protocol.ask import Kind
from assent.protocol.error import BadPromptError, StillOpen
from assent.protocol.gate import CHUNK_LOOP, PHASE_GATE, Choice, Gate, check_question
from assent.protocol.principal import Assurance
from assent.protocol.prompt import question
from assent.surfaces.meeting import Meeting
from tests.proves import proves
from tests.surfaces.menus import BLOCK as BLOCK_LINES
from tests.surfaces.menus import FINDING, FINDING_LINES
from tests.surfaces.room import Room

__all__: list[str] = []

GATE = Gate(PHASE_GATE, "12 files, 340 lines.")
STEP = AskStep(GATE.prompt)
BLOCK = """### \N{OCTAGONAL SIGN} REVIEW GATEWAY: Phase Gate

12 files, 340 lines.

**Select an action:**
1. Proceed
2. Set focus
3. Quick mode
4. Cancel

*Type a number or command to proceed.*
"""
BRIEF = "1. Proceed\n2. Set focus\n3. Quick mode\n4. Cancel\n"


@pytest.fixture
def room() -> Iterator[Room]:
    """Give a room with a terminal."""
    room = Room()
    yield room
    room.close()


@pytest.fixture
def pipe() -> Iterator[Room]:
    """Give a room whose keyboard is a pipe."""
    room = Room(is_piped=True)
    yield room
    room.close()


@proves("G9", "G10", "G11", "G36")
def test_gate_is_shown_as_the_exact_block_and_then_only_the_prompt_sign(room: Room) -> None:
    """What is around it stands above: who asks, and how to answer from elsewhere."""
    meeting = room.meeting()
    meeting.present(STEP)
    assert meeting.ask is not None
    above, block, after = room.screen.getvalue().partition(BLOCK)
    assert above.splitlines()[1].startswith("? question  test / agent:coder")
    assert above.splitlines()[2:] == [f"Or from elsewhere: assent answer {meeting.ask.ask_id[-6:]} …", ""]
    assert (block, after) == (BLOCK, "")
    room.type("2\n")
    assert meeting.read() == Answered({"action": ("Set focus",)}, "2", "human:ana")
    assert room.screen.getvalue() == f"{above}{BLOCK}> "


@proves("W29")
def test_stored_menu_has_what_is_around_it_above_its_block(room: Room) -> None:
    """Who asks and how to answer from elsewhere; between block and question, and behind the last option, is nothing."""
    meeting = room.meeting()
    os.write(room.keys, b"A\n")  # typed before it was shown, so for nothing
    meeting.present(AskStep(FINDING, Kind.FINDING))
    assert meeting.ask is not None
    blank, header, elsewhere, *shown = room.shown()
    assert blank == ""
    assert header.startswith("* finding  test / agent:coder")
    assert elsewhere == f"Or from elsewhere: assent answer {meeting.ask.ask_id[-6:]} …"
    assert shown == ["", *BLOCK_LINES, "", *FINDING_LINES, ""]
    room.type("B and C\nb\n")
    assert meeting.read() == Answered({"decision": ("Defer",)}, "b", "human:ana")
    assert room.shown()[len(shown) + 2 :] == [
        '> I didn\'t recognize "B and C".',
        *FINDING_LINES[2:],
        "> ",
    ]


def test_typed_reply_is_stored_as_the_typists(room: Room) -> None:
    """And the meeting counts it, and knows the ask that ended."""
    meeting = room.meeting()
    meeting.present(STEP)
    room.type("Cancel\n")
    meeting.read()
    assert (meeting.ask, meeting.asked) == (None, 1)
    assert meeting.ended is not None
    assert meeting.ended.answer is not None
    assert meeting.ended.answer.assurance is Assurance.TERMINAL
    assert meeting.ended.asker == "agent:coder"
    assert meeting.ended.key is None


def test_answer_from_elsewhere_ends_the_prompt(room: Room) -> None:
    """The first wins, and the screen says who it was."""
    meeting = room.meeting()
    meeting.present(STEP)
    room.later(meeting.ask, "proceed")
    assert meeting.read() == Answered({"action": ("Proceed",)}, "proceed", "human:sam")
    assert "Answered elsewhere: sam answered at " in room.screen.getvalue()


@proves("G12", "G13")
def test_end_of_input_decides_nothing(room: Room) -> None:
    """The flow gets no result, and the ask stays open."""
    meeting = room.meeting()
    room.type("\x04")
    with pytest.raises(StillOpen):
        drive(pass_gate(GATE), meeting)
    assert meeting.ask is not None
    assert room.agent.show(meeting.ask.ask_id).is_open
    assert meeting.asked == 0


def test_answer_that_is_stored_when_the_input_ends_counts(pipe: Room) -> None:
    """Which of the two is noticed first must not matter: a person has answered."""
    meeting = pipe.meeting()
    meeting.present(STEP)
    assert meeting.ask is not None
    pipe.end_input()
    pipe.elsewhere.answer(meeting.ask.ask_id, "3")
    assert meeting.read() == Answered({"action": ("Quick mode",)}, "3", "human:sam")


@proves("G13")
def test_wait_that_lapses_decides_nothing(room: Room) -> None:
    """No time is long enough for a default."""
    meeting = room.meeting(seconds=0.05)
    with pytest.raises(StillOpen):
        drive(pass_gate(GATE), meeting)
    assert meeting.ask is not None
    assert room.agent.show(meeting.ask.ask_id).is_open


def test_without_a_typist_nothing_that_is_typed_counts(room: Room) -> None:
    """The block is shown all the same, and how to answer it stands above."""
    meeting = Meeting(room.agent, None, room.terminal)
    room.type("1\n")
    meeting.present(STEP)
    room.later(meeting.ask, "4")
    assert meeting.read() == Answered({"action": ("Cancel",)}, "4", "human:sam")
    shown = room.screen.getvalue()
    assert "Waiting for an answer from elsewhere: assent answer " in shown.partition(BLOCK)[0]
    assert "> " not in shown.partition(BLOCK)[2]


def test_no_to_being_asked_reaches_the_flow(room: Room) -> None:
    """Declined is not an answer."""
    meeting = room.meeting()
    meeting.present(STEP)
    assert meeting.ask is not None
    room.elsewhere.decline(meeting.ask.ask_id, "not mine")
    assert meeting.read() == Ended(State.DECLINED, "not mine", "human:sam")
    assert meeting.asked == 1


def test_name_finds_replies_again_and_asks_only_what_is_new(room: Room) -> None:
    """Whoever comes again goes on where it stopped, and what is known is not shown again."""

    def two_gates() -> Flow[list[Choice | Ended]]:
        first = yield from pass_gate(GATE)
        second = yield from pass_gate(Gate(CHUNK_LOOP, "Chunk 1."))
        return [first, second]

    room.type("3\n\x04")
    with pytest.raises(StillOpen):
        drive(two_gates(), room.meeting("review"))
    room.screen.truncate(0)
    room.type("1\n")
    again = room.meeting("review")
    assert drive(two_gates(), again) == [Choice("Quick mode"), Choice("Continue")]
    assert again.asked == 2
    assert "Phase Gate" not in room.screen.getvalue()
    assert [ask.key for ask in room.agent.inbox()] == []


def test_name_with_a_count_goes_on_behind_it(room: Room) -> None:
    """A session that kept how many asks it had settled does not find the old ones."""
    meeting = room.meeting("review", asked=4)
    meeting.present(STEP)
    assert meeting.ask is not None
    assert meeting.ask.key == "review:5"


def test_open_ask_under_the_same_name_gives_its_place_up(room: Room) -> None:
    """Things have changed since: the old text can no longer be answered."""
    old = room.agent.open(question("Old?", ["A1", "B1"]), key="review:1").ask
    meeting = room.meeting("review")
    meeting.present(STEP)
    assert meeting.ask is not None
    assert meeting.ask.key == "review:1"
    assert room.agent.show(old.ask_id).state is State.SUPERSEDED


def test_ended_ask_with_another_text_is_never_taken_for_the_answer(room: Room) -> None:
    """Its number stays its own, and the next one is taken."""
    for number in (1, 2):
        old = room.agent.open(question(f"Old {number}?", ["Proceed", "Wait"]), key=f"review:{number}").ask
        room.elsewhere.answer(old.ask_id, "Proceed")
    meeting = room.meeting("review")
    meeting.present(STEP)
    assert meeting.ask is not None
    assert (meeting.ask.key, meeting.ask.is_open, meeting.asked) == ("review:3", True, 2)


@proves("G16", "G17", "G18", "G19", "G20", "G21")
def test_unrecognised_replies_get_the_echo_and_the_brief_list_without_limit(room: Room) -> None:
    """Nothing else is shown, nothing is chosen, and the next reply is as good as the first."""
    wrong = [
        "",
        "   ",
        "0",
        "5",
        "-1",
        "1.5",
        "a",
        "pro",
        "proceed!",
        "discard",
        "set focus",
        "set focus rust",
    ]
    meeting = room.meeting()
    meeting.present(STEP)
    room.type("".join(f"{reply}\n" for reply in [*wrong[:10], wrong[11]]) + "4\n")
    before = len(room.screen.getvalue())
    assert meeting.read() == Answered({"action": ("Cancel",)}, "4", "human:ana")
    expected = "".join(f'> I didn\'t recognize "{reply}".\n{BRIEF}' for reply in wrong[:10])
    expected += f'> I didn\'t recognize "set focus rust". There is no rust here.\n{BRIEF}> '
    assert room.screen.getvalue()[before:] == expected


@pytest.mark.parametrize("typed", ["\x1b[A", "todo: \x1b[Dfix it", "1\x1b[C", "todo: a\x07b", "\x7f1"])
def test_keys_that_type_no_text_are_never_part_of_an_answer(pipe: Room, typed: str) -> None:
    """An arrow in the middle of a task would be kept unseen; it is shown as a mark instead."""
    meeting = pipe.meeting()
    meeting.present(STEP)
    pipe.type(f"{typed}\n4\n")
    assert meeting.read() == Answered({"action": ("Cancel",)}, "4", "human:ana")
    assert "I didn't recognize" in pipe.screen.getvalue()
    assert "<U+" in pipe.screen.getvalue()
    assert "\x1b" not in pipe.screen.getvalue()


@proves("G25", "G26")
@pytest.mark.parametrize(
    ("reply", "is_confirmed"),
    [
        ("y", True),
        ("YES", True),
        (" Y ", True),
        ("n", False),
        ("", False),
        ("maybe", False),
        ("\x1b[Ay", False),
    ],
)
def test_check_is_confirmed_by_a_yes_only(pipe: Room, reply: str, *, is_confirmed: bool) -> None:
    """Any reply ends it, an empty one and a mistyped one, too."""
    pipe.type(f"{reply}\n")
    assert drive(check("Proceed? [y/n]"), pipe.meeting()) is is_confirmed
    is_echoed = reply in ("", "maybe", "\x1b[Ay")
    assert ("I didn't recognize" in pipe.screen.getvalue()) is is_echoed


@proves("G27")
def test_check_waits_like_a_gate(pipe: Room) -> None:
    """The end of input is no yes, and no no."""
    pipe.end_input()
    meeting = pipe.meeting()
    with pytest.raises(StillOpen):
        drive(check("Proceed? [y/n]"), meeting)
    assert meeting.ask is not None
    assert meeting.ask.prompt == check_question("Proceed? [y/n]")
    assert pipe.screen.getvalue().endswith("\nProceed? [y/n]\n> \n")


def test_piped_replies_are_written_after_the_prompt_sign(pipe: Room) -> None:
    """The transcript reads as if somebody had typed them; line ends of other systems are no part of them."""
    pipe.type("nope\r\n1\r\n")
    meeting = pipe.meeting()
    assert drive(pass_gate(GATE), meeting) == Choice("Proceed")
    shown = pipe.screen.getvalue().partition(BLOCK)[2]
    assert shown == f'> nope\nI didn\'t recognize "nope".\n{BRIEF}> 1\n'


def test_last_piped_line_without_an_end_is_not_read(pipe: Room) -> None:
    """Whoever wrote it may have meant to write more; a sentence says so."""
    pipe.type("1")
    pipe.end_input()
    with pytest.raises(StillOpen):
        drive(pass_gate(GATE), pipe.meeting())
    assert 'The last line, "1", has no line end, so it was not read.' in pipe.screen.getvalue()


def test_half_a_piped_line_is_not_left_for_the_next_ask(pipe: Room) -> None:
    """It was begun for an ask that somebody else answered."""
    meeting = pipe.meeting()
    meeting.present(STEP)
    pipe.type("pro")
    answering = pipe.later(meeting.ask, "4")
    assert meeting.read() == Answered({"action": ("Cancel",)}, "4", "human:sam")
    answering.join()
    meeting.present(STEP)
    pipe.type("ceed\n2\n")
    assert meeting.read() == Answered({"action": ("Set focus",)}, "2", "human:ana")


def test_piped_line_without_end_is_passed_over_and_told(pipe: Room) -> None:
    """It must neither fill the memory nor be an answer by its tail."""
    meeting = pipe.meeting()
    meeting.present(STEP)

    def write() -> None:
        for _ in range(20):
            os.write(pipe.keys, b"x" * 65_536)
        os.write(pipe.keys, b"\n1\n")

    writing = threading.Thread(target=write)
    writing.start()
    assert meeting.read() == Answered({"action": ("Proceed",)}, "1", "human:ana")
    writing.join()
    assert "A line of more than 1,048,576 bytes is not read." in pipe.screen.getvalue()


def test_what_a_flow_says_is_made_safe_and_fits() -> None:
    """An agent's text in it is not obeyed by the terminal."""
    narrow = Room(columns=80)
    narrow.meeting().say("red \x1b[31m and\u202e " + "word " * 30)
    shown = narrow.screen.getvalue()
    narrow.close()
    assert "<U+001B>[31m and<U+202E>" in shown
    assert max(map(len, shown.splitlines())) <= 80


def test_echo_shows_the_refusal_and_the_brief_list(room: Room) -> None:
    """For replies that a driver refuses by itself."""
    room.meeting().echo(STEP, BadPromptError('I didn\'t recognize "x".'))
    assert room.screen.getvalue() == f'I didn\'t recognize "x".\n{BRIEF}'


def test_read_without_an_ask_gives_nothing(room: Room) -> None:
    """There is nothing to reply to."""
    assert room.meeting().read() is None
