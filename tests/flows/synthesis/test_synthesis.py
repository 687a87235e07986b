"""Whole reviews, from what is handed in to what people see."""

from collections import Counter

import msgspec
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from assent.flows.synthesis.parse import parse_findings
from assent.flows.synthesis.route import Route, route_of
from assent.flows.synthesis.synthesis import Synthesis, render_synthesis, synthesise
from assent.protocol.decision import PersonaCount, Verb
from assent.protocol.finding import (
    Action,
    AutofixClass,
    Dropped,
    Finding,
    Intake,
    ReviewerOutput,
    Severity,
)
from assent.protocol.fingerprint import finding_id, snippet
from assent.protocol.primer import Primer, PrimerEntry
from tests.effort import MUCH, effort
from tests.flows.synthesis.reviews import finding, intake, intakes, merged_sets, modest, raw
from tests.proves import proves

__all__: list[str] = []

primers = st.builds(
    Primer,
    rounds=st.just(1),
    rejected=st.lists(
        st.builds(
            PrimerEntry,
            section=st.sampled_from(["Scope", "Rollout"]),
            title=st.sampled_from(["Two tiers", "No owner", "Title of F1"]),
            action=st.just(Verb.SKIPPED),
            evidence=st.sampled_from(["", "a quote", "another one"]),
        ),
        max_size=3,
    ).map(tuple),
)
documents = st.sampled_from([None, "", "# Plan\n\nanother one\n\n## Scope\n\na quote"])


def titles(synthesis: Synthesis) -> list[str]:
    return [each.title for each in synthesis.findings]


def test_review_without_findings_is_a_synthesis_without_findings() -> None:
    """Reviewers were there, and had nothing to say."""
    found = synthesise(intake(coherence=[], feasibility=[]))
    assert found.findings == ()
    assert [each.status for each in found.coverage.personas] == ["done", "done"]


@proves("W15", "W16")
def test_findings_are_merged_raised_and_sorted() -> None:
    """Every step at once, small."""
    fix = {"suggested_fix": "Do it."}
    found = synthesise(
        intake(
            coherence=[
                raw("Minor", confidence=50, severity=Severity.P0),
                raw("Agreed", confidence=50, severity=Severity.P2),
                raw(
                    "Safe", confidence=100, autofix_class=AutofixClass.SAFE_AUTO, severity=Severity.P3, **fix
                ),
                raw("Unverified", confidence=25),
            ],
            feasibility=[
                raw("agreed!", confidence=50, severity=Severity.P2),
                raw("Nearly safe", autofix_class=AutofixClass.SAFE_AUTO, severity=Severity.P3, **fix),
            ],
        )
    )
    assert [(each.title, each.confidence, each.autofix_class, route_of(each)) for each in found.findings] == [
        ("Minor", 50, AutofixClass.MANUAL, Route.FYI),
        ("Agreed", 75, AutofixClass.MANUAL, Route.WALK),
        ("Safe", 100, AutofixClass.SAFE_AUTO, Route.SILENT),
        ("Nearly safe", 75, AutofixClass.GATED_AUTO, Route.WALK),
    ]
    assert found.coverage.dropped == 1
    assert found.coverage.personas == (
        PersonaCount("coherence", "done", findings=3, auto=1, decisions=1, fyi=1),
        PersonaCount("feasibility", "done", findings=2, proposed=1, decisions=1),
    )


def test_document_order_breaks_ties() -> None:
    """3.8's last word; without a document, the order of the review."""
    review = intake(a=[raw("Late", evidence=("second",)), raw("Early", evidence=("first",))])
    assert titles(synthesise(review, "first, then second")) == ["Early", "Late"]
    assert titles(synthesise(review)) == ["Late", "Early"]


@proves("W19")
def test_root_is_told_before_its_dependents_whatever_their_severity() -> None:
    """W-X14, on a chain that synthesis found itself."""
    found = synthesise(
        intake(
            a=[
                raw("Other", severity=Severity.P0, confidence=100),
                raw("Dependent", severity=Severity.P0, concerns="store/cache"),
                raw("Root", severity=Severity.P1, challenges="store"),
            ]
        )
    )
    assert titles(found) == ["Other", "Root", "Dependent"]
    assert (found.coverage.roots, found.coverage.dependents) == (1, 1)


@proves("W28")
def test_dependent_of_a_suppressed_root_stands_alone() -> None:
    """R29 took the root; nothing of it is mentioned. So too in a merged set."""
    review = intake(a=[raw("Root", challenges="store"), raw("Dependent", concerns="store")])
    linked = synthesise(review)
    told = PrimerEntry("Scope", "Root", Verb.SKIPPED, evidence=snippet(raw().evidence[0]))
    for again in (review, Intake(merged=linked.findings)):
        found = synthesise(again, primer=Primer(1, rejected=(told,)))
        assert [(each.title, each.depends_on) for each in found.findings] == [("Dependent", None)]
        assert found.coverage.suppressed == ("Root",)
        assert found.coverage.roots == 0
    assert linked.findings[1].depends_on == linked.findings[0].finding_id


def test_risks_and_questions_are_told_once_and_not_where_a_finding_says_it() -> None:
    """W-U9: what repeats a finding is dropped and counted."""
    outputs = (
        ReviewerOutput("a", (raw(),), ("Two tiers have one name.", "It may rain."), ("When?",)),
        ReviewerOutput("b", (), ("it may rain",), ("Is it so that two tiers have one name?", "when")),
    )
    found = synthesise(Intake(outputs=outputs))
    assert (found.residual_risks, found.deferred_questions) == (("It may rain.",), ("When?",))
    assert found.coverage.restated == 2
    assert [each.residual for each in found.coverage.personas] == [1, 1]


def test_failed_reviewers_and_dropped_records_are_in_the_coverage() -> None:
    """W-U16, W-U21."""
    found = synthesise(
        replace(intake(a=[raw(confidence=0)]), failed=("broken",), dropped=(Dropped("a", "It is none."),))
    )
    assert found.coverage.dropped == 2
    assert [(each.reviewer, each.status) for each in found.coverage.personas] == [
        ("a", "done"),
        ("broken", "failed"),
    ]


@proves("W18")
def test_merged_set_is_used_as_it_is() -> None:
    """Nothing is computed again: not the action, not the class, not the words, not what repeats."""
    odd = finding(
        "ODD 1",
        autofix_class=AutofixClass.GATED_AUTO,
        recommended_action=Action.APPLY,
        conflict_context="As they said.",
        reviewers=("a",),
    )
    same = replace(odd, finding_id="ODD 2", severity=Severity.P0)
    found = synthesise(Intake(merged=(odd, same), residual_risks=(odd.title,)))
    assert found.findings == (same, odd)
    assert found.residual_risks == (odd.title,)
    assert found.coverage.personas == (PersonaCount("a", "done", findings=2, proposed=2),)


def test_merged_set_keeps_its_order_within_a_severity() -> None:
    """Whoever merged it had a reason."""
    found = [finding("F1", confidence=75), finding("F2", confidence=100), finding("F0", severity=Severity.P0)]
    assert [each.finding_id for each in synthesise(Intake(merged=tuple(found))).findings] == [
        "F0",
        "F1",
        "F2",
    ]


def test_merged_finding_that_nobody_checked_is_only_counted() -> None:
    """Below fifty there is nowhere to tell it."""
    found = synthesise(
        Intake(merged=(finding("F1", confidence=25, dependents=("F2",)), finding("F2", depends_on="F1")))
    )
    assert [(each.finding_id, each.depends_on) for each in found.findings] == [("F2", None)]
    assert found.coverage.dropped == 1


def test_long_section_and_title_give_an_id_that_can_be_handed_on() -> None:
    """Cut, and told apart by a digest."""
    found = synthesise(intake(a=[raw("x" * 499 + end, section="y" * 500) for end in "ab"]))
    assert len({each.finding_id for each in found.findings}) == 2
    assert parse_findings(render_synthesis(found)).dropped == ()


def again(synthesis: Synthesis) -> Synthesis:
    taken = parse_findings(render_synthesis(synthesis))
    assert taken.dropped == ()
    return synthesise(taken)


@modest
@given(intakes, documents, primers)
def test_synthesis_of_a_synthesis_is_itself(review: Intake, document: str | None, primer: Primer) -> None:
    """Rendered, parsed and synthesised again, nothing changes."""
    once = synthesise(review, document, primer)
    twice = again(once)
    assert (twice.findings, twice.residual_risks, twice.deferred_questions) == (
        once.findings,
        once.residual_risks,
        once.deferred_questions,
    )


@modest
@given(merged_sets(), primers)
def test_merged_set_synthesises_to_itself(review: Intake, primer: Primer) -> None:
    """Also one that has links into nothing."""
    once = synthesise(review, None, primer)
    assert again(once).findings == once.findings


@modest
@given(intakes, documents, primers)
def test_every_finding_is_in_exactly_one_or_counted(
    review: Intake, document: str | None, primer: Primer
) -> None:
    """Nothing is lost, and nothing told twice."""
    found = synthesise(review, document, primer)
    ids = Counter(each.finding_id for each in found.findings)
    assert set(ids.values()) <= {1}
    handed_in = [each for output in review.outputs for each in output.findings]
    sure = [each for each in handed_in if each.confidence >= 50]
    assert found.coverage.dropped == len(handed_in) - len(sure)
    missing = {finding_id(each.section, each.title) for each in sure} - set(ids)
    assert len(missing) == len(found.coverage.suppressed)
    assert set(ids) <= {finding_id(each.section, each.title) for each in sure}
    for output in review.outputs:
        for each in output.findings:
            told = [one for one in found.findings if one.finding_id == finding_id(each.section, each.title)]
            if each.confidence >= 50 and told:
                assert output.reviewer in told[0].reviewers
                assert set(each.evidence) <= set(told[0].evidence)
                assert told[0].severity <= each.severity


@modest
@given(intakes, documents, primers)
def test_every_synthesis_keeps_its_promises(review: Intake, document: str | None, primer: Primer) -> None:
    """What the walk-through relies on, for whatever came in."""
    found = synthesise(review, document, primer)
    assert found == synthesise(review, document, primer)
    known: dict[str, Finding] = {each.finding_id: each for each in found.findings}
    seen: set[str] = set()
    for each in found.findings:
        route = route_of(each)
        assert route is not Route.OUT
        if route is Route.WALK:
            assert each.autofix_class is not AutofixClass.SAFE_AUTO  # W15
        assert each.has_fix or each.recommended_action is not Action.APPLY  # W55
        if each.depends_on is not None:
            assert each.depends_on in seen  # W19
            assert each.finding_id in known[each.depends_on].dependents
            assert route is Route.WALK
        assert all(known[below].depends_on == each.finding_id for below in each.dependents)
        assert len(each.dependents) <= 6
        seen.add(each.finding_id)
    for count in found.coverage.personas:
        assert count.findings == count.auto + count.proposed + count.decisions + count.fyi


def test_render_is_a_merged_set_with_its_coverage() -> None:
    """For people and for programs: `findings` that carry id and recommended_action."""
    told = msgspec.json.decode(render_synthesis(synthesise(intake(a=[raw()]))))
    assert list(told) == ["findings", "residual_risks", "deferred_questions", "coverage"]
    assert told["findings"][0]["id"] == "scope: two tiers have one name"
    assert told["findings"][0]["recommended_action"] == "Defer"
    assert told["coverage"]["personas"][0]["reviewer"] == "a"


def test_two_thousand_findings_take_no_time() -> None:
    """All different with chains and a long document, all the same, and made to be slow."""
    document = "\n".join(f"## Part {n}\n\nSentence {n} of a long document." for n in range(5_000))
    different = [
        raw(
            f"Title {n}",
            section=f"Part {n}",
            evidence=(f"Sentence {4_999 - n} of", "another"),
            challenges="store" if n % 100 == 0 else "",
            concerns=f"store/{n}",
        )
        for n in range(2_000)
    ]
    risks = tuple(f"A risk of number {n}" for n in range(2_000))
    same = [raw() for _ in range(2_000)]
    nested = [raw(f"T {n}", challenges="/".join("abcdefgh" * 4), premise="p") for n in range(2_000)]
    for found in (different, same, nested):
        review = Intake(outputs=(ReviewerOutput("a", tuple(found), risks, ()),))
        with effort() as spent:
            synthesise(parse_findings(render_synthesis(synthesise(review, document))), document)
        assert spent.loops < MUCH


def test_record_that_was_left_out_says_why() -> None:
    """Whoever wrote it can mend it; of many, the first are told."""
    dropped = tuple(Dropped("coherence", f"No title, at $[0].findings[{number}].") for number in range(12))
    notes = synthesise(Intake(dropped=dropped)).coverage.notes
    assert notes[0] == "Left out, coherence: No title, at $[0].findings[0]."
    assert (len(notes), notes[-1]) == (11, "Left out: 2 more records.")
