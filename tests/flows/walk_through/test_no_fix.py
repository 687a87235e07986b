"""Apply was picked for a finding without a fix: the question that follows, and its three ends."""

from pathlib import Path

import msgspec
import pytest

from assent.flows.document import WriteDocument
from assent.flows.synthesis.parse import parse_findings
from assent.flows.synthesis.synthesis import synthesise
from assent.flows.walk_through.effect import MakeEdits
from assent.protocol.decision import Verb
from assent.protocol.error import EffectError
from assent.protocol.finding import Action
from tests.flows.walk_through.world import (
    DATE,
    DOCUMENT,
    READ_ONLY,
    World,
    chain,
    new_finding,
    unfixable,
    words,
)
from tests.proves import proves

__all__: list[str] = []

STEM = (
    "Apply isn't executable for this finding — the review surfaced the issue without a concrete fix. "
    "How should the agent proceed?"
)
MENU = """\
A. Defer to Open Questions (recommended)
B. Skip — don't apply, don't append
C. Acknowledge without applying — record the decision, no document edit"""
MENU_WITHOUT_APPEND = """\
B. Skip — don't apply, don't append (recommended)
C. Acknowledge without applying — record the decision, no document edit"""
REDIRECTED = "redirected from Apply — no suggested_fix"
ACKNOWLEDGED = "Apply picked but no suggested_fix — no edit dispatched"


@proves("W49", "W53", "W54")
@pytest.mark.parametrize("fix", [None, "", " \n "], ids=["none", "empty", "blank"])
def test_apply_without_a_fix_asks_its_fixed_question_first(tmp_path: Path, fix: str | None) -> None:
    """W49, W53, W54: it is not in the Apply set, and the next finding waits."""
    world = World(tmp_path, unfixable("No owner", suggested_fix=fix), new_finding("Two"))
    world.walk("A", "A", "B", "C")
    assert world.stems[2] == STEM
    assert world.menus[2] == MENU
    assert world.stems[3].startswith("Finding 2 of 2")
    assert not any(isinstance(effect, MakeEdits) for effect in world.effects)


@proves("W55")
def test_finding_without_a_fix_is_never_recommended_for_apply_and_keeps_its_position(tmp_path: Path) -> None:
    """W55: synthesis makes it Defer; while the question is open the finding's place is shown."""
    record = {
        "title": "No owner",
        "severity": "P1",
        "section": "Scope",
        "why_it_matters": "Nobody answers.",
        "finding_type": "omission",
        "autofix_class": "manual",
        "confidence": 75,
        "evidence": ["alpha"],
    }
    output = {"reviewer": "coherence", "findings": [record], "residual_risks": [], "deferred_questions": []}
    synthesis = synthesise(parse_findings(msgspec.json.encode([output])))
    world = World(tmp_path, new_finding("First"), *synthesis.findings, new_finding("Last", "bravo"))
    world.walk("A", "A", "B", "C", "C")
    assert world.stems[1].startswith("Finding 1 of 3 — P1 No owner.")
    marked = [option.key for option in world.asked[1].prompt.fields[0].options if option.recommended]
    assert marked == [Action.DEFER]
    assert world.asked[2].prompt.body == "Finding 1 of 3 — P1 No owner."


@proves("W55")
@pytest.mark.parametrize(
    ("has_append", "marked"), [(True, Action.DEFER), (False, Action.SKIP)], ids=["append", "no append"]
)
def test_merged_finding_without_a_fix_is_not_marked_for_apply_either(
    tmp_path: Path, has_append: bool, marked: Action
) -> None:
    """W55: a set that was merged elsewhere may recommend what cannot be done; the menu does not."""
    world = World(tmp_path, unfixable("No owner", recommended_action=Action.APPLY))
    if not has_append:
        world.lock()
    world.walk("A", "Skip")
    recommended = [option.key for option in world.asked[1].prompt.fields[0].options if option.recommended]
    assert recommended == [marked]
    assert f"Synthesis recommended Apply; downgraded to {marked}" in world.asked[1].prompt.body


@proves("W56")
def test_redirected_deferral_is_appended_and_says_where_it_came_from(tmp_path: Path) -> None:
    """W56: as if Defer had been picked."""
    world = World(tmp_path, unfixable("No owner"))
    report = world.walk("A", "A", "A")
    (decision,) = report.decisions
    assert (decision.verb, decision.note) == (Verb.DEFERRED, REDIRECTED)
    assert DATE in decision.append_location
    assert world.confirmations == ['→ Deferred. Entry appended to "## Deferred / Open Questions".']
    assert "**No owner**" in world.text


@proves("W56")
@pytest.mark.parametrize(
    ("reply", "verb"),
    [("Retry", Verb.DEFERRED), ("Record only", Verb.DEFERRED), ("Convert to Skip", Verb.SKIPPED)],
    ids=["retry", "record", "convert"],
)
def test_redirected_deferral_that_fails_has_the_same_ways_out(tmp_path: Path, reply: str, verb: Verb) -> None:
    """W56: the same failure path, and the annotation stays."""
    world = World(tmp_path, unfixable("No owner"))
    world.trip(WriteDocument, EffectError("The disk is full."))
    report = world.walk("A", "A", "A", reply)
    assert words(report) == {"No owner": (verb, REDIRECTED)}


@proves("W57")
def test_redirected_skip_says_where_it_came_from_and_does_nothing(tmp_path: Path) -> None:
    """W57: recorded, with the annotation."""
    world = World(tmp_path, unfixable("No owner"))
    report = world.walk("A", "A", "B")
    assert words(report) == {"No owner": (Verb.SKIPPED, REDIRECTED)}
    assert world.confirmations == ["→ Skipped."]
    assert world.writes == []


@proves("W58")
def test_acknowledged_finding_is_recorded_as_such_and_nothing_is_done(tmp_path: Path) -> None:
    """W58: its own bucket with its reason, not applied, and the next round is told that it was rejected."""
    world = World(tmp_path, unfixable("No owner"), new_finding("Two"))
    report = world.walk("A", "A", "C", "C")
    decision = report.decisions[0]
    assert (decision.verb, decision.reason) == (Verb.ACKNOWLEDGED, ACKNOWLEDGED)
    assert [entry.title for entry in report.primer.rejected] == ["No owner", "Two"]
    assert report.primer.applied == ()
    assert (world.content, world.writes) == (DOCUMENT, [])


@proves("W59")
def test_without_append_only_skip_and_acknowledge_are_offered(tmp_path: Path) -> None:
    """W59: letters stay, the stem says why, and Skip is recommended."""
    world = World(tmp_path, unfixable("No owner"))
    world.lock()
    report = world.walk("A", "A", "A", "1")
    assert world.echoed == ['I didn\'t recognize "A".']
    assert world.stems[2] == f"{STEM}\nDefer unavailable — {READ_ONLY}."
    assert world.menus[2] == MENU_WITHOUT_APPEND
    assert words(report) == {"No owner": (Verb.SKIPPED, REDIRECTED)}


@proves("W60")
@pytest.mark.parametrize(("reply", "doing"), [("A", "Deferring"), ("B", "Skipping")], ids=["defer", "skip"])
def test_redirected_root_cascades_with_what_was_chosen_instead(
    tmp_path: Path, reply: str, doing: str
) -> None:
    """W60: the choice of the question is the root's effective action."""
    root, below = chain(unfixable("Root"), new_finding("Below"))
    world = World(tmp_path, root, below)
    report = world.walk("A", "A", reply, "A")
    assert world.stems[3] == f"{doing} this root will auto-resolve 1 dependent finding(s): Below. Continue?"
    verb = Verb.DEFERRED if reply == "A" else Verb.SKIPPED
    assert words(report) == {"Root": (verb, REDIRECTED), "Below": (verb, "cascaded from Root")}


@proves("W60")
def test_acknowledged_root_does_not_cascade(tmp_path: Path) -> None:
    """W60: each dependent is asked about."""
    root, below = chain(unfixable("Root"), new_finding("Below"))
    world = World(tmp_path, root, below)
    report = world.walk("A", "A", "C", "C")
    assert world.stems[3].startswith("Finding 2 of 2 — P2 Below.")
    assert words(report) == {"Root": (Verb.ACKNOWLEDGED, ""), "Below": (Verb.SKIPPED, "")}
