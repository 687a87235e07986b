"""A resolution: what somebody says to a notification. Answers, a yes or a no, or nothing at all.

Rule 1: nothing but an empty body is nothing. A body with a field that is not known is refused, since a misspelled
        answer must not pass for a dismissal.
Rule 2: either every question is answered, once, or none is; an empty text answers nothing (decided rule 6).
Rule 3: answers are kept as they were typed.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from assent.protocol.answer import check_reply_size
from assent.protocol.display import is_blank, is_encodable, quote
from assent.protocol.error import BadRequestError
from assent.protocol.json_text import Json
from assent.protocol.open_question import MAX_QUESTIONS, Question, QuestionId

__all__ = ["Resolution", "Response", "answer_all", "check_responses", "parse_resolution"]


class Response(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """The answer to one question, as the wire has it."""

    question_id: QuestionId
    answer: str


class Resolution(msgspec.Struct, frozen=True):
    """The body of a PATCH, read; at most one of its parts is there, and a no has words."""

    responses: tuple[Response, ...] | None = None
    approved: bool | None = None
    reason: str = ""
    """The words of a no."""
    is_dismissed: bool = False
    """It says that there is no answer; an empty one leaves that to what its sender said in the task's chat."""

    @property
    def is_dismissal(self) -> bool:
        """It says nothing: the notification is resolved without an answer (Q-U11)."""
        return self.responses is None and self.approved is None


def parse_resolution(body: Json) -> Resolution:
    """Read the body with which a notification is resolved; None where there was no body (Q-U4).

    Raises:
        BadRequestError: it is neither `{"responses": […]}` nor `{"approved": …}` nor `{"dismissed": true}` nor empty.
    """
    if body is None:
        return Resolution()
    if not isinstance(body, dict):
        raise BadRequestError("The body must be an object.")
    for name in body:
        if name not in ("responses", "approved", "reason", "dismissed"):
            raise BadRequestError(
                f'"{quote(str(name), 40)}" is not known: use responses, approved or dismissed.'
            )
    reason = body.get("reason", "")
    if not isinstance(reason, str) or (reason and body.get("approved") is not False):
        raise BadRequestError('A reason is a text, and goes with "approved": false.')
    if len(body.keys() - {"reason"}) > 1:
        raise BadRequestError("Send one of responses, approved and dismissed.")
    if "approved" in body:
        if not isinstance(body["approved"], bool):
            raise BadRequestError("approved must be true or false.")
        return Resolution(approved=body["approved"], reason=reason)
    if "dismissed" in body:
        if body["dismissed"] is not True:
            raise BadRequestError("dismissed must be true.")
        return Resolution(is_dismissed=True)
    return Resolution(_parse_responses(body["responses"])) if "responses" in body else Resolution()


def _parse_responses(entries: Json) -> tuple[Response, ...]:
    if not isinstance(entries, list | tuple):
        raise BadRequestError("responses must be a list.")
    if len(entries) > MAX_QUESTIONS:
        raise BadRequestError(f"responses has at most {MAX_QUESTIONS} entries; here are {len(entries):,}.")
    return tuple(_parse_response(entry, number) for number, entry in enumerate(entries, start=1))


def _parse_response(entry: Json, number: int) -> Response:
    if not isinstance(entry, dict) or entry.keys() != {"questionId", "answer"}:
        raise BadRequestError(f"Response {number} must be an object with questionId and answer.")
    question_id, answer = entry["questionId"], entry["answer"]
    if not isinstance(question_id, str) or not isinstance(answer, str):
        raise BadRequestError(f"The questionId and the answer of response {number} must be strings.")
    return Response(QuestionId(question_id), answer)


def check_responses(questions: Sequence[Question], responses: Sequence[Response]) -> tuple[Response, ...]:
    """Return `responses` in the order of the questions if each of these has exactly one.

    Raises:
        BadRequestError: one is missing, empty, given twice, or belongs to no question here.
        TooLargeError: they are longer than what a person would type.
    """
    known = {question.question_id for question in questions}
    given: dict[QuestionId, Response] = {}
    for response in responses:
        shown = quote(response.question_id, 60)
        if response.question_id not in known:
            raise BadRequestError(f'There is no question "{shown}" here.')
        if response.question_id in given:
            raise BadRequestError(f'There are two answers to "{shown}".')
        if is_blank(response.answer):
            raise BadRequestError(f'The answer to "{shown}" is empty.')
        if not is_encodable(response.answer):
            raise BadRequestError(f'The answer to "{shown}" cannot be written down.')
        given[response.question_id] = response
    for question in questions:
        if question.question_id not in given:
            raise BadRequestError(f'There is no answer to "{quote(question.question_id, 60)}".')
    # The same text may answer many questions (Q-U9), and was typed once.
    check_reply_size("".join(dict.fromkeys(response.answer for response in responses)))
    return tuple(given[question.question_id] for question in questions)


def answer_all(questions: Sequence[Question], text: str) -> tuple[Response, ...]:
    """Return `text` as the answer to every question, as a person who writes one text means it (Q-U9)."""
    return tuple(Response(question.question_id, text) for question in questions)
