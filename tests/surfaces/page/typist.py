"""Somebody who types prose while asks come and go under their hands, in several tabs, and what must not come of it.

They type into a field, or blindly onto a page that has just been drawn, with pauses for thought; meanwhile the ask that
they write to ends, is replaced or expires, others arrive, and the page is loaded anew. Now and then they answer something
on purpose. Whatever else is in the record under their name, they never said.
"""

from __future__ import annotations

import itertools
import random
import time
from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import msgspec
from playwright.sync_api import Browser, CDPSession, Locator, Page, expect

from assent.client.client import Handle
from assent.protocol.ask import Kind
from assent.protocol.principal import Role
from assent.protocol.prompt import Option
from assent.testing import throwaway
from assent.testing.clock import FakeClock
from assent.testing.server import ThrowawayServer
from tests.surfaces.page.browsing import (
    DESKTOP,
    Mishaps,
    a_browser,
    new_context,
    serve_without,
    sign_in,
)

__all__ = ["FAULTS", "TWINS", "Typing", "Typist", "keep_time", "sit_down", "sit_down_at"]

_TABS = 8
_TABS_OF_A_TWIN = 2
"""Enough to meet what is missing, and sooner."""
FAULTS = ("answers that nobody meant", "words lost", "errors on the page")
_PROSE = (
    "a bad batch\n yes all that arrived\n Data Dana and Billing stay\n but read 1 2 and 3 first\n by hand as a rule "
    "a yes\n a no\n Do not drop the old table yet\n because Checkout keeps a cursor on it\n Abort after that "
    "Yes\n I said it? by the way e.g. p/q"
)
"""With the letters of options, of a yes and of the page itself, and with lines that end."""
_TERSE = "a\n 1\n b\n 2\n y\n"
"""Lines that would be a mark and a send, were they keys."""
_ALL_KEYS = "a\n1\n" * 10
"""A word without a letter that means nothing to an ask with options."""
_WAYS = ("answered", "withdrawn", "replaced", "expired", "arrived", "reloaded")
"""What becomes of an ask while its field is typed in."""
_PRESSED = {"\n": ("Enter", "\r", 13), "\x1b": ("Escape", "", 27)}
_THINKS = 0.2
"""How often they pause for thought before some keys."""
_STIRS = 0.05
"""How often something else in the list changes after some keys."""
_FEW = 12
_AT_ONCE = 16
"""Keys that are sent before the browser has told of the first."""
_EXPIRES: dict[str, Any] = {"deadline": timedelta(seconds=30), "consequence": "deny"}
_OPTIONS = [Option("keep", "Keep it"), Option("drop", "Drop it", destructive=True)]

# A clock that moves when the test says so, and by 20 to 200 ms with each key, as its seed has it.
_CLOCK = """
(() => {
  let [now, last, chance] = [1_000, 0, SEED];
  const began = Date.now();
  const timers = new Map();
  const add = (act, ms, every, rest) => {
    last += 1;
    timers.set(last, { act, at: now + Math.max(0, ms || 0), every, rest });
    return last;
  };
  window.setTimeout = (act, ms, ...rest) => add(act, ms, 0, rest);
  window.setInterval = (act, ms, ...rest) => add(act, ms, Math.max(1, ms || 0), rest);
  window.clearTimeout = window.clearInterval = (timer) => void timers.delete(timer);
  performance.now = () => now;
  Date.now = () => began + now;
  Object.defineProperty(Event.prototype, "timeStamp", { get: () => now });
  window.passTime = (ms) => {
    const end = now + ms;
    for (;;) {
      const [due, timer] = [...timers].reduce((least, each) => (each[1].at < least[1].at ? each : least), [0, { at: Infinity }]);
      if (timer.at > end) break;
      now = Math.max(now, timer.at);
      if (timer.every) timer.at = now + timer.every;
      else timers.delete(due);
      timer.act(...timer.rest);
    }
    now = end;
  };
  const gap = () => {
    chance = (chance * 1_103_515_245 + 12_345) % 2_147_483_648;
    return 20 + Math.floor((chance / 2_147_483_648) * 181);
  };
  addEventListener("keydown", () => passTime(gap()), { capture: true });
})();
"""


class _Twin(msgspec.Struct, frozen=True):
    """A page that lacks one guard."""

    module: str
    given: str
    """The line that has the guard, and what stands there without it."""
    instead: str
    deed: str
    """What the typist does to meet it; nothing else is done."""
    shows: str
    text: str = _PROSE
    """The words that are typed then."""


TWINS = {
    "restless": _Twin(
        "keys.js",
        "  if (isResting || isLost || event.timeStamp < wokeAt) {",
        "  if (false) {",
        "_write_over_a_reload",
        FAULTS[0],
        _ALL_KEYS,
    ),
    "hasty": _Twin(
        "keys.js",
        "(beat.isRunningAt(event) && (isRest || !isTyping(event.target)))",
        "false",
        "_type_blindly",
        FAULTS[0],
        _ALL_KEYS,
    ),
    "wordless": _Twin(
        "keys.js",
        "  if (event.key.length === 1 && !wasEarly) for",
        "  if (false) for",
        "_type_beside",
        FAULTS[0],
    ),
    "sending": _Twin(
        "keys.js",
        "event.target.matches(WORDS)) event.preventDefault()",
        "false) {}",
        "_type_beside",
        FAULTS[0],
        "Data first\n",
    ),
    "remembering": _Twin(
        "reply.js",
        "  const isGrave =",
        "  return reply;\n  const isGrave =",
        "_come_back",
        FAULTS[0],
    ),
    "folding": _Twin("keys.js", "  if (!isIn()) {", "  if (true) {", "_write", FAULTS[1]),
}


def sit_down(keys: int, chance: random.Random, twin: str = "") -> Typing:
    """Type so many keys at eight tabs of a site of its own, whose page lacks the guard that the twin names."""
    clock = FakeClock()
    with (
        throwaway(project="shop", clock=clock) as store,
        ThrowawayServer(store) as site,
        a_browser() as shared,
        shared.taken() as browser,
    ):
        return sit_down_at(browser, site, clock, keys, chance, twin)


def sit_down_at(
    browser: Browser,
    site: ThrowawayServer,
    clock: FakeClock,
    keys: int,
    chance: random.Random,
    twin: str = "",
) -> Typing:
    """Do the same with a browser and a site that are there."""
    mishaps = Mishaps(site.url)
    session = sign_in(site.url, site.token(Role.HUMAN, "ana"))
    context = new_context(browser, mishaps, theme="light", viewport=DESKTOP, session=session)
    pages = [context.new_page() for _ in range(_TABS_OF_A_TWIN if twin else _TABS)]
    for page in pages:
        _unguard(page, twin)
        keep_time(page, chance)
    lacks = TWINS.get(twin)
    told = Typist(site, pages, chance, clock).type(keys, lacks)
    context.close()
    told.faults += [("errors on the page", mishap) for mishap in mishaps.unpardoned]
    return told


def keep_time(page: Page, chance: random.Random) -> None:
    """Let time pass in a page, from its next load on, by keys and by `passTime` alone."""
    page.add_init_script(_CLOCK.replace("SEED", str(chance.randrange(1, 1_000_000))))


def _unguard(page: Page, twin: str) -> None:
    """Give the page a module that lacks its guard; nothing for an empty name."""
    if not twin:
        return
    lacks = TWINS[twin]
    serve_without(page, lacks.module, lacks.given, lacks.instead)


def _key_event(character: str) -> dict[str, str | float]:
    code = ord(character.upper()) if character.isalnum() or character == " " else 0
    key, said, code = _PRESSED.get(character, (character, character, code))
    kind = "keyDown" if said else "rawKeyDown"
    return {
        "type": kind,
        "key": key,
        "text": said,
        "windowsVirtualKeyCode": code,
        "modifiers": 8 * character.isupper(),
    }


def _send(line: CDPSession, events: list[dict[str, str | float]]) -> None:
    """Press keys on each other's heels: a reply for each of them would take longer than the page does."""
    *first, last = events
    sending = [line._impl_obj.send("Input.dispatchKeyEvent", dict(event), None) for event in first]
    tasks = [line._loop.create_task(each) for each in sending]
    line.send("Input.dispatchKeyEvent", dict(last))
    assert all(task.done() for task in tasks)


class Typing(msgspec.Struct):
    """What was done, and what must not have happened."""

    counts: Counter[str]
    faults: list[tuple[str, str]]


class Typist:
    """One person at several tabs of one site, and the agents that ask them."""

    def __init__(
        self,
        site: ThrowawayServer,
        pages: list[Page],
        chance: random.Random,
        clock: FakeClock,
        *,
        is_real: bool = False,
    ) -> None:
        self._site, self._chance, self._clock, self._is_real = site, chance, clock, is_real
        self._lines: list[tuple[Page, CDPSession]] = [
            (page, page.context.new_cdp_session(page)) for page in pages
        ]
        self._agent, self._ana, self._sam = site.agent(), site.person("ana"), site.person("sam")
        self._text, self._beside = f"{_PROSE} {_TERSE} {_TERSE}", _PROSE
        self._words = (8, 20 if is_real else 40)
        """How many are typed at once."""
        self._read = 0
        self._open: dict[str, tuple[str, Handle]] = {}
        self._marked: list[str] = []
        self._shown: dict[Page, str] = {}
        self._pressed_at = 0.0
        """When the last key was pressed, in real time: by the hand that types, however late the machine takes it."""
        self._meant: set[str] = set()
        self._last = ""
        """What was done last, and the keys that were pressed in it."""
        self._numbers = (f"{chance.randrange(1_000_000)}.{number}" for number in itertools.count(1))
        self.told = Typing(Counter(), [])

    def type(self, keys: int, lacks: _Twin | None = None) -> Typing:
        """Go on until so many keys were pressed, or until it was seen that a guard is missing; return what came of it."""
        for _ in range(6):
            self._ask()
        for page, _ in self._lines:
            page.goto("/")
            expect(page.locator(".row").first).to_be_visible()
        deeds: tuple[tuple[Callable[[Page, CDPSession], None], int], ...] = (
            (self._write, 5),
            (self._type_blindly, 3),
            (self._type_beside, 2),
            (self._come_back, 3),
            (self._answer, 1),
        )
        if lacks is not None:
            self._words = (2, 6)
            deeds, self._beside, self._text = ((getattr(self, lacks.deed), 1),), lacks.text, lacks.text
        while self.told.counts["keys"] < keys:
            if lacks is not None and lacks.shows in {kind for kind, _ in self.told.faults}:
                break
            page, line = self._chance.choice(self._lines)
            [deed] = self._chance.choices([each for each, _ in deeds], [weight for _, weight in deeds])
            self._last = f"{deed.__name__}: "
            deed(page, line)
            expect(page.locator(".bar").get_by_text("Sending", exact=True)).to_have_count(0)
            self._judge()
            self._marked = [each for each in self._marked if each in self._open]
        return self.told

    # What they do

    def _write_over_a_reload(self, page: Page, line: CDPSession) -> None:
        """Write on when the page was loaded anew: the field has gone."""
        self._write(page, line, ("reloaded",))

    def _write(self, page: Page, line: CDPSession, ways: tuple[str, ...] = _WAYS) -> None:
        """Write into a field; meanwhile its ask ends, or the page is loaded anew, and they write on."""
        kind = self._chance.choice(("question", "confirm", "filter"))
        if kind == "filter":
            ask_id = self._go(page, self._chance.choice(("approval", "destructive", "confirm")))
            field = page.locator("#filter")
        else:
            ask_id = self._go(page, kind)
            field = page.locator("form.ask textarea")
        field.click()
        field.fill("")
        expect(field).to_be_focused()
        text = self._prose()
        half = self._chance.randrange(1, len(text))
        self._press(page, line, text[:half])
        how = self._chance.choice(ways)
        self.told.counts[how] += 1
        if how == "reloaded":
            page.reload()
        elif how == "arrived":
            self._ask()
        else:
            self._end(ask_id, how)
            # In the middle of it: some of the keys come before the page knows, and some after.
        self._press(page, line, text[half:], thinks=True)
        if how not in ("reloaded", "arrived"):
            expect(page.locator(".fate")).to_be_visible()
        self._press(page, line, more := self._prose(), thinks=True)
        if how != "reloaded":
            written = field.input_value() if field.count() else ""
            wanted = text + more
            if kind == "filter":  # one line
                wanted = wanted.replace("\n", "")
            if written != wanted:
                self.told.faults.append(
                    ("words lost", f"{kind} {how}: {wanted[-30:]!r} left {written[-30:]!r}")
                )
        self._leave(page)

    def _type_blindly(self, page: Page, line: CDPSession) -> None:
        """Type on, without a pause, where a page is drawn that they have not looked at."""
        self._go(page, self._chance.choice(("approval", "confirm", "destructive", "question")))
        self._leave(page)
        # In real time they are typing already when it is drawn.
        page.reload(wait_until="commit" if self._is_real else "load")
        self.told.counts["blind"] += 1
        if not self._is_real:
            expect(page.locator("#t-ask")).to_be_visible()
        self._press(page, line, self._prose() + self._prose())
        self._leave(page)

    def _type_beside(self, page: Page, line: CDPSession) -> None:
        """Type words where keys count already: they took the card for a field."""
        self._go(page, self._chance.choice(("approval", "confirm", "destructive", "question")))
        self.told.counts["beside"] += 1
        self._press(page, line, self._prose(self._beside))
        self._leave(page)

    def _come_back(self, page: Page, line: CDPSession) -> None:
        """Mark a yes and leave it; come back to one that was marked before, and press Enter."""
        kind, label = self._chance.choice(
            (("approval", "Approve"), ("confirm", "Yes, continue"), ("destructive", "Drop it"))
        )
        left = self._go(page, kind)
        self._choice(page, label).click()
        self._marked = [*self._marked, left][-20:]
        self._go(page, "question")
        self._show(page, self._chance.choice(self._marked))
        if self._chance.random() < 0.5:
            page.reload()
            self._settle(page)
        else:
            page.locator("#t-ask").click()
        self.told.counts["came back"] += 1
        self._press(page, line, "\n")
        if page.locator(".sure").count():
            self.told.faults.append(("answers that nobody meant", "a mark was remembered, and asked about"))
            page.locator(".sure button").first.click()

    def _answer(self, page: Page, line: CDPSession) -> None:
        """Answer on purpose, by pointer or by keys."""
        kind = self._chance.choice(("approval", "destructive"))
        ask_id = self._go(page, kind)
        self._meant.add(ask_id)
        if self._chance.random() < 0.5:
            self._choice(page, "Approve" if kind == "approval" else "Drop it").click()
            page.locator(".bar button[type=submit]").click()
        else:
            self._press(page, line, "a\n" if kind == "approval" else "b\n")
        if kind == "destructive":
            expect(page.locator(".sure")).to_be_visible()
            self._settle(page)
            page.locator(".sure .btn-danger").click()
        expect(page.locator(".fate")).to_contain_text("Accepted")
        self.told.counts["answers that were meant"] += 1
        self._open.pop(ask_id)

    # How

    def _prose(self, text: str = "") -> str:
        words = self._chance.choices((text or self._text).split(" "), k=self._chance.randrange(*self._words))
        return " ".join(words) + self._chance.choice((" ", ".\n", "!\n\n"))

    def _press(self, page: Page, line: CDPSession, text: str, *, thinks: bool = False) -> None:
        self._last += f"{text!r} at {self._shown.get(page)} "
        if self._is_real:
            self._press_by_hand(page, line, text, thinks=thinks)
            return
        rest = text
        while rest:
            if thinks and self._chance.random() < _THINKS:
                self._pause(page, self._chance.randrange(300, 3_000))
            count = self._chance.randrange(1, _AT_ONCE)
            _send(line, [_key_event(character) for character in rest[:count]])
            self.told.counts["keys"] += len(rest[:count])
            rest = rest[count:]
            if self._chance.random() < _STIRS:
                self._stir()

    def _press_by_hand(self, page: Page, line: CDPSession, text: str, *, thinks: bool) -> None:
        """Press a key every 20 to 200 ms. A machine that is held up gets them late, with the moments of the hand."""
        self._pressed_at = time.time()
        for character in text:
            if thinks and self._chance.random() < _THINKS / _AT_ONCE:
                self._pause(page, self._chance.randrange(300, 3_000))
                self._pressed_at = time.time()
            self._pressed_at += self._chance.randrange(20, 200) / 1_000
            if (early := self._pressed_at - time.time()) > 0:
                page.wait_for_timeout(early * 1_000)
            _send(line, [_key_event(character) | {"timestamp": self._pressed_at}])
            self.told.counts["keys"] += 1

    def _pause(self, page: Page, milliseconds: int) -> None:
        if self._is_real:
            page.wait_for_timeout(milliseconds)
        else:
            page.evaluate("(ms) => passTime(ms)", milliseconds)

    def _leave(self, page: Page) -> None:
        """Press somewhere harmless: what was typed is behind them."""
        if page.locator("dialog[open]").count():
            page.keyboard.press("Escape")
        if not page.url.partition("#")[2].startswith("/inbox"):
            page.goto("/#/inbox")
        page.locator("#filter").fill("")
        page.locator(".list-title").click()

    def _go(self, page: Page, kind: str) -> str:
        """Open an ask of a kind by its row, and wait until its keys count; return its id."""
        found = [ask_id for ask_id, (each, _) in self._open.items() if each == kind]
        ask_id = self._chance.choice(found) if len(found) > 1 else self._ask(kind)
        self._show(page, ask_id)
        return ask_id

    def _show(self, page: Page, ask_id: str) -> None:
        self._leave(page)
        self._shown[page] = ask_id
        page.locator(f'.row[data-ask="{ask_id}"]').click()
        expect(page.locator(f'.row[data-ask="{ask_id}"]')).to_have_attribute("aria-current", "true")
        self._settle(page)

    def _settle(self, page: Page) -> None:
        """Wait until the keys of the card count."""
        expect(page.locator("form.ask")).to_be_visible()
        armed = page.locator(".askframe.is-armed")
        for _ in range(200):  # the beat begins with a frame after the drawing
            if self._is_real or armed.count():
                break
            self._pause(page, 500)
        expect(armed).to_be_visible()

    @staticmethod
    def _choice(page: Page, label: str) -> Locator:
        return page.locator("form.ask .choice").filter(has_text=label).locator("input").first

    # What is asked of them

    def _ask(self, kind: str = "") -> str:
        kind = kind or self._chance.choice(("approval", "confirm", "destructive", "question"))
        title = f"{kind} {next(self._numbers)}"
        opens: dict[str, Callable[[], Handle]] = {
            "question": lambda: self._agent.open(title, key=title, **_EXPIRES),
            "destructive": lambda: self._agent.open(title, _OPTIONS, key=title),
            "confirm": lambda: self._agent.open(title, kind=Kind.CONFIRM, key=title),
            "approval": lambda: self._agent.open(title, ["Approve", "Reject"], kind=Kind.APPROVAL, key=title),
        }
        handle = opens[kind]()
        self._open[str(handle.ask_id)] = (kind, handle)
        return str(handle.ask_id)

    def _stir(self) -> None:
        """Let the list change under their hands: an ask arrives, or one that nobody marked ends."""
        others = [each for each in self._open if each not in {*self._marked, *self._shown.values()}]
        if len(others) < _FEW or self._chance.random() < 0.5:
            self._ask()
        else:
            self._sam.decline(ending := others[0], "not mine")
            self._open.pop(ending)
        self.told.counts["stirred"] += 1

    def _end(self, ask_id: str, how: str) -> None:
        kind, handle = self._open.pop(ask_id)
        if how == "expired" and kind == "question":
            self._clock.advance(timedelta(seconds=31))
            self._open = {each: found for each, found in self._open.items() if found[0] != "question"}
        elif how == "replaced":
            found = handle.ask
            prompt = msgspec.structs.replace(found.prompt, title=f"{kind} {next(self._numbers)}")
            terms = _EXPIRES if kind == "question" else {}
            again = self._agent.open(prompt, kind=found.kind, key=found.key, replace=True, **terms)
            self._open[str(again.ask_id)] = (kind, again)
        elif how == "answered":
            self._sam.decline(ask_id, "not mine")
        else:
            handle.withdraw()

    def _judge(self) -> None:
        """Look at what was said under their name since the last look."""
        for record in self._ana.log(self._read):
            self._read = record.sequence
            if record.type not in ("ask.answered", "ask.declined"):
                continue
            told = msgspec.json.decode(record.body or b"")
            end = told.get("answer") or told["outcome"]
            if end["by"] == "human:ana" and told["ask_id"] not in self._meant:
                self._open.pop(told["ask_id"], None)
                said = f"{record.type} of {told['ask_id']}: {end}, after {self._last}"
                self.told.faults.append(("answers that nobody meant", said))
