"""What a review came to: the one report that every way of it ends with (W69-W75), as text and as JSON.

Rule 1: the order is fixed: failures, entries by what was done, counts, coverage, verdict. The verdict is alone on the
        last line.
Rule 2: what was not done is not counted, and "all resolved" is said only where it is so.
Rule 3: the verdict is about what is left open (W-X4). Skipped and acknowledged findings are closed: a person closed them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from assent.flows.walk_through.overview import (
    TITLE,
    count_fixes,
    failure_lines,
    remainder_line,
    remainder_parts,
    render_coverage,
    render_footnotes,
    section,
)
from assent.flows.walk_through.prose import brief
from assent.protocol.canonical import Json
from assent.protocol.decision import CompletionReport, Coverage, Decision, Failure, Verb, Verdict, Way
from assent.protocol.display import is_blank
from assent.protocol.finding import Action, Finding, Severity
from assent.protocol.fingerprint import fingerprint, snippet
from assent.protocol.primer import Primer, PrimerEntry
from assent.protocol.words import count

__all__ = ["counts_of", "primer_of", "render_report", "report_json", "verdict_of"]

_SERIOUS = (Severity.P0, Severity.P1)
_DETAIL = 300


def verdict_of(
    decisions: Iterable[Decision], failures: Iterable[Failure], undecided: Iterable[Finding]
) -> Verdict:
    """Return what a review comes to, after all actions (W-X4)."""
    still_open = [decision.finding for decision in decisions if decision.verb is Verb.DEFERRED]
    still_open += undecided
    if any(failure.what == Action.APPLY for failure in failures):
        return Verdict.NOT_READY
    if any(finding.severity in _SERIOUS for finding in still_open):
        return Verdict.NOT_READY
    return Verdict.READY_WITH_FIXES if still_open else Verdict.READY


def counts_of(report: CompletionReport) -> dict[Verb, int]:
    """Return how many findings each thing was done with, in the order of the report."""
    return {verb: sum(1 for decision in report.decisions if decision.verb is verb) for verb in Verb}


# As text


def render_report(report: CompletionReport) -> str:
    """Return the report in Markdown."""
    blocks = section("Failures", failure_lines(report.failures))
    if report.way is Way.NOTHING_TO_DECIDE:
        blocks.append(_nothing_to_decide(report))
        blocks += filter(None, [render_footnotes(report.coverage)])
    else:
        for verb in Verb:
            blocks += section(verb, [_entry(each) for each in report.decisions if each.verb is verb])
        blocks.append(_counts(report))
        blocks += _coverage(report)
    return "\n\n".join([*blocks, f"Verdict: {report.verdict}."])


def _nothing_to_decide(report: CompletionReport) -> str:
    """Return the counts of a review that asked nothing (W75)."""
    remainder = remainder_line(len(report.fyi), len(report.residual_risks), len(report.deferred_questions))
    applied = f"{count_fixes(len(report.fixes))} applied"
    if report.failures or report.undecided:
        failed = [f"{count_fixes(len(report.failures))} failed"] if report.failures else []
        left = [f"{count(len(report.undecided), 'finding')} undecided"] if report.undecided else []
        said = f"{', '.join([applied, *failed, *left])}."
    elif _is_partial(report.coverage):
        said = f"Nothing is left to decide — {applied}. Some of what was handed in was left out."
    else:
        said = f"All {'actionable ' if remainder else ''}findings resolved — {applied}."
    return f"{said} ({remainder})" if remainder else said


def _is_partial(coverage: Coverage) -> bool:
    """Whether a reviewer failed or a record was left out: what they found is not known, so it is not resolved."""
    return coverage.dropped > 0 or any(persona.status == "failed" for persona in coverage.personas)


def _entry(decision: Decision) -> str:
    """Return a finding that was decided, and what came of it, in a line (W70)."""
    finding = decision.finding
    details: list[str] = []
    match decision.verb:
        case Verb.DEFERRED if decision.is_recorded_only:
            why = f": {decision.reason}" if decision.reason else ""
            details.append(f"recorded in this report only, not in the document{why}")
        case Verb.DEFERRED:
            details.append(f"appended to {decision.append_location}" if decision.append_location else "")
        case Verb.SKIPPED:
            details.append(decision.reason or f"anchor {finding.confidence}: {finding.why_it_matters}")
        case Verb.ACKNOWLEDGED:
            details.append(decision.reason)
    details = [
        brief(detail, _DETAIL) for detail in dict.fromkeys([*details, decision.note]) if not is_blank(detail)
    ]
    *first, last = details or [""]
    said = f" — {'; '.join([*(detail.rstrip('.') for detail in first), last])}" if details else ""
    return f"- {brief(finding.title, TITLE)} ({finding.severity}): {decision.verb}{said}"


def _counts(report: CompletionReport) -> str:
    done = ", ".join(f"{number:,} {verb.lower()}" for verb, number in counts_of(report).items() if number)
    lines = [done]
    if report.undecided:
        verb = "stays" if len(report.undecided) == 1 else "stay"
        lines.append(f"{count(len(report.undecided), 'finding')} {verb} undecided.")
    if not any(lines):
        lines.append("Nothing was applied, deferred or skipped.")
    if report.fixes:
        lines.append(f"{count_fixes(len(report.fixes))} applied without a question.")
    return "\n".join(filter(None, lines))


def _coverage(report: CompletionReport) -> list[str]:
    blocks: list[str] = []
    for heading, lines in remainder_parts(report.fyi, report.residual_risks, report.deferred_questions):
        blocks += [f"**{heading}**", "\n".join(lines)]
    coverage = render_coverage(report.coverage)
    if coverage:
        blocks.append(coverage)
    return ["### Coverage", *blocks] if blocks else []


# As JSON


def report_json(report: CompletionReport) -> dict[str, Json]:
    """Return the report as JSON holds it. Every name is always there."""
    return {
        "document": report.document,
        "way": report.way.value,
        "verdict": report.verdict.value,
        "round": report.rounds,
        "counts": {verb.lower(): number for verb, number in counts_of(report).items()},
        **{
            verb.lower(): [_entry_json(each) for each in report.decisions if each.verb is verb]
            for verb in Verb
        },
        "failures": [
            {**_finding_json(failure.finding), "what": failure.what, "reason": failure.reason}
            for failure in report.failures
        ],
        "undecided": _findings_json(report.undecided),
        "fixes": _findings_json(report.fixes),
        "fyi": _findings_json(report.fyi),
        "residual_risks": list(report.residual_risks),
        "deferred_questions": list(report.deferred_questions),
        "coverage": _whole(report.coverage),
        "primer": _whole(report.primer),
        "next_step": None if report.next_step is None else report.next_step.value,
    }


def _finding_json(finding: Finding) -> dict[str, Json]:
    return {
        "id": finding.finding_id,
        "title": finding.title,
        "severity": finding.severity.value,
        "section": finding.section,
        "confidence": finding.confidence,
        "reviewers": list(finding.reviewers),
    }


def _findings_json(findings: Sequence[Finding]) -> list[Json]:
    return [_finding_json(finding) for finding in findings]


def _entry_json(decision: Decision) -> dict[str, Json]:
    return {
        **_finding_json(decision.finding),
        "note": decision.note,
        "append_location": decision.append_location,
        "recorded_only": decision.is_recorded_only,
        "reason": decision.reason,
    }


def _whole(value: msgspec.Struct) -> Json:
    """Return all fields of a struct, also those at their defaults: readers of JSON know no defaults of ours."""
    fields = msgspec.structs.fields(value)
    return {field.encode_name: _plain(getattr(value, field.name)) for field in fields}


def _plain(value: object) -> Json:
    if isinstance(value, msgspec.Struct):
        return _whole(value)
    if isinstance(value, tuple):
        return [_plain(each) for each in value]
    plain: Json = msgspec.to_builtins(value)
    return plain


# For the next round


def primer_of(report: CompletionReport, before: Primer) -> Primer:
    """Return what the next round has to know: what this one decided, and what the ones before did (W-U14).

    A finding that was decided again has the newer decision only. A fix that failed was neither applied nor rejected.
    """
    fixes = [_primer_entry(Decision(finding, Verb.APPLIED)) for finding in report.fixes]
    decided = [*fixes, *map(_primer_entry, report.decisions)]
    again = {fingerprint(entry.section, entry.title) for entry in decided}
    earlier = [
        entry
        for entry in (*before.applied, *before.rejected)
        if fingerprint(entry.section, entry.title) not in again
    ]
    entries = [*earlier, *decided]
    return Primer(
        before.rounds + 1,
        tuple(entry for entry in entries if entry.action is Verb.APPLIED),
        tuple(entry for entry in entries if entry.action is not Verb.APPLIED),
    )


def _primer_entry(decision: Decision) -> PrimerEntry:
    finding = decision.finding
    return PrimerEntry(
        finding.section,
        finding.title,
        decision.verb,
        finding.reviewers,
        finding.confidence,
        snippet(finding.evidence[0]) if finding.evidence else "",
        decision.reason or decision.note or decision.append_location,
    )
