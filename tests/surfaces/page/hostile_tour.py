"""A walk through everything that a page shows of a store, with a look at the tripwire at each place."""

from __future__ import annotations

import json
from collections import Counter
from urllib.parse import quote

from playwright.sync_api import Error, Page, expect

from tests.surfaces.page.planting import Planted
from tests.surfaces.page.reading import unfold
from tests.surfaces.page.tripwire import Tripwire

__all__ = ["PAGES", "Tour"]

PAGES = {
    "inbox": ".row",
    "runs": ".run",
    "history/answers": "table.history tbody tr",
    "history/log": "li.event",
    "numbers/1": ".page-body[aria-busy=false]",
    "settings": ".settings",
    "walk": "#content h1",
}
"""The pages, and what stands on each as soon as it is drawn."""
_MORE = 5
"""Of what is wrong at one place so much is told."""

# Marks the first choice, or writes, in every question of the card; says whether it could now be sent.
_FILL = """
async () => {
  const drawn = () => new Promise((resolve) => requestAnimationFrame(resolve));
  const form = document.querySelector("form.ask");
  const type = (field, words) => {
    field.value = words;
    field.dispatchEvent(new Event("input", { bubbles: true }));
  };
  for (const group of form.querySelectorAll("fieldset[data-field]")) {
    if (!group.querySelector("input:checked")) group.querySelector("input[data-cap]").click();
    await drawn();
  }
  for (const field of form.querySelectorAll(".q textarea, .openq textarea")) {
    type(field, "my own words");
    await drawn();
  }
}
"""


class Tour:
    """Goes everywhere."""

    def __init__(self, page: Page, wire: Tripwire, planted: Planted) -> None:
        self._page, self._wire, self._planted = page, wire, planted
        self.counts: Counter[str] = Counter()
        self.answered = 0

    def walk(self, every: int = 1) -> list[str]:
        """Look at every page, run and card, and answer; return what was wrong, and where.

        What takes longest, and is the same for all texts, is done for one in so `every` many.
        """
        page = self._page
        page.goto("/")
        if found := self._visit("inbox", ".row"):
            return found  # where not even this is as it should be, the rest only takes time
        for name, shown in PAGES.items():
            found += self._visit(name, shown)
        for number, (project, run_id) in enumerate(self._planted.runs):
            place = f"{quote(project, safe='')}/{quote(run_id, safe='')}"
            found += self._visit(
                f"runs/{place}", f"[data-run={json.dumps(run_id, ensure_ascii=False)}] .run-facts"
            )
            if number % every == 0:
                found += self._visit(f"history/run/{place}", "li.moment")
                found += self._visit(f"settings/{quote(project, safe='')}", ".settings")
        for project, flow in self._planted.reviews:
            found += self._visit(f"walk/{quote(project, safe='')}/{quote(flow, safe='')}", "#w-all")
        for number, (project, ask_id) in enumerate(self._planted.asks):
            place = f"inbox/{quote(project, safe='')}/{ask_id}"
            found += self._visit(place, f"form.ask:has(.facts .mono:text-is('{ask_id}')) h2")
            found += self._answer(place, is_sent=number % every == 0)
        return found

    def _visit(self, place: str, shown: str) -> list[str]:
        page = self._page
        page.evaluate("(place) => { location.hash = `#/${place}`; }", place)
        try:
            expect(page.locator(shown).first).to_be_visible()
        except AssertionError as error:
            return [f"{place[:80]}: not drawn: {str(error)[:300]}", *self._wire.look(page)[:_MORE]]
        unfold(page)
        self.counts["places looked at"] += 1
        return [f"{place[:80]}: {line[:300]}" for line in self._wire.look(page)[:_MORE]]

    def _answer(self, place: str, *, is_sent: bool) -> list[str]:
        page = self._page
        button = page.locator("form.ask button[type=submit]")
        try:
            page.evaluate(_FILL)
            expect(button).not_to_have_attribute("aria-disabled", "true")
            self.counts["cards filled in"] += 1
            if is_sent:
                expect(page.locator(".is-armed")).to_have_count(1)
                button.click()
                expect(page.locator("#detail .fate-ok")).to_be_visible()
                self.answered += 1
        except (AssertionError, Error) as error:
            return [f"{place[:80]}: cannot be answered: {str(error)[:300]}", *self._wire.look(page)[:_MORE]]
        return [f"{place[:80]}, answered: {line[:300]}" for line in self._wire.look(page)[:_MORE]]
