"""Everything fits: phones, laptops, wide screens and 200 % zoom, with texts and lists as long as they may be."""

from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from assent.protocol.prompt import MAX_FIELDS, MAX_OPTIONS, Field, Option, Prompt
from assent.protocol.run import MAX_RUN_ID
from assent.testing.server import ThrowawayServer
from tests.surfaces.page.browsing import PHONE, Viewport
from tests.surfaces.page.furniture import furnish
from tests.surfaces.page.hostile_tour import PAGES
from tests.surfaces.page.test_axe import visit
from tests.surfaces.page.tripwire import sideways

__all__: list[str] = []

WINDOWS: dict[str, Viewport] = {
    "320": (320, 640),
    "phone": PHONE,
    "zoomed": (720, 450),  # 1440 x 900 at 200 %
    "laptop": (1024, 768),
    "desk": (1440, 900),
}
LEAST = 24
"""WCAG 2.2, 2.5.8: what is pressed has so many pixels either way, or that much room around it."""
_SMALL = """
(least) => {
  const shown = [...document.querySelectorAll("#root :is(a, button, summary, input, select, textarea)")]
    .filter((each) => each.checkVisibility({ visibilityProperty: true, opacityProperty: true }) && !each.closest(".sr"));
  // A link in a sentence is as high as its line, and a choice is pressed anywhere in its label.
  const isInText = (each) => each.matches("a") && getComputedStyle(each).display === "inline";
  const placeOf = (each) => (each.matches("label input") ? each.closest("label") : each).getBoundingClientRect();
  // Half a pixel less is drawn as a whole one.
  return shown.filter((each) => !isInText(each) && !each.matches(".skip")).flatMap((each) => {
    const { width, height } = placeOf(each);
    return width && (width < least - 0.5 || height < least - 0.5)
      ? [`${each.tagName.toLowerCase()}.${each.className} ${Math.round(width)}x${Math.round(height)} ${each.textContent.slice(0, 20)}`]
      : [];
  });
}
"""


# What is drawn to the width of the window has been drawn to the one that there is now.
_DRAWN = """
() => [...document.querySelectorAll(".plot svg.drawn")]
  .every((svg) => svg.viewBox.baseVal.width === svg.parentElement.clientWidth)
"""

# Fifty clicks, each drawn before the next.
_MARK_FIRST = """
async () => {
  for (const group of document.querySelectorAll("form.ask fieldset[data-field]")) {
    group.querySelector("input").click();
    await new Promise((resolve) => requestAnimationFrame(resolve));
  }
}
"""


def resize(page: Page, viewport: Viewport) -> None:
    """Make the window as large, and wait until everything is drawn to that."""
    page.set_viewport_size({"width": viewport[0], "height": viewport[1]})
    page.wait_for_function(_DRAWN)


def fits(page: Page, seen: Locator | None = None) -> None:
    """Expect that nothing scrolls sideways at a desk, nor on the narrowest screen, and that this one thing is in sight."""
    for viewport in (WINDOWS["desk"], WINDOWS["320"]):
        resize(page, viewport)
        if seen is not None:
            expect(seen).to_be_in_viewport()
        assert sideways(page) == [], viewport


def test_page_of_any_size_needs_no_scrolling_sideways_and_has_targets_to_hit(
    page: Page, site: ThrowawayServer, tmp_path: Path
) -> None:
    """Every page and every kind of ask; what is too wide is named, and what is too small to press."""
    places = {name: name for name in PAGES} | furnish(site, tmp_path).places
    page.goto("/")
    found = {}
    for name, place in places.items():
        visit(page, place)
        for size, viewport in WINDOWS.items():
            resize(page, viewport)
            small = [f"small: {each}" for each in page.evaluate(_SMALL, LEAST)]
            found[f"{name} on {size}"] = [*sideways(page), *small]
    assert {name: lines for name, lines in found.items() if lines} == {}


def test_small_targets_and_wide_ones_are_noticed(page: Page) -> None:
    """Twin: the same look at a page with a button of ten pixels, and a row as wide as two screens."""
    page.goto("/")
    expect(page.locator("#content .list")).to_have_count(1)
    page.evaluate("""() => {
      const small = document.getElementById("content").appendChild(document.createElement("button"));
      Object.assign(small.style, { width: "10px", height: "10px", padding: 0 });
      document.getElementById("detail").appendChild(document.createElement("p")).style.width = "3000px";
    }""")
    assert any("10x10" in each for each in page.evaluate(_SMALL, LEAST))
    assert any("detail" in each for each in sideways(page))


def test_list_of_two_hundred_options_is_filtered_and_answered_by_keyboard(
    page: Page, site: ThrowawayServer
) -> None:
    """The filter is the first stop behind the head of the card; one option is left, marked with the space bar and sent."""
    agent = site.agent()
    ask = agent.open("Which customer?", [f"Customer number {number}" for number in range(1, MAX_OPTIONS + 1)])
    page.goto("/")
    visit(page, f"inbox/shop/{ask.ask_id}")
    fits(page)
    field = page.get_by_label("Filter the 200 options")
    page.locator("#detail").focus()
    for _ in range(6):
        page.keyboard.press("Tab")
        if field.evaluate("(each) => each === document.activeElement"):
            break
    expect(field).to_be_focused()
    page.keyboard.type("number 177")
    choices = page.locator("form.ask .choice")
    expect(choices).to_have_count(1)
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    expect(choices.locator("input")).to_be_checked()
    field.fill("")
    expect(choices).to_have_count(MAX_OPTIONS)
    expect(page.locator(".is-armed")).to_have_count(1)
    page.locator("form.ask button[type=submit]").click()
    expect(page.locator("#detail .fate-ok")).to_be_visible()
    assert agent.wait(ask.ask_id, 10).answer is not None
    assert agent.show(ask.ask_id).answer.values == {"q1": ("Customer number 177",)}  # type: ignore[union-attr]


def test_longest_texts_wrap_and_the_bar_stays_in_sight(page: Page, site: ThrowawayServer) -> None:
    """A title, an option and a body of one endless word each; whoever reads it can still mark and send."""
    options = [Option("a", "w" * 2_000, description="n" * 2_000), Option("b", "short")]
    ask = site.agent().open("t" * 2_000, options, body=("b" * 5_000) + "\n\n" + "words and more " * 4_000)
    page.goto("/")
    visit(page, f"inbox/shop/{ask.ask_id}")
    fits(page)
    page.locator(".choice").first.click()
    button = page.locator("form.ask button[type=submit]")
    expect(page.locator(".is-armed")).to_have_count(1)
    fits(page, button)
    button.click()
    expect(page.locator("#detail .fate-ok")).to_be_visible()
    fits(page)


def test_round_of_fifty_questions_says_what_is_left_and_is_sent_at_once(
    page: Page, site: ThrowawayServer
) -> None:
    """The most that a round may have."""
    fields = tuple(
        Field(f"q{number}", f"Question {number}?", (Option("y", "Yes"), Option("n", "No")))
        for number in range(1, MAX_FIELDS + 1)
    )
    ask = site.agent().open(Prompt("Fifty things", "", fields))
    page.goto("/")
    visit(page, f"inbox/shop/{ask.ask_id}")
    fits(page)
    button = page.locator("form.ask button[type=submit]")
    expect(button).to_have_text("Answer Q1 first")
    groups = page.locator("form.ask fieldset[data-field]")
    expect(groups).to_have_count(MAX_FIELDS)
    page.evaluate(_MARK_FIRST)
    expect(groups.locator("input:checked")).to_have_count(MAX_FIELDS)
    expect(button).to_contain_text("Send all 50")
    button.click()
    expect(page.locator("#detail .fate-ok")).to_be_visible()
    fits(page)


@pytest.mark.parametrize("viewport", [PHONE], ids=["phone"])
def test_longest_name_of_a_run_wraps_on_its_timeline_and_on_the_board(
    page: Page, site: ThrowawayServer
) -> None:
    """One word as long as a name may be, in every sentence that has it."""
    name = "r" * MAX_RUN_ID
    with site.agent().run(max=3, run_id=name) as run:
        next(iter(run))
        page.goto("/")
        for place in (f"history/run/shop/{name}", f"runs/shop/{name}"):
            visit(page, place)
            expect(page.locator("main")).to_contain_text(name)
            assert sideways(page) == [], place
