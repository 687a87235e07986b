"""An open question: what an agent must know before it goes on.

Rule 1: entries are read leniently. What is no question is dropped, what a question lacks is filled in (Q5, Q-U6, Q-X3).
Rule 2: no clock and no chance: the moment and new ids are handed in.
Rule 3: texts are kept as the agent wrote them but for the white space around them. Only surfaces make them safe to see.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import NewType

import msgspec

from assent.protocol.display import display, is_blank, is_encodable, quote
from assent.protocol.error import BadPromptError, BadRequestError, TooLargeError
from assent.protocol.json_text import Json
from assent.protocol.prompt import MAX_FIELDS, Field, Prompt, check_prompt
from assent.protocol.trade_off import TradeOff, offer, parse_trade_offs

__all__ = [
    "MAX_QUESTIONS",
    "MAX_QUESTION_ID",
    "MAX_QUESTION_TEXT",
    "Question",
    "QuestionId",
    "check_questions",
    "parse_questions",
]

QuestionId = NewType("QuestionId", str)
MAX_QUESTIONS = MAX_FIELDS
"""Those of one notification are asked together, as the fields of one prompt."""
MAX_QUESTION_ID = 200
MAX_QUESTION_TEXT = 4_000
"""Room for a trade-off with several options, each with its pros and cons (Q13)."""


class Question(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """One question, as the wire has it."""

    question_id: QuestionId = msgspec.field(name="id")
    """Answers refer to it."""
    text: str
    created_at: datetime
    options: tuple[TradeOff, ...] | msgspec.UnsetType = msgspec.UNSET
    """What the agent would choose from, each with its pros and cons (Q13). Words of one's own are always an answer."""


def parse_questions(entries: Json, *, next_id: Callable[[], str], at: datetime) -> tuple[Question, ...]:
    """Return the questions among `entries`, each with an id of its own and a moment.

    `next_id` never gives the same id twice; it is asked only where an entry has no id that can be used.

    Raises:
        TooLargeError: there are too many of them, or one is too long. Nothing is cut off: nobody can answer half of a question.
    """
    found = list(_valid(entries))
    options = [_own_options(entry) for _, entry in found]
    _check_sizes([text + _spelled(choices) for (text, _), choices in zip(found, options, strict=True)])
    given = [_own_id(entry) for _, entry in found]
    taken, used = set(given), set[str]()
    questions = []
    for (text, entry), own, choices in zip(found, given, options, strict=True):
        question_id = own
        if not own or own in used:
            # Q-X3. Not one that a later entry brings along, either: that would have to lose it.
            question_id = _fresh(next_id, taken)
            taken.add(question_id)
        used.add(question_id)
        questions.append(Question(QuestionId(question_id), text, _own_moment(entry) or at, choices))
    return tuple(questions)


def _fresh(next_id: Callable[[], str], taken: set[str]) -> str:
    while (question_id := next_id()) in taken:
        pass
    return question_id


def _valid(entries: Json) -> Iterator[tuple[str, dict[str, Json]]]:
    if not isinstance(entries, list | tuple):
        return
    for entry in entries:
        text = entry.get("text") if isinstance(entry, dict) else None
        # What cannot be written down could not be stored, and what cannot be seen is as good as empty.
        if isinstance(text, str) and is_encodable(text) and not is_blank(text):
            yield text.strip(), entry


def _own_options(entry: dict[str, Json]) -> tuple[TradeOff, ...] | msgspec.UnsetType:
    """Return the options that the agent gave, if people can be shown them; else the question is asked without any."""
    choices = parse_trade_offs(entry.get("options"))
    if not choices:
        return msgspec.UNSET
    if len(_spelled(choices)) > MAX_QUESTION_TEXT:
        return choices  # which is refused, and not worth a closer look
    try:
        check_prompt(Prompt("?", fields=(Field("q1", options=offer(choices), free=True),)))
    except BadPromptError:
        return msgspec.UNSET  # two of them look alike, or one reads like the letter of another
    return choices


def _spelled(choices: tuple[TradeOff, ...] | msgspec.UnsetType) -> str:
    if isinstance(choices, msgspec.UnsetType):
        return ""
    return "".join(part for choice in choices for part in (choice.label, *choice.pros, *choice.cons))


def _own_id(entry: dict[str, Json]) -> str:
    """Return the id that the agent gave, or nothing: one that holds hidden characters would look like another."""
    given = entry.get("id")
    own = given.strip() if isinstance(given, str) and is_encodable(given) else ""
    return own if _is_id(own) else ""


def _is_id(text: str) -> bool:
    return 1 <= len(text) <= MAX_QUESTION_ID and not is_blank(text) and display(text, lines=False) == text


def _own_moment(entry: dict[str, Json]) -> datetime | None:
    given = entry.get("createdAt")
    if not isinstance(given, str) or not _MOMENT(given):
        return None
    try:
        return datetime.fromisoformat(given).astimezone(UTC)
    except (ValueError, OverflowError):
        return None  # no day of the calendar, or not one in UTC


def check_questions(questions: tuple[Question, ...]) -> None:
    """Check that `questions` can be put to people together.

    Raises:
        BadRequestError: there are none, one shows nothing, or an id cannot be used or stands twice.
        TooLargeError: there are too many of them, or one is too long.
    """
    if not questions:
        raise BadRequestError("There is no question.")
    _check_sizes([question.text + _spelled(question.options) for question in questions])
    used: set[str] = set()
    for question in questions:
        if is_blank(question.text) or not is_encodable(question.text):
            raise BadRequestError("A question shows nothing.")
        if not is_encodable(question.question_id) or not _is_id(question.question_id):
            raise BadRequestError(f'"{quote(question.question_id, 60)}" is no id of a question.')
        if question.question_id in used:
            raise BadRequestError(f'Two questions have the id "{quote(question.question_id, 60)}".')
        used.add(question.question_id)


def _check_sizes(texts: list[str]) -> None:
    if len(texts) > MAX_QUESTIONS:
        raise TooLargeError(f"At most {MAX_QUESTIONS} questions are asked at once; these are {len(texts):,}.")
    longest = max(map(len, texts), default=0)
    if longest > MAX_QUESTION_TEXT:
        raise TooLargeError(
            f"A question has at most {MAX_QUESTION_TEXT:,} characters; this one has {longest:,}."
        )


_MOMENT = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,9})?)?(?:Z|[+-][0-9]{2}:?[0-9]{2})"
).fullmatch
"""ISO 8601 with its time zone: without one it is no moment. Python's own reader takes any sign for the T."""
