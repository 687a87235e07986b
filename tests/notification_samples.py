"""Questions and notifications that many tests start from."""

from typing import Any

from msgspec.structs import replace

from assent.protocol.ask import AskId
from assent.protocol.notification import (
    Notification,
    NotificationId,
    NotificationKind,
    NotificationStatus,
    Source,
)
from assent.protocol.open_question import Question, QuestionId
from assent.protocol.resolution import Response
from tests.samples import NOON

__all__ = ["ANSWERS", "QUESTIONS", "new_notification", "new_question", "new_response"]


def new_question(number: int = 1, text: str = "", **changes: Any) -> Question:
    """Return question `number`, with this text."""
    return replace(Question(QuestionId(f"q{number}"), text or f"Question {number}?", NOON), **changes)


def new_response(number: int = 1, answer: str = "") -> Response:
    """Return the answer to question `number`."""
    return Response(QuestionId(f"q{number}"), answer or f"Answer {number}.")


QUESTIONS = (
    new_question(1, "Which database should we use: PostgreSQL or SQLite?"),
    new_question(2, "Should the API support pagination?"),
)
"""The text's own example."""
ANSWERS = (new_response(1, "SQLite"), new_response(2, "Yes."))


def new_notification(**changes: Any) -> Notification:
    """Return the open notification of a Coder's two questions; `changes` are fields of it."""
    notification = Notification(
        NotificationId("oq-00c0ffee"),
        "p",
        Source.EXECUTE,
        "task-1",
        QUESTIONS,
        NotificationStatus.OPEN,
        NOON,
        None,
        NotificationKind.OPEN_QUESTION,
        ask_id=AskId("ask_1"),
    )
    return replace(notification, **changes)
