"""Text laid out in columns of a terminal. It takes text that `display` has made safe, and adds nothing to it.

No character is lost: where a part fills its row to the end, the next one goes on with the same word; where it does not, it
was cut at a blank. Of several blanks the others begin the next part, where they are seen.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache

__all__ = ["columns", "cut", "pad", "wrap"]

_TAB = "    "
_JOINER = "\N{ZERO WIDTH JOINER}"
_MOST_PER_COLUMN = 9
"""Characters that can stand in one column: `display` lets no more marks sit on one base."""


@lru_cache(maxsize=8_192)
def _cells(character: str) -> int:
    if character.isascii():
        return 1
    if unicodedata.east_asian_width(character) in "WF":
        return 2
    return 0 if unicodedata.category(character) in ("Mn", "Me", "Cf") else 1


def columns(text: str) -> int:
    """Return how many columns `text` takes."""
    return len(text) if text.isascii() else sum(map(_cells, text))


def _split(text: str, width: int) -> tuple[str, str]:
    """Return the beginning of `text` that fits into `width` columns, at least a character, and the rest."""
    taken = 0
    for index, character in enumerate(text):
        taken += _cells(character)
        if taken > width and index:
            end = _before_joint(text, index) or index
            return text[:end], text[end:]
    return text, ""


def _before_joint(text: str, index: int) -> int:
    """Return where the picture begins that a cut would tear apart; the place itself where there is none."""
    while index > 0 and text[index - 1] == _JOINER:
        index -= 1
        while index > 0 and not _cells(text[index - 1]):
            index -= 1
        index -= 1
    return index


def cut(text: str, width: int) -> str:
    """Return `text` on one line of at most `width` columns, with a sign where something is left out."""
    if columns(text) <= width:
        return text
    head = _split(text, width - 1)[0]
    return f"{head}…" if columns(head) < width else "…"


def pad(text: str, width: int) -> str:
    """Return `text` in exactly `width` columns."""
    shown = cut(text, width)
    return shown + " " * (width - columns(shown))


def wrap(text: str, width: int) -> list[str]:
    """Return `text` in lines of at most `width` columns; its own line ends and indents stay."""
    lines: list[str] = []
    for line in text.replace("\t", _TAB).split("\n"):
        lines.extend(_wrap_line(line, width))
    return lines


def _wrap_line(line: str, width: int) -> list[str]:
    """Return one line in parts. No character is looked at more than a few times: a text may be very long."""
    if columns(line) <= width:
        return [line]
    words = line.lstrip(" ")
    indent = " " * (len(line) - len(words))
    if len(indent) > width // 2:
        words, indent = line, ""
    room = width - len(indent)
    lines: list[str] = []
    start = 0
    while start < len(words):
        end = start + len(_split(words[start : start + _MOST_PER_COLUMN * room], room)[0])
        blank = _last_gap(words, start, end) if end < len(words) else 0
        lines.append(indent + words[start : blank or end])  # a word that is too long for a line is broken
        start = blank + 1 if blank else end
    return lines


def _last_gap(words: str, start: int, end: int) -> int:
    """Return where the last gap between two words begins; 0 where there is none."""
    blank = words.rfind(" ", start + 1, end)
    while blank > 0 and words[blank - 1] == " ":
        blank = words.rfind(" ", start + 1, blank) if blank - 1 > start else 0
    return max(blank, 0)
