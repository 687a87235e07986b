"""Worst first, roots before what hangs on them (W-U8, W-X14).

Document order is where a finding's first quote stands, else the heading of its section; what has no place in the
document comes last, as it was handed in.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence

from assent.protocol.finding import Finding, FindingType
from assent.protocol.fingerprint import normalise

__all__ = ["put_roots_first", "sort_by_document", "sort_by_severity", "sort_by_weight"]

_HEADING = re.compile(r"#{1,6}[ \t]+(?P<title>.*)").match
_KINDS = list(FindingType)
_LOOKED_FOR = 200
"""Characters of a quote: more tell no better where it is, and cost."""


def sort_by_document(findings: Iterable[Finding], document: str | None) -> tuple[Finding, ...]:
    """Return findings in document order."""
    if not document:
        return tuple(findings)
    text, headings = _read(document)

    def place(finding: Finding) -> int:
        quote = " ".join(finding.evidence[0].split())[:_LOOKED_FOR] if finding.evidence else ""
        found = text.find(quote) if quote else -1
        return found if found >= 0 else headings.get(normalise(finding.section), len(text))

    return tuple(sorted(findings, key=place))


def _read(document: str) -> tuple[str, dict[str, int]]:
    """Return the document in single spaces, as a quote may run over lines, and where its headings are in that."""
    headings: dict[str, int] = {}
    lines: list[str] = []
    length = 0
    for line in document.splitlines():
        words = " ".join(line.split())
        if words:
            if heading := _HEADING(words):
                headings.setdefault(normalise(heading["title"]), length)
            lines.append(words)
            length += len(words) + 1
    return " ".join(lines), headings


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
    for finding in findings:
        way = [finding.finding_id]
        on_way = {finding.finding_id}
        while way:
            missing = next(
                (each for each in roots[way[-1]] if each not in placed and each not in on_way), None
            )
            if missing is None:
                last = way.pop()
                placed.setdefault(last, known[last])
            else:
                way.append(missing)
                on_way.add(missing)
    return tuple(placed.values())


def _roots_of(findings: Iterable[Finding], known: dict[str, Finding]) -> defaultdict[str, dict[str, None]]:
    """Return the roots of each finding by what both ends say, each once and in order."""
    roots: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for finding in findings:
        if finding.depends_on in known:
            roots[finding.finding_id][str(finding.depends_on)] = None
        for dependent in finding.dependents:
            roots[dependent][finding.finding_id] = None
    return roots
