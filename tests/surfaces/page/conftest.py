"""What the tests of the page start from: a real browser, a site of one's own, and a window in which somebody is signed in.

`theme` and `viewport` are fixtures, so that a test sets them with parametrize.
"""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from playwright.sync_api import Browser, Page

from assent.protocol.principal import Role
from assent.testing import throwaway
from assent.testing.server import ThrowawayServer
from tests.surfaces.page.browsing import (
    DESKTOP,
    Mishaps,
    SharedBrowser,
    Theme,
    Viewport,
    a_browser,
    new_context,
    session_state,
)
from tests.surfaces.page.desk import Desk, SharedDesk

__all__ = [
    "agents",
    "browser",
    "desk",
    "mishaps",
    "page",
    "shared_browser",
    "shared_desk",
    "site",
    "stranger",
    "theme",
    "viewport",
    "window",
]


@pytest.fixture(scope="session")
def shared_browser() -> Iterator[SharedBrowser]:
    """Give the one browser of this process."""
    with a_browser() as shared:
        yield shared


@pytest.fixture
def browser(shared_browser: SharedBrowser) -> Iterator[Browser]:
    """Give the browser to one test; see `SharedBrowser`."""
    with shared_browser.taken() as browser:
        yield browser


@pytest.fixture(scope="session")
def shared_desk(shared_browser: SharedBrowser) -> Iterator[SharedDesk]:
    """Give the one desk of this process."""
    desk = SharedDesk()
    yield desk
    with shared_browser.taken():
        desk.clear_away()


@pytest.fixture
def desk(
    browser: Browser,
    shared_desk: SharedDesk,
    theme: Theme,
    viewport: Viewport,
    request: pytest.FixtureRequest,
) -> Iterator[Desk]:
    """Give a page that is loaded already, on a store in which nothing waits; a file's `page` and `site` can be its own."""
    with shared_desk.taken(browser, request, theme, viewport) as desk:
        yield desk


@pytest.fixture
def site() -> Iterator[ThrowawayServer]:
    """Give a server on a store of its own: `site.agent()` and `site.person()` speak to it."""
    with throwaway(project="shop") as store, ThrowawayServer(store) as server:
        yield server


@pytest.fixture
def theme() -> Theme:
    """Give what the person prefers: light or dark."""
    return "light"


@pytest.fixture
def viewport() -> Viewport:
    """Give how large the window is."""
    return DESKTOP


@pytest.fixture
def mishaps(site: ThrowawayServer) -> Iterator[Mishaps]:
    """Give the list of what went wrong in this test's windows; at its end it must be empty, but for what is pardoned."""
    noted = Mishaps(site.url)
    yield noted
    assert noted.unpardoned == []


@pytest.fixture
def window(
    browser: Browser, mishaps: Mishaps, theme: Theme, viewport: Viewport
) -> Iterator[Callable[..., Page]]:
    """Give a function that opens a window as nobody; with `secret=` as the person whose token that is."""
    opened = []

    def open_window(*, secret: str = "", **given: object) -> Page:
        state = session_state(mishaps.origin, secret) if secret else None
        context = new_context(browser, mishaps, theme=theme, viewport=viewport, storage_state=state, **given)
        opened.append(context)
        return context.new_page()

    yield open_window
    for context in opened:
        context.close()


@pytest.fixture
def stranger(window: Callable[..., Page]) -> Page:
    """Give an empty page of somebody who has not signed in."""
    return window()


@pytest.fixture
def page(window: Callable[..., Page], site: ThrowawayServer) -> Page:
    """Give an empty page of ana, who has signed in; `page.goto("/")` is the inbox."""
    return window(secret=site.token(Role.HUMAN, "ana"))


@pytest.fixture
def agents(site: ThrowawayServer) -> Iterator[ThreadPoolExecutor]:  # noqa: ARG001 - they are gone before it is
    """Give threads in which agents wait for what people answer."""
    pool = ThreadPoolExecutor(8)
    yield pool
    pool.shutdown(wait=False, cancel_futures=True)
