"""A page that is loaded once for many tests: to load it takes ten times as long as to go to another place on it."""

from __future__ import annotations

from contextlib import ExitStack

from playwright.sync_api import Browser, Page, expect

from assent.protocol.principal import Role
from assent.testing import throwaway
from assent.testing.server import ThrowawayServer
from tests.surfaces.page.answering import shorten_the_beat
from tests.surfaces.page.browsing import DESKTOP, Mishaps, Theme, Viewport, new_context, session_state

__all__ = ["Desk", "SharedDesk", "come_to"]


# No word is kept, no field has the keys, and they do not rest: the next one finds the page as one that was just loaded.
_LEAVE = """
() => {
  document.activeElement?.blur();
  location.hash = "#/walk";
  dispatchEvent(new PointerEvent("pointerdown"));
  dispatchEvent(new PointerEvent("pointerup"));
  for (const name of Object.keys(localStorage)) if (name.startsWith("assent-draft")) localStorage.removeItem(name);
}
"""


class Desk:
    """A store with its server, and a page of ana's on it. The beat is over at once: no test of it is made here."""

    def __init__(self, browser: Browser, site: ThrowawayServer) -> None:
        self.site = site
        self.mishaps = Mishaps(site.url)
        state = session_state(site.url, site.token(Role.HUMAN, "ana"))
        self.context = new_context(
            browser, self.mishaps, theme="light", viewport=DESKTOP, storage_state=state
        )
        self.page = self.new_page()
        shorten_the_beat(self.page)
        self.page.goto("/#/walk")

    def new_page(self) -> Page:
        """Return one more page of ana's, with nothing loaded yet."""
        return self.context.new_page()

    def look_like(self, theme: Theme, viewport: Viewport) -> None:
        """Have a window of this size, and somebody who prefers this theme."""
        self.page.set_viewport_size({"width": viewport[0], "height": viewport[1]})
        self.page.emulate_media(color_scheme=theme)

    def tidy(self) -> None:
        """Let nothing wait any more, neither a person nor a request; forget what was typed, and leave the inbox."""
        for page in self.context.pages:
            if page is not self.page:
                page.close()
        self.page.unroute_all(behavior="ignoreErrors")
        store = self.site.store
        for ask in store.person("minder").inbox(all_projects=True):
            store.person("minder", project=ask.project).decline(ask.ask_id, "The test is over.")
        self.page.evaluate(_LEAVE)
        expect(self.page.locator("h1")).to_have_text("Walk-throughs")
        assert self.page.locator("dialog[open]").count() == 0


class SharedDesk:
    """The desk of a process: made when it is first wanted, and anew after a test that failed at it."""

    def __init__(self) -> None:
        self._made: Desk | None = None
        self._stack = ExitStack()

    def sit_down(self, browser: Browser) -> Desk:
        """Give the desk."""
        if self._made is None:
            store = self._stack.enter_context(throwaway(project="shop"))
            site = self._stack.enter_context(ThrowawayServer(store))
            self._made = Desk(browser, site)
            self._stack.callback(self._made.context.close)
        return self._made

    def clear_away(self) -> None:
        """Have none any more."""
        self._made = None
        self._stack.close()


def come_to(page: Page, place: str = "inbox") -> None:
    """Go to a place behind the #, as a link there does: without loading the page anew."""
    page.evaluate("(place) => { location.hash = `#/${place}`; }", place)
