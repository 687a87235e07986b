"""Answering in the inbox: what marks and what sends, what is kept, and who is told what when several want to answer."""

import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from playwright.sync_api import Page, Request, Route, expect

from assent import Declined
from assent.client.approving import request_approval
from assent.client.client import blocking
from assent.protocol.ask import Ask, State
from assent.protocol.json_text import Json
from assent.protocol.principal import Role
from assent.protocol.prompt import Field, Option, Prompt, question
from assent.protocol.terms import Terms
from assent.testing import throwaway
from assent.testing.clock import FakeClock
from assent.testing.server import ThrowawayServer
from tests.patience import PATIENCE
from tests.surfaces.page.answering import (
    choose,
    hold_the_beat,
    let_the_beat_pass,
    marked,
    open_card,
    send_button,
    shorten_the_beat,
    title_of_card,
)
from tests.surfaces.page.browsing import Mishaps, Viewport
from tests.surfaces.page.desk import Desk, come_to

__all__: list[str] = []

FOXES = ["red fox", "blue fox"]
LOOK_AGAIN = "document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))"
FIRST_LOOK = """
new MutationObserver(() => {
  window.firstLook ??= document.querySelector(".askframe")?.className;
}).observe(document, { childList: true, subtree: true });
"""
PLACES = """
() => [...document.querySelectorAll(".row[aria-current=true], .choice, #t-ask, .bar")]
  .map((part) => part.getBoundingClientRect().y)
"""
PRESS = """
(keys) => keys.reduce((before, key) => before.then(() => {
  const at = document.activeElement ?? document.body;
  at.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
}), Promise.resolve())
"""


@pytest.fixture
def site(desk: Desk) -> ThrowawayServer:
    """Give the server of the desk, on which nothing waits."""
    return desk.site


@pytest.fixture
def page(desk: Desk) -> Page:
    """Give the page of the desk, which is loaded already."""
    return desk.page


@pytest.fixture
def new_page(desk: Desk, viewport: Viewport) -> Page:
    """Give one more page, which is not loaded yet."""
    page = desk.new_page()
    page.set_viewport_size({"width": viewport[0], "height": viewport[1]})
    return page


@pytest.fixture
def mishaps(desk: Desk) -> Mishaps:
    """Give what goes wrong there."""
    return desk.mishaps


def answers_of(page: Page) -> list[Request]:
    """Return the list that every answer goes into which this page sends from now on."""
    sent: list[Request] = []
    page.on("request", lambda request: sent.append(request) if request.url.endswith("/answer") else None)
    return sent


def other_window(window: Callable[..., Page], site: ThrowawayServer, name: str = "sam") -> Page:
    """Return a window of somebody else."""
    return window(secret=site.token(Role.HUMAN, name))


# Marking and sending


def test_nothing_is_marked_at_the_start_and_enter_sends_nothing(page: Page, site: ThrowawayServer) -> None:
    """Neither what is recommended nor what stands first; the button says what is missing, and a click on it does nothing."""
    options = [Option("keep", "Keep it", recommended=True), Option("drop", "Drop it", destructive=True)]
    handle = site.agent().open("Keep it?", options)
    sent = answers_of(page)
    come_to(page)
    open_card(page, "Keep it?")
    assert marked(page) == 0
    page.keyboard.press("Enter")
    send_button(page).click(force=True)  # to a browser it is no button that cannot be pressed
    expect(send_button(page)).to_have_text("Mark one first")
    page.keyboard.press("b")
    expect(send_button(page)).to_contain_text("Drop it, cannot be undone")
    assert (sent, handle.ask.state) == ([], State.OPEN)
    page.keyboard.press("Backspace")
    expect(send_button(page)).to_have_text("Mark one first")
    assert marked(page) == 0


def test_keys_before_the_beat_decide_nothing(new_page: Page, site: ThrowawayServer) -> None:
    """A keystroke that was meant for elsewhere, and a click, too; afterwards the same keys mark and send."""
    page = new_page
    site.agent().open("Which fox?", FOXES)
    hold_the_beat(page)
    sent = answers_of(page)
    page.goto("/")
    expect(page.locator(".askframe.is-arming")).to_be_visible()
    expect(page.locator(".bar")).to_contain_text("Keys arm in a moment")
    for key in ("b", "Enter", "Shift+D"):
        page.keyboard.press(key)
    assert marked(page) == 0
    choose(page, "red fox")  # a mark with the mouse decides nothing yet
    send_button(page).click()
    page.keyboard.press("Enter")
    assert sent == []
    let_the_beat_pass(page)
    open_card(page, "Which fox?")
    page.keyboard.press("b")
    expect(page.locator(".bar-mark")).to_contain_text("blue fox")
    page.keyboard.press("Enter")
    expect(page.locator(".fate .big")).to_have_text("blue fox")
    assert len(sent) == 1


def test_beat_begins_anew_with_every_card(new_page: Page, site: ThrowawayServer) -> None:
    """Whoever goes on to the next ask has not marked anything in it by the key before."""
    page = new_page
    for title in ("First?", "Second?"):
        site.agent().open(title, FOXES)
    page.goto("/")
    open_card(page, "Second?")
    page.keyboard.press("j")
    page.keyboard.press("a")
    expect(title_of_card(page)).to_have_text("First?")
    open_card(page, "First?")
    assert marked(page) == 0


def test_key_that_follows_on_anothers_heels_finds_what_it_marked(
    page: Page, site: ThrowawayServer, agents: ThreadPoolExecutor
) -> None:
    """All in the same moment, as on a machine that was busy: what is sent is what was marked last."""
    told = agents.submit(site.agent().open("Which fox?", FOXES).value, PATIENCE)
    come_to(page)
    open_card(page, "Which fox?")
    page.evaluate(PRESS, ["a", "b", "Enter"])
    assert told.result(PATIENCE) == "blue fox"


def test_enter_that_is_held_down_sends_once_and_nothing_else(page: Page, site: ThrowawayServer) -> None:
    """Not also the draft of the next ask."""
    first, second = (site.agent().open(title, FOXES) for title in ("First?", "Second?"))
    sent = answers_of(page)
    come_to(page)
    open_card(page, "Second?")
    page.keyboard.press("a")
    page.keyboard.press("j")
    open_card(page, "First?")
    page.keyboard.press("b")
    page.keyboard.down("Enter")
    expect(page.locator(".fate")).to_be_visible()
    for _ in range(5):
        page.keyboard.down("Enter")  # a second one without an up is a repeat
    page.keyboard.up("Enter")
    expect(title_of_card(page)).to_have_text("First?")
    assert len(sent) == 1
    ana = site.person()
    assert (ana.show(first.ask_id).state, ana.show(second.ask_id).state) == (State.ANSWERED, State.OPEN)


# Moving


# The second key of two may come as late as a busy machine sends it.
PATIENT = """
(() => {
  const begin = window.setTimeout;
  window.setTimeout = (act, ms, ...rest) => (ms === 1_500 ? 0 : begin(act, ms, ...rest));
})();
"""


def test_keys_move_between_asks_and_pages(new_page: Page, site: ThrowawayServer) -> None:
    """With j and k by one, o goes to the oldest, / to the filter, ? to the help, g and a letter to a page."""
    for asked in ("Oldest?", "Middle?", "Newest?"):
        site.agent().open(asked, FOXES)
    page = new_page
    page.add_init_script(PATIENT)
    page.goto("/")
    title = title_of_card(page)
    open_card(page, "Newest?")
    for key, shown in [
        ("j", "Middle?"),
        ("j", "Oldest?"),
        ("j", "Oldest?"),
        ("k", "Middle?"),
        ("o", "Oldest?"),
    ]:
        page.keyboard.press(key)
        expect(title).to_have_text(shown)
    page.keyboard.press("/")
    expect(page.locator("#filter")).to_be_focused()
    page.keyboard.press("j")
    expect(page.locator("#filter")).to_have_value("j")
    page.keyboard.press("Backspace")
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_contain_text("Keys")
    page.keyboard.press("a")  # nothing is marked behind it
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    assert marked(page) == 0
    for letter, address in [("r", "#/runs"), ("i", "#/inbox")]:
        page.keyboard.press("g")
        page.keyboard.press(letter)
        page.wait_for_url(re.compile(address))


def test_keys_on_each_others_heels_move_as_often_as_they_were_pressed(
    page: Page, site: ThrowawayServer
) -> None:
    """As on a machine that was busy, or with a key that is held down."""
    for number in range(5):
        site.agent().open(f"Number {number}?", FOXES)
    come_to(page)
    open_card(page, "Number 4?")
    page.evaluate(PRESS, ["j", "j", "j"])
    expect(title_of_card(page)).to_have_text("Number 1?")


def test_letters_of_the_page_never_mark(page: Page, site: ThrowawayServer) -> None:
    """An option with such a letter has its number, or the arrows."""
    animals = [f"animal {number}" for number in range(1, 17)]
    site.agent().open("Which?", animals)
    come_to(page)
    card = open_card(page, "Which?")
    assert {"G", "J", "K", "O"} < set(card.locator(".choice .key").all_inner_texts())
    for key in "jko":
        page.keyboard.press(key)
    page.keyboard.press("g")
    page.keyboard.press("Escape")
    assert marked(page) == 0
    page.keyboard.press("7")
    expect(page.locator(".bar-mark")).to_contain_text("animal 7")


def test_arrows_move_between_options(page: Page, site: ThrowawayServer) -> None:
    """The first leads into them; from there on they are those of every radio button."""
    site.agent().open("Which fox?", FOXES)
    come_to(page)
    open_card(page, "Which fox?")
    page.keyboard.press("ArrowDown")
    expect(page.locator(".choice input").first).to_be_focused()
    assert marked(page) == 0
    page.keyboard.press("ArrowDown")
    expect(page.locator(".bar-mark")).to_contain_text("blue fox")
    page.keyboard.press("ArrowUp")
    expect(page.locator(".bar-mark")).to_contain_text("red fox")


# Drafts


def test_draft_survives_live_updates_a_reload_and_another_card(new_page: Page, site: ThrowawayServer) -> None:
    """Marks and words, with the cursor where it was while other asks come; nothing of it is with the server."""
    page = new_page
    agent = site.agent()
    handle = agent.open("Which fox?", FOXES, free=True, other="Another")
    page.goto("/")
    open_card(page, "Which fox?")
    page.keyboard.press("c")
    page.keyboard.type("a badger")
    page.keyboard.press("ArrowLeft")
    for number in range(3):
        agent.open(f"Number {number}?", FOXES)
    expect(page.locator(".row")).to_have_count(4)
    own = page.get_by_label("Another").and_(page.locator("input[type=text]"))
    expect(own).to_be_focused()
    page.keyboard.type("g")
    expect(own).to_have_value("a badgegr")
    page.reload()
    open_card(page, "Which fox?")
    expect(own).to_have_value("a badgegr")
    expect(page.locator(".bar")).to_contain_text("Draft kept on this device")
    title_of_card(page).click()  # the field went with the reload, so keys rest until a press
    page.keyboard.press("k")
    expect(title_of_card(page)).to_have_text("Number 0?")
    expect(page.locator(f'.row[data-ask="{handle.ask_id}"]')).to_contain_text("your draft")
    page.keyboard.press("j")
    expect(own).to_have_value("a badgegr")
    assert site.person().show(handle.ask_id).state is State.OPEN


def test_draft_goes_when_the_answer_is_accepted(page: Page, site: ThrowawayServer) -> None:
    """What was sent stays on no device."""
    site.agent().open("Why?")
    come_to(page)
    open_card(page, "Why?")
    page.locator("form.ask textarea").fill("because")
    kept = "Object.keys(localStorage).filter((name) => name.startsWith('assent-draft'))"
    assert len(page.evaluate(kept)) == 1
    page.keyboard.press("Control+Enter")
    expect(page.locator(".fate")).to_contain_text("Accepted")
    assert page.evaluate(kept) == []


# Others


def test_two_browsers_answer_at_once_and_one_wins(
    page: Page,
    window: Callable[..., Page],
    site: ThrowawayServer,
    agents: ThreadPoolExecutor,
    mishaps: Mishaps,
) -> None:
    """Both had sent before either knew of the other; the one that lost says who won, with what, and keeps its own."""
    mishaps.pardon("status of 409")
    told = agents.submit(site.agent().open("Which fox?", FOXES, free=True).value, PATIENCE)
    other = other_window(window, site)
    held: list[Route] = []
    other.route("**/answer", lambda route: held.append(route))  # noqa: PLW0108 - it wants a function; it is on its way, and has not arrived
    for each in (page, other):
        each.goto("/")
        open_card(each, "Which fox?")
    other.keyboard.press("c")
    expect(other.locator("form.ask input[type=text]")).to_be_focused()
    other.keyboard.type("a badger")
    with other.expect_request("**/answer"):
        other.keyboard.press("Control+Enter")
    page.keyboard.press("b")
    page.keyboard.press("Enter")
    expect(page.locator(".fate")).to_contain_text("Accepted, yours was the one")
    expect(send_button(other)).to_have_text("Sending")  # whose answer it was is not known there yet
    [late] = held
    late.continue_()
    fate = other.locator(".fate")
    expect(fate).to_contain_text("ana was first, your answer was not used")
    expect(fate.locator(".big")).to_have_text("ana: blue fox")
    other.keyboard.press("Escape")
    expect(other.locator(".kept")).to_contain_text("a badger")
    assert told.result(PATIENCE) == "blue fox"


def test_ask_that_somebody_else_answers_folds_and_keeps_what_was_typed(
    new_page: Page, site: ThrowawayServer
) -> None:
    """Once the field is left. Nothing was lost in a race; the words are there to be copied, also after a reload."""
    page = new_page
    handle = site.agent().open("Why?")
    page.goto("/")
    open_card(page, "Why?")
    page.locator("form.ask textarea").fill("because of\nthe foxes")
    site.person("sam").answer(handle.ask_id, "no idea")
    fate = page.locator(".fate")
    expect(fate).to_contain_text("sam answered")
    expect(fate.locator(".big")).to_have_text("sam: no idea")
    title_of_card(page).click()
    expect(page.locator(".kept")).to_contain_text("because of the foxes")
    page.reload()
    expect(page.locator(".kept")).to_contain_text("because of the foxes")


def test_own_answer_is_told_as_ones_own_wherever_it_was_given(page: Page, site: ThrowawayServer) -> None:
    """It is the same person, at a terminal perhaps."""
    handle = site.agent().open("Which fox?", FOXES)
    come_to(page)
    open_card(page, "Which fox?")
    site.person("ana").answer(handle.ask_id, "1")
    expect(page.locator(".fate h3")).to_have_text("You answered")


def test_approval_that_has_ended_can_still_be_read_with_its_receipt(
    page: Page, site: ThrowawayServer
) -> None:
    """The action, its digest, the options and what was chosen; and when the receipt is redeemed, by whom."""
    action: Json = {"command": "rm -rf build", "host": "db-1"}
    ask = blocking(request_approval)(site.agent(), "Remove it?", action=action)
    assert isinstance(ask, Ask)
    site.person("ana").answer(ask.ask_id, "Approve")
    come_to(page, f"inbox/{ask.project}/{ask.ask_id}")
    expect(page.locator(".fate h3")).to_have_text("You answered")
    asked = page.locator(".asked")
    expect(asked.locator(".action .cmd")).to_contain_text("rm -rf build")
    expect(asked.locator(".action")).to_contain_text("db-1")
    expect(asked.locator(".action-foot .mono")).to_contain_text(ask.digest[-4:])
    expect(asked.locator("li")).to_have_count(2)
    expect(asked.locator("li[data-chosen]")).to_contain_text("Approve")
    assert isinstance(ask.terms, Terms)
    expect(asked.locator(".receipt")).to_contain_text(f"{ask.terms.receipt_id}: not redeemed yet")
    site.agent().redeem(ask.terms.receipt_id, action)
    expect(asked.locator(".receipt")).to_contain_text("redeemed by ")
    page.reload()
    expect(page.locator(".asked .receipt")).to_contain_text("redeemed by ")


def test_round_that_has_ended_keeps_its_questions_beside_the_answers(
    page: Page, site: ThrowawayServer
) -> None:
    fields = [
        Field("q1", "Which fox?", (Option("r", "Red"), Option("g", "Grey"))),
        Field("q2", "Why that one?", free=True),
    ]
    handle = site.agent().open(Prompt("Foxes", fields=tuple(fields)))
    ask = site.person("ana").answer(handle.ask_id, {"q1": "r", "q2": "it is fast"})
    come_to(page, f"inbox/{ask.project}/{ask.ask_id}")
    told = page.locator(".asked-field")
    expect(told.first).to_contain_text("Which fox?")
    expect(told.first.locator("li[data-chosen]")).to_contain_text("Red")
    expect(told.first).to_contain_text("Grey")
    expect(told.last).to_contain_text("Why that one?")
    expect(told.last.locator("li[data-chosen]")).to_have_text("it is fast")


def test_ask_that_ends_without_an_answer_says_how(new_page: Page, site: ThrowawayServer) -> None:
    """Taken back, declined and asked anew are three things; the list of what ended says the same."""
    page = new_page
    agent = site.agent()
    shorten_the_beat(page)
    withdrawn = agent.open("Withdrawn?", FOXES)
    page.goto("/")
    open_card(page, "Withdrawn?")
    withdrawn.withdraw("found it")
    expect(page.locator(".fate")).to_contain_text("Taken back")
    expect(page.locator(".fate")).to_contain_text("found it")
    declined = agent.open("Declined?", FOXES)
    expect(page.locator(".bar")).to_contain_text("Next ask")
    page.keyboard.press("Enter")
    open_card(page, "Declined?")
    site.person("sam").decline(declined.ask_id, "not mine")
    expect(page.locator(".fate")).to_contain_text("sam declined to answer")
    expect(page.locator(".fate")).to_contain_text("not mine")
    agent.open("Asked?", FOXES, key="once")
    expect(page.locator(".bar")).to_contain_text("Next ask")
    page.keyboard.press("Enter")
    open_card(page, "Asked?")
    agent.open("Asked better?", FOXES, key="once", replace=True)
    expect(page.locator(".fate")).to_contain_text("Asked anew")
    tops = page.locator(".row-ended .row-top")
    expect(tops).to_have_text(
        [re.compile("^Asked anew"), re.compile("^sam declined"), re.compile("^Taken back")]
    )


class TestOnAClock:
    """On a clock that the test moves."""

    clock: FakeClock

    @pytest.fixture
    def site(self) -> Iterator[ThrowawayServer]:
        """Give a server on a clock of its own."""
        type(self).clock = FakeClock()
        with throwaway(project="shop", clock=self.clock) as store, ThrowawayServer(store) as server:
            yield server

    @pytest.fixture
    def mishaps(self, site: ThrowawayServer) -> Iterator[Mishaps]:
        """Give what goes wrong in its windows: nothing."""
        noted = Mishaps(site.url)
        yield noted
        assert noted.unpardoned == []

    @pytest.fixture
    def page(self, window: Callable[..., Page], site: ThrowawayServer) -> Page:
        """Give a page of ana's."""
        return window(secret=site.token(Role.HUMAN, "ana"))

    def test_ask_that_expires_is_told_as_a_no(self, page: Page, site: ThrowawayServer) -> None:
        """Neither declined nor answered; what was typed is still there, and cannot be sent."""
        handle = site.agent().open("Why?", deadline=timedelta(minutes=5), consequence="deny")
        page.goto("/")
        open_card(page, "Why?")
        expect(page.locator(".ask-head .tag")).to_contain_text("left")
        page.locator("form.ask textarea").fill("because")
        self.clock.advance(timedelta(minutes=6))
        expect(page.locator(".fate")).to_contain_text("Expired, counts as a no")
        expect(send_button(page)).to_have_count(0)
        page.keyboard.press("Escape")
        expect(page.locator(".kept")).to_contain_text("because")
        expect(send_button(page)).to_have_count(0)
        assert handle.wait(PATIENCE).state is State.EXPIRED

    def test_time_that_is_left_is_left_by_the_servers_clock(self, page: Page, site: ThrowawayServer) -> None:
        """Also where that one is set while the page is open."""
        site.agent().open("Why?", deadline=timedelta(minutes=100), consequence="deny")
        page.goto("/")
        open_card(page, "Why?")
        expect(page.locator(".ask-head .tag")).to_contain_text(re.compile("1 h (40|3[0-9]) min left"))
        self.clock.set(self.clock.at + timedelta(minutes=60))
        expect(page.locator(".ask-head .tag")).to_contain_text(re.compile("(?<!h )(40|3[0-9]) min left"))


def test_decline_with_a_reason_is_a_no_to_the_agent(
    page: Page, site: ThrowawayServer, agents: ThreadPoolExecutor
) -> None:
    """It can be taken back before it is sent; the agent has the reason."""
    told = agents.submit(site.agent().open("Which fox?", FOXES).value, PATIENCE)
    come_to(page)
    open_card(page, "Which fox?")
    page.keyboard.press("Shift+D")
    page.get_by_role("button", name="Back").click()
    expect(send_button(page)).to_have_text("Mark one first")
    page.get_by_role("button", name="Decline…").click()
    page.keyboard.type("ask somebody else")
    expect(send_button(page)).to_have_text("Send the no Ctrl Enter")
    expect(send_button(page)).not_to_have_attribute("aria-disabled", "true")
    page.keyboard.press("Control+Enter")
    with pytest.raises(Declined, match="ask somebody else"):
        told.result(PATIENCE)
    expect(page.locator(".fate")).to_contain_text("ana declined to answer")


def test_enter_in_the_field_of_a_reason_sends_nothing(new_page: Page, site: ThrowawayServer) -> None:
    """Neither held down nor pressed twice, nor after words: and whoever marks an option after all does not decline."""
    page = new_page
    handle = site.agent().open("Which fox?", FOXES)
    hold_the_beat(page)
    sent = answers_of(page)
    page.goto("/")
    expect(page.locator(".askframe.is-arming")).to_be_visible()
    let_the_beat_pass(page)
    open_card(page, "Which fox?")
    page.get_by_role("button", name="Decline…").focus()
    for _ in range(5):
        page.keyboard.down("Enter")
    expect(page.locator(".bar-reason input")).to_be_focused()
    expect(send_button(page)).not_to_have_attribute("aria-disabled", "true")
    for _ in range(5):
        page.keyboard.down("Enter")
    page.keyboard.up("Enter")
    page.keyboard.type("Data first, then\nthe rest\n")
    page.keyboard.press("Escape")
    open_card(page, "Which fox?")  # a field that was left begins the beat anew
    page.keyboard.press("b")
    expect(send_button(page)).to_have_text("Send Enter")
    expect(page.locator(".bar-mark")).to_contain_text("blue fox")
    assert (sent, handle.ask.state) == ([], State.OPEN)


def test_enter_in_the_filter_of_options_sends_nothing(page: Page, site: ThrowawayServer) -> None:
    """What was marked before is not sent by somebody who looks for one more."""
    prompt = question("Which foxes?", [f"fox {number}" for number in range(12)], multiple=True)
    handle = site.agent().open(prompt)
    sent = answers_of(page)
    come_to(page)
    open_card(page, "Which foxes?")
    page.keyboard.press("a")
    page.get_by_label("Filter the 12 options").fill("11")
    page.get_by_label("Filter the 12 options").press("Enter")
    expect(send_button(page)).to_have_text("Send Enter")
    assert (sent, handle.ask.state) == ([], State.OPEN)


def test_beat_begins_when_the_ask_is_drawn(new_page: Page, site: ThrowawayServer) -> None:
    """Which may be long after somebody followed a link to it."""
    page = new_page
    handle = site.agent().open("Which fox?", FOXES)
    held: list[Route] = []
    hold_the_beat(page)
    page.add_init_script(FIRST_LOOK)
    for address in ("**/log/head", f"**/asks/{handle.ask_id}"):
        page.route(address, lambda route: held.append(route))  # noqa: PLW0108 - playwright notes something on it
    page.goto(f"/#/inbox/shop/{handle.ask_id}")
    expect(page.get_by_role("heading", name="One moment")).to_be_visible()
    let_the_beat_pass(page)
    for route in held:
        route.continue_()
    page.unroute_all()
    open_card(page, "Which fox?")
    assert page.evaluate("firstLook") == "askframe is-arming"


def test_token_that_cannot_answer_signs_nobody_in(
    stranger: Page, site: ThrowawayServer, mishaps: Mishaps
) -> None:
    """The page is for people who answer."""
    mishaps.pardon("status of 401")
    stranger.goto("/sign-in")
    for role in (Role.OBSERVER, Role.OPERATOR):
        stranger.get_by_label("paste a token").fill(site.token(role, "olga"))
        with stranger.expect_response("**/sign-in") as refused:
            stranger.keyboard.press("Enter")
        assert refused.value.status == 401
        expect(stranger.get_by_role("status")).to_contain_text("This token signs nobody in")


def test_card_says_to_whoever_cannot_answer_that_they_cannot(new_page: Page, site: ThrowawayServer) -> None:
    """They see all of it; whatever is marked, nothing is sent."""
    page = new_page

    def tell_role(route: Route) -> None:
        reply = route.fetch()
        route.fulfill(response=reply, json={**reply.json(), "role": "observer"})

    site.agent().open("Which fox?", FOXES)
    page.route("**/whoami", tell_role)
    sent = answers_of(page)
    page.goto("/")
    open_card(page, "Which fox?")
    page.keyboard.press("b")
    expect(send_button(page)).to_have_text("observers cannot answer")
    page.keyboard.press("Enter")
    send_button(page).click(force=True)
    assert sent == []
    page.unroute_all(behavior="wait")


def test_others_see_who_looks_and_who_has_claimed(
    page: Page, window: Callable[..., Page], site: ThrowawayServer
) -> None:
    """In the list and on the card; a claim stops nobody."""
    handle = site.agent().open("Which fox?", FOXES)
    other = other_window(window, site)
    for each in (page, other):
        each.goto("/")
        open_card(each, "Which fox?")
    page.evaluate(LOOK_AGAIN)
    expect(page.locator(".ask-kind")).to_contain_text("sam is looking")
    expect(page.locator(".row")).to_contain_text("sam is looking")
    other.keyboard.press("Shift+C")
    expect(other.locator(".facts")).to_contain_text("A courtesy: anybody may still answer.")
    page.evaluate(LOOK_AGAIN)
    expect(page.locator(".ask-kind")).to_contain_text("sam has claimed it")
    expect(page.locator(".row")).to_contain_text("sam has claimed it")
    page.keyboard.press("a")
    page.keyboard.press("Enter")
    expect(page.locator(".fate")).to_contain_text("Accepted, yours was the one")
    assert handle.value(PATIENCE) == "red fox"


# The list


def test_nothing_moves_under_the_hand_while_asks_arrive(new_page: Page, site: ThrowawayServer) -> None:
    """Neither the row that is selected nor the card, with a list that is scrolled and newer and more urgent asks above it."""
    page = new_page
    agent = site.agent()
    handles = [agent.open(f"Number {number}?", FOXES, body="Words.\n\n" * 20) for number in range(15)]
    chosen = handles[4]
    page.goto(f"/#/inbox/shop/{chosen.ask_id}")
    open_card(page, "Number 4?")
    row = page.locator(f'.row[data-ask="{chosen.ask_id}"]')
    page.locator("#detail").evaluate("(detail) => (detail.scrollTop = 60)")
    page.locator(".rows").evaluate("(rows) => (rows.scrollTop += 30)")
    before = page.evaluate(PLACES)
    for number in range(3):
        agent.open(f"New {number}?", FOXES)
        agent.open(f"Soon {number}?", FOXES, deadline=timedelta(minutes=9))
    expect(page.locator(".row")).to_have_count(21)
    expect(row).to_have_attribute("aria-current", "true")
    assert page.evaluate(PLACES) == pytest.approx(before, abs=0.75)  # a list scrolls by whole pixels
    site.person("sam").answer(handles[14].ask_id, "1")
    expect(page.locator(".row-ended")).to_have_count(1)
    assert page.evaluate(PLACES) == pytest.approx(before, abs=0.75)
    page.locator(".rows").evaluate("(rows) => (rows.scrollTop -= 40)")  # what a person scrolls stays scrolled
    agent.open("Last?", FOXES)
    expect(page.locator(".row")).to_have_count(22)
    assert page.evaluate(PLACES)[0] == pytest.approx(before[0] + 40, abs=0.75)


def test_filter_finds_by_project_run_kind_and_asker(new_page: Page, site: ThrowawayServer) -> None:
    """The count in the title is of all that waits; what is open stays in the list whatever is typed."""
    page = new_page
    site.agent("coder").open("Plain?", FOXES)
    site.agent("deployer").open("Of a run?", FOXES, run_id="run-42")
    site.agent("coder", project="edge-infra").open("Elsewhere?", FOXES)
    site.agent("planner").open("Go on?", kind="confirm")
    page.goto("/#/inbox")
    open_card(page, "Go on?")
    expect(page).to_have_title("(4) Assent")
    titles = page.locator(".row .row-title")
    for words, found in [
        ("project:edge", ["Go on?", "Elsewhere?"]),
        ("run:42", ["Go on?", "Of a run?"]),
        ("kind:confirm", ["Go on?"]),
        ("asker:deploy", ["Go on?", "Of a run?"]),
        ("elsewhere edge", ["Go on?", "Elsewhere?"]),
        ("nothing like it", ["Go on?"]),
    ]:
        page.locator("#filter").fill(words)
        expect(titles).to_have_text(found)
    page.locator("#filter").fill("")
    page.get_by_role("button", name="Confirm").click()
    expect(page.locator("#filter")).to_have_value("kind:confirm")
    expect(page.get_by_role("button", name="Confirm")).to_have_attribute("aria-pressed", "true")
    page.get_by_role("button", name="Confirm").click()
    expect(titles).to_have_count(4)


@pytest.mark.parametrize("viewport", [(1440, 900)], ids=["wide"])
def test_list_that_is_narrowed_to_a_project_stays_so(new_page: Page, site: ThrowawayServer) -> None:
    """Whichever ask of it is opened, by mouse or by key; the way back to all of them is beside it."""
    page = new_page
    site.agent().open("Here?", FOXES)
    for title in ("First?", "Second?"):
        site.agent(project="edge-infra").open(title, FOXES)
    page.goto("/")
    projects = page.get_by_role("navigation", name="Projects")
    titles = page.locator(".row .row-title")
    projects.get_by_role("link", name="edge-infra").click()
    expect(titles).to_have_text(["Second?", "First?"])
    open_card(page, "Second?")
    page.keyboard.press("j")
    open_card(page, "First?")
    titles.first.click()
    open_card(page, "Second?")
    expect(titles).to_have_count(2)
    expect(projects.get_by_role("link", name="edge-infra")).to_have_attribute("aria-current", "true")
    projects.get_by_role("link", name="All projects").click()
    expect(titles).to_have_count(3)


def test_count_in_the_title_follows_what_waits(page: Page, site: ThrowawayServer) -> None:
    """Up with an ask, down with an answer, and without a number where nothing waits."""
    come_to(page)
    expect(page.get_by_role("heading", name="Nothing waits for you")).to_be_visible()
    expect(page).to_have_title("Assent")
    handle = site.agent().open("Which fox?", FOXES)
    expect(page).to_have_title("(1) Assent")
    site.person("sam").answer(handle.ask_id, "1")
    expect(page).to_have_title("Assent")
