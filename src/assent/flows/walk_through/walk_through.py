"""A review of a document from its findings to its report (W1, W2, W69).

    read, synthesise       what reviewers handed in becomes what is asked about
    safe fixes             one pass, before anybody is asked
    overview               what there is
    routing                one by one, together, deferred, or only told
    the Apply set          one pass, after everything was decided
    report                 what came of it

Between the two passes the document changes by deferrals alone. Whoever leaves before the second one has applied nothing.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from assent.flows.document import read_document
from assent.flows.kind import FlowKind
from assent.flows.step import Ended, Failed, Flow, say
from assent.flows.synthesis.route import Route, route_of
from assent.flows.synthesis.synthesis import Synthesis, synthesise
from assent.flows.walk_through.effect import Writable, check_append
from assent.flows.walk_through.execution import Pass, run_pass
from assent.flows.walk_through.overview import render_overview
from assent.flows.walk_through.report import primer_of, verdict_of
from assent.flows.walk_through.routing import go_one_way
from assent.flows.walk_through.walk import LeftError, Walk
from assent.protocol.decision import CompletionReport, Coverage, Failure, Way
from assent.protocol.display import quote
from assent.protocol.error import NotFoundError
from assent.protocol.finding import Action, Finding, Intake
from assent.protocol.primer import Primer

__all__ = ["WALK_THROUGH", "Outcome", "ReviewInputs", "walk_through"]


class ReviewInputs(msgspec.Struct, frozen=True):
    """All that a review starts from."""

    intake: Intake
    path: str
    """The document's, relative to the root."""
    date: str
    """The calendar date of the review, `2026-11-16`."""
    primer: Primer = Primer()
    is_headless: bool = False
    """Nobody is asked; safe fixes are applied, and nothing else is decided (W-U19)."""


class Outcome(msgspec.Struct, frozen=True):
    """How a review ended: with a report, or because a question did without an answer."""

    report: CompletionReport | None = None
    ended: Ended | None = None


def walk_through(inputs: ReviewInputs, watch: Callable[[Walk], None] | None = None) -> Flow[Outcome]:
    """Go through a review. Whoever wants to `watch` gets the walk before anybody is asked, and only looks at it.

    Raises:
        NotFoundError: there is no such document.
    """
    document = yield from read_document(inputs.path)
    if isinstance(document, Failed) or document.digest is None:
        why = f": {document.message}" if isinstance(document, Failed) else "."
        raise NotFoundError(f'There is no document "{quote(inputs.path)}"{why}')
    synthesis = synthesise(inputs.intake, document.content.decode(errors="replace"), inputs.primer)
    routed: dict[Route, list[Finding]] = {route: [] for route in Route}
    for finding in synthesis.findings:
        routed[route_of(finding)].append(finding)
    append = Writable(True) if inputs.is_headless else (yield from check_append(inputs.path))
    safe = yield from run_pass(inputs.path, routed[Route.SILENT])
    walk = Walk(inputs.path, inputs.date, routed[Route.WALK], append)
    walk.known_digest = safe.digest or document.digest
    walk.failures += _failures(safe, routed[Route.SILENT])
    if watch is not None:
        watch(walk)
    try:
        way = yield from _go(inputs, walk, synthesis, safe)
    except LeftError as left:
        return Outcome(ended=left.ended)
    chosen = tuple(walk.to_apply())
    done = yield from run_pass(inputs.path, chosen)
    for failure in _failures(done, chosen):
        walk.fail_to_apply(failure.finding, failure.reason)
    walk.notes += [
        f'"{quote(finding.title)}" was in the document already.'
        for finding in (*safe.applied, *done.applied)
        if finding.finding_id in safe.present | done.present
    ]
    return Outcome(_report(inputs, walk, synthesis, safe, way, routed[Route.FYI]))


def _go(inputs: ReviewInputs, walk: Walk, synthesis: Synthesis, safe: Pass) -> Flow[Way]:
    if inputs.is_headless:
        return Way.HEADLESS
    if synthesis.findings or synthesis.residual_risks or synthesis.coverage != Coverage():
        yield from say(render_overview(synthesis, safe.made, walk.failures))
    if not walk.findings:  # W9
        return Way.NOTHING_TO_DECIDE
    return (yield from go_one_way(walk))


def _failures(done: Pass, findings: tuple[Finding, ...] | list[Finding]) -> list[Failure]:
    return [
        Failure(finding, Action.APPLY, done.failed[finding.finding_id])
        for finding in findings
        if finding.finding_id in done.failed
    ]


def _report(
    inputs: ReviewInputs, walk: Walk, synthesis: Synthesis, safe: Pass, way: Way, fyi: list[Finding]
) -> CompletionReport:
    failed = {failure.finding.finding_id for failure in walk.failures if failure.what == Action.APPLY}
    undecided = tuple(finding for finding in walk.undecided if finding.finding_id not in failed)
    coverage = synthesis.coverage
    report = CompletionReport(
        inputs.path,
        way,
        verdict_of(walk.decisions, walk.failures, undecided),
        walk.decisions,
        tuple(walk.failures),
        undecided,
        safe.made,
        tuple(fyi),
        synthesis.residual_risks,
        synthesis.deferred_questions,
        msgspec.structs.replace(coverage, notes=(*coverage.notes, *walk.notes)),
        inputs.primer.rounds + 1,
    )
    return msgspec.structs.replace(report, primer=primer_of(report, inputs.primer))


WALK_THROUGH = FlowKind("walk_through", 1, walk_through, ReviewInputs, Outcome)
