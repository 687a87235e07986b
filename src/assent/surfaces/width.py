"""Text laid out in columns of a terminal. It takes text that `display` has made safe, and adds nothing to it."""

from __future__ import annotations

import unicodedata
from functools import lru_cache

__all__ = ["columns", "cut", "pad", "wrap"]

_TAB = "    "
_MOST_PER_COLUMN = 9
"""Characters that can stand in one column: `display` lets no more marks sit on one base."""


@lru_cache(maxsize=8_192)
def _cells(character: str) -> int:
    if character.isascii():
        return 1
    if unicodedata.east_asian_width(character) in "WF":
        return 2
    return 0 if unicodedata.category(character) in ("Mn", "Me") else 1


def columns(text: str) -> int:
    """Return how many columns `text` takes."""
    return len(text) if text.isascii() else sum(map(_cells, text))


def _split(text: str, width: int) -> tuple[str, str]:
    """Return the beginning of `text` that fits into `width` columns, at least a character, and the rest."""
    taken = 0
    for index, character in enumerate(text):
        taken += _cells(character)
        if taken > width and index:
            return text[:index], text[index:]
    return text, ""


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
        lines.extend(_wrap_line(line.rstrip(), width))
    return lines


def _wrap_line(line: str, width: int) -> list[str]:
    """Return one line in parts. No character is looked at more than a few times: a text may be very long."""
    if columns(line) <= width:
        return [line]
    words = line.lstrip(" ")
    indent = " " * min(len(line) - len(words), width // 2)
    room = width - len(indent)
    lines: list[str] = []
    start = 0
    while start < len(words):
        end = start + len(_split(words[start : start + _MOST_PER_COLUMN * room], room)[0])
        if end < len(words) and words[end] != " ":
            blank = words.rfind(" ", start, end)
            end = blank if blank > start else end  # a word that is too long for a line is broken
        lines.append(indent + words[start:end].rstrip(" "))
        start = end
        while start < len(words) and words[start] == " ":
            start += 1
    return lines
