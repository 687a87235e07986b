"""The fixes in one pass: what gets into the document, what fails, and who else may be at it."""

from pathlib import Path
from typing import Any

import pytest

from assent.client.drive import drive
from assent.flows.document import ReadDocument, WriteDocument
from assent.flows.walk_through.effect import MakeEdits
from assent.flows.walk_through.execution import run_pass
from assent.protocol.canonical import digest
from assent.protocol.decision import Verb
from assent.protocol.error import EffectError
from assent.protocol.finding import Action, Edit, Finding
from tests.flows.walk_through.world import (
    DOCUMENT,
    SECTION,
    Reply,
    World,
    new_finding,
    safe_finding,
    unfixable,
    words,
)
from tests.proves import proves

__all__: list[str] = []

NO_FIX = "Apply skipped — no suggested_fix available"
ONE, TWO, THREE = new_finding("One", "alpha"), new_finding("Two", "bravo"), new_finding("Three", "charlie")


def failed(world: World, *replies: Reply) -> dict[str, tuple[str, str]]:
    """Walk, and return by title what failed and why."""
    return {each.finding.title: (each.what, each.reason) for each in world.walk(*replies).failures}


@proves("W65")
def test_all_fixes_are_computed_together_and_written_once(tmp_path: Path) -> None:
    """W65: one pass in the order of the findings, after the last answer."""
    world = World(tmp_path, ONE, TWO, THREE)
    report = world.walk("A", "A", "A", "A")
    assert world.log[-3:] == ['say: → Applied. Edit staged at "Scope" section.', "MakeEdits", "WriteDocument"]
    (made,) = [effect for effect in world.effects if isinstance(effect, MakeEdits)]
    assert made.findings == (ONE, TWO, THREE)
    assert world.content == DOCUMENT.replace(b"alpha bravo charlie", b"ALPHA BRAVO CHARLIE")
    assert [each.verb for each in report.decisions] == [Verb.APPLIED] * 3


@proves("W65")
def test_each_fix_sees_what_the_one_before_left(tmp_path: Path) -> None:
    """W65: two fixes of one passage, in the order of the findings."""
    second = new_finding("Two", edit=Edit("ALPHA", "omega"))
    world = World(tmp_path, ONE, second)
    world.walk("B", "Proceed")
    assert world.content == DOCUMENT.replace(b"alpha", b"omega")


@proves("W66")
def test_applied_finding_without_a_fix_is_a_failure_and_the_others_go_on(tmp_path: Path) -> None:
    """W66: nothing leads there (W49, W55), and the pass looks all the same."""
    bare = unfixable("Bare")
    world = World(tmp_path)
    done = drive(run_pass("plan.md", (ONE, bare, TWO)), world, world.performers)
    assert (done.applied, done.failed) == ((ONE, TWO), {bare.finding_id: NO_FIX})
    assert world.content == DOCUMENT.replace(b"alpha bravo", b"ALPHA BRAVO")


@proves("W66")
def test_apply_set_of_nothing_but_findings_without_a_fix_touches_no_document(tmp_path: Path) -> None:
    """W66: all of them fail, and there is nothing to write."""
    world = World(tmp_path)
    assert drive(run_pass("plan.md", (unfixable("Bare"),)), world, world.performers).applied == ()
    assert not any(isinstance(effect, MakeEdits | WriteDocument) for effect in world.effects)


def test_fix_that_fails_is_told_with_its_reason_and_is_not_counted(tmp_path: Path) -> None:
    """W-X20: the batch goes on, on what was there before it."""
    missing = new_finding("Missing", "zulu")
    world = World(tmp_path, ONE, missing, TWO)
    report = world.walk("B", "Proceed")
    (failure,) = report.failures
    assert failure.finding == missing
    assert failure.reason == 'What the edit replaces, "zulu", is not in the document.'
    assert words(report) == {"One": (Verb.APPLIED, ""), "Two": (Verb.APPLIED, "")}
    assert report.undecided == ()
    assert world.writes == [DOCUMENT.replace(b"alpha bravo", b"ALPHA BRAVO")]


def test_pass_in_which_everything_fails_writes_nothing(tmp_path: Path) -> None:
    """W-X20: a document without any of the fixes is the document."""
    world = World(tmp_path, new_finding("One", "zulu"), new_finding("Two", "yankee"))
    assert list(failed(world, "B", "Proceed")) == ["One", "Two"]
    assert (world.writes, world.content) == ([], DOCUMENT)


def test_fix_in_words_is_worked_in_by_the_applier(tmp_path: Path) -> None:
    """W-X20: it gets the finding and the text, and what it raises is the reason."""

    def apply(finding: dict[str, Any], text: str) -> str:
        if finding["title"] == "Two":
            raise RuntimeError("I cannot\nsee it")
        return text.replace("alpha", "omega")

    world = World(tmp_path, new_finding("One"), new_finding("Two"), THREE, apply=apply)
    assert failed(world, "B", "Proceed") == {"Two": ("Apply", "I cannot see it")}
    assert world.content == DOCUMENT.replace(b"alpha", b"omega").replace(b"charlie", b"CHARLIE")


@pytest.mark.parametrize("kind", [MakeEdits, WriteDocument], ids=["compute", "write"])
def test_pass_that_cannot_be_done_at_all_fails_every_fix_and_changes_nothing(
    tmp_path: Path, kind: type[MakeEdits | WriteDocument]
) -> None:
    """W72: each of them is told, and nothing is tried over."""
    world = World(tmp_path, ONE, TWO)
    world.trip(kind, EffectError("The disk is full."))
    assert failed(world, "B", "Proceed") == {
        "One": ("Apply", "The disk is full."),
        "Two": ("Apply", "The disk is full."),
    }
    assert world.content == DOCUMENT
    assert sum(isinstance(effect, kind) for effect in world.effects) == 1


def test_document_that_became_read_only_gets_no_fix_and_the_report_says_so(tmp_path: Path) -> None:
    """W72: also for the user root, whom nothing else would stop."""
    world = World(tmp_path, ONE)

    def lock() -> str:
        world.path.chmod(0o444)
        return "A"

    assert failed(world, "A", lock) == {"One": ("Apply", '"plan.md" is read-only.')}
    assert world.content == DOCUMENT


# Somebody else at the document


def test_document_saved_in_the_middle_of_the_pass_is_worked_on_as_it_was_saved(tmp_path: Path) -> None:
    """Rule 2: their text stays, and the fixes are in it."""
    world = World(tmp_path, ONE, TWO)
    theirs = DOCUMENT + b"\nMine.\n"
    world.trip(WriteDocument, lambda: world.save(theirs))
    report = world.walk("B", "Proceed")
    assert world.content == theirs.replace(b"alpha bravo", b"ALPHA BRAVO")
    assert len(report.decisions) == 2
    assert [effect.before_digest for effect in world.effects if isinstance(effect, WriteDocument)] == [
        digest(DOCUMENT),
        digest(theirs),
    ]


def test_document_saved_between_the_last_answer_and_the_pass_keeps_what_was_saved(tmp_path: Path) -> None:
    """Rule 2: the pass reads what is there."""
    world = World(tmp_path, ONE)
    theirs = DOCUMENT.replace(b"juliett", b"romeo")

    def meanwhile() -> str:
        world.save(theirs)
        return "A"

    world.walk("A", meanwhile)
    assert world.content == theirs.replace(b"alpha", b"ALPHA")


def test_fix_whose_passage_was_edited_away_meanwhile_fails_alone(tmp_path: Path) -> None:
    """Rule 1 and 2 together: what somebody mended by hand is theirs."""
    world = World(tmp_path, ONE, TWO)
    world.trip(WriteDocument, lambda: world.save(DOCUMENT.replace(b"alpha", b"mended")))
    assert list(failed(world, "B", "Proceed")) == ["One"]
    assert world.content == DOCUMENT.replace(b"alpha bravo", b"mended BRAVO")


def test_document_that_is_saved_again_and_again_ends_the_pass_with_nothing_applied(tmp_path: Path) -> None:
    """Rule 2: it gives up after a few times, and every fix is a failure."""
    world = World(tmp_path, ONE, TWO)
    saves = iter(range(100))
    world.trip(WriteDocument, *[lambda: world.save(DOCUMENT + b"%d\n" % next(saves))] * 100)
    reasons = failed(world, "B", "Proceed")
    assert reasons == dict.fromkeys(("One", "Two"), ("Apply", 'Somebody changed "plan.md" in the meantime.'))
    assert len(world.writes) == 3
    assert world.content == DOCUMENT + b"2\n"


def test_entry_that_quotes_a_passage_does_not_keep_a_fix_from_it(tmp_path: Path) -> None:
    """Two findings about one passage: the one is applied, the other deferred, and its entry has the same words."""
    first = new_finding("One", "alpha", evidence=("alpha bravo",))
    second = new_finding("Two", evidence=("alpha bravo",), why_it_matters="It says alpha bravo.")
    world = World(tmp_path, first, second)
    report = world.walk("A", "A", "B")
    assert report.failures == ()
    assert world.content.startswith(DOCUMENT.replace(b"alpha", b"ALPHA"))
    assert world.text.count("alpha bravo") == 2


# What was done before it


@proves("W67")
def test_pass_does_nothing_about_deferred_and_skipped_findings(tmp_path: Path) -> None:
    """W67: entries are in the document already, and skips are no work."""
    world = World(tmp_path, ONE, TWO, THREE)
    world.walk("A", "A", "B", "C")
    (made,) = [effect for effect in world.effects if isinstance(effect, MakeEdits)]
    assert made.findings == (ONE,)
    appended, edited = world.writes
    assert SECTION.encode() in appended
    assert edited == appended.replace(b"alpha", b"ALPHA", 1)


@proves("W67")
def test_nothing_to_apply_means_no_pass(tmp_path: Path) -> None:
    """W67: neither computed nor written."""
    world = World(tmp_path, ONE, TWO)
    world.walk("A", "C", "C")
    assert [type(effect) for effect in world.effects if isinstance(effect, MakeEdits | WriteDocument)] == []


@proves("W68")
@pytest.mark.parametrize(
    "replies", [("A", "A", "C"), ("A", "A", "D", "A"), ("B", "A"), ("C", "A")], ids=["A", "A, D", "B", "C"]
)
def test_report_comes_after_the_pass_on_every_way(tmp_path: Path, replies: tuple[str, ...]) -> None:
    """W68: what it counts as applied is in the document."""
    world = World(tmp_path, ONE, TWO)
    report = world.walk(*replies)
    applied = {each.finding.title for each in report.decisions if each.verb is Verb.APPLIED}
    assert applied == {title for title, word in (("One", "ALPHA"), ("Two", "BRAVO")) if word in world.text}
    assert len(report.decisions) == 2


# The safe fixes


def test_safe_fixes_are_written_once_before_the_first_question(tmp_path: Path) -> None:
    """W2: all of them in one write; one that fails is told in the overview and in the report."""
    bad = safe_finding("Bad", "zulu")
    world = World(tmp_path, safe_finding("Safe", "alpha"), bad, safe_finding("Sure", "bravo"), THREE)
    report = world.walk("D")
    assert world.writes == [DOCUMENT.replace(b"alpha bravo", b"ALPHA BRAVO")]
    assert [fix.title for fix in report.fixes] == ["Safe", "Sure"]
    assert [failure.finding for failure in report.failures] == [bad]
    assert "Bad (P2): Apply failed: " in world.said[0]
    assert [finding.title for finding in report.undecided] == ["Three"]


@pytest.mark.parametrize(
    "changes",
    [{"confidence": 75}, {"recommended_action": Action.SKIP}, {"suggested_fix": None}],
    ids=["unconfirmed", "doubted", "no fix"],
)
def test_safe_fix_that_is_not_sure_is_asked_about(tmp_path: Path, changes: dict[str, Any]) -> None:
    """W-U7: only a confirmed fix that nobody spoke against is applied unseen."""
    finding: Finding = safe_finding("Safe", "alpha", **changes)
    world = World(tmp_path, finding)
    report = world.walk("D")
    assert (report.undecided, report.fixes, world.content) == ((finding,), (), DOCUMENT)


def test_document_saved_in_the_middle_of_the_safe_pass_is_what_entries_go_into(tmp_path: Path) -> None:
    """The pass began again on what was saved, so that is no change of somebody else any more."""
    world = World(tmp_path, safe_finding("Safe", "alpha"), TWO)
    theirs = DOCUMENT + b"\nMine.\n"
    world.trip(WriteDocument, lambda: world.save(theirs))
    world.walk("A", "B")
    assert len(world.asked) == 2
    assert world.content.startswith(theirs.replace(b"alpha", b"ALPHA"))
    assert sum(isinstance(effect, ReadDocument) for effect in world.effects) == 2


def test_fix_that_is_in_the_document_already_is_neither_made_again_nor_a_failure(tmp_path: Path) -> None:
    """After a review that was left, its safe fixes are there; the same findings come again."""
    safe = safe_finding("Spelling", "delta", evidence=("charlie delta echo",))
    world = World(tmp_path, safe, ONE)
    world.walk("D")
    again = World(tmp_path, safe, ONE, document=world.content)
    report = again.walk("D")
    assert (report.fixes, report.failures) == ((), ())
    assert report.coverage.notes == ('"Spelling" was in the document already.',)
    assert not any(isinstance(effect, WriteDocument) for effect in again.effects)
    assert again.content == world.content
