"""A twentieth of the hostile texts, in every place that somebody else writes in: nothing runs, leaves, hides or is in the way.

All three hundred of them are one of the trials of `make torture`.
"""

import re
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx2
import pytest
from playwright.sync_api import Page, expect

from assent.protocol.block import render_action
from assent.protocol.display import display, display_exact
from assent.protocol.error import StillOpen
from assent.protocol.principal import Role
from assent.protocol.prompt import Field, Option, Prompt
from assent.testing.server import ThrowawayServer
from tests.surfaces.page.browsing import PHONE, Mishaps, Viewport
from tests.surfaces.page.hostile_tour import Tour
from tests.surfaces.page.payloads import PAYLOADS, READ, share_of
from tests.surfaces.page.planting import plant
from tests.surfaces.page.reading import marked, read, unfold, words_of
from tests.surfaces.page.tripwire import Tripwire

__all__: list[str] = []

PLAIN_ONLY = {"task id", "topic name"}
"""Places that take letters, digits and a few signs, so that most texts never get there."""


def test_payloads_are_three_hundred_different_ones() -> None:
    """The count that is promised, and no padding in it; the shares are all of them."""
    assert len(set(PAYLOADS)) == len(PAYLOADS) >= 300
    assert [text for number in range(10) for text in share_of(number, 10)] == list(PAYLOADS)


def test_tripwire_notices_each_way_that_a_text_could_act(
    window: Callable[..., Page], site: ThrowawayServer, mishaps: Mishaps
) -> None:
    """Twin of the tests below: what they look for, done on purpose by a script that may do anything."""
    page = window(secret=site.token(Role.HUMAN, "ana"), is_own=True)
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
    page = window(secret=site.token(Role.HUMAN, "ana"), is_own=True)
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


# What is read equals what is stored


def go_to(page: Page, site: ThrowawayServer, ask_id: str) -> None:
    page.goto(f"/#/inbox/{site.store.project}/{ask_id}")
    expect(page.locator(f"form.ask:has(.facts .mono:text-is('{ask_id}')) h2")).to_be_visible()
    unfold(page)


def read_question(page: Page, site: ThrowawayServer, text: str) -> dict[str, tuple[str, list[str]]]:
    """Ask a question with a text in every field; return what should be read of each, and what is."""
    short = text[:1_900]
    option = Option("k", short, description=text)
    choice = Field("q1", text, (option, Option("second", "Second")), free=True, other=f"{short} or so")
    prompt = Prompt(short, text, (choice, Field("q2", text, free=True)))
    key = short[:100].replace("\n", " ")
    ask = site.agent().open(prompt, key=key)
    go_to(page, site, ask.ask_id)
    line, lines = marked(display(short, lines=False)), marked(display(text))
    return {
        "title": (line, read(page, "#t-ask")),
        "question with options": (f"Q1{lines}", [each[: len(lines) + 2] for each in read(page, "legend")]),
        "question without": (lines, read(page, ".q-label b")),
        "option": (line, read(page, ".choice-label")[:1]),
        "what an option means": (marked(display(text, lines=False)), read(page, ".choice-note")),
        "words of one's own": (
            f"{marked(display(f'{short} or so', lines=False))}",
            read(page, ".choice-label")[2:3],
        ),
        "key": (marked(display(key, lines=False)), read(page, ".facts dd .mono")[:1]),
        "body": (words_of(text), [words_of(each) for each in read(page, ".said .prose")]),
    }


def read_approval(page: Page, site: ThrowawayServer, text: str) -> dict[str, tuple[str, list[str]]]:
    """Ask for a yes to an action with a text in every part of it; return what should be read of each, and what is."""
    short = text[:1_900]
    lines = [each for each in text.split("\n") if each]
    diff = f"@@ -0,0 +1,{len(lines)} @@\n" + "".join(f"+{each}\n" for each in lines)
    action: dict[str, Any] = {
        "command": text,
        "argv": [text, text],
        "deep": {text: {"value": text}},
        "files": [{"path": text, "diff": diff}],
        "list": [text, 9007199254740993, False],
        "numbers": {"big": 18446744073709551615, "small": 5e-324, "true": True, "text": "true"},
    }
    with suppress(StillOpen):
        site.agent().approve(short, action=action, risk=text, body=text, wait=0)
    ask = next(
        ask for ask in site.agent().inbox() if ask.prompt.title == short and ask.prompt.action == action
    )
    go_to(page, site, ask.ask_id)
    exact = marked(display_exact(text))
    commands, values, names = (
        read(page, ".cmd code"),
        read(page, "code.value"),
        read(page, ".action .file > span"),
    )
    numbers = ["18446744073709551615", "5e-324", '"true"', "true"]
    seen = {
        "approval's title": (marked(display(short, lines=False)), read(page, "#t-ask")),
        "risk": (marked(display(text, lines=False)), read(page, ".stakes-top > span:not(.more)")),
        "approval's body": (words_of(text), [words_of(each) for each in read(page, ".said .prose")]),
        "command": (exact, commands[1:2]),
        "words of a command": (marked(display_exact(" ".join([quoted(text)] * 2))), commands[:1]),
        "name of a value": (exact, [each for each in names if each == exact][:1]),
        "value": (f'"{exact}"', values[:1]),
        "value in a list": (f'"{exact}"', values[1:2]),
        "number in a list": ("9007199254740993 false", [" ".join(values[2:4])]),
        "numbers": (" ".join(numbers), [" ".join(values[4:])]),
        "file": (exact, names[-3:-2]),
        "difference": (marked("\n".join(map(display, lines))), ["\n".join(read(page, ".diff .add code"))]),
    }
    page.get_by_role("button", name="Raw JSON").click()
    return seen | {"raw JSON": (marked(render_action(action)), read(page, "pre.raw"))}


def quoted(word: str) -> str:
    """Return a word of a command as a shell would want it."""
    return word if re.fullmatch(r"[\w@%+=:,./-]+", word, re.ASCII) else "'" + word.replace("'", "'\\''") + "'"


@pytest.mark.parametrize("name", READ)
def test_what_is_read_on_the_page_is_what_was_written(page: Page, site: ThrowawayServer, name: str) -> None:
    """In every field of an ask and every part of an action, as a browser draws it; hidden characters are marks."""
    seen = Counter[str]()
    for show in (read_question, read_approval):
        for field, (wanted, found) in show(page, site, READ[name]).items():
            assert found == [wanted], field
            seen[field] += 1
    assert len(seen) == 21


_PLACES = """
(place) => {
  const walker = document.createTreeWalker(document.querySelector(place), NodeFilter.SHOW_TEXT);
  const found = {};
  while (walker.nextNode()) {
    const { data } = walker.currentNode;
    for (let at = 0; at < data.length; at += 1) {
      const range = document.createRange();
      range.setStart(walker.currentNode, at);
      range.setEnd(walker.currentNode, at + 1);
      if (data[at].trim()) found[data[at]] = range.getBoundingClientRect().left;
    }
  }
  return found;
}
"""


def test_text_from_right_to_left_turns_itself_and_nothing_around_it(
    page: Page, site: ThrowawayServer
) -> None:
    """A question reads from right to left with its sign at its end; of a command no two words change places."""
    title, action = "\u05d0\u05d1\u05d2?", {"command": "cp \u05d0\u05d1 \u05d2\u05d3 #"}
    with suppress(StillOpen):
        site.agent().approve(title, action=action, wait=0)
    (ask,) = site.agent().inbox()
    go_to(page, site, ask.ask_id)
    asked: dict[str, float] = page.evaluate(_PLACES, "#t-ask")
    assert [*sorted(asked, key=lambda sign: -asked[sign])] == [*title]
    run: dict[str, float] = page.evaluate(_PLACES, ".cmd code")
    assert sorted(run, key=lambda sign: run[sign]) == [*"cp\u05d1\u05d0\u05d3\u05d2#"]
