"""Numbers with their nouns, and several words in one sentence."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["count", "join_words"]


def count(number: int, noun: str) -> str:
    """Return `1 ask`, `2 asks`.

    >>> count(1, "event"), count(12_000, "ask")
    ('1 event', '12,000 asks')
    """
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def join_words(words: Iterable[str]) -> str:
    """Return several words as a sentence lists them; there is at least one.

    >>> join_words(["coherence", "feasibility", "scope"])
    'coherence, feasibility and scope'
    """
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last
