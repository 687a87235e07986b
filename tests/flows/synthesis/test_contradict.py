"""What one reviewer wants changed and another kept is one finding, framed as a trade-off."""

import pytest

from assent.flows.synthesis.contradict import combine_opposed, frame_tradeoff, say_names
from assent.flows.synthesis.recommend import recommend
from assent.protocol.finding import Action, AutofixClass, FindingType, Promotion, Severity, Stance
from tests.flows.synthesis.reviews import candidate, contribution
from tests.proves import proves

__all__: list[str] = []

CHANGE = contribution(
    "coherence",
    0,
    finding_type=FindingType.OMISSION,
    autofix_class=AutofixClass.GATED_AUTO,
    suggested_fix="Name them.",
    promotion=Promotion.MECHANICAL,
)
KEEP = contribution(
    "scope-guardian",
    1,
    stance=Stance.KEEP,
    severity=Severity.P0,
    evidence=("it is meant",),
    suggested_fix="Leave it.",
    why_it_matters="Both are meant.",
)


def test_two_sides_become_one_finding() -> None:
    """3.5: manual, an error, with the reviewers and the evidence of both."""
    (found,) = combine_opposed([candidate(CHANGE), candidate(KEEP)])
    told = recommend(found)
    assert (told.autofix_class, told.finding_type) == (AutofixClass.MANUAL, FindingType.ERROR)
    assert told.reviewers == ("coherence", "scope-guardian")
    assert told.evidence == ("it is meant", "the tiers are named later")
    assert (told.severity, told.confidence) == (Severity.P0, 75)
    assert found.raised_class is None


@proves("W18")
def test_contradiction_recommends_skip_and_says_why() -> None:
    """The keep-as-is side implies Skip, which wins; the fix is the one of who wants a change."""
    (found,) = combine_opposed([candidate(CHANGE), candidate(KEEP)])
    told = recommend(found)
    assert (told.recommended_action, told.suggested_fix) == (Action.SKIP, "Name them.")
    assert told.conflict_context == (
        "Coherence recommends Apply; scope-guardian recommends Skip. Agent's recommendation: Skip."
    )


def test_contradiction_is_framed_as_a_tradeoff() -> None:
    """Who wants what, and why, both sides in their own words."""
    (found,) = combine_opposed([candidate(CHANGE), candidate(KEEP)])
    assert recommend(found).why_it_matters == (
        "It is a trade-off: coherence would change this, scope-guardian would keep it.\n\n"
        "For the change: Implementers will pick different tiers.\n\nFor keeping it: Both are meant."
    )


def test_framing_of_long_reasons_still_fits_into_a_finding() -> None:
    """Twenty thousand characters at most, or it could not be handed on."""
    sides = [
        contribution(str(stance), n, stance=stance, why_it_matters="x" * 20_000)
        for n, stance in enumerate(Stance)
    ]
    (found,) = combine_opposed(candidate(side) for side in sides)
    assert len(frame_tradeoff(found)) < 20_000


def test_one_side_alone_is_no_contradiction() -> None:
    """Whatever it wants."""
    for side in (CHANGE, KEEP):
        (found,) = combine_opposed([candidate(side)])
        assert not found.is_contradiction


def test_sides_of_different_findings_are_not_combined() -> None:
    """Only what is known by the same section and title."""
    other = contribution("b", 1, title="Another", stance=Stance.KEEP)
    assert len(combine_opposed([candidate(CHANGE), candidate(other)])) == 2


@pytest.mark.parametrize(
    ("names", "told"),
    [
        (["a"], "a"),
        (["a", "b"], "a and b"),
        (["a", "b", "c", "d"], "a, b, c and d"),
        (["a", "b", "c", "d", "e"], "a, b, c and 2 others"),
        (["one\nline"], "one<U+000A>line"),
    ],
    ids=range(5),
)
def test_names_are_told_on_one_line(names: list[str], told: str) -> None:
    """Reviewers choose their names; a line break in one forges nothing."""
    assert say_names(names) == told
