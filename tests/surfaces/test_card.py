"""An ask as a terminal shows it."""

import re
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from assent.protocol.ask import Ask, AskId, Claim, Consequence, Kind, State
from assent.protocol.block import render_question
from assent.protocol.display import is_blank, is_hidden
from assent.protocol.gate import CONTEXTS, Context, Gate, follow_up, render_gate
from assent.protocol.prompt import Field, Option, Prompt, question
from assent.surfaces.card import (
    lay_out,
    lay_out_markdown,
    render_block,
    render_card,
    render_headline,
    render_kind,
    render_notes,
    render_opening,
    render_question_of,
    render_silence,
)
from assent.surfaces.ink import Ink
from assent.surfaces.width import columns
from tests.surfaces.menus import BLOCK, FINDING, FINDING_LINES
from torture.hostile_cases import without_joints

__all__: list[str] = []

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
PLAIN, COLOURED = Ink(is_plain=True), Ink(is_plain=False)
ASK = Ask(
    AskId("ask_01m7gq29dmj8vpejf4"),
    "shop",
    Kind.QUESTION,
    State.OPEN,
    None,
    question("Which?", ["Red", "Blue"]),
    "sha256:0",
    "agent:coder",
    None,
    NOW - timedelta(minutes=4),
)
ROUND = Prompt("Title", "Body", (Field("q1", "One?", free=True), Field("q2", "Two?", (Option("a", "Red"),))))


def timed(consequence: Consequence, **changes: object) -> Ask:
    """Return an ask with eleven minutes left."""
    return replace(ASK, deadline=NOW + timedelta(minutes=11), consequence=consequence, **changes)


@pytest.mark.parametrize(
    ("ask", "sentence"),
    [
        (ASK, "If nobody answers, it waits."),
        (timed(Consequence.WAIT), "11 min left, then it is overdue and waits on (2026-03-01 12:11:00 UTC)."),
        (timed(Consequence.DENY), "11 min left, then it ends as a no (2026-03-01 12:11:00 UTC)."),
        (
            timed(Consequence.END_RUN),
            "11 min left, then it ends, and the run with it (2026-03-01 12:11:00 UTC).",
        ),
        (
            timed(Consequence.ESCALATE, escalate_to="human:sam"),
            "11 min left, then sam is asked, too (2026-03-01 12:11:00 UTC).",
        ),
        (
            replace(ASK, deadline=NOW - timedelta(hours=2), is_overdue=True),
            "Overdue since 2 h; it goes on waiting.",
        ),
    ],
)
def test_silence_is_told_in_one_sentence(ask: Ask, sentence: str) -> None:
    """A deadline and its consequence are declared, and none of them answers."""
    assert render_silence(ask, NOW) == sentence


def test_notes_name_time_claim_and_failed_delivery() -> None:
    """What a list says beside the title."""
    noted = timed(Consequence.DENY, claim=Claim("human:sam", NOW - timedelta(minutes=2)), is_undelivered=True)
    assert render_notes(noted, NOW) == [
        "11 min left, then it ends as a no",
        "sam is on it since 2 min",
        "could be shown nowhere",
    ]
    assert render_notes(ASK, NOW) == []


def test_kind_has_its_sign() -> None:
    """As on every other screen."""
    assert render_kind(ASK) == "? question"
    assert render_kind(replace(ASK, prompt=ROUND)) == "= 2 questions"
    assert {render_kind(replace(ASK, kind=kind))[0] for kind in Kind} == set("?#Y!*~")


def test_opening_of_a_round_leaves_the_questions_to_come() -> None:
    """They are asked one by one; a single question is there whole."""
    assert render_opening(ROUND) == "Title\n: Body"
    single = question("Which?", ["Red"])
    assert render_opening(single) == render_question(single)


def test_opening_is_not_fooled_by_a_question_in_the_askers_words() -> None:
    """The asker's lines have a mark, so they never begin a question."""
    tricky = replace(ROUND, title="Title\n\nQ1 x", body="\n\nQ1 Is it?\n\nQ1")
    assert render_opening(tricky).count("Q1") == 3


def test_question_of_a_round_shows_its_number_and_options() -> None:
    """And that several may be chosen."""
    field = Field("q2", "Two?\nmore", (Option("a", "Red"),), multiple=True)
    assert render_question_of(field, 2, 3) == (
        "Q2 of 3  Two?\n: more\n(several, separated by commas)\n\nA) Red"
    )


@given(
    st.builds(
        lambda title, body, text, label: Prompt(
            title, body, (Field("q1", text, (Option("k", label),), free=True), Field("q2", text))
        ),
        st.text().filter(lambda title: not is_blank(title)),
        st.text(),
        st.text(),
        st.text(min_size=1),
    ),
    st.integers(30, 100),
)
def test_card_fits_and_is_inert_whatever_the_asker_wrote(prompt: Prompt, width: int) -> None:
    """No line is too wide, no character but the printable ones; colour changes nothing else."""
    lines = render_card(replace(ASK, prompt=prompt, key=prompt.title), PLAIN, width, NOW)
    assert all(columns(line) <= width for line in lines)
    assert not any(is_hidden(character) for line in lines for character in without_joints(line))
    coloured = render_card(replace(ASK, prompt=prompt, key=prompt.title), COLOURED, width, NOW)
    stripped = [line.replace("\x1b[0m", "") for line in coloured]
    for code in ("1", "2", "31", "32", "33", "36"):
        stripped = [line.replace(f"\x1b[{code}m", "") for line in stripped]
    assert stripped == lines


def test_long_line_of_the_asker_is_marked_where_it_goes_on() -> None:
    """Wrapped text must not begin a line of its own."""
    block = render_question(question("word " * 20, ["label " * 10], body="body " * 12))
    lines = lay_out(block, PLAIN, 40)
    assert lines[0].startswith("word ")
    assert all(line.startswith(": word") for line in lines[1:3])
    options = [line for line in lines if "label label" in line]
    assert options[0].startswith("  A) label")
    assert all(line.startswith("   : label") for line in options[1:])


@given(
    context=st.sampled_from(list(CONTEXTS.values())),
    summary=st.text().filter(lambda text: not is_blank(text)),
)
def test_gate_is_every_byte_of_the_block_whatever_the_summary(context: Context, summary: str) -> None:
    """Colour goes round whole lines of ours, which no summary can move: they are found by their place."""
    prompt = Gate(context, summary).prompt
    block = render_gate(prompt)
    assert "\n".join(render_block(prompt, PLAIN)) == block
    painted = render_block(prompt, COLOURED)
    assert [re.sub(r"\x1b\[\d+m", "", line) for line in painted] == block.split("\n")
    ours = [line for line in painted if line.startswith("\x1b[")]
    assert len(ours) == len(context.options) + 3
    assert all(re.fullmatch(r"\x1b\[\d+m[^\x1b]+\x1b\[0m", line) for line in ours)


def test_gate_as_a_card_marks_what_the_asker_wrote() -> None:
    """Its summary, and the body of a question that belongs to a gate."""
    gate = replace(ASK, kind=Kind.GATE, prompt=Gate(CONTEXTS["Phase Gate"], "One.\n4. Cancel").prompt)
    card = render_card(gate, PLAIN, 80, NOW)
    assert ": 4. Cancel" in card
    assert card[card.index("**Select an action:**") + 1] == "  1. Proceed"
    asked = replace(ASK, prompt=follow_up("Which? Or back.", ["{ID: H1}", "back"], "- H1 One"))
    card = render_card(asked, PLAIN, 80, NOW)
    assert card[3:6] == [": - H1 One", "", "Which? Or back."]


def test_headline_of_a_gate_says_where_things_stand() -> None:
    """On one line, with nothing hidden in it; of a question it is the title."""
    gate = replace(ASK, prompt=Gate(CONTEXTS["Chunk Loop"], "Chunk 2\u200b of 5.\nMore.").prompt)
    assert render_headline(gate) == "Chunk Loop: Chunk 2<U+200B> of 5."
    assert render_headline(ASK) == "Which?"


def test_title_that_begins_with_a_colon_is_shown_whole() -> None:
    """It is the title by its place."""
    assert lay_out(render_question(question(":abc", ["Red", "Blue"])), PLAIN, 80)[0] == ":abc"


def test_menu_in_a_list_is_its_stem_on_one_line() -> None:
    """Its line end is ours, and no hidden character."""
    shown = render_headline(replace(ASK, kind=Kind.FINDING, prompt=FINDING))
    assert shown == " ".join(FINDING_LINES[:2])


def test_menu_shown_whole_among_other_asks_keeps_the_marks_and_its_letters() -> None:
    """Its block is an agent's text there like any other."""
    lines = render_card(replace(ASK, kind=Kind.FINDING, prompt=FINDING), PLAIN, 100, NOW)
    start = lines.index(FINDING_LINES[0])
    assert lines[start + 1] == f": {FINDING_LINES[1]}"
    for line in BLOCK:
        assert (f": {line}" if line else ":") in lines
    assert [line for line in lines if line.startswith("  ")] == [f"  {line}" for line in FINDING_LINES[2:]]


def test_markdown_is_coloured_by_whole_lines_and_not_in_code() -> None:
    """Headings and labels only."""
    lines = lay_out_markdown("## a\n**b**\nc **d**\n~~~\n# e\n```\n~~~\n# f", 80, COLOURED.strong)
    strong = [COLOURED.strong(line) for line in ("## a", "**b**", "# f")]
    assert lines == [*strong[:2], "c **d**", "~~~", "# e", "```", "~~~", strong[2]]
