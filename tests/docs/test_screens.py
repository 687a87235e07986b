"""The screens on the pages are those that the terminal inbox draws: the kept ones, which it is compared with."""

import re

import pytest

from tests.surfaces.tui.sights import SCREENS
from tools.page import ROOT, pages

__all__: list[str] = []

SHOWN = re.compile(r"<!-- screen: (?P<name>[\w-]+) -->\n```text\n(?P<screen>.*?)```", re.DOTALL)
FOUND = [
    (page.name, found["name"], found["screen"]) for page in pages() for found in SHOWN.finditer(page.text)
]


@pytest.mark.parametrize(("page", "name", "screen"), FOUND, ids=[f"{page}-{name}" for page, name, _ in FOUND])
def test_screen_on_a_page_is_what_is_drawn(page: str, name: str, screen: str) -> None:
    """A picture of text that is out of date would be found by a reader otherwise."""
    assert screen == (SCREENS / f"{name}.txt").read_text(encoding="utf-8"), page


def test_page_of_the_terminal_inbox_shows_screens_of_three_sizes() -> None:
    """Twin of the test above: there is something to compare."""
    page = "docs/how-to/five-agents-one-terminal.md"
    assert (ROOT / page).is_file()
    sizes = {name.rpartition("-")[2] for where, name, _ in FOUND if where == page}
    assert sizes == {"120x36", "80x24", "40x12"}
