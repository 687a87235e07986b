"""Who gets to see a finding, by its anchor and class; and classes that say what happens."""

from typing import Any

import pytest

from assent.flows.synthesis.promote import raise_class
from assent.flows.synthesis.recommend import recommend
from assent.flows.synthesis.route import Route, route_of, settle_class
from assent.protocol.finding import Action, AutofixClass, Promotion
from tests.flows.synthesis.reviews import candidate, contribution, finding
from tests.proves import proves

__all__: list[str] = []

FIXED: dict[str, Any] = {"suggested_fix": "Do it.", "recommended_action": Action.APPLY}


@proves("W15", "W16")
@pytest.mark.parametrize("kind", list(AutofixClass))
@pytest.mark.parametrize(
    ("anchor", "route"),
    [(0, Route.OUT), (25, Route.OUT), (50, Route.FYI), (75, Route.WALK), (100, Route.WALK)],
)
def test_anchor_decides_who_sees_a_finding(kind: AutofixClass, anchor: int, route: Route) -> None:
    """FYI at 50 whatever the class; decided from 75 on, but for what is safe and confirmed."""
    found = finding(autofix_class=kind, confidence=anchor, **FIXED)
    is_silent = kind is AutofixClass.SAFE_AUTO and anchor == 100
    assert route_of(found) is (Route.SILENT if is_silent else route)


@pytest.mark.parametrize(
    "changes",
    [{"suggested_fix": None}, {"suggested_fix": " "}, {"recommended_action": Action.SKIP}],
    ids=["no fix", "blank fix", "somebody spoke against it"],
)
def test_safe_fix_is_applied_unseen_only_where_nothing_speaks_against_it(changes: dict[str, Any]) -> None:
    """Else a person signs it off."""
    found = finding(autofix_class=AutofixClass.SAFE_AUTO, confidence=100, **{**FIXED, **changes})
    assert route_of(found) is Route.WALK


@proves("W15")
@pytest.mark.parametrize(
    ("kind", "anchor", "changes", "settled"),
    [
        ("safe_auto", 100, FIXED, "safe_auto"),
        ("safe_auto", 100, {}, "manual"),
        ("safe_auto", 100, {**FIXED, "recommended_action": Action.SKIP}, "gated_auto"),
        ("safe_auto", 75, FIXED, "gated_auto"),
        ("safe_auto", 75, {}, "manual"),
        ("gated_auto", 100, FIXED, "gated_auto"),
        ("gated_auto", 75, {}, "manual"),
        ("manual", 75, FIXED, "manual"),
        ("safe_auto", 50, {}, "safe_auto"),
    ],
    ids=range(9),
)
def test_class_is_settled_to_what_happens(
    kind: str, anchor: int, changes: dict[str, Any], settled: str
) -> None:
    """3.7: whatever a person decides about is gated or manual, and gated only with a fix."""
    found = settle_class(finding(autofix_class=AutofixClass(kind), confidence=anchor, **changes))
    assert found.autofix_class == settled
    assert settle_class(found) == found


def test_raised_finding_keeps_its_recommendation() -> None:
    """3.6 changes the class alone."""
    found = candidate(
        contribution(suggested_fix="Do it.", promotion=Promotion.MECHANICAL, is_low_confidence=True)
    )
    before = recommend(found)
    after = raise_class(before, found)
    assert (before.autofix_class, after.autofix_class) == (AutofixClass.MANUAL, AutofixClass.SAFE_AUTO)
    assert after.recommended_action is before.recommended_action is Action.SKIP
    assert route_of(after) is Route.WALK


def test_finding_that_is_not_manual_is_not_raised() -> None:
    """Whatever its reviewer says."""
    found = candidate(
        autofix_class=AutofixClass.GATED_AUTO, suggested_fix="Do it.", promotion=Promotion.MECHANICAL
    )
    assert raise_class(recommend(found), found).autofix_class is AutofixClass.GATED_AUTO
