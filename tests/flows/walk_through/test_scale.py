"""Five hundred findings cost five hundred times one of them: counted in steps and calls, not in seconds."""

import sys
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from assent.flows.document import ReadDocument, WriteDocument
from assent.flows.walk_through import loop
from assent.flows.walk_through.effect import CheckAppend, MakeEdits
from assent.flows.walk_through.menu import finding_prompt
from assent.protocol.finding import Finding
from assent.protocol.prompt import Prompt
from tests.flows.walk_through.world import World, new_finding

__all__: list[str] = []


def world_of(root: Path, total: int) -> World:
    """Return a world with so many findings; their names are of one length, so that each costs the same."""
    return World(root, *(new_finding(f"Number {number:03}") for number in range(total)))


def test_long_walk_builds_one_question_per_finding_and_looks_at_the_document_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was decided before costs nothing any more."""
    built: list[str] = []

    def count(finding: Finding, *more: Any) -> Prompt:
        built.append(finding.finding_id)
        return finding_prompt(finding, *more)

    monkeypatch.setattr(loop, "finding_prompt", count)
    world = world_of(tmp_path, 500)
    report = world.walk("A", *["C"] * 500)
    assert (len(report.decisions), len(built), len(world.asked)) == (500, 500, 501)
    assert [type(effect) for effect in world.effects] == [ReadDocument, CheckAppend]


def test_long_bulk_takes_one_question_one_entry_each_and_one_edit(tmp_path: Path) -> None:
    """Fixes are computed together; only entries are read and written one by one."""
    world = world_of(tmp_path, 500)
    world.walk("B", "Proceed")
    assert [type(effect) for effect in world.effects] == [ReadDocument, CheckAppend, MakeEdits]
    again = world_of(tmp_path, 100)
    again.walk("C", "Proceed")
    assert [type(effect) for effect in again.effects[2:]] == [ReadDocument, WriteDocument] * 100
    assert len(again.asked) == 2


@pytest.mark.parametrize("rest", ["C", "A"], ids=["skip", "apply"])
def test_each_further_finding_costs_as_much_as_the_one_before(tmp_path: Path, rest: str) -> None:
    """The calls that Python makes grow with the number of findings, and not with its square."""
    few, more, most = (count_calls(world_of(tmp_path, total), rest) for total in (100, 200, 300))
    first, second = more - few, most - more
    assert second < 1.05 * first


def count_calls(world: World, reply: str) -> int:
    """Return how many calls it takes to give each finding the same answer."""
    calls = 0

    def note(frame: FrameType, event: str, argument: object) -> None:  # noqa: ARG001 - the profiler's signature
        nonlocal calls
        calls += event in ("call", "c_call")

    script = ["A", *[reply] * len(world.inputs.intake.merged or ())]
    before = sys.getprofile()
    sys.setprofile(note)
    try:
        world.walk(*script)
    finally:
        sys.setprofile(before)
    return calls
