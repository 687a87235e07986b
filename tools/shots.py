"""Takes the pictures of the page that the docs show: `make shots` writes docs/images/*.png.

A real server with a store that is filled by `tools/shots_world.py`, and a real Chromium that walks through it as a person
would. A picture is taken once what it must show is there, and a mishap on the way (an error on the console, a request
that leaves the site) ends the tour without writing it.

Rule 1: no picture is larger than `MAX_BYTES`: a clone carries them all.
Rule 2: `make docs` does not take them: letters are drawn otherwise on every machine. Look at them before you commit them.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import timedelta
from pathlib import Path

import msgspec
from playwright.sync_api import Browser, Page, Route, expect

from assent.protocol.principal import Role
from assent.testing.server import ThrowawayServer
from tests.surfaces.page.browsing import (
    PHONE,
    Mishaps,
    Session,
    Theme,
    Viewport,
    a_browser,
    new_context,
    sign_in,
)
from tools.page import ROOT
from tools.png import shrink
from tools.shots_hosts import a_shop
from tools.shots_world import ENDED, GRIND, NOW, PAUSED, World, a_world

__all__ = ["FOLDER", "MAX_BYTES", "Shot", "main", "names"]

FOLDER = ROOT / "docs" / "images"
MAX_BYTES = 150_000
DESK: Viewport = (1440, 900)

Act = Callable[[Page, World], None]


class Shot(msgspec.Struct, frozen=True):
    """One picture: where it is taken, and how one can tell that what it shows is there."""

    name: str
    at: str
    """The name of an ask or a review of the world; or the address behind the `#`, or a path."""
    awaits: str
    """A selector: the picture is taken once it is visible."""
    theme: Theme = "light"
    size: Viewport = DESK
    act: Act | None = None


def _mark(*labels: str) -> Act:
    def act(page: Page, _: World) -> None:
        expect(page.locator(".askframe.is-armed")).to_be_visible()
        for label in labels:
            page.locator("form.ask .choice").filter(has_text=label).locator("input").first.click()

    return act


def _lose(page: Page, world: World) -> None:
    """Send an answer that comes a moment after sam-k's."""
    project, ask_id = world.addresses["question"].split("/")[1:]

    def be_late(route: Route) -> None:
        world.person(project, "sam-k").answer(ask_id, "2")
        route.continue_()

    page.route("**/answer", be_late)
    _mark("UTC")(page, world)
    page.locator(".bar button[type=submit]").click()


ASK = ".askframe.is-armed"
OFFLINE = ".link:not(.link-none)"
EMPTY_SHOTS = (Shot("empty", "inbox", "#t-empty", "light"),)
BESIDE = Shot("beside", "approval", ASK)
"""Where somebody else looks meanwhile."""
SHOTS = (
    Shot("approval", "approval", f"{ASK} .ask-kind >> text=sam-k is looking", "dark"),
    Shot("question", "question", ASK, "light", act=_mark("The customer's own zone")),
    Shot("round", "round", ASK, "dark", act=_mark("Frankfurt", "Singapore")),
    Shot("gate", "gate", ASK, "light"),
    Shot("confirm", "confirm", ASK, "dark"),
    Shot("finding", "finding", f"{ASK} .walk-line li", "light"),
    Shot("open-question", "open-question", ASK, "dark"),
    Shot("runs", f"runs/checkout-api/{GRIND}", ".run-body .run-head", "dark"),
    Shot("run-paused", f"runs/edge-infra/{PAUSED}", ".run-body .run-head", "light"),
    Shot("history", "history/answers", ".page table tbody tr", "dark"),
    Shot("log", "history/log/checkout-api", ".page li, .page tr", "light"),
    Shot("timeline", f"history/run/checkout-api/{ENDED}", ".page ol", "dark"),
    Shot("numbers", "numbers/1", ".plot svg.drawn", "light"),
    Shot("settings", "settings/checkout-api", ".page table", "dark"),
    Shot("walk", "walk", ".walk", "dark"),
    Shot("report", "report", ".walk > .bucket", "light"),
    Shot("phone-inbox", "inbox", ".row", "dark", PHONE),
    Shot("phone-question", "question", ASK, "light", PHONE, _mark("The customer's own zone")),
    Shot("phone-approval", "approval", ASK, "dark", PHONE),
    Shot("phone-runs", "runs", ".run", "light", PHONE),
    Shot("phone-numbers", "numbers/1", ".plot svg.drawn", "dark", PHONE),
    Shot("lost", "question", ASK, "light", act=_lose),
)
PAPER: Viewport = (1120, 620)
HOST_SHOTS = (
    Shot("tool-call", "tool-call", ASK, "light", PAPER),
    Shot("draft", "draft", ASK, "light", PAPER),
    Shot("line", "line", ASK, "light", PAPER),
)
"""What frameworks and plain programs ask; in a store of their own."""
STRANGER = Shot("sign-in", "/sign-in", "form", "light")
GONE = Shot("offline", "gate", ASK, "dark")
SETTLING_MILLISECONDS = 600
"""What comes a moment later, as prose and presence do, is in the picture."""


class _Tour:
    """One walk through the site of a world, in windows of one person."""

    def __init__(
        self, browser: Browser, server: ThrowawayServer, world: World, session: Session | None
    ) -> None:
        self._browser, self._server, self._world, self._session = browser, server, world, session
        self._mishaps = Mishaps(server.url)
        self._mishaps.pardon("409")  # whoever comes late is told so

    @contextmanager
    def look(self, shot: Shot) -> Iterator[Page]:
        """Go where a picture is to be taken, and wait until all that it must show is there."""
        context = new_context(
            self._browser, self._mishaps, theme=shot.theme, viewport=shot.size, session=self._session
        )
        try:
            page = context.new_page()
            page.clock.set_fixed_time(NOW)
            at = shot.at
            page.goto(at if at.startswith("/") else f"/#/{self._world.addresses.get(at, at)}")
            expect(page.locator(shot.awaits).first).to_be_visible()
            if shot.act is not None:
                shot.act(page, self._world)
            yield page
        finally:
            context.close()

    def take(self, shot: Shot) -> None:
        """Take one picture, unless something went wrong on the way."""
        print(shot.name, flush=True)
        with self.look(shot) as page:
            page.wait_for_timeout(SETTLING_MILLISECONDS)
            small = shrink(page.screenshot(animations="disabled", caret="hide"))
        if self._mishaps.unpardoned:
            raise SystemExit("\n".join(self._mishaps.unpardoned))
        if len(small) > MAX_BYTES:
            raise SystemExit(f"{shot.name}.png would have {len(small)} bytes.")
        (FOLDER / f"{shot.name}.png").write_bytes(small)

    def lose_the_server(self, shot: Shot) -> None:
        """Take a picture of a page whose server has gone."""
        self._mishaps.pardon("")
        with self.look(shot) as page:
            self._server.stop()
            page.wait_for_timeout(SETTLING_MILLISECONDS)
            page.clock.set_fixed_time(
                NOW + timedelta(seconds=9)
            )  # a moment without a server is not spoken of
            expect(page.locator(OFFLINE)).to_be_visible()
            page.wait_for_timeout(SETTLING_MILLISECONDS)
            (FOLDER / f"{shot.name}.png").write_bytes(
                shrink(page.screenshot(animations="disabled", caret="hide"))
            )


def _sign_in(server: ThrowawayServer, name: str) -> Session:
    return sign_in(server.url, server.token(Role.HUMAN, name))


def names() -> set[str]:
    """Return how all pictures are called."""
    return {shot.name for shot in (*EMPTY_SHOTS, *SHOTS, *HOST_SHOTS, STRANGER, GONE)}


def _take_hosts(browser: Browser, folder: Path, shots: list[Shot]) -> None:
    with a_shop(folder) as world, ThrowawayServer(world.store) as server:
        tour = _Tour(browser, server, world, _sign_in(server, "ana"))
        for shot in shots:
            tour.take(shot)


def main() -> int:
    """Take all pictures, or those that are named."""
    FOLDER.mkdir(exist_ok=True)
    wanted = set(sys.argv[1:]) or names()
    with ExitStack() as stack:
        browser = stack.enter_context(stack.enter_context(a_browser()).taken())
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="ledger-")))
        hosts = [shot for shot in HOST_SHOTS if shot.name in wanted]
        if hosts:
            _take_hosts(browser, folder, hosts)
        if wanted <= {shot.name for shot in HOST_SHOTS}:
            return 0
        world = stack.enter_context(a_world(folder))
        server = stack.enter_context(ThrowawayServer(world.store))
        ana, sam = _sign_in(server, "ana"), _sign_in(server, "sam-k")
        tour = _Tour(browser, server, world, ana)
        for shot in (shot for shot in EMPTY_SHOTS if shot.name in wanted):
            tour.take(shot)
        world.fill()
        stack.enter_context(_Tour(browser, server, world, sam).look(BESIDE))
        for shot in (shot for shot in SHOTS if shot.name in wanted):
            tour.take(shot)
        if STRANGER.name in wanted:
            _Tour(browser, server, world, None).take(STRANGER)
        if GONE.name in wanted:
            tour.lose_the_server(GONE)
    return 0


if __name__ == "__main__":
    sys.exit(main())
