"""The public form of an ask: names that scripts rely on."""

import json
from datetime import UTC, datetime

import pytest

from assent.protocol.answer import Answer
from assent.protocol.ask import (
    WAITING_KINDS,
    Ask,
    AskId,
    Claim,
    Consequence,
    Kind,
    Outcome,
    State,
    parse_ask,
    render_json,
)
from assent.protocol.principal import Assurance
from assent.protocol.prompt import check_prompt, prompt_digest, question

AT = datetime(2026, 3, 1, 12, 30, 5, 250_000, tzinfo=UTC)
PROMPT = question("Which database?", ["PostgreSQL", "SQLite"], body="For the ledger.")
OPEN = Ask(
    ask_id=AskId("ask_1"),
    project="ledger",
    kind=Kind.QUESTION,
    state=State.OPEN,
    key="db",
    prompt=PROMPT,
    digest=prompt_digest(check_prompt(PROMPT)),
    asker="agent:coder",
    run_id=None,
    opened_at=AT,
)
ANSWERED = Ask(
    ask_id=AskId("ask_2"),
    project="ledger",
    kind=Kind.APPROVAL,
    state=State.ANSWERED,
    key=None,
    prompt=PROMPT,
    digest=OPEN.digest,
    asker="agent:coder",
    run_id="run-1",
    opened_at=AT,
    deadline=AT,
    consequence=Consequence.DENY,
    answer=Answer({"q1": ("SQLite",)}, "b", "human:ana", "terminal", Assurance.TERMINAL, AT),
    outcome=Outcome(State.ANSWERED, AT, "human:ana"),
    sequence=7,
    claim=Claim("human:sam", AT),
)


@pytest.mark.parametrize("ask", [OPEN, ANSWERED])
def test_public_form_is_read_back_as_the_same_ask(ask: Ask) -> None:
    """What a script stored yesterday can be read tomorrow."""
    assert parse_ask(render_json(ask)) == ask


def test_public_form_has_the_promised_names() -> None:
    """Names may be added, never renamed."""
    shown = json.loads(render_json(ANSWERED))
    promised = (
        "ask_id project kind state key prompt digest asker run_id opened_at deadline answer sequence replayed"
    )
    assert set(promised.split()) <= set(shown)
    assert list(shown["prompt"]) == ["title", "body", "fields", "action", "risk", "commands"]
    field = shown["prompt"]["fields"][0]
    assert list(field) == ["name", "text", "options", "multiple", "free"]
    assert set(field["options"][0]) >= {"key", "label", "recommended", "destructive"}
    assert set(shown["answer"]) >= {"values", "text", "by", "via", "assurance", "at"}
    assert shown["answer"]["values"] == {"q1": ["SQLite"]}


def test_open_ask_has_null_where_nothing_happened_yet() -> None:
    """A script tests for null, not for a missing name."""
    shown = json.loads(render_json(OPEN))
    assert shown["state"] == "open"
    assert shown["answer"] is None
    assert shown["deadline"] is None
    assert shown["run_id"] is None
    assert shown["replayed"] is False
    assert OPEN.is_open
    assert not ANSWERED.is_open


def test_instants_are_utc_to_the_microsecond() -> None:
    """One way to write a moment."""
    assert json.loads(render_json(OPEN))["opened_at"] == "2026-03-01T12:30:05.250000Z"


def test_states_kinds_and_consequences_are_spelled_as_on_the_wire() -> None:
    """Stored values: a renamed member would orphan them."""
    assert [state.value for state in State] == [
        "open",
        "answered",
        "declined",
        "withdrawn",
        "expired",
        "superseded",
    ]
    assert [kind.value for kind in Kind] == [
        "question",
        "gate",
        "confirm",
        "approval",
        "finding",
        "open_question",
    ]
    assert [consequence.value for consequence in Consequence] == ["wait", "deny", "escalate", "end-run"]


def test_gates_confirms_and_findings_wait_without_limit() -> None:
    """No timer ends them: silence is never a yes."""
    assert {Kind.GATE, Kind.CONFIRM, Kind.FINDING} == WAITING_KINDS
