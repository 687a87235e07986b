"""An open question as an ask shows it, and its answer on the way back.

The fields go by q1, q2, …: an agent's own ids may look like the key of another question.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import UnsetType

from assent.protocol.answer import FieldValues
from assent.protocol.ask import Ask, Kind, State
from assent.protocol.display import quote
from assent.protocol.notification import Notification, Source
from assent.protocol.open_question import Question
from assent.protocol.prompt import Field, Option, Prompt
from assent.protocol.resolution import Response, check_responses
from assent.protocol.task import TaskAnswer
from assent.protocol.trade_off import offer

__all__ = ["answers_of", "question_prompt", "responses_of", "task_answers"]

_NOUNS = {
    Source.EVAL: "feedback",
    Source.PRD: "section",
    Source.PLAN: "plan",
    Source.EXECUTE: "task",
}


def question_prompt(notification: Notification, agent: str = "") -> Prompt:
    """Return what a person is asked: every question of the notification, with its options if it has any, and in words of
    their own in any case.
    """
    who = quote(agent, 60).capitalize() or "An agent"
    title = f"{who} asks about {_NOUNS[notification.source]} {quote(notification.source_id)}"
    fields = tuple(
        Field(f"q{number}", question.text, _options(question), free=True)
        for number, question in enumerate(notification.questions, start=1)
    )
    return Prompt(title, fields=fields)


def _options(question: Question) -> tuple[Option, ...]:
    return () if isinstance(question.options, UnsetType) else offer(question.options)


def answers_of(notification: Notification, responses: Sequence[Response]) -> FieldValues:
    """Return responses as the values of the ask's fields."""
    fitting = check_responses(notification.questions, responses)
    return {f"q{number}": (response.answer,) for number, response in enumerate(fitting, start=1)}


def responses_of(notification: Notification, ask: Ask) -> tuple[Response, ...] | None:
    """Return the answers of an ask that has ended as responses; nothing where it has none."""
    if ask.answer is None or ask.kind is not Kind.OPEN_QUESTION:
        return None
    return tuple(
        Response(question.question_id, "\n".join(ask.answer.values[f"q{number}"]))
        for number, question in enumerate(notification.questions, start=1)
    )


def task_answers(notification: Notification, ask: Ask | None = None) -> list[TaskAnswer]:
    """Return what became of each question of a notification; `ask` is the one behind it, if it ended without an answer."""
    given = {response.question_id: response.answer for response in notification.responses or ()}
    outcome = None if ask is None else ask.outcome
    state, reason = State.ANSWERED, ""
    if notification.is_open:
        state = State.OPEN
    elif not given:
        state, reason = (State.DECLINED, "") if outcome is None else (outcome.state, outcome.reason)
    return [
        TaskAnswer(
            notification.notification_id,
            question.question_id,
            question.text,
            given.get(question.question_id),
            state,
            reason,
        )
        for question in notification.questions
    ]
