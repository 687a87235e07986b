"""The list under the hand: where it stands when a page is opened."""

import pytest
from playwright.sync_api import Page, expect

from assent.testing.server import ThrowawayServer
from tests.surfaces.page.answering import open_card
from tests.surfaces.page.browsing import Viewport

__all__: list[str] = []

TALL: Viewport = (1440, 1200)
SCROLLED = "() => [...document.querySelectorAll('.list *')].map((part) => part.scrollTop)"
LONG = "The newest of some questions whose title is so long that it takes two lines of the list, number"


@pytest.mark.parametrize("viewport", [TALL], ids=["tall"])
def test_list_of_a_page_that_was_opened_at_an_ask_begins_at_its_top(
    page: Page, site: ThrowawayServer
) -> None:
    """Rows are measured when they are looked at: that is no reason to hide those above the one that is open."""
    agent = site.agent()
    opened = agent.open("The oldest?", ["Yes", "No"])
    for number in range(6):
        agent.open(f"{LONG} {number}?", ["Yes", "No"])
    page.goto(f"/#/inbox/{agent.project}/{opened.ask_id}")
    open_card(page, "The oldest?")
    expect(page.locator(".row")).to_have_count(7)
    expect(page.locator(".row").first).to_be_in_viewport(ratio=1)
    assert max(page.evaluate(SCROLLED)) == 0
