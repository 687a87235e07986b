"""A finding of a document review: as a reviewer hands it in, and as synthesis leaves it (W-U1).

Rule 1: a record that lacks something, or says what no such record can say, is left out and counted; the others stay.
Rule 2: what takes judgement (does it challenge a premise? does it say "keep it"?) is never guessed from prose.
        Reviewers may say so in fields of their own; unsaid, it is not so.
Rule 3: a set that was merged elsewhere is used as it is.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import msgspec
from msgspec import Meta, field

__all__ = [
    "ACTIONABLE_FROM",
    "FYI_ANCHOR",
    "MAX_FINDINGS_BYTES",
    "MAX_RECORDS",
    "Action",
    "Anchor",
    "AutofixClass",
    "Dropped",
    "Edit",
    "Finding",
    "FindingType",
    "Intake",
    "Promotion",
    "RawFinding",
    "ReviewerOutput",
    "Severity",
    "Stance",
    "Verb",
]

MAX_FINDINGS_BYTES = 4 << 20
MAX_RECORDS = 2_000
"""In one review, from all reviewers together."""

_Text = Annotated[str, Meta(min_length=1, max_length=20_000)]
_Line = Annotated[str, Meta(min_length=1, max_length=500)]
_Name = Annotated[str, Meta(min_length=1, max_length=100)]
_Evidence = Annotated[tuple[_Text, ...], Meta(max_length=50)]


class Severity(StrEnum):
    """How bad it is, worst first."""

    P0 = "P0"
    P1 = "P1"
    P2 = "P2"
    P3 = "P3"


class FindingType(StrEnum):
    """Whether something is wrong or missing."""

    ERROR = "error"
    OMISSION = "omission"


class AutofixClass(StrEnum):
    """How much of a person its fix needs (W-U3), least first."""

    SAFE_AUTO = "safe_auto"
    """One clear right fix."""
    GATED_AUTO = "gated_auto"
    """A concrete fix that touches meaning: somebody signs it off."""
    MANUAL = "manual"
    """It needs judgement."""


class Action(StrEnum):
    """What can be recommended for a finding."""

    APPLY = "Apply"
    DEFER = "Defer"
    SKIP = "Skip"


class Verb(StrEnum):
    """What became of a finding, in the order of the report (W74)."""

    APPLIED = "Applied"
    DEFERRED = "Deferred"
    SKIPPED = "Skipped"
    ACKNOWLEDGED = "Acknowledged"


class Stance(StrEnum):
    """What a reviewer wants of the passage."""

    CHANGE = "change"
    KEEP = "keep"


class Promotion(StrEnum):
    """Why a finding that was handed in as manual needs less than that (W-U7, 3.6)."""

    EXISTING_PATTERN = "existing_pattern"
    FACTUAL_ERROR = "factual_error"
    MISSING_CONTROL = "missing_control"
    FRAMEWORK_NATIVE = "framework_native"
    MECHANICAL = "mechanical"


Anchor = Annotated[int, Meta(ge=0, le=100, multiple_of=25)]
"""How sure a reviewer is (W-U2): 0 false, 25 unverified, 50 real but minor, 75 checked twice, 100 confirmed."""
FYI_ANCHOR, ACTIONABLE_FROM = 50, 75


class Edit(msgspec.Struct, frozen=True, gc=False):
    """An exact change: `before` stands in the document once, and becomes `after`."""

    before: _Text
    after: Annotated[str, Meta(max_length=20_000)]


class RawFinding(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """One finding as its reviewer wrote it. Names that are not known are passed over."""

    title: _Line
    severity: Severity
    section: _Line
    why_it_matters: _Text
    finding_type: FindingType
    autofix_class: AutofixClass
    confidence: Anchor
    evidence: Annotated[_Evidence, Meta(min_length=1)]
    """Quotes from the document."""
    suggested_fix: str | None = None
    edit: Edit | None = None
    """The same fix as an exact change, where there is one."""
    plain_title: str = ""
    """The title as an observable consequence, in three to eight words (W31)."""
    why_it_works: str = ""
    """Why the fix is right, in one to three sentences (W37)."""
    premise: str = ""
    """What it rests on: several of one reviewer that rest on the same are one and its repeats."""
    stance: Stance = Stance.CHANGE
    challenges: str = ""
    """The component or premise whose being it questions, outermost first: `storage/cache`."""
    concerns: str = ""
    """The component that its fix touches, spelled as in `challenges`: if it is decided that this one stays as it is, the
    finding has nothing left to say."""
    is_low_confidence: bool = field(name="low_confidence", default=False)
    is_tradeoff: bool = field(name="open_tradeoff", default=False)
    """A fix is named, but which way to go is open."""
    promotion: Promotion | None = None


class ReviewerOutput(msgspec.Struct, frozen=True, omit_defaults=True):
    """All that one reviewer hands in."""

    reviewer: _Name
    findings: tuple[RawFinding, ...]
    residual_risks: tuple[_Text, ...]
    deferred_questions: tuple[_Text, ...]


class Finding(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """A finding after synthesis: what people decide about."""

    finding_id: _Line = field(name="id")
    title: _Line
    severity: Severity
    section: _Line
    why_it_matters: _Text
    finding_type: FindingType
    autofix_class: AutofixClass
    confidence: Anchor
    recommended_action: Action
    """After the tie-break; never computed again (W18)."""
    evidence: _Evidence = ()
    reviewers: tuple[_Name, ...] = ()
    suggested_fix: str | None = None
    edit: Edit | None = None
    plain_title: str = ""
    why_it_works: str = ""
    conflict_context: str = ""
    """One line on who recommended what, where reviewers disagreed."""
    depends_on: str | None = None
    """The root that it falls with."""
    dependents: tuple[str, ...] = ()
    """The findings that fall with this one."""

    @property
    def has_fix(self) -> bool:
        """Whether there is anything that could be applied."""
        return bool(self.suggested_fix and self.suggested_fix.strip())


class Dropped(msgspec.Struct, frozen=True):
    """A record that was left out."""

    reviewer: str
    """Empty: of a merged set."""
    reason: str
    """One plain sentence that names the place."""


class Intake(msgspec.Struct, frozen=True, omit_defaults=True):
    """A review as it came in, with what was no record left out."""

    outputs: tuple[ReviewerOutput, ...] = ()
    failed: tuple[str, ...] = ()
    """Reviewers that handed in nothing that can be read (W-U21)."""
    merged: tuple[Finding, ...] | None = None
    """A set that was merged elsewhere; there are no outputs then."""
    residual_risks: tuple[str, ...] = ()
    """Of a merged set."""
    deferred_questions: tuple[str, ...] = ()
    dropped: tuple[Dropped, ...] = ()
