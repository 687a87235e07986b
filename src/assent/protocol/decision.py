"""What was decided about findings, and what a review comes to in the end (W69-W75).

Rule 1: a finding is decided once. What was decided does not change; what came of carrying it out stands beside it.
Rule 2: a fix that failed is not applied, and is not counted as such.
"""

from __future__ import annotations

from enum import StrEnum

import msgspec

from assent.protocol.finding import Finding, Verb
from assent.protocol.primer import Primer

__all__ = [
    "CompletionReport",
    "Coverage",
    "Decision",
    "Failure",
    "NextStep",
    "PersonaCount",
    "Verb",
    "Verdict",
    "Way",
]


class Verdict(StrEnum):
    """What a review comes to, after all actions (W-X4)."""

    READY = "Ready"
    READY_WITH_FIXES = "Ready with fixes"
    NOT_READY = "Not ready"


class NextStep(StrEnum):
    """What is to happen after a review (W-U18)."""

    GO_ON = "go_on"
    REVIEW_AGAIN = "review_again"
    STOP = "stop"


class Way(StrEnum):
    """How a review went from its findings to its report (W69)."""

    WALK_THROUGH = "walk_through"
    """One by one, all of them."""
    LFG_THE_REST = "lfg_the_rest"
    """One by one, and the rest together."""
    LFG = "lfg"
    APPEND = "append"
    REPORT_ONLY = "report_only"
    NOTHING_TO_DECIDE = "nothing_to_decide"
    HEADLESS = "headless"
    """Nobody was asked."""


class Decision(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """One entry of the decision list (W62)."""

    finding: Finding
    verb: Verb
    note: str = ""
    """How it came to that: `cascaded from …`, `redirected from Apply — no suggested_fix`."""
    append_location: str = ""
    """Where a deferral stands in the document."""
    reason: str = ""
    """Why it was skipped or acknowledged, or is recorded in the report only."""
    is_recorded_only: bool = False
    """Deferred, but not in the document: the append failed (W-X8)."""


class Failure(msgspec.Struct, frozen=True):
    """Something that was decided and could not be done."""

    finding: Finding
    what: str
    """`Apply` or `Append`."""
    reason: str
    """One plain sentence."""


class PersonaCount(msgspec.Struct, frozen=True):
    """What one reviewer contributed (W-U16): findings = auto + proposed + decisions + fyi."""

    reviewer: str
    status: str
    """`done` or `failed`."""
    findings: int = 0
    auto: int = 0
    proposed: int = 0
    decisions: int = 0
    fyi: int = 0
    residual: int = 0


class Coverage(msgspec.Struct, frozen=True, omit_defaults=True):
    """What the review looked at, and what of it is not asked about."""

    personas: tuple[PersonaCount, ...] = ()
    dropped: int = 0
    """Records that were none, and findings below the anchors that count."""
    roots: int = 0
    dependents: int = 0
    restated: int = 0
    """Residual risks and deferred questions that repeat a finding (W-U9)."""
    suppressed: tuple[str, ...] = ()
    """Titles that were decided against in an earlier round (R29)."""
    not_landed: tuple[str, ...] = ()
    """Titles that were applied in an earlier round and are found again (R30)."""
    notes: tuple[str, ...] = ()
    """Anything else that whoever reads the report should know, a sentence each."""


class CompletionReport(msgspec.Struct, frozen=True, omit_defaults=True):
    """What came of a review. Every finding that a person had to decide about is in one of decisions, failures, undecided."""

    document: str
    """Its path."""
    way: Way
    verdict: Verdict
    decisions: tuple[Decision, ...] = ()
    """In the order in which they were made; fixes that failed are not here."""
    failures: tuple[Failure, ...] = ()
    """Fixes that failed, and appends that did: a deferral that is recorded only is both a decision and a failure."""
    undecided: tuple[Finding, ...] = ()
    fixes: tuple[Finding, ...] = ()
    """The safe ones, which were applied before anybody was asked."""
    fyi: tuple[Finding, ...] = ()
    residual_risks: tuple[str, ...] = ()
    deferred_questions: tuple[str, ...] = ()
    coverage: Coverage = Coverage()
    rounds: int = 1
    """Which round of the review it was."""
    primer: Primer = Primer()
    """What the next round has to know."""
    next_step: NextStep | None = None
    """What a person chose after it, where they were asked."""
