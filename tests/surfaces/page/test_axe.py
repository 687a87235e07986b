"""The rules for access find nothing wrong: on no page, in neither theme, on no screen."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from assent.protocol.principal import Role
from assent.testing import throwaway
from assent.testing.server import ThrowawayServer
from tests.surfaces.page.browsing import PHONE, Mishaps, Theme, Viewport, axe
from tests.surfaces.page.furniture import furnish
from tests.surfaces.page.hostile_tour import PAGES

__all__: list[str] = []

DRAWN = {
    "inbox/": "form.ask h2, section.ask h2",
    "runs/": ".run-facts",
    "history/run/": "li.moment",
    "walk/": "#w-all",
}
DESK = (1440, 900)
LOOKS: tuple[tuple[Theme, Viewport], ...] = (("light", PHONE), ("dark", DESK))
"""Both themes and both sizes: colours differ with the one, places with the other."""


def visit(page: Page, place: str) -> None:
    """Go to a place behind the #, and wait until it is drawn."""
    page.evaluate("(place) => { location.hash = `#/${place}`; }", place)
    shown = PAGES.get(place) or next(shown for start, shown in DRAWN.items() if place.startswith(start))
    if place.startswith("inbox/"):
        shown = f".askframe:has(.facts .mono:text-is('{place.rpartition('/')[2]}'))"
    expect(page.locator(shown).first).to_be_visible()


def look_like(page: Page, theme: Theme, viewport: Viewport) -> None:
    """Have a window of this size, and somebody who prefers this theme."""
    page.set_viewport_size({"width": viewport[0], "height": viewport[1]})
    page.emulate_media(color_scheme=theme)


def test_page_of_a_full_store_has_nothing_that_axe_finds(
    page: Page, site: ThrowawayServer, tmp_path: Path
) -> None:
    """Every page, every kind of ask, every way to end, a run, its timeline, a walk-through, the help.

    A phone shows nothing but the card; at a desk the list beside it is the same for all cards, and looked at once.
    """
    places = {name: name for name in PAGES} | furnish(site, tmp_path).places
    assert len(places) >= 24, places
    page.goto("/")
    found = {}
    for name, place in places.items():
        for theme, viewport in LOOKS:
            look_like(page, theme, viewport)
            visit(page, place)
            is_known = viewport == DESK and place.startswith("inbox/")
            found[f"{name}, {theme}"] = axe(page, "#detail" if is_known else "")
    page.keyboard.press("?")
    expect(page.locator("dialog[open]")).to_be_visible()
    for theme, viewport in LOOKS:
        look_like(page, theme, viewport)
        found[f"help, {theme}"] = axe(page)
    assert {name: lines for name, lines in found.items() if lines} == {}


class TestNothing:
    """A store in which nothing happened, with a server that goes away."""

    @pytest.fixture
    def site(self) -> Iterator[ThrowawayServer]:
        """Give a server that the test may stop."""
        with throwaway(project="shop") as store, ThrowawayServer(store) as server:
            yield server

    def test_page_of_an_empty_store_has_nothing_that_axe_finds(
        self, page: Page, site: ThrowawayServer, mishaps: Mishaps
    ) -> None:
        """The states in which there is nothing to show, and the one in which the server is away."""
        page.goto("/")
        expect(page.locator("#content .list")).to_have_count(1)
        found = {}
        for place in (
            "inbox",
            "runs",
            "history/answers",
            "history/log",
            "history/run",
            "numbers/7",
            "settings",
            "walk",
        ):
            page.evaluate("(place) => { location.hash = `#/${place}`; }", place)
            expect(page.locator("#content h1")).to_have_count(1)
            expect(page.locator("#content [aria-busy=true]")).to_have_count(0)
            for theme, viewport in LOOKS:
                look_like(page, theme, viewport)
                found[f"{place}, {theme}"] = axe(page)
        for told in ("Failed to load", "WebSocket connection", "ERR_"):
            mishaps.pardon(told)
        site.stop()
        expect(page.get_by_text("Offline since")).to_be_visible()
        for theme, viewport in LOOKS:
            look_like(page, theme, viewport)
            found[f"offline, {theme}"] = axe(page)
        assert {name: lines for name, lines in found.items() if lines} == {}


def test_page_of_a_stranger_has_nothing_that_axe_finds(window: Callable[..., Page], mishaps: Mishaps) -> None:
    """The door, and the way in."""
    mishaps.pardon("status of 401")
    page = window()
    page.goto("/")
    expect(page.locator("h1")).to_be_visible()
    for theme, viewport in LOOKS:
        look_like(page, theme, viewport)
        assert axe(page) == [], theme


def test_axe_notices_a_card_whose_labels_are_gone(page: Page, site: ThrowawayServer) -> None:
    """Twin: the same look at a card in which something was broken on purpose."""
    ask = site.agent().open("Which words?")
    page.goto("/")
    visit(page, f"inbox/shop/{ask.ask_id}")
    page.evaluate("""() => {
      document.querySelectorAll("form.ask label").forEach((label) => label.remove());
      document.querySelector("form.ask textarea").removeAttribute("placeholder");  // it would do as a name
    }""")
    assert any(line.startswith("label") for line in axe(page))


def test_token_of_an_observer_is_refused_with_a_page_that_everybody_can_read(
    stranger: Page, site: ThrowawayServer, mishaps: Mishaps
) -> None:
    """Whoever only looks on is not let in by the page: its door takes people's tokens alone, and says so."""
    mishaps.pardon("status of 401")
    stranger.goto("/sign-in")
    field = stranger.get_by_label("paste a token")
    field.fill(site.token(Role.OBSERVER, "wall"))
    field.press("Enter")
    expect(stranger.get_by_role("status")).to_contain_text("This token signs nobody in")
    assert axe(stranger) == []
