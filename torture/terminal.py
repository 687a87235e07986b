"""Five thousand hostile texts in every field of the terminal inbox: no byte of them reaches the terminal that it would obey.

First each text in every card, list and run, line by line; then the program itself on a pty, with keys.
"""

from __future__ import annotations

from contextlib import ExitStack
from unittest.mock import patch

from assent.surfaces.tui.screen import compose
from tests.surfaces.tui.hostile import COUNT, controls_in, hostile_texts, hostile_views
from tests.surfaces.tui.on_a_pty import PACKED, obeyed_in, sit
from torture.trial import Plan, Tally, Trial, Twin, Verdict

__all__ = ["TRIAL", "run"]

_SIZES = ((120, 36), (80, 24), (40, 12), (40, 10))
_AT_ONCE = 500
"""Texts of one sitting on a pty."""
_KINDS = ("obeyed in a line", "lines of another width", "obeyed on a terminal")


def run(plan: Plan) -> Verdict:
    """Look at every text in lines, and at all of them on a terminal."""
    tally = Tally(_KINDS)
    texts = hostile_texts()[: plan.count(COUNT)]
    with ExitStack() as stack:
        if plan.twin:
            stack.enter_context(patch("assent.surfaces.tui.ask_card.display", _unguarded))
        for number, text in enumerate(texts):
            width, height = _SIZES[number % len(_SIZES)]
            for view in hostile_views(text):
                lines = compose(view, width, height)
                found = controls_in("".join(line.text for line in lines))
                tally.check(not found, _KINDS[0], (text, found))
                tally.check({line.width for line in lines} == {width}, _KINDS[1], text)
                tally.add("screens")
            tally.add("texts")
            if number % _AT_ONCE == 0 and number:
                plan.progress(f"{number} of {len(texts)} texts in lines")
    if not plan.twin:  # a twin is in this process, the program is another one
        for start in range(0, len(texts), _AT_ONCE):
            share = texts[start : start + _AT_ONCE]
            seen = sit(share)
            found = obeyed_in(seen.written)
            tally.check(not found, _KINDS[2], found)
            tally.add("asks on a terminal", seen.asks)
            tally.add("bytes on a terminal", len(seen.written))
        tally.require("asks on a terminal", len(texts) // PACKED)
    tally.require("texts", len(texts))
    return tally.verdict()


def _unguarded(text: str, *, lines: bool = True) -> str:
    return text if lines else text.replace("\n", " ")


TRIAL = Trial(
    "terminal",
    "5,000 hostile texts in every field of the terminal inbox: nothing that a terminal obeys reaches it",
    run,
    (Twin("unmarked", "what agents write is made safe before it is laid out", "obeyed in a line", 0.004),),
    share=0.0,  # tests/surfaces/tui/test_hostile.py looks at a fortieth of them, on a terminal too
)
