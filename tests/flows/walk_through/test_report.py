"""The completion report: its order, its counts, its verdict, as text and as JSON, and what the next round is told."""

import itertools
import json

import msgspec
import pytest
from hypothesis import given
from msgspec.structs import replace

from assent.flows.walk_through.report import counts_of, primer_of, render_report, report_json, verdict_of
from assent.protocol.decision import (
    CompletionReport,
    Coverage,
    Decision,
    Failure,
    PersonaCount,
    Verb,
    Verdict,
    Way,
)
from assent.protocol.finding import Finding, Severity
from assent.protocol.primer import Primer, PrimerEntry
from tests.flows.walk_through.text_samples import ENUM_NAMES, new_finding, new_report, reports
from tests.protocol.strategies import modest
from tests.proves import proves

__all__: list[str] = []

P0, P1, P2, P3 = (new_finding(finding_id=severity, severity=severity) for severity in Severity)
FAILED = Failure(P2, "Apply", "Apply skipped — no suggested_fix available")
NOT_APPENDED = Failure(P2, "Append", "The disk is full.")
PLACE = '"## Deferred / Open Questions", "### From 2030-01-01 review"'


def deferred(finding: Finding, **changes: object) -> Decision:
    return replace(Decision(finding, Verb.DEFERRED, append_location=PLACE), **changes)


def zero(**changes: object) -> str:
    return render_report(new_report(way=Way.NOTHING_TO_DECIDE, **changes))


# Verdict


@pytest.mark.parametrize(
    ("decisions", "failures", "undecided", "verdict"),
    [
        ([], [], [], Verdict.READY),
        (
            [Decision(P0, Verb.APPLIED), Decision(P0, Verb.SKIPPED), Decision(P1, Verb.ACKNOWLEDGED)],
            [],
            [],
            Verdict.READY,
        ),
        ([deferred(P2), deferred(P3)], [], [], Verdict.READY_WITH_FIXES),
        ([deferred(P3), deferred(P1)], [], [], Verdict.NOT_READY),
        ([deferred(P2, is_recorded_only=True)], [NOT_APPENDED], [], Verdict.READY_WITH_FIXES),
        ([Decision(P2, Verb.SKIPPED)], [NOT_APPENDED], [], Verdict.READY),
        ([], [FAILED], [], Verdict.NOT_READY),
        ([], [], [P3], Verdict.READY_WITH_FIXES),
        ([], [], [P3, P0], Verdict.NOT_READY),
    ],
    ids=[
        "nothing",
        "all-closed",
        "minor-open",
        "serious-open",
        "recorded-only",
        "converted",
        "apply-failed",
        "minor-undecided",
        "serious-undecided",
    ],
)
def test_verdict_is_about_what_is_left_open(
    decisions: list[Decision], failures: list[Failure], undecided: list[Finding], verdict: Verdict
) -> None:
    """W-X4: deferred, recorded only and undecided ones are open; skipped and acknowledged ones are closed."""
    assert verdict_of(decisions, failures, undecided) is verdict


# Text


@proves("W70", "W71", "W72", "W73", "W74")
def test_report_has_its_parts_in_the_fixed_order() -> None:
    """W74: failures, entries by what was done, counts, Coverage, verdict, whatever the order of the decisions was."""
    report = new_report(
        decisions=(
            Decision(P2, Verb.ACKNOWLEDGED, reason="Apply picked but no suggested_fix — no edit dispatched"),
            Decision(P3, Verb.SKIPPED, "cascaded from Root", reason="anchor 75: Two units disagree."),
            deferred(P1, note="redirected from Apply — no suggested_fix"),
            Decision(P0, Verb.APPLIED),
            Decision(P1, Verb.APPLIED),
            deferred(P2, append_location="", reason="The disk is full.", is_recorded_only=True),
        ),
        failures=(FAILED, NOT_APPENDED),
        fixes=(P3,),
        fyi=(replace(P3, title="Long words", why_it_matters="Slow to read."),),
        residual_risks=("Load is unknown.",),
        deferred_questions=("Who pays?",),
        coverage=Coverage(restated=2),
    )
    title = "Implementers will pick different tiers"
    assert render_report(report) == (
        "### Failures\n"
        "\n"
        f"- {title} (P2): Apply failed: Apply skipped — no suggested_fix available\n"
        f"- {title} (P2): Append failed: The disk is full.\n"
        "\n"
        "### Applied\n"
        "\n"
        f"- {title} (P0): Applied\n"
        f"- {title} (P1): Applied\n"
        "\n"
        "### Deferred\n"
        "\n"
        f"- {title} (P1): Deferred — appended to {PLACE}; redirected from Apply — no suggested_fix\n"
        f"- {title} (P2): Deferred — recorded in this report only, not in the document: The disk is full.\n"
        "\n"
        "### Skipped\n"
        "\n"
        f"- {title} (P3): Skipped — anchor 75: Two units disagree; cascaded from Root\n"
        "\n"
        "### Acknowledged\n"
        "\n"
        f"- {title} (P2): Acknowledged — Apply picked but no suggested_fix — no edit dispatched\n"
        "\n"
        "2 applied, 2 deferred, 1 skipped, 1 acknowledged\n"
        "1 fix applied without a question.\n"
        "\n"
        "### Coverage\n"
        "\n"
        "**FYI observations**\n"
        "\n"
        "- Long words (P3, Scope Boundaries): Slow to read.\n"
        "\n"
        "**Residual concerns**\n"
        "\n"
        "- Load is unknown.\n"
        "\n"
        "**Deferred questions**\n"
        "\n"
        "- Who pays?\n"
        "\n"
        "- Restated: 2 (concerns or questions that repeat a finding).\n"
        "\n"
        "Verdict: Not ready."
    )


@proves("W71", "W74")
def test_report_leaves_out_what_is_zero() -> None:
    """W71, W74: no bucket and no count for nothing."""
    report = new_report(decisions=(Decision(P2, Verb.APPLIED),))
    assert render_report(report) == (
        "### Applied\n\n- Implementers will pick different tiers (P2): Applied\n\n1 applied\n\nVerdict: Ready."
    )


@proves("W70")
def test_skipped_finding_has_a_reason_also_where_nobody_gave_one() -> None:
    """W70: from its anchor and why it matters, on the line."""
    report = render_report(new_report(decisions=(Decision(P2, Verb.SKIPPED),)))
    line = "(P2): Skipped — anchor 75: Two units read the list of tiers in two ways. Each is right by its own section."
    assert line in report


def test_report_only_has_no_entries_and_says_what_stays_undecided() -> None:
    """W-X6."""
    report = new_report(way=Way.REPORT_ONLY, undecided=(P2, P3))
    assert render_report(report) == "2 findings stay undecided.\n\nVerdict: Ready with fixes."
    one = new_report(way=Way.REPORT_ONLY, undecided=(P0,))
    assert render_report(one) == "1 finding stays undecided.\n\nVerdict: Not ready."


def test_report_of_nothing_but_failures_says_that_nothing_was_done() -> None:
    """What failed is not counted as applied."""
    assert render_report(new_report(failures=(FAILED,))).split("\n\n")[2:] == [
        "Nothing was applied, deferred or skipped.",
        "Verdict: Not ready.",
    ]


@proves("W75")
def test_report_without_anything_to_decide_is_two_lines() -> None:
    """W75, without anything that remains."""
    assert zero(fixes=(P3,) * 3) == "All findings resolved — 3 fixes applied.\n\nVerdict: Ready."
    assert zero(fixes=(P3,)) == "All findings resolved — 1 fix applied.\n\nVerdict: Ready."
    assert zero() == "All findings resolved — 0 fixes applied.\n\nVerdict: Ready."


@proves("W75")
def test_report_without_anything_to_decide_tells_what_remains() -> None:
    """W75, where something does; deferred questions count, too."""
    assert zero(fixes=(P3,) * 3, fyi=(P2, P3), residual_risks=("x",)) == (
        "All actionable findings resolved — 3 fixes applied. "
        "(2 FYI observations, 1 residual concern remain in the report.)\n\nVerdict: Ready."
    )
    assert zero(residual_risks=("x",)).startswith(
        "All actionable findings resolved — 0 fixes applied. (1 residual concern remains in the report.)"
    )
    assert "(1 FYI observation, 2 deferred questions remain in the report.)" in zero(
        fyi=(P2,), deferred_questions=("x", "y")
    )


def test_report_without_anything_to_decide_does_not_call_a_failure_resolved() -> None:
    """W72 before W75: a safe fix failed."""
    assert zero(fixes=(P3, P3), failures=(FAILED,), residual_risks=("x",)) == (
        "### Failures\n"
        "\n"
        "- Implementers will pick different tiers (P2): Apply failed: Apply skipped — no suggested_fix available\n"
        "\n"
        "2 fixes applied, 1 fix failed. (1 residual concern remains in the report.)\n"
        "\n"
        "Verdict: Not ready."
    )


@proves("W69", "W74")
@modest
@given(reports)
def test_order_of_any_report_holds(report: CompletionReport) -> None:
    """W74, for every way and whatever agents write: known headings in order, every other line begins as a list or table."""
    lines = render_report(report).split("\n")
    buckets = [verb for verb in Verb if counts_of(report)[verb]]
    order = ["Failures"] * bool(report.failures) + list(buckets)
    headings = [line.removeprefix("### ") for line in lines if line.startswith("### ")]
    assert [heading for heading in headings if heading != "Coverage"] == order
    assert headings in (order, [*order, "Coverage"])
    assert [place for place, line in enumerate(lines) if line.startswith("Verdict:")] == [len(lines) - 1]
    assert lines[-1] == f"Verdict: {report.verdict}."
    theirs = [line for line in lines[:-1] if line and not line.startswith(("### ", "**", "- ", "| "))]
    counted, *more = theirs
    assert "".join(theirs).isascii()
    if any(counts_of(report).values()):
        assert sum(int(part.split()[0]) for part in counted.split(", ")) == len(report.decisions)
    assert all(line.endswith(("undecided.", "without a question.")) for line in more)


@modest
@given(reports)
def test_entry_of_any_report_stands_in_its_bucket(report: CompletionReport) -> None:
    """W70, W71: a line for every decision, with its severity and its word; no enum names."""
    blocks = render_report(report).split("\n\n")
    for verb, number in counts_of(report).items():
        if number:
            entries = blocks[blocks.index(f"### {verb}") + 1].split("\n")
            assert len(entries) == number
            assert all(f"): {verb}" in entry for entry in entries)
    assert not [name for name in ENUM_NAMES if name in "\n".join(blocks)]


# JSON


@modest
@given(reports)
def test_json_of_any_report_has_all_names_and_adds_up(report: CompletionReport) -> None:
    """Names are there also where there is nothing; lists and counts agree; it can be written and read again."""
    told = report_json(report)
    assert list(told) == [
        "document",
        "way",
        "verdict",
        "round",
        "counts",
        "applied",
        "deferred",
        "skipped",
        "acknowledged",
        "failures",
        "undecided",
        "fixes",
        "fyi",
        "residual_risks",
        "deferred_questions",
        "coverage",
        "primer",
        "next_step",
    ]
    assert json.loads(msgspec.json.encode(told)) == json.loads(json.dumps(told)) == told
    counts = told["counts"]
    assert isinstance(counts, dict)
    for name, number in counts.items():
        entries = told[name]
        assert isinstance(entries, list)
        assert len(entries) == number
    assert sum(counts_of(report).values()) == len(report.decisions)


def test_json_entry_has_what_came_of_it() -> None:
    """W70 for programs; text is as it was written."""
    report = new_report(decisions=(deferred(P1, note="cascaded from x"),), failures=(NOT_APPENDED,))
    told = report_json(replace(report, primer=primer_of(report, Primer())))
    known = {
        "title": "Implementers will pick different tiers",
        "section": "Scope Boundaries",
        "confidence": 75,
        "reviewers": ["coherence", "feasibility"],
    }
    assert told["deferred"] == [
        {
            "id": "P1",
            "severity": "P1",
            **known,
            "note": "cascaded from x",
            "append_location": PLACE,
            "recorded_only": False,
            "reason": "",
        }
    ]
    assert told["failures"] == [
        {"id": "P2", "severity": "P2", **known, "what": "Append", "reason": "The disk is full."}
    ]
    assert msgspec.convert(told["primer"], Primer) == primer_of(report, Primer())
    assert told["coverage"] == {
        "personas": [],
        "dropped": 0,
        "roots": 0,
        "dependents": 0,
        "restated": 0,
        "suppressed": [],
        "not_landed": [],
        "notes": [],
    }


# The next round


def test_primer_carries_what_was_applied_and_what_was_rejected() -> None:
    """W-U14: safe fixes are applied ones; skipped, deferred and acknowledged ones are rejected, with their reasons."""
    names = iter("abcdefgh")
    found = [new_finding(title=name, evidence=('Four  "tiers".',)) for name in itertools.islice(names, 6)]
    report = new_report(
        fixes=(found[0],),
        decisions=(
            Decision(found[1], Verb.SKIPPED, reason="not now"),
            Decision(found[2], Verb.APPLIED),
            deferred(found[3]),
            Decision(found[4], Verb.ACKNOWLEDGED, "noted"),
        ),
        failures=(Failure(found[5], "Apply", "It failed."),),
    )
    primer = primer_of(report, Primer())
    assert primer.rounds == 1
    assert [entry.title for entry in primer.applied] == ["a", "c"]
    assert [(entry.title, entry.action, entry.reason) for entry in primer.rejected] == [
        ("b", Verb.SKIPPED, "not now"),
        ("d", Verb.DEFERRED, PLACE),
        ("e", Verb.ACKNOWLEDGED, "noted"),
    ]
    assert primer.applied[0] == PrimerEntry(
        "Scope Boundaries", "a", Verb.APPLIED, ("coherence", "feasibility"), 75, 'Four \\"tiers\\".'
    )


def test_primer_keeps_earlier_rounds_but_not_what_was_decided_again() -> None:
    """W-U14: the newer decision replaces the older one, in whichever list that was."""
    before = Primer(
        2,
        (PrimerEntry("S", "Kept", Verb.APPLIED), PrimerEntry("scope boundaries", "Again!", Verb.APPLIED)),
        (PrimerEntry("S", "Old no", Verb.SKIPPED),),
    )
    report = new_report(decisions=(Decision(new_finding(title="again"), Verb.SKIPPED),))
    primer = primer_of(report, before)
    assert primer.rounds == 3
    assert [entry.title for entry in primer.applied] == ["Kept"]
    assert [entry.title for entry in primer.rejected] == ["Old no", "again"]


def test_zero_case_says_what_was_not_looked_at() -> None:
    """Nothing is left to decide; that reviewers failed, or records were left out, is still told."""
    personas = (PersonaCount("coherence", "done"), PersonaCount("feasibility", "failed"))
    coverage = Coverage(personas, dropped=1, suppressed=("Two tiers",), notes=("Left out: it has no title.",))
    assert zero(coverage=coverage).split("\n") == [
        "Nothing is left to decide — 0 fixes applied. Some of what was handed in was left out.",
        "",
        "- Dropped: 1 (no valid record, or too unsure to be told).",
        "- Suppressed, decided in an earlier round: Two tiers",
        "- Failed: feasibility handed in nothing that can be read.",
        "- Left out: it has no title.",
        "",
        "Verdict: Ready.",
    ]
