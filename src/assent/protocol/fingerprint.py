"""By what two findings are told to be the same: section and title, and the words that they quote.

Evidence is compared by its words in any case (W-X23); everything else about a finding may change from round to round.
"""

from __future__ import annotations

import hashlib
import re
import string
import unicodedata

from assent.protocol.display import is_hidden

__all__ = ["SNIPPET", "finding_id", "fingerprint", "normalise", "overlap", "snippet"]

SNIPPET = 120
"""About so many characters of a quote are kept (W-U10, W-U14)."""
_MAX_ID = 200
_SHORT_DIGEST = 16
_LOOKED_AT = 8 * SNIPPET
"""More of a quote is not searched for marks: taking them out one inside the other takes a look at all of it each time."""
_COMMENT_MARK = re.compile(r"<!--|--!?>")
_MAX_KEPT = 8_192


class _Bare(dict[int, str]):
    """What is left of each character, filled as text comes by."""

    def __missing__(self, point: int) -> str:
        if len(self) >= _MAX_KEPT:
            self.clear()
        letter = chr(point)
        is_mark = letter in string.punctuation or unicodedata.category(letter).startswith("P")
        left = self[point] = "" if is_mark or (is_hidden(letter) and not letter.isspace()) else letter
        return left


_BARE = _Bare()


def normalise(text: str) -> str:
    """Return `text` in lower case, without punctuation and what cannot be seen, in single spaces (W-U4).

    Of a text that is nothing but punctuation it stays: two such titles need not be the same.

    >>> normalise("  Scope: the `re-use`   of IDs! ")
    'scope the reuse of ids'
    >>> normalise(" ?! ")
    '?!'
    """
    bare = " ".join(text.translate(_BARE).lower().split())
    return bare or " ".join(text.lower().split())


def fingerprint(section: str, title: str) -> str:
    """Return by what a finding is known again.

    >>> fingerprint("Scope", "Two tiers.")
    'scope: two tiers'
    """
    return f"{normalise(section)}: {normalise(title)}"


def finding_id(section: str, title: str) -> str:
    """Return the id that synthesis gives: the fingerprint, of which a long one is cut and told apart by its digest."""
    whole = fingerprint(section, title)
    if len(whole) <= _MAX_ID:
        return whole
    return f"{whole[:_MAX_ID]}~{hashlib.sha256(whole.encode()).hexdigest()[:_SHORT_DIGEST]}"


def snippet(quote: str) -> str:
    r"""Return the beginning of a quote as it can stand in a comment of a document, between double quotes.

    >>> snippet('so  called "tiers" --> here')
    'so called \\"tiers\\" here'
    """
    # Backslashes first: without the one in it, `-\->` is a mark.
    quote = " ".join(quote.replace("\\", "").split())[:_LOOKED_AT]
    while _COMMENT_MARK.search(quote):  # again: what is left may come together to another one
        quote = _COMMENT_MARK.sub("", quote)
    words = quote.replace('"', '\\"').split()
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
