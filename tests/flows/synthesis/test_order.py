"""The order in which findings are told: worst first, roots before what hangs on them."""

from collections.abc import Iterable

from hypothesis import given

from assent.flows.synthesis.order import put_roots_first, sort_by_document, sort_by_severity, sort_by_weight
from assent.protocol.finding import Finding, FindingType, Severity
from tests.flows.synthesis.reviews import finding, modest, tangles
from tests.proves import proves

__all__: list[str] = []

DOCUMENT = """\
# Plan

## Scope

The tiers are
named later.

## Rollout

Flip the flag.
"""


def ids(findings: Iterable[Finding]) -> str:
    return " ".join(each.finding_id for each in findings)


def test_document_order_is_where_the_first_quote_stands() -> None:
    """However its lines are broken; else the section's heading; what has no place comes last, as handed in."""
    found = [
        finding("lost", section="Nowhere"),
        finding("gone", section="Gone", evidence=("not there",)),
        finding("quote", section="Scope", evidence=("Flip the flag.", "Plan")),
        finding("heading", section="rollout!", evidence=("not there",)),
        finding("broken", section="Rollout", evidence=("tiers are  named",)),
    ]
    assert ids(sort_by_document(found, DOCUMENT)) == "broken heading quote lost gone"
    assert ids(sort_by_document(found, None)) == "lost gone quote heading broken"


@proves("W15")
def test_findings_are_sorted_by_severity_then_kind_then_anchor() -> None:
    """3.8; what is equal stays as it was."""
    found = [
        finding("F1", severity=Severity.P3),
        finding("F2", severity=Severity.P1, finding_type=FindingType.OMISSION, confidence=100),
        finding("F3", severity=Severity.P1),
        finding("F4", severity=Severity.P1),
        finding("F5", severity=Severity.P1, confidence=100),
        finding("F6", severity=Severity.P2),
        finding("F7", severity=Severity.P0),
    ]
    assert ids(sort_by_weight(found)) == "F7 F5 F3 F4 F2 F6 F1"
    assert ids(sort_by_severity(found)) == "F7 F2 F3 F4 F5 F6 F1"


@proves("W19")
def test_root_comes_just_before_its_first_dependent() -> None:
    """W-X14: only where that one is earlier, and nothing else moves."""
    found = [
        finding("F1", severity=Severity.P0),
        finding("F2", severity=Severity.P0, depends_on="F5"),
        finding("F3", severity=Severity.P1, depends_on="F5"),
        finding("F4", severity=Severity.P1),
        finding("F5", severity=Severity.P2, dependents=("F2", "F3")),
        finding("F6", severity=Severity.P3, dependents=("F7",)),
        finding("F7", severity=Severity.P3, depends_on="F6"),
    ]
    assert ids(put_roots_first(found)) == "F1 F5 F2 F3 F4 F6 F7"


@proves("W19")
def test_one_end_of_a_link_is_enough() -> None:
    """A set that was merged elsewhere may say it at the root or at the dependent."""
    assert ids(put_roots_first([finding("F1"), finding("F2", dependents=("F1",))])) == "F2 F1"
    assert ids(put_roots_first([finding("F1", depends_on="F2"), finding("F2")])) == "F2 F1"


def test_roots_of_roots_come_first_and_rings_come_to_an_end() -> None:
    """However long they are."""
    chain = [finding(f"F{n}", depends_on=f"F{n + 1}") for n in range(2_000)]
    assert ids(put_roots_first(chain)) == " ".join(f"F{n}" for n in range(1_999, -1, -1))
    ring = [finding(f"F{n}", depends_on=f"F{(n + 1) % 3}") for n in range(3)]
    assert sorted(ids(put_roots_first(ring)).split()) == ["F0", "F1", "F2"]


@modest
@given(tangles())
def test_every_root_comes_first_and_nothing_is_lost(found: tuple[Finding, ...]) -> None:
    """Whatever hangs on what."""
    told = put_roots_first(found)
    place = {each.finding_id: number for number, each in enumerate(told)}
    assert sorted(place) == sorted(each.finding_id for each in found)
    for each in told:
        if each.depends_on:
            assert place[each.depends_on] < place[each.finding_id]
        assert all(place[each.finding_id] < place[below] for below in each.dependents if below in place)
