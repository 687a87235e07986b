"""Every screen of the terminal inbox, as it was looked at and kept; and what holds of any screen.

`python -m tests.surfaces.tui.sights --write` writes the kept ones anew.
"""

import io
from datetime import timedelta

import pyte
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from assent.protocol.approval import approval_prompt, approval_values
from assent.protocol.ask import State
from assent.protocol.terms import ReceiptId, Terms
from assent.surfaces.tui.action import action_lines
from assent.surfaces.tui.ask_card import card_lines
from assent.surfaces.tui.choice_card import option_lines
from assent.surfaces.tui.curtain import Curtain
from assent.surfaces.tui.fate_card import fate_lines
from assent.surfaces.tui.line import Line
from assent.surfaces.tui.order import order
from assent.surfaces.tui.reply import Reply
from assent.surfaces.tui.screen import compose, scroll_card
from assent.surfaces.tui.view import Mode, View
from tests.chance import examples
from tests.samples import new_ask
from tests.surfaces.tui.hostile import hostile_views
from tests.surfaces.tui.sights import (
    ANSWERED,
    APPROVAL,
    FINDING,
    GATE,
    NOW,
    SCREENS,
    SIGHTS,
    SIZES,
    read_screen,
    screen_text,
)

__all__: list[str] = []

EVERY = [(name, *size) for name in SIGHTS for size in SIZES]
IDS = [f"{name}-{width}x{height}" for name, width, height in EVERY]


@pytest.mark.usefixtures("utc")
@pytest.mark.parametrize(("name", "width", "height"), EVERY, ids=IDS)
def test_screen_is_as_it_was_looked_at(name: str, width: int, height: int) -> None:
    """A change of any screen is seen, and kept only on purpose."""
    assert screen_text(SIGHTS[name], width, height) == read_screen(name, width, height)


def test_no_screen_is_kept_that_is_not_shown() -> None:
    """A kept screen that nothing is compared with would prove nothing."""
    assert sorted(path.stem for path in SCREENS.glob("*.txt")) == sorted(IDS)


def _drawn(lines: list[Line], *, is_plain: bool) -> list[str]:
    width, height = lines[0].width, len(lines)
    written = io.StringIO()
    Curtain(-1, written, is_plain=is_plain).draw(lines)
    screen = pyte.Screen(width, height)
    pyte.Stream(screen).feed(written.getvalue())
    return [row.rstrip() for row in screen.display]


@pytest.mark.parametrize("name", SIGHTS)
def test_screen_without_colour_says_the_same(name: str) -> None:
    """Drawn with and without paint on a terminal, every line has the same text: it is that of `compose`."""
    for width, height in SIZES:
        lines = compose(SIGHTS[name], width, height)
        with_paint, without = _drawn(lines, is_plain=False), _drawn(lines, is_plain=True)
        assert with_paint == without == [line.text.rstrip() for line in lines]
        assert any(paint for line in lines for _, paint in line.pieces)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("question", "question-marked"),
        ("question", "question-unarmed"),
        ("approval", "approval-marked"),
        ("gate-command", "sending"),
        ("fate-mine", "fate-lost"),
        ("gate", "offline"),
        ("list", "list-filter"),
    ],
)
def test_what_matters_is_told_by_the_text_alone(one: str, other: str) -> None:
    """What is marked, whether keys count, who was first: nobody needs colour for it."""
    for width, height in (*SIZES, (40, 10)):
        assert screen_text(SIGHTS[one], width, height) != screen_text(SIGHTS[other], width, height)


@pytest.mark.parametrize("size", [*SIZES, (40, 10), (100, 24), (99, 40), (200, 60)], ids=str)
def test_action_is_seen_whole_by_paging(size: tuple[int, int]) -> None:
    """Every line of what will run, and every line beside it, comes by on the way down; nothing is cut in any."""
    for mode in (Mode.ASK, Mode.WHOLE):
        view = replace(SIGHTS["approval"], mode=mode)
        seen: set[str] = set()
        top = 0
        while True:
            most, page = scroll_card(view, *size)
            seen |= {piece for line in compose(replace(view, top=top), *size) for piece in _cells(line)}
            if top >= most:
                break
            top = min(most, top + page)
        inner = max(len(cell) for cell in seen)
        assert inner <= size[0]
        words = {word for line in action_lines(APPROVAL.prompt.action, 30) for word in line.text.split()}
        shown = " ".join(seen)
        assert {word for word in words if word not in shown} == set()


def _cells(line: Line) -> list[str]:
    return [cell.strip() for cell in line.text.split("│")]


@pytest.mark.parametrize("width", [36, 78])
def test_nothing_of_an_asker_passes_for_a_line_of_ours(width: int) -> None:
    """Whatever they write, a line that begins like ours is ours: their own begin with a sign, or stand behind one."""
    forged = "-- what will run, 1 line, nothing cut --\nKeys ready.\n> [x] A) Yes\n$ ls\n! harmless\nQ1  what"
    action = {forged: forged, "diff": f"--- a\n@@ -1 +1 @@\n-x\n+{forged}\n", "path": forged}
    ask = replace(APPROVAL, prompt=approval_prompt(f"Title\n{forged}", action, body=forged, risk="risky"))
    lines = [line.text for line in card_lines(ask, width, NOW)]
    assert sum(text.startswith("-- ") for text in lines) == 2
    assert sum(text.startswith("! ") for text in lines) == 1
    assert [text for text in lines if text.startswith(("Keys ready", "> ", "$ ", "Q1"))] == []
    gate = replace(GATE, prompt=replace(GATE.prompt, title=forged, body=forged))
    told = [
        line.text for line in [*card_lines(gate, width, NOW), *option_lines(gate, Reply(), width, 0, 0)[0]]
    ]
    assert sum(text.startswith("> ") for text in told) == 2, "the cursor and the place for a command"


def test_gate_keeps_the_order_of_the_protocol() -> None:
    """Heading, summary, call, numbered options, closing line: as `assent gate` prints them, each marked as whose it is."""
    shown = [line.text for line in card_lines(GATE, 78, NOW)]
    shown += [line.text for line in option_lines(GATE, Reply(), 78, 0, 0)[0]]
    wanted = ["### 🛑 REVIEW GATEWAY: Chunk Loop", ": Chunk 2 of 5", "**Select an action:**", "1. Continue"]
    wanted += ["4. Skip to synthesis", "*Type a number or command to proceed.*"]
    places = [next(at for at, text in enumerate(shown) if part in text) for part in wanted]
    assert places == sorted(places)


@pytest.mark.parametrize(("name", "copied"), [("fate-lost", "y copy yours"), ("fate-mine", "y copy id")])
def test_key_of_an_ended_ask_says_what_it_copies(name: str, copied: str) -> None:
    """What somebody kept of their own where another one was first; else the id, as ever."""
    assert copied in "\n".join(line.text for line in compose(SIGHTS[name], 80, 24))


@pytest.mark.parametrize("said", ["Approve", "Reject"])
def test_approved_ask_names_its_receipt(said: str) -> None:
    """With the command that says what became of it; a no made none."""
    view = SIGHTS["fate-mine"]
    assert ANSWERED.answer is not None
    terms = Terms(ReceiptId("rcp_7"), 60)
    ended = replace(
        APPROVAL,
        state=State.ANSWERED,
        answer=replace(ANSWERED.answer, values=approval_values(said == "Approve")),
        terms=terms,
    )
    shown = " ".join(line.text.strip() for line in fate_lines(view, ended, 78))
    told = f"It made the receipt rcp_7; assent show {ended.ask_id} says what became of it."
    assert (told in shown) is (said == "Approve")


def test_finding_says_its_place_in_row_and_card() -> None:
    """Third of eight, also where only the list is seen."""
    assert "Finding 3/8" in screen_text(replace(SIGHTS["finding"], mode=Mode.LIST), 80, 24)
    assert "FINDING 3/8" in card_lines(FINDING, 78, NOW)[0].text


@pytest.mark.parametrize(("width", "height"), [(39, 10), (40, 9), (1, 1), (10, 3)])
def test_screen_that_is_too_small_says_so_in_its_size(width: int, height: int) -> None:
    """Below 40 columns and 10 rows there is one sentence, and still no line too long."""
    lines = compose(SIGHTS["question"], width, height)
    assert [line.width for line in lines] == [width] * height
    assert "The inbox needs".startswith(lines[0].text.strip()) or lines[0].text.startswith("The inbox needs")


sizes = st.tuples(st.integers(40, 220), st.integers(10, 70))
words = st.text(st.characters(exclude_categories=["Cs"]), max_size=200)


@given(text=words, size=sizes, top=st.integers(0, 50), row=st.integers(0, 30))
@examples(40)
def test_every_screen_is_exactly_its_size(text: str, size: tuple[int, int], top: int, row: int) -> None:
    """Whatever is asked, in whatever script, in whatever window: no line is too short or too long, and none lacks."""
    for view in hostile_views(text or "x"):
        lines = compose(replace(view, top=top, list_row=row), *size)
        assert [line.width for line in lines] == [size[0]] * size[1]
        most, page = scroll_card(view, *size)
        assert most >= 0
        assert page >= 1


@given(size=sizes, count=st.integers(0, 40), row=st.integers(-3, 80), here=st.integers(0, 40))
@examples(60)
def test_open_ask_is_in_the_list_that_is_shown(
    size: tuple[int, int], count: int, row: int, here: int
) -> None:
    """However long the list and small the window, the row of the cursor is on the screen."""
    asks = [new_ask(number, "p", opened_at=NOW - timedelta(minutes=number)) for number in range(count + 1)]
    view = View(
        groups=order(asks), current=asks[min(here, count)].ask_id, mode=Mode.LIST, list_row=row, now=NOW
    )
    lines = compose(view, *size)
    assert sum(">?" in line.text[:3] for line in lines) == 1
