"""Worst first, roots before what hangs on them (W-U8, W-X14).

Document order is where a finding's first quote stands, else the heading of its section; what has no place in the
document comes last, as it was handed in.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from assent.protocol.finding import Finding, FindingType
from assent.protocol.fingerprint import normalise
from assent.protocol.outline import BlockKind, parse_outline

__all__ = ["put_roots_first", "sort_by_document", "sort_by_severity", "sort_by_weight"]

_KINDS = list(FindingType)
_LOOKED_FOR = 6
"""Words of a quote: more tell no better where it begins, and cost."""


def sort_by_document(findings: Iterable[Finding], document: str | None) -> tuple[Finding, ...]:
    """Return findings in document order."""
    told = tuple(findings)
    if not document:
        return told
    beginnings = {finding.finding_id: _beginning(finding) for finding in told}
    words, headings = _read(document)
    found = _find(words, set(beginnings.values()))

    def place(finding: Finding) -> int:
        heading = headings.get(normalise(finding.section), len(words))
        return found.get(beginnings[finding.finding_id], heading)

    return tuple(sorted(told, key=place))


def _beginning(finding: Finding) -> tuple[str, ...]:
    return tuple(normalise(finding.evidence[0]).split()[:_LOOKED_FOR]) if finding.evidence else ()


def _read(document: str) -> tuple[list[str], dict[str, int]]:
    """Return the document's words, as a quote may run over lines, and where its headings are among them."""
    outline = parse_outline(document)
    words: list[str] = []
    starts: list[int] = []
    for line in outline.lines:
        starts.append(len(words))
        words += normalise(line).split()
    headings: dict[str, int] = {}
    for block in outline.blocks:
        if block.kind is BlockKind.HEADING:
            headings.setdefault(normalise(block.text), starts[block.start])
    return words, headings


def _find(words: list[str], wanted: set[tuple[str, ...]]) -> dict[tuple[str, ...], int]:
    """Return where each run of words stands first, in one pass for all of them."""
    lengths: defaultdict[str, set[int]] = defaultdict(set)
    for run in wanted:
        if run:
            lengths[run[0]].add(len(run))
    found: dict[tuple[str, ...], int] = {}
    for place, word in enumerate(words):
        for length in lengths.get(word, ()):
            run = tuple(words[place : place + length])
            if run in wanted:
                found.setdefault(run, place)
    return found


def sort_by_weight(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return findings by severity, errors before omissions, surest first; what is equal stays in its order (3.8)."""
    return tuple(
        sorted(findings, key=lambda each: (each.severity, _KINDS.index(each.finding_type), -each.confidence))
    )


def sort_by_severity(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return findings by severity alone, for a set that somebody else put in order (W15)."""
    return tuple(sorted(findings, key=lambda each: each.severity))


def put_roots_first(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """Return the findings with each root just before its first dependent, where that one is earlier (W19).

    A set that was merged elsewhere may have roots of roots, or rings; whatever can come first does.
    """
    known = {finding.finding_id: finding for finding in findings}
    roots = _roots_of(findings, known)
    placed: dict[str, Finding] = {}
    seen: set[str] = set()
    for finding in findings:
        way = [finding.finding_id]
        while way:
            seen.add(way[-1])
            missing = next((each for each in roots.get(way[-1], ()) if each not in seen), None)
            if missing is None:
                last = way.pop()
                placed.setdefault(last, known[last])
            else:
                way.append(missing)
    return tuple(placed.values())


def _roots_of(findings: Iterable[Finding], known: dict[str, Finding]) -> dict[str, Iterator[str]]:
    """Return the roots of each finding by what both ends say, to be gone through once."""
    roots: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for finding in findings:
        if finding.depends_on in known:
            roots[finding.finding_id][str(finding.depends_on)] = None
        for dependent in finding.dependents:
            roots[dependent][finding.finding_id] = None
    return {dependent: iter(found) for dependent, found in roots.items()}
