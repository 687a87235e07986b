"""Values that many tests start from."""

from datetime import UTC, datetime, timedelta
from typing import Any

from msgspec.structs import replace

from assent.protocol.answer import Answer
from assent.protocol.ask import Ask, AskId, Consequence, Kind, Outcome, State
from assent.protocol.principal import Assurance, Principal, Role
from assent.protocol.prompt import Prompt, encode_prompt, prompt_digest, question

__all__ = [
    "AGENT",
    "ANA",
    "BOB",
    "NOON",
    "WHICH",
    "digest_of",
    "microseconds",
    "new_answer",
    "new_ask",
    "new_outcome",
]

NOON = datetime(2030, 1, 1, 12, 0, tzinfo=UTC)
AGENT = Principal(Role.AGENT, "coder")
ANA = Principal(Role.HUMAN, "ana")
BOB = Principal(Role.HUMAN, "bob")
WHICH = question("Which database?", ["PostgreSQL", "SQLite"])


def digest_of(prompt: Prompt) -> str:
    """Return the digest under which a prompt is kept."""
    return prompt_digest(encode_prompt(prompt))


def microseconds(moment: datetime) -> int:
    """Return a moment as the store's clock counts it."""
    return (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)


def new_ask(number: int = 1, project: str = "p", **changes: Any) -> Ask:
    """Return an open ask; `changes` are fields of it."""
    ask = Ask(
        AskId(f"ask_{number:018}"),
        project,
        Kind.QUESTION,
        State.OPEN,
        None,
        WHICH,
        digest_of(WHICH),
        str(AGENT),
        None,
        NOON,
    )
    return replace(ask, **changes)


def new_answer(**changes: Any) -> Answer:
    """Return ana's answer."""
    answer = Answer({"q1": ("SQLite",)}, "2", str(ANA), "python", Assurance.DECLARED, NOON, "cmd_answer")
    return replace(answer, **changes)


def new_outcome(state: State, **changes: Any) -> Outcome:
    """Return an outcome in `state`."""
    consequence = Consequence.DENY if state is State.EXPIRED else None
    successor = AskId("ask_new") if state is State.SUPERSEDED else None
    outcome = Outcome(state, NOON, str(ANA), consequence=consequence, successor=successor)
    return replace(outcome, **changes)
