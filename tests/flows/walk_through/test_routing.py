"""The first question: its words, when it is asked, and where each of its ways leads."""

from pathlib import Path

import pytest

from assent.flows.document import WriteDocument
from assent.flows.walk_through.menu import routing_prompt
from assent.protocol.decision import Verb, Verdict, Way
from assent.protocol.finding import Action, Finding
from tests.flows.walk_through.world import (
    DOCUMENT,
    READ_ONLY,
    SECTION,
    World,
    new_finding,
    safe_finding,
    unfixable,
    words,
)
from tests.proves import proves

__all__: list[str] = []

MENU = """\
A. Review each finding one by one — accept the recommendation or choose another action
B. LFG. Apply the agent's best-judgment action per finding
C. Append findings to the doc's Open Questions section and proceed
D. Report only — take no further action"""
MENU_WITHOUT_APPEND = """\
A. Review each finding one by one — accept the recommendation or choose another action
B. LFG. Apply the agent's best-judgment action per finding
D. Report only — take no further action"""
ALL_APPLY = (new_finding("One", "alpha"), new_finding("Two", "bravo"))
ALL_SKIP = (
    new_finding("One", recommended_action=Action.SKIP),
    new_finding("Two", recommended_action=Action.SKIP),
)
MIXED = (
    new_finding("One", "alpha"),
    unfixable("Two"),
    new_finding("Three", recommended_action=Action.SKIP),
)


@proves("W6", "W7", "W8")
@pytest.mark.parametrize("findings", [ALL_APPLY, ALL_SKIP, MIXED], ids=["apply", "skip", "mixed"])
def test_routing_question_of_any_findings_has_its_fixed_words_and_recommends_nothing(
    tmp_path: Path, findings: tuple[Finding, ...]
) -> None:
    """W6 to W8: the same stem and menu whatever the findings look like."""
    world = World(tmp_path, *findings)
    world.walk("D")
    assert world.stems == [f"What should the agent do with the remaining {len(findings)} findings?"]
    assert world.menus == [MENU]
    assert not any(option.recommended for option in world.asked[0].prompt.fields[0].options)


def test_routing_question_about_one_finding_keeps_its_words(tmp_path: Path) -> None:
    """W-X18: only what a person decides about is counted, and the wording does not change for one."""
    world = World(tmp_path, new_finding("One"), new_finding("Aside", confidence=50))
    world.walk("D")
    assert world.stems == ["What should the agent do with the remaining 1 findings?"]
    assert world.menus == [MENU]


@proves("W2")
def test_routing_question_comes_after_the_safe_fixes_and_before_anything_else(tmp_path: Path) -> None:
    """W2: at that moment the safe fix is in the document, and nothing else is."""
    world = World(tmp_path, safe_finding("Safe", "alpha"), new_finding("One", "bravo"), unfixable("Two"))
    world.walk("B", "Proceed")
    assert world.seen[0] == DOCUMENT.replace(b"alpha", b"ALPHA")
    asked = world.log.index(f"ask: {world.stems[0]}")
    assert world.log[:asked].count("WriteDocument") == 1
    assert world.log[asked - 1].startswith("say: 1 fix applied, 2 items need attention")
    assert world.content.startswith(DOCUMENT.replace(b"alpha", b"ALPHA").replace(b"bravo", b"BRAVO"))


@proves("W9")
@pytest.mark.parametrize(
    "findings",
    [(), (safe_finding("Safe", "alpha"),), (new_finding("Aside", confidence=50),)],
    ids=["none", "safe", "fyi"],
)
def test_routing_question_with_nothing_to_decide_is_not_asked_but_the_report_comes(
    tmp_path: Path, findings: tuple[Finding, ...]
) -> None:
    """W9, W-X5: straight to the report."""
    world = World(tmp_path, *findings)
    report = world.walk()
    assert world.asked == []
    assert (report.way, report.verdict, report.decisions) == (Way.NOTHING_TO_DECIDE, Verdict.READY, ())


@proves("W10")
def test_routing_question_without_append_lacks_c_and_says_why(tmp_path: Path) -> None:
    """W10: A, B and D keep their letters; a finding's own question gives the same reason."""
    world = World(tmp_path, new_finding("One"), new_finding("Two"))
    world.path.chmod(0o444)
    world.walk("c", "1", "C", "C")
    assert world.echoed == ['I didn\'t recognize "c".']
    assert world.stems[0] == (
        "What should the agent do with the remaining 2 findings?\n"
        "Append to Open Questions unavailable — document is read-only in this environment."
    )
    assert world.menus[0] == MENU_WITHOUT_APPEND
    assert world.stems[1].endswith("\nDefer unavailable — document is read-only in this environment.")


@proves("W10")
@pytest.mark.parametrize(
    "reply", ["D", "d.", "3", "3)", "report only", "Report only — take no further action"]
)
def test_option_of_a_shorter_list_is_chosen_by_its_letter_its_place_or_its_label(
    tmp_path: Path, reply: str
) -> None:
    """W-X11: letters stay with their options, numbers count what is shown."""
    world = World(tmp_path, new_finding("One"))
    world.lock()
    assert world.walk(reply).way is Way.REPORT_ONLY


@proves("W11")
def test_way_a_asks_about_each_finding_and_edits_nothing_until_the_end(tmp_path: Path) -> None:
    """W11: what is to be applied is kept in mind, deferrals are appended at once, skips do nothing."""
    world = World(tmp_path, new_finding("One", "alpha"), new_finding("Two"), new_finding("Three"))
    report = world.walk("A", "Apply", "Defer", "Skip")
    assert words(report) == {
        "One": (Verb.APPLIED, ""),
        "Two": (Verb.DEFERRED, ""),
        "Three": (Verb.SKIPPED, ""),
    }
    before_two, before_three = world.seen[2:]
    assert before_two == DOCUMENT
    assert before_three.startswith(DOCUMENT)
    assert SECTION.encode() in before_three
    assert (report.way, world.content) == (Way.WALK_THROUGH, before_three.replace(b"alpha", b"ALPHA", 1))


@proves("W12")
def test_way_b_does_what_is_recommended_with_each_after_one_preview(tmp_path: Path) -> None:
    """W12: fixes in one edit at the end, deferrals appended, skips nothing."""
    world = World(tmp_path, *MIXED, new_finding("Four", "bravo"))
    report = world.walk("B", "Proceed")
    assert words(report) == {
        "One": (Verb.APPLIED, ""),
        "Two": (Verb.DEFERRED, ""),
        "Three": (Verb.SKIPPED, ""),
        "Four": (Verb.APPLIED, ""),
    }
    assert report.way is Way.LFG
    assert len(world.stems) == 2
    appended, edited = world.writes
    assert appended.startswith(DOCUMENT)
    assert edited == appended.replace(b"alpha", b"ALPHA", 1).replace(b"bravo", b"BRAVO", 1)


@proves("W13")
def test_way_c_defers_everything_whatever_is_recommended(tmp_path: Path) -> None:
    """W13: nothing but entries is written."""
    world = World(tmp_path, *MIXED)
    report = world.walk("C", "Proceed")
    assert [each.verb for each in report.decisions] == [Verb.DEFERRED] * 3
    assert report.way is Way.APPEND
    assert world.content.startswith(DOCUMENT)
    assert all(content.startswith(DOCUMENT) for content in world.writes)
    assert [f"**{title}**" in world.text for title in ("One", "Two", "Three")] == [True] * 3


@proves("W14")
def test_way_d_does_nothing_and_reports_what_stays_undecided(tmp_path: Path) -> None:
    """W14, W-X6: the report comes, with no entries."""
    world = World(tmp_path, *MIXED)
    report = world.walk("D")
    assert (report.way, report.decisions) == (Way.REPORT_ONLY, ())
    assert [finding.title for finding in report.undecided] == ["One", "Two", "Three"]
    assert report.verdict is Verdict.READY_WITH_FIXES
    assert not any(isinstance(effect, WriteDocument) for effect in world.effects)
    assert world.content == DOCUMENT


@proves("W12", "W13")
@pytest.mark.parametrize("way", ["B", "C"])
def test_cancelled_preview_leads_back_to_the_routing_question_and_leaves_no_trace(
    tmp_path: Path, way: str
) -> None:
    """W12, W13: whatever was previewed, all four ways are open again."""
    world = World(tmp_path, *MIXED)
    report = world.walk(way, "Cancel", way, "2", "D")
    routing, preview = world.asked[:2]
    assert world.asked == [routing, preview, routing, preview, routing]
    assert (report.decisions, world.content, world.writes) == ((), DOCUMENT, [])


def test_reason_for_no_append_is_told_as_it_was_found() -> None:
    """W10: the line is a sentence about this document, not a fixed one."""
    prompt = routing_prompt(3, "document is not an ordinary file")
    assert prompt.title.endswith("\nAppend to Open Questions unavailable — document is not an ordinary file.")
    assert READ_ONLY not in prompt.title
