"""Names that differ from run to run: ids, moments, spans, process numbers, secrets. Masked, two runs can be compared.

The ids of a run are known from its store. Those of a page must be told from words: a captured page holds only ids
with a digit and a letter among their last six characters (`tools.play --write` tries again until that is so).
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path

from assent.hub.compose import hub_on_database, hub_on_file

__all__ = ["Names", "can_be_told", "known_ids"]

_ALPHABET = "0-9a-hjkmnp-tv-z"
_SHORT = 6
_PAGE_ID = re.compile(
    rf"(?<![\w:])(?:ask_[{_ALPHABET}]{{18}}|(?!sha256)(?=[a-z]*[0-9])(?=[0-9]*[a-z])[{_ALPHABET}]{{{_SHORT}}})(?!\w)"
)
_PASSING = (
    (re.compile(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?: UTC|Z)?"), "<moment>"),
    (re.compile(r"\bFrom \d{4}-\d\d-\d\d review\b"), "From <day> review"),
    (re.compile(r"\b\d\d:\d\d:\d\d\b"), "<time>"),
    (re.compile(r" *\b\d+(?:\.\d+)? (?:s|min|h|days?)\b(?: \d+ min\b)?"), " <span>"),
    (re.compile(r"\b\d+:\d\d\b"), "<span>"),
    (re.compile(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b"), "<request>"),
    (re.compile(r"\b(?:loop|issue|grind)-\d{10}-\d+\b"), "<run>"),
    (re.compile(r"\b(process|PID) \d+"), r"\1 <number>"),
    (re.compile(r"\bin \d+\.\d+s\b"), "in <span>"),
    (re.compile(r"sha256:[0-9a-f]{64}"), "<digest>"),
    (re.compile(rf"\b(cmd|tok|rcp)_[{_ALPHABET}]{{18}}"), r"<\1>"),
    (re.compile(r"\bassent_[0-9a-f]{64}\b"), "<secret>"),
    (re.compile(r"/sign-in#[\w-]{20,}"), "/sign-in#<code>"),
    (re.compile(r"\b(oq|ab|hil|af)-[0-9a-f]{8}\b"), r"<\1 notification>"),
)


def known_ids(folder: Path, database: str | None = None) -> list[str]:
    """Return the ids of all asks in the stores below a folder, and in a database if there is one."""
    found: list[str] = []
    # A backup grows in a folder of its own, and nobody is to open it before it is whole.
    # What ends meanwhile takes its folders along: os.walk passes over a folder that is gone.
    paths = sorted(
        Path(place, name)
        for place, _, names in os.walk(folder)
        if not Path(place).name.startswith(".assent-")
        for name in names
        if name.endswith(".db")
    )
    hubs = [hub_on_file(path) for path in paths]
    for hub in hubs if database is None else [*hubs, hub_on_database(database)]:
        try:
            with hub.reading() as reader:
                for head in reader.heads():
                    found += [ask.ask_id for ask in reader.asks(head.project, None, 1_000)]
        finally:
            hub.close()
    return found


def can_be_told(ask_id: str) -> bool:
    """Tell whether a page may show this id."""
    return _PAGE_ID.fullmatch(ask_id[-_SHORT:]) is not None


class Names:
    """The ids of one text, numbered in the order in which they appear."""

    def __init__(self) -> None:
        self._full: dict[str, str] = {}
        """The end of an id to all that is known of it, in order."""

    def learn(self, shown: str, ids: Iterable[str]) -> None:
        """Take note of the ids of a run that `shown` mentions."""
        places = [(shown.find(ask_id[-_SHORT:]), ask_id) for ask_id in ids]
        for place, ask_id in sorted(places):
            if place >= 0:
                self._full.setdefault(ask_id[-_SHORT:], ask_id)

    def learn_page(self, told: str) -> None:
        """Take note of what looks like an id in a page."""
        for name in self.in_page(told):
            self._full.setdefault(name[-_SHORT:], name)

    def in_page(self, told: str) -> list[str]:
        """Return what looks like an id in a page."""
        return _PAGE_ID.findall(told)

    def number(self, name: str) -> int:
        """Return the place of an id among all."""
        return list(self._full).index(name[-_SHORT:])

    def at(self, number: int) -> str | None:
        """Return the id at a place."""
        ids = list(self._full.values())
        return ids[number] if number < len(ids) else None

    def mask(self, shown: str) -> str:
        """Return `shown` with everything masked that may differ."""
        for number, end in enumerate(self._full):
            shown = re.sub(rf"(?:\bask_[{_ALPHABET}]{{12}}|\b){re.escape(end)}\b", f"<ask {number}>", shown)
        for pattern, mask in _PASSING:
            shown = pattern.sub(mask, shown)
        return shown
