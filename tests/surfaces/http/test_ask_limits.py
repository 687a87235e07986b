"""How much one token may ask of a server: so many a minute, and so many open at once. Nobody else is slowed by it."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx2
import pytest

from assent.protocol.ask_limits import AskLimits
from assent.protocol.error import TooManyOpenError
from assent.protocol.principal import Assurance, Role
from assent.surfaces.http.bucket import Window
from assent.testing import ThrowawayStore, throwaway
from assent.testing.server import ThrowawayServer
from tests.patience import PATIENCE

__all__: list[str] = []


class Office:
    """A server with limits, and who calls it."""

    def __init__(self, store: ThrowawayStore, server: ThrowawayServer, line: httpx2.Client) -> None:
        self.store, self.server, self.line = store, server, line
        self.ana = store.person(assurance=Assurance.TERMINAL)

    def token(self, role: Role = Role.AGENT, name: str = "coder") -> str:
        """Return the secret of a new token."""
        return self.server.token(role, name)

    def ask(self, secret: str, title: str = "Which?", **parts: Any) -> httpx2.Response:
        """Ask over HTTP; `sent_as` is the Idempotency-Key."""
        headers = {"authorization": f"Bearer {secret}"}
        if "sent_as" in parts:
            headers["idempotency-key"] = parts.pop("sent_as")
        return self.line.post("/projects/test/asks", json={"prompt": title, **parts}, headers=headers)

    def approve(self, secret: str, action: object) -> httpx2.Response:
        """Ask for an approval over HTTP."""
        headers = {"authorization": f"Bearer {secret}"}
        body = {"title": "May I?", "action": action}
        return self.line.post("/projects/test/approvals", json=body, headers=headers)

    def hand_in(self, secret: str, number: int) -> httpx2.Response:
        """Hand in a result with a question."""
        question = {"id": f"q{number}", "text": f"Which, {number}?"}
        body = {
            "agent": "coder",
            "sourceId": f"task-{number}",
            "status": "blocked",
            "open_questions": [question],
        }
        return self.line.post(
            "/projects/test/agent-results", json=body, headers={"authorization": f"Bearer {secret}"}
        )


@contextmanager
def an_office(**limits: int) -> Iterator[Office]:
    """Give a server with these limits."""
    with (
        throwaway() as store,
        ThrowawayServer(store, limits=AskLimits(**limits)) as server,
        httpx2.Client(base_url=server.url, timeout=PATIENCE, trust_env=False) as line,
    ):
        yield Office(store, server, line)


def code_of(reply: httpx2.Response) -> str:
    """Return the code of an error."""
    return str(reply.json()["error"]["code"])


def test_agent_that_asks_300_times_at_once_is_heard_60_times() -> None:
    """The others are told when to come again, and leave nothing behind."""
    with an_office() as office:
        secret = office.token()
        replies = [office.ask(secret, f"Which, {number}?") for number in range(300)]
        taken = [reply for reply in replies if reply.status_code == 201]
        refused = [reply for reply in replies if reply.status_code == 429]
        assert (len(taken), len(refused)) == (60, 240)
        assert {code_of(reply) for reply in refused} == {"too_many"}
        assert all(1 <= int(reply.headers["retry-after"]) <= 60 for reply in refused)
        assert refused[0].json()["error"]["message"] == (
            "At most 60 asks a minute are taken of one token; nothing was asked."
        )
        assert office.ana.count() == 60
        opened = [record for record in office.ana.log() if record.type == "ask.opened"]
        assert len(opened) == 60


def test_people_and_other_agents_are_not_slowed_by_one_that_asks_too_much() -> None:
    """Each token has its own minute, and people have none."""
    with an_office(per_minute=2) as office:
        loud, quiet, person = office.token(), office.token(name="reviewer"), office.token(Role.HUMAN, "ana")
        assert [office.ask(loud, str(number)).status_code for number in range(3)] == [201, 201, 429]
        assert office.ask(quiet).status_code == 201
        assert [office.ask(person, str(number)).status_code for number in range(5)] == [201] * 5


def test_every_way_of_asking_counts() -> None:
    """A question, an approval, and what a result wants to know."""
    with an_office(per_minute=3) as office:
        secret = office.token()
        assert office.ask(secret).status_code == 201
        assert office.approve(secret, {"run": 1}).status_code == 201
        assert office.hand_in(secret, 1).is_success
        before = len(office.ana.log())
        refused = [office.ask(secret), office.approve(secret, {"run": 2}), office.hand_in(secret, 2)]
        assert [reply.status_code for reply in refused] == [429] * 3
        assert len(office.ana.log()) == before


def test_retry_is_no_new_ask() -> None:
    """By the ask's own key and by the Idempotency-Key it is found, also when nothing new is taken any more."""
    with an_office(per_minute=2, most_open=2) as office:
        secret = office.token()
        first = office.ask(secret, key="deploy")
        second = office.ask(secret, "Where?", sent_as="k-1")
        assert (first.status_code, second.status_code) == (201, 201)
        for _ in range(3):
            assert office.ask(secret, key="deploy").json()["ask_id"] == first.json()["ask_id"]
            assert office.ask(secret, "Where?", sent_as="k-1").json()["ask_id"] == second.json()["ask_id"]


def test_agent_has_so_many_asks_open_and_asks_on_when_one_has_ended() -> None:
    """What is over the limit is refused with a code of its own; waiting does not help, an answer does."""
    with an_office(most_open=2) as office:
        secret = office.token()
        first = office.ask(secret, "One?", options=["A", "B"]).json()
        assert office.ask(secret, "Two?").status_code == 201
        before = len(office.ana.log())
        refused = office.ask(secret, "Three?")
        assert (refused.status_code, code_of(refused)) == (409, "too_many_open")
        assert "You have 2 asks open" in refused.json()["error"]["message"]
        assert len(office.ana.log()) == before
        assert office.ask(office.token(name="reviewer")).status_code == 201
        office.ana.answer(first["ask_id"], "A")
        assert office.ask(secret, "Three?").status_code == 201


def test_python_client_gets_the_error_by_its_type() -> None:
    """As everything that a server refuses."""
    with an_office(most_open=1) as office:
        client = office.server.agent()
        client.open("One?")
        with pytest.raises(TooManyOpenError):
            client.open("Two?")


def test_file_has_no_such_limit() -> None:
    """Whoever can write the file needs nobody's leave."""
    with throwaway() as store:
        client = store.agent()
        for number in range(201):
            client.open(f"Which, {number}?")
        assert client.count() == 201


def test_window_lets_so_many_through_in_any_minute() -> None:
    """One comes back for each that is a minute old; a name that was not heard of for long is forgotten first."""
    now = [0.0]
    window = Window(2, 60.0, names=1, clock=lambda: now[0])
    assert [window.take("a"), window.take("a")] == [0.0, 0.0]
    now[0] = 10.0
    assert window.take("a") == 50.0
    now[0] = 60.0
    assert window.take("a") == 0.0
    assert window.take("b") == 0.0
    assert window.take("a") == 0.0
