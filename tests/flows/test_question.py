"""Rounds of questions: how many at once, and what is kept of the answers."""

import pytest

from assent.client.drive import Finished, advance
from assent.flows.question import Answers, Questions, question_round, split, split_prompt
from assent.flows.step import Answered, Ask, Ended, Flow
from assent.protocol.answer import FieldValues
from assent.protocol.ask import State
from assent.protocol.error import BadPromptError
from assent.protocol.prompt import Field, Option, Prompt, check_prompt
from tests.proves import proves

__all__: list[str] = []


def fields(count: int) -> tuple[Field, ...]:
    """Return so many questions, named as the public call names them."""
    options = (Option("yes", "Yes"), Option("no", "No"))
    return tuple(Field(f"q{number}", f"Question {number}?", options) for number in range(1, count + 1))


def play(flow: Flow[Answers], ends_at: int = 99) -> tuple[list[Ask], Answers]:
    """Answer `yes` to everything, decline the round `ends_at`; return what was asked and what came of it."""
    asked: list[Ask] = []
    step = advance(flow, None)
    while not isinstance(step, Finished):
        assert isinstance(step, Ask)
        check_prompt(step.prompt)
        asked.append(step)
        values: FieldValues = {field.name: ("yes",) for field in step.prompt.fields}
        step = advance(flow, Ended(State.DECLINED, "busy") if len(asked) == ends_at else Answered(values))
    return asked, step.value


@proves("C16")
@pytest.mark.parametrize("count", range(2, 51))
def test_rounds_have_two_to_four_questions_of_about_the_same_number(count: int) -> None:
    """C16 and C-X8: no round has a single question, none has five, and all keep their order."""
    rounds = split(fields(count))
    sizes = [len(part) for part in rounds]
    assert all(2 <= size <= 4 for size in sizes)
    assert max(sizes) - min(sizes) <= 1
    assert sizes == sorted(sizes, reverse=True)
    assert tuple(field for part in rounds for field in part) == fields(count)


@pytest.mark.parametrize(
    ("count", "most", "sizes"),
    [
        (1, 4, [1]),
        (4, 4, [4]),
        (5, 4, [3, 2]),
        (9, 4, [3, 3, 3]),
        (6, 6, [6]),
        (7, 6, [4, 3]),
        (3, 1, [1, 1, 1]),
    ],
)
def test_questions_split_as_the_reading_says(count: int, most: int, sizes: list[int]) -> None:
    """C-X8: 5 is 3 and 2; the asker may set another most, also outside 2 to 4."""
    assert [len(part) for part in split(fields(count), most)] == sizes


@pytest.mark.parametrize(("count", "titles"), [(4, ["Setup"]), (5, ["Setup (1 of 2)", "Setup (2 of 2)"])])
def test_prompt_is_split_into_prompts_that_say_which_they_are(count: int, titles: list[str]) -> None:
    """C-X8: all of it is asked, in order, and what stands above the questions stands above each round."""
    whole = Prompt("Setup", "All of it.", fields(count), risk="none")
    rounds = split_prompt(whole)
    assert [part.title for part in rounds] == titles
    assert tuple(field for part in rounds for field in part.fields) == whole.fields
    assert {(part.body, part.risk) for part in rounds} == {("All of it.", "none")}
    for part in rounds:
        check_prompt(part)


def test_prompt_about_an_action_is_one_decision() -> None:
    """Half of an approval would be none."""
    whole = Prompt("Setup", fields=fields(6), action={"drop": "users"})
    assert split_prompt(whole) == [whole]


@pytest.mark.parametrize("most", range(1, 8))
@pytest.mark.parametrize("count", range(1, 21))
def test_every_round_of_a_prompt_can_be_asked(count: int, most: int) -> None:
    """The names that the questions have in the whole are no keys of others in a round."""
    whole = Prompt("Setup", fields=fields(count))
    check_prompt(whole)
    for part in split_prompt(whole, most):
        check_prompt(part)
        assert len(part.fields) <= most


def test_split_without_room_is_refused() -> None:
    """Otherwise it would never end."""
    with pytest.raises(BadPromptError):
        split(fields(2), 0)


def test_round_merges_the_answers_of_all_rounds() -> None:
    """Five questions are two asks and one result."""
    asked, answers = play(question_round(Questions(fields(5), "Setup", "All of it.")))
    assert [ask.prompt.title for ask in asked] == ["Setup (1 of 2)", "Setup (2 of 2)"]
    assert [ask.prompt.body for ask in asked] == ["All of it."] * 2
    assert answers == Answers({f"q{number}": ("yes",) for number in range(1, 6)})


def test_single_question_is_its_own_title() -> None:
    """C-X8: one question goes by the single protocol."""
    asked, _ = play(question_round(Questions(fields(1))))
    assert [ask.prompt.title for ask in asked] == ["Question 1?"]


def test_declined_round_keeps_what_was_answered_and_asks_no_further() -> None:
    """A no to the second of three rounds is a no, and not nothing."""
    asked, answers = play(question_round(Questions(fields(9))), ends_at=2)
    assert len(asked) == 2
    assert answers == Answers({f"q{n}": ("yes",) for n in (1, 2, 3)}, Ended(State.DECLINED, "busy"))


@pytest.mark.parametrize(
    "given", [(), (*fields(5), fields(1)[0])], ids=["none", "the same name in two rounds"]
)
def test_questions_that_cannot_be_told_apart_are_refused(given: tuple[Field, ...]) -> None:
    """The second answer would take the place of the first."""
    with pytest.raises(BadPromptError):
        next(question_round(Questions(given)))
