"""The browser that the page is tested with: it draws, and what goes wrong in it does not go unnoticed."""

import asyncio
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from assent.testing.server import ThrowawayServer
from tests.surfaces.page.browsing import PHONE, Mishaps, SharedBrowser, Theme, Viewport, axe, who

__all__: list[str] = []

ELSEWHERE = "http://localhost:1/pixel.png"


def test_signed_in_page_shows_who_it_is(page: Page, site: ThrowawayServer, mishaps: Mishaps) -> None:
    """The fixture is what the tests of the page stand on: a person, at the inbox, with nothing in the address."""
    page.goto("/")
    mishaps.pardon("status of 401")
    assert page.evaluate("fetch('/whoami').then((reply) => reply.status)") == 401  # it was not signed
    assert who(page) == "ana"
    assert page.url == f"{site.url}/"


@pytest.mark.parametrize(
    ("deed", "told"),
    [
        ("console.error('It broke.')", "console: It broke."),
        ("setTimeout(() => { throw new Error('Nobody caught it.') })", "uncaught: Nobody caught it."),
        (f"new Image().src = '{ELSEWHERE}'", "violates the following Content Security Policy directive"),
        ("document.body.setAttribute('style', 'color: red')", "Content Security Policy"),
        ("document.body.setAttribute('onclick', 'x()')", "TrustedScript"),
        ("document.body.innerHTML = '<p>hi</p>'", "TrustedHTML"),
        ("document.title = eval('1')", "Content Security Policy"),
    ],
    ids=["console", "throw", "image", "style", "handler", "markup", "eval"],
)
def test_mishap_in_the_page_is_noted(stranger: Page, mishaps: Mishaps, deed: str, told: str) -> None:
    """Each of the faults that fail a test, planted in the page itself."""
    stranger.goto("/sign-in")
    mishaps.clear()
    run_in_page(stranger, deed)
    wait_until(stranger, lambda: any(told in line for line in mishaps.seen))
    assert any(told in line for line in mishaps.unpardoned), mishaps.seen
    mishaps.clear()


def run_in_page(page: Page, deed: str) -> None:
    """Run a script with the rights that the page's own have."""
    session = page.context.new_cdp_session(page)
    options = {"expression": f"setTimeout(() => {{ {deed} }})", "allowUnsafeEvalBlockedByCSP": False}
    session.send("Runtime.evaluate", options)
    session.detach()


def wait_until(page: Page, condition: Callable[[], bool]) -> None:
    """Let the browser speak until something is true; whoever called looks again."""
    for _ in range(200):
        if condition():
            return
        page.wait_for_timeout(25)


def test_request_that_leaves_the_site_is_noted(stranger: Page, mishaps: Mishaps) -> None:
    """A navigation is stopped by no policy, so it is noted by where it goes."""
    stranger.goto("/sign-in")
    mishaps.clear()
    with pytest.raises(Exception, match="ERR_"):
        stranger.goto(ELSEWHERE)
    assert f"left the site: {ELSEWHERE}" in mishaps.seen
    mishaps.clear()


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("viewport", [PHONE, (1440, 900)], ids=["phone", "desk"])
def test_window_is_as_the_test_asks(stranger: Page, theme: Theme, viewport: Viewport) -> None:
    """Theme and size are what the person has, not what the machine has."""
    stranger.goto("/sign-in")
    assert stranger.evaluate("matchMedia('(prefers-color-scheme: dark)').matches") is (theme == "dark")
    assert (stranger.evaluate("innerWidth"), stranger.evaluate("innerHeight")) == viewport


def test_text_has_a_size_and_a_shape(stranger: Page) -> None:
    """Without fonts everything is hidden, and every test of what is visible would pass or fail for nothing."""
    stranger.goto("/sign-in")
    box = stranger.get_by_role("heading", name="Sign in").bounding_box()
    assert box is not None
    assert box["height"] > 10
    expect(stranger.get_by_role("heading", name="Sign in")).to_be_visible()


def test_axe_finds_what_was_broken(stranger: Page) -> None:
    """Twin of every test in which it finds nothing: a field without a name, and grey on grey."""
    stranger.goto("/sign-in")
    stranger.evaluate("""() => {
      document.querySelector("label").remove();
      const faint = document.querySelector("main").appendChild(document.createElement("p"));
      faint.textContent = "faint";
      faint.style.color = "#777";
      faint.style.backgroundColor = "#666";
    }""")
    found = axe(stranger)
    assert {line.partition(" ")[0] for line in found} == {"label", "color-contrast"}


def test_loop_of_the_browser_is_in_nobodys_way(shared_browser: SharedBrowser) -> None:
    """Before, between and after the tests that take the browser, others run a loop of their own in the same thread."""
    for _ in range(2):
        with shared_browser.taken() as browser:
            context = browser.new_context()
            assert context in browser.contexts
            context.close()
        assert asyncio.run(asyncio.sleep(0, "done")) == "done"
