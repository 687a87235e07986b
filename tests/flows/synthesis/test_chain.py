"""Roots, and what falls with them: linked by what reviewers say of components, and by nothing else."""

from typing import Any

import pytest

from assent.flows.synthesis.chain import MAX_DEPENDENTS, drop_orphans, link_dependents
from assent.flows.synthesis.recommend import recommend
from assent.protocol.finding import AutofixClass, Finding, Promotion, Severity, Stance
from tests.flows.synthesis.reviews import candidate, contribution, finding
from tests.proves import proves

__all__: list[str] = []

ROOT: dict[str, Any] = {"title": "root", "challenges": "store"}
DEPENDENT: dict[str, Any] = {"title": "dependent", "concerns": "store/cache", "severity": Severity.P2}


def links(*records: dict[str, Any]) -> dict[str, str]:
    """Return who depends on whom, by title."""
    found = [candidate(contribution("a", number, **each)) for number, each in enumerate(records)]
    return roots(link(found))


def link(found: list[Any]) -> tuple[Finding, ...]:
    pairs = [(recommend(each), each) for each in found]
    return link_dependents([told for told, _ in pairs], {told.finding_id: each for told, each in pairs})


def roots(findings: tuple[Finding, ...]) -> dict[str, str]:
    titles = {each.finding_id: each.title for each in findings}
    up = {each.title: titles[each.depends_on] for each in findings if each.depends_on}
    down = {titles[below]: each.title for each in findings for below in each.dependents}
    assert up == down  # both ends say the same
    return up


@proves("W17")
def test_finding_about_a_part_of_what_is_challenged_depends_on_the_root() -> None:
    """3.5c: at or below, however it is spelled."""
    assert links(ROOT, DEPENDENT) == {"dependent": "root"}
    assert links(ROOT, {**DEPENDENT, "concerns": " Store "}) == {"dependent": "root"}
    assert links({**ROOT, "challenges": "store/cache"}, {**DEPENDENT, "concerns": "store / Cache/ttl"}) == {
        "dependent": "root"
    }


@pytest.mark.parametrize(
    "changes",
    [
        {"concerns": ""},
        {"concerns": "storehouse"},
        {"concerns": "queue/store"},
        {"concerns": "/".join("x" * 40)},
        {"autofix_class": AutofixClass.SAFE_AUTO},
        {"promotion": Promotion.MECHANICAL, "suggested_fix": "Do it."},
        {"confidence": 50},
        {"stance": Stance.KEEP},
        {"concerns": "", "challenges": "store/cache"},
    ],
    ids=range(9),
)
def test_finding_that_stands_on_its_own_is_not_linked(changes: dict[str, Any]) -> None:
    """Nor a safe one, nor one that nobody decides about."""
    assert links(ROOT, {**DEPENDENT, **changes}) == {}


@pytest.mark.parametrize(
    "changes",
    [
        {"severity": Severity.P2},
        {"autofix_class": AutofixClass.GATED_AUTO},
        {"confidence": 50},
        {"challenges": ""},
        {"promotion": Promotion.EXISTING_PATTERN, "suggested_fix": "Do it."},
        {"stance": Stance.KEEP},
    ],
    ids=range(6),
)
def test_only_a_grave_manual_challenge_is_a_root(changes: dict[str, Any]) -> None:
    """P0 or P1, manual for good, sure enough to be decided about."""
    assert links({**ROOT, **changes}, DEPENDENT) == {}


def test_challenge_on_the_outermost_part_reaches_all_below_it() -> None:
    """The same deep path is no deeper than it may be."""
    assert links(ROOT, {**DEPENDENT, "concerns": "store/" + "/".join("x" * 31)}) == {"dependent": "root"}


def test_of_nested_roots_the_outer_survives() -> None:
    """The inner one falls with it, and what hangs on the inner one hangs on the outer one."""
    inner = {"title": "inner", "challenges": "store/cache", "severity": Severity.P0}
    assert links(inner, DEPENDENT, ROOT) == {"inner": "root", "dependent": "root"}


def test_of_two_roots_the_closest_then_surest_then_first_is_taken() -> None:
    """One root a dependent."""
    assert links(ROOT, {**ROOT, "title": "second"}, DEPENDENT) == {"dependent": "root"}
    assert links(ROOT, {**ROOT, "title": "second", "confidence": 100}, DEPENDENT) == {"dependent": "second"}
    assert links(ROOT, {**ROOT, "title": "other", "challenges": "queue"}, DEPENDENT) == {"dependent": "root"}


def test_root_is_nobodys_dependent() -> None:
    """Two that concern each other do not fall with each other."""
    first = {**ROOT, "concerns": "queue"}
    second = {**ROOT, "title": "second", "challenges": "queue", "concerns": "store"}
    assert links(first, second) == {}


def test_root_has_six_dependents_at_most_and_the_worst_of_them() -> None:
    """By severity, then anchor, then document order."""
    several = [
        {**DEPENDENT, "title": f"d{number}", "severity": severity, "confidence": anchor}
        for number, (severity, anchor) in enumerate(
            [("P3", 75), ("P3", 100), ("P2", 75), ("P2", 75), ("P2", 100), ("P1", 75), ("P2", 75), ("P2", 75)]
        )
    ]
    found = link([candidate(contribution("a", n, **each)) for n, each in enumerate([ROOT, *several])])
    titles = {each.finding_id: each.title for each in found}
    assert [titles[each] for each in found[0].dependents] == ["d5", "d4", "d2", "d3", "d6", "d7"]
    assert len(found[0].dependents) == MAX_DEPENDENTS


def test_reviewers_that_name_different_components_link_nothing() -> None:
    """When unsure, do not link."""
    both = candidate(
        contribution("a", 1, **DEPENDENT), contribution("b", 2, **{**DEPENDENT, "concerns": "queue"})
    )
    assert roots(link([candidate(**ROOT), both])) == {}
    one = candidate(contribution("a", 1, **DEPENDENT), contribution("b", 2, **{**DEPENDENT, "concerns": ""}))
    assert roots(link([candidate(**ROOT), one])) == {"dependent": "root"}


def test_linking_changes_nothing_else() -> None:
    """No class, anchor, action or place."""
    found = [candidate(**ROOT), candidate(**DEPENDENT)]
    bare = [
        (each.title, each.autofix_class, each.confidence, each.recommended_action)
        for each in map(recommend, found)
    ]
    assert [
        (each.title, each.autofix_class, each.confidence, each.recommended_action) for each in link(found)
    ] == bare


@proves("W28")
def test_dependent_without_its_root_stands_alone() -> None:
    """The missing root is not mentioned, nor is a dependent that is gone."""
    found = drop_orphans(
        [
            finding("F1", depends_on="gone"),
            finding("F2", dependents=("F3", "gone", "F3", "F2")),
            finding("F3", depends_on="F2"),
            finding("F4", depends_on="F4"),
        ]
    )
    assert [(each.depends_on, each.dependents) for each in found] == [
        (None, ()),
        (None, ("F3",)),
        ("F2", ()),
        (None, ()),
    ]
