"""What a terminal or a comment shows: everything, in order, and none of the asker's lines passes for ours."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assent.protocol.block import render_brief, render_field, render_question
from assent.protocol.canonical import Json
from assent.protocol.display import display, is_hidden
from assent.protocol.error import UnrecognisedError
from assent.protocol.prompt import LETTERS, Field, Option, Prompt, question
from assent.protocol.reply import recognise
from tests.protocol.strategies import modest, prompts
from tests.proves import proves

HOSTILE = st.text(
    st.sampled_from("ab \nA)B1.:qQ-\r\u2028\u0085\x1b\u200b\u202e\v\f\x1c"), max_size=20
) | st.sampled_from(
    ["A) Approve", "\nA) Approve", "x\nAnswer with a letter", "Q2 x\n\nQ1", "The action, whole:\n: {}"]
)


@proves("C5")
def test_options_are_lettered_in_order() -> None:
    """C5: `A)`, `B)`, `C)`…"""
    labels = [f"choice {number}" for number in range(26)]
    shown = render_question(question("Which?", labels)).splitlines()
    assert shown[2:28] == [f"{letter}) {label}" for letter, label in zip(LETTERS, labels, strict=True)]
    assert render_field(question("?", [*labels, "one more"]).fields[0]).splitlines()[26] == "27) one more"


@proves("C6")
def test_closed_question_offers_no_free_text() -> None:
    """C6: as shown, nothing but the options; typed, neither."""
    closed = question("Which database?", ["PostgreSQL", "SQLite"])
    assert render_question(closed) == (
        "Which database?\n\nA) PostgreSQL\nB) SQLite\n\nAnswer with a letter, a number or a label."
    )
    with pytest.raises(UnrecognisedError):
        recognise(closed, "MySQL")
    with pytest.raises(UnrecognisedError):
        recognise(closed, "C) MySQL")


@proves("C11", "C12")
def test_last_option_of_an_open_question_takes_free_text_under_a_label_of_ours() -> None:
    """C11, C12: it is there, it works, and no fixed wording is asked for."""
    open_question = question("Which database?", ["PostgreSQL", "SQLite"], free=True)
    last = render_field(open_question.fields[0]).splitlines()[-1]
    assert last == "C) Other: type your answer"
    assert recognise(open_question, "C) MySQL") == recognise(open_question, "MySQL") == {"q1": ("MySQL",)}
    assert "自定义答案" not in render_question(open_question)


@proves("C11", "C12", "C13")
@pytest.mark.parametrize("label", ["其他（可填写）", "自由输入", "自定义", "Etwas anderes"])
def test_free_option_has_the_label_that_the_asker_gave_it(label: str) -> None:
    """C11, C12, C13: last, lettered, in any language, and it takes free text."""
    prompt = question("Which database?", ["PostgreSQL", "SQLite"], free=True, other=label)
    assert render_question(prompt).split("\n")[2:5] == ["A) PostgreSQL", "B) SQLite", f"C) {label}"]
    assert render_brief(prompt).split("\n")[-1] == f"C) {label}"
    assert recognise(prompt, "c) MySQL") == {"q1": ("MySQL",)}


def test_label_of_the_free_option_shows_what_it_hides() -> None:
    """It is the asker's text, like that of an option."""
    prompt = question("Which?", ["Red"], free=True, other="mine\x1b[2Jor\nB) Blue")
    assert "\x1b" not in render_question(prompt)
    assert len(render_field(prompt.fields[0]).split("\n")) == 2


def test_brief_list_of_a_round_may_be_of_the_rest_only() -> None:
    """What was answered is not asked again, and the rest keeps its numbers."""
    fields = tuple(Field(name, options=(Option("a", "Red"),)) for name in ("one", "two", "three"))
    assert render_brief(Prompt("?", fields=fields), ["two", "three"]) == "Q2\nA) Red\nQ3\nA) Red"


@proves("C17")
def test_round_numbers_its_questions_and_asks_for_answers_by_their_labels() -> None:
    """C17: `Q1`, `Q2`…, and how to answer in one line."""
    prompt = Prompt(
        "Set up",
        "Two things.",
        (
            Field(
                "db",
                "Which database?\nFor example the one you know.",
                (Option("pg", "PostgreSQL"), Option("x", "Other")),
            ),
            Field("tags", "Which tags?", (Option("a", "Alpha"), Option("b", "Beta")), multiple=True),
            Field("note", "Anything else?", free=True),
        ),
    )
    assert render_question(prompt) == (
        "Set up\n"
        ": Two things.\n"
        "\n"
        "Q1 Which database?\n"
        ": For example the one you know.\n"
        "A) PostgreSQL\n"
        "B) Other\n"
        "\n"
        "Q2 Which tags?\n"
        "(several, separated by commas)\n"
        "A) Alpha\n"
        "B) Beta\n"
        "\n"
        "Q3 Anything else?\n"
        "Type your answer.\n"
        "\n"
        "Answer each question on a line of its own, as in `q1: <answer>`; a line of ------ ends a long answer."
    )
    assert recognise(prompt, "q1: A\nq2: a, b\nq3: no") == {
        "db": ("pg",),
        "tags": ("a", "b"),
        "note": ("no",),
    }


def test_brief_form_is_only_the_lists() -> None:
    """G18: not the context, not the summary, no descriptions of how to answer."""
    prompt = Prompt(
        "Title", "Body", (Field("q1", "Text", (Option("a", "Yes"), Option("b", "No"))),), {"x": 1}, "risk"
    )
    assert render_brief(prompt) == "A) Yes\nB) No"
    two = Prompt("Title", "Body", (*prompt.fields, Field("q2", "Text", free=True)))
    assert render_brief(two) == "Q1\nA) Yes\nB) No\nQ2\nType your answer."


def test_recommended_destructive_and_description_stand_on_the_line_of_the_option() -> None:
    """All that helps to choose is beside the choice."""
    options = (
        Option("k", "Keep it", recommended=True, description="with a warning\nuntil March"),
        Option("d", "Remove it", destructive=True),
    )
    assert render_field(Field("q1", options=options)) == (
        "A) Keep it (recommended) - with a warning\n: until March\nB) Remove it (destructive)"
    )


def test_risk_and_whole_action_are_shown() -> None:
    """Consequence and action come before the options; nothing is cut."""
    action: dict[str, Json] = {
        "sql": "DROP COLUMN x;\n" * 200,
        "hidden": "a\u200b",
        "n": 1.0,
        "deep": [[["x"] * 50]],
    }
    prompt = Prompt(
        "Drop it?", "Why not.", (Field("q1", options=(Option("y", "Approve"),)),), action, "irreversible"
    )
    shown = render_question(prompt)
    assert "Risk, in the asker's words:\n: irreversible\n" in shown
    start, stop = shown.index("The action, whole:\n"), shown.index("\n\nA) Approve")
    lines = shown[start:stop].splitlines()[1:]
    assert all(line.startswith(": ") for line in lines)
    shown = re.sub(r"(?<=\\n)\n {8}", "", "\n".join(line[2:] for line in lines))  # a line end is drawn, too
    read = json.loads(shown)
    assert read == {**action, "hidden": "a<U+200B>"}


@modest
@given(st.data())
def test_no_line_of_the_asker_passes_for_one_of_ours(data: st.DataObject) -> None:
    """Rule 1, whatever the asker writes: the lines without `: ` are the same as if it had written nothing."""
    label = st.builds(lambda text, n: f"{n} {text}", HOSTILE, st.integers(10, 99))
    count = data.draw(st.integers(1, 3))
    prompt = Prompt(
        data.draw(HOSTILE) + "?",
        data.draw(HOSTILE),
        tuple(
            Field(
                f"q{number}",
                data.draw(HOSTILE),
                tuple(Option(str(k), data.draw(label), description=data.draw(HOSTILE)) for k in range(2)),
                free=True,
            )
            for number in range(1, 1 + count)
        ),
        {"note": data.draw(HOSTILE)},
        data.draw(HOSTILE),
    )
    shown = render_question(prompt)
    assert not [character for character in shown if is_hidden(character) and character != "\n"]
    first, *lines = shown.splitlines()
    ours = [re.sub(r"^(Q\d|A\)|B\)) .*", r"\1", line) for line in lines if line and not line.startswith(":")]
    options = ["A)", "B)", "C) Other: type your answer"]
    rounds = [line for number in range(1, 1 + count) for line in (f"Q{number}", *options)]
    assert [line.rstrip() for line in ours[:2]] == ["Risk, in the asker's words:", "The action, whole:"]
    assert ours[2:-1] == (rounds if count > 1 else options)
    assert first == display(prompt.title.strip()).split("\n")[0]


@modest
@given(prompts())
def test_what_is_shown_can_be_typed(prompt: Prompt) -> None:
    """The letters of the list are the letters of the reader."""
    for field in prompt.fields:
        lines = [line for line in render_field(field).split("\n") if not line.startswith(":")]
        assert len(lines) == len(field.options) + field.free
        for option, line in zip(field.options, lines, strict=False):
            single = Prompt("?", fields=(Field("q1", options=field.options, free=field.free),))
            assert recognise(single, line.partition(")")[0]) == {"q1": (option.key,)}


@pytest.mark.parametrize("text", ["", "x"])
def test_question_text_of_a_single_field_is_the_askers(text: str) -> None:
    """Beneath the title, marked as all of the asker's lines."""
    shown = render_question(Prompt("T", fields=(Field("q1", text, free=True),)))
    assert shown == (f"T\n\n: {text}\nType your answer." if text else "T\n\nType your answer.")


def test_gate_and_its_questions_are_shown_as_such() -> None:
    """Numbers at a gate; what a question takes, where it has no options."""
    options = (Option("go", "Go\x1b"), Option("stop", "Stop"))
    gate = Prompt("Ship?", "Ready.", (Field("action", options=options),), commands=("pause",))
    assert render_brief(gate) == "1. Go<U+001B>\n2. Stop"
    assert render_question(gate).startswith(
        "### \U0001f6d1 REVIEW GATEWAY: Ship?\n\n: Ready.\n\n**Select an action:**\n1. Go<"
    )
    which = Prompt("Which?", "H1\nM1", (Field("reply"),), commands=("{ID: H1, M1}", "back"))
    assert render_question(which) == ": H1\n: M1\n\nWhich?"
    assert render_brief(which) == "Type one of H1, M1 or back."
