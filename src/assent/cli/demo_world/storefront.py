"""The agent `storefront`: builds a checkout, and asks what it cannot know. Each question follows from the last answer."""

from __future__ import annotations

from collections.abc import Callable
from itertools import cycle

from assent.cli.demo_world.stage import Stage

__all__ = ["play"]

_CARTS = {
    "Keep it for 30 days": "thirty days",
    "Keep it until it is paid for": "as long as it takes",
    "Drop it when the tab closes": "one visit",
}


def play(stage: Stage) -> None:
    """Tell one story after the other."""
    for story in cycle(_STORIES):
        story(stage)
        stage.pause()


def _carts(stage: Stage) -> None:
    kept = stage.ask(
        "How long should an abandoned cart be kept?",
        [*_CARTS],
        body="Two in three carts are left before payment. Of those that come back, **nine in ten** do so within"
        " three weeks.\n\n- Each kept cart holds a name and an address.\n- Moving from one choice to another later"
        " takes a migration and about a day.",
    )
    if kept is None:
        stage.ask(
            "Leave carts as they are, and go on with payment?",
            ["Yes, go on with payment", "No, stop here"],
            body="You did not want to decide about carts. I have changed nothing there.",
        )
        return
    reminded = stage.ask(
        f"A cart now lives for {_CARTS[kept]}. Should we write to people who left one?",
        ["Once, after a day", "Twice, after a day and after a week", "Never"],
        body="A reminder is a message that nobody asked for. The first one brings back about 8 carts in 100, the"
        " second one 2 more, and 1 person in 100 unsubscribes from everything.",
    )
    if reminded in (None, "Never"):
        return
    stage.ask(
        "What should the subject line be?",
        ["You left something behind", "Still thinking about it?"],
        free=True,
        other="Something else: type it",
        body=f"It will be sent: {reminded.lower()}.",
    )


def _rounding(stage: Stage) -> None:
    where = stage.ask(
        "Three discounts meet in one basket. Where do we round?",
        ["After each discount", "Once, at the end"],
        body="For `19.99` with 10 %, 5 % and 5 % off the two ways differ by one cent:\n\n"
        "| way | total |\n| --- | --- |\n| after each | 16.24 |\n| at the end | 16.23 |\n\n"
        "The invoice service does it *after each*. The old shop did it *at the end*.",
    )
    if where is None:
        return
    stage.ask(
        "Old orders were rounded the other way. Recalculate them?",
        ["No, they are history", "Yes, and keep both totals"],
        body=f"New baskets are rounded {where.lower()}. 4,112 orders of last year would change by a cent.",
    )


_STORIES: tuple[Callable[[Stage], None], ...] = (_carts, _rounding)
