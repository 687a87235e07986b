"""Deferring into the document: what is written at once, what is not written twice, and every way out of a failure."""

from collections.abc import Callable
from pathlib import Path

import pytest

from assent.flows.document import ReadDocument, WriteDocument
from assent.flows.step import Ended
from assent.protocol.ask import State
from assent.protocol.decision import Verb, Verdict
from assent.protocol.error import EffectError, StillOpen
from assent.protocol.finding import Finding
from tests.flows.walk_through.world import (
    DATE,
    DOCUMENT,
    SECTION,
    World,
    new_finding,
    safe_finding,
    words,
)
from tests.proves import proves

__all__: list[str] = []

MENU = """\
A. Retry — try to append the entry again
B. Record only — keep the deferral in the report, leave the document as it is
C. Convert to Skip — don't apply, don't append"""
STEM = "The entry could not be appended to Open Questions: The disk is full. What should the agent do?"
DISK_FULL = EffectError("The disk is full.")
ONE, TWO = new_finding("One"), new_finding("Two")


def day(number: int) -> str:
    """Return the heading of a day of review."""
    return f"### From 2030-01-{number} review"


@proves("W50")
def test_deferral_is_in_the_document_before_the_next_question(tmp_path: Path) -> None:
    """W50: section, day and entry; nothing else of the document changes, and its place is on record."""
    world = World(tmp_path, ONE, TWO)
    report = world.walk("A", "B", "C")
    added = world.seen[2].removeprefix(DOCUMENT).decode()
    assert world.seen[2].startswith(DOCUMENT)
    assert added.lstrip("\n").startswith(
        f"{SECTION}\n\n{day(31)}\n\n- **One** — Scope (P2, coherence, anchor 75)\n"
    )
    location = report.decisions[0].append_location
    assert SECTION in location
    assert DATE in location


@proves("W50")
def test_failed_append_asks_its_fixed_question_at_the_same_finding(tmp_path: Path) -> None:
    """W50, W-U11: the position stays, and there are three options in this order."""
    world = World(tmp_path, ONE, TWO)
    world.trip(WriteDocument, DISK_FULL)
    world.walk("A", "B", "B", "C")
    failure = world.asked[2].prompt
    assert (failure.title, failure.body) == (STEM, "Finding 1 of 2 — P2 One.")
    assert world.menus[2] == MENU
    assert world.stems[3].startswith("Finding 2 of 2 — P2 Two.")


@proves("W50")
def test_retry_tries_again_for_as_long_as_it_is_chosen(tmp_path: Path) -> None:
    """W-U11: retry loops; when it works nothing of it is a failure."""
    world = World(tmp_path, ONE)
    world.trip(WriteDocument, *[DISK_FULL] * 5)
    report = world.walk("A", "B", *["Retry"] * 5)
    assert world.stems[2:] == [STEM] * 5
    assert words(report) == {"One": (Verb.DEFERRED, "")}
    assert (report.failures, report.verdict) == ((), Verdict.READY_WITH_FIXES)
    assert world.text.count("**One**") == 1


@proves("W50")
def test_record_only_keeps_the_deferral_in_the_report_and_leaves_the_document(tmp_path: Path) -> None:
    """W-U11, W-X8: a deferral with a note, and a failure."""
    world = World(tmp_path, ONE, TWO)
    world.trip(WriteDocument, DISK_FULL)
    report = world.walk("A", "B", "Record only", "C")
    (decision, _), (failure,) = report.decisions, report.failures
    assert (decision.verb, decision.is_recorded_only, decision.append_location) == (Verb.DEFERRED, True, "")
    assert (failure.finding, failure.what, failure.reason) == (ONE, "Append", "The disk is full.")
    assert world.confirmations[0] == "→ Deferred. Recorded in the report only."
    assert world.content == DOCUMENT


@proves("W50")
def test_converted_deferral_is_a_skip_with_the_error_as_its_reason(tmp_path: Path) -> None:
    """W50, W-U11: it goes on, and the failure is in the report."""
    world = World(tmp_path, ONE, TWO)
    world.trip(WriteDocument, DISK_FULL)
    report = world.walk("A", "B", "Convert to Skip", "C")
    (decision, _), (failure,) = report.decisions, report.failures
    assert (decision.verb, decision.reason) == (Verb.SKIPPED, "The disk is full.")
    assert (failure.finding, failure.what) == (ONE, "Append")
    assert world.confirmations[0] == "→ Skipped. The entry could not be appended."
    assert world.content == DOCUMENT


def test_single_failure_does_not_take_defer_from_later_menus(tmp_path: Path) -> None:
    """W-U11, W-U12: whether it can be appended at all was decided at the start."""
    world = World(tmp_path, ONE, TWO)
    world.trip(WriteDocument, DISK_FULL)
    report = world.walk("A", "B", "Record only", "B")
    assert "B. Defer — append to the doc's Open Questions section" in world.menus[3]
    assert "**Two**" in world.text
    assert [each.is_recorded_only for each in report.decisions] == [True, False]


def test_failure_question_that_a_person_declines_is_record_only(tmp_path: Path) -> None:
    """W-X21: the one question whose decline is no interruption: they chose to defer, and that stands."""
    world = World(tmp_path, ONE)
    world.trip(WriteDocument, DISK_FULL)
    report = world.walk("A", "B", Ended(State.DECLINED, "because"))
    (decision,) = report.decisions
    assert (decision.verb, decision.is_recorded_only) == (Verb.DEFERRED, True)


@proves("W64")
@pytest.mark.parametrize("findings", [(), (TWO,)], ids=["last", "not the last"])
def test_failure_question_that_nobody_answers_is_an_interruption(
    tmp_path: Path, findings: tuple[Finding, ...]
) -> None:
    """The end of input decides nothing, and what was chosen before is not applied on the strength of it."""
    world = World(tmp_path, new_finding("Zero", "alpha"), ONE, *findings)
    world.trip(WriteDocument, DISK_FULL)
    with pytest.raises(StillOpen):
        world.drive("A", "A", "B")
    assert world.stems[-1].startswith("The entry could not be appended")
    assert world.content == DOCUMENT


def test_failure_question_that_was_taken_back_ends_the_review(tmp_path: Path) -> None:
    """An agent that withdraws it has decided nothing for anybody."""
    world = World(tmp_path, ONE)
    world.trip(WriteDocument, DISK_FULL)
    outcome = world.drive("A", "B", Ended(State.WITHDRAWN))
    assert (outcome.report, outcome.ended) == (None, Ended(State.WITHDRAWN))


# Somebody else at the document


@proves("W50")
@pytest.mark.parametrize("reply", ["Retry", "Record only", "Convert to Skip"])
def test_document_that_somebody_changed_gets_no_entry_before_a_person_was_asked(
    tmp_path: Path, reply: str
) -> None:
    """W-U10: their text is not written over, and on retry the entry goes into what they saved."""
    world = World(tmp_path, ONE, TWO)
    theirs = DOCUMENT + b"\nMine.\n"

    def meanwhile() -> str:
        world.save(theirs)
        return "B"

    report = world.walk("A", meanwhile, reply, "C")
    assert world.stems[2] == (
        "The entry could not be appended to Open Questions: "
        'Somebody changed "plan.md" since it was last looked at. What should the agent do?'
    )
    assert world.seen[2] == theirs
    assert world.content.startswith(theirs)
    assert ("**One**" in world.text) == (reply == "Retry")
    assert len(report.failures) == (reply != "Retry")


@proves("W50")
def test_retry_is_for_the_document_as_it_was_when_it_was_asked_about(tmp_path: Path) -> None:
    """W-U10: changed once more in the meantime, it is asked about once more."""
    world = World(tmp_path, ONE)

    def saving(text: bytes, reply: str) -> Callable[[], str]:
        def save_and_reply() -> str:
            world.save(text)
            return reply

        return save_and_reply

    theirs = DOCUMENT + b"\nMine, too.\n"
    world.walk("A", saving(DOCUMENT + b"\nMine.\n", "B"), saving(theirs, "Retry"), "Retry")
    assert [stem.startswith("The entry could not be appended") for stem in world.stems[1:]] == [
        False,
        True,
        True,
    ]
    assert world.content.startswith(theirs)
    assert world.text.count("**One**") == 1


def test_change_between_look_and_write_is_noticed_by_the_writer(tmp_path: Path) -> None:
    """W-U10: the last moment counts, and their text stays."""
    world = World(tmp_path, ONE)
    theirs = DOCUMENT + b"\nMine.\n"
    world.trip(WriteDocument, lambda: world.save(theirs))
    world.walk("A", "B", "Retry")
    assert world.stems[2].startswith(
        'The entry could not be appended to Open Questions: Somebody changed "plan.md" in the meantime.'
    )
    assert world.content.startswith(theirs)
    assert world.text.count("**One**") == 1


def test_change_of_ones_own_by_safe_fixes_and_entries_is_no_change_of_somebody_else(tmp_path: Path) -> None:
    """W-U10: what was written here is known here."""
    world = World(tmp_path, safe_finding("Safe", "alpha"), ONE, TWO)
    report = world.walk("A", "B", "B")
    assert len(world.asked) == 3
    assert [fix.title for fix in report.fixes] == ["Safe"]
    assert [f"**{title}**" in world.text for title in ("One", "Two")] == [True, True]


@pytest.mark.parametrize("is_gone", [True, False], ids=["gone", "unreadable"])
def test_document_that_cannot_be_read_any_more_is_a_failed_append(tmp_path: Path, is_gone: bool) -> None:
    """W-U11: nothing is made in its place."""
    world = World(tmp_path, ONE)
    if is_gone:
        world.trip(ReadDocument, None, world.path.unlink)
    else:
        world.trip(ReadDocument, None, EffectError("The disk does not answer."))

    def put_back() -> str:
        world.save(DOCUMENT)
        return "Retry"

    world.walk("A", "B", put_back)
    why = '"plan.md" is not there any more.' if is_gone else "The disk does not answer."
    assert world.stems[2].startswith(f"The entry could not be appended to Open Questions: {why} What")
    assert "**One**" in world.text


# The same again


def test_finding_that_stands_under_that_day_already_is_not_written_again(tmp_path: Path) -> None:
    """W-U10: no second entry, no write, and coverage notes it."""
    first = World(tmp_path, ONE, TWO)
    first.walk("A", "B", "C")
    world = World(tmp_path, ONE, TWO, document=first.content)
    report = world.walk("A", "B", "B")
    assert world.confirmations == [
        '→ Deferred. The entry stands in "## Deferred / Open Questions" already.',
        '→ Deferred. Entry appended to "## Deferred / Open Questions".',
    ]
    assert world.text.count("**One**") == 1
    assert len(world.writes) == 1
    assert report.coverage.notes == ('"One" stood in Open Questions already.',)
    assert words(report)["One"] == (Verb.DEFERRED, "")


def test_entry_of_another_day_is_not_looked_at(tmp_path: Path) -> None:
    """W-U10: each day of review has its own."""
    first = World(tmp_path, ONE)
    first.walk("A", "B")
    world = World(tmp_path, ONE, document=first.content.replace(day(31).encode(), day(30).encode()))
    world.walk("A", "B")
    assert world.text.count("**One**") == 2
    assert world.text.count(SECTION) == 1
    assert world.text.index(day(30)) < world.text.index(day(31))
