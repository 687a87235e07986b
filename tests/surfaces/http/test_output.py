"""A run's output over HTTP: whose driver may hand it on, how much of it, and what whoever reads it is told."""

from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from assent.client.driven import DrivenRun
from assent.protocol.tail import MAX_TAIL_BYTES
from assent.testing import throwaway
from assent.testing.server import ThrowawayServer

__all__: list[str] = []

RUN_ID = "r-1"


@pytest.fixture
def server() -> Iterator[ThrowawayServer]:
    """Give a server of its own."""
    with throwaway() as store, ThrowawayServer(store) as made:
        yield made


@pytest.fixture
def run(server: ThrowawayServer) -> Iterator[DrivenRun]:
    """Give a run that alice drives."""
    with server.agent("alice").run(run_id=RUN_ID) as driven:
        yield driven


def call(server: ThrowawayServer, who: tuple[str, str], body: object = None, **query: str) -> httpx2.Response:
    """Tell (with a body) or read, as somebody's program would."""
    role, name = who
    secret = server.token(role, name)
    return httpx2.request(
        "GET" if body is None else "POST",
        f"{server.url}/projects/{server.store.project}/runs/{RUN_ID}/output",
        params=query,
        headers={"authorization": f"Bearer {secret}"},
        json=body,
        trust_env=False,
    )


def test_output_is_told_by_its_driver_and_read_by_everybody_from_a_byte_on(
    server: ThrowawayServer, run: DrivenRun
) -> None:
    """The shape that boards rely on."""
    told = call(server, ("agent", "alice"), {"text": "one\nzwei ö\n", "fence": run.state.fence})
    assert told.status_code == 200
    assert {name: told.json()[name] for name in ("text", "from", "written")} == {
        "text": "",
        "from": 12,
        "written": 12,
    }
    for role in ("agent", "human", "operator", "observer"):
        read: dict[str, Any] = call(server, (role, "bob"), after="4").json()
        assert (read["text"], read["from"], read["written"]) == ("zwei ö\n", 4, 12)
        assert read["at"].endswith("Z")


@pytest.mark.parametrize(
    ("who", "body", "status", "code"),
    [
        (("agent", "mallory"), {"text": "x", "fence": 1}, 403, "forbidden"),
        (("observer", "eve"), {"text": "x", "fence": 1}, 403, "forbidden"),
        (("agent", "alice"), {"text": "x", "fence": 2}, 409, "run_taken"),
        (("agent", "alice"), {"text": "x" * (MAX_TAIL_BYTES + 1), "fence": 1}, 400, "bad_request"),
        (("agent", "alice"), {"text": "x", "fence": 1, "skipped": -1}, 400, "bad_request"),
        (("agent", "alice"), {"text": "x"}, 400, "bad_request"),
        (("agent", "alice"), {"text": "x", "fence": 1, "colour": "red"}, 400, "bad_request"),
    ],
    ids=["another-agent", "observer", "stale-fence", "too-long", "negative", "no-fence", "unknown-field"],
)
def test_output_that_may_not_be_told_is_refused_and_nothing_kept(
    server: ThrowawayServer,
    run: DrivenRun,
    who: tuple[str, str],
    body: dict[str, object],
    status: int,
    code: str,
) -> None:
    """Driver only, under its fence, and bounded."""
    reply = call(server, who, body)
    assert (reply.status_code, reply.json()["error"]["code"]) == (status, code)
    assert call(server, ("human", "ana")).json()["written"] == 0
    assert run.state.is_active


def test_place_that_is_no_number_of_bytes_is_refused(server: ThrowawayServer, run: DrivenRun) -> None:
    """One that is behind every output is as good as its end."""
    run.tell("abc")
    assert call(server, ("human", "ana"), after="-1").status_code == 400
    assert call(server, ("human", "ana"), after=str(1 << 70)).json()["from"] == 3


def test_run_that_is_called_like_an_output_is_no_output(server: ThrowawayServer, run: DrivenRun) -> None:
    """An escaped slash is a part of the run's id: no agent hides a run, or another's output, by a name."""
    run.tell("mine\n")
    mallory = server.agent("mallory")
    with mallory.run(run_id=f"{RUN_ID}/output") as other:
        other.tell("other\n")
        assert mallory.find_run(f"{RUN_ID}/output").started_by == "agent:mallory"
        assert mallory.read_output(RUN_ID).text == "mine\n"
        assert mallory.read_output(f"{RUN_ID}/output").text == "other\n"
