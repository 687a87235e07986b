"""One recommended action a finding: what each reviewer implies, the tie-break, and the line about it."""

from typing import Any

import pytest

from assent.flows.synthesis.recommend import choose_action, implied_action, recommend, say_conflict
from assent.protocol.finding import Action, AutofixClass, Edit, Severity, Stance
from tests.flows.synthesis.reviews import candidate, contribution
from tests.proves import proves

__all__: list[str] = []

SAFE, GATED, MANUAL = AutofixClass
APPLY, DEFER, SKIP = Action


@pytest.mark.parametrize(
    ("changes", "implied"),
    [
        ({"autofix_class": SAFE}, APPLY),
        ({"autofix_class": GATED}, APPLY),
        ({"suggested_fix": "Do it."}, APPLY),
        ({"suggested_fix": "Do it.", "is_tradeoff": True}, DEFER),
        ({"is_tradeoff": True}, DEFER),
        ({"is_low_confidence": True}, SKIP),
        ({"autofix_class": SAFE, "is_low_confidence": True}, SKIP),
        ({"stance": Stance.KEEP, "suggested_fix": "Leave it."}, APPLY),
        ({}, None),
    ],
    ids=range(9),
)
def test_reviewer_implies_an_action(changes: dict[str, Any], implied: Action | None) -> None:
    """W-U5, and nothing where it says nothing."""
    assert implied_action(contribution(**changes)) is implied


def test_keeping_side_of_a_contradiction_implies_skip() -> None:
    """The other side implies what it would otherwise."""
    keep, change = contribution(stance=Stance.KEEP), contribution(autofix_class=GATED)
    assert implied_action(keep, is_contradiction=True) is SKIP
    assert implied_action(change, is_contradiction=True) is APPLY


@proves("W18", "W55")
@pytest.mark.parametrize(
    ("implied", "with_fix", "without"),
    [
        ([APPLY, DEFER, SKIP], SKIP, SKIP),
        ([DEFER, APPLY], DEFER, DEFER),
        ([APPLY, APPLY], APPLY, DEFER),
        ([SKIP], SKIP, SKIP),
        ([], APPLY, DEFER),
    ],
    ids=range(5),
)
def test_most_careful_action_wins_and_apply_needs_a_fix(
    implied: list[Action], with_fix: Action, without: Action
) -> None:
    """Skip before Defer before Apply; without a fix, Apply is demoted to Defer."""
    assert choose_action(implied, has_fix=True) is with_fix
    assert choose_action(implied, has_fix=False) is without


@pytest.mark.parametrize(
    ("implied", "line"),
    [
        ({"a": SKIP, "b": SKIP}, ""),
        ({}, ""),
        (
            {"coherence": DEFER, "b": APPLY},
            "B recommends Apply; coherence recommends Defer. Agent's recommendation: Defer.",
        ),
        (
            {"a": SKIP, "b": APPLY, "c": APPLY, "d": DEFER},
            "B and c recommend Apply; d recommends Defer; a recommends Skip. Agent's recommendation: Skip.",
        ),
    ],
    ids=range(4),
)
def test_conflict_is_told_where_actions_differ(implied: dict[str, Action], line: str) -> None:
    """W38's form, each action once."""
    assert say_conflict(implied, choose_action(implied.values(), has_fix=True)) == line


def test_conflict_names_the_action_that_is_recommended_in_the_end() -> None:
    """After the last gate."""
    told = recommend(
        candidate(contribution("a", 0, autofix_class=GATED), contribution("b", 1, is_tradeoff=True))
    )
    assert told.recommended_action is DEFER
    assert told.conflict_context.endswith("Agent's recommendation: Defer.")


def test_reviewer_that_says_two_things_has_no_conflict_with_itself() -> None:
    """Its most careful word counts."""
    told = recommend(
        candidate(contribution("a", 0, autofix_class=SAFE), contribution("a", 1, is_low_confidence=True))
    )
    assert (told.recommended_action, told.conflict_context) == (SKIP, "")


def test_fix_and_what_belongs_to_it_come_from_one_reviewer() -> None:
    """The words come from the strongest, the fix from the strongest that has one."""
    told = recommend(
        candidate(
            contribution("a", 0, severity=Severity.P0, plain_title="not this", why_it_matters="Worse."),
            contribution(
                "b",
                1,
                suggested_fix="Do it.",
                edit=Edit("x", "y"),
                plain_title="this",
                why_it_works="It does.",
            ),
        )
    )
    assert (told.severity, told.why_it_matters) == (Severity.P0, "Worse.")
    assert (told.suggested_fix, told.edit, told.plain_title, told.why_it_works) == (
        "Do it.",
        Edit("x", "y"),
        "this",
        "It does.",
    )


def test_blank_fix_is_none() -> None:
    """Neither offered nor recommended."""
    told = recommend(candidate(autofix_class=SAFE, suggested_fix=" \u200b"))
    assert (told.suggested_fix, told.has_fix, told.recommended_action) == (None, False, DEFER)
