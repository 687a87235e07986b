"""Somebody else listens where the server was: an open page tells them nothing, and what they recorded opens nothing."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx2
import pytest
from playwright.sync_api import Page, Request, Route, WebSocket, expect

from assent.protocol.ask import State
from assent.protocol.principal import Role
from assent.testing import throwaway
from assent.testing.server import ThrowawayServer
from tests.patience import PATIENCE
from tests.surfaces.http.relaying import relayed
from tests.surfaces.page.answering import open_card, send_button
from tests.surfaces.page.browsing import Mishaps, serve_without, who

__all__: list[str] = []

FOXES = ["red fox", "blue fox"]
SECRET = "because of the hen house"
SAID = "Another program answers here than the server at which you signed in."
TABS = 8
QUESTION = "/proof"
ASKED_TWICE = """
() => performance.getEntriesByType("resource").filter(({ name }) => name.endsWith("/proof")).length > 1
"""
READ = """
async () => {
  const open = (request) => new Promise((done) => (request.onsuccess = () => done(request.result)));
  const keys = (await open(indexedDB.open("assent", 1))).transaction("keys").objectStore("keys");
  const [key] = await open(keys.getAll());
  const told = await crypto.subtle.exportKey("raw", key).catch((error) => error.name);
  return [key.extractable, key.type, String(told)];
}
"""


class Stranger:
    """A program that listens where the server did, keeps all that it is sent, and answers as it likes."""

    def __init__(self, port: int, answers: Callable[[str], tuple[int, Any]]) -> None:
        self.heard: list[tuple[str, str, dict[str, str], bytes]] = []
        heard = self.heard

        class Handler(BaseHTTPRequestHandler):
            def answer(self) -> None:
                body = self.rfile.read(int(self.headers.get("content-length", 0)))
                heard.append((self.command, self.path, dict(self.headers), body))
                status, told = answers(self.path)
                text = json.dumps(told).encode()
                self.send_response(status)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            do_GET = do_POST = do_PUT = answer  # noqa: N815 - as the library has it

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever)
        self._thread.start()

    @property
    def paths(self) -> set[str]:
        """What was asked for."""
        return {path for _, path, _, _ in self.heard}

    def close(self) -> None:
        """Go away."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(PATIENCE)


def flatter(path: str) -> tuple[int, Any]:
    """Answer as the server would, as well as one can who has no key."""
    who = {"role": "human", "name": "ana", "projects": ["*"], "now": "2030-01-01T09:00:00Z"}
    return 200, {
        QUESTION: {"boot": 16 * "0", "proof": 64 * "0"},
        "/whoami": who | {"expires_at": None},
        "/projects": {"projects": []},
    }.get(path, {})


ANSWERS: dict[str, Callable[[str], tuple[int, Any]]] = {
    "flatters": flatter,
    "says that nobody is signed in": lambda _: (401, {"error": {"code": "unauthorised", "message": "No."}}),
    "says that there is nothing": lambda _: (404, {"error": {"code": "not_found", "message": "No."}}),
    "says nothing that makes sense": lambda _: (200, ["?"]),
}


@contextmanager
def taken_over(site: ThrowawayServer, answers: Callable[[str], tuple[int, Any]]) -> Iterator[Stranger]:
    """Stop the server, and have somebody else listen there instead for as long as the block lasts."""
    site.stop()
    stranger = Stranger(site.port, answers)
    try:
        yield stranger
    finally:
        stranger.close()
        site.start()


def replay(site: ThrowawayServer, heard: list[tuple[str, str, dict[str, str], bytes]]) -> set[int]:
    """Send what was recorded once more, byte for byte; return the statuses of all but the question."""
    with httpx2.Client(base_url=site.url, timeout=PATIENCE, trust_env=False) as line:
        return {
            line.request(method, path, headers=headers, content=body).status_code
            for method, path, headers, body in heard
            if path != QUESTION
        }


@pytest.mark.parametrize("answers", ANSWERS.values(), ids=ANSWERS)
def test_open_page_tells_a_stranger_on_its_port_nothing_and_says_so(
    page: Page, site: ThrowawayServer, mishaps: Mishaps, answers: Callable[[str], tuple[int, Any]]
) -> None:
    """It asks who is there, and no more; what was typed is kept, and is sent to the server once that is back."""
    mishaps.pardon("")
    asked = site.agent().open("Why?")
    page.goto("/")
    open_card(page, "Why?")
    field = page.locator("form.ask textarea")
    field.fill(SECRET)
    with taken_over(site, answers) as stranger:
        expect(page.locator(".link")).to_contain_text(SAID)
        expect(send_button(page)).to_have_text("Offline, kept as a draft")
        page.keyboard.press("Control+Enter")
        page.get_by_role("button", name="Try now").click()
        expect(page.locator(".link")).to_contain_text(SAID)
        assert stranger.paths == {QUESTION}
        assert SECRET not in str(stranger.heard)
        names = {json.loads(body)["session"] for *_, body in stranger.heard}
    assert len(names) == 1
    for secret in (*names, *(f"assent_{name}" for name in names)):
        shown = httpx2.get(
            f"{site.url}/whoami", headers={"authorization": f"Bearer {secret}"}, trust_env=False
        )
        assert shown.status_code == 401
    expect(page.locator(".link")).to_have_count(0)
    expect(field).to_have_value(SECRET)
    send_button(page).click()
    expect(page.locator(".fate")).to_contain_text("Accepted, yours was the one")
    assert site.store.person().show(asked.ask_id).state is State.ANSWERED


def test_page_that_follows_nothing_yet_recognises_a_stranger_as_well(
    page: Page, site: ThrowawayServer, mishaps: Mishaps
) -> None:
    """It has no socket that would tell of the server's death, so it asks each time that it looks."""
    mishaps.pardon("")
    page.route("**/projects", lambda route: route.fulfill(json={"projects": []}))
    page.goto("/")
    expect(page.get_by_role("heading", name="Nothing waits for you")).to_be_visible()
    with taken_over(site, flatter) as stranger:
        expect(page.locator(".link")).to_contain_text(SAID)
        assert stranger.paths == {QUESTION}
    page.unroute("**/projects")
    expect(page.locator(".link")).to_have_count(0)


def test_page_without_the_proof_would_tell_a_stranger_more(
    page: Page, site: ThrowawayServer, mishaps: Mishaps
) -> None:
    """Twin of the test above. Even then what the stranger recorded is good for nothing once the server is back."""
    mishaps.pardon("")
    serve_without(page, "session.js", "if (!isOurs) throw new StrangerError();", "")
    site.agent().open("Why?")
    page.goto("/")
    open_card(page, "Why?")
    with taken_over(site, flatter) as stranger:
        expect(page.locator(".link")).to_have_count(0)
        page.wait_for_function("() => performance.getEntriesByType('resource').length")
        while "/whoami" not in stranger.paths:
            page.wait_for_timeout(50)
        heard = list(stranger.heard)
    assert replay(site, heard) <= {401, 403, 404}


def test_page_at_a_server_on_another_store_says_so_and_sends_nothing(
    page: Page, site: ThrowawayServer, mishaps: Mishaps
) -> None:
    """A real one, which gave it the page itself: somebody started another project there. Signing in there is the way on."""
    mishaps.pardon("")
    asked: list[str] = []
    page.goto("/")
    expect(page.get_by_role("heading", name="Nothing waits for you")).to_be_visible()
    with throwaway(project="other") as store:
        site.move(store)
        page.on("request", lambda request: asked.append(request.url.removeprefix(site.url)))
        page.reload()
        expect(page.get_by_role("heading", name="Another server answers here")).to_be_visible()
        assert {path for path in asked if path != "/" and not path.startswith("/page/")} == {QUESTION}
        page.goto("/sign-in")
        page.locator("#token").fill(site.token(Role.HUMAN, "sam"))
        page.locator("#token").press("Enter")
        expect(page.locator(".me")).to_contain_text("sam")


def test_relay_on_the_port_to_the_server_elsewhere_is_recognised(
    page: Page, site: ThrowawayServer, mishaps: Mishaps
) -> None:
    """The server has come up on another port of the same machine; it proves itself to no page of this one."""
    mishaps.pardon("")
    site.agent().open("Why?")
    page.goto("/")
    open_card(page, "Why?")
    site.stop()
    with ThrowawayServer(site.store) as elsewhere, relayed(elsewhere.port, site.port) as (_, heard):
        expect(page.locator(".link")).to_contain_text(SAID)
        assert {text.split()[1] for text in heard} == {QUESTION.encode()}
    site.start()
    expect(page.locator(".link")).to_have_count(0)


def test_all_that_a_page_sent_is_good_for_nothing_when_sent_again(
    page: Page, site: ThrowawayServer, mishaps: Mishaps
) -> None:
    """Neither at once nor after a restart, an answer among it; the page itself goes on with the same session."""
    mishaps.pardon("")
    sent: list[Request] = []
    page.on("request", lambda request: sent.append(request))  # noqa: PLW0108 - playwright notes something on it
    handle = site.agent().open("Which fox?", FOXES)
    page.goto("/")
    open_card(page, "Which fox?")
    page.keyboard.press("b")
    page.keyboard.press("Enter")
    expect(page.locator(".fate")).to_contain_text("Accepted, yours was the one")
    recorded = [
        (
            request.method,
            request.url.removeprefix(site.url),
            request.all_headers(),
            request.post_data_buffer or b"",
        )
        for request in sent
        if "assent-session" in request.headers
    ]
    assert any(path.endswith("/answer") for _, path, _, _ in recorded)
    head = len(site.store.person().log())
    assert replay(site, recorded) == {403}
    site.stop()
    site.start()
    assert replay(site, recorded) == {403}
    assert len(site.store.person().log()) == head
    assert site.store.person().show(handle.ask_id).state is State.ANSWERED
    site.agent().open("And then?", FOXES)
    expect(page.locator(".row", has_text="And then?")).to_be_visible()


def test_key_is_told_once_and_no_script_can_read_it(
    stranger: Page, site: ThrowawayServer, mishaps: Mishaps
) -> None:
    """It is in no request, no socket, no cookie and no store that a script reads; the page itself can only sign with it."""
    mishaps.pardon("")
    sent: list[str] = []
    stranger.on(
        "request", lambda request: sent.append(f"{request.url} {request.headers} {request.post_data}")
    )

    def note(socket: WebSocket) -> None:
        sent.append(socket.url)

    stranger.on("websocket", note)
    keys: list[str] = []

    def hear(route: Route) -> None:
        reply = route.fetch()
        keys.append(reply.json()["key"])
        route.fulfill(response=reply)

    stranger.goto("/sign-in")
    stranger.route("**/sign-in", hear)
    stranger.locator("#token").fill(site.token(Role.HUMAN, "ana"))
    stranger.locator("#token").press("Enter")
    expect(stranger.get_by_role("heading", name="Nothing waits for you")).to_be_visible()
    [key] = keys
    assert stranger.evaluate(READ) == [False, "secret", "InvalidAccessError"]
    assert key not in stranger.evaluate("JSON.stringify([Object.entries(localStorage), document.cookie])")
    assert stranger.context.cookies() == []
    assert len(sent) > 5
    assert key not in "".join(sent)


def test_page_asks_who_is_there_once_for_a_load_and_every_request_is_signed(
    page: Page, site: ThrowawayServer
) -> None:
    """One small request before all others, whatever they are; the files of the page need nothing."""
    sent: list[Request] = []
    page.on("request", lambda request: sent.append(request))  # noqa: PLW0108 - playwright notes something on it
    page.goto("/")
    expect(page.get_by_role("heading", name="Nothing waits for you")).to_be_visible()
    asked = [request for request in sent if not request.url.startswith(f"{site.url}/page/")][1:]
    assert [request.url.removeprefix(site.url) for request in asked].index(QUESTION) == 0
    assert [QUESTION in request.url for request in asked].count(True) == 1
    assert all("assent-session" in request.headers for request in asked[1:])


def test_eight_tabs_at_once_work_and_come_back_after_a_restart(
    page: Page, site: ThrowawayServer, mishaps: Mishaps
) -> None:
    """Of one person in one browser: each counts for itself."""
    mishaps.pardon("")
    site.agent().open("Which fox?", FOXES)
    tabs = [page, *(page.context.new_page() for _ in range(TABS - 1))]
    for tab in tabs:
        tab.goto("/", wait_until="commit")
    for tab in tabs:
        expect(tab.locator(".row")).to_have_count(1)
    site.stop()
    site.start()
    for tab in tabs:
        tab.wait_for_function(ASKED_TWICE, polling=100)
    last = tabs[-1]
    last.bring_to_front()
    open_card(last, "Which fox?")
    last.keyboard.press("a")
    expect(send_button(last)).not_to_contain_text("Offline")
    last.keyboard.press("Enter")
    expect(last.locator(".fate")).to_contain_text("Accepted, yours was the one")
    assert {who(tab) for tab in tabs} == {"ana"}


def test_page_over_plain_http_from_another_machine_signs_nobody_in_and_says_why(
    window: Callable[..., Page], site: ThrowawayServer, mishaps: Mishaps
) -> None:
    """There is no key there that only the page can use; nothing can be pasted, and nothing is sent."""
    for told in ("left the site: http://box.example", "Cross-Origin-Opener-Policy"):
        mishaps.pardon(told)
    asked: list[str] = []

    def stand_in(route: Route) -> None:
        url = route.request.url.replace("http://box.example", site.url)
        asked.append(f"{route.request.method} {url.removeprefix(site.url)}")
        reply = httpx2.get(url, trust_env=False)
        route.fulfill(status=reply.status_code, headers=dict(reply.headers), body=reply.content)

    page = window(is_own=True)
    page.route("http://box.example/**", stand_in)
    page.goto(f"http://box.example/sign-in#{48 * '0'}")
    expect(page.get_by_role("status")).to_contain_text("plain HTTP from another machine")
    expect(page.locator("#token")).to_be_hidden()
    expect(page.locator("#enter")).to_be_hidden()
    page.goto("http://box.example/")
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    assert {each.split("/")[0] for each in asked} == {"GET "}
    assert all(each in ("GET /", "GET /sign-in") or each.startswith("GET /page/") for each in asked)
