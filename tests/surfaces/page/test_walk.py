"""The walk-through page: a review as a whole, live while it goes on, and its report when it is over."""

import re
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from assent.protocol.error import NoAnswer, StillOpen
from assent.testing.server import ThrowawayServer
from tests.cli.reviews import DOCUMENT, ROUND_OF_FIVE, document_of, merged, merged_set
from tests.client.reviewing import reply_to, write_document
from tests.surfaces.page.browsing import Mishaps, Theme, Viewport, axe
from tests.surfaces.page.desk import Desk, come_to
from tests.surfaces.page.in_node import call

__all__: list[str] = []

NARROW: Viewport = (320, 640)


class Review:
    """A durable review that an agent goes on with after each answer of ana's."""

    def __init__(self, site: ThrowawayServer, document: Path, findings: Any, project: str = "shop") -> None:
        self._agent, self._ana = (
            site.agent("doc-review", project=project),
            site.person("ana", project=project),
        )
        self._document, self._findings = document, findings
        self.go_on()
        [ask] = self._agent.inbox()
        self.flow_id = str(ask.key).rpartition(":")[0]
        self.address = f"walk/{project}/{self.flow_id}"

    def go_on(self) -> None:
        """Drive it until it waits again, or is over."""
        with suppress(StillOpen, NoAnswer):
            self._agent.review(self._findings, document=self._document, durable=True, wait=0)

    @property
    def ask_id(self) -> str:
        """What is asked now."""
        [ask] = self._agent.inbox()
        return ask.ask_id

    def answer(self, reply: str = "") -> None:
        """Answer what is open, and go on."""
        [ask] = self._agent.inbox()
        self._ana.answer(ask.ask_id, reply or reply_to(ask.prompt.title))
        self.go_on()

    def decline(self) -> None:
        """Leave it."""
        self._ana.decline(self.ask_id, "not today")
        self.go_on()

    def finish(self) -> None:
        """Answer all that is left."""
        while self._agent.inbox():
            self.answer()


@pytest.fixture
def site(desk: Desk) -> ThrowawayServer:
    """Give the server of the desk, on which nothing waits."""
    return desk.site


@pytest.fixture
def page(desk: Desk) -> Page:
    """Give the page of the desk, which is loaded already."""
    return desk.page


@pytest.fixture
def mishaps(desk: Desk) -> Mishaps:
    """Give what goes wrong there."""
    return desk.mishaps


@pytest.fixture
def review(site: ThrowawayServer, tmp_path: Path) -> Review:
    """Give a review of five findings that waits for its first answer."""
    return Review(site, write_document(tmp_path, DOCUMENT), ROUND_OF_FIVE)


def test_page_follows_a_review_live_to_its_report(page: Page, review: Review) -> None:
    """Every answer moves it, whoever gave it and wherever; nothing is loaded anew by hand."""
    come_to(page, review.address)
    expect(page.get_by_text("Which way should it go?")).to_be_visible()
    steps = page.get_by_role("list", name="Findings of this walk-through")
    expect(steps.get_by_role("listitem")).to_have_text(["1 P0", "2 P1", "3 P1", "4 P2", "5 P2"])
    review.answer("A")
    expect(page.get_by_text("Finding 1 waits for a decision.")).to_be_visible()
    expect(steps.locator("[aria-current=step]")).to_have_text("1 P0")
    review.answer("B")
    expect(page.get_by_text("Others depend on finding 1: should they follow it?")).to_be_visible()
    review.answer("A")
    expect(page.get_by_text("Finding 2 waits for a decision.")).to_be_visible()
    expect(steps.get_by_role("listitem")).to_have_text(["1 Deferred", "2 P1", "3 P1", "4 P2", "5 Deferred"])
    expect(page.get_by_text("cascaded from The cache may not be needed")).to_be_visible()
    review.answer("A")
    expect(page.get_by_text("1 applied, 2 deferred, 2 to decide")).to_be_visible()
    review.finish()
    expect(page.get_by_role("heading", name="Walk-through finished")).to_be_visible()
    expect(page.get_by_text("2 applied, 3 deferred. 1 fix applied without a question.")).to_be_visible()
    expect(page.get_by_text("Verdict: Not ready.")).to_be_visible()
    headings = page.locator(".walk > .bucket h2")
    expect(headings).to_have_text(["Applied", "Deferred", "Coverage"])


def test_question_is_one_click_away(page: Page, review: Review) -> None:
    """It is answered in the inbox, like all others; from there the way back is as short."""
    review.answer("A")
    come_to(page, review.address)
    page.get_by_role("link", name="Answer it").click()
    expect(page).to_have_url(re.compile(rf"#/inbox/shop/{review.ask_id}$"))
    page.get_by_role("link", name="The whole walk-through").click()
    expect(page.get_by_text("Finding 1 waits for a decision.")).to_be_visible()


def test_preview_shows_what_one_word_would_do(page: Page, review: Review) -> None:
    """In the groups in which it would happen; what is recommended otherwise says so."""
    review.answer("C")
    come_to(page, review.address)
    expect(page.get_by_text("This is what will happen. Nothing of it has been done yet.")).to_be_visible()
    group = page.get_by_role("region", name="Appending to Open Questions (5):")
    expect(group.get_by_role("listitem")).to_have_count(5)
    expect(group.get_by_text("recommended: Apply")).to_have_count(3)
    review.answer("Cancel")
    expect(group).to_have_count(0)


def test_failures_come_first_in_the_report(page: Page, site: ThrowawayServer, tmp_path: Path) -> None:
    """A fix that did not work is not counted as applied."""
    document = write_document(tmp_path, document_of("one", "two"))
    review = Review(site, document, merged_set(merged("one"), merged("two")))
    review.answer("B")
    document.write_text(document_of("two"))
    review.answer("Proceed")
    come_to(page, review.address)
    first = page.locator(".walk > .bucket").first
    expect(first.get_by_role("heading")).to_have_text(re.compile(r"Failed \(1\)"))
    expect(first).to_contain_text("Apply failed: ")
    expect(page.get_by_text("1 applied.")).to_be_visible()


def test_review_that_was_left_says_so(page: Page, review: Review) -> None:
    """And that nothing was applied."""
    review.answer("A")
    come_to(page, review.address)
    review.decline()
    expect(page.get_by_role("heading", name="Walk-through left")).to_be_visible()
    expect(page.get_by_text("It was left: the last question was declined.")).to_be_visible()


def test_long_walk_is_a_bar(page: Page, site: ThrowawayServer, tmp_path: Path) -> None:
    """More than twenty pills are a wall; the words say what the bar shows."""
    names = [f"n{number}" for number in range(1, 31)]
    document = write_document(tmp_path, document_of(*names))
    review = Review(site, document, merged_set(*map(merged, names)))
    for reply in ("A", "A", "C"):
        review.answer(reply)
    come_to(page, review.address)
    expect(page.get_by_text("Finding 3 of 30: 1 applied, 1 skipped, 28 to decide")).to_be_visible()
    expect(page.locator(".stepbar rect.past")).to_have_count(2)
    assert axe(page) == []


def test_list_has_the_reviews_of_a_project_newest_first(
    page: Page, site: ThrowawayServer, tmp_path: Path
) -> None:
    """Those that wait and those that are over; where there is none, how to begin one."""
    Review(site, write_document(tmp_path, DOCUMENT), ROUND_OF_FIVE, "docs").finish()
    folder = tmp_path / "second"
    folder.mkdir()
    Review(
        site,
        write_document(folder, document_of("one", "two")),
        merged_set(merged("one"), merged("two")),
        "docs",
    )
    come_to(page, "walk/docs")
    rows = page.get_by_role("region", name="Walk-throughs").get_by_role("listitem")
    expect(rows).to_have_count(2)
    expect(rows.first).to_contain_text("waits for you")
    expect(rows.last).to_contain_text("Not ready")
    rows.last.get_by_role("link").click()
    expect(page.get_by_role("heading", name="Walk-through finished")).to_be_visible()


def test_place_without_a_review_says_so(page: Page, site: ThrowawayServer, mishaps: Mishaps) -> None:
    """An address that leads nowhere, and a project that has none."""
    mishaps.pardon("status of 404")
    site.agent(project="bare").open("Which?", ["A", "B"])
    come_to(page, "walk/bare")
    expect(page.get_by_role("heading", name="No walk-through yet")).to_be_visible()
    come_to(page, "walk/bare/review:nothing")
    expect(page.get_by_role("heading", name="There is no such walk-through")).to_be_visible()


def test_hidden_characters_of_findings_are_marks(page: Page, site: ThrowawayServer, tmp_path: Path) -> None:
    """In a title, a section and a report alike; nothing of them is read as markup."""
    evil = "<img src=x onerror=alert(1)> \u202eevil\u200b"
    document = write_document(tmp_path, document_of("one", "two"))
    review = Review(
        site, document, merged_set(merged("one", title=evil, section=evil), merged("two", title=evil))
    )
    review.answer("A")
    come_to(page, review.address)
    expect(page.locator(".walk .hostile").first).to_have_text("U+202E")
    review.answer("C")
    review.answer("C")
    expect(page.get_by_role("heading", name="Walk-through finished")).to_be_visible()
    expect(page.locator(".walk .hostile").first).to_have_text("U+202E")
    expect(page.locator(".walk img")).to_have_count(0)


@pytest.mark.parametrize(
    ("theme", "viewport"), [("dark", (1440, 900)), ("light", NARROW)], ids=["wide", "narrow"]
)
def test_walk_through_is_for_everybody_to_read(
    page: Page, review: Review, theme: Theme, viewport: Viewport
) -> None:
    """Nothing is found by axe under way, in the preview, in the report and in the list; nothing scrolls sideways."""
    for replies, words in (
        (["A", "B", "A"], "Finding 2 waits for a decision."),
        (["LFG the rest"], "The plan below waits for a yes."),
        (["Proceed"], "Verdict: Not ready."),
    ):
        for reply in replies:
            review.answer(reply)
        come_to(page, review.address)
        expect(page.get_by_text(words)).to_be_visible()
        assert axe(page) == [], (theme, words)
        assert page.evaluate("document.documentElement.scrollWidth") <= viewport[0]
        assert page.evaluate("document.querySelector('main').scrollWidth") <= viewport[0]
    come_to(page, "walk")
    expect(page.get_by_role("region", name="Walk-throughs")).to_be_visible()
    assert axe(page) == [], theme


PURE = """
import { fateOf, tally, tallyWords } from "/page/walk-steps.js";
import { countWords, planned } from "/page/walk-report.js";
import { reviewsOf } from "/page/walk-list.js";
import { isLooser } from "/page/settings-policy.js";
import { answerers } from "/page/settings-tokens.js";
import { readTaste } from "/page/taste.js";
export default ({ findings, reports, asks, levels, tokens, now, tastes }) => ({
  fates: findings.map(fateOf),
  tally: tally(findings),
  words: tallyWords(findings),
  planned: planned(findings).map(({ action, findings: each }) => [action, each.length]),
  counts: reports.map(countWords),
  reviews: reviewsOf(asks),
  looser: levels.map(([before, after]) => isLooser(before, after)),
  answerers: answerers(tokens, Date.parse(now)),
  tastes: tastes.map(readTaste),
});
"""


def test_sums_of_the_page_are_right(tmp_path: Path) -> None:
    """What the two pages count, sort and say, on cases that a browser seldom meets."""
    empty = {"applied": 0, "deferred": 0, "skipped": 0, "acknowledged": 0}
    key = "review:sha256:" + "a" * 64
    told = call(
        tmp_path,
        PURE,
        {
            "findings": [
                {"verb": "Applied", "failure": ""},
                {"verb": None, "failure": "Apply failed: no."},
                {"verb": "Deferred", "failure": "Append failed: no."},
                {"verb": None, "failure": "", "planned": "Skip"},
                {"verb": None, "failure": "", "planned": "Apply"},
            ],
            "reports": [
                {"counts": empty, "undecided": [], "fixes": []},
                {"counts": empty | {"applied": 2, "skipped": 1}, "undecided": [1, 2], "fixes": [1]},
            ],
            "asks": [
                {"project": "a", "key": f"{key}:4", "state": "open", "opened_at": "2026-01-01T10:00:00Z"},
                {"project": "b", "key": f"{key}:1", "state": "answered", "opened_at": "2026-01-01T11:00:00Z"},
                {
                    "project": "a",
                    "key": f"{key}:next:1",
                    "state": "open",
                    "opened_at": "2026-01-01T12:00:00Z",
                },
                {"project": "a", "key": "review:mine", "state": "open", "opened_at": "2026-01-01T13:00:00Z"},
                {"project": "a", "key": None, "state": "open", "opened_at": "2026-01-01T14:00:00Z"},
            ],
            "levels": [
                ["requires_approval", "automated"],
                ["automated", "requires_approval"],
                ["automated", "automated"],
                ["notify_and_proceed", "automated"],
            ],
            "tokens": [
                {"role": "human", "name": name, "expires_at": ends, "revoked_at": revoked}
                for name, ends, revoked in (
                    ("sam", "2026-02-01T00:00:00Z", None),
                    ("ana", "2026-02-01T00:00:00Z", None),
                    ("ana", "2026-03-01T00:00:00Z", None),
                    ("jo", "2026-02-01T00:00:00Z", "2026-01-01T00:00:00Z"),
                    ("old", "2025-02-01T00:00:00Z", None),
                )
            ]
            + [{"role": "agent", "name": "bot", "expires_at": "2026-02-01T00:00:00Z", "revoked_at": None}],
            "now": "2026-01-15T00:00:00Z",
            "tastes": [None, "{", "[]", '{"theme": "dark", "sound": "yes", "evil": 1}'],
        },
    )
    assert told["fates"] == ["Applied", "Failed", "Deferred", "", ""]
    assert told["words"] == "1 applied, 1 deferred, 1 failed, 2 to decide"
    assert told["planned"] == [["Apply", 1], ["Skip", 1]]
    assert told["counts"] == [
        "Nothing was applied, deferred or skipped",
        "2 applied, 1 skipped. 2 findings stay undecided. 1 fix applied without a question",
    ]
    assert [(each["project"], each["asks"], each["waits"]) for each in told["reviews"]] == [
        ("a", 2, 2),
        ("b", 1, 0),
    ]
    assert told["looser"] == [True, False, False, True]
    assert [each["name"] for each in told["answerers"]] == ["ana", "sam"]
    assert told["answerers"][0]["until"] == "2026-03-01T00:00:00Z"
    usual = {"theme": "system", "density": "roomy", "sound": False, "notify": False}
    assert told["tastes"] == [usual, usual, usual, usual | {"theme": "dark"}]
