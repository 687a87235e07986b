"""Signing in, in a real browser: by the link that the server printed, by a token, and not by what is no longer good."""

import re
import select
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from assent.protocol.principal import Role
from assent.testing.server import ThrowawayServer
from tests.cli.shell import Shell
from tests.patience import PATIENCE
from tests.surfaces.page.browsing import (
    DESKTOP,
    PHONE,
    Mishaps,
    Theme,
    Viewport,
    axe,
    new_context,
    who,
)

__all__: list[str] = []

LINK = re.compile(r"(http://[^/\s]+)/sign-in#\S+")


class Served:
    """`assent serve` as a process, and windows on it."""

    def __init__(self, browser: Browser, said: str) -> None:
        found = LINK.search(said)
        assert found, said
        self.link, self.url = found[0], found[1]
        self.mishaps = Mishaps(self.url)
        self._browser = browser

    @contextmanager
    def window(self) -> Iterator[Page]:
        """Give an empty page of somebody who has not signed in."""
        context = new_context(self._browser, self.mishaps, theme="light", viewport=DESKTOP)
        yield context.new_page()
        context.close()


@pytest.fixture
def served(browser: Browser, tmp_path: Path) -> Iterator[Served]:
    """Give a server that a person started, with the link that it printed."""
    folder = tmp_path / "shop"
    folder.mkdir()
    shell = Shell(folder)
    process = shell.start("serve", "--port", "0", stdin=subprocess.DEVNULL)
    try:
        assert process.stdout is not None
        said, until = b"", time.monotonic() + PATIENCE
        while b"Ctrl-C stops it." not in said:
            left = max(0.0, until - time.monotonic())
            assert select.select([process.stdout], [], [], left)[0], said
            came = process.stdout.read1(65_536)  # type: ignore[attr-defined]  # a pipe has it
            assert came, process.communicate(timeout=PATIENCE)
            said += came
        given = Served(browser, said.decode())
        yield given
        assert given.mishaps.unpardoned == []
    finally:
        process.terminate()
        shell.finish(process)
        shell.close()


def wait_for_inbox(page: Page, url: str) -> None:
    """Wait until the page has gone on to the inbox, and whoever it belongs to is signed in."""
    page.wait_for_url(f"{url}/")
    assert who(page) == "ana"


def test_link_and_a_click_lead_to_the_inbox(served: Served) -> None:
    """The code is in no address from the first moment on, and the way back does not lead to it."""
    with served.window() as page:
        page.goto(served.link)
        button = page.get_by_role("button", name="Sign in", exact=True)
        expect(button).to_be_focused()
        assert page.url == f"{served.url}/sign-in"
        button.click()
        wait_for_inbox(page, served.url)
        page.go_back()
        assert "#" not in page.url
        page.goto("/")
        wait_for_inbox(page, served.url)  # whoever comes back stays signed in


def test_link_that_was_used_is_refused_with_a_sentence(served: Served) -> None:
    """The second who opens it learns why it is of no use, and how to get another."""
    with served.window() as first, served.window() as second:
        for page in (first, second):
            page.goto(served.link)
        first.get_by_role("button", name="Sign in", exact=True).click()
        wait_for_inbox(first, served.url)
        served.mishaps.pardon("status of 401")
        second.get_by_role("button", name="Sign in", exact=True).click()
        told = second.get_by_role("status")
        expect(told).to_contain_text("This link is no longer good")
        expect(told).to_contain_text("assent serve prints a new one")
        assert second.url == f"{served.url}/sign-in"
        assert second.evaluate("localStorage.length") == 0


def test_token_in_the_form_leads_to_the_inbox(stranger: Page, site: ThrowawayServer) -> None:
    """With the keyboard alone; the token stays in no field."""
    stranger.goto("/sign-in")
    field = stranger.get_by_label("paste a token")
    field.fill(site.token(Role.HUMAN, "ana"))
    field.press("Enter")
    wait_for_inbox(stranger, site.url)


def test_token_of_an_agent_is_refused_with_a_sentence(
    stranger: Page, site: ThrowawayServer, mishaps: Mishaps
) -> None:
    """Only a person signs in; the field is empty again, and nothing is kept."""
    mishaps.pardon("status of 401")
    stranger.goto("/sign-in")
    field = stranger.get_by_label("paste a token")
    field.fill(site.token(Role.AGENT, "coder"))
    field.press("Enter")
    expect(stranger.get_by_role("status")).to_contain_text("This token signs nobody in")
    expect(field).to_have_value("")
    assert (stranger.url, stranger.evaluate("localStorage.length")) == (f"{site.url}/sign-in", 0)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("viewport", [PHONE, DESKTOP], ids=["phone", "desk"])
def test_sign_in_page_is_open_to_everybody(stranger: Page, theme: Theme, viewport: Viewport) -> None:
    """Nothing that the rules for access find, and nothing that has to be scrolled to the side for."""
    stranger.goto("/sign-in")
    expect(stranger.get_by_role("heading", name="Sign in")).to_be_visible()
    assert axe(stranger) == []
    is_dark = stranger.evaluate("matchMedia('(prefers-color-scheme: dark)').matches")
    assert is_dark is (theme == "dark")
    assert stranger.evaluate("document.documentElement.scrollWidth") <= viewport[0]


def test_stranger_at_the_inbox_is_shown_the_way_in(
    window: Callable[..., Page], mishaps: Mishaps, site: ThrowawayServer
) -> None:
    """And sees nothing of any project."""
    site.agent().open("Which secret database?", ["A", "B"])
    mishaps.pardon("status of 401")
    page = window()
    page.goto("/")
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    assert who(page) == ""
    assert "secret database" not in page.content()


KEPT = """
async () => {
  const open = (request) => new Promise((done) => (request.onsuccess = () => done(request.result)));
  const keys = (await open(indexedDB.open("assent", 1))).transaction("keys").objectStore("keys");
  return [await open(keys.count()), localStorage.getItem("assent-session")];
}
"""


def test_signing_out_ends_the_session_and_forgets_its_key(page: Page, site: ThrowawayServer) -> None:
    """On the server, where whoever has a copy has nothing any more; and in the browser."""
    page.goto("/")
    expect(page.get_by_role("heading", name="Nothing waits for you")).to_be_visible()
    count, name = page.evaluate(KEPT)
    assert (count, len(name)) == (1, 64)
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    assert page.evaluate(KEPT) == [0, None]
    [session, _] = site.store.person().tokens()
    assert session.revoked_at is not None


def sign_in_with(page: Page, secret: str) -> None:
    """Sign in by pasting a token."""
    page.goto("/sign-in")
    page.locator("#token").fill(secret)
    page.locator("#token").press("Enter")
    expect(page.locator("#app")).to_be_visible()


def test_draft_is_neither_seen_nor_sent_by_the_next_one_at_this_device(
    page: Page, mishaps: Mishaps, site: ThrowawayServer
) -> None:
    """Signing out drops it; where somebody else signs in without that, it is not theirs, and waits for whoever wrote it."""
    mishaps.pardon("status of 401")
    ana, sam = (site.token(Role.HUMAN, name) for name in ("ana", "sam"))
    site.agent().open("Which secret fox?", free=True)
    kept = "JSON.stringify(Object.entries(localStorage))"
    field = page.locator("form.ask textarea")
    sign_in_with(page, ana)
    field.fill("the red one")
    sign_in_with(page, sam)
    expect(field).to_have_value("")
    expect(page.locator(".row")).not_to_contain_text("your draft")
    field.fill("the blue one")
    sign_in_with(page, ana)
    expect(field).to_have_value("the red one")
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    assert "the red one" not in page.evaluate(kept)
    assert "the blue one" in page.evaluate(kept)
    assert "#" not in page.url
