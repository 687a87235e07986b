"""Signing in with a person's token: the way back in, and the one on a public address; never to more than it opens."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import httpx2
import pytest

from assent.protocol.principal import Assurance, Role
from assent.surfaces.http.sign_in import SESSION_SECONDS
from assent.testing import FakeClock, throwaway
from assent.testing.server import ThrowawayServer
from tests.patience import PATIENCE
from tests.surfaces.http.signing import Signer

__all__: list[str] = []


class Desk:
    """A server without a code to sign in with, and somebody who makes tokens."""

    def __init__(self, server: ThrowawayServer, clock: FakeClock) -> None:
        self.server, self.clock = server, clock
        self.minter = server.store.person("minter", assurance=Assurance.TERMINAL)

    def token(self, role: Role = Role.HUMAN, *projects: str, hours: float = 24) -> str:
        """Return the secret of a new token."""
        made = self.minter.create_token(
            role, name="ana", projects=projects or ("*",), life=timedelta(hours=hours)
        )
        return made[1]

    @contextmanager
    def browser(self, *, origin: str | None = None) -> Iterator[httpx2.Client]:
        """Give a browser with an empty jar."""
        own = {"origin": origin or self.server.url}
        with httpx2.Client(
            base_url=self.server.url, headers=own, timeout=PATIENCE, trust_env=False
        ) as browser:
            yield browser


@pytest.fixture(name="desk")
def _desk() -> Iterator[Desk]:
    clock = FakeClock()
    with throwaway(project="shop", clock=clock) as store, ThrowawayServer(store) as server:
        yield Desk(server, clock)


def sign_in(browser: httpx2.Client, token: object) -> httpx2.Response:
    """Paste a token as a person does; where it is good, the page signs from then on."""
    reply = browser.post("/sign-in", json={"token": token}, auth=httpx2.Auth())
    if reply.status_code == 200:
        signer = Signer(str(browser.base_url).rstrip("/"), reply.json()["session"], reply.json()["key"])
        signer.ask_proof(browser)
        browser.auth = signer
    return reply


def test_persons_token_signs_in_whom_it_was_made_for(desk: Desk) -> None:
    """A token of its own is made, for the same name and projects; the one that was shown is no part of it."""
    token = desk.token(Role.HUMAN, "shop", "till")
    with desk.browser() as browser:
        signed = sign_in(browser, token)
        assert signed.status_code == 200
        told = browser.get("/whoami").json()
        assert (told["role"], told["name"], told["projects"]) == ("human", "ana", ["shop", "till"])
        assert signed.json()["session"] not in token
        assert signed.json()["key"] not in token
        assert token not in signed.text
    session, shown = desk.minter.tokens()
    assert (session.created_by, session.project) == ("human:ana", shown.project)
    assert session.projects == shown.projects


def test_session_of_a_token_keeps_to_its_projects(desk: Desk) -> None:
    """What the token does not reach, the session does not, and it cannot make itself more."""
    with desk.browser() as browser:
        sign_in(browser, desk.token(Role.HUMAN, "till"))
        assert browser.get("/projects/till/asks").status_code == 200
        assert browser.get("/projects/shop/asks").status_code == 404
        body = {"role": "human", "name": "ana", "projects": ["shop"]}
        assert browser.post("/projects/till/tokens", json=body).status_code == 403


@pytest.mark.parametrize(
    ("hours", "lives"), [(24.0, SESSION_SECONDS), (12.0, SESSION_SECONDS), (1.0, 3_600)], ids=str
)
def test_session_of_a_token_ends_with_it_and_after_twelve_hours(desk: Desk, hours: float, lives: int) -> None:
    """Whatever comes first."""
    token = desk.token(hours=hours)
    with desk.browser() as browser:
        sign_in(browser, token)
        desk.clock.advance(timedelta(seconds=lives - 1))
        assert browser.get("/whoami").status_code == 200
        desk.clock.advance(timedelta(seconds=1))
        assert browser.get("/whoami").status_code == 401


def test_token_that_ends_within_a_second_signs_nobody_in(desk: Desk) -> None:
    """No token lives for less, so there is none to be made."""
    token = desk.token(hours=1)
    desk.clock.advance(timedelta(hours=1) - timedelta(milliseconds=500))
    with desk.browser() as browser:
        assert sign_in(browser, token).status_code == 401


@pytest.mark.parametrize("role", sorted(set(Role) - {Role.HUMAN}))
def test_token_of_another_role_signs_nobody_in(desk: Desk, role: Role) -> None:
    """A session is a person's: neither an agent nor an operator nor somebody who looks on becomes one, or gets one."""
    assert refused(desk, desk.token(role)) == refused(desk, "hunter2")


def test_token_that_is_not_good_signs_nobody_in(desk: Desk) -> None:
    """Expired, revoked, unknown, half, nothing: all are told the same, and nothing is made."""
    late, good = desk.token(hours=1), desk.token()
    revoked, secret = desk.minter.create_token("human", name="ana")
    desk.minter.revoke_token(revoked.token_id)
    desk.clock.advance(timedelta(hours=1))
    unknown = "assent_" + 64 * "0"
    tried = (late, secret, unknown, good[:-1], good + " ", good.upper(), good.removeprefix("assent_"), "")
    told = [refused(desk, token) for token in tried]
    assert told == [told[0]] * len(tried)


def refused(desk: Desk, token: str) -> Any:
    """See that a token does not sign in; return what is told."""
    before = desk.minter.tokens()
    with desk.browser() as browser:
        reply = sign_in(browser, token)
        assert reply.status_code == 401
    assert desk.minter.tokens() == before
    return reply.json()


@pytest.mark.parametrize(
    "body",
    [{}, {"code": None}, {"token": None}, {"code": "a", "token": "b"}, {"token": 7}, {"token": "a", "x": 1}],
    ids=["none", "no code", "no token", "both", "a number", "more"],
)
def test_sign_in_takes_a_code_or_a_token(desk: Desk, body: dict[str, object]) -> None:
    """One of them, and nothing else."""
    with desk.browser() as browser:
        reply = browser.post("/sign-in", json=body)
    assert (reply.status_code, reply.json()["error"]["code"]) == (400, "bad_request")


def test_page_elsewhere_signs_nobody_in(desk: Desk) -> None:
    """Not even with a good token: nobody is to be signed in as somebody else without knowing it."""
    with desk.browser(origin="https://evil.example") as browser:
        assert sign_in(browser, desk.token()).status_code == 403


def test_session_of_one_server_is_none_at_another(desk: Desk) -> None:
    """Both on one host, each with a session of its own; neither can use the other's, nor prove that it has it."""
    with throwaway(clock=desk.clock) as store, ThrowawayServer(store) as other, desk.browser() as browser:
        sign_in(browser, desk.token())
        assert browser.get("/whoami").json()["name"] == "ana"
        assert isinstance(browser.auth, Signer)
        mine = Signer(other.url, browser.auth.name, browser.auth.key.hex())
        with httpx2.Client(base_url=other.url, timeout=PATIENCE, trust_env=False) as there:
            mine.boot = mine.ask_proof(there).json()["boot"]
            assert there.get("/whoami", auth=mine).status_code == 401
            sign_in(there, other.token(Role.HUMAN, "bo"))
            assert there.get("/whoami").json()["name"] == "bo"
