"""Stories of asks: opened, answered, ended in every other way, and asked again."""

from __future__ import annotations

from datetime import timedelta

import pytest

from assent.protocol.ask import Kind
from assent.protocol.error import AssentError
from assent.protocol.prompt import Field, Option, Prompt
from tests.golden.stage import Stage

__all__ = ["STORIES"]

_DATABASES = ["PostgreSQL", "SQLite"]
_ROUND = Prompt(
    "Before I begin",
    "Two things are *open*.",
    (
        Field(
            "q1", "Which database?", (Option("pg", "PostgreSQL"), Option("lite", "SQLite", True)), free=True
        ),
        Field("q2", "Why? — “say it”", free=True),
    ),
)


def question_is_answered(stage: Stage) -> None:
    """One of two options."""
    asked = stage.coder.open("Which database?", _DATABASES)
    stage.clock.advance(90)
    stage.bob.answer(asked.ask_id, "2")


def question_is_answered_in_words(stage: Stage) -> None:
    """Free text, with what a terminal would obey in it."""
    asked = stage.coder.open("What shall it be called?", key="name")
    stage.bob.answer(asked.ask_id, "caf\u00e9 \u202e\x1b[31m\nsecond line")


def round_of_questions_is_answered(stage: Stage) -> None:
    """Both fields of one prompt, in one answer."""
    asked = stage.coder.open(_ROUND)
    stage.bob.answer(asked.ask_id, {"q1": "pg", "q2": "because"})


def several_are_chosen(stage: Stage) -> None:
    """More than one option of a field that takes more than one."""
    field = Field("q1", "Which?", (Option("a", "A"), Option("b", "B"), Option("c", "C")), multiple=True)
    asked = stage.coder.open(Prompt("Pick", "", (field,)))
    stage.bob.answer(asked.ask_id, {"q1": ["a", "c"]})


def second_answer_loses(stage: Stage) -> None:
    """One winner; the other is refused and leaves nothing behind."""
    asked = stage.coder.open("Which database?", _DATABASES)
    stage.bob.answer(asked.ask_id, "1")
    with pytest.raises(AssentError):
        stage.ana.answer(asked.ask_id, "2")


def question_is_declined(stage: Stage) -> None:
    """With a reason."""
    asked = stage.coder.open("Which database?", _DATABASES)
    stage.bob.decline(asked.ask_id, "not mine to say")


def question_is_withdrawn(stage: Stage) -> None:
    """By who asked."""
    stage.coder.open("Which database?", _DATABASES).withdraw("found it in the README")


def question_is_superseded(stage: Stage) -> None:
    """The same key with another prompt, on purpose."""
    stage.coder.open("Which database?", _DATABASES, key="db")
    stage.coder.open("Which database, then?", _DATABASES, key="db", replace=True)


def question_is_found_again(stage: Stage) -> None:
    """The same key with the same prompt is the same ask, open and ended."""
    asked, _ = (stage.coder.open("Which database?", _DATABASES, key="db") for _ in range(2))
    stage.bob.answer(asked.ask_id, "1")
    stage.coder.open("Which database?", _DATABASES, key="db")


def key_of_another_question_is_refused(stage: Stage) -> None:
    """Nothing is written of it."""
    stage.coder.open("Which database?", _DATABASES, key="db")
    with pytest.raises(AssentError):
        stage.coder.open("Which editor?", key="db")


def deadline_denies(stage: Stage) -> None:
    """Silence is a no."""
    stage.coder.open("Now?", ["Yes", "No"], deadline=timedelta(minutes=5), consequence="deny")
    stage.clock.advance(timedelta(minutes=6))


def deadline_passes_and_it_waits(stage: Stage) -> None:
    """It is overdue, and then answered."""
    asked = stage.coder.open("Now?", ["Yes", "No"], deadline=timedelta(minutes=5))
    stage.clock.advance(timedelta(minutes=6))
    stage.bob.answer(asked.ask_id, "1")


def deadline_escalates(stage: Stage) -> None:
    """To a person who is named."""
    asked = stage.coder.open(
        "Now?", ["Yes", "No"], deadline=timedelta(minutes=5), consequence="escalate", escalate_to="human:bob"
    )
    stage.clock.advance(timedelta(minutes=6))
    stage.bob.answer(asked.ask_id, "1")


def ask_could_not_be_delivered(stage: Stage) -> None:
    """Said of it, and it is answered all the same."""
    asked = stage.coder.open("Which database?", _DATABASES)
    stage.coder.report_undelivered(asked.ask_id, "no terminal")
    stage.bob.answer(asked.ask_id, "1")


def destructive_option_wants_a_second_yes(stage: Stage) -> None:
    """Refused without it, taken with it."""
    options = [Option("keep", "Keep it"), Option("drop", "Drop it", destructive=True)]
    asked = stage.coder.open("What of it?", options)
    with pytest.raises(AssentError):
        stage.bob.answer(asked.ask_id, "Drop it")
    stage.bob.answer(asked.ask_id, "Drop it", confirmed=True)


def confirm_is_said_yes_no_and_otherwise(stage: Stage) -> None:
    """Three plans."""
    for title, said in (("Plan A", "yes"), ("Plan B", "no"), ("Plan C", "Rename it first")):
        stage.bob.answer(stage.coder.open(title, kind=Kind.CONFIRM).ask_id, said)


def agent_cannot_answer(stage: Stage) -> None:
    """Nor decline, nor withdraw what another asked."""
    asked = stage.coder.open("Which database?", _DATABASES)
    for attempt in (stage.reviewer.answer, stage.coder.answer, stage.reviewer.withdraw):
        with pytest.raises(AssentError):
            attempt(asked.ask_id, "1")


def command_is_sent_twice(stage: Stage) -> None:
    """An answer under one id, sent again: once in the log."""
    asked = stage.coder.open("Which database?", _DATABASES)
    for _ in range(2):
        stage.bob.answer(asked.ask_id, "1", command_id="answer-1")


STORIES = (
    question_is_answered,
    question_is_answered_in_words,
    round_of_questions_is_answered,
    several_are_chosen,
    second_answer_loses,
    question_is_declined,
    question_is_withdrawn,
    question_is_superseded,
    question_is_found_again,
    key_of_another_question_is_refused,
    deadline_denies,
    deadline_passes_and_it_waits,
    deadline_escalates,
    ask_could_not_be_delivered,
    destructive_option_wants_a_second_yes,
    confirm_is_said_yes_no_and_otherwise,
    agent_cannot_answer,
    command_is_sent_twice,
)
