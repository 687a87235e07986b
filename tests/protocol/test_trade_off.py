"""Trade-offs: what an agent offers with a question, read leniently and shown as ordinary options (Q13)."""

import doctest
import json
from itertools import count

import msgspec
import pytest
from hypothesis import given

import assent.protocol.trade_off
from assent.protocol.canonical import Json
from assent.protocol.error import TooLargeError
from assent.protocol.notification import parse_notification, render_notification
from assent.protocol.open_question import MAX_QUESTION_TEXT, Question, parse_questions
from assent.protocol.prompt import check_prompt
from assent.protocol.question_prompt import question_prompt
from assent.protocol.trade_off import TradeOff, parse_trade_offs
from tests.notification_samples import new_notification
from tests.protocol.strategies import json_values, modest
from tests.samples import NOON

__all__: list[str] = []

OFFERED: Json = [
    {"label": "PostgreSQL", "pros": ["many writers"], "cons": ["a server to run"]},
    {"label": "SQLite", "pros": "one file", "cons": "one writer"},
]


def read(options: Json) -> Question:
    """Read a question with these options."""
    numbers = count()
    entry = {"text": "Which database?", "options": options}
    (question,) = parse_questions([entry], next_id=lambda: f"q-{next(numbers)}", at=NOON)
    return question


def test_examples_in_docstrings_hold() -> None:
    """A reader copies them."""
    assert doctest.testmod(assent.protocol.trade_off).failed == 0


def test_options_come_with_the_question_and_back_from_its_json() -> None:
    """With their pros and cons, as lists."""
    question = read(OFFERED)
    told = new_notification(questions=(question,))
    assert parse_notification(render_notification(told)) == told
    assert json.loads(render_notification(told))["questions"][0]["options"][1] == {
        "label": "SQLite",
        "pros": ["one file"],
        "cons": ["one writer"],
    }


def test_question_without_options_says_nothing_of_them() -> None:
    """What was stored before reads as before."""
    assert "options" not in msgspec.to_builtins(read(None))


def test_prompt_shows_each_option_with_what_speaks_for_and_against_it() -> None:
    """And takes words of one's own."""
    (field,) = question_prompt(new_notification(questions=(read(OFFERED),))).fields
    assert [(option.label, option.description) for option in field.options] == [
        ("PostgreSQL", "Pros: many writers. Cons: a server to run."),
        ("SQLite", "Pros: one file. Cons: one writer."),
    ]
    assert field.free


@pytest.mark.parametrize(
    "options",
    [
        None,
        True,
        "SQLite",
        {"label": "SQLite"},
        [],
        [7, None, {}, {"label": ""}, {"label": "\u200b"}, {"label": ["a", "b"]}, {"pros": "x"}],
        ["SQLite", "SQLite"],
        ["admin", "\u0430dmin"],
        ["B", "A"],
    ],
    ids=["null", "true", "text", "object", "none", "no labels", "twice", "look-alikes", "letters of others"],
)
def test_options_that_people_could_not_choose_from_are_not_offered(options: Json) -> None:
    """The question is asked all the same."""
    question = read(options)
    assert question.options is msgspec.UNSET
    assert question.text == "Which database?"


def test_question_with_more_options_than_fit_is_refused() -> None:
    """Nothing is cut off: nobody can choose from half of a list."""
    with pytest.raises(TooLargeError):
        read([{"label": "A big one", "pros": "x" * MAX_QUESTION_TEXT}])


@given(json_values)
@modest
def test_whatever_stands_for_options_is_read_or_left_out(options: Json) -> None:
    """And what is read can be put to people."""
    question = read(options)
    assert all(isinstance(choice, TradeOff) for choice in parse_trade_offs(options))
    check_prompt(question_prompt(new_notification(questions=(question,))))
