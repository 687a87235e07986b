"""One finding after the other: the question, its menu, what follows each answer, and in which order they come."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from assent.flows.document import WriteDocument
from assent.protocol.decision import Verb, Way
from assent.protocol.finding import Action, Severity
from tests.flows.walk_through.world import (
    DOCUMENT,
    READ_ONLY,
    SECTION,
    Reply,
    World,
    chain,
    clumsy,
    new_finding,
    unfixable,
    words,
)
from tests.proves import proves

__all__: list[str] = []

MENU = """\
A. Apply the proposed fix
B. Defer — append to the doc's Open Questions section
C. Skip — don't apply, don't append
D. LFG the rest — apply the agent's best judgment to this and remaining findings"""
LINES = MENU.split("\n")


def menu(letters: str, recommended: str) -> str:
    """Return the menu with only these options, one of them recommended."""
    shown = [line for line in LINES if line[0] in letters]
    return "\n".join(f"{line} (recommended)" if line[0] == recommended else line for line in shown)


# The question


@proves("W39")
def test_stem_is_two_lines_the_position_and_one_recommendation(tmp_path: Path) -> None:
    """W39: the handle is the title of the block's heading, and the second line asks yes or no."""
    first = new_finding("Lists four tiers", plain_title="Implementers will pick different tiers")
    world = World(tmp_path, first, unfixable("No owner", severity=Severity.P3))
    world.walk("A", "C", "C")
    assert world.stems[1:] == [
        "Finding 1 of 2 — P2 Implementers will pick different tiers.\nApply the proposed fix?",
        "Finding 2 of 2 — P3 No owner.\nDefer to Open Questions since the review names no concrete fix?",
    ]
    headings = [ask.prompt.body.split("\n", 1)[0] for ask in world.asked[1:]]
    assert headings == [
        "## Finding 1 of 2 — P2 Implementers will pick different tiers",
        "## Finding 2 of 2 — P3 No owner",
    ]


@proves("W42", "W43")
@pytest.mark.parametrize(
    ("action", "letter"), [(Action.APPLY, "A"), (Action.DEFER, "B"), (Action.SKIP, "C")], ids=str
)
@pytest.mark.parametrize("conflict", ["", "Coherence recommends Apply; scope recommends Skip."])
def test_menu_has_its_fixed_order_and_marks_the_one_recommended_action(
    tmp_path: Path, action: Action, letter: str, conflict: str
) -> None:
    """W42, W43: exactly one of A, B, C is marked, also where reviewers disagreed."""
    finding = new_finding("One", recommended_action=action, conflict_context=conflict)
    world = World(tmp_path, finding, new_finding("Two"))
    world.walk("A", "C", "C")
    assert world.menus[1] == menu("ABCD", letter)


@proves("W44")
def test_single_finding_has_no_counter_and_no_rest(tmp_path: Path) -> None:
    """W44: heading, stem and menu are those of one finding."""
    world = World(tmp_path, new_finding("Two tiers", "alpha"))
    report = world.walk("A", "D", "A")
    assert world.echoed == ['I didn\'t recognize "D".']
    assert world.asked[1].prompt.body.startswith("## P2 Two tiers\n\nSection: Scope\n")
    assert world.stems[1] == "P2 Two tiers.\nApply the proposed fix?"
    assert world.menus[1] == menu("ABC", "A")
    assert words(report) == {"Two tiers": (Verb.APPLIED, "")}


def test_last_of_several_findings_keeps_counter_and_menu(tmp_path: Path) -> None:
    """W-X9: one is left, but there were two."""
    world = World(tmp_path, new_finding("One"), new_finding("Two"))
    world.walk("A", "C", "C")
    assert world.stems[2].startswith("Finding 2 of 2 — P2 Two.")
    assert world.menus[2] == menu("ABCD", "A")


@proves("W45")
def test_without_append_b_is_missing_and_a_deferral_is_recommended_as_skip(tmp_path: Path) -> None:
    """W45: the stem says why, the marker is on an option that is shown, and the block tells of the change."""
    world = World(tmp_path, unfixable("No owner"), new_finding("Two"))
    world.lock()
    world.walk("A", "b", "2", "Skip")
    assert world.echoed == ['I didn\'t recognize "b".']
    first, second = world.asked[1:]
    assert first.prompt.title == (
        "Finding 1 of 2 — P2 No owner.\n"
        "Skip since it cannot be appended to the document?\n"
        "Defer unavailable — document is read-only in this environment."
    )
    assert world.menus[1] == menu("ACD", "C")
    assert first.prompt.body.endswith(
        "\n\nSynthesis recommended Defer; downgraded to Skip — document is read-only."
    )
    assert world.menus[2] == menu("ACD", "C")
    assert second.prompt.body.endswith(
        "\n\nSynthesis recommended Apply; downgraded to Skip — document is read-only."
    )


@proves("W45")
def test_conflict_and_downgrade_stand_on_one_line_that_ends_with_the_marked_action(tmp_path: Path) -> None:
    """W-X16: both sentences, and the last word is the option that carries the marker."""
    conflict = "Coherence recommends Apply; scope-guardian recommends Defer. Agent's recommendation: Defer."
    world = World(tmp_path, new_finding("One", recommended_action=Action.DEFER, conflict_context=conflict))
    world.lock()
    world.walk("A", "C")
    assert world.asked[1].prompt.body.endswith(
        f"\n\n{conflict} Synthesis recommended Defer; downgraded to Skip — document is read-only."
    )
    assert world.menus[1] == menu("AC", "C")


@proves("W46")
def test_single_finding_without_append_can_be_applied_or_skipped(tmp_path: Path) -> None:
    """W46: both adaptations at once, letters stay, and Apply is not recommended where nothing can be written."""
    world = World(tmp_path, new_finding("Two tiers", "alpha"))
    world.lock()
    world.walk("A", "B", "D", "C")
    assert len(world.echoed) == 2
    assert world.menus[1] == menu("AC", "C")
    assert world.stems[1] == (
        "P2 Two tiers.\nSkip since the fix can be neither applied nor deferred here?\n"
        f"Defer unavailable — {READ_ONLY}."
    )


@proves("W55")
@pytest.mark.parametrize(
    ("lacks", "why"),
    [
        ("applier", "no applier for a fix in words"),
        ("writing", READ_ONLY),
        ("room", "suggested_fix too long to be read whole"),
    ],
)
def test_fix_that_cannot_be_applied_is_not_said_to_be(tmp_path: Path, lacks: str, why: str) -> None:
    """W49, W53: neither recommended nor staged; whoever picks Apply learns why not, and says what is to happen."""
    finding = new_finding("One", "alpha" if lacks == "writing" else "")
    if lacks == "room":
        finding = replace(finding, suggested_fix="word " * 5_000)
    world = World(tmp_path, finding, apply=None if lacks == "applier" else clumsy)
    if lacks == "writing":
        world.lock()
    report = world.walk("A", "A", "Acknowledge")
    action = "Skip" if lacks == "writing" else "Defer"
    assert world.asked[1].prompt.body.endswith(
        f"Synthesis recommended Apply; downgraded to {action} — {why.removesuffix(' in this environment')}."
    )
    assert world.stems[2].startswith(
        f"Apply isn't executable for this finding — {why}. How should the agent proceed?"
    )
    assert world.confirmations == ["→ Acknowledged. No document edit."]
    assert (report.failures, report.decisions[0].reason) == (
        (),
        f"Apply picked but {why} — no edit dispatched",
    )
    assert world.content == DOCUMENT


# What follows an answer


@proves("W41")
def test_one_line_confirms_each_answer_before_the_next_question(tmp_path: Path) -> None:
    """W41: the fixed lines, each between its answer and the next finding."""
    first = new_finding("One", "alpha", section="Scope Boundaries")
    world = World(tmp_path, first, new_finding("Two"), new_finding("Three"))
    world.walk("A", "A", "B", "C")
    assert world.confirmations == [
        '→ Applied. Edit staged at "Scope Boundaries" section.',
        '→ Deferred. Entry appended to "## Deferred / Open Questions".',
        "→ Skipped.",
    ]
    told = [entry.split(":")[0] for entry in world.log if entry.startswith(("ask", "type", "say: →"))]
    assert told == ["ask", "type", *["ask", "type", "say"] * 3]


@proves("W48")
def test_applied_finding_changes_nothing_while_others_are_asked_about(tmp_path: Path) -> None:
    """W48: the edit waits for the end."""
    world = World(tmp_path, new_finding("One", "alpha"), new_finding("Two", "bravo"), new_finding("Three"))
    world.walk("A", "A", "A", "C")
    assert world.seen == [DOCUMENT] * 4
    assert world.writes == [DOCUMENT.replace(b"alpha", b"ALPHA").replace(b"bravo", b"BRAVO")]


@proves("W51")
def test_skipped_finding_is_recorded_with_a_reason_and_nothing_is_done(tmp_path: Path) -> None:
    """W51, W70: the reason is in the finding's own terms."""
    world = World(tmp_path, new_finding("One", "alpha"))
    report = world.walk("A", "C")
    (decision,) = report.decisions
    assert (decision.verb, decision.reason) == (Verb.SKIPPED, "anchor 75: One stops its readers.")
    assert not any(isinstance(effect, WriteDocument) for effect in world.effects)


@proves("W61")
@pytest.mark.parametrize("action", list(Action), ids=str)
@pytest.mark.parametrize(
    ("reply", "verb"), [("A", Verb.APPLIED), ("B", Verb.DEFERRED), ("C", Verb.SKIPPED)], ids=["A", "B", "C"]
)
def test_any_preset_action_can_be_picked_over_the_recommended_one(
    tmp_path: Path, action: Action, reply: str, verb: Verb
) -> None:
    """W61: that is all an override is."""
    world = World(tmp_path, new_finding("One", "alpha", recommended_action=action))
    assert words(world.walk("A", reply)) == {"One": (verb, "")}


@proves("W61")
@pytest.mark.parametrize(
    "reply", ["Apply, but say three tiers", "E", "5", "0", "", "yes", "Apply the proposed", "A C", "A, B"]
)
def test_fix_of_ones_own_is_no_answer_and_the_question_stays(tmp_path: Path, reply: str) -> None:
    """W61: no text becomes a fix; the same question waits on."""
    world = World(tmp_path, new_finding("One", "alpha"), new_finding("Two"))
    report = world.walk("A", reply, "C", "C")
    assert len(world.echoed) == 1
    assert len(world.asked) == 3
    assert world.content == DOCUMENT
    assert words(report)["One"] == (Verb.SKIPPED, "")


def test_findings_come_worst_first_and_each_root_before_what_hangs_on_it(tmp_path: Path) -> None:
    """W15, W19: a P1 root goes before its P0 dependent, and nothing else moves."""
    root, below = chain(new_finding("Root", severity=Severity.P1), new_finding("Below", severity=Severity.P0))
    others = [new_finding(str(level), severity=level) for level in (Severity.P3, Severity.P0, Severity.P1)]
    world = World(tmp_path, others[0], root, others[1], below, others[2])
    report = world.walk("A", "C", "C", "Decide each", "C", "C", "C")
    del world.asked[3]  # the question about the cascade
    asked = [stem.split("\n")[0].partition("— ")[2] for stem in world.stems[1:]]
    assert asked == ["P0 P0.", "P1 Root.", "P0 Below.", "P1 P1.", "P3 P3."]
    assert [stem[:12] for stem in world.stems[1:]] == [f"Finding {number} of" for number in range(1, 6)]
    assert report.way is Way.WALK_THROUGH


# The rest at once


REST_SCRIPT: tuple[Reply, ...] = ("A", "A", "LFG the rest")


@proves("W52")
def test_rest_is_this_finding_and_all_undecided_ones_and_tells_how_many_are_decided(tmp_path: Path) -> None:
    """W52, W-X17: at finding 2 of 8 there are 7 left and 1 decided."""
    findings = [new_finding(f"Number {number}") for number in range(1, 9)]
    world = World(tmp_path, *findings)
    world.walk(*REST_SCRIPT, "Cancel", *["C"] * 7)
    preview = world.asked[3].prompt.body
    assert preview.split("\n")[0] == "Plan for the remaining 7 findings (1 already decided):"
    assert "Applying (7):" in preview
    assert "Number 1 " not in preview
    assert preview.count("Number") == 7


@proves("W52")
@pytest.mark.parametrize("way_in", ["D", "4", "LFG the rest", LINES[3][3:]], ids=["D", "4", "key", "label"])
def test_cancelled_rest_leads_back_to_the_same_finding_and_not_to_routing(
    tmp_path: Path, way_in: str
) -> None:
    """W52, W-X3: the question is the same to the letter, and nothing was decided."""
    world = World(tmp_path, new_finding("One"), new_finding("Two"), new_finding("Three"))
    report = world.walk("A", "C", way_in, "B", "C", "C")
    assert world.asked[4] == world.asked[2]
    assert world.stems[2].startswith("Finding 2 of 3 — P2 Two.")
    assert world.seen == [DOCUMENT] * 6
    assert report.way is Way.WALK_THROUGH


@proves("W52")
def test_proceeding_with_the_rest_joins_what_was_decided_and_ends_the_walk(tmp_path: Path) -> None:
    """W52: fixes join the Apply set, deferrals are appended, skips are recorded; then it is carried out."""
    world = World(
        tmp_path,
        new_finding("One", "alpha"),
        new_finding("Two", "bravo"),
        unfixable("Three"),
        new_finding("Four", recommended_action=Action.SKIP),
    )
    report = world.walk("A", "A", "D", "A")
    assert words(report) == {
        "One": (Verb.APPLIED, ""),
        "Two": (Verb.APPLIED, ""),
        "Three": (Verb.DEFERRED, ""),
        "Four": (Verb.SKIPPED, ""),
    }
    assert report.way is Way.LFG_THE_REST
    appended, edited = world.writes
    assert SECTION.encode() in appended
    assert edited == appended.replace(b"alpha", b"ALPHA", 1).replace(b"bravo", b"BRAVO", 1)


def test_rest_after_a_cascade_leaves_out_what_fell_with_the_root(tmp_path: Path) -> None:
    """W-X13, W-X10: what is decided is not in the plan, and positions do not change."""
    root, below = chain(new_finding("Root", severity=Severity.P1), new_finding("Below"))
    world = World(tmp_path, root, below, new_finding("Alone", "alpha"), new_finding("Other", "bravo"))
    report = world.walk("A", "C", "A", "D", "A")
    assert world.stems[3].startswith("Finding 3 of 4 — P2 Alone.")
    preview = world.asked[4].prompt.body
    assert preview.startswith("Plan for the remaining 2 findings (2 already decided):")
    assert "Below" not in preview
    assert len(report.decisions) == 4
