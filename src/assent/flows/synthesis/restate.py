"""Residual risks and deferred questions that only repeat a finding (W-U9, 3.9).

One repeats a finding when it is its title or a sentence of its reason in other spelling, or holds the title word for
word. Likeness beyond that is a matter of reading, and stays.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from assent.protocol.finding import Finding
from assent.protocol.fingerprint import normalise

__all__ = ["Restatements"]

_SENTENCE_END = re.compile(r"[.!?;:]\s|\n")
_PHRASE_FROM, _PHRASE_TO = 3, 10
"""Words of a title that is looked for inside other texts: fewer could stand there by chance, and a title has no more (W-U1)."""
_SENTENCES = 20
"""Of a reason."""
_LOOKED_AT = 100
"""Words of a risk or question."""


class Restatements:
    """Tells which texts repeat one of these findings."""

    def __init__(self, findings: Iterable[Finding]) -> None:
        self._sentences: set[str] = set()
        self._phrases: dict[int, set[tuple[str, ...]]] = {}
        for finding in findings:
            titles = [normalise(title) for title in (finding.title, finding.plain_title) if title.strip()]
            self._sentences |= {*titles, normalise(finding.why_it_matters)}
            parts = (normalise(part) for part in _SENTENCE_END.split(finding.why_it_matters, _SENTENCES))
            self._sentences |= {part for part in parts if part.count(" ") + 1 >= _PHRASE_FROM}
            for words in (tuple(title.split()) for title in titles):
                if _PHRASE_FROM <= len(words) <= _PHRASE_TO:
                    self._phrases.setdefault(len(words), set()).add(words)

    def repeats(self, text: str) -> bool:
        """Whether `text` says nothing that a finding does not say."""
        bare = normalise(text)
        if bare in self._sentences:
            return True
        words = tuple(bare.split(" ", _LOOKED_AT)[:_LOOKED_AT])
        return any(
            words[start : start + length] in phrases
            for length, phrases in self._phrases.items()
            for start in range(len(words) - length + 1)
        )
