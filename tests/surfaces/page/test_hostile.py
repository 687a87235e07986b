"""A twentieth of the hostile texts, in every place that somebody else writes in: nothing runs, leaves, hides or is in the way.

All three hundred of them are one of the trials of `make torture`.
"""

from collections.abc import Callable
from pathlib import Path

import httpx2
import pytest
from playwright.sync_api import Page, expect

from assent.protocol.principal import Role
from assent.testing.server import ThrowawayServer
from tests.surfaces.page.browsing import PHONE, Mishaps, Viewport
from tests.surfaces.page.hostile_tour import Tour
from tests.surfaces.page.payloads import PAYLOADS, share_of
from tests.surfaces.page.planting import plant
from tests.surfaces.page.tripwire import Tripwire

__all__: list[str] = []

PLAIN_ONLY = {"task id", "topic name"}
"""Places that take letters, digits and a few signs, so that most texts never get there."""


def test_payloads_are_three_hundred_different_ones() -> None:
    """The count that is promised, and no padding in it; the shares are all of them."""
    assert len(set(PAYLOADS)) == len(PAYLOADS) >= 300
    assert [text for number in range(10) for text in share_of(number, 10)] == list(PAYLOADS)


def test_tripwire_notices_each_way_that_a_text_could_act(page: Page, mishaps: Mishaps) -> None:
    """Twin of the tests below: what they look for, done on purpose by a script that may do anything."""
    wire = Tripwire(page.context, mishaps)
    page.goto("/")
    expect(page.locator("#content")).to_be_visible()
    assert wire.look(page) == []
    for deed, told in (
        ("window.hacked = 1", "hacked"),
        ("Object.prototype.polluted = 1", "prototype"),
        ("root.appendChild(document.createElement('iframe'))", "element <IFRAME>"),
        ("root.firstElementChild.setAttribute('onclick2', '')", "attribute onclick2"),
        ("root.appendChild(document.createElement('a')).href = 'javascript:1'", "attribute href"),
        ("root.append('\\u202eturned')", "U+202E"),
        ("document.title = alert('seen')", "dialog: seen"),
        ("document.body.style.minWidth = '5000px'", "sideways"),
    ):
        page.evaluate(f"() => {{ const root = document.getElementById('root'); {deed}; }}")
        assert any(told in line for line in wire.look(page)), deed
    mishaps.clear()


@pytest.mark.parametrize("viewport", [(1440, 900), PHONE], ids=["desk", "phone"])
def test_hostile_text_everywhere_does_nothing_and_can_be_answered(
    window: Callable[..., Page], site: ThrowawayServer, mishaps: Mishaps, viewport: Viewport, tmp_path: Path
) -> None:
    """Every card, run and page with fifteen texts in it. At the desk one half of them, on the phone the other."""
    share = share_of(0 if viewport == PHONE else 1, 40)
    planted = plant(site, share, tmp_path)
    page = window(secret=site.token(Role.HUMAN, "ana"))
    tour = Tour(page, Tripwire(page.context, mishaps), planted)
    found = tour.walk(every=7)
    assert found == []
    assert tour.answered >= len(planted.asks) // 7
    reached = planted.fields + planted.tamed
    few = {place: count for place, count in reached.items() if count < 0.8 * len(share)}
    assert few.keys() <= PLAIN_ONLY, few


def test_half_a_character_never_reaches_the_page(page: Page, site: ThrowawayServer) -> None:
    """A lone surrogate is no text: the server refuses it, so no page has to draw it."""
    secret = site.token(Role.AGENT, "coder")
    with httpx2.Client(
        base_url=site.url, headers={"authorization": f"Bearer {secret}"}, trust_env=False
    ) as line:
        for text in (r"\ud800", r"half \udc00", r"\udbff\u0041"):
            body = f'{{"prompt": {{"title": "{text}", "fields": [{{"name": "q1", "free": true}}]}}}}'
            sent = line.post(
                "/projects/shop/asks", content=body.encode(), headers={"content-type": "application/json"}
            )
            assert sent.status_code == 400, sent.text
    page.goto("/")
    expect(page.get_by_text("Nothing waits for you")).to_be_visible()
