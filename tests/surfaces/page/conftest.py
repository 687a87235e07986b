"""What the tests of the page start from: a real browser, a site of one's own, and a window in which somebody is signed in.

`theme` and `viewport` are fixtures, so that a test sets them with parametrize.
"""

import socket
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from playwright.sync_api import Browser, BrowserContext, Page

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
    sign_in,
)
from tests.surfaces.page.desk import Desk, SharedDesk
from tests.surfaces.page.windows import Windows

__all__ = [
    "agents",
    "browser",
    "desk",
    "mishaps",
    "page",
    "port",
    "shared_browser",
    "shared_desk",
    "site",
    "stranger",
    "theme",
    "viewport",
    "window",
    "windows",
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


@pytest.fixture(scope="session")
def port() -> Iterator[int]:
    """Give the port of the sites of this process, one after another, which nobody else gets meanwhile."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as held:
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # a server may listen there beside it
        held.bind(("127.0.0.1", 0))
        yield held.getsockname()[1]


@pytest.fixture
def site(port: int) -> Iterator[ThrowawayServer]:
    """Give a server on a store of its own: `site.agent()` and `site.person()` speak to it."""
    with throwaway(project="shop") as store, ThrowawayServer(store, port=port) as server:
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


@pytest.fixture(scope="session")
def windows(shared_browser: SharedBrowser) -> Iterator[Windows]:
    """Give the windows of this process."""
    windows = Windows()
    yield windows
    with shared_browser.taken():
        windows.close()


@pytest.fixture
def window(
    browser: Browser,
    mishaps: Mishaps,
    windows: Windows,
    theme: Theme,
    viewport: Viewport,
    request: pytest.FixtureRequest,
) -> Iterator[Callable[..., Page]]:
    """Give a function that opens a window as nobody; with `secret=` as the person whose token that is.

    With anything else it is a window that no other test has used, nor will use.
    """
    failed = request.session.testsfailed
    shared: list[BrowserContext] = []
    own: list[BrowserContext] = []

    def open_window(*, secret: str = "", is_own: bool = False, **given: object) -> Page:
        session = sign_in(mishaps.origin, secret) if secret else None
        if given or is_own:
            context = new_context(browser, mishaps, theme=theme, viewport=viewport, session=session, **given)
            own.append(context)
        else:
            context = windows.take(browser, mishaps, theme, viewport, session)
            shared.append(context)
        return context.new_page()

    yield open_window
    if request.session.testsfailed > failed:
        own += shared
        shared = []
    for context in own:
        context.close()
    for context in shared:
        windows.give_back(context, mishaps, theme, viewport)


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
