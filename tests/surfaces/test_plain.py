"""The numbered list for hosts without a tool that blocks: never prose alone, and one reply at a time."""

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from assent.client.drive import drive
from assent.flows.step import Answered, Ask, Ended, Flow, ask, say
from assent.protocol.block import render_question
from assent.protocol.error import StillOpen
from assent.protocol.gate import PHASE_GATE, Gate, render_gate
from assent.protocol.prompt import Prompt, question
from assent.surfaces.plain import PlainSurface
from tests.proves import proves
from tests.surfaces.menus import BLOCK, FINDING, FINDING_LINES, MENUS, ROUTING, SHORT_LINES, WITHOUT_B

__all__: list[str] = []

NUMBERED = [
    "1. Apply the proposed fix",
    "2. Defer — append to the doc's Open Questions section",
    "3. Skip — don't apply, don't append (recommended)",
    "4. LFG the rest — apply the agent's best judgment to this and remaining findings",
]
SHORT_NUMBERED = [
    "1. Apply the proposed fix",
    "2. Skip — don't apply, don't append (recommended)",
    "3. LFG the rest — apply the agent's best judgment to this and remaining findings",
]


def replies(*texts: str) -> Callable[[], str | None]:
    """Return a reader that gives these, and then nothing."""
    left = list(texts)
    return lambda: left.pop(0) if left else None


def play(prompt: Prompt) -> Flow[Answered | Ended]:
    """Ask once, and say what came."""
    came = yield from ask(prompt)
    yield from say("→ Skipped.")
    return came


@proves("W29", "W47")
def test_menu_is_the_block_by_itself_and_then_the_numbered_question() -> None:
    """Two writes; the flow goes on with the reply after them."""
    written: list[str] = []
    came = drive(play(FINDING), PlainSurface(written.append, replies("3")))
    assert came == Answered({"decision": ("Skip",)}, "3")
    assert [text.split("\n") for text in written] == [
        BLOCK,
        [*FINDING_LINES[:2], *NUMBERED],
        ["→ Skipped."],
    ]


@proves("W47")
@pytest.mark.parametrize("typed", ["2", "C", "c)", "skip", SHORT_LINES[4], SHORT_NUMBERED[1]])
def test_list_that_lacks_an_option_is_numbered_from_one_and_keeps_its_letters(typed: str) -> None:
    """W-X11: what is shown is counted; B is nobody, and C is still Skip."""
    written: list[str] = []
    came = drive(play(WITHOUT_B), PlainSurface(written.append, replies("B", "4", typed)))
    assert came == Answered({"decision": ("Skip",)}, typed)
    assert written[1].split("\n") == [*SHORT_LINES[:3], *SHORT_NUMBERED]
    assert [text.split("\n") for text in written[2:4]] == [
        ['I didn\'t recognize "B".', *SHORT_NUMBERED],
        ['I didn\'t recognize "4".', *SHORT_NUMBERED],
    ]


@proves("W5", "W47")
@pytest.mark.parametrize("prompt", MENUS.values(), ids=MENUS)
def test_no_menu_is_written_without_its_numbered_list(prompt: Prompt) -> None:
    """All of its options, one a line; the stem is exactly what stands above them."""
    written: list[str] = []
    PlainSurface(written.append, replies()).present(Ask(prompt))
    options = prompt.fields[0].options
    lines = written[-1].split("\n")
    assert "\n".join(lines[: -len(options)]) == prompt.title
    for number, (line, option) in enumerate(zip(lines[-len(options) :], options, strict=True), start=1):
        assert line.removesuffix(" (recommended)") == f"{number}. {option.label}"
        assert line.endswith(" (recommended)") == option.recommended


@proves("W5")
def test_no_reply_is_no_decision() -> None:
    """The question was asked, and stays open."""
    written: list[str] = []
    with pytest.raises(StillOpen):
        drive(play(ROUTING), PlainSurface(written.append, replies()))
    assert len(written) == 1


def test_other_prompts_are_the_blocks_of_the_protocol() -> None:
    """A gate, and a question with its help line; a wrong reply brings the list alone."""
    gate, colour = Gate(PHASE_GATE, "12 files.").prompt, question("Which?", ["Red", "Blue"])
    written: list[str] = []
    surface = PlainSurface(written.append, replies("2", "x", "red"))
    drive(play(gate), surface)
    drive(play(colour), surface)
    assert written == [
        render_gate(gate),
        "→ Skipped.",
        render_question(colour),
        'I didn\'t recognize "x".\nA) Red\nB) Blue',
        "→ Skipped.",
    ]


def test_hostile_text_is_made_safe_in_all_that_is_written() -> None:
    """Agents write blocks, stems and what is said."""
    written: list[str] = []
    surface = PlainSurface(written.append, replies("\x1b"))
    evil = replace(FINDING, title="P1 \x1b.\nGo?", body="\u202e")
    surface.say("\x07")
    with pytest.raises(StillOpen):
        drive(play(evil), surface)
    assert written[:2] == ["<U+0007>", "<U+202E>"]
    assert "\x1b" not in "".join(written)
    assert len(written) == 4
