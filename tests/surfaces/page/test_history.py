"""History in a real browser: what ended and how, the event log, one run."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from assent.protocol.ask import Kind
from assent.protocol.principal import Role
from assent.testing import throwaway
from assent.testing.server import ThrowawayServer
from tests.surfaces.page.a_day import (
    HAPPENED,
    NOW,
    RUN,
    Happening,
    a_known_site,
    happen,
    new_clock,
    run_three_turns,
)
from tests.surfaces.page.browsing import DESKTOP, Mishaps, SharedBrowser, Theme, Viewport, axe
from tests.surfaces.page.desk import Desk, SharedDesk, come_to

__all__: list[str] = []

NARROW: Viewport = (320, 640)
MANY = 130
OVERFLOWS = """() => [document.documentElement, ...document.querySelectorAll(".page")]
  .filter((box) => box.scrollWidth > box.clientWidth).map((box) => box.className)"""
ENDED = [
    "Widen the window?",
    "Pin pillow?",
    "Ship <img src=x onerror=alert(1)>U+202EU+200B?",
    "Rotate the key",
    "Open port 5432",
    "Round half to even?",
    "Chunk 1 of 5",
    "Which fixture?",
    "Two languages?",
    "Keep the old SDK?",
]


@contextmanager
def a_past() -> Iterator[ThrowawayServer]:
    """Give a server on a store with a known past, in which a run has ended."""
    clock = new_clock(HAPPENED)
    with throwaway(project="checkout", clock=clock) as store:
        happen(store, clock, HAPPENED, NOW - timedelta(minutes=5))
        run_three_turns(store, clock, "ledger")
        clock.set(NOW)
        with ThrowawayServer(store) as server:
            yield server


@contextmanager
def a_busy_past() -> Iterator[ThrowawayServer]:
    """Give a server with more past than one page holds."""
    many = tuple(
        Happening(
            NOW - timedelta(minutes=MANY - number),
            "shop",
            "coder",
            Kind.QUESTION,
            f"Question #{number:03}",
            1.0,
        )
        for number in range(MANY)
    )
    with a_known_site(*many) as server:
        yield server


@pytest.fixture(scope="module")
def known_desk(shared_browser: SharedBrowser) -> Iterator[SharedDesk]:
    """Give the desk of this file."""
    desk = SharedDesk(a_past)
    yield desk
    with shared_browser.taken():
        desk.clear_away()


@pytest.fixture(scope="module")
def busy_desk(shared_browser: SharedBrowser) -> Iterator[SharedDesk]:
    """Give a desk with more past than one page holds."""
    desk = SharedDesk(a_busy_past)
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
def mishaps(desk: Desk) -> Mishaps:
    """Give what goes wrong there."""
    return desk.mishaps


def titles(page: Page) -> list[str]:
    """Return what the rows are about, from the top."""
    return page.locator("table.history .what > a").all_inner_texts()


def row(page: Page, title: str) -> Locator:
    """Return the row of an ask."""
    return page.locator("table.history tbody tr", has_text=title)


def search(page: Page, text: str) -> None:
    """Type into the page's search."""
    page.get_by_role("searchbox").fill(text)


def numbers_of(page: Page) -> list[int]:
    """Return the numbers of the events that are shown."""
    return [int(re.sub(r"\D", "", text)) for text in page.locator(".event-number").all_inner_texts()]


@pytest.fixture
def answers(page: Page) -> Page:
    """Give what has ended."""
    come_to(page, "history/answers")
    expect(row(page, "Widen the window?")).to_be_visible()
    return page


def test_what_ended_is_listed_last_end_first_with_who_how_and_how_long(answers: Page) -> None:
    """All that the store knows of it; what an agent wrote stands there with its hidden characters as marks."""
    assert titles(answers) == ["Post the difference?", *ENDED]
    cells = row(answers, "Open port 5432").locator("td").all_inner_texts()
    assert cells[0] == "09:32:00"
    assert cells[1].split("\n")[-1] == "Approval · edge · agent:deployer"
    assert cells[2].strip() == "rejected"
    assert cells[3:5] == ["ana", "python"]
    assert cells[5].split("\n") == ["terminal", "typed at a terminal"]
    assert cells[6] == "2 min"
    expect(row(answers, "Round half to even?").locator("[data-th=Ended]")).to_contain_text("Beta")
    expect(row(answers, "Ship").locator("[data-th=Ended]")).to_contain_text("Fix the caller instead.")
    expect(row(answers, "Widen").locator("[data-th=Who]")).to_have_text("nobody")
    expect(row(answers, "Widen").locator("[data-th=Ended]")).to_contain_text("counts as no")
    expect(row(answers, "Ship").locator(".hostile")).to_have_count(2)


def test_search_finds_by_any_part_and_says_how_far_it_looked(answers: Page) -> None:
    """By a reason, a person's word, a state."""
    search(answers, "caller handbook")
    expect(answers.locator("table.history tbody tr")).to_have_count(1)
    expect(answers.get_by_text("1 found in the last 11, which is all.")).to_be_visible()
    search(answers, "nowhere-to-be-found")
    expect(answers.get_by_role("heading", name="Nothing fits")).to_be_visible()
    search(answers, "")
    expect(answers.locator("table.history tbody tr")).to_have_count(11)


def test_kind_and_project_narrow_the_list(answers: Page) -> None:
    """Both are the server's to choose by, so that a page is full of what fits."""
    answers.get_by_role("combobox", name="Kind").select_option("approval")
    expect(answers.locator("table.history tbody tr")).to_have_count(2)
    answers.get_by_role("combobox", name="Project").select_option("checkout")
    expect(answers.get_by_role("heading", name="Nothing fits")).to_be_visible()
    answers.get_by_role("combobox", name="Kind").select_option("")
    expect(row(answers, "Pin pillow?")).to_be_visible()
    assert titles(answers) == ["Pin pillow?", "Round half to even?", "Which fixture?", "Keep the old SDK?"]


class TestNew:
    """A store of its own, in which something happens."""

    @pytest.fixture
    def site(self) -> Iterator[ThrowawayServer]:
        """Give a server with the same past."""
        with a_past() as server:
            yield server

    @pytest.fixture
    def mishaps(self, site: ThrowawayServer) -> Iterator[Mishaps]:
        """Give what goes wrong in its windows: nothing."""
        noted = Mishaps(site.url)
        yield noted
        assert noted.unpardoned == []

    @pytest.fixture
    def page(self, window: Callable[..., Page], site: ThrowawayServer) -> Page:
        """Give a page of ana's."""
        return window(secret=site.token(Role.HUMAN, "ana"))

    def test_new_end_is_offered_and_moves_nothing_by_itself(self, page: Page, site: ThrowawayServer) -> None:
        """The list stays where the eye is until somebody wants the newer ones."""
        page.goto("/#/history/answers")
        expect(row(page, "Widen the window?")).to_be_visible()
        person = site.person("bob", project="handbook")
        [waiting] = [ask for ask in person.inbox() if ask.prompt.title == "Which tone?"]
        person.answer(waiting.ask_id, "2")
        newer = page.get_by_role("button", name="1 newer: show")
        expect(newer).to_be_visible()
        assert "Which tone?" not in titles(page)
        newer.click()
        expect(row(page, "Which tone?")).to_be_visible()
        assert titles(page)[0] == "Which tone?"
        expect(newer).to_have_count(0)


class TestMany:
    """More than a page holds."""

    @pytest.fixture
    def desk(
        self,
        browser: Browser,
        busy_desk: SharedDesk,
        theme: Theme,
        viewport: Viewport,
        request: pytest.FixtureRequest,
    ) -> Iterator[Desk]:
        """Give the busy one."""
        with busy_desk.taken(browser, request, theme, viewport) as desk:
            yield desk

    def test_older_ones_are_loaded_page_by_page_without_gap_or_duplicate(self, page: Page) -> None:
        """Until there are no more, and then the button is gone."""
        come_to(page, "history/answers")
        rows, older = (
            page.locator("table.history tbody tr"),
            page.get_by_role("button", name="Load older ones"),
        )
        expect(rows).to_have_count(50)
        older.click()
        expect(rows).to_have_count(100)
        older.click()
        expect(rows).to_have_count(MANY)
        expect(older).to_have_count(0)
        assert titles(page) == [f"Question #{number:03}" for number in reversed(range(MANY))]

    def test_search_reads_on_by_itself_until_it_has_found_or_seen_all(self, page: Page) -> None:
        """The oldest one, which no page has shown yet."""
        come_to(page, "history/answers")
        expect(page.locator("table.history tbody tr")).to_have_count(50)
        search(page, "Question #000")
        expect(row(page, "Question #000")).to_be_visible()
        expect(page.get_by_text(f"1 found in the last {MANY}, which is all.")).to_be_visible()

    def test_log_is_read_from_its_end_and_says_how_far(self, page: Page) -> None:
        """Whoever wants more reads on; a search goes through all of it."""
        come_to(page, "history/log/shop")
        entries = page.locator(".event")
        expect(entries).to_have_count(100)
        head = numbers_of(page)[0]
        said = f"Read the events from {head} down to {head - 99}, {head - 100} are older."
        expect(page.get_by_text(said)).to_be_visible()
        page.get_by_role("button", name="Read older events").click()
        expect(entries).to_have_count(200)
        assert numbers_of(page) == list(range(head, head - 200, -1))
        search(page, "ask.opened question #000")
        expect(entries).to_have_count(1)
        expect(
            page.get_by_text(f"1 found; searched the events from {head} down to 1, which is all.")
        ).to_be_visible()


def test_event_of_the_log_opens_as_json_and_hides_nothing(page: Page) -> None:
    """Exactly what was written, with marks for what cannot be seen."""
    come_to(page, "history/log/handbook")
    search(page, "ask.opened ship")
    entry = page.locator(".event")
    expect(entry).to_have_count(1)
    expect(entry.locator("pre")).to_have_count(0)
    entry.locator("summary").click()
    shown = entry.get_by_role("region", name="as JSON")
    expect(shown).to_contain_text('"asker": "agent:planner"')
    expect(shown.locator(".hostile").first).to_have_text("U+202E")
    assert axe(page) == []


def test_number_of_an_event_leads_to_it_in_the_log(answers: Page) -> None:
    """It is open there, among its neighbours."""
    link = row(answers, "Pin pillow?").locator("[data-th=Event] a")
    number = link.inner_text()
    link.click()
    marked = answers.locator(".event[data-marked]")
    expect(marked).to_contain_text("ask.withdrawn")
    expect(marked.locator(".event-number")).to_contain_text(number)
    expect(marked.locator("pre")).to_contain_text("not needed any more")
    answers.get_by_role("button", name="To the newest").click()
    expect(answers.locator(".event[data-marked]")).to_have_count(0)


def test_run_is_told_from_its_start_to_its_end_with_its_links(page: Page) -> None:
    """Iterations with how long they took, the ask in it, what it was told to do."""
    come_to(page, "history/run")
    page.get_by_role("link", name=RUN).click()
    moments = page.locator(".moment-words")
    expect(moments).to_have_count(15)
    told = moments.all_inner_texts()
    assert told[0].startswith("agent:looper starts it (loop, up to 3 iterations)")
    assert (told[1], told[2]) == ("Iteration 1 took 10 s", "Iteration 2 took 15 s")
    assert told[3:5] == ["agent:looper asks: Post the difference?", "ana: Yes (python, declared)"]
    assert told[5:9] == [
        "ana sends REQUEST pause",
        "ACK pause",
        "RESULT pause: success: Loop paused at iteration 2",
        "ana paused it",
    ]
    assert told[-2:] == ["Iteration 3 took 10 s", "done: MAX_ITERATIONS"]
    expect(page.get_by_text("3 iterations, 1 ask", exact=True)).to_be_visible()
    expect(page.locator("h2.story .hostile")).to_have_count(2)
    page.locator(".moment").nth(3).get_by_role("link", name="the ask").click()
    expect(page.get_by_role("heading", name="Post the difference?")).to_be_visible()


def test_run_that_is_not_there_is_said_plainly(page: Page, mishaps: Mishaps) -> None:
    """No empty story."""
    mishaps.pardon("404")  # the reply that there is none is noted by the browser
    come_to(page, "history/run/ledger/run-nobody")
    expect(page.get_by_text("There is no such run.")).to_be_visible()


@pytest.mark.parametrize(
    ("theme", "viewport"), [("dark", DESKTOP), ("light", NARROW)], ids=["desktop", "narrow"]
)
def test_pages_are_accessible_and_scroll_one_way(page: Page, theme: Theme, viewport: Viewport) -> None:
    """Each of the three, in both themes."""
    shown = {
        "answers": ".table.history tbody tr",
        "log/handbook": ".event",
        f"run/ledger/{RUN}": ".moment",
        "run": ".chooser a",
    }
    for path, part in shown.items():
        come_to(page, f"history/{path}")
        expect(page.locator(part).first).to_be_visible()
        assert axe(page) == [], (path, theme, viewport)
        assert page.evaluate(OVERFLOWS) == [], (path, viewport)
