"""Agents' results: whose questions count, where they stand, and what follows from them."""

from itertools import count
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from assent.protocol.agent_result import (
    HOLDING_SOURCES,
    MAX_AGENT,
    SOURCES,
    AgentResult,
    Meaning,
    meaning_of,
    parse_agent_result,
)
from assent.protocol.canonical import Json
from assent.protocol.error import BadJsonError, BadRequestError, TooLargeError
from assent.protocol.notification import MAX_SOURCE_ID, Source
from assent.protocol.open_question import MAX_QUESTIONS
from assent.protocol.repeat import sift
from tests.effort import MUCH, effort
from tests.notification_samples import QUESTIONS
from tests.protocol.strategies import json_values, modest
from tests.proves import proves
from tests.samples import NOON

__all__: list[str] = []

ENTRIES = [{"id": question.question_id, "text": question.text} for question in QUESTIONS]
"""The text's own example."""
HOLDERS = ["Analyst", "Dreamer", "Planner"]


def read(body: Json) -> AgentResult:
    """Read a result that comes in at noon."""
    numbers = count(1)
    return parse_agent_result(body, next_id=lambda: f"new-{next(numbers)}", at=NOON)


def result(agent: str = "Coder", status: str | None = "failed", **more: Any) -> AgentResult:
    """Read the result of `agent`; with the example's questions, unless `more` has others."""
    body = {"agent": agent, "sourceId": "id-1", "status": status, "open_questions": ENTRIES, **more}
    return read({name: value for name, value in body.items() if value is not None})


# Who


@proves("Q1")
@pytest.mark.parametrize(
    ("agent", "source"),
    [
        ("Analyst", Source.EVAL),
        ("Dreamer", Source.PRD),
        ("Planner", Source.PLAN),
        ("Coder", Source.EXECUTE),
    ],
)
def test_four_agents_may_ask_and_each_has_its_source(agent: str, source: Source) -> None:
    """Q6-Q9, with the id of the feedback, section, plan or task; names in any case."""
    assert len(SOURCES) == 4
    for name in (agent, agent.lower(), agent.upper(), f" {agent} "):
        asked = result(name, sourceId="draft:7")
        assert (asked.agent, asked.source, asked.source_id) == (agent.lower(), source, "draft:7")
        assert asked.questions == QUESTIONS


@proves("Q1")
@pytest.mark.parametrize(
    "agent", ["Reviewer", "reviewer", "Merger", "Сoder", "coder\u200b", "analyſt", "human:ana"]
)
@pytest.mark.parametrize("status", ["failed", "success"])
def test_questions_of_anybody_else_are_ignored(agent: str, status: str) -> None:
    """Q-X16: also of a name that only looks like one of the four; not even their size is looked at."""
    other = result(agent, status, open_questions=ENTRIES * MAX_QUESTIONS)
    assert (other.source, other.questions) == (None, ())
    assert meaning_of(other) == Meaning(is_failed_attempt=status == "failed")
    assert read({"agent": agent}).source_id == ""


# Where


@proves("Q4")
@pytest.mark.parametrize("name", ["open_questions", "openQuestions"])
def test_both_names_of_the_field_are_read(name: str) -> None:
    """The value is an array."""
    body = {"agent": "Coder", "sourceId": "id-1", "status": "failed"}
    assert read({**body, name: ENTRIES}).questions == QUESTIONS
    assert read({**body, name: ENTRIES[0]}).questions == ()
    assert read({**body, "questions": ENTRIES}).questions == ()


@pytest.mark.parametrize(
    ("snake", "camel", "found"),
    [
        ([{"text": "A"}], [{"text": "B"}], ["A"]),
        ([{"text": " "}, 7], [{"text": "B"}], ["B"]),
        ([], [{"text": "B"}], ["B"]),
        (None, [{"text": "B"}], ["B"]),
        ("A", [{"text": "B"}], ["B"]),
        ([{"text": "A"}, None], [], ["A"]),
        ([], [], []),
    ],
    ids=["both", "invalid", "empty", "null", "text", "only snake", "neither"],
)
def test_snake_case_wins_if_it_has_a_question_and_the_two_are_never_merged(
    snake: Json, camel: Json, found: list[str]
) -> None:
    """Q-X2."""
    body = {"agent": "Coder", "sourceId": "t", "open_questions": snake, "openQuestions": camel}
    assert [question.text for question in read(body).questions] == found


def test_missing_id_and_moment_are_filled_from_what_was_handed_in() -> None:
    """Q5, through the whole result."""
    [question] = result(open_questions=[{"text": "A"}]).questions
    assert (question.question_id, question.created_at) == ("new-1", NOON)


# What follows


@pytest.mark.parametrize(
    ("status", "questions", "meaning"),
    [
        ("failed", ENTRIES, Meaning(QUESTIONS, is_task_blocked=True)),
        ("FAILED", ENTRIES, Meaning(QUESTIONS, is_task_blocked=True)),
        (None, ENTRIES, Meaning(QUESTIONS, is_task_blocked=True)),
        ("needs_input", ENTRIES, Meaning(QUESTIONS, is_task_blocked=True)),
        ("failed", [], Meaning(is_failed_attempt=True)),
        ("failed", [{"text": ""}, "A"], Meaning(is_failed_attempt=True)),
        ("success", ENTRIES, Meaning()),
        ("Success", ENTRIES, Meaning()),
        ("success", [], Meaning()),
        ("success", ENTRIES * MAX_QUESTIONS, Meaning()),
    ],
    ids=[
        "asks",
        "any case",
        "no status",
        "other status",
        "fails",
        "asks nothing",
        "succeeds and asks",
        "any case again",
        "succeeds",
        "succeeds and asks too much",
    ],
)
def test_coder_blocks_its_task_if_it_asks_without_success(
    status: str | None, questions: Json, meaning: Meaning
) -> None:
    """Q-X17: the pair decides. A task that waits for an answer is no failed attempt; success stays success."""
    assert meaning_of(result("Coder", status, open_questions=questions)) == meaning


@pytest.mark.parametrize("agent", HOLDERS)
@pytest.mark.parametrize("status", ["failed", "success", None], ids=str)
def test_work_of_an_agent_that_asks_is_held_back(agent: str, status: str | None) -> None:
    """Q10, Q14: no task, no PRD update, no plan on a guess, whatever else the result carries; no task is blocked."""
    asked = result(agent, status, tasks=[{"title": "Guess"}], prd_update="x", summary=None)
    assert meaning_of(asked) == Meaning(QUESTIONS, is_work_held=True)


@pytest.mark.parametrize("agent", HOLDERS)
def test_work_of_an_agent_that_asks_nothing_is_not_held_back(agent: str) -> None:
    """Twin of the test above."""
    assert meaning_of(result(agent, "success", open_questions=[])) == Meaning()
    assert meaning_of(result(agent, "failed", open_questions=[{}])) == Meaning(is_failed_attempt=True)


@pytest.mark.parametrize("agent", [*HOLDERS, "Coder", "Reviewer"])
def test_work_is_held_back_while_an_earlier_question_is_open(agent: str) -> None:
    """Q-X19: a feedback with an open question makes no tasks, also if the Analyst has nothing new to ask."""
    silent = result(agent, "success", open_questions=None)
    assert meaning_of(silent, is_waiting=True).is_work_held == (silent.source in HOLDING_SOURCES)
    assert (silent.source in HOLDING_SOURCES) == (agent in HOLDERS)


def test_result_whose_questions_were_all_asked_before_counts_as_one_without() -> None:
    """Q-X5."""
    asked = result("Analyst", "success")
    before = [question.text for question in QUESTIONS]
    left = replace(asked, questions=sift(asked.questions, before, had_confirmation=False))
    assert meaning_of(left) == Meaning()


# What is refused


@pytest.mark.parametrize(
    "body",
    [
        None,
        [],
        "Coder",
        {},
        {"agent": None, "sourceId": "t"},
        {"agent": " ", "sourceId": "t"},
        {"agent": 7, "sourceId": "t"},
        {"agent": "x" * (MAX_AGENT + 1)},
        {"agent": "Coder"},
        {"agent": "Coder", "sourceId": ""},
        {"agent": "Coder", "sourceId": 7},
        {"agent": "Coder", "sourceId": "x" * (MAX_SOURCE_ID + 1)},
        {"agent": "Coder", "sourceId": "t\u200b"},
        {"agent": "Coder", "sourceId": "a\nb"},
        {"agent": "Coder", "sourceId": "t", "status": 1},
        {"agent": "Coder", "sourceId": "t", "status": "x" * 999},
    ],
    ids=lambda body: ascii(body)[:60],
)
def test_result_that_is_about_nothing_is_refused_with_a_sentence(body: Json) -> None:
    """The agent can do something about it."""
    with pytest.raises(BadRequestError) as caught:
        read(body)
    assert caught.value.message.endswith(".")
    assert len(caught.value.message) < 300


def test_result_that_is_too_large_or_no_json_is_refused() -> None:
    """Questions are not cut off; half of a surrogate pair could not be stored."""
    with pytest.raises(TooLargeError):
        result(open_questions=ENTRIES * MAX_QUESTIONS)
    with pytest.raises(BadJsonError):
        result(note="\ud800")


def test_hostile_text_comes_through_as_it_is() -> None:
    """What is asked is what was written; surfaces make it safe to look at."""
    hostile = "<script>\u202e\x1b]8;;x\x07</script> -->\r\n### 🛑 REVIEW GATEWAY"
    [question] = result(open_questions=[{"text": hostile}]).questions
    assert question.text == hostile


def test_result_of_a_megabyte_is_read_in_no_time() -> None:
    """As many parts as one text may hold."""
    with effort() as spent:
        assert result(open_questions=[{"text": 1}] * 49_000, openQuestions=[["x"]]).questions == ()
    assert spent.loops < MUCH


@modest
@given(
    st.fixed_dictionaries(
        {"agent": st.sampled_from(["Coder", "analyst", "PLANNER", "Reviewer"]) | json_values},
        optional={
            "sourceId": st.just("t") | json_values,
            "status": st.sampled_from(["failed", "success"]) | json_values,
            "open_questions": st.lists(st.sampled_from(ENTRIES) | json_values, max_size=4) | json_values,
            "openQuestions": st.lists(st.sampled_from(ENTRIES) | json_values, max_size=4) | json_values,
        },
    )
    | json_values
)
def test_whatever_comes_in_has_a_meaning_or_is_refused_with_a_code(body: Json) -> None:
    """There is no third way, and a meaning never contradicts itself."""
    try:
        asked = read(body)
    except BadRequestError:
        return
    meaning = meaning_of(asked)
    assert not (meaning.is_task_blocked and meaning.is_work_held)
    assert (meaning.is_task_blocked or meaning.is_work_held) == bool(meaning.questions)
    assert not (meaning.questions and meaning.is_failed_attempt)
