"""What people say to a notification: the body of the PATCH, and answers against questions."""

import pytest
from hypothesis import given

from assent.protocol.answer import MAX_REPLY_BYTES
from assent.protocol.canonical import Json
from assent.protocol.error import BadRequestError, TooLargeError
from assent.protocol.open_question import MAX_QUESTIONS
from assent.protocol.resolution import Resolution, Response, answer_all, check_responses, parse_resolution
from tests.notification_samples import ANSWERS, QUESTIONS, new_question, new_response
from tests.protocol.strategies import json_values, modest

__all__: list[str] = []


@pytest.mark.parametrize(
    ("body", "resolution"),
    [
        (None, Resolution()),
        ({}, Resolution()),
        ({"approved": True}, Resolution(approved=True)),
        ({"approved": False}, Resolution(approved=False)),
        ({"dismissed": True}, Resolution(is_dismissed=True)),
        ({"responses": []}, Resolution(())),
        (
            {
                "responses": [
                    {"questionId": "q1", "answer": "SQLite"},
                    {"answer": "Yes.", "questionId": "q2"},
                ]
            },
            Resolution(ANSWERS),
        ),
    ],
    ids=["nothing", "empty", "yes", "no", "dismissed", "no answers", "answers"],
)
def test_body_is_answers_a_yes_a_no_or_nothing(body: Json, resolution: Resolution) -> None:
    """Q-U4. An empty list of answers is not nothing: it answers nothing and is refused later."""
    assert parse_resolution(body) == resolution
    assert resolution.is_dismissal == (not body or resolution.is_dismissed)


@pytest.mark.parametrize(
    "body",
    [
        [],
        "yes",
        True,
        {"approve": True},
        {"respones": []},
        {"responses": [], "note": ""},
        {"responses": [], "approved": True},
        {"dismissed": False},
        {"dismissed": 1},
        {"dismissed": True, "responses": []},
        {"approved": None},
        {"approved": 1},
        {"approved": "true"},
        {"responses": None},
        {"responses": {}},
        {"responses": "yes"},
        {"responses": ["yes"]},
        {"responses": [{}]},
        {"responses": [{"questionId": "q1"}]},
        {"responses": [{"answer": "x"}]},
        {"responses": [{"questionId": 1, "answer": "x"}]},
        {"responses": [{"questionId": "q1", "answer": None}]},
        {"responses": [{"questionId": "q1", "answer": ["x"]}]},
        {"responses": [{"questionId": "q1", "answer": "x", "text": "y"}]},
        {"responses": [{"questionId": "q1", "answer": "x"}] * (MAX_QUESTIONS + 1)},
    ],
    ids=lambda body: ascii(body)[:60],
)
def test_body_that_is_something_else_is_refused_with_a_sentence(body: Json) -> None:
    """A misspelled answer must not pass for a dismissal."""
    with pytest.raises(BadRequestError) as caught:
        parse_resolution(body)
    assert caught.value.message.endswith(".")


@modest
@given(json_values)
def test_whatever_is_sent_is_read_or_refused(body: Json) -> None:
    """And only an empty body, or one that says so, dismisses."""
    try:
        resolution = parse_resolution(body)
    except BadRequestError:
        return
    assert resolution.is_dismissal == (body is None or body in ({}, {"dismissed": True}))


def test_responses_are_kept_as_typed_in_the_order_of_the_questions() -> None:
    """Whichever order they came in."""
    typed = (new_response(2, " Yes,\n\x1b[1mplease\t"), new_response(1, "SQLite"))
    assert check_responses(QUESTIONS, typed) == (typed[1], typed[0])


@pytest.mark.parametrize(
    ("responses", "sentence"),
    [
        ((), 'There is no answer to "q1".'),
        (ANSWERS[:1], 'There is no answer to "q2".'),
        ((*ANSWERS, new_response(3)), 'There is no question "q3" here.'),
        ((*ANSWERS, ANSWERS[0]), 'There are two answers to "q1".'),
        ((ANSWERS[0], new_response(2, " \t")), 'The answer to "q2" is empty.'),
        ((ANSWERS[0], new_response(2, "\u200b")), 'The answer to "q2" is empty.'),
        ((ANSWERS[0], new_response(2, "x\ud800")), 'The answer to "q2" cannot be written down.'),
        ((Response("q\x1b", "x"),), 'There is no question "q<U+001B>" here.'),  # type: ignore[arg-type]  # any text
    ],
    ids=["none", "missing", "unknown", "twice", "blank", "hidden", "half", "hostile id"],
)
def test_responses_that_do_not_fit_the_questions_are_refused(
    responses: tuple[Response, ...], sentence: str
) -> None:
    """All questions, each once, with words."""
    with pytest.raises(BadRequestError) as caught:
        check_responses(QUESTIONS, responses)
    assert caught.value.message == sentence


def test_responses_that_nobody_would_type_are_refused() -> None:
    """The limit of a reply is that of all answers together."""
    half = "x" * (MAX_REPLY_BYTES // 2)
    assert check_responses(QUESTIONS, (new_response(1, half), new_response(2, half[:-1] + "y")))
    with pytest.raises(TooLargeError):
        check_responses(QUESTIONS, (new_response(1, half), new_response(2, half + "y")))


def test_one_text_answers_every_question() -> None:
    """Q-U9; it was typed once, so it may be as long as a reply."""
    text = "x" * MAX_REPLY_BYTES
    many = [new_question(number) for number in range(1, MAX_QUESTIONS + 1)]
    responses = answer_all(many, text)
    assert check_responses(many, responses) == responses
    assert [response.question_id for response in responses] == [question.question_id for question in many]
    assert {response.answer for response in responses} == {text}
