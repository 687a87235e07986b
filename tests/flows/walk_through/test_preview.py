"""Many findings at once: what is shown first, what can be said to it, and what happens then."""

from pathlib import Path

import pytest

from assent.flows.document import ReadDocument, WriteDocument
from assent.flows.walk_through.effect import Writable
from assent.flows.walk_through.preview import make_plan, render_preview
from assent.flows.walk_through.walk import Walk
from assent.protocol.decision import Verb
from assent.protocol.error import EffectError
from assent.protocol.finding import Action, Severity
from tests.flows.walk_through.world import DATE, DOCUMENT, World, chain, new_finding, unfixable, words
from tests.proves import proves

__all__: list[str] = []

MENU = "A. Proceed\nB. Cancel"
FINDINGS = (
    new_finding("One", "alpha", severity=Severity.P0),
    unfixable("Two"),
    new_finding("Three", recommended_action=Action.SKIP),
    new_finding("Four", "bravo", severity=Severity.P3),
)


@proves("W12")
def test_preview_of_the_best_judgment_groups_findings_by_what_is_done(tmp_path: Path) -> None:
    """W12, W-U13: one line per finding, headers only for groups with findings in them, two plain options."""
    world = World(tmp_path, *FINDINGS)
    world.walk("B", "Cancel", "D")
    preview = world.asked[1].prompt
    assert preview.body == (
        "Plan for 4 findings:\n"
        "\n"
        "Applying (2):\n"
        "[P0] Scope — One stops its readers.\n"
        "[P3] Scope — Four stops its readers.\n"
        "\n"
        "Appending to Open Questions (1):\n"
        "[P2] Scope — Two stops its readers.\n"
        "\n"
        "Skipping (1):\n"
        "[P2] Scope — Three stops its readers."
    )
    assert preview.title == "Should the agent do this with these 4 findings?"
    assert world.menus[1] == MENU


@proves("W13")
def test_preview_of_deferring_everything_marks_what_is_recommended_otherwise(tmp_path: Path) -> None:
    """W13, W-X22: one group, and a line whose own recommendation is another ends with it."""
    world = World(tmp_path, *FINDINGS)
    world.walk("C", "Cancel", "D")
    assert world.asked[1].prompt.body == (
        "4 findings as Open Questions entries:\n"
        "\n"
        "Appending to Open Questions (4):\n"
        "[P0] Scope — One stops its readers. (recommended: Apply)\n"
        "[P2] Scope — Two stops its readers.\n"
        "[P2] Scope — Three stops its readers. (recommended: Skip)\n"
        "[P3] Scope — Four stops its readers. (recommended: Apply)"
    )
    assert world.menus[1] == MENU


def test_preview_of_one_finding_has_the_same_form(tmp_path: Path) -> None:
    """W-U13: only the number's noun changes."""
    world = World(tmp_path, unfixable("Two"))
    world.walk("C", "Cancel", "D")
    assert world.asked[1].prompt.body == (
        "1 finding as Open Questions entries:\n\n"
        "Appending to Open Questions (1):\n[P2] Scope — Two stops its readers."
    )
    assert world.asked[1].prompt.title == "Should the agent do this with this finding?"


def test_preview_without_append_skips_deferrals_and_says_so(tmp_path: Path) -> None:
    """W-U13: the change comes before the plan is shown, and the plan is what happens."""
    world = World(tmp_path, *FINDINGS)
    world.lock()
    report = world.walk("B", "Proceed")
    body = world.asked[1].prompt.body
    assert body.startswith(
        "Plan for 4 findings:\n"
        "Applying is unavailable — document is read-only in this environment. "
        "2 findings recommended for Apply: skipped instead.\n"
        "Appending is unavailable — document is read-only in this environment. "
        "1 finding recommended for Open Questions: skipped instead.\n"
        "\n"
        "Skipping (4):\n"
    )
    assert [each.verb for each in report.decisions] == [Verb.SKIPPED] * 4
    assert report.failures == ()


@proves("W55")
@pytest.mark.parametrize("way", [("B",), ("A", "LFG the rest")], ids=["all", "the rest"])
def test_what_the_menu_downgraded_is_previewed_and_done_as_downgraded(
    tmp_path: Path, way: tuple[str, ...]
) -> None:
    """What has no fix, and what nobody here could work in, is not announced as applied, and does not fail afterwards."""
    bare = unfixable("Bare", recommended_action=Action.APPLY)
    world = World(tmp_path, bare, new_finding("Words"), new_finding("More words"), FINDINGS[0], apply=None)
    report = world.walk(*way, "Proceed")
    body = world.asked[-1].prompt.body
    assert body.partition(":\n")[2] == (
        "Applying is unavailable — no suggested_fix. 1 finding recommended for Apply: deferred instead.\n"
        "Applying is unavailable — no applier for a fix in words. "
        "2 findings recommended for Apply: deferred instead.\n"
        "\n"
        "Applying (1):\n"
        "[P0] Scope — One stops its readers.\n"
        "\n"
        "Appending to Open Questions (3):\n"
        "[P2] Scope — Bare stops its readers.\n"
        "[P2] Scope — Words stops its readers.\n"
        "[P2] Scope — More words stops its readers."
    )
    done = {each.finding.title: each.verb for each in report.decisions}
    assert [title for title, verb in done.items() if verb is Verb.APPLIED] == ["One"]
    assert list(done.values()).count(Verb.DEFERRED) == 3
    assert report.failures == ()


@pytest.mark.parametrize("reply", ["yes", "C", "1, 2", "Apply", "Proceed with One", ""])
def test_preview_takes_only_proceed_and_cancel(tmp_path: Path, reply: str) -> None:
    """W-U13: there is no choice per finding."""
    world = World(tmp_path, *FINDINGS)
    world.walk("B", reply, "B", "D")
    assert len(world.echoed) == 1


@proves("W52")
def test_cancelled_preview_leaves_nothing_on_disk_and_nothing_in_mind(tmp_path: Path) -> None:
    """W52, W-U13: what is previewed afterwards is the same to the letter."""
    world = World(tmp_path, *FINDINGS)
    report = world.walk("A", "C", "D", "Cancel", "D", "Cancel", "D", "Cancel", "C", "C", "C")
    assert world.asked[3] == world.asked[5] == world.asked[7]
    assert world.asked[2] == world.asked[4] == world.asked[6] == world.asked[8]
    assert (world.writes, world.content) == ([], DOCUMENT)
    assert [each.verb for each in report.decisions] == [Verb.SKIPPED] * 4


def test_bulk_asks_about_no_cascade_and_gives_each_its_own_recommendation(tmp_path: Path) -> None:
    """W-X13: a skipped root does not take an applied dependent with it."""
    root, below = chain(
        new_finding("Root", recommended_action=Action.SKIP, severity=Severity.P1),
        new_finding("Below", "alpha"),
    )
    world = World(tmp_path, root, below)
    report = world.walk("B", "Proceed")
    assert words(report) == {"Root": (Verb.SKIPPED, ""), "Below": (Verb.APPLIED, "")}
    assert len(world.asked) == 2


@proves("W13")
def test_failed_entry_in_a_bulk_is_asked_about_and_the_rest_goes_on(tmp_path: Path) -> None:
    """W-U13: retry, record only, convert to Skip, each for the one that failed."""
    world = World(tmp_path, *FINDINGS)
    full = EffectError("The disk is full.")
    world.trip(WriteDocument, None, full, full, full)
    report = world.walk("C", "A", "Retry", "Convert to Skip", "Record only")
    assert [(each.finding.title, each.verb, each.is_recorded_only) for each in report.decisions] == [
        ("One", Verb.DEFERRED, False),
        ("Two", Verb.SKIPPED, False),
        ("Three", Verb.DEFERRED, True),
        ("Four", Verb.DEFERRED, False),
    ]
    assert [failure.finding.title for failure in report.failures] == ["Two", "Three"]
    assert [f"**{title}**" in world.text for title in ("One", "Two", "Three", "Four")] == [
        True,
        False,
        False,
        True,
    ]


def test_line_of_a_preview_is_cut_near_eighty_columns_and_keeps_its_marker() -> None:
    """W-U13: near 80 columns with an ellipsis; what is recommended instead is never cut off."""
    finding = new_finding("One", section="S" * 300, why_it_matters="word " * 100)
    walk = Walk("plan.md", DATE, [finding], Writable(True))
    line = render_preview(walk, make_plan(walk, Action.DEFER), "Title").split("\n")[-1]
    assert len(line) <= 80
    assert line.endswith("… (recommended: Apply)")
    assert line.startswith("[P2] SSS")


@pytest.mark.parametrize(
    ("why", "shown"),
    [
        ("It is so. And more.", "It is so."),
        ("Readers of v1.2 stop! They ask.", "Readers of v1.2 stop!"),
        ("Some, e.g. the tiers, differ. And more.", "Some, e.g. the tiers, differ."),
        ("over\ntwo lines", "over two lines"),
        ("\u200b[P0] forged", "<U+200B>[P0] forged"),
        (" ", "One"),
    ],
    ids=["sentence", "version", "abbreviation", "lines", "hidden", "blank"],
)
def test_line_of_a_preview_says_the_first_sentence_of_why_it_matters(why: str, shown: str) -> None:
    """W-U13: else the title; always on one line, with nothing hidden in it."""
    walk = Walk("plan.md", DATE, [new_finding("One", why_it_matters=why)], Writable(True))
    line = render_preview(walk, make_plan(walk), "Title").split("\n")[-1]
    assert line == f"[P2] Scope — {shown}"


def test_long_bulk_says_now_and_then_how_far_it_is(tmp_path: Path) -> None:
    """A person who said Proceed to sixty entries hears of it; to fewer, nothing is said in between."""
    world = World(tmp_path, *(new_finding(f"Number {number}") for number in range(60)))
    world.walk("C", "Proceed")
    assert world.confirmations == ["→ Deferred 25 of 60.", "→ Deferred 50 of 60."]


def test_document_is_read_again_before_each_entry_of_a_bulk(tmp_path: Path) -> None:
    """W-U10: one read and one write per entry, in turn."""
    world = World(tmp_path, *FINDINGS)
    world.walk("C", "Proceed")
    done = [type(effect) for effect in world.effects if isinstance(effect, ReadDocument | WriteDocument)]
    assert done == [ReadDocument, *[ReadDocument, WriteDocument] * 4]
