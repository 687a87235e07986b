"""What the tests of the inbox do again and again: look at a card, wait until its keys count, read what became of it."""

from __future__ import annotations

from playwright.sync_api import Locator, Page, expect

__all__ = [
    "choose",
    "hold_the_beat",
    "let_the_beat_pass",
    "marked",
    "open_card",
    "send_button",
    "shorten_the_beat",
    "title_of_card",
]


# Keeps the timers of the beat, and no other, until the test lets them go.
_HOLD = """
(() => {
  const [begin, end] = [window.setTimeout, window.clearTimeout];
  const held = new Map();
  let [isHeld, last] = [true, 0];
  window.setTimeout = (act, ms, ...rest) => {
    if (ms !== 400 || !isHeld) return begin(act, ms, ...rest);
    last -= 1;
    held.set(last, act);
    return last;
  };
  window.clearTimeout = (timer) => (timer < 0 ? held.delete(timer) : end(timer));
  window.letBeatPass = () => {
    isHeld = false;
    held.forEach((act) => act());
  };
})();
"""

_SHORTEN = """
(() => {
  const begin = window.setTimeout;
  window.setTimeout = (act, ms, ...rest) => begin(act, ms === 400 ? 0 : ms, ...rest);
})();
"""


def hold_the_beat(page: Page) -> None:
    """Let keys count only after `let_the_beat_pass`, in what is loaded from now on."""
    page.add_init_script(_HOLD)


def shorten_the_beat(page: Page) -> None:
    """Let keys count at once, in what is loaded from now on: for a test that is not about the beat and has many cards."""
    page.add_init_script(_SHORTEN)


def let_the_beat_pass(page: Page) -> None:
    """Let the beat be over, at once."""
    page.evaluate("letBeatPass()")


def title_of_card(page: Page) -> Locator:
    """Return the title of the card that is open."""
    return page.locator("#t-ask")


def open_card(page: Page, title: str) -> Locator:
    """Wait until the card with this title is open and its keys count; return it."""
    expect(title_of_card(page)).to_contain_text(title)
    card = page.locator(".askframe.is-armed")
    expect(card).to_be_visible()
    return card


def send_button(page: Page) -> Locator:
    """Return the one button that sends."""
    return page.locator(".bar button[type=submit]")


def marked(page: Page) -> int:
    """Return how many options are marked."""
    return page.locator("form.ask input:checked").count()


def choose(page: Page, label: str) -> None:
    """Mark an option with the mouse."""
    page.locator("form.ask .choice").filter(has_text=label).locator("input").first.click()
