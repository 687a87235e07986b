"""The run board in a real browser: states as they change, commands with what came of them, and the output as it comes."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from playwright.sync_api import Locator, Page, expect

from assent.client.client import Client
from assent.protocol.run import Status
from assent.testing.server import ThrowawayServer
from tests.surfaces.page.boards import armed, press, state
from tests.surfaces.page.browsing import DESKTOP, PHONE, Viewport, axe
from tests.surfaces.page.driver import Driver

__all__: list[str] = []

RUN = "/#/runs/shop/r-1"
LONG_AGO = datetime(2024, 12, 28, 10, 0, tzinfo=UTC)
NARROW: Viewport = (320, 640)


@pytest.fixture
def ana(site: ThrowawayServer) -> Client:
    """Give somebody who steers from elsewhere."""
    return site.person("sam-k")


@pytest.fixture
def driver(site: ThrowawayServer) -> Iterator[Driver]:
    """Give a process that drives a run, in the middle of its first iteration."""
    with Driver(site) as made:
        assert made.says() == "1 haiku"
        yield made


def test_board_follows_a_run_that_a_process_drives(page: Page, site: ThrowawayServer, driver: Driver) -> None:
    """Iterations, the pause that waits for its iteration, and the end, without a reload."""
    page.goto("/#/runs")
    page.wait_for_url(
        re.compile(r"#/runs/shop/r-1$")
    )  # on a wide screen the first run is open from the start
    state(page, "running")
    expect(page.locator(".run-head h2")).to_have_text("Fix the tests")
    expect(page.locator(".run[aria-current] .run-sub")).to_contain_text("1 of 9")
    expect(page.locator(".run-words")).to_contain_text("Iteration 1 is running")
    driver.goes_on()
    assert driver.says() == "2 haiku"
    expect(page.locator(".run[aria-current] .run-sub")).to_contain_text("2 of 9")
    site.person("sam-k").pause("r-1")
    state(page, "pausing")
    expect(page.locator(".run-words")).to_contain_text("Iteration 2 is still running")
    driver.goes_on()
    state(page, "paused")
    expect(page.locator(".run-words")).to_contain_text("Paused by sam-k")
    site.person("sam-k").cancel("r-1")
    state(page, "cancelled")
    expect(page.locator(".steer")).to_have_count(0)
    expect(page.get_by_role("heading", name="Finished")).to_be_visible()


def test_key_before_the_beat_is_over_commands_nothing(
    page: Page, site: ThrowawayServer, driver: Driver
) -> None:
    """A keystroke that was meant for the run before this one must not pause this one, however many follow it."""
    with site.agent().run(run_id="r-2", title="Another") as other:
        next(other)
        page.goto("/#/runs/shop/r-2")
        armed(page)
        pressed, shown = page.evaluate(
            """() => new Promise((done) => {
              location.hash = "#/runs/shop/r-1";
              let [pressed, began] = [0, 0];
              const look = (now) => {
                const bar = document.querySelector('.run-body[data-run="r-1"] .steer');
                if (!bar) return void requestAnimationFrame(look);
                began ||= now;
                if (now - began > 1_000 || bar.classList.contains("is-armed")) return done([pressed, bar.className]);
                for (const key of ["p", "x"]) {
                  document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
                  pressed += 1;
                }
                requestAnimationFrame(look);
              };
              requestAnimationFrame(look);
            })"""
        )
        assert pressed > 4
        assert "is-arming" in shown  # the beat counts from the last of them
        armed(page)
        assert page.locator(".sure").count() == 0
        page.keyboard.press("p")
        state(page, "pausing")
        expect(page.locator(".talk")).to_have_count(1)
        assert site.person().find_run("r-2").status is Status.RUNNING
    driver.goes_on()


def test_board_without_a_run_says_how_one_begins(page: Page, site: ThrowawayServer) -> None:
    """And shows the first one as soon as it is there."""
    page.goto("/#/runs")
    expect(page.get_by_role("heading", name="No run yet")).to_be_visible()
    assert axe(page) == []
    with site.agent().run(run_id="r-1", title="The first") as run:
        next(run)
        expect(page.locator(".run-head h2")).to_have_text("The first")


def opened(page: Page) -> Iterator[Locator]:
    """Show one state of the board after the other, and give what is drawn then."""
    page.goto(RUN)
    armed(page)
    yield page.locator(".talk")
    page.get_by_role("button", name="Escalate").click()
    yield page.locator(".steer-form")
    page.get_by_role("button", name="Back").click()
    armed(page)
    page.get_by_role("button", name="Cancel").click()
    yield page.locator(".sure")


@pytest.mark.parametrize(
    ("theme", "viewport"), [("light", DESKTOP), ("dark", PHONE)], ids=["desktop", "phone"]
)
def test_axe_finds_nothing_on_the_board(page: Page, driver: Driver, ana: Client) -> None:
    """With talk, output, the open form and the second look, in both themes and sizes."""
    ana.pause("r-1")
    driver.prints("one\n\x1b[2Ktwo\n")
    page.goto("/#/runs")
    expect(page.locator(".run")).to_be_visible()
    assert axe(page) == []
    for shown in opened(page):
        expect(shown.first).to_be_visible()
        assert axe(page) == []


@pytest.mark.parametrize("viewport", [PHONE], ids=["phone"])
def test_phone_shows_the_list_then_one_run_and_leads_back(page: Page, driver: Driver, ana: Client) -> None:
    """One pane at a time; everything can be done by thumb."""
    page.goto("/#/runs")
    row = page.locator(".run")
    expect(row).to_be_visible()
    expect(page.locator(".run-body")).to_have_count(0)
    row.click()
    expect(page.locator(".run-head h2")).to_be_visible()
    expect(row).not_to_be_visible()
    press(page, "button", "Pause", "p")
    expect(page.locator(".run-body .tag").first).to_have_text("pausing")
    page.locator(".run-body").get_by_role("link", name="Runs").click()
    expect(row).to_be_visible()
    expect(row.locator(".tag")).to_have_text("pausing")
    assert ana.find_run("r-1").status is Status.PAUSED
    driver.goes_on()


@pytest.mark.parametrize("viewport", [NARROW], ids=["narrow"])
def test_nothing_scrolls_sideways_on_the_narrowest_screen(page: Page, site: ThrowawayServer) -> None:
    """Whatever an agent calls its run, and however long the lines are that it prints."""
    name = "a" * 190
    with site.agent().run(
        "issue", run_id="r-1", title=name, issue_id=name, model=name, branch="b" * 500
    ) as run:
        next(run)
        run.tell("x" * 5_000 + "\n")
        site.person().escalate("r-1", model="m" * 200, reason="r" * 500)
        for shown in opened(page):
            expect(shown.first).to_be_visible()
            assert page.evaluate("document.documentElement.scrollWidth") == NARROW[0]
            width = "(box) => box.scrollWidth - box.clientWidth"
            assert page.locator("#detail").evaluate(width) == 0
