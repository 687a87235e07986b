"""From what reviewers hand in to the findings that people decide about, all steps in order (W-U4).

Rule 1: pure. The same review, document and primer give the same result, whenever and wherever.
Rule 2: a finding that comes in is in exactly one that goes out, or it is counted.
Rule 3: a set that was merged elsewhere is used as it is: only the rounds before count, and the order is by severity.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import msgspec

from assent.flows.synthesis.candidate import Candidate
from assent.flows.synthesis.chain import drop_orphans, link_dependents
from assent.flows.synthesis.contradict import combine_opposed
from assent.flows.synthesis.coverage import count_personas
from assent.flows.synthesis.merge import (
    collapse_repeats,
    gate_anchors,
    list_contributions,
    merge_same,
    promote_agreed,
)
from assent.flows.synthesis.order import put_roots_first, sort_by_document, sort_by_severity, sort_by_weight
from assent.flows.synthesis.promote import raise_class
from assent.flows.synthesis.recommend import recommend
from assent.flows.synthesis.restate import Restatements
from assent.flows.synthesis.round import Rounds, apply_primer
from assent.flows.synthesis.route import Route, route_of, settle_class
from assent.protocol.decision import Coverage
from assent.protocol.display import quote
from assent.protocol.finding import Finding, Intake
from assent.protocol.fingerprint import normalise
from assent.protocol.primer import Primer

__all__ = ["Synthesis", "render_synthesis", "synthesise"]

_FIRST_ROUND = Primer()
_MOST_TOLD = 10


class Synthesis(msgspec.Struct, frozen=True):
    """A review as people get to see it."""

    findings: tuple[Finding, ...]
    """All that are left, in order: what is applied unseen, what is decided, and what is only told."""
    residual_risks: tuple[str, ...]
    deferred_questions: tuple[str, ...]
    coverage: Coverage


def synthesise(intake: Intake, document: str | None = None, primer: Primer = _FIRST_ROUND) -> Synthesis:
    """Return what becomes of a review, given the document's text and what earlier rounds decided."""
    if intake.merged is not None:
        return _take_merged(intake, intake.merged, document, primer)
    contributions = list_contributions(intake.outputs)
    sure = gate_anchors(contributions)
    candidates = combine_opposed(promote_agreed(collapse_repeats(merge_same(sure))))
    behind = {(finding := recommend(each)).finding_id: (finding, each) for each in candidates}
    told = sort_by_document((finding for finding, _ in behind.values()), document)
    rounds = apply_primer(told, primer, document)
    findings = _finish(rounds.findings, {key: candidate for key, (_, candidate) in behind.items()})
    known = Restatements(findings)
    residual, residual_of, repeated = _texts(
        ((output.reviewer, output.residual_risks) for output in intake.outputs), known
    )
    questions, _, asked_again = _texts(
        ((output.reviewer, output.deferred_questions) for output in intake.outputs), known
    )
    coverage = Coverage(
        personas=count_personas(
            findings, (output.reviewer for output in intake.outputs), intake.failed, residual_of
        ),
        dropped=len(intake.dropped) + len(contributions) - len(sure),
        restated=repeated + asked_again,
        notes=_say_dropped(intake),
    )
    return Synthesis(findings, residual, questions, _with_chains(coverage, findings, rounds))


def _finish(findings: tuple[Finding, ...], behind: dict[str, Candidate]) -> tuple[Finding, ...]:
    """Link, raise, settle and sort (3.5c to 3.8)."""
    linked = link_dependents(findings, behind)
    settled = (settle_class(raise_class(finding, behind[finding.finding_id])) for finding in linked)
    return put_roots_first(sort_by_weight(settled))


def _take_merged(
    intake: Intake, merged: tuple[Finding, ...], document: str | None, primer: Primer
) -> Synthesis:
    sure = tuple(finding for finding in merged if route_of(finding) is not Route.OUT)
    rounds = apply_primer(sure, primer, document)
    findings = put_roots_first(sort_by_severity(drop_orphans(rounds.findings)))
    coverage = Coverage(
        personas=count_personas(findings, done=()),
        dropped=len(intake.dropped) + len(merged) - len(sure),
        notes=_say_dropped(intake),
    )
    return Synthesis(
        findings,
        intake.residual_risks,
        intake.deferred_questions,
        _with_chains(coverage, findings, rounds),
    )


def _say_dropped(intake: Intake) -> tuple[str, ...]:
    """Return why records were left out: whoever wrote them can mend them."""
    told = [
        f"Left out{f', {quote(each.reviewer)}' if each.reviewer else ''}: {each.reason}"
        for each in intake.dropped[:_MOST_TOLD]
    ]
    more = len(intake.dropped) - len(told)
    return (*told, *([f"Left out: {more:,} more records."] if more else []))


def _with_chains(coverage: Coverage, findings: Iterable[Finding], rounds: Rounds) -> Coverage:
    every = tuple(findings)  # either end may say that they are linked, and two may name the same dependent
    links = {(finding.finding_id, dependent) for finding in every for dependent in finding.dependents}
    links |= {(finding.depends_on, finding.finding_id) for finding in every if finding.depends_on}
    return msgspec.structs.replace(
        coverage,
        roots=len({root for root, _ in links}),
        dependents=len({dependent for _, dependent in links}),
        suppressed=rounds.suppressed,
        not_landed=rounds.not_landed,
    )


def _texts(
    handed_in: Iterable[tuple[str, tuple[str, ...]]], known: Restatements
) -> tuple[tuple[str, ...], Counter[str], int]:
    """Return texts that repeat no finding, each once, how many each reviewer has in it, and how many do repeat one."""
    kept: dict[str, str] = {}
    share: Counter[str] = Counter()
    repeated = 0
    for reviewer, texts in handed_in:
        for text in texts:
            if known.repeats(text):
                repeated += 1
            else:
                kept.setdefault(normalise(text), text)
                share[reviewer] += 1
    return tuple(kept.values()), share, repeated


def render_synthesis(synthesis: Synthesis) -> bytes:
    """Return a synthesis as JSON: a merged set, which synthesises to itself, with its coverage beside it."""
    return msgspec.json.format(msgspec.json.encode(synthesis), indent=2) + b"\n"
