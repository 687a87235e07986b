"""A line of the screen: pieces of text, each with its paint, in a known number of columns.

What other rooms render for a terminal comes as text with the codes of `Ink`; nothing else in it can be a code, for what
agents wrote has passed `display`. Here it becomes pieces, so that lines can stand beside each other.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from assent.surfaces.ink import Ink
from assent.surfaces.width import columns, cut

__all__ = [
    "ACCENT",
    "CAUTION",
    "DANGER",
    "FAINT",
    "GOOD",
    "INK",
    "STRONG",
    "Line",
    "fit",
    "join",
    "line",
    "lines_of",
    "mark",
    "read_ink",
    "rule",
    "spread",
]

INK = Ink(is_plain=False)
"""Whether colour is shown is decided where the pieces are drawn."""
STRONG, FAINT, DANGER, GOOD, CAUTION, ACCENT = "1", "2", "31", "32", "33", "36"
"""The paints of `Ink`."""
_CODE = re.compile(r"\x1b\[(?P<code>[0-9;]*)m")


class Line(NamedTuple):
    """Pieces of a line, in order: text and paint; a paint is a code of `Ink`, or empty."""

    pieces: tuple[tuple[str, str], ...] = ()

    @property
    def text(self) -> str:
        """What is read."""
        return "".join(text for text, _ in self.pieces)

    @property
    def width(self) -> int:
        """How many columns it takes."""
        return sum(columns(text) for text, _ in self.pieces)


def line(text: str, paint: str = "") -> Line:
    """Return a line of one piece."""
    return Line(((text, paint),) if text else ())


def read_ink(painted: str) -> Line:
    """Return the pieces of a text that `Ink` painted.

    >>> read_ink(INK.strong("Title") + " plain").pieces
    (('Title', '1'), (' plain', ''))
    """
    pieces, paint, end = [], "", 0
    for found in _CODE.finditer(painted):
        if found.start() > end:
            pieces.append((painted[end : found.start()], paint))
        paint = "" if found["code"] == "0" else found["code"]
        end = found.end()
    if end < len(painted):
        pieces.append((painted[end:], paint))
    return Line(tuple(pieces))


def lines_of(painted: Iterable[str]) -> list[Line]:
    """Return painted texts as lines."""
    return [read_ink(text) for text in painted]


def join(*parts: Line | str) -> Line:
    """Return parts as one line."""
    pieces: list[tuple[str, str]] = []
    for part in parts:
        pieces += part.pieces if isinstance(part, Line) else line(part).pieces
    return Line(tuple(pieces))


def fit(given: Line, width: int) -> Line:
    """Return a line in exactly `width` columns: cut with a sign, or filled up."""
    lacking = width - given.width
    if lacking >= 0:
        return join(given, " " * lacking) if lacking else given
    left, pieces = width, []
    for text, paint in given.pieces:
        taken = columns(text)
        if taken >= left:
            # Something follows, or this one is too long: in both cases a sign says so.
            shown = cut(text if taken > left else text + "…", left)
            pieces.append((shown, paint))
            left -= columns(shown)
            break
        pieces.append((text, paint))
        left -= taken
    return join(Line(tuple(pieces)), " " * left) if left > 0 else Line(tuple(pieces))


def mark(texts: Iterable[str], paint: str = "", margin: str = "") -> list[Line]:
    """Return lines of somebody else's: each begins with the sign that says so."""
    return [join(line(f"{margin}: ", FAINT), line(text, paint)) for text in texts]


def rule(said: str, width: int, end: str = "") -> Line:
    """Return a line that begins a part of a card; what does not fit at its end is left out.

    >>> rule("ana wrote", 24, "now").text
    '-- ana wrote ------- now'
    """
    tail = f" {end}" if end and columns(said) + columns(end) + 8 <= width else ""
    head = f"-- {cut(said, max(1, width - 4))} "
    return line(f"{head}{'-' * max(0, width - columns(head) - columns(tail))}{tail}", FAINT)


def spread(left: Line, right: Line, width: int) -> Line:
    """Return two parts of a line, one at each end; the left one is cut where both do not fit."""
    room = max(1, width - right.width)
    return join(fit(left, room), right)
