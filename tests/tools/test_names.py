"""What may differ between two runs of a page."""

from __future__ import annotations

import re

import pytest

from tools.names import Names
from tools.page import Page, pages
from tools.play import is_played

__all__: list[str] = []

PLAYED = [page for page in pages() if is_played(page)]


@pytest.mark.parametrize(
    ("yesterday", "today"),
    [
        ("begun 2026-11-16 23:59: 0 of 2", "begun 2026-11-17 00:00: 0 of 2"),
        ("at 2026-11-16 23:59:59 UTC: no", "at 2026-11-17 00:00:00 UTC: no"),
        ('"at": "2026-12-31T23:59:59.999Z"', '"at": "2027-01-01T00:00:00.001Z"'),
        ("### From 2026-11-16 review", "### From 2026-11-17 review"),
        ("asked 59 s ago", "asked 1 min ago"),
    ],
)
def test_pages_played_on_two_days_compare_equal(yesterday: str, today: str) -> None:
    assert Names().mask(yesterday) == Names().mask(today)


@pytest.mark.parametrize("page", PLAYED, ids=lambda page: page.name)
def test_no_page_that_is_played_depends_on_the_day(page: Page) -> None:
    shown = [block.text for block in page.blocks() if {"play", "output"} & block.words.keys()]

    assert re.findall(r"\d{4}-\d\d-\d\d.*", "\n".join(map(Names().mask, shown))) == []
