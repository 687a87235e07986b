"""Who may do what: every verb, called with a token of every role, and an agent at every door that leads to a person's part."""

import re
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from assent.client.verbs import VERBS
from assent.hub.authorise import RIGHTS
from assent.protocol.principal import Role
from assent.protocol.token import digest_of
from tests.surfaces.http.signing import SESSION, Signer
from tests.surfaces.http.world import Place, Sent, Trial, World, a_world
from tools.page import ROOT

__all__: list[str] = []

PEOPLES = frozenset(
    {
        "answer_ask",
        "claim_ask",
        "clear_notifications",
        "control_run",
        "create_token",
        "list_tokens",
        "look",
        "resolve_notification",
        "revoke_token",
        "set_policy",
        "verify",
    }
)
"""What no agent does."""


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    """Give one server for all cells: every cell has a project of its own."""
    with a_world() as found:
        yield found


def owner_of(role: Role) -> Role:
    """Return who makes the things that somebody of this role is going to meet: they do, if they can make any."""
    return Role.HUMAN if role is Role.OBSERVER else role


@pytest.mark.parametrize("role", list(Role), ids=str)
@pytest.mark.parametrize("name", list(VERBS))
def test_verb_is_done_for_the_roles_of_the_matrix_and_refused_to_all_others(
    world: World, name: str, role: Role
) -> None:
    """One cell of the matrix. A refusal is 403 whatever the request is about, and nothing is written."""
    verb = VERBS[name]
    trial = world.place(owner_of(role)).trial(name)
    before = world.look()
    sent = world.send_as(trial, world.tokens[role])
    if role in verb.roles:
        assert sent.status == verb.status
    else:
        assert (sent.status, sent.code) == (403, "forbidden")
    if role not in verb.roles or not verb.is_change:
        assert world.look() == before


def test_matrix_keeps_people_and_agents_apart() -> None:
    """The lists themselves are a claim: what no agent does, and that an observer only looks."""
    assert {name for name, verb in VERBS.items() if Role.AGENT not in verb.roles} == PEOPLES
    # To say what one looks at is to look: nothing of it is stored.
    assert [name for name, verb in VERBS.items() if verb.is_change and Role.OBSERVER in verb.roles] == [
        "look"
    ]
    assert {name for name, verb in VERBS.items() if verb.roles == {Role.HUMAN}} == {
        "answer_ask",
        "claim_ask",
        "clear_notifications",
        "resolve_notification",
    }
    assert all(Role.HUMAN in verb.roles for verb in VERBS.values())
    rights = set(RIGHTS.values())
    changes = [verb for verb in VERBS.values() if verb.is_change and verb.name not in ("control_run", "look")]
    assert [verb.name for verb in changes if verb.roles not in rights] == []


def test_published_matrix_is_the_one_that_holds() -> None:
    """Every verb has a row in the reference, with a mark for each role that may use it and no other."""
    page = (ROOT / "docs" / "reference" / "http.md").read_text(encoding="utf-8")
    section = page.partition("## Who may do what\n")[2].partition("\n## ")[0]
    rows = dict(re.findall(r"^\| `(\w+)` \| (.+) \|$", section, re.MULTILINE))
    marks = {
        name: tuple("yes" if role in verb.roles else "" for role in Role) for name, verb in VERBS.items()
    }
    told = {name: tuple(cell.strip() for cell in rows[name].split(" | ")) for name in VERBS if name in rows}
    assert told == marks


# What an agent tries at the other doors


def blocked_task(place: Place) -> tuple[str, str]:
    """Return a task that waits for an answer, and the notification of the question."""
    task_id = place.make("create_task", {"title": "Build"})["task_id"]
    result = {
        "agent": "Coder",
        "sourceId": task_id,
        "status": "failed",
        "open_questions": [{"text": "Which?"}],
    }
    told = place.make("hand_in", result)
    return task_id, told["notification"]["id"]


def send(world: World, place: Place, name: str, body: object = None, **parts: str) -> Sent:
    """Use a verb as the agent."""
    return world.send_as(Trial(VERBS[name], place.path(VERBS[name], **parts), body), world.tokens[Role.AGENT])


REQUEST = {
    "schema": 0,
    "type": "REQUEST",
    "request_id": "r-1",
    "command": "resume",
    "target": {"run_id": "run-1"},
    "timestamp": "2030-01-01T09:00:00Z",
    "payload": {},
}


@pytest.mark.parametrize("topic", ["loop:control", "loop%3Acontrol", "loop%3acontrol"])
def test_agent_cannot_steer_through_the_raw_topic(world: World, topic: str) -> None:
    """However the topic is spelled: nobody resumes its own run."""
    place = world.place(Role.AGENT)
    sent = send(world, place, "post_message", REQUEST, topic=topic)
    assert (sent.status, sent.code) == (403, "forbidden")
    assert place.project not in world.look()


def test_agent_cannot_let_go_on_what_waits_for_an_answer(world: World) -> None:
    """Neither by a PATCH of the task, nor by one of the notification, nor by handing in a second result."""
    place = world.place(Role.AGENT)
    task_id, notification_id = blocked_task(place)
    for patch in ({"status": "open"}, {"status": "in_progress"}, {"status": "open", "assignee": "coder"}):
        assert send(world, place, "update_task", patch, task=task_id).status in {403, 409}
    answer = {"responses": [{"questionId": "q1", "answer": "B"}]}
    for body in (answer, {}, {"approved": True}):
        assert send(world, place, "resolve_notification", body, notification=notification_id).status == 403
    send(world, place, "hand_in", {"agent": "Coder", "sourceId": task_id, "status": "success"})
    task = msgspec.json.decode(send(world, place, "show_task", task=task_id).body)
    assert (task["status"], task["block_reason"]) == ("blocked", "Open Question")
    assert msgspec.json.decode(send(world, place, "list_ready").body)["tasks"] == []


def test_agent_that_writes_in_the_chat_answers_nothing(world: World) -> None:
    """What it says there is kept, and is no clarification: that is a person's."""
    place = world.place(Role.AGENT)
    task_id, notification_id = blocked_task(place)
    assert send(world, place, "say_in_chat", {"text": "The person said B"}, task=task_id).status == 201
    raw = send(world, place, "post_message", {"text": "B", "by": "human:ana"}, topic=f"execute:{task_id}")
    assert raw.status == 201
    chat = msgspec.json.decode(send(world, place, "read_chat", task=task_id).body)
    assert [message["text"] for message in chat["messages"]] == ["The person said B", "B"]
    assert chat["clarification"] is None
    shown = msgspec.json.decode(send(world, place, "show_notification", notification=notification_id).body)
    assert shown["status"] == "open"


def test_agent_cannot_approve_what_it_wants_to_do(world: World) -> None:
    """Where the policy wants a person, an agent gets an ask, which it can neither answer nor take for a receipt."""
    place = world.place(Role.AGENT)
    body = {"title": "Drop", "action": {"a": 1}, "category": "scopeChanges"}
    told = place.make("request_approval", body)
    assert told["receipt"] is None
    ask_id = told["ask"]["ask_id"]
    for reply in ({"text": "1"}, {"values": {"decision": "approve"}}, {"text": "1", "unattended": True}):
        assert send(world, place, "answer_ask", reply, ask=ask_id).code == "forbidden"
    assert send(world, place, "redeem_receipt", {"action": {"a": 1}}, receipt=ask_id).status == 404
    assert msgspec.json.decode(send(world, place, "show_ask", ask=ask_id).body)["state"] == "open"


def test_agent_cannot_take_what_is_another_agents(world: World) -> None:
    """Another agent's ask is not its to withdraw, another agent's receipt not its to spend."""
    other = world.place(Role.OPERATOR)
    ask_id, receipt_id = (other.parts(VERBS[name])[part] for name, part in THINGS)
    assert send(world, other, "withdraw_ask", ask=ask_id).status == 403
    spent = send(world, other, "redeem_receipt", {"action": {"drop": "users.legacy_id"}}, receipt=receipt_id)
    assert spent.status in {403, 404, 409}
    shown = msgspec.json.decode(send(world, other, "show_receipt", receipt=receipt_id).body)
    assert shown["redeemed_at"] is None


THINGS = (("show_ask", "ask"), ("show_receipt", "receipt"))


@pytest.mark.parametrize("role", list(Role), ids=str)
def test_agent_makes_no_token(world: World, role: Role) -> None:
    """Not even one that may less than itself; and it ends none, its own neither."""
    place = world.place(Role.AGENT)
    body = {"role": role, "name": "me", "unattended": True}
    assert send(world, place, "create_token", body).code == "forbidden"
    assert send(world, place, "revoke_token", token="tok_00000000").code == "forbidden"


def test_agents_token_is_no_code_to_sign_in_with(world: World) -> None:
    """Nor one that signs in as such; and whoever shows a token has nothing to sign out of."""
    secret = world.tokens[Role.AGENT]
    before = world.look()
    headers = {"authorization": f"Bearer {secret}", "origin": world.server.url}
    for part in ("code", "token"):
        reply = world.line.post("/sign-in", json={part: secret}, headers=headers)
        assert (reply.status_code, reply.json()["error"]["code"]) == (401, "unauthorised")
    assert world.line.post("/sign-out", headers=headers).status_code == 403
    assert world.look() == before


def test_agents_token_signs_nothing(world: World) -> None:
    """Whatever of it is taken for a session's name and key: those come from signing in, and only a person does."""
    trial = world.place(Role.AGENT).trial("answer_ask")
    secret = world.tokens[Role.AGENT]
    digits = secret.removeprefix("assent_")
    for key in (digits, digest_of(secret)):
        for name in (digits, digest_of(secret)):
            signer = Signer(world.server.url, name, key)
            signer.boot = signer.ask_proof(world.line).json()["boot"]
            shown = signer.sign(trial.verb.method, trial.path, msgspec.json.encode(trial.body))
            assert world.send(trial, {SESSION: shown}).code == "unauthorised"


@pytest.mark.parametrize(
    "more",
    [
        {"assent-via": "terminal"},
        {"assent-role": "human"},
        {"x-forwarded-user": "ana"},
        {"x-http-method-override": "GET"},
        {"authorization": "Bearer human:ana"},
    ],
    ids=lambda more: next(iter(more)),
)
def test_agent_is_not_believed_about_itself(world: World, more: dict[str, str]) -> None:
    """Who somebody is comes from the store's record of the token, and from nothing that a request says."""
    trial = world.place(Role.AGENT).trial("answer_ask")
    sent = world.send(trial, {"authorization": f"Bearer {world.tokens[Role.AGENT]}"} | more)
    assert sent.status in {401, 403}
    assert sent.code in {"unauthorised", "forbidden"}


def test_agent_cannot_repeat_a_persons_command(world: World) -> None:
    """A key under which a person answered gives an agent neither the answer's effect nor its reply."""
    place = world.place(Role.AGENT)
    trial = place.trial("answer_ask")
    key = {"idempotency-key": "the-same"}
    person = world.send(trial, {"authorization": f"Bearer {world.tokens[Role.HUMAN]}"} | key)
    assert person.status == 200
    assert world.send(trial, {"authorization": f"Bearer {world.tokens[Role.AGENT]}"} | key).status == 403


def test_person_does_what_the_agent_could_not(world: World) -> None:
    """Twin of the tests above: the same requests, from a person, are done."""
    place = world.place(Role.AGENT)
    task_id, notification_id = blocked_task(place)
    person = world.place(Role.HUMAN, place.project)
    shown: dict[str, Any] = person.make("show_notification", None, notification=notification_id)
    answer = {"responses": [{"questionId": shown["questions"][0]["id"], "answer": "B"}]}
    assert person.make("resolve_notification", answer, notification=notification_id)["status"] == "resolved"
    assert person.make("read_chat", None, task=task_id)["clarification"] == "B"
    assert [task["task_id"] for task in person.make("list_ready", None)["tasks"]] == [task_id]
