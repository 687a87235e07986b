"""The agent `migrator`: works by a plan that says where it has to wait until a person says go on."""

from __future__ import annotations

from itertools import count
from pathlib import Path

import assent
from assent.cli.demo_world.stage import Stage

__all__ = ["play"]

_PLAN = """\
<plan>
  <metadata>
    <track_id>ledger-{number}</track_id>
    <track_name>Move the ledger to whole cents</track_name>
    <goal>No amount is a float any more</goal>
    <created_at>2026-11-02T09:00:00Z</created_at>
    <updated_at>2026-11-02T09:00:00Z</updated_at>
    <status>in_progress</status>
    <commit_mode>manual</commit_mode>
  </metadata>
  <phases>
    <phase id="P1" name="Amounts">
      <tasks>
        <task id="T1.1" name="Copy the amounts as whole cents" status="TODO" priority="P0">
          <confirm protocol="yield-human-confirm" when="before" status="TODO"/>
        </task>
        <task id="T1.2" name="Read the new column everywhere" status="TODO" priority="P0">
          <confirm protocol="yield-human-confirm" when="both" status="TODO"/>
        </task>
      </tasks>
    </phase>
  </phases>
</plan>
"""
_MOST_SAID = 200
_STEPS = (
    ("T1.1", "before", "Copy 2.1 million amounts into a new column; reads are not held up"),
    ("T1.2", "before", "Switch 14 queries over; the old column stays as it is"),
    ("T1.2", "after", "All 14 queries read the new column; 0 of 2.1 million amounts differ"),
)


def play(stage: Stage) -> None:
    """Go through one plan after the other."""
    for number in count(1):
        plan = stage.folder / f"ledger-{number}" / "plan.xml"
        plan.parent.mkdir(exist_ok=True)
        plan.write_text(_PLAN.format(number=number))
        for owner, moment, summary in _STEPS:
            if not _may_go_on(stage, plan, owner, moment, summary):
                break
            stage.rest(8)
        stage.pause()


def _may_go_on(stage: Stage, plan: Path, owner: str, moment: str, summary: str) -> bool:
    """Ask, and ask again where a person wanted something changed first."""

    def apply(verdict: assent.Verdict) -> str:
        stage.rest(4)
        said = " ".join(verdict.text.split())[:_MOST_SAID]  # a summary is one line
        return f"{summary}. Changed as you said: {said}"

    verdict = assent.confirm_plan(stage.client, plan, owner, moment, summary, apply=apply)
    return verdict.confirmed > 0
