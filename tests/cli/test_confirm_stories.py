"""Stories of confirms on the command line: a phase and a task, before and after, a second run, and every status."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.shell import Result, Shell
from tests.proves import proves

__all__: list[str] = []

Call = Callable[..., Result]
PLAN = """\
<plan>
  <metadata><track_id>move</track_id><track_name>Move</track_name><goal>One table</goal>
    <created_at>2026-01-02T03:04:05Z</created_at><updated_at>2026-01-02T03:04:05Z</updated_at>
    <status>in_progress</status><commit_mode>manual</commit_mode></metadata>
  <phases>
    <phase id="P1" name="Backfill">
      PHASE
      <tasks><task id="T1.1" name="Rename" status="TODO" priority="P0">TASK</task></tasks>
    </phase>
  </phases>
</plan>
"""


def confirm(when: str, status: str = "TODO") -> str:
    """Return the element."""
    return f'<confirm protocol="yield-human-confirm" when="{when}" status="{status}"/>'


def write(shell: Shell, phase: str, task: str = "") -> Path:
    """Write the plan with these confirms."""
    path = shell.folder / "plan.xml"
    path.write_text(PLAN.replace("PHASE", phase).replace("TASK", task))
    (shell.folder / ".git").mkdir(exist_ok=True)
    return path


def run(call: Call, owner: str, moment: str, summary: str) -> Result:
    """Run the confirms of an owner at a moment, and do not wait."""
    return call(
        "confirm", "plan.xml", "--owner", owner, "--moment", moment, "--summary", summary, "--no-wait"
    )


@proves("C23", "C24", "C26", "C27", "C28", "C29", "C30", "C35")
def test_phase_and_task_are_held_each_at_its_own_moments(call: Call, shell: Shell) -> None:
    """Work is told before it begins and after it is done, a yes each; the task's confirm is not the phase's."""
    plan = write(shell, confirm("both"), confirm("after"))
    steps = [
        ("P1", "before", "Move all rows", "phase P1: Backfill"),
        ("T1.1", "after", "Renamed users", "task T1.1: Rename"),
        ("P1", "after", "Moved 12 rows", "phase P1: Backfill"),
    ]
    assert run(call, "T1.1", "before", "Rename users").out == "nothing to confirm\n"
    for owner, moment, summary, name in steps:
        assert run(call, owner, moment, summary).status == 3
        ask = shell.only_open()
        assert ask.prompt.title == (
            f"Confirm (human) {name}. When={moment}. Summary: {summary}. Continue? (Y/N)"
        )
        assert plan.read_text().count('status="IN_PROGRESS"') == 1
        assert run(call, owner, moment, summary).status == 3, "the second run finds the same question"
        assert shell.only_open().ask_id == ask.ask_id
        assert call("answer", ask.ask_id, "y").status == 0
        ended = run(call, owner, moment, summary)
        assert (ended.status, ended.out) == (0, "confirmed\n")
    assert plan.read_text().count('status="DONE"') == 2


@proves("C24", "C25")
@pytest.mark.parametrize("status", ["TODO", "IN_PROGRESS", "BLOCKED", "DONE", "CANCELLED"])
def test_no_status_of_the_file_passes_without_a_persons_yes(call: Call, shell: Shell, status: str) -> None:
    """All five are legal, and each is asked about."""
    write(shell, confirm("before", status))
    assert call("plan", "check", "plan.xml").status == 0
    assert run(call, "P1", "before", "Move").status == 3
    assert shell.only_open().is_open


@proves("C24", "C25")
@pytest.mark.parametrize(
    "wrong",
    [
        '<confirm protocol="yield-human-confirm" when="before"/>',
        '<confirm protocol="yield-human-confirm" status="TODO"/>',
        confirm("before", "todo"),
        confirm("during"),
    ],
)
def test_confirm_without_a_legal_moment_or_status_is_refused(call: Call, shell: Shell, wrong: str) -> None:
    """By the check and by the command; nothing is asked, and the file stays as it was."""
    plan = write(shell, wrong)
    before = plan.read_text()
    assert call("plan", "check", "plan.xml").status != 0
    assert run(call, "P1", "before", "Move").status == 2
    assert (shell.waiting(), plan.read_text()) == ([], before)
