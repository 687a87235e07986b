"""The tab and the desktop, in a real browser: counts follow what happens, and nobody is told who did not want to be."""

import time
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from assent.protocol.principal import Role
from assent.testing.server import ThrowawayServer
from tests.patience import PATIENCE

__all__: list[str] = []

# The desktop as a list, and a page that can be looked away from.
DESKTOP = """
globalThis.told = [];
globalThis.tones = 0;
globalThis.isAway = false;
globalThis.Notification = class {
  static permission = "granted";
  constructor(title, options) { Object.assign(this, { title, ...options, isClosed: false }); told.push(this); }
  close() { this.isClosed = true; }
};
Object.defineProperty(Document.prototype, "visibilityState", { get: () => (isAway ? "hidden" : "visible") });
const start = OscillatorNode.prototype.start;
OscillatorNode.prototype.start = function (...given) { tones += 1; return start.apply(this, given); };
"""
LOOK_MS = 20
TOLD = "told.map(({ title, body, isClosed }) => [title, body, isClosed])"


@pytest.fixture
def open_inbox(window: Callable[..., Page], site: ThrowawayServer) -> Callable[..., Page]:
    """Give a function that opens the inbox with a taste of one's own."""

    def open_page(taste: str = "{}") -> Page:
        page = window(secret=site.token(Role.HUMAN, "ana"))
        page.add_init_script(DESKTOP)
        page.add_init_script(f"localStorage.setItem('assent-taste', '{taste}');")
        page.goto("/")
        expect(page).to_have_title("Assent")
        expect(page.get_by_role("heading", name="Nothing waits for you")).to_be_visible()
        return page

    return open_page


def until(page: Page, claim: str) -> None:
    """Wait until something is so in the page; its policy lets no test have it looked at from inside."""
    end = time.monotonic() + PATIENCE
    while not page.evaluate(claim):
        assert time.monotonic() < end, claim
        page.wait_for_timeout(LOOK_MS)


def icon(page: Page) -> str:
    """Return the address of the tab's icon."""
    return page.locator('link[rel="icon"]').get_attribute("href") or ""


def test_title_and_icon_count_what_waits(open_inbox: Callable[..., Page], site: ThrowawayServer) -> None:
    """Up with every ask, down with every answer; the icon is one that the server has."""
    page = open_inbox()
    asks = [site.agent().open(f"Question {number}?", ["Yes", "No"]) for number in range(10)]
    expect(page).to_have_title("(10) Assent")
    assert icon(page) == "/page/favicon-many.svg"
    for ask in asks[1:]:
        ask.withdraw()
    expect(page).to_have_title("(1) Assent")
    assert icon(page) == "/page/favicon-1.svg"
    assert page.request.get(icon(page)).ok
    asks[0].withdraw()
    expect(page).to_have_title("Assent")
    assert icon(page) == "/page/mark.svg"


def test_desktop_tells_who_looks_away_and_takes_it_back(
    open_inbox: Callable[..., Page], site: ThrowawayServer
) -> None:
    """A click leads to the ask; what was answered meanwhile disappears."""
    page = open_inbox('{"notify": true}')
    page.evaluate("isAway = true")
    first = site.agent().open("Which one?", ["Yes", "No"], body="A body that nobody else should read.")
    until(page, "told.length === 1")
    assert page.evaluate(TOLD) == [["Question, shop", "Which one?", False]]
    second = site.agent().open("And that?", ["Yes", "No"])
    until(page, "told.length === 2")
    second.withdraw()
    until(page, "told[1].isClosed")
    page.evaluate("told[0].onclick()")
    expect(page).to_have_url(f"{site.url}/#/inbox/shop/{first.ask_id}")
    assert page.evaluate("tones") == 0


@pytest.mark.parametrize(
    ("taste", "is_away"), [('{"notify": true}', False), ("{}", True)], ids=["looking", "switched-off"]
)
def test_nobody_is_told_who_looks_or_did_not_ask(
    open_inbox: Callable[..., Page], site: ThrowawayServer, taste: str, is_away: bool
) -> None:
    """The count in the tab is all."""
    page = open_inbox(taste)
    page.evaluate("(away) => { isAway = away; }", is_away)
    site.agent().open("Which one?", ["Yes", "No"])
    expect(page).to_have_title("(1) Assent")
    assert page.evaluate(TOLD) == []


def test_tone_sounds_once_for_what_comes_together(
    open_inbox: Callable[..., Page], site: ThrowawayServer
) -> None:
    """Only where somebody switched it on, and has touched the page."""
    page = open_inbox('{"sound": true}')
    page.mouse.click(5, 5)
    for number in range(3):
        site.agent().open(f"Question {number}?", ["Yes", "No"])
    until(page, "tones === 1")
    expect(page).to_have_title("(3) Assent")
    assert page.evaluate("tones") == 1
