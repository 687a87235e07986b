"""A review of a document: findings go in, a person decides about them, and a report comes out.

In memory by default, as a talk on one surface: nothing is stored, and whoever leaves has decided nothing (W62-W64).
Durable, each question is an ask that can be answered from anywhere, and whoever asks the same again goes on where it
stopped. A review that a person declined is over; the next one of the same findings is a new one.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any, NoReturn

import msgspec
from msgspec.structs import replace

from assent.client.calls import Calls, ended_otherwise
from assent.client.door import Call, until
from assent.client.drive import Surface, drive
from assent.client.durable import Hear, Meet, drive_durably
from assent.client.grip import beside
from assent.client.journal import Opened, decode_entry, end_of, read_back
from assent.client.place import DocumentPlace, find_document
from assent.effects.applier import Apply, walk_through_performers
from assent.effects.performer import Performers
from assent.flows.step import Ask
from assent.flows.synthesis.parse import parse_findings
from assent.flows.walk_through.next_step import NEXT_STEP, DocumentType, NextInputs, ask_next
from assent.flows.walk_through.report import render_report
from assent.flows.walk_through.walk_through import WALK_THROUGH, Outcome, ReviewInputs, walk_through
from assent.protocol.canonical import canonical, convert, digest
from assent.protocol.decision import CompletionReport
from assent.protocol.error import AssentError, BadRequestError, FlowDivergedError, StillOpen
from assent.protocol.finding import Finding, Intake
from assent.protocol.primer import Primer

__all__ = ["hold_review", "is_review_over", "next_inputs", "prepare_review", "review_document", "review_id"]

Tell = Callable[[CompletionReport], None]
"""Gets the report."""
Findings = Intake | Mapping[str, Any] | Sequence[Mapping[str, Any]]
"""What `assent review` reads as FINDINGS.json, or that text read already."""


def prepare_review(
    findings: Findings,
    place: DocumentPlace,
    at: datetime,
    primer: Primer | Mapping[str, Any] | None = None,
    *,
    is_headless: bool = False,
) -> ReviewInputs:
    """Return what a review starts from. Its date is the calendar's, where people are.

    Raises:
        BadRequestError: the findings are none.
    """
    if not isinstance(findings, Intake):
        try:
            findings = parse_findings(msgspec.json.encode(findings))
        except (TypeError, UnicodeEncodeError) as error:
            raise BadRequestError(f"The findings cannot be written as JSON: {error}.") from None
    given = primer if isinstance(primer, Primer) else convert(primer or {}, Primer)
    return ReviewInputs(findings, place.path, at.astimezone().date().isoformat(), given, is_headless)


def review_id(inputs: ReviewInputs, place: DocumentPlace, run_id: str | None = None) -> str:
    """Return what a durable review goes by: the same findings on the same document are the same review."""
    what = [place.name, run_id, msgspec.to_builtins(inputs.intake), msgspec.to_builtins(inputs.primer)]
    return f"review:{digest(canonical(what))}"


def next_inputs(report: CompletionReport, document_type: DocumentType) -> NextInputs:
    """Return what the question after a report depends on."""
    return NextInputs(bool(report.primer.applied), report.rounds, document_type)


def hold_review(
    inputs: ReviewInputs,
    surface: Surface,
    performers: Performers,
    tell: Tell,
    document_type: DocumentType | None = None,
) -> CompletionReport:
    """Go through a review in memory; `tell` gets the report before it is asked what comes next.

    Without a document type that is not asked. Where nobody answers it, the report is out all the same.

    Raises:
        NoAnswer: a question ended without an answer; nothing was applied.
        StillOpen: nobody can answer; nothing was applied.
    """
    report = _report_of(drive(walk_through(inputs), surface, performers))
    tell(report)
    if document_type is None or inputs.is_headless:
        return report
    with suppress(StillOpen):
        report = replace(report, next_step=drive(ask_next(next_inputs(report, document_type)), surface))
    return report


def review_document(  # noqa: PLR0913 - the public call: every part of a review has a name
    calls: Calls,
    findings: Findings,
    *,
    document: str | os.PathLike[str],
    durable: bool = False,
    headless: bool = False,
    apply: Apply | None = None,
    primer: Primer | Mapping[str, Any] | None = None,
    document_type: DocumentType | str | None = None,
    run_id: str | None = None,
    surface: Surface | None = None,
    say: Hear | None = None,
    present: Meet | None = None,
    tell: Tell | None = None,
    progress: Callable[[int, int, Finding], None] | None = None,
    wait: float | None = None,
) -> Call[CompletionReport]:
    """Go through the findings of a document review with a person; return what came of it.

    In memory it takes place on `surface`, the terminal of this process unless another is given. With `durable` each
    question is an ask, answered from anywhere; `say` gets what is said and `present` each ask, and asked again, it goes
    on where it stopped. `headless` asks nobody: safe fixes are applied, and nothing else is decided. `tell` gets the
    report before it is returned; without it, it is said.

    `apply` gets a finding and the document's text, and returns the new text; a finding with an exact `edit` needs no
    such function. `primer` is that of the report of the round before. With a `document_type` (requirements, plan or
    other) a person is also asked what comes next; as long as nobody says so, `next_step` is None, and a durable question
    stays open.

    Raises:
        BadRequestError: the findings are none.
        NotFoundError: there is no such document.
        NoAnswer: a question ended without an answer; nothing was applied.
        StillOpen: nobody can answer here, or `wait` lapsed; a durable review can be gone on with.
        FlowTakenError: another process goes through this review.
    """
    place = find_document(Path(document))
    kind = _document_type(document_type)
    inputs = prepare_review(findings, place, calls.door.now(), primer, is_headless=headless)
    performers = walk_through_performers(place.root, apply, progress)
    if durable and not headless:
        flow_id = yield from _attempt(calls, inputs, place, run_id)
        hear = tell or _saying(say)
        driven = drive_durably(
            calls, flow_id, WALK_THROUGH, inputs, performers, say=say, present=present, wait=wait
        )
        report = _report_of((yield from driven))
        hear(report)
        if kind is None:
            return report
        following = drive_durably(
            calls, f"{flow_id}:next", NEXT_STEP, next_inputs(report, kind), present=present, wait=wait
        )
        with suppress(
            StillOpen, EOFError
        ):  # the question stays open, and the same call finds its answer later
            report = replace(report, next_step=(yield from following))
        return report

    def talk() -> CompletionReport:
        if headless:
            return hold_review(inputs, _Nobody(), performers, tell or _saying(None))
        # The one place that knows all rooms makes it: a client knows no surface.
        here: Any = surface
        if here is None:
            here = sys.modules["assent"].open_terminal(calls.door.now, os.environ)
        try:
            return hold_review(inputs, here, performers, tell or _saying(here.say), kind)
        finally:
            if here is not surface:
                here.close()

    return (yield from until(beside(talk, _nothing, _nothing)))


def _saying(say: Hear | None) -> Tell:
    """Return who tells the report where nobody else does: it is said, where anything is."""
    return lambda report: None if say is None else say(render_report(report))


def is_review_over(
    calls: Calls, inputs: ReviewInputs, place: DocumentPlace, run_id: str | None = None
) -> Call[bool]:
    """Return whether a durable review has come to its report."""
    flow_id = yield from _attempt(calls, inputs, place, run_id)
    return end_of((yield from calls.steps(flow_id))) is not None


def _attempt(calls: Calls, inputs: ReviewInputs, place: DocumentPlace, run_id: str | None) -> Call[str]:
    """Return the id of the review to go on with: the first that was not left by a person's no.

    Raises:
        FlowDivergedError: what goes by that id is a review of something else.
    """
    flow_id = review_id(inputs, place, run_id)
    number = 1
    while True:
        numbered = flow_id if number == 1 else f"{flow_id}:{number}"
        steps = yield from calls.steps(numbered)
        if steps:
            begun = read_back(decode_entry(steps[0], Opened).inputs, ReviewInputs, numbered)
            # An agent may write a journal: what a person says yes to is done to the document that they named.
            if begun.path != place.path or review_id(begun, place, run_id) != flow_id:
                raise FlowDivergedError(f"{numbered} began with other findings, or on another document.")
        end = end_of(steps)
        if end is None or read_back(end.value, Outcome, numbered).report is not None:
            return numbered
        number += 1


def _report_of(outcome: Outcome) -> CompletionReport:
    if outcome.report is not None:
        return outcome.report
    assert outcome.ended is not None  # noqa: S101 - one of the two
    raise ended_otherwise(outcome.ended.state, outcome.ended.reason)


def _document_type(given: DocumentType | str | None) -> DocumentType | None:
    try:
        return None if given is None else DocumentType(given)
    except ValueError:
        raise BadRequestError("A document is of type requirements, plan or other.") from None


def _nothing() -> None:
    """Nothing is held while a talk goes on."""


class _Nobody:
    """Where nobody is asked, and a flow that asks all the same has a fault."""

    def present(self, ask: Ask) -> NoReturn:
        raise AssertionError(ask.prompt.title)

    def read(self) -> NoReturn:
        raise AssertionError

    def echo(self, ask: Ask, refusal: AssentError) -> NoReturn:
        raise AssertionError(ask, refusal)

    def say(self, markdown: str) -> NoReturn:
        raise AssertionError(markdown)
