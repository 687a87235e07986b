"""`assent confirm`: on a terminal, from elsewhere, tomorrow, and what its exit status says."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.shell import Result, Shell, Terminal
from tests.proves import proves

__all__: list[str] = []

PLAN = """<?xml version="1.0" encoding="utf-8"?>
<plan>
  <!-- by hand -->
  <phases>
    <phase id="P1" name="Backfill">
      <tasks>
        <task id='T1.1' name="Rename &amp; move" status="TODO" priority="P0">
          <confirm protocol="yield-human-confirm" when="before"   status = 'TODO' />
        </task>
        <task id="T1.2" name="Free" status="TODO" priority="P1"/>
        <task id="T1.3" name="Reviewed" status="TODO" priority="P1">
          <confirm protocol="yield-ai-confirm" when="before" ai-agent="critic" status="TODO"/>
        </task>
      </tasks>
    </phase>
  </phases>
</plan>
"""
BEFORE = ("plan.xml", "--owner", "T1.1", "--moment", "before", "--summary", "Rename the table users")
MESSAGE = (
    "Confirm (human) task T1.1: Rename & move. When=before. Summary: Rename the table users. Continue? (Y/N)"
)
CRITIC = ("plan.xml", "--owner", "T1.3", "--moment", "before", "--summary", "x")


@pytest.fixture
def plan(shell: Shell) -> Path:
    """Give a plan in the shell's folder."""
    path = shell.folder / "plan.xml"
    path.write_text(PLAN)
    (shell.folder / ".git").mkdir()
    return path


def with_status(status: str) -> str:
    """Return the plan with that confirm's status, and not a byte else changed."""
    return PLAN.replace("status = 'TODO'", f"status = '{status}'")


@proves("C26", "C29", "C30", "C32", "C35")
def test_person_at_the_terminal_is_asked_and_the_work_goes_on(shell: Shell, plan: Path) -> None:
    """The status is in the file before the question is on the screen."""
    with Terminal(shell, "confirm", *BEFORE, columns=120) as terminal:
        terminal.until("> ")
        assert plan.read_text() == with_status("IN_PROGRESS")
        assert shell.only_open().prompt.title == MESSAGE
        terminal.type("Yes\n")
        ended = terminal.end()
    assert (ended.status, ended.out) == (0, "confirmed\n")
    assert plan.read_text() == with_status("DONE")
    assert shell.run("confirm", *BEFORE).status == 0, "what is DONE is not asked again"


@proves("C31", "C33")
def test_changes_block_and_are_printed_and_the_next_one_is_a_new_question(shell: Shell, plan: Path) -> None:
    """From elsewhere, while nobody runs: the answer is found when somebody asks again."""
    asked = shell.run("confirm", *BEFORE, "--no-wait")
    assert asked.status == 3
    shell.answer(asked.out.strip(), "rename it to members first")
    came = shell.run("confirm", *BEFORE)
    assert (came.status, came.out) == (7, "rename it to members first\n")
    assert plan.read_text() == with_status("BLOCKED")
    again = shell.run("confirm", *BEFORE, "--no-wait")
    assert again.out != asked.out
    shell.answer(again.out.strip(), "y")
    assert shell.run("confirm", *BEFORE, "--json").json["how"] == "confirmed"
    assert plan.read_text() == with_status("DONE")


@proves("C34")
@pytest.mark.parametrize("reply", ["n", "No", "stop", "ABORT"])
def test_no_and_stop_halt(shell: Shell, plan: Path, call: Callable[..., Result], reply: str) -> None:
    """C-X1: nothing is applied, and the status says BLOCKED."""
    asked = call("confirm", *BEFORE, "--no-wait")
    shell.answer(asked.out.strip(), reply)
    assert call("confirm", *BEFORE, "--wait", "0").status == 4
    assert plan.read_text() == with_status("BLOCKED")


def test_declining_to_be_asked_and_taking_back_are_told_apart(
    shell: Shell, plan: Path, call: Callable[..., Result]
) -> None:
    """4 is a person's no; 5 is nobody's."""
    asked = call("confirm", *BEFORE, "--no-wait")
    assert shell.run("answer", asked.out.strip(), "--decline").status == 0
    assert call("confirm", *BEFORE, "--wait", "0").status == 4
    asked = call("confirm", *BEFORE, "--no-wait")
    assert shell.run("withdraw", asked.out.strip()).status == 0
    assert call("confirm", *BEFORE, "--wait", "0").status == 5
    assert plan.read_text() == with_status("BLOCKED")


def test_ctrl_c_and_a_lapsed_wait_decide_nothing(shell: Shell, plan: Path) -> None:
    """3, and the same question the next time."""
    with Terminal(shell, "confirm", *BEFORE) as terminal:
        terminal.until("> ")
        terminal.type("\x03")
        assert terminal.end().status == 3
    ask = shell.only_open()
    assert shell.run("confirm", *BEFORE, "--wait", "0").status == 3
    assert shell.only_open().ask_id == ask.ask_id
    assert plan.read_text() == with_status("IN_PROGRESS")


def test_owner_without_confirms_is_not_held(shell: Shell, plan: Path, call: Callable[..., Result]) -> None:
    """C-U4: do not ask, do not wait."""
    free = call("confirm", "plan.xml", "--owner", "T1.2", "--moment", "after", "--summary", "x")
    assert (free.status, free.out) == (0, "confirmed\n")
    assert plan.read_text() == PLAN
    assert shell.waiting() == []


def test_confirm_that_cannot_be_run_is_one_sentence_and_changes_nothing(
    plan: Path, call: Callable[..., Result]
) -> None:
    """Bad paths, bad ids, bad XML."""
    for arguments, status, sentence in [
        (("nope.xml", "--owner", "T1.1"), 1, "There is no plan nope.xml."),
        (("plan.xml", "--owner", "T9"), 1, 'The plan has no phase or task "T9".'),
        (
            ("plan.xml", "--owner", "T1.1", "--track-dir", "here"),
            2,
            "track_dir is an absolute path, not here.",
        ),
    ]:
        refused = call("confirm", *arguments, "--moment", "before", "--summary", "x")
        assert (refused.status, refused.err) == (status, f"{sentence}\n")
    plan.write_text("<!DOCTYPE plan><plan/>")
    refused = call("confirm", *BEFORE)
    assert refused.status == 1
    assert "no document type" in refused.err
    assert plan.read_text() == "<!DOCTYPE plan><plan/>"


REVIEWER = """#!/bin/sh
cat > asked.json
printf '%s' "$REPORT"
"""


@pytest.fixture
def critic(shell: Shell, plan: Path) -> None:
    """Give a reviewer that says what REPORT says."""
    assert plan.exists()
    script = shell.folder / "critic.sh"
    script.write_text(REVIEWER)
    script.chmod(0o755)
    (shell.folder / ".assent").mkdir(mode=0o700, exist_ok=True)
    (shell.folder / ".assent" / "reviewers.toml").write_text('[reviewer.critic]\ncommand = ["./critic.sh"]\n')
    with Terminal(shell, "confirm", *CRITIC, REPORT="") as terminal:
        terminal.until("May the commands that .assent/reviewers.toml names be run?")
        terminal.until("> ")
        terminal.type("Accept\n")
        terminal.until("gave no report")
        terminal.until("> ", 2)
        terminal.type("n\n")
        assert terminal.end().status == 4


@proves("C40", "C42", "C43", "C44", "C46")
@pytest.mark.usefixtures("critic")
def test_reviewer_lets_go_on_or_blocks(shell: Shell, plan: Path) -> None:
    """Accepted once, its command runs; what it finds decides, and never for a person."""
    report = '{"blocking": ["No index."], "non_blocking": [], "summary": "Not yet."}'
    blocked = shell.run("confirm", *CRITIC, REPORT=report)
    assert blocked.status == 7
    assert blocked.out.startswith("1. Blocking issues:\n   - No index.\n")
    assert 'ai-agent="critic" status="BLOCKED"' in plan.read_text()
    fine = '{"blocking": [], "non_blocking": ["A name."], "summary": "Good."}'
    passed = shell.run("confirm", *CRITIC, REPORT=fine)
    assert passed.status == 0
    assert "Issues-first report: none / A name. Proceeding unless blocking issues." in passed.err
    assert "Risks to note:" in passed.err
    assert plan.read_text() == PLAN.replace('"critic" status="TODO"', '"critic" status="DONE"')
    assert (shell.folder / "asked.json").exists()
