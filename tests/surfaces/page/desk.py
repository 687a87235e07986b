"""A page that is loaded once for many tests: to load it takes ten times as long as to go to another place on it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager

import pytest
from playwright.sync_api import Browser, Page, expect

from assent.protocol.principal import Role
from assent.testing import throwaway
from assent.testing.server import ThrowawayServer
from tests.surfaces.page.answering import shorten_the_beat
from tests.surfaces.page.browsing import DESKTOP, Mishaps, Theme, Viewport, new_context, sign_in

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


# A page that is just loaded knows all that waits. One that was loaded long ago first hears of it.
_COME = """
async (place) => {
  const { module_api: { get }, module_live: { connect }, module_store: { getState } } = await import("/page/app.js");
  await connect();
  const { asks } = await get("/asks");
  while (!asks.every((ask) => getState().asks.has(ask.ask_id))) await new Promise(requestAnimationFrame);
  location.hash = `#/${place}`;
}
"""


class Desk:
    """A store with its server, and a page of ana's on it. The beat is over at once: no test of it is made here."""

    def __init__(self, browser: Browser, site: ThrowawayServer, *, is_kept: bool) -> None:
        self.site = site
        self._is_kept = is_kept
        self.mishaps = Mishaps(site.url)
        session = sign_in(site.url, site.token(Role.HUMAN, "ana"))
        self.context = new_context(browser, self.mishaps, theme="light", viewport=DESKTOP, session=session)
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
        waiting = [] if self._is_kept else store.person("minder").inbox(all_projects=True)
        for ask in waiting:
            store.person("minder", project=ask.project).decline(ask.ask_id, "The test is over.")
        self.page.evaluate(_LEAVE)
        expect(self.page.locator("h1")).to_have_text("Walk-throughs")
        assert self.page.locator("dialog[open]").count() == 0


class SharedDesk:
    """The desk of many tests: made when it is first wanted, and anew after a test that failed at it.

    With a `site` of yours everything in its store is left as it is.
    """

    def __init__(self, site: Callable[[], AbstractContextManager[ThrowawayServer]] | None = None) -> None:
        self._site = site or _an_empty_site
        self._is_kept = site is not None
        self._made: Desk | None = None
        self._stack = ExitStack()

    @contextmanager
    def taken(
        self, browser: Browser, request: pytest.FixtureRequest, theme: Theme, viewport: Viewport
    ) -> Iterator[Desk]:
        """Give the desk to one test; afterwards it is as it was before, and nothing went wrong at it."""
        failed = request.session.testsfailed
        desk = self._sit_down(browser)
        desk.look_like(theme, viewport)
        yield desk
        if request.session.testsfailed > failed:
            self.clear_away()
            return
        noted = desk.mishaps.forget()
        try:
            desk.tidy()
            assert noted == [], noted
        except BaseException:
            self.clear_away()
            raise

    def _sit_down(self, browser: Browser) -> Desk:
        if self._made is None:
            site = self._stack.enter_context(self._site())
            self._made = Desk(browser, site, is_kept=self._is_kept)
            self._stack.callback(self._made.context.close)
        return self._made

    def clear_away(self) -> None:
        """Have none any more."""
        self._made = None
        self._stack.close()


@contextmanager
def _an_empty_site() -> Iterator[ThrowawayServer]:
    with throwaway(project="shop") as store, ThrowawayServer(store) as server:
        yield server


def come_to(page: Page, place: str = "inbox") -> None:
    """Go to a place behind the #, as a link there does: without loading the page anew, but knowing as much."""
    page.evaluate(_COME, place)
