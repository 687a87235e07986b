"""An agent's result as it is handed in, and what follows from the questions in it.

Rule 1: four agents have questions that count: Analyst, Dreamer, Planner, Coder (Q1). Those of anybody else, the
        Reviewer's too, are not even looked at (Q-X16).
Rule 2: a Coder's questions count unless it succeeded (Q-X17); the others ask with whatever status, as what they would
        do on a guess is held back (Q10, Q14).
Rule 3: a result that asks is no failed attempt.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

import msgspec

from assent.protocol.display import is_blank, quote
from assent.protocol.error import BadRequestError
from assent.protocol.json_text import Json, check_json
from assent.protocol.notification import Source, check_source_id
from assent.protocol.open_question import Question, parse_questions

__all__ = [
    "FAILED",
    "HOLDING_SOURCES",
    "MAX_AGENT",
    "MAX_STATUS",
    "SOURCES",
    "SUCCESS",
    "AgentResult",
    "Meaning",
    "meaning_of",
    "parse_agent_result",
]

SOURCES: dict[str, Source] = {
    "analyst": Source.EVAL,
    "dreamer": Source.PRD,
    "planner": Source.PLAN,
    "coder": Source.EXECUTE,
}
"""Agent, in lower case, to what its results are about (Q6-Q9)."""
HOLDING_SOURCES = frozenset({Source.EVAL, Source.PRD, Source.PLAN})
"""While one of these has an open question nothing is made of its results: no task, no PRD update, no decomposition."""

SUCCESS, FAILED = "success", "failed"
MAX_AGENT = 200
MAX_STATUS = 200


class AgentResult(msgspec.Struct, frozen=True):
    """What is read of a result; the work that it carries is not."""

    agent: str
    """In lower case, whoever it is."""
    source: Source | None
    """None of an agent whose questions do not count."""
    source_id: str
    status: str
    """In lower case; empty where it has none."""
    questions: tuple[Question, ...] = ()
    """Those that count."""


class Meaning(msgspec.Struct, frozen=True):
    """What is to be done because of a result."""

    questions: tuple[Question, ...] = ()
    """To be asked, as one notification."""
    is_task_blocked: bool = False
    """Its task waits for the answer (Q19-Q22)."""
    is_work_held: bool = False
    """The tasks, or the changes of a PRD or a plan, that the result also carries must not be made (Q10, Q14, Q-X19)."""
    is_failed_attempt: bool = False
    """It counts against the limit of retries (Q-X17)."""


def parse_agent_result(body: Json, *, next_id: Callable[[], str], at: datetime) -> AgentResult:
    """Read a result; `next_id` and `at` fill what its questions lack (Q5).

    Raises:
        BadRequestError: it is no object, or names no agent or nothing that it is about.
        BadJsonError: it holds what JSON cannot hold.
        TooLargeError: its questions are over a limit.
    """
    if not isinstance(body, dict):
        raise BadRequestError("A result must be an object.")
    check_json(body)
    agent = _text(body, "agent", MAX_AGENT).lower()
    if is_blank(agent):
        raise BadRequestError("agent is missing.")
    source = SOURCES.get(agent)
    status = _text(body, "status", MAX_STATUS).lower()
    if source is None:
        return AgentResult(agent, None, "", status)
    source_id = check_source_id(_text(body, "sourceId"))
    if source is Source.EXECUTE and status == SUCCESS:
        return AgentResult(agent, source, source_id, status)  # Q-X17: an ordinary success
    questions: tuple[Question, ...] = ()
    for name in ("open_questions", "openQuestions"):  # Q-X2: the first that has any; never both
        questions = questions or parse_questions(body.get(name), next_id=next_id, at=at)
    return AgentResult(agent, source, source_id, status, questions)


def _text(body: dict[str, Json], name: str, limit: int | None = None) -> str:
    value = body.get(name)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise BadRequestError(f"{name} must be a string.")
    if limit is not None and len(value) > limit:
        raise BadRequestError(f'{name} "{quote(value, 40)}" is longer than {limit} characters.')
    return value.strip()


def meaning_of(result: AgentResult, *, is_waiting: bool = False) -> Meaning:
    """Return what follows from a result whose repeated questions were taken out of it (`protocol.repeat`).

    `is_waiting` says that an earlier question about the same thing is still open: then its work is held back even
    where the result asks nothing new (Q-X19).
    """
    asks = bool(result.questions)
    return Meaning(
        result.questions,
        is_task_blocked=asks and result.source is Source.EXECUTE,
        is_work_held=(asks or is_waiting) and result.source in HOLDING_SOURCES,
        is_failed_attempt=result.status == FAILED and not asks,
    )
