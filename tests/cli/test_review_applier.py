"""Fixes in words: the command that works them in, named on the command line or accepted from the project's file."""

import re
import shlex
import sys
from pathlib import Path

import pytest

from tests.cli.reviews import DOCUMENT, Desk, document_of, merged, merged_set, raw, reviewer
from tests.cli.shell import Result, Shell
from tests.proves import proves

__all__: list[str] = []

NAMES = ("one", "two", "three")
THREE = merged_set(*(merged(name, edit=None) for name in NAMES))

# Reads {"finding", "document"}; makes the passage clear, but fails on "two".
APPLIER = """
import json, os, sys
asked = json.load(sys.stdin)
finding, document = asked["finding"], asked["document"]
with open("applied", "a") as log:
    print(finding["id"], os.environ["ASSENT_PRINCIPAL"], os.environ.get("TONE", ""), file=log)
if finding["id"] == "two":
    sys.exit("I cannot do that.")
sys.stdout.write(document.replace(finding["evidence"][0], f"Passage {finding['id']} is clear."))
"""
ALL = ["B", "Proceed", "stop"]


@pytest.fixture
def desk(shell: Shell) -> Desk:
    """Give a desk with three findings whose fixes are in words, and an applier in the folder."""
    (shell.folder / "apply.py").write_text(APPLIER)
    return Desk(shell, THREE, document_of(*NAMES))


@pytest.fixture
def command() -> str:
    """Give the command line of the applier."""
    return shlex.join([sys.executable, "apply.py"])


def write_file(desk: Desk, extra: str = 'env = { TONE = "plain" }') -> Path:
    """Write the project's file that names the applier."""
    file = desk.folder / ".assent" / "review.toml"
    file.parent.mkdir(exist_ok=True)
    file.write_text(f'[applier]\ncommand = ["{sys.executable}", "apply.py"]\n{extra}\n')
    return file


def applied(desk: Desk) -> list[str]:
    """Return what the applier noted, a line each."""
    log = desk.folder / "applied"
    return log.read_text().splitlines() if log.exists() else []


def check_report(ended: Result) -> None:
    """Look for one failure and two applied fixes."""
    assert ended.status == 0, ended.err
    assert ended.out.startswith("### Failures\n\n- Passage two is unclear (P2): Apply failed: ")
    assert "ended with status 1: I cannot do that." in ended.out
    assert "\n2 applied\n" in ended.out
    assert "\nVerdict: Not ready.\n" in ended.out


@proves("W65", "W72")
def test_applier_of_the_command_line_works_each_fix_in_and_a_failure_stops_none(
    desk: Desk, command: str
) -> None:
    """Each sees what the one before left; it runs under an agent's name; the failed one is not counted."""
    check_report(desk.run("--applier", command, replies=ALL))
    assert desk.document == document_of(*NAMES, clear=["one", "three"])
    assert applied(desk) == [f"{name} agent:applier " for name in NAMES]
    assert not desk.database.exists()


@proves("W65")
def test_applier_is_not_run_before_everything_is_decided(desk: Desk, command: str) -> None:
    """Whoever leaves has applied nothing; and what is skipped is never handed to it."""
    assert desk.run("--applier", command, replies=["A", "A", "A"]).status == 3
    assert applied(desk) == []
    assert desk.run("--applier", command, replies=["A", "A", "C", "C", "stop"]).status == 0
    assert [line.split()[0] for line in applied(desk)] == ["one"]


@proves("W55")
def test_missing_applier_is_told_before_the_first_question_and_nothing_is_said_to_be_applied(
    desk: Desk,
) -> None:
    """Not after the last one: then it would cost every decision. Whoever picks Apply says what is to happen instead."""
    ended = desk.run(replies=["A", "A", "B", "C", "C", "stop"])
    assert ended.err.startswith(
        "3 findings have their fixes in words only, and no applier is named.\n"
        "Such a fix cannot be applied: see --applier in assent review --help.\n"
    )
    assert "Apply isn't executable for this finding — no applier for a fix in words." in ended.err
    assert "Applied" not in ended.out + ended.err
    assert "- Passage one is unclear (P2): Skipped — " in ended.out
    assert "; redirected from Apply — no applier for a fix in words\n" in ended.out
    assert desk.document == document_of(*NAMES)


def test_findings_that_need_an_applier_are_counted_as_they_are_asked_about(shell: Shell) -> None:
    """Merged, and without what is only told: two reviewers' words on one thing are one finding."""
    words = raw("One thing", autofix_class="manual")
    aside = raw("A matter of taste", confidence=50)
    desk = Desk(shell, [reviewer("coherence", words, aside), reviewer("feasibility", words)], DOCUMENT)
    ended = desk.run(replies=["D", "stop"])
    assert ended.err.startswith("1 finding has its fix in words only, and no applier is named.\n")
    exact = raw("One thing", edit={"before": "for an hour", "after": "for a minute"})
    desk.write([reviewer("coherence", exact, aside)])
    assert "in words only" not in desk.run(replies=["D", "stop"]).err


@proves("W55")
@pytest.mark.parametrize("options", [[], ["--durable"]], ids=["in memory", "durable"])
def test_bulk_without_an_applier_previews_and_does_what_the_menu_recommends(
    desk: Desk, options: list[str]
) -> None:
    """Nothing stands under Applying that could not be applied, and nothing fails afterwards."""
    ended = desk.run(*options, "--json", replies=ALL)
    assert (
        "Applying is unavailable — no applier for a fix in words. "
        "3 findings recommended for Apply: deferred instead.\n"
    ) in ended.err
    assert "Appending to Open Questions (3):" in ended.err
    assert "Applying (" not in ended.err
    assert (ended.json["counts"], ended.json["failures"]) == (
        {"applied": 0, "deferred": 3, "skipped": 0, "acknowledged": 0},
        [],
    )


def test_command_of_the_projects_file_runs_once_a_person_accepted_it(desk: Desk) -> None:
    """At the terminal, before the first question; the next review asks no more."""
    write_file(desk)
    with desk.terminal() as terminal:
        terminal.until("May the commands that .assent/review.toml names be run?")
        for number, reply in enumerate(["Accept", *ALL], 1):
            terminal.until("\n> ", number)
            terminal.type(f"{reply}\n")
        assert terminal.end().status == 0
    assert applied(desk) == [f"{name} agent:applier plain" for name in NAMES]
    desk.path.write_text(document_of(*NAMES))
    check_report(desk.run(replies=ALL))
    assert len(applied(desk)) == 6


def test_command_of_the_projects_file_that_nobody_accepted_is_not_run(desk: Desk) -> None:
    """A pipe accepts nothing: it says how a person could, and there is no applier then."""
    write_file(desk)
    ended = desk.run(replies=["Accept", *ALL])
    told = re.search(
        r"A person has to accept the command in \.assent/review\.toml first; "
        r"accept it with: assent answer (\w+) Accept\. Such a fix cannot be applied\.\n",
        ended.err,
    )
    assert told is not None, ended.err
    assert "\n3 deferred\n" in ended.out
    assert applied(desk) == []
    assert desk.document.startswith(document_of(*NAMES))


def test_command_of_the_projects_file_that_was_refused_or_changed_is_not_run(
    desk: Desk,
) -> None:
    """A no holds for this file; another file is another question."""
    file = write_file(desk)
    with desk.terminal() as terminal:
        terminal.until("\n> ")
        terminal.type("Refuse\n")
        terminal.until("\n> ", 2)
        terminal.type("\x04")
        ended = terminal.end()
    assert "was not accepted, so it was not run." in ended.err
    again = desk.run(replies=ALL)
    assert "A person has to accept" not in again.err
    assert "was not accepted, so it was not run. Such a fix cannot be applied." in again.err
    assert "\n3 deferred\n" in again.out
    file.write_text(file.read_text() + "# changed\n")
    assert "A person has to accept" in desk.run(replies=["D", "stop"]).err
    assert applied(desk) == []


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[applier]\n", ".assent/review.toml, [applier]: it has no command."),
        ("[applier", ".assent/review.toml"),
        ('[applier]\ncommand = ["x"]\nshell = true\n', ".assent/review.toml, [applier]: "),
        ('[other]\ncommand = ["x"]\n', '.assent/review.toml: "other" is not known'),
    ],
    ids=["no command", "no TOML", "unknown key", "unknown table"],
)
def test_projects_file_that_cannot_be_read_stops_the_review_before_it_begins(
    desk: Desk, text: str, sentence: str
) -> None:
    """One sentence that names the file, status 2, nothing asked."""
    write_file(desk).write_text(text)
    ended = desk.run(replies=ALL)
    assert (ended.status, ended.out, ended.err.startswith(sentence)) == (2, "", True), ended
    assert desk.document == document_of(*NAMES)


def test_projects_file_is_not_looked_at_where_every_fix_is_an_exact_edit(shell: Shell) -> None:
    """Nobody is asked about a command that could not run."""
    desk = Desk(shell, merged_set(*map(merged, NAMES)), document_of(*NAMES))
    write_file(desk)
    ended = desk.run(replies=ALL)
    assert (ended.status, "review.toml" in ended.err) == (0, False)
    assert desk.document == document_of(*NAMES, clear=NAMES)
    assert not desk.database.exists()


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        ("import sys; sys.stdin.read()", "printed nothing"),
        ("import sys; sys.stdin.read(); print('   ')", "Nothing would be left of the document"),
        ("import sys; sys.stdin.read(); sys.stdout.buffer.write(b'\\xff')", "is not UTF-8 text"),
        ("import sys, json; sys.stdout.write(json.load(sys.stdin)['document'])", "The applier changed nothing"),
        ("import sys; sys.exit(3)", "ended with status 3"),
        ("import os; os.kill(os.getpid(), 9)", "ended with status -9"),
    ],
    ids=["nothing", "blank", "not text", "the same", "a status", "killed"],
)  # fmt: skip
def test_applier_that_gives_no_document_changes_none(desk: Desk, program: str, reason: str) -> None:
    """Its failure is that one fix's failure, in a sentence; the document stays, byte by byte."""
    ended = desk.run("--applier", shlex.join([sys.executable, "-c", program]), replies=ALL)
    assert ended.status == 0
    assert ended.out.count(reason) == 3, ended.out
    assert "Traceback" not in ended.out + ended.err
    assert desk.document == document_of(*NAMES)


def test_document_saved_while_the_applier_works_keeps_what_was_saved(desk: Desk) -> None:
    """The pass begins again on what a person saved, and their line stays."""
    program = APPLIER + (
        "if not os.path.exists('saved'):\n"
        "    open('saved', 'w').close()\n"
        "    open('plan.md', 'a').write('A line of mine.\\n')\n"
    )
    (desk.folder / "apply.py").write_text(program)
    ended = desk.run("--applier", shlex.join([sys.executable, "apply.py"]), replies=ALL)
    check_report(ended)
    assert desk.document == document_of(*NAMES, clear=["one", "three"]) + "A line of mine.\n"
