"""The AsyncAPI document: valid by its makers' schema, and true of what is told."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import httpx2
import pytest
from jsonschema import Draft7Validator, Draft202012Validator

from assent.hub.record import Recorded
from assent.surfaces.http.telling import Ending
from assent.testing.server import ThrowawayServer
from tests.patience import PATIENCE
from tests.surfaces.http.listening import Listener, ask_two, serving

__all__: list[str] = []

SCHEMA = Path(__file__).parents[2] / "data" / "asyncapi" / "3.0.0.json"


@pytest.fixture
def server() -> Iterator[ThrowawayServer]:
    """Give a server on an empty store."""
    with serving() as made:
        yield made


def fetch(server: ThrowawayServer) -> dict[str, Any]:
    """Return the document, as anybody gets it."""
    reply = httpx2.get(f"{server.url}/asyncapi.json", timeout=PATIENCE)
    assert reply.status_code == 200
    document: dict[str, Any] = reply.json()
    return document


def errors_of(document: dict[str, Any]) -> list[str]:
    """Return what the makers of AsyncAPI would not accept."""
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    return [error.message for error in Draft7Validator(schema).iter_errors(document)]


def test_document_is_valid_and_names_every_type_of_the_log(server: ThrowawayServer) -> None:
    """Nothing can be recorded that is not described, and nothing is described that cannot be recorded."""
    document = fetch(server)
    assert errors_of(document) == []
    types = {str(kind.__struct_config__.tag) for kind in get_args(Recorded)}
    assert set(document["components"]["messages"]) == types
    channel = document["channels"]["events"]
    assert set(channel["messages"]) == types
    assert channel["address"] == "/projects/{project}/events"
    assert all(str(ending.value) in channel["description"] for ending in Ending)


def test_document_with_a_wrong_part_is_reported(server: ThrowawayServer) -> None:
    """Twin of the test above."""
    document = fetch(server)
    document["operations"]["tell"]["action"] = "shout"
    assert errors_of(document)


def live(server: ThrowawayServer) -> None:
    """Let a good deal of what can happen happen."""
    agent, person = server.agent(), server.person()
    person.answer(agent.open("Which database?", ["PostgreSQL", "SQLite"]).ask_id, "2")
    person.decline(agent.open("Which?", ["A", "B"]).ask_id)
    agent.withdraw(agent.open("Which?", ["A", "B"], key="again").ask_id)
    with agent.run(mode="issue", max=2, model="haiku") as run:
        for turn in run:
            if turn.number == 1:
                person.pause(run.run_id)
                person.resume(run.run_id)
                person.escalate(run.run_id, model="opus", reason="It is stuck.")
    person.resolve(ask_two(agent), "SQLite")
    person.set_policy({"scopeChanges": "automated"})
    receipt = agent.approve("Drop it", action={"drop": "users.legacy_id"}, category="scopeChanges")
    agent.redeem(receipt.receipt_id, {"drop": "users.legacy_id"})
    agent.post("news", {"n": [1, 2.5, None]})


def test_every_event_is_as_the_document_says(server: ThrowawayServer) -> None:
    """A project where a good deal happens: each event fits the schema of its own type, and none of another's."""
    document = fetch(server)
    live(server)
    with Listener(server, server.token("observer", project="elsewhere"), after=0) as listener:
        heard = listener.until("topic.posted")
        while heard[-1].data["topic"] != "news":
            heard += listener.until("topic.posted")
    types = {event.type for event in heard}
    assert types >= {"ask.opened", "ask.answered", "ask.declined", "ask.withdrawn", "run.started", "run.done"}
    assert types >= {"control.requested", "control.acknowledged", "control.resolved", "run.turn_begun"}
    assert types >= {"notification.added", "notification.resolved", "task.created", "task.updated"}
    assert types >= {"policy.set", "receipt.granted", "receipt.redeemed", "token.created", "topic.posted"}
    for event in heard:
        payload = document["components"]["messages"][event.type]["payload"]
        told = {"sequence": event.sequence, "type": event.type, "at": event.at, "data": event.data}
        validator = Draft202012Validator(payload | {"components": document["components"]})
        assert [error.message for error in validator.iter_errors(told)] == []
        # What is not described does not go out, either.
        schema = payload["properties"]["data"]["anyOf"][0]
        if "$ref" in schema:
            schema = document["components"]["schemas"][schema["$ref"].rsplit("/", 1)[-1]]
        assert set(event.data) <= set(schema["properties"]), event.type
        wrong = validator.evolve(schema=document["components"]["messages"]["ask.overdue"]["payload"])
        assert not wrong.is_valid(told)
