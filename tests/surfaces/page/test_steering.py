"""One run on the board: commands with what came of them, its output as it comes, its frames and its asks."""

import itertools
import re
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from playwright.sync_api import Page, Route, expect

from assent.client.client import Client
from assent.hub.hub import Hub
from assent.protocol.principal import Principal, Role
from assent.protocol.run import Status
from assent.storage.sqlite.store import SqliteStore
from assent.testing import FakeClock
from assent.testing.server import ThrowawayServer
from tests.surfaces.page.boards import press, state, talk
from tests.surfaces.page.browsing import Mishaps
from tests.surfaces.page.desk import Desk, come_to
from tests.surfaces.page.driver import Driver

__all__: list[str] = []

LONG_AGO = datetime(2024, 12, 28, 10, 0, tzinfo=UTC)
NUMBERS = itertools.count(1)


@pytest.fixture
def site(desk: Desk) -> ThrowawayServer:
    """Give the server of the desk."""
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
def run_id() -> str:
    """Give the name of a run that no other test has."""
    return f"r-{next(NUMBERS)}"


@pytest.fixture
def ana(site: ThrowawayServer) -> Client:
    """Give somebody who steers from elsewhere."""
    return site.person("sam-k")


@pytest.fixture
def driver(site: ThrowawayServer, run_id: str) -> Iterator[Driver]:
    """Give a process that drives the run, in the middle of its first iteration."""
    with Driver(site, run_id) as made:
        assert made.says() == "1 haiku"
        yield made


@pytest.mark.parametrize("how", ["button", "key"])
def test_run_is_paused_and_resumed_and_its_three_messages_are_shown(
    page: Page, driver: Driver, ana: Client, how: str, run_id: str
) -> None:
    """REQUEST, ACK and RESULT of each, the newest on top; the driver is bound by it."""
    come_to(page, f"runs/shop/{run_id}")
    press(page, how, "Pause", "p")
    state(page, "pausing")
    request, ack, result = talk(page)
    assert re.fullmatch(r"REQUEST \d\d:\d\d:\d\d\.\d{3} pause, by ana from this page", request)
    assert re.fullmatch(r"ACK \+\d+ ms received", ack)
    assert re.fullmatch(r"RESULT \+\d+ ms success: .*paused.*", result)
    assert ana.find_run(run_id).status is Status.PAUSED
    press(page, how, "Resume", "r")
    state(page, "running")
    expect(page.locator(".talk")).to_have_count(2)
    assert " resume, by ana from this page" in talk(page)[0]
    assert " pause, by ana" in talk(page, 1)[0]
    driver.goes_on()
    assert driver.says() == "2 haiku"


def test_enter_that_opens_the_escalation_does_not_also_send_it(
    page: Page, driver: Driver, run_id: str
) -> None:
    """Held down it stays in the field; without a model the default would be taken."""
    come_to(page, f"runs/shop/{run_id}")
    expect(page.locator(".steer.is-armed")).to_be_visible()
    page.locator("[data-control=escalate]").focus()
    page.keyboard.down("Enter")
    expect(page.get_by_label("Model")).to_be_focused()
    expect(page.locator(".steer-form [type=submit]")).not_to_have_attribute("aria-disabled", "true")
    for _ in range(5):
        page.keyboard.down("Enter")
    page.keyboard.up("Enter")
    expect(page.get_by_label("Model")).to_be_focused()
    expect(page.locator("#t-wire ~ *")).to_have_text("Nobody has steered this run.")
    driver.goes_on()
    assert driver.says() == "2 haiku"


@pytest.mark.parametrize("how", ["button", "key"])
def test_run_is_escalated_in_the_bar_with_model_and_reason(
    page: Page, driver: Driver, how: str, run_id: str
) -> None:
    """No dialog; letters that are typed there command nothing, and the next iteration has the model."""
    come_to(page, f"runs/shop/{run_id}")
    press(page, how, "Escalate", "e")
    expect(page.get_by_label("Model")).to_be_focused()
    assert page.locator("dialog[open]").count() == 0
    page.keyboard.type("sonnet-x")  # has an x in it
    page.keyboard.press("Tab")
    page.keyboard.type("it repeats itself")
    expect(page.locator(".steer-form [type=submit]")).not_to_have_attribute("aria-disabled", "true")
    page.keyboard.press("Enter")
    expect(page.locator(".steer-form")).to_be_visible()
    page.keyboard.press("Control+Enter")
    request, _, result = talk(page)
    assert "escalate to sonnet-x because it repeats itself, by ana from this page" in request
    assert "success" in result
    expect(page.locator(".run[aria-current] .run-sub")).to_contain_text("sonnet-x, escalated")
    driver.goes_on()
    assert driver.says() == "2 sonnet-x"


# Presses x in the very step in which the bar says that keys count.
_AT_ONCE = """
() => new MutationObserver((_, watching) => {
  if (!document.querySelector(".steer.is-armed [data-control=cancel]:not([aria-disabled])")) return;
  watching.disconnect();
  document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "x", bubbles: true, cancelable: true }));
}).observe(document.body, { subtree: true, childList: true, attributes: true })
"""


def test_key_counts_from_the_moment_the_page_says_so(page: Page, driver: Driver, run_id: str) -> None:
    """Not some time after it was drawn: a key that is pressed then was lost, and nobody was told."""
    page.evaluate(_AT_ONCE)
    come_to(page, f"runs/shop/{run_id}")
    expect(page.get_by_role("button", name="Keep it")).to_be_focused()
    page.keyboard.press("Escape")
    driver.goes_on()
    assert driver.says() == "2 haiku"


def test_escape_goes_to_what_was_opened_last_whatever_is_drawn_anew_meanwhile(
    page: Page, site: ThrowawayServer, driver: Driver, run_id: str
) -> None:
    """Another run begins, and the whole board is drawn: the question that is open in it still has its keys."""
    come_to(page, f"runs/shop/{run_id}")
    press(page, "key", "Cancel", "x")
    expect(page.get_by_role("button", name="Keep it")).to_be_focused()
    other = f"{run_id}-beside"
    with site.agent().run(run_id=other, max=1):
        expect(page.locator(f'.run[href$="/{other}"]')).to_be_visible()
        page.keyboard.press("Escape")
        expect(page.locator(".sure")).to_have_count(0)
    driver.goes_on()
    assert driver.says() == "2 haiku"


@pytest.mark.parametrize("how", ["button", "key"])
def test_run_is_cancelled_only_when_it_was_asked_again(
    page: Page, driver: Driver, ana: Client, how: str, run_id: str
) -> None:
    """Said no, or Escape, nothing happens; said yes, the run is over and what was said of it stays."""
    come_to(page, f"runs/shop/{run_id}")
    press(page, how, "Cancel", "x")
    expect(page.get_by_role("button", name="Keep it")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator(".sure")).to_have_count(0)
    assert ana.find_run(run_id).is_active
    press(page, how, "Cancel", "x")
    yes = page.get_by_role("button", name="Cancel it, for good")
    expect(yes).not_to_have_attribute("aria-disabled", "true")
    if how == "button":
        yes.click()
    else:
        page.keyboard.press("y")
    state(page, "cancelled")
    assert "cancel, by ana from this page" in talk(page)[0]
    assert ana.find_run(run_id).reason == "USER_CANCELLED"
    driver.goes_on()
    assert driver.says() == "aborted USER_CANCELLED"


def test_refused_command_says_why_and_shows_its_result(
    page: Page, driver: Driver, ana: Client, mishaps: Mishaps, run_id: str
) -> None:
    """Somebody else was a moment faster: RESULT failure with its code, and a sentence in the bar."""
    mishaps.pardon("409")

    def overtake(route: Route) -> None:
        ana.pause(run_id)
        route.continue_()

    page.route("**/control", overtake)
    come_to(page, f"runs/shop/{run_id}")
    press(page, "button", "Pause", "p")
    expect(page.get_by_role("alert")).to_contain_text("“pause” was refused")
    expect(page.locator(".talk")).to_have_count(2)
    assert "failure invalid_state : " in talk(page)[2].replace("invalid_state:", "invalid_state :")
    state(page, "pausing")
    driver.goes_on()


def test_command_whose_reply_was_lost_is_sent_again_and_happens_once(
    page: Page, driver: Driver, mishaps: Mishaps, run_id: str
) -> None:
    """It has an id of its own from the beginning."""
    mishaps.pardon("ERR_FAILED")

    def lose(route: Route) -> None:
        route.fetch()
        route.abort()

    page.route("**/control", lose)
    come_to(page, f"runs/shop/{run_id}")
    press(page, "button", "Pause", "p")
    expect(page.get_by_role("alert")).to_contain_text("Sent again, it happens once")
    page.unroute("**/control")
    page.get_by_role("button", name="Send again").click()
    expect(page.get_by_role("alert")).to_have_count(0)
    state(page, "pausing")
    results = page.locator(".talk .wire li b", has_text="RESULT")
    expect(results).to_have_count(2)  # the same one again, for whoever asked twice
    assert "paused" in page.locator(".talk").last.inner_text()
    driver.goes_on()


def test_output_comes_live_and_what_a_terminal_would_obey_is_a_mark(
    page: Page, driver: Driver, run_id: str
) -> None:
    """Nothing is obeyed, swallowed or run; the agent's text cannot leave its box."""
    come_to(page, f"runs/shop/{run_id}")
    expect(page.locator(".tail-none")).to_contain_text("appears here as it comes")
    driver.prints("reading\n\x1b[2J\x1b]0;owned\x07<img src=x onerror=alert(1)>\u202eback\n")
    tail = page.get_by_role("region", name="Output of the run")
    expect(tail).to_contain_text("reading")
    expect(tail).to_contain_text("<img src=x onerror=alert(1)>")
    assert tail.locator(".hostile").all_inner_texts() == ["ESC[2J", "U+001B", "U+0007", "U+202E"]
    assert tail.locator("img").count() == 0
    driver.prints("3 passed\n")
    expect(tail).to_contain_text("3 passed")
    expect(page.locator("#t-output")).to_contain_text("bytes, control characters shown as marks")


def test_output_follows_its_end_unless_somebody_reads_further_up(
    page: Page, driver: Driver, run_id: str
) -> None:
    """What is read stays where it is; one button leads to the end again."""
    driver.prints("".join(f"line {number}\n" for number in range(300)))
    come_to(page, f"runs/shop/{run_id}")
    tail = page.get_by_role("region", name="Output of the run")
    expect(tail).to_contain_text("line 299")

    def is_at_end() -> bool:
        return bool(tail.evaluate("(box) => box.scrollHeight - box.scrollTop - box.clientHeight < 24"))

    assert is_at_end()
    tail.evaluate("(box) => { box.scrollTop = 100; }")
    expect(page.get_by_role("button", name="To the end")).to_be_visible()
    driver.prints("one more\n")
    expect(tail).to_contain_text("one more")
    assert tail.evaluate("(box) => box.scrollTop") == 100
    page.get_by_role("button", name="To the end").click()
    expect(page.get_by_role("button", name="To the end")).to_have_count(0)
    assert is_at_end()
    driver.prints("and the last\n")
    expect(tail).to_contain_text("and the last")
    assert is_at_end()


def test_run_whose_driver_died_is_said_to_have_none(page: Page, driver: Driver, run_id: str) -> None:
    """In words; no event tells it, so the board looks by itself."""
    come_to(page, f"runs/shop/{run_id}")
    state(page, "running")
    driver.kill()
    expect(page.locator(".run-words")).to_contain_text("No live driver")
    expect(page.locator(".run[aria-current] .run-sub")).to_contain_text("no live driver")


def test_stale_run_says_for_how_long_it_was_silent_and_can_still_be_steered(
    page: Page, site: ThrowawayServer, run_id: str
) -> None:
    """Stale is how it is shown; commands still count."""
    hub = Hub(SqliteStore(site.store.path), FakeClock(LONG_AGO))
    try:
        # In a project of its own: in one where something happened today, nothing can have happened before.
        agent = Client(hub, "handbook", Principal(Role.AGENT, "coder"))
        run = agent.run(run_id=run_id, title="Nightly link check")
        run.__enter__()
        next(run)
        run.__exit__(KeyboardInterrupt, KeyboardInterrupt(), None)  # which leaves the run as it is
    finally:
        hub.close()
    come_to(page, f"runs/handbook/{run_id}")
    state(page, "stale")
    expect(page.locator(".run[aria-current] .run-sub")).to_contain_text("no live driver, silent for")
    press(page, "key", "Pause", "p")
    state(page, "paused")
    expect(page.locator(".run-words")).to_contain_text("Nobody drives it just now")


def test_ask_of_a_run_stands_beside_it_and_leads_to_the_inbox(
    page: Page, site: ThrowawayServer, driver: Driver, run_id: str
) -> None:
    """Live, and gone once it is answered."""
    come_to(page, f"runs/shop/{run_id}")
    state(page, "running")
    ask = site.agent().open("Which database?", ["PostgreSQL", "SQLite"], run_id=run_id)
    link = page.locator(".run-body a.row")
    expect(link).to_contain_text("Which database?")
    expect(page.locator(".run[aria-current] .run-sub")).to_contain_text("waits for an answer")
    assert link.get_attribute("href") == f"#/inbox/shop/{ask.ask_id}"
    site.person().answer(ask.ask_id, "2")
    expect(link).to_have_count(0)
    driver.goes_on()


def test_frames_of_a_run_are_nested_with_the_current_one_inside(
    page: Page, site: ThrowawayServer, run_id: str
) -> None:
    """Mode, issue, number, model and branch of each."""
    with site.agent().run("grind", run_id=run_id, filter="label:flaky", max=40, model="haiku") as run:
        next(run)
        with run.nested("issue", issue_id="shop-92", max=10, branch="fix/clock") as inner:
            next(inner)
            come_to(page, f"runs/shop/{run_id}")
            expect(page.locator(".run-head h2")).to_have_text("grind label:flaky")
            expect(page.locator(".frame .frame-top").first).to_contain_text("1 of 40")
            within = page.locator(".frame .frame")
            expect(within).to_contain_text("issue")
            expect(within).to_contain_text("shop-92")
            expect(within).to_contain_text("haiku · branch fix/clock")
            expect(page.locator(".run-words")).to_contain_text("Iteration 1 of issue shop-92 is running")


def test_names_that_an_agent_gave_are_shown_with_their_hidden_parts(
    page: Page, site: ThrowawayServer, run_id: str
) -> None:
    """A title cannot pass for another one, nor for markup."""
    hostile = "Deploy\u202e\u200b<b>done</b>"
    with site.agent().run(run_id=run_id, title=hostile, model="haiku") as run:
        next(run)
        come_to(page, f"runs/shop/{run_id}")
        for place in (page.locator(".run-head h2"), page.locator(".run[aria-current] .run-name")):
            expect(place).to_have_text("DeployU+202EU+200B<b>done</b>")
            assert place.locator("b").count() == 0


def test_run_that_is_not_there_is_said_not_to_be(page: Page, mishaps: Mishaps) -> None:
    """An old link leads to a sentence and a way on."""
    mishaps.pardon("404")
    come_to(page, "runs/shop/nobody")
    expect(page.get_by_role("heading", name="There is no such run")).to_be_visible()
