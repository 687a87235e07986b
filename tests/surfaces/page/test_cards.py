"""Every kind of card answered with the keyboard alone and with the mouse: what the agent is told, and what the page says."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import Literal, NamedTuple

import pytest
from playwright.sync_api import Page, expect

import assent
from assent import Choice, CompletionReport, Declined, StillOpen, Verb
from assent.flows.confirm import How
from assent.protocol.canonical import Json
from assent.protocol.notification import NotificationStatus
from assent.protocol.prompt import Field, Option, Prompt
from assent.protocol.task import TaskStatus
from assent.testing.server import ThrowawayServer
from tests.cli.reviews import document_of, merged, merged_set
from tests.client.reviewing import write_document
from tests.flows.plan_page import fill, human
from tests.patience import PATIENCE
from tests.proves import proves
from tests.surfaces.page.answering import (
    choose,
    marked,
    open_card,
    send_button,
    title_of_card,
)
from tests.surfaces.page.browsing import Mishaps
from tests.surfaces.page.desk import Desk, come_to
from tests.work_samples import DATABASE, PAGES, asking

__all__: list[str] = []

Hand = Literal["keys", "mouse"]
HANDS = pytest.mark.parametrize("hand", ["keys", "mouse"])
FOXES = ["red fox", "blue fox", "grey fox"]


@pytest.fixture
def site(desk: Desk) -> ThrowawayServer:
    """Give the server of the desk; each test answers what it asks."""
    return desk.site


@pytest.fixture
def page(desk: Desk) -> Page:
    """Give the page of the desk."""
    return desk.page


@pytest.fixture
def mishaps(desk: Desk) -> Mishaps:
    """Give what goes wrong there."""
    return desk.mishaps


def answer(page: Page, hand: Hand, *labels: str, keys: str, send: str = "Enter") -> None:
    """Mark options by their keys or with the mouse, and send them."""
    if hand == "keys":
        for key in keys:
            page.keyboard.press(key)
        page.keyboard.press(send)
    else:
        for label in labels:
            choose(page, label)
        send_button(page).click()


def expect_mine(page: Page, words: str) -> None:
    """Expect that the answer of this page was the one, with these words."""
    expect(page.locator(".fate")).to_contain_text("Accepted, yours was the one")
    expect(page.locator(".fate .big")).to_have_text(words)


# Questions


@HANDS
def test_question_is_answered_with_one_option(
    page: Page, site: ThrowawayServer, agents: ThreadPoolExecutor, hand: Hand
) -> None:
    """The button is no button before, and says what would be sent after."""
    handle = site.agent().open("Which fox?", FOXES, body="There are **three**.")
    told = agents.submit(handle.value, PATIENCE)
    come_to(page)
    card = open_card(page, "Which fox?")
    expect(card.locator(".said strong")).to_have_text("three")
    expect(send_button(page)).to_have_text("Mark one first")
    answer(page, hand, "blue fox", keys="b")
    assert told.result(PATIENCE) == "blue fox"
    expect_mine(page, "blue fox")


@HANDS
def test_question_is_answered_with_several_options(
    page: Page, site: ThrowawayServer, agents: ThreadPoolExecutor, hand: Hand
) -> None:
    """What is marked twice is not marked; numbers mark as letters do."""
    handle = site.agent().open("Which foxes?", FOXES, multiple=True)
    told = agents.submit(handle.value, PATIENCE)
    come_to(page)
    open_card(page, "Which foxes?")
    answer(page, hand, "red fox", "blue fox", "grey fox", "blue fox", keys="ab3b")
    assert told.result(PATIENCE) == ["red fox", "grey fox"]
    expect_mine(page, "red fox, grey fox")


@HANDS
def test_question_is_answered_in_words(
    page: Page, site: ThrowawayServer, agents: ThreadPoolExecutor, hand: Hand
) -> None:
    """Lines and letters that are keys elsewhere are but text here."""
    handle = site.agent().open("Why?")
    told = agents.submit(handle.value, PATIENCE)
    come_to(page)
    open_card(page, "Why?")
    field = page.locator("form.ask textarea")
    if hand == "keys":
        page.keyboard.press("ArrowDown")
    else:
        field.click()
    expect(field).to_be_focused()
    page.keyboard.type("just go on\nj?")
    if hand == "keys":
        page.keyboard.press("Control+Enter")
    else:
        send_button(page).click()
    assert told.result(PATIENCE) == "just go on\nj?"
    expect_mine(page, "just go on j?")


@HANDS
def test_question_with_options_is_answered_in_own_words(
    page: Page, site: ThrowawayServer, agents: ThreadPoolExecutor, hand: Hand
) -> None:
    """The place after the last option; its key leads into its field, and Ctrl+Enter there sends."""
    handle = site.agent().open("Which fox?", FOXES, free=True, other="Another animal")
    told = agents.submit(handle.value, PATIENCE)
    come_to(page)
    open_card(page, "Which fox?")
    if hand == "keys":
        page.keyboard.press("d")
    else:
        choose(page, "Another animal")
    own = page.get_by_label("Another animal").and_(page.locator("input[type=text]"))
    expect(own).to_be_focused()
    expect(send_button(page)).to_have_text("Write your own words")
    page.keyboard.type("a badger")
    if hand == "keys":
        page.keyboard.press("Control+Enter")
    else:
        send_button(page).click()
    assert told.result(PATIENCE) == "a badger"
    expect_mine(page, "a badger")


@proves("C17")
@HANDS
def test_several_questions_are_answered_at_once(
    page: Page, site: ThrowawayServer, agents: ThreadPoolExecutor, hand: Hand
) -> None:
    """Each has its number; nothing is sent before the last of them has its answer."""
    options = tuple(Option(fox, fox) for fox in FOXES)
    fields = (
        Field("which", "Which regions?", options, multiple=True),
        Field("age", "How old?", options[:2]),
        Field("not", "What not?", free=True),
    )
    handle = site.agent().open(Prompt("Roll it out", fields=fields))
    told = agents.submit(handle.value, PATIENCE)
    come_to(page)
    card = open_card(page, "Roll it out")
    expect(card.locator(".qno")).to_have_text(["Q1", "Q2", "Q3"])
    expect(send_button(page)).to_have_text("Answer Q1 first")
    if hand == "keys":
        page.keyboard.press("c")
        page.keyboard.press("a")
        for _ in range(2):  # over the two other boxes of the first question
            page.keyboard.press("Tab")
        page.keyboard.press("Tab")
        page.keyboard.press("b")
        page.keyboard.press("Tab")
    else:
        for group, label in [
            ("Which regions?", "grey fox"),
            ("Which regions?", "red fox"),
            ("How old?", "blue fox"),
        ]:
            card.get_by_role("group", name=group).get_by_label(label).click()
        card.get_by_label("What not?").click()
    expect(send_button(page)).to_have_text("Answer Q3 first")
    page.keyboard.type("the cache")
    expect(send_button(page)).to_contain_text("Send all 3")
    if hand == "keys":
        page.keyboard.press("Control+Enter")
    else:
        send_button(page).click()
    assert told.result(PATIENCE) == {"which": ["grey fox", "red fox"], "age": "blue fox", "not": "the cache"}
    expect_mine(page, "Q1: grey fox, red fox · Q2: blue fox · Q3: the cache")


# Gates


@proves("G36")
@HANDS
def test_gate_is_passed_by_an_option(
    page: Page, site: ThrowawayServer, agents: ThreadPoolExecutor, hand: Hand
) -> None:
    """By its number, or a click; the numbers are those of the table."""
    told = agents.submit(
        assent.pass_gate, site.agent(), "chunk-loop", "Chunk 2 of 5.", ids=["H1"], wait=PATIENCE
    )
    come_to(page)
    card = open_card(page, "Chunk Loop")
    assert card.locator(".choice .key").all_inner_texts() == ["1", "2", "3", "4"]
    answer(page, hand, "Skip to synthesis", keys="4")
    assert told.result(PATIENCE) == Choice("Skip to synthesis")
    expect_mine(page, "Skip to synthesis")


@proves("G38")
@HANDS
def test_gate_takes_a_command_and_comes_back(
    page: Page, site: ThrowawayServer, agents: ThreadPoolExecutor, hand: Hand
) -> None:
    """A task is kept, the same gate is asked again, and there it is passed."""
    tasks: list[str] = []
    told = agents.submit(
        assent.pass_gate, site.agent(), "chunk-loop", "Two.", ids=["H1"], keep=tasks.append, wait=PATIENCE
    )
    come_to(page)
    card = open_card(page, "Chunk Loop")
    first = card.locator("form")
    if hand == "keys":
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Tab")
        page.keyboard.type("todo: ")
    else:
        card.get_by_role("button", name="todo:").click()
    expect(page.locator("#gate-command")).to_be_focused()
    page.keyboard.type("read it twice")
    page.keyboard.press("Enter")
    expect_mine(page, "todo: read it twice")
    page.locator(".bar").get_by_role("link", name="Next ask").click()
    expect(page.locator(".fate")).to_have_count(0)  # the gate that comes next has the same title
    open_card(page, "Chunk Loop")
    expect(first).to_be_visible()
    assert tasks == ["read it twice"]
    page.keyboard.press("1")
    page.keyboard.press("Enter")
    assert told.result(PATIENCE) == Choice("Continue")


@proves("G16", "G17", "G19")
def test_gate_answers_what_it_does_not_know_and_loses_nothing(
    page: Page, site: ThrowawayServer, agents: ThreadPoolExecutor, mishaps: Mishaps
) -> None:
    """The sentence stands at the card, what was typed is still there, and nothing was decided."""
    told = agents.submit(assent.pass_gate, site.agent(), "chunk-loop", "Two.", ids=["H1"], wait=PATIENCE)
    come_to(page)
    card = open_card(page, "Chunk Loop")
    mishaps.pardon("status of 400")
    page.locator("#gate-command").fill("deselct H1")
    page.keyboard.press("Enter")
    expect(card.get_by_role("alert")).to_contain_text('I didn\'t recognize "deselct H1".')
    expect(page.locator("#gate-command")).to_have_value("deselct H1")
    ask_id = page.url.rpartition("/")[2]
    assert (marked(page), told.done(), site.person().show(ask_id).is_open) == (0, False, True)
    page.locator("#gate-command").fill("2")
    page.keyboard.press("Enter")
    expect(page.locator(".fate .big")).to_have_text("Deep-dive")
    assert told.result(PATIENCE) == Choice("Deep-dive")
    answered = site.person().show(ask_id).answer
    assert answered is not None
    assert answered.values == {"action": ("Deep-dive",)}


# Confirms


class Way(NamedTuple):
    """One of the three ways out of a confirm."""

    key: str
    label: str
    how: How
    words: str = ""


WAYS = [
    Way("y", "Yes, continue", How.CONFIRMED),
    Way("c", "Changes first", How.CHANGES, "a smaller step"),
    Way("n", "No, stop here", How.DECLINED),
]


@proves("C32", "C33", "C34")
@pytest.mark.parametrize(
    ("hand", "way"),
    [("keys", WAYS[0]), ("keys", WAYS[1]), ("mouse", WAYS[1]), ("keys", WAYS[2])],
    ids=["yes by keys", "changes by keys", "changes by mouse", "no by keys"],
)
def test_confirm_is_settled(
    page: Page, site: ThrowawayServer, agents: ThreadPoolExecutor, tmp_path: Path, hand: Hand, way: Way
) -> None:
    """Y goes on, C wants words first, N stops: the flow that asked is told which."""
    (tmp_path / ".git").mkdir()
    plan = tmp_path / "plan.xml"
    plan.write_bytes(fill([human("T1.1", "before")]))
    told = agents.submit(
        assent.confirm_plan, site.agent(), plan, "T1.1", "before", "Four files.", wait=PATIENCE
    )
    come_to(page)
    card = open_card(page, "Before task T1.1")
    expect(card.locator(".stem")).to_contain_text("Confirm (human) task T1.1")
    assert card.locator(".choice .key").all_inner_texts() == ["Y", "C", "N"]
    if hand == "keys":
        page.keyboard.press(way.key)
    else:
        choose(page, way.label)
    if way.words:
        expect(send_button(page)).to_have_text("Say what to change")
        if hand == "keys":
            page.keyboard.press("Tab")
            page.keyboard.type(way.words)
        else:
            page.get_by_label("What to change").fill(way.words)
    answer(page, hand, keys="", send="Control+Enter" if way.words else "Enter")
    verdict = told.result(PATIENCE)
    assert (verdict.how, verdict.text) == (way.how, way.words)
    expect(page.locator(".fate")).to_contain_text("Accepted, yours was the one")


# Approvals

ACTION: Json = {
    "command": "psql --file 42.sql",
    "files": [{"path": "user.py", "diff": "@@ -1,2 +1,1 @@\n id\n-legacy\n"}],
    "tries": 3,
}


@HANDS
def test_approval_gives_a_receipt_for_what_was_shown(
    page: Page, site: ThrowawayServer, agents: ThreadPoolExecutor, hand: Hand
) -> None:
    """The risk is on top, the action is there in full, readable and raw; how long the yes is good for is said."""
    agent = site.agent()
    told = agents.submit(
        agent.approve,
        "Drop a column",
        action=ACTION,
        risk="irreversible",
        life=timedelta(minutes=5),
        wait=PATIENCE,
    )
    come_to(page)
    card = open_card(page, "Drop a column")
    expect(card.locator(".stakes-top")).to_contain_text("irreversible")
    expect(card.locator(".stakes")).to_contain_text("may do exactly this, once, within 5 min of your yes")
    assert marked(page) == 0
    expect(card.locator(".cmd")).to_have_text("$psql --file 42.sql")
    expect(card.locator(".diff .del code")).to_have_text("legacy")
    expect(card.locator(".action-body")).to_contain_text("tries")
    stakes, action = card.locator(".stakes").bounding_box(), card.locator(".action").bounding_box()
    assert stakes is not None
    assert action is not None
    assert stakes["y"] < action["y"]
    card.get_by_role("button", name="Raw JSON").click()
    expect(card.locator("pre.raw")).to_contain_text('"command": "psql --file 42.sql"')
    if hand == "keys":
        page.locator("#detail").focus()
        page.keyboard.press("a")
    else:
        choose(page, "Approve")
    expect(send_button(page)).to_contain_text("Approve: irreversible")
    answer(page, hand, keys="")
    receipt = told.result(PATIENCE)
    assert receipt.by == "human:ana"
    assert receipt.action == ACTION
    expect_mine(page, "Approve")


def test_approval_that_is_asked_again_shows_the_earlier_no(site: ThrowawayServer, page: Page) -> None:
    """Who said no, with which words, and why the agent asks all the same."""
    agent, ana = site.agent(), site.person()
    action: Json = {"drop": "users.older_id"}
    with pytest.raises(StillOpen):
        agent.approve("Drop a column", action=action, wait=0)
    ana.answer(ana.inbox()[0].ask_id, "Reject", reason="not on a Friday")
    with pytest.raises(StillOpen) as lapsed:
        agent.approve("Drop a column", action=action, again="It is <b>Monday</b>.", wait=0)
    assert lapsed.value.ask is not None
    come_to(page)
    open_card(page, "Drop a column")
    earlier = page.locator(".stakes-earlier")
    expect(earlier).to_contain_text("ana said no to this action")
    expect(earlier).to_contain_text("“not on a Friday”")
    expect(earlier).to_contain_text("Asked again, in the asker's words: “It is <b>Monday</b>.”")
    agent.withdraw(lapsed.value.ask.ask_id)


@HANDS
def test_approval_that_is_rejected_is_a_no_to_the_agent(
    page: Page, site: ThrowawayServer, agents: ThreadPoolExecutor, hand: Hand
) -> None:
    """And names who said so; no receipt was made."""
    agent = site.agent()
    told = agents.submit(agent.approve, "Drop a column", action={"drop": hand}, wait=PATIENCE)
    come_to(page)
    card = open_card(page, "Drop a column")
    expect(card.locator(".stakes-top")).to_contain_text("No risk was declared")
    answer(page, hand, "Reject", keys="b")
    with pytest.raises(Declined, match="ana"):
        told.result(PATIENCE)
    expect_mine(page, "Reject")


# Findings

NAMES = ("one", "two", "three", "four")
OPTIONS = ["Apply", "Defer", "Skip", "LFG"]


@proves("W42")
def test_findings_are_walked_through_with_their_four_options(
    page: Page, site: ThrowawayServer, agents: ThreadPoolExecutor, tmp_path: Path
) -> None:
    """A real durable walk-through: apply, defer, skip, and the rest by itself; the document has what was applied.

    One card by keys, the next with the mouse.
    """
    document = write_document(tmp_path, document_of(*NAMES))
    findings = merged_set(*(merged(name) for name in NAMES))
    agent = site.agent()
    told = agents.submit(agent.review, findings, document=document, durable=True, wait=PATIENCE)
    come_to(page)
    steps = [("What should the agent do with", "a"), ("Finding 1 of 4", "a"), ("Finding 2 of 4", "b")]
    steps += [("Finding 3 of 4", "c"), ("Finding 4 of 4", "d"), ("Should the agent", "a")]
    for number, (title, letter) in enumerate(steps):
        hand = ("keys", "mouse")[number % 2]
        card = open_card(page, title)
        if title.startswith("Finding"):
            assert card.locator(".choice .key").all_inner_texts() == ["A", "B", "C", "D"]
            assert [label.split()[0] for label in card.locator(".choice-label").all_inner_texts()] == OPTIONS
            expect(card.locator(".ask-kind")).to_contain_text(title)
        if hand == "keys":
            page.keyboard.press(letter)
            page.keyboard.press("Enter")
        else:
            card.locator(f"input[data-cap={letter}]").click()
            send_button(page).click()
        expect(page.locator(".fate")).to_contain_text("Accepted, yours was the one")
        if title.startswith("Should"):
            break
        following = page.locator(".bar").get_by_role("link", name="Next ask")
        expect(following).to_be_visible()
        if hand == "keys":
            page.keyboard.press("Enter")
        else:
            following.click()
        expect(title_of_card(page)).not_to_contain_text(title)
    report: CompletionReport = told.result(PATIENCE)
    verbs = {decision.finding.finding_id: decision.verb for decision in report.decisions}
    assert (verbs["one"], verbs["two"], verbs["three"]) == (Verb.APPLIED, Verb.DEFERRED, Verb.SKIPPED)
    assert document.read_text().startswith(
        document_of(*NAMES, clear=[name for name in NAMES if verbs[name] is Verb.APPLIED])
    )


# Open questions


@proves("Q23", "Q25")
@HANDS
def test_open_question_is_answered_beside_its_task(page: Page, site: ThrowawayServer, hand: Hand) -> None:
    """The task that waits is shown with it; with the answer it is open again, and the agent's chat has the words."""
    agent = site.agent()
    agent.create_task("Login", task_id="task-1")
    handed = agent.hand_in(asking(DATABASE, PAGES))
    come_to(page)
    card = open_card(page, "task-1")
    expect(card.locator(".task")).to_contain_text("Login")
    expect(card.locator(".task .tag")).to_have_text("blocked")
    expect(card.locator(".openq .said")).to_have_count(2)
    if hand == "keys":
        page.keyboard.press("ArrowDown")
        page.keyboard.type("SQLite")
        page.keyboard.press("Tab")
        page.keyboard.type("ten")
        page.keyboard.press("Control+Enter")
    else:
        page.get_by_label("Q1 Your answer").fill("SQLite")
        page.get_by_label("Q2 Your answer").fill("ten")
        send_button(page).click()
    expect_mine(page, "Q1: SQLite · Q2: ten")
    assert agent.find_task("task-1").status is TaskStatus.OPEN
    assert handed.notification is not None
    note = agent.find_notification(handed.notification.notification_id)
    assert note.status is NotificationStatus.RESOLVED
    assert "SQLite" in "\n".join(message.text for message in agent.chat("task-1"))


@HANDS
def test_open_question_that_is_dismissed_unblocks_its_task(
    page: Page, site: ThrowawayServer, hand: Hand
) -> None:
    """With a reason; the agent goes on without an answer."""
    agent = site.agent()
    agent.create_task("Login", task_id="task-1")
    handed = agent.hand_in(asking(DATABASE))
    come_to(page)
    open_card(page, "task-1")
    if hand == "keys":
        page.keyboard.press("Shift+D")
    else:
        page.get_by_role("button", name="Dismiss…").click()
    reason = page.get_by_label("Unblock it without an answer")
    expect(reason).to_be_focused()
    page.keyboard.type("decide yourself")
    expect(send_button(page)).not_to_have_attribute("aria-disabled", "true")
    if hand == "keys":
        page.keyboard.press("Control+Enter")
    else:
        send_button(page).click()
    expect(page.locator(".fate")).to_contain_text("ana declined to answer")
    expect(page.locator(".fate")).to_contain_text("decide yourself")
    assert agent.find_task("task-1").status is TaskStatus.OPEN
    assert handed.notification is not None
    assert agent.find_notification(handed.notification.notification_id).status is NotificationStatus.RESOLVED
