"""By what two findings are told to be the same: section and title, and the words that they quote.

Evidence is compared by its words in any case (W-X23); everything else about a finding may change from round to round.
"""

from __future__ import annotations

import re
import unicodedata

__all__ = ["SNIPPET", "fingerprint", "normalise", "overlap", "snippet"]

SNIPPET = 120
"""About so many characters of a quote are kept (W-U10, W-U14)."""
_COMMENT_MARK = re.compile(r"<!--|--!?>")


def normalise(text: str) -> str:
    """Return `text` in lower case, without punctuation, in single spaces (W-U4).

    >>> normalise("  Scope: the re-use   of IDs! ")
    'scope the reuse of ids'
    """
    bare = "".join(letter for letter in text if not unicodedata.category(letter).startswith("P"))
    return " ".join(bare.lower().split())


def fingerprint(section: str, title: str) -> str:
    """Return by what a finding is known again; it is its id, too.

    >>> fingerprint("Scope", "Two tiers.")
    'scope: two tiers'
    """
    return f"{normalise(section)}: {normalise(title)}"


def snippet(quote: str) -> str:
    r"""Return the beginning of a quote as it can stand in a comment of a document, between double quotes.

    >>> snippet('so  called "tiers" --> here')
    'so called \\"tiers\\" here'
    """
    while _COMMENT_MARK.search(quote):  # again: what is left may come together to another one
        quote = _COMMENT_MARK.sub("", quote)
    words = quote.replace("\\", "").replace('"', '\\"').split()
    kept = ""
    for word in words:
        longer = f"{kept} {word}".strip()
        if len(longer) > SNIPPET:
            break
        kept = longer
    return kept or (words[0][:SNIPPET].rstrip("\\") if words else "")


def overlap(one: str, other: str) -> float:
    """Return how much of the shorter of two quotes the other has, word for word, from 0 to 1."""
    words, more = (set(normalise(quote).split()) for quote in (one, other))
    if not words or not more:
        return 1.0 if words == more else 0.0
    return len(words & more) / min(len(words), len(more))
