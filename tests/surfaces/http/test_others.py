"""What one agent can do to another's run, with a good token of the same project: look on."""

import json
from collections.abc import Iterator

import httpx2
import pytest

from assent.client.client import Client
from assent.protocol.error import ForbiddenError, RunTakenError
from assent.testing import throwaway
from assent.testing.server import ThrowawayServer
from tests.cli.shell import wait_for

__all__: list[str] = []


@pytest.fixture
def server() -> Iterator[ThrowawayServer]:
    """Give a server of its own."""
    with throwaway() as store, ThrowawayServer(store) as made:
        yield made


def begin(agent: Client) -> str:
    """Begin a run and leave it as it is, as a driver does that was killed; return its id."""
    run = agent.run(mode="issue", max=3, model="haiku")
    run.__enter__()
    return run.run_id


def post(server: ThrowawayServer, secret: str, path: str, body: object) -> httpx2.Response:
    """Send a request as somebody else's program would."""
    return httpx2.post(
        f"{server.url}/projects/{server.store.project}{path}",
        headers={"authorization": f"Bearer {secret}", "content-type": "application/json"},
        content=json.dumps(body).encode(),
        trust_env=False,
    )


@pytest.mark.parametrize("path", ["/asks", "/approvals"])
def test_deadline_of_an_agents_ask_ends_no_other_agents_run(server: ThrowawayServer, path: str) -> None:
    """Only people steer a run; no agent does by asking what nobody will answer in time."""
    alice = server.agent("alice")
    run_id = begin(alice)
    asked: dict[str, dict[str, object]] = {
        "/asks": {"prompt": "Which?"},
        "/approvals": {"title": "Drop it", "action": 1},
    }
    body = asked[path] | {"run_id": run_id, "deadline": 0, "consequence": "end-run"}
    mallory, own = server.token("agent", "mallory"), server.token("agent", "alice")
    reply = post(server, mallory, path, body)
    assert (reply.status_code, reply.json()["error"]["code"]) == (403, ForbiddenError.code)
    assert alice.runs()[0].status == "running"
    assert post(server, own, path, body).status_code == 201  # its own it may
    wait_for(lambda: alice.runs(all_states=True)[0].status == "aborted")  # by the clock, not by the request


def test_hold_of_a_run_is_given_to_no_other_agent(server: ThrowawayServer) -> None:
    """A server that restarts has let go of every hold: what is free then is still whose it was."""
    alice = server.agent("alice")
    body = {"run_id": begin(alice)}
    mallory = server.token("agent", "mallory")
    server.stop()
    server.start()
    reply = post(server, mallory, "/holds", body)
    # Alice's client takes it again by itself: whether it was quicker only decides how the no is put.
    refusals = {(403, ForbiddenError.code), (409, RunTakenError.code)}
    assert (reply.status_code, reply.json()["error"]["code"]) in refusals


def test_number_behind_all_logs_is_read_as_one(server: ThrowawayServer) -> None:
    """It is no failure of the server."""
    secret = server.token("agent", "mallory")
    server.agent("alice").post("loop:notes", {"text": "x"})
    for after in (1 << 40, 1 << 63, 1 << 200):
        reply = httpx2.get(
            f"{server.url}/projects/{server.store.project}/topics/loop:notes?after={after}",
            headers={"authorization": f"Bearer {secret}"},
            trust_env=False,
        )
        assert (reply.status_code, reply.json()) == (200, {"messages": []})
