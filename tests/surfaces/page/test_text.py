"""Text of agents as the page draws it has the marks that the terminal has, character by character."""

import itertools
import unicodedata
from pathlib import Path

from assent.protocol.display import display, display_exact
from tests.surfaces.page.in_node import call

__all__: list[str] = []

DRAWN = """
import { pieces, plain } from "/page/text.js";
const drawn = (text, how) =>
  pieces(text, how).map((piece) => (typeof piece === "string" ? piece : `<${piece.mark}>`)).join("");
export default (texts) => texts.map((text) =>
  [drawn(text, { lines: true }), drawn(text, { lines: false }), plain(text), drawn(text, { lines: false, exact: true })]);
"""
ACUTE, ENCLOSED, SPACING = "\u0301", "\u20dd", "\U0001d165"  # Mn, Me, and a Mc that stacks
HOSTILE = [
    "plain text",
    "",
    "two\nlines\tand a tab",
    "carriage\rreturn and\r\nboth",
    "zero\u200bwidth \u200c \u200d \ufeff",
    "\u202eright to left\u202c \u2066isolate\u2069",
    "\x1b[2J\x1b]0;title\x07 \x9b31m \x00 \x7f",
    "line\u2028and\u2029paragraph \x85",
    "no\u00a0break \u3000 \u2003",
    "half \ud83d pair \ude00",
    "whole \U0001f600 pair, \U0001f468\u200d\U0001f469 family, keycap 1\ufe0f\u20e3",
    "tags \U000e0041\U000e007f private \ue000 \U0010fffd nobody's \u0378 \uffff",
    "fillers \u034f\u115f\u1160\u3164\uffa0\u17b4\u180e\u2800\ufffc\U0001d159\U00016fe4\U00013441",
    "soft\u00adhyphen, word\u2060joiner, Mongolian \u180b",
    "日本語 العربية עברית हिन्दी ไทย e\u0301",
    ACUTE,
    ACUTE * 3 + "at the start",
    "line\n" + ACUTE * 2 + "start of the next",
    "line\r\n" + ACUTE + "start after both",
    "tower e" + ACUTE * 8,
    "tower e" + ACUTE * 9,
    "tower e" + ACUTE * 40 + " and on",
    "mixed e" + (ACUTE + ENCLOSED) * 10,
    "spacing e" + SPACING * 12,
    SPACING + "at the start",
    "broken e" + ACUTE * 5 + "\u034f" + ACUTE * 5,
    "broken e" + ACUTE * 8 + "\u200b" + ACUTE * 9,
    "\u200b" + ACUTE * 2,
    "\n\u200b" + ACUTE,
    "<script>alert(1)</script> &amp; <U+200B>",
    "\u2764\ufe0f\u200d\U0001f525 \U0001f468\U0001f3fd\u200d\U0001f680 \U0001f3f3\ufe0f\u200d\U0001f308",
    "\U0001f468\u200d \u200d\U0001f468 \U0001f468\u200d\u200d\U0001f468 \U0001f468\ufe0f\ufe0f a\u200d\U0001f468 x\ufe0f 1\ufe0f #\ufe0f\u20e3",
    "\u2764\ufe0f" + ACUTE * 9,
    "ls # note\nrm -rf /srv \t\n\n  ",
    " ",
    "one\r\ntwo\u00a0three\u3000",
]


def test_hidden_characters_have_the_marks_of_the_terminal(tmp_path: Path) -> None:
    """In lines, on one line, and character by character; what a label or a title gets is on one line."""
    drawn = call(tmp_path, DRAWN, HOSTILE)
    on_one_line = [display(text, lines=False) for text in HOSTILE]
    assert [told[0] for told in drawn] == [display(text) for text in HOSTILE]
    assert [told[1:3] for told in drawn] == [[line, line] for line in on_one_line]
    assert [told[3] for told in drawn] == [display_exact(text) for text in HOSTILE]


def test_every_character_that_hides_has_the_mark_of_the_terminal(tmp_path: Path) -> None:
    """One by one, behind a letter; what newer tables know to be visible, an older one may mark."""
    points = [*range(0x3400), *range(0xA000, 0xAC00), *range(0xD700, 0x14000), *range(0x16F00, 0x17000)]
    points += [*range(0x1B000, 0x1B400), *range(0x1BC00, 0x1F800), *range(0xE0000, 0xE1010)]
    texts = [f"a{chr(point)}" for point in points]
    drawn = [lines for lines, *_ in call(tmp_path, DRAWN, texts)]
    differing = {
        text: (told, display(text)) for text, told in zip(texts, drawn, strict=True) if told != display(text)
    }
    assert {text for text, (told, _) in differing.items() if told != text} == set()
    assert {unicodedata.category(text[-1]) for text in differing} <= {"Cn"}


def test_character_that_stacks_and_counts_as_a_letter_is_no_tower(tmp_path: Path) -> None:
    """Few of those that take a place of their own sit on the one before; a browser has no table that says which."""
    points = [point for point in range(0x20000) if unicodedata.combining(chr(point))]
    spacing = [chr(point) for point in points if unicodedata.category(chr(point)) == "Mc"]
    towers = [f"a{mark * 9}" for mark in spacing]
    assert len(towers) > 20
    assert [lines for lines, *_ in call(tmp_path, DRAWN, towers)] == [display(tower) for tower in towers]


def test_long_hostile_text_is_drawn_in_a_moment(tmp_path: Path) -> None:
    """A quarter of a million characters; a search that looks back over all of them would not come to its end."""
    units = (ACUTE, "\u200b", "a" + ACUTE * 9, "\n" + ACUTE, SPACING, "e\u034f")
    texts = ["".join(itertools.islice(itertools.cycle(unit), 250_000)) for unit in units]
    drawn = [lines for lines, *_ in call(tmp_path, DRAWN, texts)]
    assert [told == display(text) for told, text in zip(drawn, texts, strict=True)] == [True] * len(units)
