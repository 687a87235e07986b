"""Asks a page at a time over HTTP, and what those of some days come to."""

import json
from datetime import timedelta
from typing import Any
from urllib.parse import quote

import httpx2
import pytest

from assent.client.client import Client
from assent.client.door import run_call, until
from assent.client.embedded import EmbeddedDoor
from assent.client.history import read_numbers
from assent.client.http.door import HttpDoor
from assent.protocol.ask import State
from assent.protocol.principal import Principal, Role
from assent.protocol.token import ALL_PROJECTS
from assent.surfaces.http.asks import MAX_ASKS_BYTES
from assent.testing import FakeClock, ThrowawayStore, throwaway
from assent.testing.server import ThrowawayServer
from tests.patience import PATIENCE

__all__: list[str] = []

LARGE = 400_000


def get(server: ThrowawayServer, secret: str, path: str) -> httpx2.Response:
    """Ask the server for something."""
    return httpx2.get(
        server.url + path, headers={"authorization": f"Bearer {secret}"}, trust_env=False, timeout=PATIENCE
    )


def titles(told: Any) -> list[str]:
    """Return what a list of asks shows."""
    return [ask["prompt"]["title"] for ask in told["asks"]]


def open_ten(store: ThrowawayStore) -> list[str]:
    """Open ten asks in two projects; return their titles, the newest first."""
    for number in range(10):
        store.agent(project=f"p{number % 2}").open(f"Question {number}", ["A", "B"])
    return [f"Question {number}" for number in reversed(range(10))]


def test_ask_is_found_by_its_key_whatever_its_state_and_only_in_the_callers_projects() -> None:
    """Directly, among any number of others; a key of another project is nobody's business."""
    key = "a key: 100% of it&?"
    with throwaway() as store, ThrowawayServer(store) as server:
        for project in ("p0", "p1"):
            ask = store.agent(project=project).open(f"In {project}?", ["A", "B"], key=key).ask
            store.agent(project=project).withdraw(ask.ask_id)
            store.agent(project=project).open("Another?", ["A", "B"], key="another")
        secret = server.token("agent", "coder", projects=("p0",))
        found = get(server, secret, f"/projects/p0/asks?key={quote(key)}&state=open").json()
        assert titles(found) == ["In p0?"]
        assert titles(get(server, secret, f"/asks?key={quote(key)}").json()) == ["In p0?"]
        everywhere = server.token("human", "ana", projects=(ALL_PROJECTS,))
        assert sorted(titles(get(server, everywhere, f"/asks?key={quote(key)}").json())) == [
            "In p0?",
            "In p1?",
        ]
        assert titles(get(server, secret, "/projects/p0/asks?key=none").json()) == []
        assert get(server, secret, f"/projects/p1/asks?key={quote(key)}").status_code == 404


@pytest.mark.parametrize("state", ["open", "all"])
def test_history_is_paged_without_gap_or_duplicate(state: str) -> None:
    """Over all projects of the caller; `next` is there as long as more comes, and not longer."""
    with throwaway() as store, ThrowawayServer(store) as server:
        wanted = open_ten(store)
        secret = server.token("human", "ana", projects=("p0", "p1"))
        seen: list[str] = []
        behind: list[str | None] = [None]
        while len(behind) < 10 and (len(behind) == 1 or behind[-1]):
            before = f"&before={behind[-1]}" if behind[-1] else ""
            told = get(server, secret, f"/asks?state={state}&limit=3{before}").json()
            seen += titles(told)
            behind.append(told["next"])
        assert seen == wanted
        assert len(behind) == 5


def test_what_has_ended_is_listed_last_end_first_by_kind_and_project() -> None:
    """An ask that waited long and was answered just now is on top."""
    with throwaway() as store, ThrowawayServer(store) as server:
        secret = server.token("human", "ana")
        first = store.agent(project="a").open("First?", ["A", "B"])
        second = store.agent(project="b").open("Second?", ["A", "B"])
        store.agent(project="b").open("Third?", ["A", "B"])
        store.person(project="b").answer(second.ask_id, "1")
        store.person(project="a").answer(first.ask_id, "1")
        told = get(server, secret, "/asks?state=ended&limit=1").json()
        assert (titles(told), told["next"]) == (["First?"], first.ask_id)
        assert titles(get(server, secret, f"/asks?state=ended&before={first.ask_id}").json()) == ["Second?"]
        assert titles(get(server, secret, "/projects/b/asks?state=ended").json()) == ["Second?"]
        assert titles(get(server, secret, "/asks?state=ended&kind=gate").json()) == []
        assert titles(get(server, secret, "/asks?state=ended&kind=question").json()) == ["First?", "Second?"]


def test_reply_ends_early_where_asks_are_large_and_a_client_still_has_all() -> None:
    """However much is asked for; a client of ours comes again by itself."""
    with throwaway() as store, ThrowawayServer(store) as server:
        agent = store.agent()
        for number in range(14):
            agent.open(f"Question {number}", ["A", "B"], body="x" * LARGE)
        secret = server.token("human", "ana")
        told = get(server, secret, f"/projects/{store.project}/asks")
        assert len(told.content) <= MAX_ASKS_BYTES + LARGE
        assert 1 <= len(told.json()["asks"]) < 14
        assert told.json()["next"] == told.json()["asks"][-1]["ask_id"]
        principal = Principal(Role.HUMAN, "ana")
        with Client(HttpDoor(server.url, secret), store.project, principal) as client:
            assert [ask.prompt.title for ask in client.inbox(limit=100)] == [
                f"Question {number}" for number in reversed(range(14))
            ]
            assert len(client.inbox(limit=12)) == 12


def test_numbers_are_those_of_the_projects_that_the_caller_reaches() -> None:
    """A figure is information, too: nothing of other projects is in it."""
    clock = FakeClock()
    with throwaway(clock=clock) as store, ThrowawayServer(store) as server:
        for project in ("ours", "theirs"):
            answered = store.agent(f"of-{project}", project=project).open("Which?", ["A", "B"])
            store.agent(f"of-{project}", project=project).open("And?", ["A", "B"])
            clock.advance(timedelta(seconds=30))
            store.person(project=project).answer(answered.ask_id, "1")
        clock.advance(timedelta(seconds=30))
        told = get(server, server.token("observer", "eve", projects=("ours",)), "/numbers").json()
        assert (told["asks"], told["waiting"]["count"], told["is_whole"]) == (2, 1, True)
        assert told["answer_time"] == {"count": 1, "median_seconds": 30.0, "slow_seconds": 30.0}
        assert told["waits"] == [{"asker": "agent:of-ours", "asks": 2, "seconds": 120.0}]
        assert told["ends"] == [
            {"kind": "question", "answered": 1, "declined": 0, "unanswered": 0, "open": 1}
        ]
        both = get(server, server.token("human", "ana"), "/numbers?days=7&offset=-300").json()
        assert (both["asks"], both["waiting"]["count"], len(both["bins"])) == (4, 2, 7)
        assert "theirs" not in json.dumps(told)


@pytest.mark.parametrize(
    "query", ["days=2", "days=0", "days=x", "offset=1440", "offset=-1440", "offset=1.5", "hours=1"]
)
def test_numbers_of_no_such_days_are_refused(query: str) -> None:
    """A misspelled question gets no answer to another one."""
    with throwaway() as store, ThrowawayServer(store) as server:
        told = get(server, server.token("human", "ana"), f"/numbers?{query}")
        assert (told.status_code, told.json()["error"]["code"]) == (400, "bad_request")


def test_numbers_say_when_there_were_more_asks_than_are_counted() -> None:
    """A bound that nobody is told of would make a false figure."""
    with throwaway() as store:
        open_ten(store)
        door = EmbeddedDoor(store.hub())
        found = run_call(until(read_numbers(door, None, 1, 0, most=9)))
        assert (found.asks, found.is_whole) == (9, False)
        assert run_call(until(read_numbers(door, None, 1, 0, most=10))).is_whole


def test_both_doors_list_the_same_asks() -> None:
    """What has ended, too."""
    with throwaway() as store, ThrowawayServer(store) as server:
        open_ten(store)
        person = store.person("ana", project="p0")
        with Client(HttpDoor(server.url, server.token("human", "ana")), "p0", person.principal) as far:
            for state in (None, State.OPEN, State.ANSWERED):
                near = run_call(until(person.door.asks(None, state, 100)))
                assert run_call(until(far.door.asks(None, state, 100))) == near
