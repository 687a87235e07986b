"""Numbers in a real browser: the figures of a known day, drawn to the window, in words and as tables."""

import re
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from assent.protocol.principal import Role
from assent.testing.server import ThrowawayServer
from tests.surfaces.page.a_day import a_known_site
from tests.surfaces.page.browsing import DESKTOP, SharedBrowser, Theme, Viewport, axe
from tests.surfaces.page.desk import Desk, SharedDesk, come_to

__all__: list[str] = []

NARROW: Viewport = (320, 640)
ZOOMED: Viewport = (720, 450)
PLOTS = ("Asks per hour", "Time to answer, by kind", "Time agents spent waiting", "How asks ended")
OVERFLOWS = """() => [document.documentElement, ...document.querySelectorAll(".page, .plot")]
  .filter((box) => box.scrollWidth > box.clientWidth).map((box) => box.className)"""


@pytest.fixture(scope="module")
def known_desk(shared_browser: SharedBrowser) -> Iterator[SharedDesk]:
    """Give the desk of this file."""
    desk = SharedDesk(a_known_site)
    yield desk
    with shared_browser.taken():
        desk.clear_away()


@pytest.fixture
def desk(
    browser: Browser,
    known_desk: SharedDesk,
    theme: Theme,
    viewport: Viewport,
    request: pytest.FixtureRequest,
) -> Iterator[Desk]:
    """Give a page that is loaded already, on a store that stays as it is."""
    with known_desk.taken(browser, request, theme, viewport) as desk:
        yield desk


@pytest.fixture
def page(desk: Desk) -> Page:
    """Give its page."""
    return desk.page


@pytest.fixture
def numbers(page: Page) -> Page:
    """Give today's figures."""
    come_to(page, "numbers")
    expect(page.locator(".plot svg.drawn")).to_have_count(4)
    return page


def tile(page: Page, name: str) -> str:
    """Return the figure of a tile, and what stands under it."""
    return page.locator(".tiles > div", has_text=name).locator("dd").inner_text().replace("\n", " | ")


def table(page: Page, title: str) -> list[list[str]]:
    """Return the rows of the table behind a plot, unfolded by a click."""
    plot = page.locator(".plot", has=page.get_by_role("heading", name=title, exact=True))
    plot.get_by_text("As a table").click()
    rows = plot.locator("tbody tr")
    return [row.locator("th, td").all_inner_texts() for row in rows.all()]


def test_figures_are_those_of_the_day(numbers: Page) -> None:
    """Two wait, six were answered or declined, two ended without an answer."""
    assert tile(numbers, "Waiting now").startswith("2 | oldest 30 min")
    assert tile(numbers, "Median time to answer") == "1 min 30 s | nine in ten within 10 min; yesterday 1 min"
    assert tile(numbers, "Agents waited").startswith("1 h 23 min | over 10 asks")
    assert tile(numbers, "Asked today") == "10 | 4 answered, 2 declined, 2 without an answer, 2 open"


def test_each_plot_has_a_true_sentence_and_the_same_figures_as_a_table(numbers: Page) -> None:
    """What the eye sees can be read and heard."""
    said = [
        "No hour had more than 2 asks.",
        "People are fastest with gates (half within 20 s) and slowest with approvals (3 min).",
        "agent:coder waited longest: 36 min 40 s over 4 asks, 44 % of all waiting.",
        "Of 8 that ended, 4 were answered, 2 declined and 2 ended without an answer.",
    ]
    for title, sentence in zip(PLOTS, said, strict=True):
        plot = numbers.locator(".plot", has=numbers.get_by_role("heading", name=title, exact=True))
        expect(plot.get_by_text(sentence, exact=True)).to_be_visible()
        label = plot.get_by_role("img").get_attribute("aria-label")
        assert label is not None
        assert label.startswith(sentence)
    assert table(numbers, "Asks per hour")[-2:] == [
        ["11:00 to 12:00", "0", "0", "2"],
        ["12:00 to 13:00", "0", "2", "0"],
    ]
    assert table(numbers, "Time to answer, by kind") == [
        ["Gate", "1", "20 s", "20 s"],
        ["Question", "3", "1 min", "10 min"],
        ["Approval", "2", "3 min", "4 min"],
    ]
    assert table(numbers, "Time agents spent waiting") == [
        ["agent:coder", "4", "36 min 40 s"],
        ["agent:planner", "2", "30 min"],
        ["agent:deployer", "4", "16 min 20 s"],
    ]
    assert table(numbers, "How asks ended") == [
        ["Question", "2", "1", "2", "1"],
        ["Approval", "1", "1", "0", "0"],
        ["Confirm", "0", "0", "0", "1"],
        ["Gate", "1", "0", "0", "0"],
    ]


def test_week_counts_the_days_before_too(numbers: Page) -> None:
    """By its tab, which is a link of its own."""
    numbers.get_by_role("link", name="7 days").click()
    expect(numbers.get_by_role("heading", name="Asks per day")).to_be_visible()
    expect(numbers).to_have_url(re.compile(r"#/numbers/7$"))
    assert tile(numbers, "Asked in 7 days").startswith("12 | ")
    rows = table(numbers, "Asks per day")
    assert (len(rows), rows[-2:]) == (7, [["Mon 14 Jan", "2", "0", "0"], ["Tue 15 Jan", "6", "2", "2"]])


def test_plots_are_drawn_to_the_width_that_there_is_and_text_keeps_its_size(numbers: Page) -> None:
    """A phone shows the same letters, and not a smaller picture of them."""
    look = """(svg) => [svg.getBoundingClientRect().width, svg.parentElement.clientWidth,
      svg.viewBox.baseVal.width, parseFloat(getComputedStyle(svg.querySelector("text")).fontSize)]"""
    sizes = []
    for width in (1400, 390):
        numbers.set_viewport_size({"width": width, "height": 800})
        numbers.wait_for_function(
            """() => [...document.querySelectorAll(".plot svg.drawn")]
              .every((svg) => svg.viewBox.baseVal.width === svg.parentElement.clientWidth)"""
        )
        sizes.append(numbers.locator(".plot svg.drawn").first.evaluate(look))
    for drawn, place, box, letters in sizes:
        assert (round(drawn), box, letters) == (place, place, 12)
    assert sizes[0][1] > sizes[1][1]


def test_parts_of_a_bar_differ_without_colour(numbers: Page) -> None:
    """Solid, hatched, empty."""
    fills = {
        name: numbers.locator(f".plot svg.drawn rect.{name}").first.evaluate(
            "(box) => [getComputedStyle(box).fill, getComputedStyle(box).stroke !== 'none']"
        )
        for name in ("one", "two", "none")
    }
    assert fills["two"][0].startswith('url("#hatch")')
    assert (fills["two"][1], fills["none"][1], fills["one"][1]) == (True, True, False)
    assert fills["one"][0] != fills["none"][0]


@pytest.mark.parametrize(
    ("theme", "viewport"),
    [("light", DESKTOP), ("dark", NARROW), ("light", ZOOMED)],
    ids=["desktop", "narrow", "zoomed"],
)
def test_page_is_accessible_and_scrolls_one_way(numbers: Page, theme: Theme, viewport: Viewport) -> None:
    """In both themes, with every table unfolded."""
    for fold in numbers.get_by_text("As a table").all():
        fold.click()
    assert axe(numbers) == [], (theme, viewport)
    assert numbers.evaluate(OVERFLOWS) == []


class TestNew:
    """A store of its own, in which something happens."""

    @pytest.fixture
    def site(self) -> Iterator[ThrowawayServer]:
        """Give a server on a store whose figures are known; it is half past twelve there."""
        with a_known_site() as server:
            yield server

    @pytest.fixture
    def page(self, window: Callable[..., Page], site: ThrowawayServer) -> Page:
        """Give a page of ana's."""
        return window(secret=site.token(Role.HUMAN, "ana"))

    def test_new_ask_is_counted_without_a_reload(self, page: Page, site: ThrowawayServer) -> None:
        """Figures follow what happens."""
        page.goto("/#/numbers")
        waiting = page.locator(".tiles > div", has_text="Waiting now").locator("dd")
        expect(waiting).to_contain_text("2")
        site.agent("coder", project="edge").open("One more?", ["A", "B"])
        expect(waiting).to_contain_text("3")
        expect(
            page.get_by_text("The busiest hour was 12:00 to 13:00, with 3 asks; all of them still wait.")
        ).to_be_visible()


class TestNothing:
    """A store in which nothing happened."""

    @pytest.fixture
    def page(self, window: Callable[..., Page], site: ThrowawayServer) -> Page:
        """Give a page of ana's on an empty store."""
        return window(secret=site.token(Role.HUMAN, "ana"))

    def test_day_without_asks_says_so_kindly(self, page: Page) -> None:
        """No empty axes."""
        page.goto("/#/numbers")
        expect(page.get_by_role("heading", name="Nothing was asked today")).to_be_visible()
        expect(page.locator(".plot, .tiles")).to_have_count(0)
        assert axe(page) == []
