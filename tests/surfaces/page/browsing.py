"""A real browser for the tests of the page, and what is asked of everything that is shown in it.

Rule 1: what a person would find in the console, or never learn of, fails the test: see `Mishaps`.
Rule 2: nothing is weakened for a test: the page's own policy is in force, and what the tests look with comes in beside
        it, over the browser's own protocol.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

import httpx2
import msgspec
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Page,
    WebError,
    expect,
    sync_playwright,
)

from assent.surfaces.http.pack import pack_script
from tests.patience import PATIENCE
from tools.browser import NONE, look
from tools.node import find_node

__all__ = [
    "DESKTOP",
    "FLAGS",
    "PHONE",
    "Mishaps",
    "Session",
    "SharedBrowser",
    "Theme",
    "Viewport",
    "a_browser",
    "axe",
    "keep_session",
    "new_context",
    "serve_without",
    "sign_in",
    "who",
]

GIVEN = os.environ.get("ASSENT_BROWSER", "")  # now: for the tests themselves the variable is gone
PATIENCE_MILLISECONDS = 1_000 * int(PATIENCE)
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    # Nobody but this machine is there, whatever a page asks for.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
)

Theme = Literal["light", "dark"]
Viewport = tuple[int, int]
DESKTOP: Viewport = (1280, 800)
PHONE: Viewport = (390, 844)

_HERE = Path(__file__).parent
_AXE = _HERE / "data" / "axe.min.js"
_RULES = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22a", "wcag22aa", "best-practice")
# To say where something is takes axe as long as to find it: that is done only where something was found.
_RUN_AXE = """
async ([rules, part]) => {
  const options = { runOnly: { type: "tag", values: rules }, preload: false, resultTypes: ["violations"] };
  const look = (selectors) => axe.run(part ? { include: [part] } : document, { ...options, selectors });
  const passes = await look(false);
  const found = passes.violations.length ? await look(true) : passes;
  return {
    passes: passes.passes.length,
    violations: found.violations.map(({ id, impact, help, nodes }) => ({
      id, impact, help, places: nodes.map(({ target, failureSummary }) => [target.join(" "), failureSummary]),
    })),
  };
}
"""
_WHO = """
async () => {
  const { get } = (await import("/page/app.js")).module_api;
  return get("/whoami").then(({ name }) => name, () => "");
}
"""
# A key that no script can read is in no state that a browser could be given: the page's own code has to keep it.
_KEEP = """
async (signed) => await (await import("/page/sign-in.js")).module_session.keep(signed)
"""


class Mishaps:
    """What went wrong in a browser: errors on the console (a breach of the policy is one), uncaught errors of scripts,
    requests and sockets that left the site.
    """

    def __init__(self, origin: str) -> None:
        self.origin = origin
        self.seen: list[str] = []
        self._pardoned: list[str] = []
        self._hearing: dict[Any, Any] = {
            "console": self._hear,
            "weberror": self._fall,
            "request": lambda request: self._leave(request.url),
            "page": lambda page: page.on("websocket", lambda socket: self._leave(socket.url)),
        }

    def watch(self, context: BrowserContext) -> None:
        """Note what goes wrong in every page of a context."""
        for event, hear in self._hearing.items():
            context.on(event, hear)

    def unwatch(self, context: BrowserContext) -> None:
        """Note no more of it."""
        for event, hear in self._hearing.items():
            context.remove_listener(event, hear)

    def pardon(self, text: str) -> None:
        """Let pass what has this in it; a reply that refuses is an error on the console too."""
        self._pardoned.append(text)

    def clear(self) -> None:
        """Forget what was seen."""
        self.seen.clear()

    def forget(self) -> list[str]:
        """Begin anew, with nothing seen and nothing pardoned; return what would have failed the test."""
        told = self.unpardoned
        self.seen.clear()
        self._pardoned.clear()
        return told

    @property
    def unpardoned(self) -> list[str]:
        """What fails a test."""
        return [line for line in self.seen if not any(text in line for text in self._pardoned)]

    def _hear(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self.seen.append(f"console: {message.text} ({message.location['url']})")

    def _fall(self, error: WebError) -> None:
        self.seen.append(f"uncaught: {error.error}")

    def _leave(self, url: str) -> None:
        own, asked = urlsplit(self.origin), urlsplit(url)
        if asked.scheme in ("http", "https", "ws", "wss") and asked.netloc != own.netloc:
            self.seen.append(f"left the site: {url}")


class SharedBrowser:
    """A browser for all tests of a process, which only those that use it notice.

    Between two calls playwright's loop counts as the one that runs in this thread, and a test that wants a loop of its
    own could not have one. So the mark is on while a test has the browser, and off otherwise.
    """

    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        self._loop = asyncio.get_running_loop()
        self._put_aside()

    @contextmanager
    def taken(self) -> Iterator[Browser]:
        """Give the browser for as long as the block lasts."""
        asyncio._set_running_loop(self._loop)
        try:
            yield self._browser
        finally:
            self._put_aside()

    def _put_aside(self) -> None:
        asyncio._set_running_loop(None)


@contextmanager
def a_browser() -> Iterator[SharedBrowser]:
    """Start the browser that `make test` found, or one that is there already; it is closed at the end."""
    found = GIVEN or look()
    if not found or found == NONE:
        raise AssertionError(
            "The page is tested in a real Chromium, and none is here: `make test` fetches one."
        )
    os.environ.setdefault(
        "PLAYWRIGHT_NODEJS_PATH", find_node()
    )  # its own wants libatomic, which a bare machine lacks
    expect.set_options(timeout=PATIENCE_MILLISECONDS)
    driver = sync_playwright().start()
    shared = SharedBrowser(driver.chromium.launch(executable_path=found, args=list(FLAGS)))
    yield shared
    with shared.taken() as browser:
        browser.close()
        driver.stop()


class Session(msgspec.Struct, frozen=True):
    """What the page keeps of somebody who signed in."""

    session: str
    key: str


def sign_in(url: str, secret: str) -> Session:
    """Sign in with a token, as the page does; return what it is told."""
    reply = httpx2.post(f"{url}/sign-in", json={"token": secret}, headers={"origin": url}, trust_env=False)
    assert reply.status_code == 200, reply.text
    return msgspec.json.decode(reply.content, type=Session)


def keep_session(context: BrowserContext, session: Session) -> None:
    """Have whoever uses this window signed in, as from the page at which one signs in."""
    page = context.new_page()
    page.goto("/sign-in")
    page.evaluate(_KEEP, msgspec.to_builtins(session))
    page.close()


def who(page: Page) -> str:
    """Return the name of whoever is signed in on a page of the site, asked as the page itself asks; "" is nobody."""
    name: str = page.evaluate(_WHO)
    return name


def new_context(
    browser: Browser,
    mishaps: Mishaps,
    *,
    theme: Theme,
    viewport: Viewport,
    session: Session | None = None,
    **given: Any,
) -> BrowserContext:
    """Open a window that nobody has used, in which mishaps are noted and `goto("/")` is the site."""
    context = browser.new_context(
        **{
            "base_url": mishaps.origin,
            "color_scheme": theme,
            "viewport": {"width": viewport[0], "height": viewport[1]},
            "locale": "en-GB",
            "timezone_id": "UTC",
            "reduced_motion": "reduce",
            **given,
        }
    )
    context.set_default_timeout(PATIENCE_MILLISECONDS)
    if session is not None:
        keep_session(context, session)
    mishaps.watch(context)
    return context


def serve_without(page: Page, module: str, given: str, instead: str) -> None:
    """Give a page another text in one of its modules, from its next load on: for a twin that lacks a guard."""
    folder = Path(str(files("assent.surfaces.http"))) / "page"
    texts = {path.name: path.read_text(encoding="utf-8") for path in folder.glob("*.js")}
    assert given in texts[module], f"{module} no longer has the line: {given}"
    texts[module] = texts[module].replace(given, instead, 1)
    body = pack_script(texts, "app.js")
    page.route("**/page/app.js", lambda route: route.fulfill(content_type="text/javascript", body=body))


def axe(page: Page, part: str = "") -> list[str]:
    """Return what the rules of WCAG 2.0 to 2.2 (A and AA) and of good practice find wrong on a page, a line each.

    With `part` only that part of it is looked at: where the rest was looked at before.
    """
    if not page.evaluate("'axe' in window"):
        session = page.context.new_cdp_session(page)
        # Over the protocol, for the page's policy lets no script in, and is not to be weakened.
        loaded = session.send("Runtime.evaluate", {"expression": _AXE.read_text(encoding="utf-8")})
        session.detach()
        assert "exceptionDetails" not in loaded, loaded["exceptionDetails"]
    told = msgspec.convert(page.evaluate(_RUN_AXE, [list(_RULES), part]), _Found)
    assert told.passes, "axe looked at nothing."
    return [
        f"{violation.id} ({violation.impact}): {violation.help} | {place} | {' '.join(why.split())}"
        for violation in told.violations
        for place, why in violation.places
    ]


class _Violation(msgspec.Struct, frozen=True):
    id: str
    impact: str | None
    help: str
    places: list[tuple[str, str]]


class _Found(msgspec.Struct, frozen=True):
    passes: int
    violations: list[_Violation]
