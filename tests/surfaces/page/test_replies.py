"""The table of replies on the page, by clicks and keys in a real browser."""

from playwright.sync_api import Page, expect

from assent.protocol.ask import Kind
from assent.testing.server import ThrowawayServer
from tests.surfaces.page.answering import open_card, send_button, shorten_the_beat
from tests.surfaces.page.browsing import Mishaps
from tests.surfaces.replies import Case, Verdict, code_of, hold, judge, kind_of, open_ask

__all__: list[str] = []

_WAYS = {"yes": "y", "no": "n"}


def mark(page: Page, case: Case) -> None:
    """Mark options with the mouse, and write the words that go with them."""
    for field in case.prompt.fields:
        part = page.locator(f'[data-field="{field.name}"]')
        for place, option in enumerate(field.options):
            if option.key in case.choose.get(field.name, ()):
                part.locator("input[data-cap]").nth(place).click()
        if field.name in case.own:
            part.locator(".choice-write input[type=text], textarea").fill(case.own[field.name])
    if case.reason:
        page.locator(".bar-why input").fill(case.reason)


def say(page: Page, case: Case) -> None:
    """Say it, up to what would send it."""
    text, prompt = case.text, case.prompt
    if text is None:
        mark(page, case)
    elif prompt.commands:
        page.locator("#gate-command").fill(text)
    elif not prompt.fields[0].options and text not in _WAYS and text:
        page.locator("form.ask textarea").fill(
            text.removeprefix("changes:").strip(" ") if kind_of(case) is Kind.CONFIRM else text
        )
    elif not prompt.fields[0].options and kind_of(case) is not Kind.CONFIRM:
        page.locator("form.ask textarea").fill(text)
    elif text:
        page.keyboard.press(_WAYS.get(text, text))


def test_reply_on_the_page_means_what_it_means_everywhere(
    page: Page, site: ThrowawayServer, mishaps: Mishaps
) -> None:
    """What lacks stands on the button, what is refused above it."""
    mishaps.pardon("/answer")
    shorten_the_beat(page)
    agent = site.store.agent()
    page.goto("/")
    what_came = page.locator(".fate, .echo, .sure")

    def give(case: Case) -> Verdict:
        ask = open_ask(agent, case)
        page.locator(f'.row[href$="{ask.ask_id}"]').click()
        open_card(page, case.prompt.title)
        say(page, case)
        button = send_button(page)
        if button.get_attribute("aria-disabled"):
            told = button.inner_text()
        else:
            button.click()
            expect(what_came).to_be_visible()
            told = what_came.inner_text()
        if case.confirmed and page.locator(".sure").count():
            page.locator(".sure .btn-danger:not([aria-disabled])").click()
            expect(page.locator(".fate, .echo")).to_be_visible()
        ended = agent.show(ask.ask_id)
        if ended.is_open:
            agent.withdraw(ask.ask_id, "The next one.")
        return judge(ended, code_of(told) if ended.is_open else "")

    hold("page", give)
