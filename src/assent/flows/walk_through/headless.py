"""A review that nobody was asked about, as one text for the program that started it (W-U19).

Rule 1: parts that have nothing to say are left out; the last line says that it is complete, and nothing else does.
Rule 2: text of agents is on lines that begin with ours.
"""

from __future__ import annotations

from collections.abc import Sequence

from assent.flows.walk_through.fix import render_fix
from assent.flows.walk_through.overview import (
    entry_of,
    failure_lines,
    is_decision,
    nest,
    remainder_parts,
    render_coverage,
)
from assent.flows.walk_through.prose import brief, one_line
from assent.protocol.decision import CompletionReport
from assent.protocol.finding import Finding

__all__ = ["COMPLETE", "render_envelope"]

COMPLETE = "Review complete."
"""The completion signal, which every review ends with (W-U18)."""
_REMARK = 300


def render_envelope(report: CompletionReport) -> str:
    """Return what a review without anybody to ask came to: what was applied, and what waits for a person."""
    nested = nest(report.undecided)
    parts = [
        ("Failures", failure_lines(report.failures)),
        ("Applied fixes", [f"- {entry_of(finding)}" for finding in report.fixes]),
        ("Proposed fixes", _pending(nested, are_decisions=False)),
        ("Decisions", _pending(nested, are_decisions=True)),
        *remainder_parts(report.fyi, report.residual_risks, report.deferred_questions),
        ("Coverage", [coverage] if (coverage := render_coverage(report.coverage)) else []),
    ]
    blocks = [f"Review of {one_line(report.document)}, headless: nobody was asked."]
    for heading, lines in parts:
        if lines:
            blocks.append("\n".join([f"{heading}:", *lines]))
    return "\n\n".join([*blocks, f"Verdict: {report.verdict}.", COMPLETE])


def _pending(nested: Sequence[tuple[Finding, Sequence[Finding]]], *, are_decisions: bool) -> list[str]:
    lines: list[str] = []
    for root, dependents in nested:
        if is_decision(root) is are_decisions:
            lines.append(f"- {_line(root)}")
            lines += [f"  - {_line(finding)}" for finding in dependents]
    return lines


def _line(finding: Finding) -> str:
    why = f"{entry_of(finding)}: {brief(finding.why_it_matters, _REMARK)}"
    fix = f" Proposed: {brief(render_fix(finding), _REMARK)}" if finding.has_fix else ""
    return f"{why}{fix} Recommended: {finding.recommended_action}."
