"""The agent `linter`: hands in one finding at a time, and does with it what a person decides."""

from __future__ import annotations

from itertools import cycle

import assent
from assent.cli.demo_world.stage import Stage

__all__ = ["play"]

_APPLY, _DEFER, _SKIP, _REST = "apply", "defer", "skip", "rest"
_OPTIONS = (
    assent.Option(_APPLY, "Apply the proposed fix", recommended=True),
    assent.Option(_DEFER, "Defer — keep it in the list of open findings"),
    assent.Option(_SKIP, "Skip — leave the code as it is"),
    assent.Option(_REST, "Apply this one, and all like it without asking"),
)
_FINDINGS = (
    (
        "P1 A declined card is tried again for ever",
        (
            "`charge.py:88` repeats every answer that is not a success. A card that the bank has declined stays"
            " declined, and after the fifth try the bank blocks it."
        ),
        "Give up on `declined`, and tell the customer at once.",
        "The bank documents `declined` as final. The other two callers do it that way already.",
    ),
    (
        "P2 The total is compared as a float",
        (
            "`basket.py:31` says `total == paid`. Of 10,000 baskets about 40 differ in the last bit, and those orders"
            " are held back for a person."
        ),
        "Compare whole cents.",
        "Everything else in the module counts cents; this line is the only one that does not.",
    ),
    (
        "P3 Nobody reads the field `coupon_hint`",
        (
            "It is written into every order and read nowhere. It holds what people typed, also when that was not a"
            " coupon."
        ),
        "Stop writing it; drop the column next month.",
        "Nothing that is not kept can leak.",
    ),
)


def play(stage: Stage) -> None:
    """Hand in one finding after the other."""
    is_trusted = False
    for title, wrong, fix, why in cycle(_FINDINGS):
        if is_trusted:  # a person said so, for the rest of this round
            is_trusted = title != _FINDINGS[-1][0]
            stage.pause()
            continue
        body = f"**What's wrong**\n\n{wrong}\n\n**Proposed fix**\n\n{fix}\n\n**Why it works**\n\n{why}"
        is_trusted = stage.ask(title, _OPTIONS, body=body, kind=assent.Kind.FINDING) == _REST
        stage.rest(8)
