"""Hostile findings, appliers and records against what a review tells: it never says more than what is so."""

import time
from pathlib import Path

import pytest
from msgspec.structs import replace

from assent.flows.document import WriteDocument
from assent.flows.synthesis.parse import parse_findings
from assent.flows.synthesis.route import Route, route_of
from assent.flows.synthesis.synthesis import synthesise
from assent.flows.walk_through.block import render_block
from assent.flows.walk_through.prose import next_closing
from assent.flows.walk_through.report import render_report
from assent.protocol.canonical import Json
from assent.protocol.finding import Action, Intake
from tests.flows.walk_through.world import DATE, DOCUMENT, SECTION, World, new_finding, safe_finding
from tests.proves import proves

__all__: list[str] = []

_READ = b'{"reviewer": "coherence", "findings": [], "residual_risks": [], "deferred_questions": []}'
_NO_RECORD = _READ.replace(b'"findings": []', b'"findings": [{"title": "It has nothing else"}]')


# What was left out


@proves("W75")
@pytest.mark.parametrize(
    "handed_in", [b"[%b, 5]" % _READ, b"[%b]" % _NO_RECORD], ids=["a reviewer failed", "a record is none"]
)
def test_review_that_could_not_read_everything_does_not_call_all_of_it_resolved(
    tmp_path: Path, handed_in: bytes
) -> None:
    """What a failed reviewer found is not known, so it is not resolved."""
    world = World(tmp_path)
    world.inputs = replace(world.inputs, intake=parse_findings(handed_in))
    said = render_report(world.walk())
    assert "resolved" not in said
    assert said.startswith(
        "Nothing is left to decide — 0 fixes applied. Some of what was handed in was left out."
    )
    assert said.endswith("\n\nVerdict: Ready.")


@proves("W75")
def test_review_that_read_everything_keeps_the_fixed_words(tmp_path: Path) -> None:
    """The other side of it."""
    world = World(tmp_path)
    world.inputs = replace(world.inputs, intake=parse_findings(b"[%b]" % _READ))
    assert render_report(world.walk()) == "All findings resolved — 0 fixes applied.\n\nVerdict: Ready."


def test_chains_are_counted_by_both_ends_and_each_finding_once() -> None:
    """A set that was merged elsewhere may name a link at one end only, or the same dependent twice."""
    one, two, three = (new_finding(title) for title in ("One", "Two", "Three"))
    told = replace(one, dependents=(three.finding_id,))
    again = replace(two, dependents=(three.finding_id,))
    both = synthesise(Intake(merged=(told, again, three))).coverage
    assert (both.roots, both.dependents) == (2, 1)
    from_below = synthesise(Intake(merged=(one, replace(three, depends_on=one.finding_id)))).coverage
    assert (from_below.roots, from_below.dependents) == (1, 1)


# Fixes


def test_safe_fix_that_a_reviewer_spoke_against_is_never_applied_unseen(tmp_path: Path) -> None:
    """A set that was merged elsewhere may say Apply all the same; who opposed it stands in its conflict line."""
    opposed = safe_finding("Safe", "alpha", conflict_context="Coherence recommends Apply; others Skip.")
    assert opposed.recommended_action is Action.APPLY
    assert route_of(opposed) is Route.WALK
    assert route_of(replace(opposed, conflict_context=" \u200b")) is Route.SILENT
    world = World(tmp_path, opposed)
    report = world.walk("D")
    assert (report.fixes, report.undecided, world.content) == ((), (opposed,), DOCUMENT)


@pytest.mark.parametrize("way", ["all of it", "the entry", "a word of the entry"])
def test_applier_that_takes_deferrals_out_fails_and_they_stay(tmp_path: Path, way: str) -> None:
    """The report says that an entry stands in the document, so it does."""

    def apply(_: dict[str, Json], document: str) -> str:
        entry = document.partition(SECTION)[2].partition("- **")[2]
        changed = {
            "all of it": "# Rewritten\n",
            "the entry": document.replace(entry, "\n"),
            "a word of the entry": document.replace("stops its readers", "is fine"),
        }
        return changed[way].replace("alpha", "ALPHA")

    world = World(tmp_path, new_finding("One"), new_finding("Two"), apply=apply)
    report = world.walk("A", "B", "A")
    reasons = [failure.reason for failure in report.failures]
    assert reasons == ["The applier would change what was deferred in the document."]
    assert [decision.finding.title for decision in report.decisions] == ["One"]
    assert f"### From {DATE} review\n\n- **One** — Scope" in world.text
    assert world.text.startswith(DOCUMENT.decode())


def test_applier_that_leaves_deferrals_alone_may_change_everything_else(tmp_path: Path) -> None:
    """Also what stands around them."""

    def apply(_: dict[str, Json], document: str) -> str:
        return document.replace("alpha", "ALPHA") + "\n## New\n\nText.\n"

    world = World(tmp_path, new_finding("One"), new_finding("Two"), apply=apply)
    report = world.walk("A", "B", "A")
    assert (report.failures, "ALPHA" in world.text, "- **One**" in world.text) == ((), True, True)


def test_fix_that_was_there_before_is_not_told_as_applied_before_the_first_question(tmp_path: Path) -> None:
    """What is said first and the report count the same."""
    safe = safe_finding("Spelling", "delta", evidence=("charlie delta echo",))
    world = World(tmp_path, safe, new_finding(), document=DOCUMENT.replace(b"delta", b"DELTA"))
    report = world.walk("D")
    assert report.fixes == ()
    assert world.said[0].startswith("0 fixes applied, ")
    assert "### Applied fixes" not in world.said[0]
    assert not any(isinstance(effect, WriteDocument) for effect in world.effects)


# Time


@pytest.mark.parametrize(
    "line",
    ["~" * 49_999 + "`", "`" * 49_999 + "x`", " " * 49_999 + "`"],
    ids=["tildes", "backticks", "spaces"],
)
def test_line_made_to_slow_the_search_for_code_is_read_in_no_time(line: str) -> None:
    """An agent's line must not take the square of its length."""
    begun = time.monotonic()
    next_closing(line, "")
    block = render_block(new_finding(why_it_matters=line[:19_999], suggested_fix=line), None, Action.APPLY)
    assert time.monotonic() - begun < 2
    assert "**Proposed fix**" in block


def test_code_between_tildes_may_be_named_with_backticks() -> None:
    """CommonMark allows them there; missed, the block would stay open."""
    assert (next_closing("~~~ a`b", ""), next_closing("``` a`b", "")) == ("~~~", "")
