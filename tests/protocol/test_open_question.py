"""Open questions as agents write them: what is dropped, what is filled in, what is kept as it is."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from itertools import count

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assent.protocol.canonical import Json
from assent.protocol.error import BadRequestError, TooLargeError
from assent.protocol.open_question import (
    MAX_QUESTION_ID,
    MAX_QUESTION_TEXT,
    MAX_QUESTIONS,
    Question,
    QuestionId,
    check_questions,
    parse_questions,
)
from tests.effort import MUCH, effort
from tests.notification_samples import QUESTIONS, new_question
from tests.protocol.strategies import json_values, modest, texts
from tests.proves import proves
from tests.samples import NOON

__all__: list[str] = []


def new_ids() -> Callable[[], str]:
    """Return what gives new-1, new-2 and so on."""
    numbers = count(1)
    return lambda: f"new-{next(numbers)}"


def read(entries: Json) -> tuple[Question, ...]:
    """Read what an agent wrote at noon."""
    return parse_questions(entries, next_id=new_ids(), at=NOON)


def ids(entries: Json) -> list[str]:
    """Return the ids that the questions have once they are read."""
    return [question.question_id for question in read(entries)]


@proves("Q5")
def test_question_with_nothing_but_a_text_gets_an_id_and_the_moment() -> None:
    """`id` and `createdAt` are optional, `text` is not."""
    assert read([{"text": "Which?"}]) == (Question(QuestionId("new-1"), "Which?", NOON),)
    assert read([{"id": "q1", "createdAt": "2024-12-28T10:00:00Z"}]) == ()


@proves("Q5")
def test_question_with_all_its_parts_keeps_them() -> None:
    """Nothing is made up where the agent has said it, and no id is spent."""
    written = {"id": "db", "text": "Which?", "createdAt": "2024-12-28T10:00:00Z"}
    spare = new_ids()
    [question] = parse_questions([written], next_id=spare, at=NOON)
    assert msgspec.to_builtins(question) == written
    assert spare() == "new-1"


@pytest.mark.parametrize(
    "entries",
    [None, True, 3, "Which?", {}, {"text": "Which?"}, []],
    ids=["null", "true", "number", "text", "object", "question", "empty"],
)
def test_value_that_is_no_list_holds_no_questions(entries: Json) -> None:
    """Q4: the value is an array."""
    assert read(entries) == ()


@pytest.mark.parametrize(
    "entry",
    [
        None,
        7,
        "Which?",
        ["Which?"],
        {},
        {"text": None},
        {"text": 7},
        {"text": ["Which?"]},
        {"text": ""},
        {"text": " \t\n\u3000"},
        {"text": "\u200b\u2060"},
        {"Text": "Which?"},
        {"text": "\ud800"},
    ],
    ids=ascii,
)
def test_entry_that_is_no_question_is_dropped_and_the_others_stay(entry: Json) -> None:
    """Q-U6; what nobody could see or write down is as good as empty."""
    assert [question.text for question in read([{"text": "A"}, entry, {"text": "B"}])] == ["A", "B"]


def test_text_is_trimmed_and_otherwise_kept_as_it_was_written() -> None:
    """Q-U6: display is the surfaces' business, so hostile signs come through."""
    hostile = "\u202egnp.exe <!-- --> \x1b[2J `rm` \x00 \u200b?"
    [question] = read([{"text": f"\n  {hostile}\t "}])
    assert question.text == hostile


@pytest.mark.parametrize(
    "given_id",
    [
        None,
        "",
        "  ",
        "\u200b",
        7,
        ["q1"],
        "q1\u200b",
        "q\n1",
        "\x1b[2J",
        "x" * (MAX_QUESTION_ID + 1),
        "\ud800",
    ],
    ids=ascii,
)
def test_id_that_cannot_be_used_counts_as_missing(given_id: Json) -> None:
    """Q-U6 for the blank one; answers refer to ids, so one that looks like another is none either."""
    assert ids([{"id": given_id, "text": "A"}]) == ["new-1"]


def test_second_question_with_an_id_gets_a_new_one() -> None:
    """Q-X3: answers refer to ids."""
    assert ids([{"id": "q1", "text": "A"}, {"id": " q1 ", "text": "B"}, {"id": "q1", "text": "C"}]) == [
        "q1",
        "new-1",
        "new-2",
    ]


def test_new_id_is_never_one_that_another_entry_brings_along() -> None:
    """An agent could guess ids; the question that has one in writing keeps it."""
    assert ids([{"text": "A"}, {"id": "new-1", "text": "B"}, {"id": "new-2", "text": "C"}]) == [
        "new-3",
        "new-1",
        "new-2",
    ]


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ("2024-12-28T10:00:00Z", datetime(2024, 12, 28, 10, tzinfo=UTC)),
        ("2024-12-28T10:00Z", datetime(2024, 12, 28, 10, tzinfo=UTC)),
        ("2024-12-28T10:00:00.250Z", datetime(2024, 12, 28, 10, 0, 0, 250_000, tzinfo=UTC)),
        ("2024-12-28T10:00:00.123456789Z", datetime(2024, 12, 28, 10, 0, 0, 123_456, tzinfo=UTC)),
        ("2024-12-28T12:00:00+02:00", datetime(2024, 12, 28, 10, tzinfo=UTC)),
        ("2024-12-28T05:00:00-0500", datetime(2024, 12, 28, 10, tzinfo=UTC)),
    ],
)
def test_created_at_that_is_a_moment_is_kept_in_utc(written: str, kept: datetime) -> None:
    """Q-X3; one moment has one spelling in the log."""
    [question] = read([{"text": "A", "createdAt": written}])
    assert (question.created_at, question.created_at.tzinfo) == (kept, UTC)


@pytest.mark.parametrize(
    "written",
    [
        None,
        0,
        1735380000,
        "",
        "yesterday",
        "2024-12-28",
        "2024-12-28T10:00:00",
        "2024-13-28T10:00:00Z",
        "2023-02-29T10:00:00Z",
        "2024-12-28T25:00:00Z",
        "2024-12-28\u202e10:00:00Z",
        "２024-12-28T10:00:00Z",
        "0001-01-01T00:00:00+14:00",
        "9999-12-31T23:59:59-14:00",
        "2024-12-28T10:00:00+99:99",
        " 2024-12-28T10:00:00Z",
    ],
    ids=ascii,
)
def test_created_at_that_is_no_moment_is_replaced(written: Json) -> None:
    """Q-X3; without a time zone it is no moment, and some days are on no calendar."""
    [question] = read([{"text": "A", "createdAt": written}])
    assert question.created_at == NOON


def test_too_many_questions_are_refused_and_as_many_as_fit_are_not() -> None:
    """Nobody would answer more; what is no question does not count."""
    entries = [{"text": f"{number}?"} for number in range(MAX_QUESTIONS)]
    assert len(read([*entries, *[None] * 1_000])) == MAX_QUESTIONS
    with pytest.raises(TooLargeError, match=r"At most 50 questions are asked at once; these are 51\."):
        read([*entries, {"text": "one more"}])


def test_question_that_is_too_long_is_refused_and_not_cut() -> None:
    """Half of a question cannot be answered; the agent is told."""
    assert len(read([{"text": " " + "x" * MAX_QUESTION_TEXT}])) == 1
    with pytest.raises(TooLargeError, match=r"has at most 4,000 characters; this one has 4,001\."):
        read([{"text": "x" * (MAX_QUESTION_TEXT + 1)}])


def test_hundred_thousand_entries_take_no_time() -> None:
    """A text of a megabyte may hold that many."""
    with effort() as spent:
        assert read([{"text": ""}] * 50_000 + [None] * 150_000) == ()
    assert spent.loops < MUCH


@modest
@given(
    st.lists(
        json_values
        | st.fixed_dictionaries({"text": texts | json_values}, optional={"id": texts, "createdAt": texts}),
        max_size=8,
    )
)
def test_whatever_an_agent_writes_is_read_as_questions_that_can_be_asked(entries: list[Json]) -> None:
    """Nothing crashes, ids are different, and what was read passes the check of what is stored."""
    questions = read(entries)
    assert len({question.question_id for question in questions}) == len(questions)
    if questions:
        check_questions(questions)
    assert msgspec.json.decode(msgspec.json.encode(questions), type=tuple[Question, ...]) == questions


@pytest.mark.parametrize(
    ("questions", "error"),
    [
        ((), BadRequestError),
        ((new_question(), new_question()), BadRequestError),
        ((new_question(text=" "),), BadRequestError),
        ((new_question(text="\ud800"),), BadRequestError),
        ((new_question(question_id=""),), BadRequestError),
        ((new_question(question_id=" "),), BadRequestError),
        ((new_question(question_id="q\u200b"),), BadRequestError),
        ((new_question(question_id="\ud800"),), BadRequestError),
        ((new_question(text="x" * (MAX_QUESTION_TEXT + 1)),), TooLargeError),
        (tuple(map(new_question, range(MAX_QUESTIONS + 1))), TooLargeError),
    ],
    ids=["none", "twice", "blank", "half", "no id", "blank id", "hidden id", "half id", "long", "many"],
)
def test_questions_that_cannot_be_asked_are_refused(
    questions: tuple[Question, ...], error: type[BadRequestError]
) -> None:
    """Whoever made them: not all notifications come out of a result."""
    check_questions(QUESTIONS)
    with pytest.raises(error) as caught:
        check_questions(questions)
    assert type(caught.value) is error
    assert caught.value.message.endswith(".")


def test_moment_of_an_agent_may_lie_anywhere() -> None:
    """It is the agent's claim; nothing is decided by it."""
    later = NOON + timedelta(days=9_000)
    [question] = read([{"text": "A", "createdAt": later.isoformat()}])
    assert question.created_at == later
