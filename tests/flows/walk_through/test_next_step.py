"""The question after the report: its words by what was applied, by document and by round, and its silence."""

import pytest

from assent.client.drive import drive
from assent.flows.step import Answered, Ask, Ended
from assent.flows.walk_through.next_step import DocumentType, NextInputs, ask_next, next_prompt
from assent.protocol.ask import State
from assent.protocol.block import render_field
from assent.protocol.decision import NextStep
from assent.protocol.error import AssentError
from assent.protocol.prompt import check_prompt

__all__: list[str] = []


class Once:
    """Somebody who replies once, or not at all."""

    def __init__(self, reply: str | Ended | None) -> None:
        self.reply = reply

    def present(self, ask: Ask) -> None:
        assert ask.prompt.title.startswith("What should the agent do next?")

    def read(self) -> str | Answered | Ended | None:
        return self.reply

    def echo(self, ask: Ask, refusal: AssentError) -> None:
        raise AssertionError(f"{ask.prompt.title}: {refusal}")

    def say(self, markdown: str) -> None:
        raise AssertionError(markdown)


def menu(inputs: NextInputs) -> list[str]:
    """Return the options as a terminal prints them."""
    prompt = next_prompt(inputs)
    check_prompt(prompt)
    assert not any(option.recommended for option in prompt.fields[0].options)
    return render_field(prompt.fields[0]).split("\n")


@pytest.mark.parametrize(
    ("document_type", "stage"),
    [
        (DocumentType.REQUIREMENTS, "planning"),
        (DocumentType.PLAN, "work"),
        (DocumentType.OTHER, "the next stage"),
    ],
    ids=str,
)
def test_after_a_fix_there_are_three_choices_and_the_stage_is_that_of_the_document(
    document_type: DocumentType, stage: str
) -> None:
    """W-U18: go on, review again, stop."""
    assert menu(NextInputs(True, document_type=document_type)) == [
        f"A. Apply decisions and proceed to {stage}",
        "B. Apply decisions and review again",
        "C. Stop — end the review here",
    ]


def test_without_a_fix_there_are_two_choices_and_no_word_of_applying() -> None:
    """W-U18: go on or stop."""
    shown = menu(NextInputs(False, document_type=DocumentType.PLAN))
    assert [line[3:] for line in shown] == ["Proceed to work", "Stop — end the review here"]
    assert not any("apply" in line.lower() for line in shown)


@pytest.mark.parametrize("rounds", [1, 2, 5])
def test_after_two_rounds_completion_is_suggested_and_no_choice_is_taken_away(rounds: int) -> None:
    """W-U18: suggested, not forced."""
    title = next_prompt(NextInputs(True, rounds)).title
    more = "" if rounds == 1 else f"\nAfter {rounds} rounds, completing the review is suggested."
    assert title == f"What should the agent do next?{more}"
    assert len(menu(NextInputs(True, rounds))) == 3


@pytest.mark.parametrize(
    ("reply", "step"),
    [
        ("A", NextStep.GO_ON),
        ("2", NextStep.REVIEW_AGAIN),
        ("Stop — end the review here", NextStep.STOP),
        (Ended(State.DECLINED), None),
        (Ended(State.WITHDRAWN), None),
    ],
    ids=["letter", "number", "label", "declined", "withdrawn"],
)
def test_answer_is_a_step_and_another_end_is_none(reply: str | Ended, step: NextStep | None) -> None:
    """W-U18: nothing goes on because somebody left, and nobody is said to have stopped it."""
    assert drive(ask_next(NextInputs(True)), Once(reply)) is step
