"""Numbers with their nouns."""

from __future__ import annotations

__all__ = ["count"]


def count(number: int, noun: str) -> str:
    """Return `1 ask`, `2 asks`.

    >>> count(1, "event"), count(12_000, "ask")
    ('1 event', '12,000 asks')
    """
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
