"""Which lines of a change can take a comment: those that stand in a hunk of its patch, as GitHub shows it."""

from __future__ import annotations

import re
from collections.abc import Iterable

import msgspec

__all__ = ["ChangedFile", "Lines", "lines_of", "places_of"]

_HUNK = re.compile(r"@@ -(?P<old>[0-9]+)(?:,(?P<olds>[0-9]+))? \+(?P<new>[0-9]+)(?:,(?P<news>[0-9]+))? @@")

Lines = frozenset[tuple[str, int]]
"""Sides and numbers: `("RIGHT", 3)` is the third line of the new text."""


class ChangedFile(msgspec.Struct, frozen=True):
    """A file as GitHub lists it with a pull request."""

    filename: str
    patch: str | None = None
    """Left out where the file is binary, or the change too large."""


def lines_of(patch: str) -> Lines:
    r"""Return the lines that a patch shows.

    >>> sorted(lines_of("@@ -1,2 +1,2 @@\n same\n-old\n+new"))
    [('LEFT', 1), ('LEFT', 2), ('RIGHT', 1), ('RIGHT', 2)]
    """
    found: set[tuple[str, int]] = set()
    old = new = olds = news = 0
    for line in patch.split("\n"):
        if olds <= 0 and news <= 0:
            # Only between hunks: a line of a text may look like the head of one.
            if hunk := _HUNK.match(line):
                old, new = int(hunk["old"]), int(hunk["new"])
                olds, news = (int(hunk[name] or "1") for name in ("olds", "news"))
            continue
        mark = line[:1]
        if mark in ("-", " ", ""):
            found.add(("LEFT", old))
            old, olds = old + 1, olds - 1
        if mark in ("+", " ", ""):
            found.add(("RIGHT", new))
            new, news = new + 1, news - 1
    return frozenset(found)


def places_of(files: Iterable[ChangedFile]) -> dict[str, Lines | None]:
    """Return per file the lines that can take a comment; nothing is known of a file without a patch."""
    return {file.filename: None if file.patch is None else lines_of(file.patch) for file in files}
