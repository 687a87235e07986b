"""Findings that say the same become one, one reviewer's repeats become FYI, and agreement counts."""

import pytest

from assent.flows.synthesis.merge import (
    collapse_repeats,
    gate_anchors,
    list_contributions,
    merge_same,
    promote_agreed,
)
from assent.protocol.finding import AutofixClass, Edit, FindingType, Promotion, Severity, Stance
from tests.flows.synthesis.reviews import candidate, contribution, raw, review

__all__: list[str] = []


def test_contributions_are_numbered_as_they_were_handed_in() -> None:
    """The last thing that ties are broken by."""
    found = list_contributions([review("a", raw(), raw("x")), review("b", raw())])
    assert [(each.reviewer, each.number) for each in found] == [("a", 0), ("a", 1), ("b", 2)]


def test_findings_below_fifty_do_not_pass() -> None:
    """W-U2: false and unverified ones are only counted."""
    found = [contribution(confidence=anchor) for anchor in (0, 25, 50, 75, 100)]
    assert [each.finding.confidence for each in gate_anchors(found)] == [50, 75, 100]


def test_same_section_and_title_in_another_spelling_are_one_finding() -> None:
    """3.3: the worst severity, the highest anchor, all evidence and everybody's name."""
    (found,) = merge_same(
        [
            contribution("coherence", 0, severity=Severity.P2, confidence=100, evidence=("one", "two")),
            contribution(
                "feasibility",
                1,
                title="two tiers: have ONE  name!",
                section="scope",
                evidence=("two", "three"),
            ),
        ]
    )
    assert found.strongest.reviewer == "feasibility"
    assert (found.strongest.finding.severity, found.confidence) == (Severity.P1, 100)
    assert found.evidence == ("two", "three", "one")
    assert found.reviewers == ("coherence", "feasibility")


def test_other_title_or_section_is_another_finding() -> None:
    """Nothing is merged by likeness."""
    found = merge_same(
        [contribution(), contribution(section="Rollout"), contribution(title="Two tiers have a name")]
    )
    assert len(found) == 3


def test_opposing_advice_is_not_merged() -> None:
    """3.3: who wants to keep it did not find the same."""
    assert len(merge_same([contribution(), contribution("b", 1, stance=Stance.KEEP)])) == 2


def test_evidence_has_a_limit_that_a_finding_can_carry() -> None:
    """Fifty quotes, as one reviewer may hand in."""
    found = candidate(*(contribution("a", n, evidence=(f"quote {n}",)) for n in range(60)))
    assert len(found.evidence) == 50


@pytest.mark.parametrize(
    ("classes", "merged"),
    [
        (("safe_auto", "safe_auto"), "safe_auto"),
        (("safe_auto", "gated_auto"), "gated_auto"),
        (("manual", "safe_auto"), "manual"),
    ],
)
def test_merged_class_is_the_most_careful_one(classes: tuple[str, str], merged: str) -> None:
    """Whoever sees a need for judgement is not outvoted."""
    found = candidate(
        *(contribution("a", n, autofix_class=AutofixClass(each)) for n, each in enumerate(classes))
    )
    assert found.autofix_class == merged


def test_two_exact_changes_that_differ_are_not_safe() -> None:
    """One clear right fix is one."""
    safe = AutofixClass.SAFE_AUTO
    same = [contribution("a", 0, autofix_class=safe, edit=Edit("x", "y"))] * 2
    assert candidate(*same).autofix_class is safe
    other = contribution("b", 1, autofix_class=safe, edit=Edit("x", "z"))
    assert candidate(same[0], other).autofix_class is AutofixClass.GATED_AUTO


def test_error_counts_before_omission() -> None:
    """As soon as somebody calls it one."""
    omission = contribution("a", 0, finding_type=FindingType.OMISSION, severity=Severity.P0)
    assert candidate(omission).finding_type is FindingType.OMISSION
    assert candidate(omission, contribution("b", 1)).finding_type is FindingType.ERROR


def test_fix_comes_from_the_strongest_that_has_one() -> None:
    """By severity, then anchor, then order; a blank fix is none."""
    found = candidate(
        contribution("a", 0, severity=Severity.P0, suggested_fix=" \u200b"),
        contribution("b", 1, confidence=75, suggested_fix="second"),
        contribution("c", 2, confidence=100, suggested_fix="first"),
        contribution("d", 3, confidence=100, suggested_fix="third"),
    )
    assert (found.strongest.reviewer, found.fixer.reviewer) == ("a", "c")


def test_three_of_one_reviewer_on_one_premise_are_one_and_two_fyi() -> None:
    """The strongest stays."""
    found = [
        candidate(contribution("a", 0, title="x", premise="Nobody reads it")),
        candidate(contribution("a", 1, title="y", premise="nobody reads it.", confidence=100)),
        candidate(contribution("a", 2, title="z", premise="Nobody READS it")),
    ]
    assert [each.confidence for each in collapse_repeats(found)] == [50, 100, 50]


@pytest.mark.parametrize(
    "third",
    [
        contribution("a", 2, title="z", premise="Another one"),
        contribution("b", 2, title="z", premise="Nobody reads it"),
    ],
    ids=["another premise", "another reviewer"],
)
def test_two_of_one_reviewer_on_one_premise_stay(third: object) -> None:
    """Three are needed, of one reviewer, on one premise."""
    found = [
        candidate(contribution("a", 0, title="x", premise="Nobody reads it")),
        candidate(contribution("a", 1, title="y", premise="Nobody reads it")),
        candidate(third),  # type: ignore[arg-type] # parametrize has no types
    ]
    assert [each.confidence for each in collapse_repeats(found)] == [75, 75, 75]


def test_unsaid_premise_is_not_the_same_premise() -> None:
    """Nothing is guessed."""
    found = [candidate(contribution("a", n, title=f"t{n}")) for n in range(5)]
    assert collapse_repeats(found) == tuple(found)


def test_repeat_that_another_reviewer_found_too_stays() -> None:
    """It is more than one persona's repeat."""
    repeats = [contribution("a", n, title=f"t{n}", premise="p") for n in range(3)]
    found = [
        candidate(repeats[0]),
        candidate(repeats[1]),
        candidate(repeats[2], contribution("b", 3, title="t2")),
    ]
    assert [each.confidence for each in collapse_repeats(found)] == [75, 50, 75]


@pytest.mark.parametrize(("anchor", "after"), [(50, 75), (75, 100), (100, 100)])
def test_agreement_of_two_raises_the_anchor_one_step(anchor: int, after: int) -> None:
    """3.4, and one step only, however many agree."""
    several = [contribution(name, n, confidence=anchor) for n, name in enumerate("abc")]
    (found,) = promote_agreed([candidate(*several)])
    assert found.confidence == after


def test_one_reviewer_does_not_agree_with_itself() -> None:
    """Two findings of one persona are no agreement."""
    (found,) = promote_agreed([candidate(contribution("a", 0), contribution("a", 1))])
    assert found.confidence == 75


@pytest.mark.parametrize(
    ("reasons", "raised"),
    [
        (["factual_error"], "safe_auto"),
        (["mechanical", "factual_error"], "safe_auto"),
        (["mechanical", "missing_control"], "gated_auto"),
        (["existing_pattern"], "gated_auto"),
        (["framework_native"], "gated_auto"),
        (["mechanical", None], None),
        ([None], None),
    ],
    ids=range(7),
)
def test_class_is_raised_when_all_who_called_it_manual_say_why(
    reasons: list[str | None], raised: str | None
) -> None:
    """3.6: plainly wrong or mechanically implied is safe, the others touch meaning."""
    found = candidate(
        *(
            contribution("a", n, suggested_fix="Do it.", promotion=Promotion(each) if each else None)
            for n, each in enumerate(reasons)
        )
    )
    assert found.raised_class == raised


def test_class_is_not_raised_above_what_another_reviewer_said() -> None:
    """Who called it gated did not call it safe."""
    mechanical = contribution("a", 0, suggested_fix="Do it.", promotion=Promotion.MECHANICAL)
    gated = contribution("b", 1, autofix_class=AutofixClass.GATED_AUTO)
    assert candidate(mechanical, gated).raised_class is AutofixClass.GATED_AUTO


@pytest.mark.parametrize(
    "changes", [{"suggested_fix": None}, {"is_tradeoff": True}], ids=["no fix", "trade-off"]
)
def test_class_is_not_raised_without_one_fix(changes: dict[str, object]) -> None:
    """What could not be applied stays manual."""
    whole = {"suggested_fix": "Do it.", "promotion": Promotion.MECHANICAL, **changes}
    assert candidate(**whole).raised_class is None
