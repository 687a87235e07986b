"""What a review found, as it is said before the first question (W-U15, W-U16), and the parts that its report has, too.

Rule 1: people read of fixes, proposed fixes, decisions and FYI observations; how synthesis calls them is not shown.
Rule 2: a finding stands in one place. What falls with another one stands under it and nowhere else.
Rule 3: a line of a list or a table holds one line of an agent's text at most, and begins with ours.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from assent.flows.synthesis.route import Route, route_of
from assent.flows.synthesis.synthesis import Synthesis
from assent.flows.walk_through.prose import brief
from assent.protocol.decision import Coverage, Failure
from assent.protocol.finding import AutofixClass, Finding, FindingType, Severity
from assent.protocol.words import count, join_words

__all__ = [
    "TITLE",
    "count_fixes",
    "entry_of",
    "failure_lines",
    "is_decision",
    "nest",
    "remainder_line",
    "remainder_parts",
    "render_coverage",
    "render_footnotes",
    "render_overview",
    "section",
]

TITLE = 200
"""Of a title, as much as a list shows."""
_CELL, _REMARK, _COMPACT, _REASON = 100, 300, 100, 500
_COMPACT_FROM = 5
"""W-U15: so much of what is only told is listed in short."""
_BAR = re.compile(r"(\\*)\|")

Part = tuple[str, list[str]]
"""A heading, and the lines below it."""


def render_overview(synthesis: Synthesis, fixed: Sequence[Finding], failures: Sequence[Failure]) -> str:
    """Return what there is, in Markdown: what was fixed already, what is to be decided, and what is only told."""
    pending = [finding for finding in synthesis.findings if route_of(finding) is Route.WALK]
    fyi = [finding for finding in synthesis.findings if route_of(finding) is Route.FYI]
    blocks = [_summary(len(fixed), pending, len(fyi))]
    blocks += section("Failures", failure_lines(failures))
    blocks += section("Applied fixes", [f"- {entry_of(finding)}" for finding in fixed])
    blocks += _tables(pending)
    for heading, lines in remainder_parts(fyi, synthesis.residual_risks, synthesis.deferred_questions):
        blocks += section(heading, lines)
    coverage = render_coverage(synthesis.coverage)
    return "\n\n".join([*blocks, *section("Coverage", [coverage] if coverage else [])])


def section(heading: str, lines: Sequence[str]) -> list[str]:
    """Return a part with its heading; nothing where there is nothing to say."""
    return [f"### {heading}", "\n".join(lines)] if lines else []


def _summary(fixes: int, pending: Sequence[Finding], fyi: int) -> str:
    errors = sum(1 for finding in pending if finding.finding_type is FindingType.ERROR)
    kinds = [(errors, "error"), (len(pending) - errors, "omission")]
    named = ", ".join(count(number, noun) for number, noun in kinds if number)
    said = [
        f"{count_fixes(fixes)} applied",
        f"{count(len(pending), 'item')} {'needs' if len(pending) == 1 else 'need'} attention"
        + (f" ({named})" if named else ""),
        count(fyi, "FYI observation"),
    ]
    return f"{', '.join(said)}."


def count_fixes(number: int) -> str:
    """Return `1 fix`, `2 fixes`."""
    return "1 fix" if number == 1 else f"{number:,} fixes"


def entry_of(finding: Finding) -> str:
    """Return a finding in a line: its title, how bad it is, and where."""
    return f"{brief(finding.title, TITLE)} ({finding.severity}, {brief(finding.section, _CELL)})"


def failure_lines(failures: Iterable[Failure]) -> list[str]:
    """Return what could not be done, a line each (W72)."""
    return [
        f"- {brief(failure.finding.title, TITLE)} ({failure.finding.severity}): {failure.what} failed: "
        f"{brief(failure.reason, _REASON)}"
        for failure in failures
    ]


# What is to be decided


def is_decision(finding: Finding) -> bool:
    """Whether a person has to weigh it; else there is a proposed fix to sign off."""
    return finding.autofix_class is AutofixClass.MANUAL


def nest(findings: Sequence[Finding]) -> list[tuple[Finding, list[Finding]]]:
    """Return the findings that stand alone or above others, each with those that fall with it.

    One level only, so a finding whose root hangs on another one itself stands alone: nothing is lost in a circle.
    """
    known = {finding.finding_id for finding in findings}
    roots = {dependent: finding.finding_id for finding in findings for dependent in finding.dependents}
    roots |= {finding.finding_id: finding.depends_on for finding in findings if finding.depends_on in known}
    below: dict[str, list[Finding]] = {}
    above: list[Finding] = []
    for finding in findings:
        root = roots.get(finding.finding_id)
        if root is not None and root not in roots:
            below.setdefault(root, []).append(finding)
        else:
            above.append(finding)
    return [(finding, below.pop(finding.finding_id, [])) for finding in above]


def _tables(pending: Sequence[Finding]) -> list[str]:
    nested = nest(pending)
    blocks: list[str] = []
    for severity in Severity:
        tables: list[str] = []
        for finding_type, label in ((FindingType.ERROR, "Errors"), (FindingType.OMISSION, "Omissions")):
            rows: list[str] = []
            for root, dependents in nested:
                if (root.severity, root.finding_type) == (severity, finding_type):
                    rows += [_row(root), *(_row(finding, is_nested=True) for finding in dependents)]
            if rows:
                tables += [f"**{label}**", "\n".join([*_HEAD, *rows])]
        if tables:
            blocks += [f"### {severity}", *tables]
    return blocks


def _row(finding: Finding, *, is_nested: bool = False) -> str:
    title = _cell(finding.title)
    if is_nested:
        title = f"↳ {title} ({finding.severity} {finding.finding_type})"
    cells = [
        title,
        _cell(finding.section),
        "decision" if is_decision(finding) else "proposed fix",
        str(finding.recommended_action),
        _cell(", ".join(finding.reviewers)),
        str(finding.confidence),
    ]
    return _table_row(cells)


def _table_row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cell(text: str) -> str:
    """Return text as it can stand in a table: no bar in it ends its cell."""
    return _BAR.sub(r"\1\1\\|", brief(text, _CELL))


def _head(names: Sequence[str]) -> tuple[str, str]:
    return _table_row(names), _table_row(["---"] * len(names))


_HEAD = _head(["Finding", "Section", "Kind", "Recommended", "Reviewers", "Anchor"])
_PERSONA_HEAD = _head(["Persona", "Status", "Findings", "Auto", "Proposed", "Decisions", "FYI", "Residual"])
_PERSONA_FIELDS = ("reviewer", "status", "findings", "auto", "proposed", "decisions", "fyi", "residual")


# What is only told


def remainder_parts(fyi: Sequence[Finding], residual: Sequence[str], deferred: Sequence[str]) -> list[Part]:
    """Return what remains in the report and asks for nothing; where it is much, in short."""
    is_compact = len(fyi) + len(residual) + len(deferred) >= _COMPACT_FROM
    limit = _COMPACT if is_compact else _REMARK
    observations = [
        f"- {entry_of(finding)}" + ("" if is_compact else f": {brief(finding.why_it_matters, _REMARK)}")
        for finding in fyi
    ]
    parts = [
        ("FYI observations", observations),
        ("Residual concerns", [f"- {brief(risk, limit)}" for risk in residual]),
        ("Deferred questions", [f"- {brief(asked, limit)}" for asked in deferred]),
    ]
    return [part for part in parts if part[1]]


def remainder_line(fyi: int, residual: int, deferred: int) -> str:
    """Return how much remains, as in `2 FYI observations, 1 residual concern remain in the report.`; empty: nothing."""
    kinds = [(fyi, "FYI observation"), (residual, "residual concern"), (deferred, "deferred question")]
    named = ", ".join(count(number, noun) for number, noun in kinds if number)
    verb = "remains" if fyi + residual + deferred == 1 else "remain"
    return f"{named} {verb} in the report." if named else ""


def render_coverage(coverage: Coverage) -> str:
    """Return what the review looked at and what of it is not asked about; empty where there is nothing to say."""
    rows = [
        _table_row([_cell(str(getattr(persona, name))) for name in _PERSONA_FIELDS])
        for persona in coverage.personas
    ]
    table = "\n".join([*_PERSONA_HEAD, *rows]) if rows else ""
    return "\n\n".join(filter(None, [table, render_footnotes(coverage)]))


def render_footnotes(coverage: Coverage) -> str:
    """Return what of the review is neither asked about nor told, and why; empty where there is nothing of that."""
    notes: list[str] = []
    if coverage.dropped:
        notes.append(f"- Dropped: {coverage.dropped} (no valid record, or too unsure to be told).")
    if coverage.roots or coverage.dependents:
        chained = join_words([count(coverage.roots, "root"), count(coverage.dependents, "dependent")])
        notes.append(f"- Chains: {chained}.")
    if coverage.restated:
        notes.append(f"- Restated: {coverage.restated} (concerns or questions that repeat a finding).")
    notes += [
        f"- Suppressed, decided in an earlier round: {brief(title, TITLE)}" for title in coverage.suppressed
    ]
    notes += [f"- Fix did not land, found again: {brief(title, TITLE)}" for title in coverage.not_landed]
    failed = [persona.reviewer for persona in coverage.personas if persona.status == "failed"]
    notes += [f"- Failed: {brief(name, TITLE)} handed in nothing that can be read." for name in failed]
    return "\n".join([*notes, *(f"- {brief(note, _REASON)}" for note in coverage.notes)])
