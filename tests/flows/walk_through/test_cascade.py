"""What falls with a root: announced and asked at once, done only to what is undecided, never after Apply."""

from pathlib import Path

import pytest

from assent.client.drive import advance
from assent.flows.document import WriteDocument
from assent.flows.walk_through.cascade import cascade
from assent.flows.walk_through.effect import Writable
from assent.flows.walk_through.menu import cascade_prompt
from assent.flows.walk_through.walk import Walk
from assent.protocol.decision import Decision, Verb
from assent.protocol.error import BadRequestError, EffectError
from assent.protocol.finding import Action, Severity
from tests.flows.walk_through.world import DATE, DOCUMENT, World, chain, new_finding, unfixable, words
from tests.proves import proves

__all__: list[str] = []

MENU = """\
A. Cascade — apply same action to all dependents (recommended)
B. Decide each dependent individually"""
ROOT, TWO, THREE = chain(
    new_finding("Nobody needs a cache", "alpha", severity=Severity.P1),
    new_finding("Cache has no limit", "bravo"),
    new_finding("Cache is not flushed", "charlie", severity=Severity.P3),
)
ALONE = new_finding("Alone", "delta")
FROM_ROOT = "cascaded from Nobody needs a cache"
DISK_FULL = EffectError("The disk is full.")


@proves("W20", "W21")
@pytest.mark.parametrize(
    ("reply", "doing", "confirmed"),
    [
        ("C", "Skipping", "→ Skipped."),
        ("B", "Deferring", '→ Deferred. Entry appended to "## Deferred / Open Questions".'),
    ],
    ids=["skip", "defer"],
)
def test_cascade_is_announced_with_verb_number_and_titles_right_after_the_root(
    tmp_path: Path, reply: str, doing: str, confirmed: str
) -> None:
    """W20, W21, W-X12: the root's own action and its line come first; announcement and question are one."""
    world = World(tmp_path, ROOT, TWO, THREE)
    world.walk("A", reply, "A")
    assert world.stems[2] == (
        f"{doing} this root will auto-resolve 2 dependent finding(s): "
        "Cache has no limit; Cache is not flushed. Continue?"
    )
    assert world.menus[2] == MENU
    asked = world.log.index(f"ask: {world.stems[2]}")
    assert world.log[asked - 1] == f"say: {confirmed}"


@proves("W22", "W24")
def test_cascaded_skip_goes_to_every_dependent_and_no_further(tmp_path: Path) -> None:
    """W22, W24: decided and annotated, not asked about, nothing done to the world."""
    world = World(tmp_path, ROOT, TWO, THREE, ALONE)
    report = world.walk("A", "C", "Cascade", "C")
    assert words(report) == {
        ROOT.title: (Verb.SKIPPED, ""),
        TWO.title: (Verb.SKIPPED, FROM_ROOT),
        THREE.title: (Verb.SKIPPED, FROM_ROOT),
        ALONE.title: (Verb.SKIPPED, ""),
    }
    assert [stem.split("\n")[0] for stem in world.stems[1:]] == [
        "Finding 1 of 4 — P1 Nobody needs a cache.",
        world.stems[2],
        "Finding 3 of 4 — P2 Alone.",
    ]
    assert "→ Cascaded. 2 dependent findings skipped." in world.confirmations
    assert not any(isinstance(effect, WriteDocument) for effect in world.effects)


@proves("W22", "W23")
def test_cascaded_defer_appends_an_entry_for_every_dependent(tmp_path: Path) -> None:
    """W22, W23: each has its own entry, its place on record, and the annotation."""
    world = World(tmp_path, ROOT, TWO, THREE)
    report = world.walk("A", "B", "A")
    assert words(report) == {
        ROOT.title: (Verb.DEFERRED, ""),
        TWO.title: (Verb.DEFERRED, FROM_ROOT),
        THREE.title: (Verb.DEFERRED, FROM_ROOT),
    }
    assert all(DATE in each.append_location for each in report.decisions)
    assert [f"**{each.finding.title}**" in world.text for each in report.decisions] == [True] * 3
    assert len(world.writes) == 3
    assert world.confirmations[-1] == "→ Cascaded. 2 dependent findings deferred."


@proves("W23")
def test_failed_entry_of_a_dependent_is_asked_about_before_the_cascade_goes_on(tmp_path: Path) -> None:
    """W23: retry, record only, convert to Skip for that one; the next dependent comes after."""
    world = World(tmp_path, ROOT, TWO, THREE)
    world.trip(WriteDocument, None, DISK_FULL, DISK_FULL)
    report = world.walk("A", "B", "A", "Retry", "Record only")
    assert [ask.prompt.body for ask in world.asked[3:]] == ["Finding 2 of 3 — P2 Cache has no limit."] * 2
    two, three = report.decisions[1:]
    assert (two.verb, two.note, two.is_recorded_only) == (Verb.DEFERRED, FROM_ROOT, True)
    assert (three.verb, three.note, three.is_recorded_only) == (Verb.DEFERRED, FROM_ROOT, False)
    assert [failure.finding for failure in report.failures] == [TWO]


@proves("W23")
def test_dependent_that_was_converted_is_counted_as_skipped(tmp_path: Path) -> None:
    """W23: the line at the end says what came of each, not what was meant."""
    world = World(tmp_path, ROOT, TWO, THREE)
    world.trip(WriteDocument, None, DISK_FULL)
    report = world.walk("A", "B", "A", "Convert to Skip")
    assert words(report)[TWO.title] == (Verb.SKIPPED, FROM_ROOT)
    assert words(report)[THREE.title] == (Verb.DEFERRED, FROM_ROOT)
    assert world.confirmations[-1] == "→ Cascaded. 1 dependent finding skipped, 1 dependent finding deferred."


@pytest.mark.parametrize(
    ("reply", "doing", "verb"),
    [("Convert to Skip", "Skipping", Verb.SKIPPED), ("Record only", "Deferring", Verb.DEFERRED)],
    ids=["convert", "record"],
)
def test_cascade_follows_what_the_root_came_to_and_not_what_was_picked(
    tmp_path: Path, reply: str, doing: str, verb: Verb
) -> None:
    """W-X12: the failure path is over before anything is said of dependents."""
    world = World(tmp_path, ROOT, TWO, THREE)
    world.trip(WriteDocument, DISK_FULL)
    report = world.walk("A", "B", reply, "A")
    assert world.stems[3].startswith(f"{doing} this root will auto-resolve 2 dependent finding(s): ")
    assert [each.verb for each in report.decisions] == [verb] * 3


@proves("W26")
def test_dependents_decided_individually_each_have_their_own_question(tmp_path: Path) -> None:
    """W26: nothing is annotated, and each can go its own way."""
    world = World(tmp_path, ROOT, TWO, THREE)
    report = world.walk("A", "C", "Decide each dependent individually", "A", "B")
    assert [stem.split("\n")[0] for stem in world.stems[3:]] == [
        "Finding 2 of 3 — P2 Cache has no limit.",
        "Finding 3 of 3 — P3 Cache is not flushed.",
    ]
    assert words(report) == {
        ROOT.title: (Verb.SKIPPED, ""),
        TWO.title: (Verb.APPLIED, ""),
        THREE.title: (Verb.DEFERRED, ""),
    }


@proves("W27")
def test_applied_root_takes_nothing_with_it(tmp_path: Path) -> None:
    """W27: the premise held, so every dependent is asked about."""
    world = World(tmp_path, ROOT, TWO, THREE)
    report = world.walk("A", "A", "C", "C")
    assert len(world.asked) == 4
    assert not any("auto-resolve" in stem for stem in world.stems)
    assert [each.note for each in report.decisions] == [""] * 3


@proves("W25", "W27")
def test_cascade_of_apply_is_refused() -> None:
    """W25, W-X7: nothing asks for it, and whoever did would be told no."""
    walk = Walk("plan.md", DATE, [ROOT, TWO, THREE], Writable(True))
    with pytest.raises(BadRequestError) as refused:
        advance(cascade(walk, ROOT, Action.APPLY), None)
    assert refused.value.message == "Apply on a root never cascades."
    assert walk.decisions == ()


def test_cascade_leaves_out_what_is_decided_already(tmp_path: Path) -> None:
    """Rule 3: where two roots name one dependent, the second announces only what is still open."""
    first, *_ = chain(new_finding("First"), TWO)
    second, *_ = chain(new_finding("Second"), TWO, THREE)
    world = World(tmp_path, first, second, TWO, THREE)
    report = world.walk("A", "C", "A", "B", "A")
    assert world.stems[4] == (
        "Deferring this root will auto-resolve 1 dependent finding(s): Cache is not flushed. Continue?"
    )
    assert words(report)[TWO.title] == (Verb.SKIPPED, "cascaded from First")
    assert words(report)[THREE.title] == (Verb.DEFERRED, "cascaded from Second")


def test_cascade_with_nothing_left_to_fall_is_not_asked() -> None:
    """A root whose dependents are all decided is an ordinary finding."""
    walk = Walk("plan.md", DATE, [ROOT, TWO, THREE], Writable(True))
    for finding in (ROOT, TWO, THREE):
        walk.decide(Decision(finding, Verb.SKIPPED))
    assert list(cascade(walk, ROOT, Action.SKIP)) == []


def test_link_that_only_the_dependent_names_is_a_link(tmp_path: Path) -> None:
    """W17: a set that was merged elsewhere may annotate either end."""
    root = new_finding("Root", severity=Severity.P1)
    world = World(tmp_path, root, new_finding("Below", depends_on=root.finding_id))
    report = world.walk("A", "C", "A")
    assert world.stems[2] == "Skipping this root will auto-resolve 1 dependent finding(s): Below. Continue?"
    assert words(report)["Below"] == (Verb.SKIPPED, "cascaded from Root")


def test_annotation_names_the_root_by_its_title(tmp_path: Path) -> None:
    """W22: `cascaded from {root_title}`, as the report's own line for the root has it."""
    title = "One two three four five six seven eight nine ten"
    root, below = chain(new_finding(title, plain_title="Readers stop"), new_finding("Below"))
    report = World(tmp_path, root, below).walk("A", "C", "A")
    assert words(report)["Below"] == (Verb.SKIPPED, f"cascaded from {title}")


@proves("W21")
@pytest.mark.parametrize("reply", ["yes", "C", "continue"])
def test_cascade_question_takes_only_its_two_options(tmp_path: Path, reply: str) -> None:
    """W21: "Continue?" is no yes or no; each label says what it does."""
    world = World(tmp_path, ROOT, TWO, THREE)
    world.walk("A", "C", reply, "2", "C", "C")
    assert len(world.echoed) == 1


def test_announcement_of_very_many_dependents_stays_a_line_that_can_be_shown() -> None:
    """A set that was merged elsewhere knows no limit of six: the rest is counted."""
    dependents = [new_finding(f"Number {number} " + "x" * 400) for number in range(500)]
    prompt = cascade_prompt(ROOT, (1, 501), Action.SKIP, dependents)
    assert prompt.title.endswith("; and 488 more. Continue?")
    assert len(prompt.title) < 2_000


def test_root_without_a_fix_that_is_deferred_cascades_and_nothing_is_edited(tmp_path: Path) -> None:
    """W60 by the menu's own B: the same cascade as for any other root."""
    root, below = chain(unfixable("Root"), new_finding("Below", "alpha"))
    world = World(tmp_path, root, below)
    world.walk("A", "B", "A")
    assert world.content.startswith(DOCUMENT)
