"""Signing in with the code of a link: once, in time, at a click; with a token; and out again (S14, S15, S26)."""

import asyncio
import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

import httpx2
import pytest
from starlette.testclient import TestClient

from assent.client.calls import Calls
from assent.client.door import run_call
from assent.client.embedded import EmbeddedDoor
from assent.client.tokens import list_tokens
from assent.protocol.error import StoreBusyError, UnauthorisedError
from assent.protocol.principal import Assurance, Principal, Role
from assent.protocol.token import ALL_PROJECTS, Token
from assent.surfaces.http.app import build_app
from assent.surfaces.http.guard import Guard
from assent.surfaces.http.names import names_of
from assent.surfaces.http.sign_in import CODE_SECONDS, MAX_SIGN_IN_BYTES, SESSION_SECONDS, SignIn
from assent.surfaces.http.site import Site
from assent.testing import ThrowawayStore, throwaway
from assent.testing.server import ThrowawayServer
from tests.surfaces.http.signing import Signer

__all__: list[str] = []

CODE = "c0de" * 12
PORT = 8484
ORIGIN = f"http://127.0.0.1:{PORT}"
MANY = 20


class Clock:
    """A clock that stands until it is moved."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


class Entrance:
    """A server in this process with one code, and somebody at a browser."""

    def __init__(self, store: ThrowawayStore, *, assurance: Assurance = Assurance.TERMINAL) -> None:
        self.store, self.clock = store, Clock()
        self.door = EmbeddedDoor(store.hub())
        self.calls = Calls(self.door, store.project, Principal(Role.HUMAN, "ana"), "serve", assurance)
        is_unattended = assurance is Assurance.DECLARED
        self.sign_in = SignIn(self.calls, CODE, is_unattended=is_unattended, clock=self.clock)
        self.browser = self.visit()

    def visit(self) -> TestClient:
        """Return a browser that has not been here."""
        guarded = Guard(build_app(Site(self.door), self.sign_in), names_of("127.0.0.1", PORT))
        return TestClient(guarded, ORIGIN, headers={"origin": ORIGIN}, client=("127.0.0.1", 1))

    def post(self, code: object = CODE) -> httpx2.Response:
        """Send a code as the page does."""
        return self.send({"code": code})

    def send(self, body: dict[str, object]) -> httpx2.Response:
        """Sign in as the page does: it signs from then on."""
        reply: httpx2.Response = self.browser.post("/sign-in", json=body)
        if reply.status_code == 200:
            self.signer = Signer(ORIGIN, reply.json()["session"], reply.json()["key"])
            self.signer.ask_proof(self.browser)
            self.browser.auth = self.signer
        return reply

    @property
    def tokens(self) -> list[Token]:
        """The tokens that there are."""
        return run_call(list_tokens(self.calls))


@contextmanager
def an_entrance(*, assurance: Assurance = Assurance.TERMINAL) -> Iterator[Entrance]:
    """Give a server with a code."""
    with throwaway(project="zebra-shop") as store:
        yield Entrance(store, assurance=assurance)


@pytest.fixture(name="entrance")
def _entrance() -> Iterator[Entrance]:
    with an_entrance() as entrance:
        yield entrance


def test_code_opens_the_door_for_a_person(entrance: Entrance) -> None:
    """It is a token as any other: of a person, for all projects, for twelve hours, in the log."""
    reply = entrance.post()
    assert reply.status_code == 200
    assert (reply.json()["role"], reply.json()["name"]) == ("human", "ana")
    [token] = entrance.tokens
    assert (token.role, token.name, token.projects) == (Role.HUMAN, "ana", (ALL_PROJECTS,))
    assert token.expires_at - token.created_at == timedelta(seconds=SESSION_SECONDS)
    assert entrance.browser.get("/whoami").json()["name"] == "ana"
    assert [record.type for record in entrance.store.person().log()] == ["token.created"]


def test_code_is_good_once(entrance: Entrance) -> None:
    """Whoever finds the link in a terminal's history finds nothing."""
    assert entrance.post().status_code == 200
    late = entrance.visit().post("/sign-in", json={"code": CODE})
    assert late.status_code == 401
    assert len(entrance.tokens) == 1


def test_code_is_good_for_ten_minutes(entrance: Entrance) -> None:
    """By the clock that nobody can set."""
    entrance.clock.seconds = CODE_SECONDS
    assert entrance.post().status_code == 401
    entrance.clock.seconds = CODE_SECONDS - 0.001
    assert entrance.post().status_code == 200


@pytest.mark.parametrize(
    "code", ["", "c0de", CODE.upper(), CODE + " ", CODE + "\0", "\ud7ff", 7, None, [CODE]]
)
def test_wrong_code_opens_nothing(entrance: Entrance, code: object) -> None:
    """And leaves the right one as it is."""
    reply = entrance.post(code)
    assert reply.status_code in (400, 401)
    assert entrance.tokens == []
    assert entrance.post().status_code == 200


def test_wrong_used_late_and_none_look_alike(entrance: Entrance) -> None:
    """Nobody learns from a refusal whether there is a code."""
    wrong = entrance.post("0" * len(CODE))
    entrance.clock.seconds = CODE_SECONDS
    late = entrance.post()
    entrance.clock.seconds = 0.0
    entrance.post()
    used = entrance.post()
    with throwaway() as store, ThrowawayServer(store) as server:
        none = httpx2.post(f"{server.url}/sign-in", json={"code": CODE})
    assert {(reply.status_code, reply.text) for reply in (wrong, late, used, none)} == {(401, wrong.text)}


def test_of_many_who_show_the_code_at_once_one_gets_in() -> None:
    """A double click, or somebody who read over a shoulder."""
    with throwaway() as store:
        entrance = Entrance(store)

        async def all_at_once() -> list[object]:
            tries = [entrance.sign_in.redeem(CODE) for _ in range(MANY)]
            return await asyncio.gather(*tries, return_exceptions=True)

        told = asyncio.run(all_at_once())
        assert len([each for each in told if isinstance(each, UnauthorisedError)]) == MANY - 1
        assert len(entrance.tokens) == 1


@pytest.mark.parametrize("path", ["/sign-in", "/sign-out"])
def test_unexpected_error_is_told_in_our_shape_and_logged(
    entrance: Entrance, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, path: str
) -> None:
    """No stack trace reaches a caller, and none is lost."""

    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("Oops")

    entrance.post()
    monkeypatch.setattr("assent.surfaces.http.sign_in.convert", fail)
    monkeypatch.setattr("assent.surfaces.http.sign_in.revoke_token", fail)
    reply = entrance.browser.post(path, json={"code": CODE})
    assert (reply.status_code, reply.json()["error"]["code"]) == (500, "error")
    assert "Oops" not in reply.text
    assert "Oops" in caplog.text


def test_code_stays_good_where_no_token_could_be_made(
    entrance: Entrance, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The store was busy for a moment; a person clicks again."""

    def fail(*_: object, **__: object) -> None:
        raise StoreBusyError

    with monkeypatch.context() as patch:
        patch.setattr("assent.surfaces.http.sign_in.open_session", fail)
        assert entrance.post().status_code == 503
    assert entrance.post().status_code == 200


def test_server_without_a_terminal_makes_the_token_unattended() -> None:
    """As a service does; the log says so."""
    with an_entrance(assurance=Assurance.DECLARED) as entrance:
        assert entrance.post().status_code == 200
        [record] = entrance.store.person().log()
        assert b'"is_unattended":true' in (record.body or b"")


@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_fetching_the_link_decides_nothing(entrance: Entrance, method: str) -> None:
    """Mail programs, chats and browsers fetch what looks like a link; the code is in none of their requests."""
    for _ in range(MANY):
        assert entrance.browser.request(method, "/sign-in").status_code == 200
        assert entrance.browser.request(method, f"/sign-in?code={CODE}").status_code == 200
    assert entrance.tokens == []
    assert entrance.post().status_code == 200


def test_more_than_a_code_is_not_kept(entrance: Entrance) -> None:
    """Of strangers."""
    reply = entrance.post("a" * MAX_SIGN_IN_BYTES)
    assert (reply.status_code, reply.json()["error"]["code"]) == (413, "too_large")


def test_signing_out_ends_the_token(entrance: Entrance) -> None:
    """On the server, and not only in the browser."""
    entrance.post()
    assert entrance.browser.get("/whoami").status_code == 200
    assert entrance.browser.post("/sign-out").status_code == 204
    [token] = entrance.tokens
    assert token.revoked_at is not None
    assert entrance.browser.get("/whoami").status_code == 401


def test_nobody_is_signed_out_by_a_page_elsewhere(entrance: Entrance) -> None:
    """Nor with a token, nor with nothing."""
    entrance.post()
    evil = TestClient(
        entrance.browser.app, ORIGIN, client=("127.0.0.1", 1), headers={"origin": "https://evil.example"}
    )
    assert evil.post("/sign-out", auth=entrance.signer).status_code == 403
    _, secret = entrance.store.person("minter", assurance=Assurance.TERMINAL).create_token(
        "human", name="ana"
    )
    shown = entrance.visit().post("/sign-out", headers={"authorization": f"Bearer {secret}"})
    assert shown.status_code == 403
    assert entrance.visit().post("/sign-out").status_code == 401
    assert entrance.browser.get("/whoami").status_code == 200


def test_page_holds_nothing_of_any_project_and_no_code_of_its_own(entrance: Entrance) -> None:
    """It is the same for everybody, and has neither a script nor a style in it; nothing comes from elsewhere."""
    asked = entrance.store.agent().open("Secret plans?", ["A", "B"])
    entrance.post()
    for path in ("/", "/sign-in"):
        mine, strangers = entrance.browser.get(path), entrance.visit().get(path)
        assert mine.text == strangers.text
        assert "Secret" not in mine.text
        assert asked.ask.project not in mine.text
        assert not re.search(r"<script(?![^>]* src=\"/page/)|<style|\son\w+=|\sstyle=|https?:", mine.text)
        used = re.findall(r'(?:src|href)="([^"]+)"', mine.text)
        assert used
        for each in used:
            got = entrance.browser.get(each)
            assert got.status_code == 200
            for imported in re.findall(r'from "([^"]+)"', got.text):
                assert entrance.browser.get(imported).headers["content-type"].startswith("text/javascript")
