"""Three hundred hostile texts in every place that somebody else writes in, looked at in a real browser.

Nothing of them runs, nothing asks another site, nothing hides or stands in the way, and every card can be answered.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from playwright.sync_api import Page, expect

from assent.protocol.principal import Role
from assent.testing import throwaway
from assent.testing.server import ThrowawayServer
from tests.surfaces.page.browsing import (
    DESKTOP,
    PHONE,
    Mishaps,
    a_browser,
    new_context,
    serve_without,
    sign_in,
)
from tests.surfaces.page.hostile_tour import Tour
from tests.surfaces.page.payloads import PAYLOADS
from tests.surfaces.page.planting import plant
from tests.surfaces.page.tripwire import Tripwire
from torture.nest import Nest
from torture.nursery import Wire
from torture.trial import Plan, Tally, Trial, Twin, Verdict

__all__ = ["TRIAL", "reader", "run"]

_AT_ONCE = 15
"""Texts that stand in one store; each is a project of its own, and a page that has too many of them shows nothing else."""
_PATIENCE = 300.0
_KINDS = {
    "scripts run": ("hacked", "dialog:", "the prototype", "element <", "attribute ", "link "),
    "policy breaches": ("breach:", "console:", "uncaught:"),
    "requests that left": ("left the site", "went to", "another window"),
    "hidden characters": ("hidden:",),
    "sideways": ("sideways:",),
    "not drawn or answered": ("not drawn", "cannot be answered"),
}
_TEXT = "text.js"
_UNDRAWN_MILLISECONDS = 5_000


def _said(line: str) -> str:
    """Return what was found, without where: a place is named by the hostile text, and a snapshot of the page follows it."""
    place, _, found = line.partition("\n")[0].partition(": ")
    return found if "/" in place else f"{place}: {found}"


def run(plan: Plan) -> Verdict:
    """Let a worker with a browser of its own look at every share, in turns at a desk and on a phone."""
    tally = Tally((*_KINDS, "other"))
    chosen = PAYLOADS[: plan.count(len(PAYLOADS))]
    for number, first in enumerate(range(0, len(chosen), _AT_ONCE)):
        texts = chosen[first : first + _AT_ONCE]
        with Nest("") as nest:
            worker = nest.start(
                "torture.page:reader", texts=texts, is_phone=bool(number % 2), lacks=plan.twin
            )
            heard = worker.hear(_PATIENCE)
        for line in heard["found"]:
            kind = next(
                (kind for kind, marks in _KINDS.items() if any(mark in _said(line) for mark in marks)),
                "other",
            )
            tally.fault(kind, line)
        tally.add("texts", len(texts))
        for name, count in heard["counts"].items():
            tally.add(name, count)
        plan.progress(f"{tally.counts['texts']} of {len(chosen)} texts")
    tally.require("texts", len(chosen))
    if not plan.twin:
        tally.require("cards answered", 2 * len(chosen))
    return tally.verdict()


# Worker


def reader(wire: Wire, texts: list[str], is_phone: bool, lacks: str) -> None:
    """Show these texts, look at all of it, and tell what was wrong."""
    viewport = PHONE if is_phone else DESKTOP
    with (
        tempfile.TemporaryDirectory(prefix="assent-torture-") as folder,
        throwaway(project="shop") as store,
        ThrowawayServer(store) as site,
        a_browser() as shared,
        shared.taken() as browser,
    ):
        planted = plant(site, texts, Path(folder))
        mishaps = Mishaps(site.url)
        session = sign_in(site.url, site.token(Role.HUMAN, "ana"))
        context = new_context(browser, mishaps, theme="light", viewport=viewport, session=session)
        page = context.new_page()
        _unguard(page, lacks)
        tour = Tour(page, Tripwire(context, mishaps), planted)
        found = tour.walk()
        context.close()
    counts = {
        "places looked at": tour.counts["places looked at"],
        "cards answered": tour.answered,
        "fields with a text as it was": planted.fields.total(),
        "fields with a text made fit": planted.tamed.total(),
    }
    wire.say(found=found, counts=counts)


def _unguard(page: Page, twin: str) -> None:
    """Give the page a module that lacks its guard."""
    if not twin:
        return
    if twin == "markup":
        expect.set_options(
            timeout=_UNDRAWN_MILLISECONDS
        )  # no list is ever drawn: the policy keeps it from that
    given, instead = {
        "unmarked": ("  if (exact ? PLAIN_EXACT", "  return [given];\n  if (exact ? PLAIN_EXACT"),
        "markup": (
            "  const drawn = pieces(text",
            "  return html`<span dangerouslySetInnerHTML=${{ __html: text }} />`;\n  const drawn = pieces(text",
        ),
    }[twin]
    serve_without(page, _TEXT, given, instead)


TRIAL = Trial(
    "page",
    "300 hostile texts in every place that others write in: none runs, leaves, hides or keeps anybody from answering",
    run,
    (
        Twin("unmarked", "what cannot be seen is shown as a mark", "hidden characters", 0.013),
        Twin("markup", "text is never read as markup", "policy breaches", 0.003),
    ),
    share=0.004,
)
