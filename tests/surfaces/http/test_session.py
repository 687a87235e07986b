"""What a page signs: good once, for one request, at one start of one server; and worth nothing to whoever recorded it (S11)."""

import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx2
import msgspec
import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect
from websockets.typing import Subprotocol

from assent.protocol.principal import Role
from assent.surfaces.http.openapi import render_openapi
from assent.surfaces.http.session import MAX_TABS, SESSION_HEADER, WINDOW
from assent.testing import throwaway
from assent.testing.server import ThrowawayServer
from tests.patience import PATIENCE
from tests.surfaces.http.relaying import relayed
from tests.surfaces.http.signing import SESSION, SOCKET, Signer, sign_in

__all__: list[str] = []

TABS = 8
ASKS = "/projects/shop/asks"
BODY = b'{"prompt":"Which fox?","options":["red","blue"]}'
JSON = {"content-type": "application/json"}


class Page:
    """A page of ana's, and all that she has asked with it."""

    def __init__(self, server: ThrowawayServer) -> None:
        self.server = server
        self.signer = sign_in(server.url, token=server.token(Role.HUMAN, "ana"))
        self.line = httpx2.Client(base_url=server.url, timeout=PATIENCE, trust_env=False)

    def look(self, shown: str, path: str = "/whoami") -> tuple[int, str]:
        """Look with this signature; return the status, and the code of a refusal."""
        return told(self.line.get(path, headers={SESSION: shown}))

    def ask(self, shown: str, body: bytes = BODY, path: str = ASKS) -> tuple[int, str]:
        """Open an ask with this signature."""
        return told(self.line.post(path, content=body, headers=JSON | {SESSION: shown}))

    @property
    def asks(self) -> int:
        """How many asks there are."""
        return len(self.server.store.person().inbox())


def told(reply: httpx2.Response) -> tuple[int, str]:
    """Return the status of a reply, and the code of its error."""
    return reply.status_code, "" if reply.is_success else reply.json()["error"]["code"]


@pytest.fixture(name="page")
def _page() -> Iterator[Page]:
    with throwaway(project="shop") as store, ThrowawayServer(store) as server:
        page = Page(server)
        yield page
        page.line.close()


REFUSED = (401, "unauthorised")


def test_signed_request_is_done(page: Page) -> None:
    """As whoever signed in."""
    assert page.look(page.signer.sign("GET", "/whoami")) == (200, "")
    assert page.ask(page.signer.sign("POST", ASKS, BODY)) == (201, "")
    assert page.asks == 1


def test_request_that_was_recorded_is_done_once(page: Page) -> None:
    """Sent again byte for byte it is refused, with a code of its own, and changes nothing."""
    shown = page.signer.sign("POST", ASKS, BODY)
    assert page.ask(shown) == (201, "")
    assert [page.ask(shown) for _ in range(3)] == [(403, "replayed")] * 3
    assert page.asks == 1


def test_of_the_same_request_many_times_at_once_one_is_done(page: Page) -> None:
    """Whoever records can be quicker than whoever is recorded."""
    shown = page.signer.sign("POST", ASKS, BODY)
    with ThreadPoolExecutor(TABS) as pool:
        results = sorted(pool.map(page.ask, [shown] * TABS))
    assert results == [(201, "")] + [(403, "replayed")] * (TABS - 1)
    assert page.asks == 1


def test_signature_is_for_one_body_path_query_and_method(page: Page) -> None:
    """With any other nothing is done; and nothing is used up: the right request still is."""
    sign = page.signer.sign
    shown = sign("POST", ASKS, BODY)
    assert page.ask(shown, BODY.replace(b"red", b"mad")) == REFUSED
    assert page.ask(shown, BODY + b" ") == REFUSED
    assert page.ask(shown, path="/projects/till/asks") == REFUSED
    assert page.ask(shown, path=f"{ASKS}?wait=0") == REFUSED
    assert page.look(shown, ASKS) == REFUSED
    assert page.look(sign("GET", "/asks?state=all"), "/asks") == REFUSED
    assert page.asks == 0
    assert page.ask(shown) == (201, "")


@pytest.mark.parametrize(
    "part", ["name", "boot", "tab", "number", "digest", "mac"], ids=lambda part: f"another {part}"
)
def test_no_part_of_a_signature_can_be_another(page: Page, part: str) -> None:
    """Each stands under it."""
    parts = page.signer.sign("GET", "/whoami").split(".")
    at = ["name", "boot", "tab", "number", "digest", "mac"].index(part)
    parts[at] = "9" if part == "number" else ("1" if parts[at][0] == "0" else "0") + parts[at][1:]
    assert page.look(".".join(parts)) == REFUSED


@pytest.mark.parametrize("origin", ["http://127.0.0.1:1", "http://localhost:{port}", "http://evil.example"])
def test_signature_of_a_page_at_another_origin_is_refused(page: Page, origin: str) -> None:
    """Also of one under another name of the same server: what came in under one name is good under that one."""
    shown = page.signer.sign("GET", "/whoami", origin=origin.format(port=page.server.port))
    assert page.look(shown) == REFUSED


def test_name_of_a_session_is_worth_nothing(page: Page) -> None:
    """Nor the key, shown as what it is not: neither is a token, and neither is a cookie."""
    name, key = page.signer.name, page.signer.key.hex()
    for secret in (name, key, f"assent_{name}", f"assent_{key}"):
        for headers in (
            {"authorization": f"Bearer {secret}"},
            {SESSION: secret},
            {"cookie": f"assent_session_{page.server.port}={secret}"},
            {"assent-key": secret},
        ):
            assert told(page.line.get("/whoami", headers=headers)) == REFUSED
    assert told(page.line.post("/sign-in", json={"token": f"assent_{name}"})) == REFUSED


def test_sign_in_sets_no_cookie_and_its_key_comes_once(page: Page) -> None:
    """Nothing that a browser would send by itself; and no reply but that one has the key."""
    reply = page.line.post("/sign-in", json={"token": page.server.token(Role.HUMAN, "ana")})
    assert reply.status_code == 200
    assert (set(reply.json()) >= {"session", "key"}, "set-cookie" in reply.headers) == (True, False)
    assert reply.headers["cache-control"] == "no-store"
    signer = Signer(page.server.url, reply.json()["session"], reply.json()["key"])
    proof = signer.ask_proof(page.line)
    seen = page.line.get("/whoami", auth=signer)
    assert seen.status_code == 200
    for each in (proof, seen):
        assert reply.json()["key"] not in each.text + str(each.headers)
        assert reply.json()["key"] not in str(each.request.headers) + each.request.content.decode()


def test_store_has_neither_the_name_nor_the_key(page: Page) -> None:
    """Whoever steals it has a digest of the one, and cannot derive the other (S14)."""
    folder = Path(page.server.store.path).parent
    kept = b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())
    assert b"token.created" in kept
    for secret in (page.signer.name, page.signer.key.hex()):
        assert secret.encode() not in kept
        assert bytes.fromhex(secret) not in kept


# Overtaking, and several tabs


def test_requests_may_overtake_each_other(page: Page) -> None:
    """A browser sends several at once; each is good, once, in whatever order they arrive."""
    shown = [page.signer.sign("GET", "/whoami") for _ in range(6)]
    assert [page.look(each) for each in reversed(shown)] == [(200, "")] * 6
    assert {page.look(each) for each in shown} == {(403, "replayed")}


def test_request_that_is_far_behind_is_refused(page: Page) -> None:
    """Nobody remembers any more whether it was here; one that is just near enough is."""
    for number, found in ((WINDOW + 10, (200, "")), (11, (200, "")), (10, (403, "replayed"))):
        assert page.look(page.signer.sign("GET", "/whoami", number=number)) == found
    assert page.look(page.signer.sign("GET", "/whoami", number=10**14)) == (200, "")
    assert page.look(page.signer.sign("GET", "/whoami", number=WINDOW + 11)) == (403, "replayed")


def test_eight_tabs_of_a_session_do_not_disturb_each_other(page: Page) -> None:
    """Each counts for itself, all at once."""
    tabs = [page.signer.tab_beside() for _ in range(TABS)]

    def use(tab: Signer) -> set[tuple[int, str]]:
        return {page.look(tab.sign("GET", "/whoami")) for _ in range(20)}

    with ThreadPoolExecutor(TABS) as pool:
        assert list(pool.map(use, tabs)) == [{(200, "")}] * TABS


def test_more_tabs_than_are_remembered_have_to_ask_again(page: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was used is never forgotten as long as its boot lasts: another one begins, and nothing old is good in it."""
    assert MAX_TABS > 100 * TABS
    monkeypatch.setattr("assent.surfaces.http.session.MAX_TABS", 2)
    old = page.signer.sign("POST", ASKS, BODY)
    assert page.ask(old) == (201, "")
    others = [page.signer.tab_beside() for _ in range(2)]
    assert page.look(others[0].sign("GET", "/whoami")) == (200, "")
    assert page.look(others[1].sign("GET", "/whoami")) == (403, "unproven")
    assert page.ask(old) == (403, "unproven")
    page.signer.ask_proof(page.line)
    assert page.look(page.signer.sign("GET", "/whoami")) == (200, "")
    assert page.asks == 1


# The proof, and another start


def test_restarted_server_takes_nothing_of_before_and_the_session_after_its_proof(page: Page) -> None:
    """What was recorded, used or not, is good for nothing; the same session goes on once the server has proved itself."""
    used, kept = (page.signer.sign("POST", ASKS, BODY) for _ in range(2))
    assert page.ask(used) == (201, "")
    page.server.stop()
    page.server.start()
    assert [page.ask(used), page.ask(kept)] == [(403, "unproven")] * 2
    before = page.signer.boot
    assert page.signer.ask_proof(page.line).status_code == 200
    assert page.signer.boot != before
    assert [page.ask(used), page.ask(kept)] == [(403, "unproven")] * 2
    assert page.asks == 1
    assert page.ask(page.signer.sign("POST", ASKS, BODY)) == (201, "")


def test_server_on_another_store_cannot_prove_itself(page: Page) -> None:
    """It answers, with what no page believes."""
    nonce = 64 * "7"
    body = {"session": page.signer.name, "nonce": nonce, "origin": page.server.url}
    assert page.signer.believes(page.line.post("/proof", json=body), nonce)
    with throwaway(project="shop") as store:
        page.server.move(store)
        reply = page.line.post("/proof", json=body)
        assert reply.status_code == 200
        assert not page.signer.believes(reply, nonce)
        assert page.look(page.signer.sign("GET", "/whoami")) == REFUSED


def test_proof_is_for_one_nonce(page: Page) -> None:
    """Whoever recorded one cannot show it again."""
    body = {"session": page.signer.name, "origin": page.server.url}
    first = page.line.post("/proof", json=body | {"nonce": 64 * "1"})
    assert page.signer.believes(first, 64 * "1")
    assert not page.signer.believes(first, 64 * "2")


@pytest.mark.parametrize(
    "origin", ["http://127.0.0.1:1", "http://evil.example", "null", "", "http://localhost:{port}"]
)
def test_server_proves_itself_for_its_own_name_alone(page: Page, origin: str) -> None:
    """A program on another port, or under another name, gets no proof to pass on."""
    reply = page.signer.ask_proof(page.line, origin=origin.format(port=page.server.port))
    assert told(reply) == (421, "misdirected")


@pytest.mark.parametrize(
    "changes",
    [
        {"nonce": ""},
        {"nonce": 63 * "0"},
        {"nonce": 64 * "Z"},
        {"nonce": 63 * "0" + "\n"},
        {"session": "ana"},
        {"more": "x"},
    ],
    ids=str,
)
def test_what_is_no_nonce_and_no_session_is_proved_nothing(page: Page, changes: dict[str, str]) -> None:
    """A page that asks so is none of ours."""
    assert told(page.signer.ask_proof(page.line, **changes)) == (400, "bad_request")


def test_session_that_has_ended_is_told_so_by_a_server_that_proves_itself(page: Page) -> None:
    """Whoever listens there instead cannot make a page believe that it was signed out."""
    assert page.line.post("/sign-out", auth=page.signer).status_code == 204
    assert page.signer.ask_proof(page.line).status_code == 200
    assert page.look(page.signer.sign("GET", "/whoami")) == REFUSED


# Sockets


def open_socket(page: Page, shown: str, path: str = "/projects/shop/events") -> int:
    """Open a socket with this signature; return the status."""
    url = page.server.url.replace("http:", "ws:") + path
    offered = [Subprotocol("assent"), Subprotocol(f"signed.{shown}")]
    try:
        with connect(url, subprotocols=offered, proxy=None, open_timeout=PATIENCE) as opened:
            assert opened.subprotocol == "assent"
            return 101
    except InvalidStatus as refused:
        return refused.response.status_code


def test_socket_is_signed_as_a_request_is(page: Page) -> None:
    """For one address, once, and not by a signature that was made for a request."""
    path = "/projects/shop/events"
    shown = page.signer.sign(SOCKET, path)
    assert open_socket(page, shown, f"{path}?after=0") == 401
    assert [open_socket(page, shown) for _ in range(2)] == [101, 403]
    assert open_socket(page, page.signer.sign("GET", path)) == 401
    assert told(page.line.get(path, headers={SESSION: page.signer.sign(SOCKET, path)})) == REFUSED


# In between


def test_relay_on_another_port_gets_no_proof_for_its_page_and_has_nothing_done(page: Page) -> None:
    """A page that came from there is at another origin; so neither its question nor what it signs is good here."""
    with relayed(page.server.port) as (port, heard):
        there = f"http://127.0.0.1:{port}"
        signer = Signer(there, page.signer.name, page.signer.key.hex(), page.signer.boot)
        with httpx2.Client(base_url=there, timeout=PATIENCE, trust_env=False) as line:
            assert told(signer.ask_proof(line)) == (421, "misdirected")
            asked = line.post(ASKS, content=BODY, headers=JSON, auth=signer)
            assert told(asked) == REFUSED
    assert heard
    assert page.asks == 0


def test_relay_under_the_servers_own_name_passes_on_and_can_change_and_repeat_nothing(page: Page) -> None:
    """Twin of the test above: what one in between is able to do, as for a name that leads to both, is to read and to drop."""
    with relayed(page.server.port) as (port, heard):
        with httpx2.Client(base_url=f"http://127.0.0.1:{port}", timeout=PATIENCE, trust_env=False) as line:
            assert page.signer.ask_proof(line).status_code == 200
            assert told(line.post(ASKS, content=BODY, headers=JSON, auth=page.signer)) == (201, "")
        recorded = heard[-1].replace(
            f"127.0.0.1:{port}".encode(), f"127.0.0.1:{page.server.port}".encode(), 1
        )
        assert b"Which fox?" in recorded
        for again in (recorded, recorded.replace(b"red", b"mad"), recorded.replace(b"/shop/", b"/till/")):
            with socket.create_connection(("127.0.0.1", page.server.port), PATIENCE) as onward:
                onward.sendall(again)
                assert onward.recv(1 << 16).split()[1] in (b"401", b"403")
    assert page.asks == 1


def test_document_wants_a_token_or_a_signature() -> None:
    """One of both."""
    document: dict[str, Any] = msgspec.json.decode(render_openapi("1"))
    schemes = document["components"]["securitySchemes"]
    assert (schemes["session"]["in"], schemes["session"]["name"]) == ("header", SESSION_HEADER)
    assert document["security"] == [{"token": []}, {"session": []}]
    refusal = document["paths"]["/asks"]["get"]["responses"]["401"]
    assert refusal["headers"]["WWW-Authenticate"]["schema"] == {"const": "Bearer"}
