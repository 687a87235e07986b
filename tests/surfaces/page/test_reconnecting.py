"""The server goes away under the page and comes back: the page says so, keeps what is typed, and misses and repeats nothing."""

import signal
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from playwright.sync_api import Browser, Page, Request, Route, expect

from assent.protocol.ask import State
from assent.protocol.principal import Assurance, Role
from assent.protocol.token import ALL_PROJECTS
from assent.testing import throwaway
from assent.testing.server import ThrowawayServer
from tests.client.http.process import ServerProcess
from tests.patience import PATIENCE
from tests.surfaces.page.answering import open_card, send_button, shorten_the_beat
from tests.surfaces.page.browsing import DESKTOP, Mishaps, new_context, sign_in

__all__: list[str] = []

FOXES = ["red fox", "blue fox"]
AWAY = ("ERR_", "WebSocket connection", "status of 503")
"""What a browser writes on its console while nobody answers."""
HEAR = """
async () => {
  const { onEvent } = (await import("/page/app.js")).module_live;
  window.heard = [];
  onEvent(({ sequence }) => window.heard.push(sequence));
}
"""
SHOWN = "() => [...document.querySelectorAll('.row')].map((row) => row.dataset.ask)"


def pardon_absence(mishaps: Mishaps) -> None:
    """Let pass what the browser says of a server that is away."""
    for told in AWAY:
        mishaps.pardon(told)


def types(site: ThrowawayServer) -> list[str]:
    """Return the types of the project's events."""
    return [record.type for record in site.store.person().log()]


def test_page_says_that_it_is_offline_and_comes_back_by_itself(
    page: Page, site: ThrowawayServer, mishaps: Mishaps
) -> None:
    """What was typed before and while it was away is there; what happened meanwhile is shown, each once and in order."""
    pardon_absence(mishaps)
    agent, beside = site.agent(), site.store.agent()
    gone = agent.open("Gone?", FOXES)
    asked = agent.open("Why?")
    page.goto("/")
    open_card(page, "Why?")
    page.evaluate(HEAR)
    field = page.locator("form.ask textarea")
    field.fill("because")
    site.stop()
    bar = page.locator(".link")
    expect(bar).to_contain_text("Offline since")
    expect(send_button(page)).to_have_text("Offline, kept as a draft")
    field.press("End")
    page.keyboard.type(" of it")
    new = beside.open("Meanwhile?", FOXES)
    site.store.person("sam").answer(gone.ask_id, "2")
    head = max(record.sequence for record in site.store.person().log())
    site.start()
    expect(bar).to_have_count(0)
    expect(page.locator(".row-ended")).to_contain_text("sam answered")
    assert sorted(page.evaluate(SHOWN)) == sorted([gone.ask_id, asked.ask_id, new.ask_id])
    assert page.evaluate("heard") == [head - 1, head]
    expect(field).to_have_value("because of it")
    page.keyboard.press("Control+Enter")
    expect(page.locator(".fate")).to_contain_text("Accepted, yours was the one")
    assert site.store.person().show(asked.ask_id).state is State.ANSWERED


def test_page_that_is_opened_anew_while_the_server_is_away_keeps_the_draft(
    page: Page, site: ThrowawayServer, mishaps: Mishaps
) -> None:
    """The browser has no page to show then; with the server the words are back."""
    pardon_absence(mishaps)
    site.agent().open("Why?")
    page.goto("/")
    open_card(page, "Why?")
    page.locator("form.ask textarea").fill("because")
    site.stop()
    expect(page.locator(".link")).to_be_visible()
    site.start()
    page.reload()
    open_card(page, "Why?")
    expect(page.locator("form.ask textarea")).to_have_value("because")


def test_killed_server_that_is_started_again_is_found_again(browser: Browser) -> None:
    """A process of its own, ended without a word; the page waits for no click, and shows no ask twice."""
    with throwaway(project="shop") as store:
        minter = store.person("minter", assurance=Assurance.TERMINAL)
        _, secret = minter.create_token(Role.HUMAN, name="ana", projects=(ALL_PROJECTS,))
        first = store.agent().open("Which fox?", FOXES)
        with ServerProcess(store.path) as server:
            mishaps = Mishaps(server.url)
            pardon_absence(mishaps)
            session = sign_in(server.url, secret)
            context = new_context(browser, mishaps, theme="light", viewport=DESKTOP, session=session)
            page = context.new_page()
            page.goto("/")
            open_card(page, "Which fox?")
            page.keyboard.press("b")
            server.end(signal.SIGKILL)
            expect(page.locator(".link")).to_contain_text("Offline since")
            second = store.agent().open("And then?", FOXES)
            server.start()
            expect(page.locator(".link")).to_have_count(0)
            expect(page.locator(".row")).to_have_count(2)
            assert page.evaluate(SHOWN) == [second.ask_id, first.ask_id]
            page.keyboard.press("Enter")
            expect(page.locator(".fate .big")).to_have_text("blue fox")
            context.close()
        assert mishaps.unpardoned == []
        assert store.person().show(first.ask_id).state is State.ANSWERED


def test_answer_whose_reply_was_lost_is_sent_again_and_accepted_once(
    page: Page, site: ThrowawayServer, agents: ThreadPoolExecutor, mishaps: Mishaps
) -> None:
    """Under the same key; the page says what it then learns: that it was the one."""
    pardon_absence(mishaps)
    told = agents.submit(site.agent().open("Which fox?", FOXES).value, PATIENCE)
    sent: list[Request] = []

    def lose_the_first(route: Route) -> None:
        sent.append(route.request)
        if len(sent) > 1:
            route.continue_()
            return
        assert route.fetch().ok  # it has arrived
        route.abort()

    page.route("**/answer", lose_the_first)
    page.goto("/")
    open_card(page, "Which fox?")
    page.keyboard.press("b")
    page.keyboard.press("Enter")
    expect(page.locator(".fate")).to_contain_text("Accepted, yours was the one")
    assert told.result(PATIENCE) == "blue fox"
    keys = [request.headers["idempotency-key"] for request in sent]
    assert (len(keys), len(set(keys))) == (2, 1)
    assert types(site).count("ask.answered") == 1


def test_answer_that_was_cut_off_with_the_server_is_accepted_once(
    page: Page, site: ThrowawayServer, mishaps: Mishaps
) -> None:
    """It arrived, and then the server was gone: the page does not know, says so, and asks as soon as it can."""
    pardon_absence(mishaps)
    handle = site.agent().open("Why?")
    keys: list[str] = []

    def cut(route: Route) -> None:
        keys.append(route.request.headers["idempotency-key"])
        if site.connections and len(keys) == 1:
            assert route.fetch().ok
        route.abort()

    shorten_the_beat(page)
    page.route("**/answer", cut)
    page.route_web_socket("**/events**", lambda _: None)  # nor does the page hear of it in another way
    page.goto("/")
    open_card(page, "Why?")
    page.locator("form.ask textarea").fill("because")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("alert")).to_contain_text("it is not known whether your answer arrived")
    expect(page.locator("form.ask textarea")).to_have_value("because")
    assert site.store.person().show(handle.ask_id).state is State.ANSWERED
    page.unroute("**/answer")
    with page.expect_request("**/answer") as again:
        send_button(page).click()
    expect(page.locator(".fate")).to_contain_text("Accepted, yours was the one")
    assert {*keys, again.value.headers["idempotency-key"]} == {keys[0]}
    assert types(site).count("ask.answered") == 1


def test_lost_reply_is_asked_for_once_the_ask_is_seen_to_have_ended(
    page: Page, site: ThrowawayServer, mishaps: Mishaps
) -> None:
    """Both tries were cut off, and somebody else was first: the event says so, and the page what became of its own."""
    for told in (*AWAY, "status of 409"):
        mishaps.pardon(told)
    handle = site.agent().open("Which fox?", FOXES)
    page.route("**/answer", lambda route: route.abort())
    page.goto("/")
    open_card(page, "Which fox?")
    page.keyboard.press("b")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("Sending it again is safe")
    page.unroute("**/answer")
    site.person("sam").answer(handle.ask_id, "1")
    expect(page.locator(".fate")).to_contain_text("sam was first, your answer was not used")
    expect(page.locator(".kept")).to_contain_text("blue fox")
    assert types(site).count("ask.answered") == 1


def test_revoked_token_leads_to_the_way_in(
    page: Page, site: ThrowawayServer, mishaps: Mishaps, window: Callable[..., Page]
) -> None:
    """At once, with nothing of any project left to be seen; the draft waits for the same person on this device."""
    mishaps.pardon("status of 401")
    site.agent().open("Which secret fox?", free=True)
    page.goto("/")
    open_card(page, "Which secret fox?")
    page.locator("form.ask textarea").fill("the red one")
    minter = site.store.person("minter", assurance=Assurance.TERMINAL)
    for token in minter.tokens():
        if token.name == "ana":
            minter.revoke_token(token.token_id)
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    assert "secret fox" not in page.content()
    assert page.evaluate("Object.keys(localStorage).some((name) => name.startsWith('assent-draft'))")
    again = window(secret=site.token(Role.HUMAN, "ana"))
    again.goto("/")
    open_card(again, "Which secret fox?")


def test_list_that_did_not_come_is_asked_for_again(
    page: Page, site: ThrowawayServer, mishaps: Mishaps
) -> None:
    """What waited before is told by no event: a page that had no luck with its list must not say that nothing waits."""
    pardon_absence(mishaps)
    site.agent().open("Which fox?", FOXES)
    refused: list[Route] = []

    def refuse_once(route: Route) -> None:
        if refused:
            route.fallback()
        else:
            refused.append(route)
            route.fulfill(status=503, body="")

    page.route("**/asks", refuse_once)
    page.goto("/")
    open_card(page, "Which fox?")
    assert len(refused) == 1


def test_project_that_cannot_be_told_does_not_hide_the_others(
    page: Page, site: ThrowawayServer, mishaps: Mishaps
) -> None:
    """It is left out; the page is there for all that can be."""
    mishaps.pardon("status of 404")
    site.agent().open("Which fox?", FOXES)
    page.route("**/projects", lambda route: route.fulfill(json={"projects": ["..", "shop"]}))
    page.goto("/")
    open_card(page, "Which fox?")
    expect(page.locator(".link")).to_have_count(0)


LOOK_TWICE = """
async () => {
  const { module_live: { connect }, module_api: { get } } = await import("/page/app.js");
  for (let turn = 0; turn < 2; turn += 1) {
    void connect();
    for (let trip = 0; trip < 5; trip += 1) await get("/projects");
  }
}
"""


def test_project_has_one_line_however_often_the_page_looks(page: Page, site: ThrowawayServer) -> None:
    """Two looks at once would each open one, and everything would be heard twice."""
    held: list[Route] = []
    page.route("**/second/log/head", lambda route: held.append(route))  # noqa: PLW0108 - playwright marks it
    site.agent().open("Which fox?", FOXES)
    page.goto("/")
    open_card(page, "Which fox?")
    site.store.agent(project="second").open("And here?", FOXES)
    page.evaluate(LOOK_TWICE)
    assert len(held) == 1
    held[0].continue_()
    expect(page.locator(".row", has_text="And here?")).to_be_visible()
