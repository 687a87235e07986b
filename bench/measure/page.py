"""The inbox page in a real browser: how soon it is there, how soon a new ask is, how it scrolls, how soon an answer arrives.

The floor of what is drawn is a page of as many plain rows without a script; that of what is sent are the same requests
by a program. Moments of the browser are read on its own clock, and set against ours by a few short questions.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from statistics import median

import httpx2
from playwright.sync_api import Browser, BrowserContext, Page, Route

from assent.client.client import Client
from assent.client.http.door import HttpDoor
from assent.protocol.principal import Principal, Role
from bench.figure import Figure, Reading
from bench.session import Session
from bench.workload import OPTIONS, PROJECT, TITLE
from tests.surfaces.page.browsing import Mishaps, a_browser, new_context, sign_in

__all__ = ["measure"]

_FIRST_PAINT = 1_000.0
_NEW_ASK = 100.0
_FRAME = 50.0
_DESK = (1440, 900)
_PATIENCE_SECONDS = 30.0
_QUESTIONS = 15
"""So many times both clocks are read; the shortest exchange counts."""

# Notes when frames of a socket come, when rows are drawn (and not only made), and when a button is pressed.
_WATCH = """
window.noted = { first: 0, heard: {}, drawn: {}, pressed: 0 };
window.WebSocket = class extends WebSocket {
  constructor(...given) {
    super(...given);
    this.addEventListener("message", ({ data }) => {
      const at = performance.now();
      const event = JSON.parse(data);
      if (event.type === "ask.opened") noted.heard[event.data.ask_id] ??= at;
    });
  }
};
const painted = (then) => requestAnimationFrame(() => {
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = () => then(performance.now());
  port2.postMessage(null);
});
new MutationObserver(() => {
  if (!noted.first && document.querySelector(".row")) {
    noted.first = 1;
    painted((at) => (noted.first = at));
  }
  for (const row of document.querySelectorAll(".row[data-ask]")) {
    const id = row.dataset.ask;
    if (id in noted.drawn) continue;
    noted.drawn[id] = 0;
    painted((at) => (noted.drawn[id] = at));
  }
}).observe(document, { childList: true, subtree: true });
addEventListener("click", () => (noted.pressed = performance.now()), true);
"""
_SCROLL = """
async () => {
  const list = document.querySelector(".rows");
  const frame = () => new Promise(requestAnimationFrame);
  await frame();
  const frames = [];
  for (let last = await frame(); list.scrollTop + list.clientHeight < list.scrollHeight - 1; ) {
    list.scrollTop += 240;
    const now = await frame();
    frames.push(now - last);
    last = now;
  }
  return frames;
}
"""
# Until a moment has been noted. Not playwright's own way to wait, which the page's policy forbids.
_AWAIT = """
([part, name]) => new Promise((resolve, reject) => {
  const until = performance.now() + 30_000;
  const look = () => {
    const at = name ? noted[part][name] : noted[part];
    if (at > 1) resolve(at);
    else if (performance.now() > until) reject(new Error(`${part} ${name} never came`));
    else setTimeout(look, 5);
  };
  look();
})
"""
_PLAIN = "<!doctype html><meta charset=utf-8><title>Plain</title><style>.rows{{height:90vh;overflow:auto}}.row{{display:block;padding:1rem}}</style><div class=rows>{}</div>"


def measure(session: Session) -> Iterator[Figure]:
    """Give every figure of the page."""
    session.begin("page")
    with ExitStack() as stack:
        served = session.start(stack, "served")
        address = served.call("address")
        served.call("open_many", count=session.scale.page_asks)
        shared = stack.enter_context(a_browser())
        desk = _Desk(session, stack.enter_context(shared.taken()), address)
        stack.callback(desk.close)
        yield from desk.first_paints()
        yield from desk.new_asks()
        yield from desk.scrolls()
        yield from desk.answers()


class _Desk:
    """A browser at our server, and an agent and a person who call it as programs."""

    def __init__(self, session: Session, browser: Browser, address: dict[str, str]) -> None:
        self._session, self._browser = session, browser
        self._url = f"http://127.0.0.1:{address['port']}"
        self._mishaps = Mishaps(self._url)
        self._signed = sign_in(self._url, address["person"])
        self._doors = [HttpDoor(self._url, address[role]) for role in ("agent", "person")]
        self._agent = Client(self._doors[0], PROJECT, Principal(Role.AGENT, "bench"))
        self._person = Client(self._doors[1], PROJECT, Principal(Role.HUMAN, "bench"))
        self._line = httpx2.Client(
            base_url=self._url, headers={"authorization": f"Bearer {address['person']}"}, trust_env=False
        )
        self._repetitions = session.scale.server_repetitions
        self._count = session.scale.page_asks

    def close(self) -> None:
        """Hang up."""
        self._line.close()
        for door in self._doors:
            door.close()

    def _context(self) -> BrowserContext:
        context = new_context(
            self._browser, self._mishaps, theme="light", viewport=_DESK, session=self._signed
        )
        context.add_init_script(_WATCH)
        return context

    def _open(self, page: Page, address: str = "/") -> float:
        """Go to the page; return the milliseconds until its first row was drawn."""
        page.goto("about:blank")
        page.goto(address)
        return self._noted(page, "first")

    def _noted(self, page: Page, part: str, name: str = "") -> float:
        at: float = page.evaluate(_AWAIT, [part, name])
        return at

    def _fetch(self) -> float:
        began = time.perf_counter()
        asks = self._line.get("/asks").raise_for_status().json()["asks"]
        assert len(asks) >= self._count
        return 1_000 * (time.perf_counter() - began)

    def _plain(self, page: Page) -> None:
        row = f'<a class=row data-ask=x href="#">Question · {PROJECT}<br>{TITLE}</a>'
        body = _PLAIN.format(row * self._count)

        def reply(route: Route) -> None:
            route.fulfill(content_type="text/html", body=body)

        page.route("**/plain", reply)

    def first_paints(self) -> Iterator[Figure]:
        """From the navigation to the first row, with nothing kept and with everything kept."""
        cold, warm, fetched, plain = [], [], [], []
        for _ in self._session.repetitions(self._repetitions):
            context = self._context()
            page = context.new_page()
            self._plain(page)
            cold.append(self._open(page))
            warm.append(self._open(page))
            fetched.append(self._fetch())
            plain.append(self._open(page, "/plain"))
            context.close()
        name = f"first row of {self._count}"
        yield _value(f"{name}, cold", cold, plain, _FIRST_PAINT, floor_name="plain")
        yield _value(f"{name}, warm", warm, plain, _FIRST_PAINT, floor_name="plain")
        yield _value(f"GET /asks, {self._count} of them", fetched, [], None)

    def new_asks(self) -> Iterator[Figure]:
        """From the agent's call, and from the frame on the socket, to the row on the screen.

        From the call's beginning: when it returns, the row may be drawn already.
        """
        context = self._context()
        page = context.new_page()
        self._open(page)
        page.wait_for_selector("form.ask")
        found: dict[tuple[str, str], list[float]] = {}
        for number in self._session.repetitions(self._repetitions):
            called, heard = [], []
            for draw in range(self._session.scale.page_draws):
                began = time.perf_counter()
                ask = self._agent.open(TITLE, OPTIONS, key=f"new-{number}-{draw}")
                drawn = self._noted(page, "drawn", ask.ask_id)
                called.append(drawn - self._moment(page, began))
                heard.append(drawn - self._noted(page, "heard", ask.ask_id))
            for name, times in (("call", called), ("frame", heard)):
                found.setdefault((name, "median"), []).append(median(times))
                found.setdefault((name, "worst"), []).append(max(times))
        context.close()
        for what, title in (
            ("call", "new ask drawn after open() was called"),
            ("frame", "new ask drawn after its event"),
        ):
            yield _value(f"{title}, median", found[what, "median"], [], None)
            yield _worst(f"{title}, worst", found[what, "worst"], [], _NEW_ASK)

    def _moment(self, page: Page, at: float) -> float:
        """Return a moment of ours on the page's clock."""
        best = (float("inf"), 0.0)
        for _ in range(_QUESTIONS):
            began = time.perf_counter()
            theirs: float = page.evaluate("performance.now()")
            ended = time.perf_counter()
            best = min(best, (ended - began, theirs - 500 * (began + ended)))
        return 1_000 * at + best[1]

    def scrolls(self) -> Iterator[Figure]:
        """From the top of the list to its end, a third of a screen a frame."""
        longest: dict[str, list[float]] = {"/": [], "/plain": []}
        context = self._context()
        page = context.new_page()
        self._plain(page)
        for number in self._session.repetitions(self._repetitions):
            for address in self._session.turns(number, list(longest)):
                self._open(page, address)
                if address == "/":
                    page.wait_for_selector("form.ask")
                frames: list[float] = page.evaluate(_SCROLL)
                longest[address].append(max(frames))
        context.close()
        title = f"scrolling {self._count} rows, longest frame"
        yield _value(title, longest["/"], longest["/plain"], _FRAME, floor_name="plain")

    def answers(self) -> Iterator[Figure]:
        """From the click on Send, or from a program's request, to the return of the agent who waits."""
        context = self._context()
        page = context.new_page()
        self._open(page)
        ours, floor = [], []
        for number in self._session.repetitions(self._repetitions):
            clicked, called = [], []
            for draw in range(self._session.scale.page_draws):
                ask = self._agent.open(TITLE, OPTIONS, key=f"sent-{number}-{draw}")
                waiter = _Waiter(self._agent, ask.ask_id)
                page.goto(f"/#/inbox/{PROJECT}/{ask.ask_id}")
                page.locator(f"form.ask:has(.facts .mono:text-is('{ask.ask_id}'))").wait_for()
                page.locator(".choice input").first.check()
                page.locator(".is-armed").wait_for()
                page.locator("form.ask button[type=submit]").click()
                woken = waiter.woken()
                clicked.append(self._moment(page, woken) - self._noted(page, "pressed"))
                other = self._agent.open(TITLE, OPTIONS, key=f"called-{number}-{draw}")
                waiter = _Waiter(self._agent, other.ask_id)
                began = time.perf_counter()
                self._person.answer(other.ask_id, "1")
                called.append(1_000 * (waiter.woken() - began))
            ours.append(median(clicked))
            floor.append(median(called))
        context.close()
        yield _value("click on Send to the agent's wake", ours, floor, None, floor_name="a program")


class _Waiter:
    """An agent that waits for one answer, in a thread of its own."""

    def __init__(self, agent: Client, ask_id: str) -> None:
        self._at = 0.0
        self._thread = threading.Thread(target=self._wait, args=(agent, ask_id), daemon=True)
        self._thread.start()

    def _wait(self, agent: Client, ask_id: str) -> None:
        agent.wait(ask_id, _PATIENCE_SECONDS)
        self._at = time.perf_counter()

    def woken(self) -> float:
        """Return when it woke."""
        self._thread.join(_PATIENCE_SECONDS)
        assert self._at, "Nobody told the agent."
        return self._at


def _value(
    name: str, ours: list[float], floor: list[float], goal: float | None, *, floor_name: str = "bare"
) -> Figure:
    return Figure("page", name, "ms", Reading.VALUE, ours, floor, goal=goal, floor_name=floor_name)


def _worst(name: str, ours: list[float], floor: list[float], goal: float | None) -> Figure:
    return Figure("page", name, "ms", Reading.WORST, ours, floor, goal=goal)
