"""What is said before the first question: the summary, the tables, what is only told, and Coverage."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assent.flows.synthesis.synthesis import Synthesis
from assent.flows.walk_through.overview import nest, render_coverage, render_overview
from assent.protocol.decision import Coverage, Failure, PersonaCount
from assent.protocol.finding import Action, AutofixClass, Finding, FindingType, Severity
from tests.flows.walk_through.text_samples import ENUM_NAMES, findings, new_finding, texts
from tests.protocol.strategies import modest

__all__: list[str] = []

DONE = PersonaCount("coherence", "done", findings=4, auto=1, proposed=1, decisions=1, fyi=1, residual=2)


def synthesis(*found: Finding, residual: tuple[str, ...] = (), asked: tuple[str, ...] = ()) -> Synthesis:
    return Synthesis(found, residual, asked, Coverage())


def test_overview_has_its_parts_in_order() -> None:
    """W-U15: summary, applied fixes, findings by severity with errors first, what is only told, Coverage."""
    safe = new_finding(
        title="Typo", autofix_class=AutofixClass.SAFE_AUTO, confidence=100, severity=Severity.P3
    )
    root = new_finding(
        finding_id="root",
        title="Is a cache needed",
        severity=Severity.P0,
        autofix_class=AutofixClass.MANUAL,
        recommended_action=Action.DEFER,
        dependents=("leaf",),
    )
    leaf = new_finding(
        finding_id="leaf",
        title="No eviction",
        severity=Severity.P2,
        finding_type=FindingType.OMISSION,
        depends_on="root",
    )
    gap = new_finding(finding_id="gap", title="No owner", finding_type=FindingType.OMISSION, reviewers=())
    fyi = new_finding(finding_id="fyi", title="Long words", confidence=50, why_it_matters="Slow\nto read.")
    told = Synthesis(
        (safe, root, leaf, gap, fyi),
        ("Load is unknown.",),
        ("Who pays?",),
        Coverage((DONE,), dropped=2),
    )
    assert render_overview(told, [safe], [Failure(gap, "Apply", "It stands there twice.")]) == (
        "1 fix applied, 3 items need attention (1 error, 2 omissions), 1 FYI observation.\n"
        "\n"
        "### Failures\n"
        "\n"
        "- No owner (P1): Apply failed: It stands there twice.\n"
        "\n"
        "### Applied fixes\n"
        "\n"
        "- Typo (P3, Scope Boundaries)\n"
        "\n"
        "### P0\n"
        "\n"
        "**Errors**\n"
        "\n"
        "| Finding | Section | Kind | Recommended | Reviewers | Anchor |\n"
        "| --- | --- | --- | --- | --- | --- |\n"
        "| Is a cache needed | Scope Boundaries | decision | Defer | coherence, feasibility | 75 |\n"
        "| ↳ No eviction (P2 omission) | Scope Boundaries | proposed fix | Apply | coherence, feasibility | 75 |\n"
        "\n"
        "### P1\n"
        "\n"
        "**Omissions**\n"
        "\n"
        "| Finding | Section | Kind | Recommended | Reviewers | Anchor |\n"
        "| --- | --- | --- | --- | --- | --- |\n"
        "| No owner | Scope Boundaries | proposed fix | Apply |  | 75 |\n"
        "\n"
        "### FYI observations\n"
        "\n"
        "- Long words (P1, Scope Boundaries): Slow to read.\n"
        "\n"
        "### Residual concerns\n"
        "\n"
        "- Load is unknown.\n"
        "\n"
        "### Deferred questions\n"
        "\n"
        "- Who pays?\n"
        "\n"
        "### Coverage\n"
        "\n"
        "| Persona | Status | Findings | Auto | Proposed | Decisions | FYI | Residual |\n"
        "| --- | --- | --- | --- | --- | --- | --- | --- |\n"
        "| coherence | done | 4 | 1 | 1 | 1 | 1 | 2 |\n"
        "\n"
        "- Dropped: 2 (no valid record, or too unsure to be told)."
    )


def test_overview_leaves_out_what_is_empty() -> None:
    """No heading stands over nothing."""
    assert (
        render_overview(synthesis(), [], []) == "0 fixes applied, 0 items need attention, 0 FYI observations."
    )


def test_errors_stand_before_omissions_of_the_same_severity() -> None:
    """W-U15."""
    omission = new_finding(finding_id="o", title="Gone", finding_type=FindingType.OMISSION)
    told = render_overview(synthesis(omission, new_finding(title="Wrong")), [], [])
    assert re.findall(r"\*\*\w+\*\*|Gone|Wrong", told) == ["**Errors**", "Wrong", "**Omissions**", "Gone"]


@pytest.mark.parametrize(
    ("residual", "is_compact"), [(3, False), (4, True)], ids=["four-in-all", "five-in-all"]
)
def test_five_things_that_are_only_told_are_listed_in_short(residual: int, is_compact: bool) -> None:
    """W-U15: FYI, residual and deferred together."""
    fyi = new_finding(confidence=50, why_it_matters="Slow to read.")
    told = render_overview(synthesis(fyi, residual=("word " * 30,) * residual), [], [])
    assert ("Slow to read." not in told) is is_compact
    assert ("word…" in told) is is_compact


def test_bar_in_a_text_ends_no_cell() -> None:
    """Also behind backslashes, which would take the escape away."""
    told = render_overview(synthesis(new_finding(title=r"a | b \| c", section="|")), [], [])
    assert r"| a \| b \\\| c | \| | proposed fix |" in told


@modest
@given(st.lists(findings(), max_size=6), st.lists(texts, max_size=3))
def test_overview_of_any_review_shows_no_name_of_ours_and_no_line_of_theirs(
    found: list[Finding], risks: list[str]
) -> None:
    """W-U15: no enum names; every line begins with ours, and every row has its six cells."""
    told = render_overview(synthesis(*found, residual=tuple(risks)), [], [])
    assert not [name for name in ENUM_NAMES if name in told]
    lines = [line for line in told.split("\n")[1:] if line]
    ours = re.compile(r"- |### (P[0-3]|FYI observations|Residual concerns)$|\*\*(Errors|Omissions)\*\*$|\| ")
    assert [line for line in lines if not ours.match(line)] == []
    assert {len(re.findall(r"(?<!\\)(?:\\\\)*\|", line)) for line in lines if line.startswith("|")} <= {7}


@modest
@given(st.lists(findings(), max_size=8))
def test_every_finding_is_nested_or_stands_alone(found: list[Finding]) -> None:
    """W-U15: each exactly once, whatever hangs on what, in circles, too."""
    by_id = {finding.finding_id: finding for finding in found}
    nested = nest(list(by_id.values()))
    assert sorted(each.finding_id for root, under in nested for each in (root, *under)) == sorted(by_id)
    for root, under in nested:
        assert all(root.finding_id == each.depends_on or each.finding_id in root.dependents for each in under)


def test_coverage_has_its_footnotes_in_order() -> None:
    """W-U16: dropped, chains, restated; then the rounds (R29, R30) and other notes. Only what is not zero."""
    coverage = Coverage((), 1, 1, 2, 3, ("Old\none",), ("Came back",), ("A note.",))
    assert render_coverage(coverage) == (
        "- Dropped: 1 (no valid record, or too unsure to be told).\n"
        "- Chains: 1 root and 2 dependents.\n"
        "- Restated: 3 (concerns or questions that repeat a finding).\n"
        "- Suppressed, decided in an earlier round: Old one\n"
        "- Fix did not land, found again: Came back\n"
        "- A note."
    )
    assert render_coverage(Coverage()) == ""
    assert render_coverage(Coverage(restated=1)).startswith("- Restated: 1 ")
