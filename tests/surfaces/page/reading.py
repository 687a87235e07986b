"""What a text must read like on the page, and what can be read there as the browser draws it."""

from __future__ import annotations

import re

from playwright.sync_api import Page

from assent.protocol.display import display

__all__ = ["line_of", "lines_of", "marked", "read", "unfold", "words_of"]

_UNFOLD = "() => document.querySelectorAll('details:not([open]) > summary').forEach((each) => each.click())"


def marked(shown: str) -> str:
    """Return a text with the marks of the page, which have a frame instead of brackets."""
    return re.sub(r"<(U\+[0-9A-F]{4,6})>", r"\1", shown)


def lines_of(text: str) -> str:
    """Return a text as it reads where its lines are kept."""
    return marked(display(text))


def line_of(text: str) -> str:
    """Return a text as it reads where it stands in a line."""
    return marked(display(text, lines=False))


def words_of(text: str) -> str:
    """Return what is left of a text that is drawn as Markdown: its letters and signs, in their order."""
    return re.sub(r"[\s\[\]()*_`\\]", "", lines_of(text))


def read(page: Page, place: str) -> list[str]:
    """Return what can be read in each of the places, as the browser draws it."""
    texts: list[str] = page.locator(place).evaluate_all("(found) => found.map((each) => each.innerText)")
    return texts


def unfold(page: Page) -> None:
    """Open all that is folded."""
    page.evaluate(_UNFOLD)
