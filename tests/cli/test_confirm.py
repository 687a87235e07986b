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
  <metadata><track_id>move</track_id><track_name>Move</track_name><goal>One table</goal>
    <created_at>2026-01-02T03:04:05Z</created_at><updated_at>2026-01-02T03:04:05Z</updated_at>
    <status>in_progress</status><commit_mode>manual</commit_mode></metadata>
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
    assert (free.status, free.out) == (0, "nothing to confirm\n")
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
    assert refused.status == 2
    assert "no document type" in refused.err
    assert plan.read_text() == "<!DOCTYPE plan><plan/>"


REVIEWER = """#!/bin/sh
cat > asked.json
printf '%s' "$REPORT"
"""


def write_critic(shell: Shell) -> None:
    """Put a reviewer into the project."""
    script = shell.folder / "critic.sh"
    script.write_text(REVIEWER)
    script.chmod(0o755)
    (shell.folder / ".assent").mkdir(mode=0o700, exist_ok=True)
    (shell.folder / ".assent" / "reviewers.toml").write_text('[reviewer.critic]\ncommand = ["./critic.sh"]\n')


@pytest.fixture
def critic(shell: Shell, plan: Path) -> None:
    """Give a reviewer that says what REPORT says, and that a person accepted."""
    assert plan.exists()
    write_critic(shell)
    with Terminal(shell, "confirm", *CRITIC, REPORT="") as terminal:
        terminal.until("May the commands that .assent/reviewers.toml names be run?")
        terminal.until("> ")
        assert len(shell.waiting()) == 1, "what waits for the acceptance is not asked beside it"
        terminal.type("Accept\n")
        terminal.until("gave no report")
        terminal.until("> ", 2)
        terminal.type("n\n")
        assert terminal.end().status == 4


BLOCKING = '{"blocking": ["No index."], "non_blocking": [], "summary": "Not yet."}'
FINE = '{"blocking": [], "non_blocking": ["A name."], "summary": "Good."}'


def has_run(shell: Shell) -> bool:
    """Whether the reviewer was run since the last look."""
    asked = shell.folder / "asked.json"
    if not asked.exists():
        return False
    asked.unlink()
    return True


@proves("C40", "C42", "C44", "C46")
@pytest.mark.usefixtures("critic")
def test_reviewer_without_blocking_issues_lets_go_on(shell: Shell, plan: Path) -> None:
    """The risks are noted; what is DONE by its report is not looked at again."""
    assert has_run(shell)
    passed = shell.run("confirm", *CRITIC, REPORT=FINE)
    assert passed.status == 0
    assert "Issues-first report: none / A name. Proceeding unless blocking issues." in passed.err
    assert "Risks to note:" in passed.err
    assert plan.read_text() == PLAN.replace('"critic" status="TODO"', '"critic" status="DONE"')
    assert has_run(shell)
    assert shell.run("confirm", *CRITIC, REPORT=BLOCKING).out == "confirmed\n"
    assert not has_run(shell)


@proves("C43")
@pytest.mark.usefixtures("critic")
def test_blocking_issues_are_asked_about_and_no_reviewer_runs_before_the_answer(
    shell: Shell, plan: Path
) -> None:
    """7 at once, and again; a stop is told, and then a person is asked anew."""
    assert has_run(shell)
    for expected in (True, False, False):
        blocked = shell.run("confirm", *CRITIC, REPORT=BLOCKING)
        assert blocked.status == 7
        assert blocked.out.startswith("1. Blocking issues:\n   - No index.\n")
        assert has_run(shell) is expected
    ask = shell.only_open()
    assert ask.prompt.title == "critic found blocking issues in task T1.3: Reviewed. When=before. What now?"
    assert [option.label for option in ask.prompt.fields[0].options] == ["Apply changes and re-run", "Stop"]
    assert ask.prompt.fields[0].free
    assert 'ai-agent="critic" status="BLOCKED"' in plan.read_text()
    shell.answer(ask.ask_id, "Stop")
    assert shell.run("confirm", *CRITIC, REPORT=FINE).status == 4
    told = shell.run("confirm", *CRITIC, "--json", REPORT=FINE)
    assert (told.status, told.json["how"], told.json["ask_id"]) == (7, "blocked", shell.only_open().ask_id)
    shell.answer(shell.only_open().ask_id, "add an index first")
    words = shell.run("confirm", *CRITIC, REPORT=FINE)
    assert (words.status, words.out) == (7, "add an index first\n")
    assert not has_run(shell)
    assert shell.run("confirm", *CRITIC, REPORT=FINE).status == 0
    assert has_run(shell)


@proves("C42", "C43")
@pytest.mark.usefixtures("critic")
def test_rerun_lets_the_reviewer_look_again_and_a_drop_gives_it_up(shell: Shell, plan: Path) -> None:
    """Whoever takes the question back has answered nothing; only a person lets go on."""
    assert has_run(shell)
    assert shell.run("confirm", *CRITIC, REPORT=BLOCKING).status == 7
    assert shell.run("withdraw", shell.only_open().ask_id).status == 0
    assert has_run(shell)
    assert shell.run("confirm", *CRITIC, REPORT=FINE).status == 5
    assert shell.run("confirm", *CRITIC, REPORT=FINE).status == 7
    assert not has_run(shell)
    shell.answer(shell.only_open().ask_id, "Apply changes and re-run")
    assert shell.run("confirm", *CRITIC, REPORT=BLOCKING).status == 7
    assert has_run(shell)
    shell.answer(shell.only_open().ask_id, "drop this confirm")
    dropped = shell.run("confirm", *CRITIC, REPORT=BLOCKING)
    assert (dropped.status, dropped.out) == (0, "dropped\n")
    assert not has_run(shell)
    assert 'ai-agent="critic" status="CANCELLED"' in plan.read_text()


def test_accepting_the_reviewers_is_one_ask_and_lets_the_command_go_on(shell: Shell, plan: Path) -> None:
    """Nobody is asked to confirm beside it; the same command goes on when it is accepted, also one that waits."""
    write_critic(shell)
    first = shell.run("confirm", *CRITIC, "--no-wait", REPORT=FINE)
    assert first.status == 3
    ask = shell.only_open()
    assert (ask.kind, first.out) == ("approval", f"{ask.ask_id}\n")
    assert plan.read_text() == PLAN
    waiting = shell.start("confirm", *CRITIC, REPORT=FINE)
    with Terminal(shell, "answer", ask.ask_id, "Accept") as terminal:
        assert terminal.end().status == 0
    assert shell.finish(waiting).status == 0
    assert shell.waiting() == []


def test_reviewers_that_are_not_accepted_do_not_run_and_a_person_is_asked(shell: Shell, plan: Path) -> None:
    """C45: there is no report, and only then there is a second question."""
    write_critic(shell)
    asked = shell.run("confirm", *CRITIC, "--no-wait", REPORT=FINE)
    with Terminal(shell, "answer", asked.out.strip(), "Refuse") as terminal:
        assert terminal.end().status == 0
    assert shell.run("confirm", *CRITIC, "--no-wait", REPORT=FINE).status == 3
    assert "was not accepted, so it was not run" in shell.only_open().prompt.body
    assert not has_run(shell)
    assert 'ai-agent="critic" status="BLOCKED"' in plan.read_text()


# What passes, and what only looks like it


@pytest.mark.parametrize(
    ("status", "claim"),
    [
        ("DONE", "The file says DONE, and nobody confirmed it."),
        ("CANCELLED", "The file says CANCELLED, and nobody dropped it."),
    ],
)
def test_status_that_nobody_said_is_asked_and_card_and_command_say_so(
    shell: Shell, plan: Path, call: Callable[..., Result], status: str, claim: str
) -> None:
    """An agent that writes DONE into the plan has confirmed nothing."""
    plan.write_text(with_status(status))
    asked = call("confirm", *BEFORE, "--no-wait")
    assert asked.status == 3
    assert claim in asked.err
    assert shell.only_open().prompt.body == claim
    assert plan.read_text() == with_status("IN_PROGRESS")
    plan.write_text(with_status(status))
    again = call("confirm", *BEFORE, "--no-wait")
    assert (again.status, again.out) == (3, asked.out), "the open ask stays"
    assert claim in again.err
    shell.answer(asked.out.strip(), "y")
    assert call("confirm", *BEFORE).out == "confirmed\n"
    assert plan.read_text() == with_status("DONE")


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        (
            "    <phase id",
            '    <confirm protocol="yield-human-confirm" when="before" status="TODO"/>\n<phase id',
            "stands",
        ),
        (
            '<confirm protocol="yield-human-confirm" when="before"   status = \'TODO\' />',
            "<Confirm/>",
            "<Confirm>",
        ),
        (
            '<confirm protocol="yield-human',
            '<confrim protocol="yield-human',
            "<confrim> is no <confirm>: nobody would be asked.",
        ),
        ('<confirm protocol="yield-human', '<x:confirm protocol="yield-human', "is no <confirm>"),
        (
            '<confirm protocol="yield-human-confirm" when="before"   status = \'TODO\' />',
            '<subtasks><subtask id="T1.1.1" name="x" status="TODO"><confirm/></subtask></subtasks>',
            "a confirm stands directly in a phase or a task.",
        ),
        ('when="before"   status', 'When="before"   status', "this confirm has no when."),
    ],
)
def test_what_plan_check_refuses_is_refused(
    shell: Shell, plan: Path, call: Callable[..., Result], old: str, new: str, says: str
) -> None:
    """A confirm in the wrong place or the wrong spelling would ask nobody; so nothing goes on."""
    text = PLAN.replace(old, new)
    assert text != PLAN
    plan.write_text(text)
    assert call("plan", "check", "plan.xml").status == 1
    refused = call("confirm", *BEFORE)
    assert refused.status == 2
    assert says in refused.err
    assert plan.read_text() == text
    assert shell.waiting() == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('<confirm protocol="yield-human-confirm" when="before"   status = \'TODO\' />', ""),
        ('when="before"   status', 'when="after"   status'),
        ('<confirm protocol="yield-human-confirm"', '<confirm ai-agent="kind" protocol="yield-ai-confirm"'),
        ("id='T1.1'", "id='T1.9'"),
    ],
)
@pytest.mark.parametrize("is_answered", [True, False])
def test_confirm_that_is_gone_from_the_plan_is_missing(
    shell: Shell, plan: Path, call: Callable[..., Result], old: str, new: str, is_answered: bool
) -> None:
    """Removed, moved to the other moment, given to a machine, or its task renamed: nothing goes on."""
    asked = call("confirm", *BEFORE, "--no-wait")
    if is_answered:
        shell.answer(asked.out.strip(), "n")
    gone = PLAN.replace(old, new)
    assert gone != PLAN
    plan.write_text(gone)
    missing = call("confirm", *BEFORE, "--wait", "0")
    assert missing.status == 7
    assert missing.out == (
        "The confirm before T1.1 by a person is missing: it was in the plan and is gone. "
        'Put it back; a person can drop it then, with "drop this confirm".\n'
    )
    assert call("confirm", *BEFORE, "--wait", "0", "--json").json["how"] == "missing"
    assert plan.read_text() == gone


def test_confirm_of_another_owner_is_seen_too_and_one_that_a_person_dropped_may_go(
    shell: Shell, plan: Path, call: Callable[..., Result]
) -> None:
    """Any confirm that ran on the plan has seen all of it."""
    call("confirm", "plan.xml", "--owner", "T1.2", "--moment", "before", "--summary", "x")
    confirm = '<confirm protocol="yield-human-confirm" when="before"   status = \'TODO\' />'
    plan.write_text(PLAN.replace(confirm, ""))
    assert call("confirm", *BEFORE).status == 7
    plan.write_text(PLAN)
    asked = call("confirm", *BEFORE, "--no-wait")
    shell.answer(asked.out.strip(), "drop this confirm")
    dropped = call("confirm", *BEFORE)
    assert (dropped.status, dropped.out) == (0, "dropped\n")
    assert plan.read_text() == with_status("CANCELLED")
    assert call("confirm", *BEFORE, "--json").json["how"] == "dropped"
    plan.write_text(PLAN.replace(confirm, ""))
    assert call("confirm", *BEFORE).out == "nothing to confirm\n"


def test_new_summary_after_done_is_not_asked_and_the_confirmed_one_is_named(
    shell: Shell, plan: Path, call: Callable[..., Result]
) -> None:
    """Whoever reads the output sees what the person said yes to."""
    shell.answer(call("confirm", *BEFORE, "--no-wait").out.strip(), "y")
    assert call("confirm", *BEFORE).out == "confirmed\n"
    other = (*BEFORE[:-1], "Drop all tables")
    assert call("confirm", *other) == Result(0, "confirmed\nWhat was confirmed: Rename the table users\n", "")
    assert call("confirm", *other, "--json").json["summary"] == "Rename the table users"
    assert shell.waiting() == []
    assert plan.read_text() == with_status("DONE")


def test_while_it_is_open_a_yes_is_for_its_summary_alone(
    shell: Shell, plan: Path, call: Callable[..., Result]
) -> None:
    """The first question is taken back when another one is asked."""
    first = call("confirm", *BEFORE, "--no-wait").out.strip()
    other = (*BEFORE[:-1], "Drop all tables")
    second = call("confirm", *other, "--no-wait").out.strip()
    assert shell.ask(first).state == "withdrawn"
    assert shell.only_open().ask_id == second
    assert "Drop all tables" in shell.only_open().prompt.title
    assert plan.read_text() == with_status("IN_PROGRESS")


def test_two_runs_at_once_ask_one_question_and_both_learn_the_answer_in_the_end(
    shell: Shell, plan: Path
) -> None:
    """The second one is told that it is asked already; asked again, it hears the same yes."""
    waiting = shell.start("confirm", *BEFORE)
    ask = shell.only_open()
    second = shell.run("confirm", *BEFORE, "--wait", "0")
    assert (second.status, len(shell.waiting())) == (6, 1)
    shell.answer(ask.ask_id, "y")
    assert shell.finish(waiting).status == 0
    assert shell.run("confirm", *BEFORE).status == 0
    assert plan.read_text() == with_status("DONE")


def test_command_that_is_killed_while_it_waits_loses_nothing(shell: Shell, plan: Path) -> None:
    """The answer comes while nobody is there; the plan is brought up to date by whoever looks at it."""
    waiting = shell.start("confirm", *BEFORE)
    ask = shell.only_open()
    waiting.kill()
    waiting.wait()
    shell.answer(ask.ask_id, "y")
    assert plan.read_text() == with_status("IN_PROGRESS"), "who answers does not write the agent's file"
    shown = shell.run("plan", "show", "plan.xml")
    assert shown.err == "plan.xml: the confirm of T1.1 before was answered: DONE\n"
    assert plan.read_text() == with_status("DONE")
    assert shell.run("plan", "show", "plan.xml").err == ""
    assert shell.run("confirm", *BEFORE).out == "confirmed\n"


@pytest.mark.parametrize(("reply", "status"), [("n", 4), ("rename it", 7), ("drop this confirm", 0)])
def test_look_at_the_plan_writes_the_answer_and_the_agent_is_told_all_the_same(
    shell: Shell, plan: Path, call: Callable[..., Result], reply: str, status: int
) -> None:
    """Also a confirm of something else in the same plan writes it."""
    asked = call("confirm", *BEFORE, "--no-wait")
    shell.answer(asked.out.strip(), reply)
    call("confirm", "plan.xml", "--owner", "T1.2", "--moment", "before", "--summary", "x")
    assert plan.read_text() == with_status("BLOCKED" if status else "CANCELLED")
    assert call("confirm", *BEFORE, "--wait", "0").status == status
