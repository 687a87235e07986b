"""Windows that tests use one after another: to open one takes the browser as long as to load the page in it.

Each test finds one as if nobody had used it: no cookie, nothing kept, no permission and no page of an earlier one.
"""

from __future__ import annotations

from collections import defaultdict

from playwright.sync_api import Browser, BrowserContext, StorageState

from tests.surfaces.page.browsing import Mishaps, Session, Theme, Viewport, keep_session, new_context

__all__ = ["Windows"]

_NOTHING: StorageState = {"cookies": [], "origins": []}


class Windows:
    """The windows of one process that nobody uses now."""

    def __init__(self) -> None:
        self._free: dict[tuple[str, Theme, Viewport], list[BrowserContext]] = defaultdict(list)

    def take(
        self, browser: Browser, mishaps: Mishaps, theme: Theme, viewport: Viewport, session: Session | None
    ) -> BrowserContext:
        """Return a window of this kind, with what its person has kept, in which mishaps are noted."""
        free = self._free[mishaps.origin, theme, viewport]
        if not free:
            return new_context(browser, mishaps, theme=theme, viewport=viewport, session=session)
        context = free.pop()
        context.set_storage_state(_NOTHING)
        if session is not None:
            keep_session(context, session)
        mishaps.watch(context)
        return context

    def give_back(self, context: BrowserContext, mishaps: Mishaps, theme: Theme, viewport: Viewport) -> None:
        """Take back what a test has used."""
        for page in context.pages:
            page.close()
        mishaps.unwatch(context)
        context.unroute_all(behavior="ignoreErrors")
        context.clear_permissions()
        self._free[mishaps.origin, theme, viewport].append(context)

    def close(self) -> None:
        """Close them all."""
        for free in self._free.values():
            for context in free:
                context.close()
