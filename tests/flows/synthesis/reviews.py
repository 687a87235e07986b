"""Reviews that the tests of this room are fed with."""

import json
from typing import Any

from hypothesis import strategies as st

from assent.flows.synthesis.candidate import Candidate, Contribution, gather
from assent.protocol.finding import (
    Action,
    AutofixClass,
    Edit,
    Finding,
    FindingType,
    Intake,
    Promotion,
    RawFinding,
    ReviewerOutput,
    Severity,
    Stance,
)
from tests.chance import examples

__all__ = [
    "FINDING",
    "MERGED",
    "candidate",
    "contribution",
    "encode",
    "finding",
    "intake",
    "intakes",
    "merged_sets",
    "modest",
    "output",
    "raw",
    "review",
    "tangles",
]

# The same examples on every run: a red test stays red until somebody looks at it.
modest = examples(150, deadline=None, derandomize=True, database=None)

FINDING: dict[str, Any] = {
    "title": "Two tiers have one name",
    "severity": "P1",
    "section": "Scope",
    "why_it_matters": "Implementers will pick different tiers.",
    "finding_type": "error",
    "autofix_class": "manual",
    "confidence": 75,
    "evidence": ["the tiers are named later"],
}
MERGED: dict[str, Any] = {**FINDING, "id": "F1", "recommended_action": "Defer"}


def output(*findings: object, **changes: object) -> dict[str, Any]:
    """Return one reviewer's output as it would stand in JSON."""
    whole = {
        "reviewer": "coherence",
        "findings": list(findings),
        "residual_risks": [],
        "deferred_questions": [],
    }
    return {**whole, **changes}


def encode(value: object) -> bytes:
    """Return `value` as JSON."""
    return json.dumps(value).encode()


def raw(title: str = "Two tiers have one name", **changes: Any) -> RawFinding:
    """Return a finding as a reviewer writes it."""
    fields: dict[str, Any] = {
        "severity": Severity.P1,
        "section": "Scope",
        "why_it_matters": "Implementers will pick different tiers.",
        "finding_type": FindingType.ERROR,
        "autofix_class": AutofixClass.MANUAL,
        "confidence": 75,
        "evidence": ("the tiers are named later",),
    }
    return RawFinding(title=title, **{**fields, **changes})


def contribution(reviewer: str = "coherence", number: int = 0, **changes: Any) -> Contribution:
    """Return one reviewer's finding."""
    return Contribution(reviewer, raw(**changes), number)


def candidate(*contributions: Contribution, **changes: Any) -> Candidate:
    """Return a candidate of these, or of one finding."""
    return gather(contributions or [contribution(**changes)])


def finding(finding_id: str = "F1", **changes: Any) -> Finding:
    """Return a finding after synthesis."""
    fields: dict[str, Any] = {
        "title": f"Title of {finding_id}",
        "severity": Severity.P1,
        "section": "Scope",
        "why_it_matters": "Implementers will pick different tiers.",
        "finding_type": FindingType.ERROR,
        "autofix_class": AutofixClass.MANUAL,
        "confidence": 75,
        "recommended_action": Action.DEFER,
    }
    return Finding(finding_id=finding_id, **{**fields, **changes})


def review(reviewer: str, *findings: RawFinding, risks: tuple[str, ...] = ()) -> ReviewerOutput:
    """Return what one reviewer hands in."""
    return ReviewerOutput(reviewer, findings, risks, ())


def intake(**findings: list[RawFinding]) -> Intake:
    """Return a review, by reviewer."""
    return Intake(outputs=tuple(review(name, *found) for name, found in findings.items()))


_titles = st.sampled_from(["Two tiers", "two tiers!", "No owner", "Late start", "The cache", "?!", "x" * 300])
_sections = st.sampled_from(["Scope", "scope.", "Rollout", "Design"])
_paths = st.sampled_from(["", "", "store", "store/cache", "Store / Cache / TTL", "queue"])
_texts = st.sampled_from(
    ["Nobody owns it.", "Two tiers have one name, in two places.", "It is late. Nobody knows."]
)
_fixes = st.sampled_from([None, "", "Name one.", "Drop the cache."])

_raw_findings = st.builds(
    RawFinding,
    title=_titles,
    severity=st.sampled_from(Severity),
    section=_sections,
    why_it_matters=_texts,
    finding_type=st.sampled_from(FindingType),
    autofix_class=st.sampled_from(AutofixClass),
    confidence=st.sampled_from([0, 25, 50, 75, 75, 100, 100]),
    evidence=st.lists(st.sampled_from(["a quote", "another one", "the third"]), min_size=1, max_size=3).map(
        tuple
    ),
    suggested_fix=_fixes,
    edit=st.sampled_from([None, None, Edit("a", "b"), Edit("a", "c")]),
    plain_title=st.sampled_from(["", "Readers get lost"]),
    why_it_works=st.just(""),
    premise=st.sampled_from(["", "nobody will read it"]),
    stance=st.sampled_from(Stance),
    challenges=_paths,
    concerns=_paths,
    is_low_confidence=st.booleans(),
    is_tradeoff=st.booleans(),
    promotion=st.none() | st.sampled_from(Promotion),
)
_notes = st.lists(
    st.sampled_from(["Two tiers", "It is late", "Nobody has asked the users", "the late start of it all"]),
    max_size=3,
).map(tuple)
_outputs = st.builds(
    ReviewerOutput,
    reviewer=st.sampled_from(["coherence", "feasibility", "scope-guardian", "line\nbreak"]),
    findings=st.lists(_raw_findings, max_size=6).map(tuple),
    residual_risks=_notes,
    deferred_questions=_notes,
)
intakes = st.lists(_outputs, min_size=1, max_size=4).map(lambda outputs: Intake(outputs=tuple(outputs)))


def _merged(draw: st.DrawFn, finding_id: str, **links: Any) -> Finding:
    """Return a finding of a merged set, as bad and as sure as it may be."""
    severity = draw(st.sampled_from(Severity))
    return finding(
        finding_id, severity=severity, confidence=draw(st.sampled_from([25, 50, 75, 100])), **links
    )


@st.composite
def merged_sets(draw: st.DrawFn) -> Intake:
    """A set that was merged elsewhere: chains of two levels, said at one end or both, and links into nothing."""
    ids = [f"F{number}" for number in range(draw(st.integers(0, 8)))]
    roots = set(draw(st.lists(st.sampled_from(ids), max_size=3))) if ids else set()
    others = [None, "F99", *sorted(roots)]
    root_of = {each: draw(st.sampled_from(others)) for each in ids if each not in roots}
    found = [
        _merged(
            draw,
            each,
            depends_on=draw(st.sampled_from([root_of.get(each), each if each in roots else root_of[each]])),
            dependents=tuple(below for below, root in root_of.items() if root == each),
        )
        for each in ids
    ]
    return Intake(merged=tuple(found), residual_risks=draw(_notes))


@st.composite
def tangles(draw: st.DrawFn) -> tuple[Finding, ...]:
    """Findings with roots of roots, and several roots each; no rings."""
    ids = [f"F{number}" for number in range(draw(st.integers(1, 8)))]
    found = [
        _merged(
            draw,
            each,
            depends_on=draw(st.sampled_from([None, *ids[number + 1 :]])),
            dependents=tuple(draw(st.lists(st.sampled_from([*ids[:number], "F99"]), max_size=3))),
        )
        for number, each in enumerate(ids)
    ]
    return tuple(draw(st.permutations(found)))
