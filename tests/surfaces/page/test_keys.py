"""When a key may act (keys.js): not while its field has gone, not before the beat, and never for a typist."""

import random
import re
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from assent import Declined
from assent.protocol.ask import Kind, State
from assent.protocol.principal import Role
from assent.protocol.prompt import Option
from assent.testing import throwaway
from assent.testing.clock import FakeClock
from assent.testing.server import ThrowawayServer
from tests.patience import PATIENCE
from tests.proves import proves
from tests.surfaces.page.answering import (
    choose,
    marked,
    open_card,
    send_button,
    title_of_card,
)
from tests.surfaces.page.browsing import PHONE, Mishaps
from tests.surfaces.page.test_answering import answers_of
from tests.surfaces.page.typist import TWINS, Typist, keep_time, sit_down_at

__all__: list[str] = []

DROP = [Option("keep", "Keep it"), Option("drop", "Drop it", destructive=True)]
PROSE = "a yes\nb no\ny\n1\n2\nD C "
ROUNDS, KEYS = 2, 5_000


@pytest.fixture
def clock() -> FakeClock:
    """Give a clock that stands still."""
    return FakeClock()


@pytest.fixture
def site(clock: FakeClock) -> Iterator[ThrowawayServer]:
    """Give a server on a clock that the test moves."""
    with throwaway(project="shop", clock=clock) as store, ThrowawayServer(store) as server:
        yield server


def approval(site: ThrowawayServer, title: str) -> str:
    """Open an approval; return its id."""
    return str(site.agent().open(title, ["Approve", "Reject"], kind=Kind.APPROVAL).ask_id)


# A field that is typed in


@pytest.mark.parametrize("how", ["answered", "withdrawn", "expired", "replaced"])
def test_field_that_is_typed_in_outlives_its_ask(
    page: Page, site: ThrowawayServer, clock: FakeClock, how: str
) -> None:
    """It stays with its words and takes more; how the ask ended stands above it, and nothing can be sent any more."""
    approval(site, "Ship it?")
    handle = site.agent().open("Why?", key="why", deadline=timedelta(minutes=5), consequence="deny")
    sent = answers_of(page)
    page.goto("/")
    open_card(page, "Why?")
    field = page.locator("form.ask textarea")
    field.click()
    page.keyboard.type("because of ")
    if how == "answered":
        site.person("sam").answer(handle.ask_id, "no idea")
    elif how == "withdrawn":
        handle.withdraw()
    elif how == "expired":
        clock.advance(timedelta(minutes=6))
    else:
        site.agent().open("Why not?", key="why", replace=True)
    outcome = page.locator(".fate")
    expect(outcome).to_be_visible()
    expect(field).to_be_focused()
    page.keyboard.type(PROSE)
    page.keyboard.press("Control+Enter")
    expect(field).to_have_value(f"because of {PROSE}")
    above, below = outcome.bounding_box(), field.bounding_box()
    assert above is not None
    assert below is not None
    assert above["y"] < below["y"]
    expect(send_button(page)).to_have_count(0)
    page.keyboard.press("Escape")
    expect(page.locator(".kept")).to_contain_text("because of a yes")
    assert sent == []


def test_keys_rest_where_the_field_has_gone_until_esc_and_a_quiet_second(
    page: Page, site: ThrowawayServer
) -> None:
    """As after a reload. It is said why, and how they are woken; prose that goes on keeps them asleep."""
    approval(site, "Ship it?")
    sent = answers_of(page)
    page.goto("/")
    open_card(page, "Ship it?")
    page.locator("#filter").click()
    page.keyboard.type("ship")
    page.reload()
    open_card(page, "Ship it?")
    page.keyboard.type(PROSE)
    rest = page.locator(".rest")
    expect(rest).to_contain_text("Press Esc and wait a second, or click anywhere")
    assert (marked(page), sent) == (0, [])
    page.keyboard.press("Escape")
    page.keyboard.type(PROSE)
    expect(rest).to_contain_text("after a second without typing")
    assert (marked(page), sent) == (0, [])
    expect(rest).to_be_hidden()
    page.keyboard.press("a")
    expect(page.locator(".bar-mark")).to_contain_text("Approve")


def test_press_of_the_pointer_wakes_keys(page: Page, site: ThrowawayServer) -> None:
    """Anywhere; until then neither a button under the focus nor a field takes Enter."""
    approval(site, "Ship it?")
    sent = answers_of(page)
    page.goto("/")
    open_card(page, "Ship it?")
    page.locator("#filter").click()
    page.keyboard.type("ship")
    page.reload()
    open_card(page, "Ship it?")
    page.keyboard.press("b")
    page.locator("form.ask .choice input").first.focus()
    page.keyboard.press(" ")
    page.keyboard.press("Enter")
    assert (marked(page), sent) == (0, [])
    title_of_card(page).click()
    expect(page.locator(".rest")).to_be_hidden()
    page.keyboard.press("b")
    expect(page.locator(".bar-mark")).to_contain_text("Reject")


@pytest.mark.parametrize(
    ("kind", "lines"),
    [
        (Kind.APPROVAL, ["a yes\n", "a.\n", "b no\n", "ao\n", "bk\n", "Data first\nthen a\n"]),
        (Kind.CONFIRM, ["no\n", "yo\n", "nj\n"]),
    ],
)
def test_letters_that_mark_nothing_here_are_words_and_keys_wait_again(
    page: Page, site: ThrowawayServer, kind: Kind, lines: list[str]
) -> None:
    """Prose on a card whose keys count already: the first letter may mark, and nothing is sent or declined.

    Also where a letter leads elsewhere and that is here: o to the oldest, j and k to the last and the first.
    """
    handle = site.agent().open("Ship it?", ["Approve", "Reject"] if kind is Kind.APPROVAL else [], kind=kind)
    keep_time(page, random.Random(1))
    sent = answers_of(page)
    page.goto("/")
    for words in lines:
        page.locator(".row").first.click()
        expect(page.locator(".askframe")).to_be_visible()
        page.evaluate("passTime(1_000)")
        open_card(page, "Ship it?")
        page.keyboard.type(words)
        page.keyboard.press("Escape")
    assert (sent, handle.ask.state) == ([], State.OPEN)


# Marks


@pytest.mark.parametrize("kind", ["approval", "destructive", "harmless", "confirm"])
def test_mark_of_a_yes_is_not_remembered(page: Page, site: ThrowawayServer, kind: str) -> None:
    """Neither by a page that is loaded anew nor by somebody who was elsewhere: Enter sends nothing.

    Nor is the harmless option beside one that cannot be undone.
    """
    opens: dict[str, Callable[[], object]] = {
        "approval": lambda: approval(site, "This?"),
        "destructive": lambda: site.agent().open("This?", DROP),
        "harmless": lambda: site.agent().open("This?", DROP),
        "confirm": lambda: site.agent().open("This?", kind=Kind.CONFIRM),
    }
    site.agent().open("Other?", DROP)
    opens[kind]()
    labels = {
        "approval": "Approve",
        "destructive": "Drop it",
        "harmless": "Keep it",
        "confirm": "Yes, continue",
    }
    label = labels[kind]
    sent = answers_of(page)
    page.goto("/")
    for key in ("F5", "j"):
        open_card(page, "This?")
        choose(page, label)
        assert marked(page) == 1
        if key == "F5":
            page.reload()
        else:
            page.keyboard.press("j")
            open_card(page, "Other?")
            page.keyboard.press("k")
        open_card(page, "This?")
        page.keyboard.press("Enter")
        assert marked(page) == 0
    assert sent == []


# What cannot be undone


@proves("G25", "G26")
@pytest.mark.parametrize("hand", ["keys", "mouse"])
def test_destructive_option_is_sent_after_a_second_yes(
    page: Page, site: ThrowawayServer, agents: ThreadPoolExecutor, hand: str
) -> None:
    """The option is named; whatever is no y leaves everything as it was."""
    handle = site.agent().open("Which?", DROP)
    told = agents.submit(handle.value, PATIENCE)
    sent = answers_of(page)
    page.goto("/")
    open_card(page, "Which?")
    sure = page.locator(".askframe.is-armed .sure")
    for no in ("n", "q", "Enter", "Escape"):
        choose(page, "Drop it")
        send_button(page).click()
        expect(sure).to_contain_text("“Drop it” cannot be undone")
        page.keyboard.press(no)
        expect(sure).to_have_count(0)
        open_card(page, "Which?")
    assert (sent, handle.ask.state) == ([], State.OPEN)
    send_button(page).click()
    expect(sure).to_be_visible()
    if hand == "keys":
        page.keyboard.press("y")
    else:
        page.get_by_role("button", name="Yes, Drop it").click()
    assert told.result(PATIENCE) == "drop"
    [request] = sent
    assert request.post_data_json == {"values": {"q1": ["drop"]}, "confirmed": True}


def test_server_that_wants_a_second_yes_is_asked_the_same_way(
    page: Page, site: ThrowawayServer, agents: ThreadPoolExecutor, mishaps: Mishaps
) -> None:
    """Also where the page did not know that the option cannot be undone."""
    mishaps.pardon("status of 409")

    def hide(route: Route) -> None:
        route.fulfill(body=route.fetch().text().replace('"destructive":true', '"destructive":false'))

    handle = site.agent().open("Which?", DROP)
    told = agents.submit(handle.value, PATIENCE)
    page.route(
        re.compile("/asks"), lambda route: route.fallback() if "answer" in route.request.url else hide(route)
    )
    page.goto("/")
    open_card(page, "Which?")
    page.keyboard.press("b")
    page.keyboard.press("Enter")
    sure = page.locator(".askframe.is-armed .sure")
    expect(sure).to_contain_text("Drop it")
    assert handle.ask.state is State.OPEN
    sure.get_by_role("button", name="Yes, send it").click()
    assert told.result(PATIENCE) == "drop"
    page.unroute_all(behavior="wait")


# A no with words


@pytest.mark.parametrize("viewport", [PHONE, (1280, 800)], ids=["phone", "desk"])
def test_approval_is_rejected_with_a_reason_by_pointer(
    page: Page, site: ThrowawayServer, agents: ThreadPoolExecutor
) -> None:
    """The agent is told, and so is whoever looks at it later."""
    agent = site.agent()
    told = agents.submit(agent.approve, "Ship it?", action={"run": "ship"}, wait=PATIENCE)
    page.goto("/")
    page.locator(".row").first.click()
    open_card(page, "Ship it?")
    page.get_by_role("button", name="Reject, and say why…").click()
    field = page.get_by_label("Why not?")
    expect(field).to_be_focused()
    field.fill("too risky on a Friday")
    send_button(page).click()
    with pytest.raises(Declined, match="too risky on a Friday"):
        told.result(PATIENCE)
    expect(page.locator(".fate")).to_contain_text("“too risky on a Friday”")
    page.goto("/#/history/answers")
    expect(page.locator("table")).to_contain_text("“too risky on a Friday”")


def test_any_ask_is_declined_with_a_reason_by_pointer(
    page: Page, site: ThrowawayServer, agents: ThreadPoolExecutor
) -> None:
    """Also after something was marked."""
    told = agents.submit(site.agent().open("Which?", DROP).value, PATIENCE)
    page.goto("/")
    open_card(page, "Which?")
    choose(page, "Keep it")
    page.get_by_role("button", name="Decline…").click()
    page.locator(".bar-reason input").fill("ask Dana")
    expect(send_button(page)).not_to_have_attribute("aria-disabled", "true")
    send_button(page).click()
    with pytest.raises(Declined, match="ask Dana"):
        told.result(PATIENCE)
    expect(page.locator(".fate")).to_contain_text("ask Dana")


# What is said about who answered and who asked


def test_card_says_how_sure_an_answer_is_and_that_nobody_was_there(page: Page, site: ThrowawayServer) -> None:
    """An agent's host proves nothing, and an unattended answer is marked, on the card and in the history."""

    def tell(route: Route) -> None:
        said = route.fetch().text().replace('"assurance":"token"', '"assurance":"host"')
        route.fulfill(body=said.replace('"is_unattended":false', '"is_unattended":true'))

    handle = site.agent().open("Which?", DROP)
    site.person("sam").answer(handle.ask_id, "1")
    page.route(re.compile("/asks"), tell)
    page.goto(f"/#/inbox/shop/{handle.ask_id}")
    expect(page.locator(".fate")).to_contain_text("by the agent's host, not proven")
    expect(page.locator(".fate")).to_contain_text("Unattended")
    page.goto("/#/history/answers")
    expect(page.locator("table")).to_contain_text("the agent's host said so, unattended")
    page.unroute_all(behavior="wait")


def test_card_says_that_the_program_that_asked_has_ended(page: Page, site: ThrowawayServer) -> None:
    """In one sentence; it can be answered all the same."""

    def tell(route: Route) -> None:
        told = route.fetch().json()
        for ask in told.get("asks", [told]):
            ask["is_asker_gone"] = True
        route.fulfill(json=told)

    site.agent().open("Which?", DROP)
    page.route(re.compile("/asks"), tell)
    page.goto("/")
    card = open_card(page, "Which?")
    expect(card).to_contain_text(
        "The program that asked this has ended; your answer is kept for whoever asks it again."
    )
    page.keyboard.press("a")
    expect(send_button(page)).to_have_text("Send Enter")
    page.unroute_all(behavior="wait")


# The typist

PATIENTLY = pytest.mark.timeout(1_200)  # how fast a browser takes keys is the machine's affair


@PATIENTLY
@pytest.mark.parametrize("seed", range(ROUNDS))
def test_typist_at_eight_tabs_answers_nothing_that_was_not_meant(
    browser: Browser, site: ThrowawayServer, clock: FakeClock, seed: int
) -> None:
    """Ten thousand keys of prose on the page's own clock, half of them a seed; asks come and go, and pages are loaded anew."""
    told = sit_down_at(browser, site, clock, KEYS, random.Random(seed))
    sys.stdout.write(f"seed {seed}: {dict(told.counts)}\n")
    assert told.faults == []
    assert told.counts["keys"] >= KEYS


@PATIENTLY
@pytest.mark.parametrize("twin", TWINS)
def test_typist_without_a_guard_is_noticed(
    browser: Browser, site: ThrowawayServer, clock: FakeClock, twin: str
) -> None:
    """Twins: without the rest, one of the beats, the forgetting of marks, the field that stays, or the Enter that sends not."""
    told = sit_down_at(browser, site, clock, 2 * KEYS, random.Random(1), twin)
    assert TWINS[twin].shows in {kind for kind, _ in told.faults}


@PATIENTLY
def test_typist_in_real_time_answers_nothing_that_was_not_meant(
    window: Callable[..., Page], site: ThrowawayServer, clock: FakeClock
) -> None:
    """Five hundred keys at the pace of a hand."""
    page = window(secret=site.token(Role.HUMAN, "ana"))
    told = Typist(site, [page], random.Random(1), clock, is_real=True).type(500)
    sys.stdout.write(f"{dict(told.counts)}\n")
    assert told.faults == []
