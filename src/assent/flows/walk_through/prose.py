"""Text of agents as it can stand between lines of ours.

Rule 1: every hidden character is shown.
Rule 2: in a list, a table or a sentence of ours it is on one line.
Rule 3: where it keeps its lines, one that could pass for a line of ours is quoted with `> `, and a block of code that
        it leaves open is closed.
"""

from __future__ import annotations

import re

from assent.protocol.display import display, skeleton

__all__ = [
    "brief",
    "guard",
    "next_closing",
    "one_line",
    "passage",
    "passes_for_ours",
    "sentences",
]

_HEAD = 80
"""Of a line, enough to see whether it looks like one of ours."""


def one_line(text: str) -> str:
    r"""Return `text` on one line, in single spaces.

    >>> one_line("two\n  lines\u200b")
    'two lines<U+200B>'
    """
    return " ".join(display(text).split())


def brief(text: str, limit: int) -> str:
    """Return `text` on one line, cut at a word where it has more than `limit` characters.

    >>> brief("one two three", 8)
    'one two…'
    """
    line = one_line(text)
    if len(line) <= limit:
        return line
    kept = line[:limit]  # one more than there is room for, so that a word that just fits is kept
    return (kept.rpartition(" ")[0] or kept[:-1]).rstrip(",;:—– ") + "…"


_SENTENCE_END = re.compile(r"(?<=[.!?])(?<!\be\.g\.)(?<!\bi\.e\.)(?<!\bcf\.)(?<!\bvs\.) (?![a-z])")


def sentences(line: str) -> list[str]:
    """Return the sentences of a line."""
    return _SENTENCE_END.split(line)


# Passages


_LABELS = tuple(skeleton(label) for label in ("What's wrong", "Proposed fix", "Why it works"))
_OPENINGS = tuple(skeleton(opening) for opening in ("Section:", "Verdict:", "Review complete", "→"))
_COUNTER = re.compile(re.escape(skeleton("Finding")) + r" \S+ of ")
_HEADING_OR_OPTION = re.compile(r"\s*(?:#{1,6}(?:\s|$)|[A-Za-z][.)]\s)")


def passes_for_ours(line: str) -> bool:
    """Whether a line looks like a heading, a label, an option or a verdict."""
    head = line[:_HEAD]
    shape = skeleton(head.strip(" \t*_#>:"))
    is_bold = head.lstrip().startswith(("**", "__"))
    is_label = shape in _LABELS or (is_bold and shape.startswith(_LABELS))
    is_opening = shape.startswith(_OPENINGS) or _COUNTER.match(shape) is not None
    return is_label or is_opening or _HEADING_OR_OPTION.match(head) is not None


def guard(line: str) -> str:
    """Return a line of an agent's, quoted where it would pass for one of ours."""
    return f"> {line}" if passes_for_ours(line) else line


def passage(text: str) -> str:
    r"""Return `text` in its own lines, none of which can pass for one of ours.

    >>> passage("It is so.\n**Proposed fix**")
    'It is so.\n> **Proposed fix**'
    """
    lines = [line.rstrip() for line in display(text).strip("\n").split("\n")]
    closing = ""
    for line in lines:
        closing = next_closing(line, closing)
    return "\n".join([guard(line) for line in lines] + ([closing] if closing else []))


_FENCE = re.compile(r"\s*+(?P<mark>`{3,}+(?=[^`]*+\Z)|~{3,}+).*+", re.DOTALL).fullmatch


def next_closing(line: str, closing: str) -> str:
    """Return the fence that ends the block of code which is open after `line`; empty: none is."""
    if closing:
        mark = line.strip()
        return "" if len(mark) >= len(closing) and set(mark) == {closing[0]} else closing
    opening = _FENCE(line)
    return opening["mark"] if opening else ""
