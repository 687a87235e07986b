"""What an earlier round of the review decided about a finding that comes again (W-U14).

R29: what people decided against is not asked again. R30: what they applied and is found again did not land.
Both hold only while the passage is the same: when the quote is gone from the document, it is a new finding.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cached_property

import msgspec

from assent.protocol.deferral import SECTION
from assent.protocol.finding import Finding
from assent.protocol.fingerprint import fingerprint, normalise, overlap
from assent.protocol.outline import BlockKind, parse_outline
from assent.protocol.primer import Primer, PrimerEntry

__all__ = ["Rounds", "apply_primer"]

_SAME_FROM = 0.5
"""More than half of the words."""
_LEVEL = SECTION.count("#")
_HEADING = SECTION.lstrip("# ")


class Rounds(msgspec.Struct, frozen=True):
    """What is left of a set of findings after the rounds before."""

    findings: tuple[Finding, ...]
    suppressed: tuple[str, ...] = ()
    """Titles that R29 left out."""
    not_landed: tuple[str, ...] = ()
    """Titles that R30 found again; they are among the findings."""


def apply_primer(findings: Iterable[Finding], primer: Primer, document: str | None = None) -> Rounds:
    """Return the findings that are still to be told, and which of the others came again."""
    text = _Text(document)
    rejected, applied = _by_fingerprint(primer.rejected), _by_fingerprint(primer.applied)
    kept: list[Finding] = []
    suppressed: list[str] = []
    not_landed: list[str] = []
    for finding in findings:
        key = fingerprint(finding.section, finding.title)
        if any(_is_again(finding, entry, text) for entry in rejected[key]):
            suppressed.append(finding.title)
            continue
        if any(_is_again(finding, entry, text) for entry in applied[key]):
            not_landed.append(finding.title)
        kept.append(finding)
    return Rounds(tuple(kept), tuple(suppressed), tuple(not_landed))


class _Text:
    """A document's words, which are only looked at where a finding comes again."""

    def __init__(self, document: str | None) -> None:
        self._document = document

    @cached_property
    def _words(self) -> str:
        return normalise("".join(_lines_of_text(self._document or "")))

    def lost(self, quote: str) -> bool:
        """Whether a quote that was there is there no more."""
        return self._document is not None and normalise(quote) not in self._words


def _lines_of_text(document: str) -> Iterator[str]:
    """Yield the lines outside of the deferrals: these hold the quotes of what was deferred, which says nothing (W-U21)."""
    outline = parse_outline(document)
    headings = {
        block.start: block.level == _LEVEL and block.text == _HEADING
        for block in outline.blocks
        if block.kind is BlockKind.HEADING and block.level <= _LEVEL
    }
    is_deferral = False
    for number, line in enumerate(outline.lines):
        is_deferral = headings.get(number, is_deferral)
        if not is_deferral:
            yield line


def _by_fingerprint(entries: Iterable[PrimerEntry]) -> defaultdict[str, list[PrimerEntry]]:
    found: defaultdict[str, list[PrimerEntry]] = defaultdict(list)
    for entry in entries:
        found[fingerprint(entry.section, entry.title)].append(entry)
    return found


def _is_again(finding: Finding, entry: PrimerEntry, text: _Text) -> bool:
    quotes = finding.evidence or ("",)
    is_same = any(overlap(entry.evidence, quote) > _SAME_FROM for quote in quotes)
    return is_same and not text.lost(entry.evidence)
