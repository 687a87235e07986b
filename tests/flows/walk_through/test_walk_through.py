"""A review from its findings to its report: every way of it, leaving in the middle, what is written, and rounds."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from assent.client.reviewing import next_inputs
from assent.flows.document import ReadDocument, WriteDocument
from assent.flows.step import Ended
from assent.flows.walk_through.effect import CheckAppend, MakeEdits
from assent.flows.walk_through.next_step import DocumentType
from assent.flows.walk_through.report import render_report
from assent.flows.walk_through.walk import Walk
from assent.protocol.ask import State
from assent.protocol.decision import Verb, Verdict, Way
from assent.protocol.error import NotFoundError, StillOpen
from assent.protocol.finding import Action, Finding, Severity
from tests.flows.walk_through.world import (
    DATE,
    DOCUMENT,
    SECTION,
    Reply,
    World,
    chain,
    new_finding,
    safe_finding,
    unfixable,
    words,
)
from tests.proves import proves

__all__: list[str] = []

LEFT = Ended(State.DECLINED, "Lunch.", "human:ana")
FINDINGS = (
    new_finding("One", "alpha", evidence=("alpha bravo",)),
    unfixable("Two", evidence=("charlie delta",)),
    new_finding("Three", recommended_action=Action.SKIP, evidence=("echo foxtrot",)),
)


@proves("W1")
@pytest.mark.parametrize(
    ("findings", "replies", "way"),
    [
        (FINDINGS, ("A", "A", "B", "C"), Way.WALK_THROUGH),
        (FINDINGS, ("A", "C", "D", "Proceed"), Way.LFG_THE_REST),
        (FINDINGS, ("B", "Proceed"), Way.LFG),
        (FINDINGS, ("C", "Proceed"), Way.APPEND),
        (FINDINGS, ("D",), Way.REPORT_ONLY),
        ((safe_finding("Safe", "alpha"),), (), Way.NOTHING_TO_DECIDE),
    ],
    ids=["one by one", "the rest", "LFG", "append", "report only", "nothing"],
)
def test_every_way_ends_with_the_report(
    tmp_path: Path, findings: tuple[Finding, ...], replies: tuple[str, ...], way: Way
) -> None:
    """W1, W69: routing, loop and report are one conversation, and there is a verdict at the end of each."""
    report = World(tmp_path, *findings).walk(*replies)
    assert report.way is way
    assert render_report(report).split("\n")[-1] == f"Verdict: {report.verdict}."


@proves("W1")
def test_zero_case_reports_in_its_fixed_words(tmp_path: Path) -> None:
    """W75 by conversation: counts and verdict, with and without leftovers."""
    safe = [safe_finding(f"Safe {word}", word) for word in ("alpha", "bravo", "charlie")]
    assert render_report(World(tmp_path, *safe).walk()) == (
        "All findings resolved — 3 fixes applied.\n\nVerdict: Ready."
    )
    asides = [new_finding(f"Aside {number}", confidence=50) for number in (1, 2)]
    world = World(tmp_path, *safe, *asides)
    world.inputs = replace(world.inputs, intake=replace(world.inputs.intake, residual_risks=("Load.",)))
    assert render_report(world.walk()) == (
        "All actionable findings resolved — 3 fixes applied. "
        "(2 FYI observations, 1 residual concern remain in the report.)\n\nVerdict: Ready."
    )


# Leaving in the middle


@proves("W64")
@pytest.mark.parametrize(
    "replies",
    [(), ("A",), ("A", "A"), ("A", "A", "B"), ("B",), ("C",), ("A", "A", "D"), ("A", "A", "A")],
    ids=["routing", "first", "second", "third", "LFG", "append", "the rest", "no fix"],
)
@pytest.mark.parametrize("leaving", [None, LEFT], ids=["end of input", "declined"])
def test_whoever_leaves_has_applied_nothing_and_gets_no_report(
    tmp_path: Path, replies: tuple[Reply, ...], leaving: Ended | None
) -> None:
    """W64, W-X21: at whichever question; entries that were appended stay, and nothing else changed."""
    world = World(tmp_path, *FINDINGS)
    if leaving is None:
        with pytest.raises(StillOpen):
            world.drive(*replies)
    else:
        outcome = world.drive(*replies, leaving)
        assert (outcome.report, outcome.ended) == (None, leaving)
    assert not any(isinstance(effect, MakeEdits) for effect in world.effects)
    has_entry = replies == ("A", "A", "B")
    assert world.content.startswith(DOCUMENT)
    assert (world.content != DOCUMENT) == has_entry == (SECTION in world.text)


@proves("W64")
def test_cascade_that_was_left_open_keeps_the_roots_entry_only(tmp_path: Path) -> None:
    """W64: the root's own append was complete, and stays."""
    root, below = chain(new_finding("Root"), new_finding("Below"))
    world = World(tmp_path, root, below)
    with pytest.raises(StillOpen):
        world.drive("A", "B")
    assert "**Root**" in world.text
    assert "**Below**" not in world.text


@proves("W62", "W64")
def test_review_after_one_that_was_left_knows_nothing_of_it(tmp_path: Path) -> None:
    """W62, W64: what was decided was in memory; all of it is asked again, in the same words."""
    first = World(tmp_path, *FINDINGS)
    with pytest.raises(StillOpen):
        first.drive("A", "A", "C")
    second = World(tmp_path, *FINDINGS)
    report = second.walk("A", "C", "C", "C")
    assert second.asked[:4] == first.asked
    assert [each.verb for each in report.decisions] == [Verb.SKIPPED] * 3


# What is written


@proves("W63", "W76")
def test_only_entries_are_written_before_the_end_and_only_the_pass_at_the_end(tmp_path: Path) -> None:
    """W63, W76: every write is an append that keeps all that was there, or the last one, with the fixes in it."""
    world = World(tmp_path, *FINDINGS, new_finding("Four", "golf"), new_finding("Five"))
    world.walk("A", "A", "B", "B", "A", "C")
    *appends, last = world.writes
    assert len(appends) == 2
    assert all(content.startswith(DOCUMENT) for content in appends)
    assert all(content.startswith(DOCUMENT) for content in world.seen)
    assert last == appends[-1].replace(b"alpha", b"ALPHA", 1).replace(b"golf", b"GOLF", 1)
    assert {type(effect) for effect in world.effects} == {ReadDocument, WriteDocument, CheckAppend, MakeEdits}
    assert {effect.path for effect in world.effects if isinstance(effect, WriteDocument)} == {"plan.md"}
    assert [path.name for path in tmp_path.iterdir()] == ["plan.md"]


@proves("W62")
def test_decision_list_has_every_answered_finding_with_what_belongs_to_it(tmp_path: Path) -> None:
    """W62: action, place of the entry, reason; in the order in which it was decided."""
    world = World(tmp_path, *FINDINGS)
    report = world.walk("A", "A", "B", "C")
    one, two, three = report.decisions
    assert (one.finding, one.verb) == (FINDINGS[0], Verb.APPLIED)
    assert (two.finding, two.verb, DATE in two.append_location) == (FINDINGS[1], Verb.DEFERRED, True)
    assert (three.finding, three.verb, three.reason) == (
        FINDINGS[2],
        Verb.SKIPPED,
        "anchor 75: Three stops its readers.",
    )


def test_append_is_looked_at_once_and_before_the_first_question(tmp_path: Path) -> None:
    """W-U12: decided at the start, and kept."""
    world = World(tmp_path, *FINDINGS)
    world.walk("C", "Cancel", "A", "B", "B", "B")
    looked = [place for place, entry in enumerate(world.log) if entry == "CheckAppend"]
    assert len(looked) == 1
    assert looked[0] < world.log.index(f"ask: {world.stems[0]}")


def test_document_that_is_not_there_is_told_and_nothing_is_asked(tmp_path: Path) -> None:
    """There is nothing to review then."""
    world = World(tmp_path, *FINDINGS)
    world.path.unlink()
    with pytest.raises(NotFoundError) as missing:
        world.drive()
    assert missing.value.message == 'There is no document "plan.md".'
    assert world.log == ["ReadDocument"]


def test_headless_review_asks_nobody_and_applies_only_safe_fixes(tmp_path: Path) -> None:
    """W-U19: nothing else is decided, and nothing is said."""
    world = World(tmp_path, safe_finding("Safe", "golf"), *FINDINGS)
    world.inputs = replace(world.inputs, is_headless=True)
    report = world.walk()
    assert (world.asked, world.said) == ([], [])
    assert (report.way, len(report.undecided), report.decisions) == (Way.HEADLESS, 3, ())
    assert world.content == DOCUMENT.replace(b"golf", b"GOLF")


@pytest.mark.parametrize(
    ("replies", "verdict"),
    [
        (("A", "A", "A"), Verdict.READY),
        (("A", "A", "C"), Verdict.READY),
        (("A", "A", "B"), Verdict.READY_WITH_FIXES),
        (("A", "B", "C"), Verdict.NOT_READY),
        (("D",), Verdict.NOT_READY),
    ],
    ids=["applied", "skipped", "P2 deferred", "P0 deferred", "undecided"],
)
def test_verdict_is_about_what_is_left_open(
    tmp_path: Path, replies: tuple[str, ...], verdict: Verdict
) -> None:
    """W-X4: computed after all actions."""
    severe = new_finding("One", "alpha", severity=Severity.P0)
    assert World(tmp_path, severe, new_finding("Two", "bravo")).walk(*replies).verdict is verdict


def test_decision_is_never_made_twice(tmp_path: Path) -> None:
    """A guard for whoever changes the loop: what was decided is never touched again."""
    report = World(tmp_path, *FINDINGS).walk("A", "C", "C", "C")
    walk = Walk("plan.md", DATE, FINDINGS, append=None)  # type: ignore[arg-type]
    walk.decide(report.decisions[0])
    with pytest.raises(AssertionError):
        walk.decide(report.decisions[0])


# Rounds


@proves("W58")
def test_what_was_decided_against_is_not_asked_about_in_the_next_round(tmp_path: Path) -> None:
    """R29: skipped, deferred and acknowledged ones are suppressed and noted; what was never decided comes again."""
    bare = unfixable("Four", evidence=("golf hotel",))
    first = World(tmp_path, *FINDINGS, bare)
    report = first.walk("A", "C", "B", "C", "A", "Acknowledge")
    assert words(report)["Four"] == (Verb.ACKNOWLEDGED, "")
    new = new_finding("Five", evidence=("india",))
    second = World(tmp_path, *FINDINGS, bare, new, document=first.content, primer=report.primer)
    again = second.walk("A", "C")
    assert second.stems[0] == "What should the agent do with the remaining 1 findings?"
    assert again.coverage.suppressed == ("One", "Two", "Three", "Four")
    assert (again.rounds, again.primer.rounds) == (2, 2)
    assert len(again.primer.rejected) == 5


def test_fix_that_is_found_again_is_told_and_asked_about(tmp_path: Path) -> None:
    """R30: it was applied, and its passage is still there."""
    report = World(tmp_path, *FINDINGS[:1]).walk("A", "A")
    second = World(tmp_path, *FINDINGS[:1], primer=report.primer)
    again = second.walk("A", "C")
    assert again.coverage.not_landed == ("One",)
    assert "Fix did not land, found again: One" in second.said[0]


def test_dependent_of_a_suppressed_root_stands_alone(tmp_path: Path) -> None:
    """W28: the missing root is not mentioned, and nothing cascades."""
    root, below = chain(new_finding("Root", evidence=("alpha bravo",)), new_finding("Below"))
    report = World(tmp_path, root, below).walk("A", "C", "B", "A")
    report = replace(report, primer=replace(report.primer, applied=()))
    second = World(tmp_path, root, below, primer=report.primer)
    again = second.walk("A", "C")
    assert second.stems[1].startswith("P2 Below.")
    assert "Root" not in second.asked[1].prompt.body
    assert [each.finding.title for each in again.decisions] == ["Below"]


def test_question_after_the_report_depends_on_what_was_applied(tmp_path: Path) -> None:
    """W-U18: a safe fix counts as well as one that was decided."""
    applied = World(tmp_path, *FINDINGS[:1]).walk("A", "A")
    skipped = World(tmp_path, *FINDINGS[:1]).walk("A", "C")
    safe = World(tmp_path, safe_finding("Safe", "alpha")).walk()
    has_fixes = [next_inputs(report, DocumentType.PLAN).has_fixes for report in (applied, skipped, safe)]
    assert has_fixes == [True, False, True]
