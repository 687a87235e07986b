"""The envelope of a review that nobody was asked about."""

from hypothesis import given
from msgspec.structs import replace

from assent.flows.walk_through.headless import render_envelope
from assent.protocol.decision import CompletionReport, Coverage, Failure, Way
from assent.protocol.finding import Action, AutofixClass, Severity
from tests.flows.walk_through.text_samples import ENUM_NAMES, new_finding, new_report, reports
from tests.protocol.strategies import modest

__all__: list[str] = []

HEADINGS = [
    "Failures:",
    "Applied fixes:",
    "Proposed fixes:",
    "Decisions:",
    "FYI observations:",
    "Residual concerns:",
    "Deferred questions:",
    "Coverage:",
]


def test_envelope_has_its_parts_in_order() -> None:
    """W-U19: what was applied, what waits, what is told, footnotes, end signal; dependents under their root."""
    root = new_finding(
        finding_id="root",
        title="Is a cache needed",
        severity=Severity.P2,
        autofix_class=AutofixClass.MANUAL,
        suggested_fix=None,
        recommended_action=Action.DEFER,
        why_it_matters="It may\nbe waste.",
        dependents=("leaf",),
    )
    leaf = replace(root, finding_id="leaf", title="No eviction", depends_on="root", dependents=())
    proposed = new_finding(severity=Severity.P3, why_it_matters="They differ.")
    report = new_report(
        way=Way.HEADLESS,
        failures=(Failure(proposed, "Apply", "It stands there twice."),),
        fixes=(new_finding(title="Typo"),),
        undecided=(root, leaf, proposed),
        fyi=(new_finding(title="Long words", why_it_matters="Slow."),),
        residual_risks=("Load is unknown.",),
        deferred_questions=("Who pays?",),
        coverage=Coverage(dropped=1),
    )
    assert render_envelope(report) == (
        "Review of plan.md, headless: nobody was asked.\n"
        "\n"
        "Failures:\n"
        "- Implementers will pick different tiers (P3): Apply failed: It stands there twice.\n"
        "\n"
        "Applied fixes:\n"
        "- Typo (P1, Scope Boundaries)\n"
        "\n"
        "Proposed fixes:\n"
        "- Implementers will pick different tiers (P3, Scope Boundaries): They differ. "
        "Proposed: Drop the Advisory tier from the enum. Recommended: Apply.\n"
        "\n"
        "Decisions:\n"
        "- Is a cache needed (P2, Scope Boundaries): It may be waste. Recommended: Defer.\n"
        "  - No eviction (P2, Scope Boundaries): It may be waste. Recommended: Defer.\n"
        "\n"
        "FYI observations:\n"
        "- Long words (P1, Scope Boundaries): Slow.\n"
        "\n"
        "Residual concerns:\n"
        "- Load is unknown.\n"
        "\n"
        "Deferred questions:\n"
        "- Who pays?\n"
        "\n"
        "Coverage:\n"
        "- Dropped: 1 (no valid record, or too unsure to be told).\n"
        "\n"
        "Verdict: Not ready.\n"
        "\n"
        "Review complete."
    )


def test_envelope_leaves_out_what_is_empty() -> None:
    """W-U19."""
    assert render_envelope(new_report(way=Way.HEADLESS)) == (
        "Review of plan.md, headless: nobody was asked.\n\nVerdict: Ready.\n\nReview complete."
    )


@modest
@given(reports)
def test_envelope_of_any_report_has_lines_of_ours_only(report: CompletionReport) -> None:
    """Whatever agents write: headings in order and once, one end signal at the end, no enum names."""
    told = render_envelope(report)
    lines = told.split("\n")
    headings = [line for line in lines if not line.startswith(("- ", "  - ", "| ")) and line][1:-2]
    assert headings == [heading for heading in HEADINGS if heading in headings]
    assert lines[-1] == "Review complete."
    assert lines[-3] == f"Verdict: {report.verdict}."
    assert lines.count("Review complete.") == 1
    assert not [name for name in ENUM_NAMES if name in told]


@modest
@given(reports)
def test_envelope_of_any_report_has_every_undecided_finding_once(report: CompletionReport) -> None:
    """Under its root or alone: nothing is lost, and nothing said twice."""
    told = {finding.finding_id: finding for finding in report.undecided}
    marked = [replace(finding, title=f"«{key}»") for key, finding in told.items()]
    envelope = render_envelope(replace(report, undecided=tuple(marked), failures=(), fixes=(), fyi=()))
    assert [envelope.count(f"«{key}»") for key in told] == [1] * len(told)
