"""A menu has two parts that are never merged, and its letters never change."""

import pytest
from msgspec.structs import replace

from assent.protocol.gate import PHASE_GATE, Gate
from assent.protocol.menu import is_menu, render_explanation, render_menu, render_menu_options, render_stem
from assent.protocol.prompt import Field, Option, Prompt, check_prompt, question
from assent.protocol.reply import recognise
from tests.proves import proves

__all__: list[str] = []

OPTIONS = (
    Option("Apply", "Apply the proposed fix", recommended=True, mark="A"),
    Option("Skip", "Skip — don't apply, don't append", mark="C"),
)
MENU = Prompt(
    "P1 Two tiers.\nApply the rename?", "\n## P1 Two tiers\n\nWhy.\n", (Field("decision", options=OPTIONS),)
)
LETTERED = ["A. Apply the proposed fix (recommended)", "C. Skip — don't apply, don't append"]
NUMBERED = ["1. Apply the proposed fix (recommended)", "2. Skip — don't apply, don't append"]


@proves("W29")
def test_menu_is_a_block_and_a_question_that_share_no_line() -> None:
    """Each part is made by itself."""
    check_prompt(MENU)
    assert render_explanation(MENU) == "## P1 Two tiers\n\nWhy."
    assert render_stem(MENU) == "P1 Two tiers.\nApply the rename?"
    assert render_menu(MENU).split("\n") == ["P1 Two tiers.", "Apply the rename?", *LETTERED]


@pytest.mark.parametrize("typed", ["2", "C", "c.", "2.", "skip", NUMBERED[1], LETTERED[1]])
def test_numbered_list_counts_what_is_shown_and_takes_number_letter_and_label(typed: str) -> None:
    """W-X11: C stays C, and is the second."""
    assert render_menu_options(MENU, is_numbered=True).split("\n") == NUMBERED
    assert recognise(MENU, typed) == {"decision": ("Skip",)}


def test_more_about_an_option_is_shown_in_both_lists() -> None:
    """Nothing that an option carries is left out."""
    wiping = Option("Wipe", "Wipe it", destructive=True, description="All of it.\nFor good.", mark="D")
    menu = replace(MENU, fields=(Field("decision", options=(*OPTIONS, wiping)),))
    assert render_menu_options(menu).split("\n")[2:] == [
        "D. Wipe it (destructive) - All of it.",
        ": For good.",
    ]
    assert render_menu_options(menu, is_numbered=True).split("\n")[2:] == [
        "3. Wipe it (destructive) - All of it.",
        ": For good.",
    ]


@pytest.mark.parametrize(
    "prompt",
    [
        question("Which?", ["Red", "Blue"]),
        question("Why?"),
        Gate(PHASE_GATE, "12 files.").prompt,
        replace(MENU, action={"command": "rm"}),
        replace(MENU, risk="It is gone."),
        replace(MENU, fields=(Field("decision", "Well?", OPTIONS),)),
        replace(MENU, fields=(Field("q1", options=OPTIONS), Field("q2", free=True))),
    ],
    ids=["unlettered", "free", "gate", "action", "risk", "text", "round"],
)
def test_prompt_with_more_to_show_than_two_parts_is_no_menu(prompt: Prompt) -> None:
    """An action must never be left out because somebody gave letters to the options."""
    assert is_menu(MENU)
    assert not is_menu(prompt)


def test_hidden_characters_of_a_block_and_a_stem_are_shown() -> None:
    """Agents write both."""
    menu = replace(MENU, title="P1 \x1b[2J.\nGo?", body="\x1b]0;x\x07 \u202e")
    assert "\x1b" not in render_menu(menu) + render_explanation(menu)
    assert render_stem(menu) == "P1 <U+001B>[2J.\nGo?"
    assert render_explanation(menu) == "<U+001B>]0;x<U+0007> <U+202E>"
