"""`assent review` in memory: replies through a pipe, what it writes and what not, and input that is no review."""

import json
import stat
import subprocess
from pathlib import Path

import pytest

from tests.cli.reviews import (
    DOCUMENT,
    FIXED,
    ROUND_OF_FIVE,
    SAFE,
    Desk,
    document_of,
    merged,
    merged_set,
    raw,
    reviewer,
)
from tests.cli.shell import Shell
from tests.patience import PATIENCE
from tests.proves import proves

__all__: list[str] = []

NAMES = ("one", "two", "three")
THREE = merged_set(*(merged(name) for name in NAMES))
LEFT = (
    "The review ends without a report: what was decided is gone, and none of it applied.\n"
    "Safe fixes and deferred findings stay in the document.\n"
)
NOBODY = (
    "No reply is read here, so nothing was begun.\n"
    "Let others answer with --durable, or ask nobody with --headless.\n"
)


def files_in(folder: Path) -> dict[str, bytes]:
    """Return every file below a folder with what it holds."""
    return {str(path): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


# Replies


@proves("W5", "W47")
@pytest.mark.parametrize(
    "spelled",
    [
        ("A", "A", "B", "C"),
        ("a", "a", "b", "c"),
        ("1", "1", "2", "3"),
        (
            "Review each finding one by one — accept the recommendation or choose another action",
            "Apply the proposed fix",
            "Defer — append to the doc's Open Questions section",
            "Skip — don't apply, don't append",
        ),
        ("Review each finding", "Apply", "Defer", "Skip"),
        ("A.", "A. Apply the proposed fix", "2.", "skip"),
    ],
    ids=["letters", "small letters", "numbers", "labels", "keys", "as shown"],
)
def test_reply_is_a_letter_a_number_or_a_label(shell: Shell, spelled: tuple[str, ...]) -> None:
    """W-X11: whichever it is, it comes to the same."""
    desk = Desk(shell, THREE, document_of(*NAMES))
    ended = desk.run(replies=[*spelled, "stop"])
    assert ended.status == 0, ended.err
    assert "1 applied, 1 deferred, 1 skipped\n" in ended.out
    assert desk.document.startswith(document_of(*NAMES, clear=["one"]))
    assert desk.document.count("<!-- section=") == 1


@proves("W52")
@pytest.mark.parametrize("reply", ["LFG the rest", "lfg the rest", "D", "4"])
def test_short_form_of_the_fourth_option_is_that_option(shell: Shell, reply: str) -> None:
    """W-X3: the long label is canonical, the short one is understood."""
    desk = Desk(shell, THREE, document_of(*NAMES))
    ended = desk.run(replies=["A", "C", reply, "A", "stop"])
    assert (ended.status, "2 applied, 1 skipped\n" in ended.out) == (0, True), ended
    assert desk.document == document_of(*NAMES, clear=["two", "three"])


@proves("W5", "W47")
def test_unrecognised_reply_in_a_pipe_is_echoed_with_the_brief_list(shell: Shell) -> None:
    """What is typed stays visible, the options follow without the explanation, and nothing is decided by it."""
    desk = Desk(shell, THREE, document_of(*NAMES))
    ended = desk.run(replies=["A", "yes", "E", "", "C", "C", "C", "stop"])
    assert ended.status == 0
    menu = (
        "A. Apply the proposed fix (recommended)\n"
        "B. Defer — append to the doc's Open Questions section\n"
        "C. Skip — don't apply, don't append\n"
        "D. LFG the rest — apply the agent's best judgment to this and remaining findings\n"
    )
    assert f'> yes\nI didn\'t recognize "yes".\n{menu}> E\nI didn\'t recognize "E".\n{menu}>' in ended.err
    assert ended.err.count("## Finding 1 of 3") == 1
    assert "3 skipped\n" in ended.out


@pytest.mark.parametrize(
    ("replies", "is_reported"),
    [([], False), (["A"], False), (["A", "A", "A"], False), (["A", "A", "A", "C"], True), (["D"], True)],
    ids=["at once", "after routing", "at the last finding", "after the last", "after report only"],
)
@proves("W64")
def test_end_of_the_pipe_decides_nothing_before_the_report_nor_after_it(
    shell: Shell, replies: list[str], is_reported: bool
) -> None:
    """Before: status 3, no report, and the document as it was. After: status 0."""
    desk = Desk(shell, THREE, document_of(*NAMES))
    ended = desk.run("--json", replies=replies)
    assert ended.status == (0 if is_reported else 3)
    assert ended.json.get("next_step", "no report") == (None if is_reported else "no report")
    assert ended.err.endswith(LEFT) is not is_reported
    applied = ["one", "two"] if is_reported and "A" in replies else []
    assert desk.document == document_of(*NAMES, clear=applied)


def test_half_a_line_at_the_end_of_the_pipe_is_no_reply(shell: Shell) -> None:
    """It may be the beginning of something else."""
    desk = Desk(shell, THREE, document_of(*NAMES))
    ended = shell.run(*desk.arguments, typed="B\nProceed")
    assert (ended.status, ended.out) == (3, "")
    assert 'The last line, "Proceed", has no line end, so it was not read.' in ended.err
    assert desk.document == document_of(*NAMES)


# What it writes


@proves("W62", "W63", "W64")
def test_review_in_memory_makes_no_store_and_changes_none(shell: Shell) -> None:
    """Nothing is written but the document: no ask, no journal, no scratch file."""
    desk = Desk(shell)
    assert desk.run(replies=["A", "C", "A", "B", "C", "A", "stop"]).status == 0
    assert sorted(path.name for path in desk.folder.iterdir()) == ["findings.json", "plan.md"]
    ask_id = shell.open("Ship it?", "-o", "yes", "-o", "no")
    before = files_in(desk.folder / ".assent")
    assert desk.run(replies=["A", "C", "A", "B"]).status == 3
    assert files_in(desk.folder / ".assent") == before
    assert [ask.ask_id for ask in shell.waiting()] == [ask_id]


@proves("W63", "W64", "W65", "W76")
def test_review_killed_at_any_question_leaves_appends_and_safe_fixes_only(shell: Shell) -> None:
    """SIGKILL at each of the questions of one conversation, and after its report."""
    replies = ["A", "B", "A", "A", "B", "LFG the rest", "A", "stop"]
    appended = [0, 0, 1, 2, 2, 3, 3]
    for answered, entries in enumerate(appended):
        desk = Desk(shell)
        with desk.terminal() as terminal:
            for number in range(answered):
                terminal.until("\n> ", number + 1)
                terminal.type(f"{replies[number]}\n")
            terminal.until("\n> ", answered + 1)
            desk.kill(terminal.process)
        assert desk.document.startswith(FIXED), answered
        assert desk.document.count("<!-- section=") == entries, answered
    desk = Desk(shell)
    assert desk.run(replies=replies).status == 0
    changed = FIXED.replace("for an hour", "for a minute").replace("fetchAll", "fetch_all")
    assert desk.document.startswith(changed)
    assert desk.document.count("<!-- section=") == 3
    assert not desk.database.exists()


def test_document_keeps_its_mode_and_its_other_lines(shell: Shell) -> None:
    """Only the intended lines change, also where lines end with CR LF."""
    desk = Desk(shell)
    desk.path.write_bytes(DOCUMENT.replace("\n", "\r\n").encode())
    desk.path.chmod(0o640)
    assert desk.run(replies=["A", "C", "A", "A", "C", "A", "stop"]).status == 0
    wanted = FIXED.replace("for an hour", "for a minute").replace("fetchAll", "fetch_all")
    assert desk.path.read_bytes() == wanted.replace("\n", "\r\n").encode()
    assert stat.S_IMODE(desk.path.stat().st_mode) == 0o640


def test_document_outside_of_the_project_is_reviewed_in_its_own_place(shell: Shell) -> None:
    """It is named by its path; nothing appears in the folder of the caller."""
    desk = Desk(shell)
    outside = desk.folder.parent / "notes" / "other.md"
    outside.parent.mkdir()
    outside.write_text(DOCUMENT)
    ended = shell.run("review", "findings.json", "--document", "../notes/other.md", typed="B\nA\n")
    assert ended.status == 0, ended.err
    assert "for a minute" in outside.read_text()
    assert desk.document == DOCUMENT
    assert [path.name for path in outside.parent.iterdir()] == ["other.md"]


# Nobody asked


@proves("W1")
def test_headless_applies_safe_fixes_and_decides_nothing_else(shell: Shell) -> None:
    """W-U19: one envelope on standard output, nothing on the other, no question, whoever could type."""
    desk = Desk(shell)
    ended = desk.run("--headless", replies=["A", "A"])
    assert (ended.status, ended.err) == (0, "")
    assert ended.out.startswith("Review of plan.md, headless: nobody was asked.\n\nApplied fixes:\n")
    assert ended.out.endswith("Verdict: Not ready.\n\nReview complete.\n")
    assert "What should the agent" not in ended.out
    assert desk.document == FIXED
    assert not desk.database.exists()


def test_headless_report_as_json_has_everything_undecided(shell: Shell) -> None:
    """The same names as any other report; nothing is said beside it."""
    desk = Desk(shell)
    ended = desk.run("--headless", "--json")
    report = ended.json
    assert (ended.status, ended.err) == (0, "")
    assert (report["way"], report["verdict"], report["next_step"]) == ("headless", "Not ready", None)
    assert (len(report["undecided"]), len(report["fixes"]), sum(report["counts"].values())) == (5, 1, 0)


def test_synthesis_alone_prints_a_merged_set_that_can_be_reviewed(shell: Shell) -> None:
    """Nothing else happens; what it prints is input for the next command, and passes through untouched."""
    desk = Desk(shell)
    only = shell.run("review", "findings.json", "--synthesize-only")
    assert (only.status, only.err, desk.document) == (0, "", DOCUMENT)
    assert [finding["title"] for finding in only.json["findings"]][:2] == [
        "The cache may not be needed",
        "Cache lifetime contradicts the SLA",
    ]
    (desk.folder / "merged.json").write_text(only.out)
    again = shell.run("review", "merged.json", "--synthesize-only", "--document", "plan.md")
    assert again.json["findings"] == only.json["findings"]


def test_report_in_a_file_keeps_its_tables_and_lines_as_they_are(shell: Shell) -> None:
    """Only a terminal gets them laid out: a file is Markdown for whoever reads it next."""
    desk = Desk(shell)
    ended = desk.run(replies=["D", "stop"])
    assert "\n| --- | --- | --- | --- | --- | --- | --- | --- |\n| coherence | done | 4 |" in ended.out
    assert "| coherence      | done   | 4        |" not in ended.out


# As JSON, and the next round


@proves("W69", "W74")
def test_report_as_json_is_alone_on_standard_output(shell: Shell) -> None:
    """People read the same report on standard error; its order of names is the report's order."""
    desk = Desk(shell)
    ended = desk.run("--json", replies=["A", "A", "C", "A", "B", "C", "A", "B"])
    report = ended.json
    assert ended.status == 0
    assert report["counts"] == {"applied": 2, "deferred": 1, "skipped": 1, "acknowledged": 1}
    assert [entry["title"] for entry in report["acknowledged"]] == ["The cache may not be needed"]
    assert report["next_step"] == "review_again"
    assert "\n\n### Applied\n" in ended.err
    assert "\nVerdict: Not ready.\n" in ended.err
    assert ended.err.endswith(
        "Keep this report: --primer REPORT.json tells the next round what was decided in this one.\n"
    )


def test_left_review_as_json_says_that_it_is_open(shell: Shell) -> None:
    """A program gets JSON in any case."""
    ended = Desk(shell).run("--json", replies=["A"])
    assert (ended.status, ended.json) == (3, {"how": "open", "ask_id": None})


def test_report_of_one_round_keeps_the_next_from_asking_again(shell: Shell) -> None:
    """R29 through the command line: what was skipped is not raised again; after two rounds, completion is suggested."""
    desk = Desk(shell, THREE, document_of(*NAMES))
    first = desk.run("--json", replies=["A", "C", "C", "A", "B"])
    (desk.folder / "report.json").write_text(first.out)
    raised = [raw(f"Passage {name} is unclear", section=f"Part {name}",
                  evidence=[f"Passage {name} stands here."]) for name in NAMES[:2]]  # fmt: skip
    fresh = raw("Passage four is missing", section="Part four", evidence=["# Plan"])
    desk.write([reviewer("coherence", *raised, fresh)])
    second = desk.run("--json", "--primer", "report.json", replies=["A", "C", "stop"])
    assert second.status == 0, second.err
    assert second.json["round"] == 2
    assert [entry["title"] for entry in second.json["skipped"]] == ["Passage four is missing"]
    assert sorted(second.json["coverage"]["suppressed"]) == [
        f"Passage {name} is unclear" for name in ("one", "two")
    ]
    assert (
        "What should the agent do next?\nAfter 2 rounds, completing the review is suggested.\n" in second.err
    )


# Nobody there


@pytest.mark.parametrize("mark", ["CLAUDECODE", "CODEX_SANDBOX", "ASSENT_RUN_ID"])
def test_agent_that_types_into_its_own_review_decides_nothing(shell: Shell, mark: str) -> None:
    """A machine is never a human: it is told so, and how people could be asked; not even a safe fix is made."""
    desk = Desk(shell)
    ended = desk.run(replies=["B", "Proceed", "stop"], **{mark: "1"})
    assert (ended.status, ended.out) == (3, "")
    assert ended.err == (
        f"{mark} is set, so an agent runs this command: what is typed here is not read.\n{NOBODY}"
    )
    assert desk.document == DOCUMENT


def test_review_that_was_not_begun_says_so_as_json_too(shell: Shell) -> None:
    """A program gets JSON in any case."""
    ended = Desk(shell).run("--json", replies=["B"], CLAUDECODE="1")
    assert (ended.status, ended.json) == (3, {"how": "open", "ask_id": None})
    assert ended.err.endswith(NOBODY)


def test_findings_from_standard_input_leave_no_room_for_replies(shell: Shell) -> None:
    """`-` works for everything that asks nobody; else it says what would work."""
    desk = Desk(shell)
    findings = json.dumps(ROUND_OF_FIVE)
    asked = shell.run("review", "-", "--document", "plan.md", typed=findings)
    assert (asked.status, asked.out, asked.err) == (3, "", NOBODY)
    assert desk.document == DOCUMENT
    headless = shell.run("review", "-", "--document", "plan.md", "--headless", typed=findings)
    assert (headless.status, desk.document) == (0, FIXED)


# Input that is none


@pytest.mark.parametrize(
    ("arguments", "status", "sentence"),
    [
        (["findings.json"], 2, "Which document? As in: assent review FINDINGS.json --document PLAN.md"),
        (["none.json", "--document", "plan.md"], 2, "none.json cannot be read: No such file or directory."),
        (["folder", "--document", "plan.md"], 2, "folder cannot be read: Is a directory."),
        (["findings.json", "--document", "none.md"], 1, "There is no document none.md."),
        (["findings.json", "--document", "folder"], 1, "folder is a folder, and a document is a file."),
        (["half.json", "--document", "plan.md"], 2, "half.json: The JSON text ends too early"),
        (["plan.md", "--document", "plan.md"], 2, "plan.md: "),
        (["empty.json", "--document", "plan.md"], 2, "empty.json: No reviewer's output can be read"),
        (["findings.json", "--document", "plan.md", "--primer", "empty.json"], 2, "empty.json: "),
        (["findings.json", "--document", "plan.md", "--durable", "--headless"], 2, "Give one of --durable"),
        (["findings.json", "--document", "plan.md", "--wait", "1s"], 2, "--wait and --run-id say how a --durable"),
        (["findings.json", "--document", "plan.md", "--applier", "'"], 2, "--applier cannot be read as a command"),
        (["findings.json", "--document", "plan.md", "--applier", ""], 2, "The applier is a command"),
        (["findings.json", "--document", "plan.md", "--applier", "no-such x"], 2, 'There is no program "no-such"'),
        (["findings.json", "--document", ".assent/notes.md"], 1, 'There is no document ".assent/notes.md": '),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)  # fmt: skip
def test_input_that_is_no_review_is_refused_in_one_sentence(
    shell: Shell, arguments: list[str], status: int, sentence: str
) -> None:
    """No stack trace, nothing asked, nothing changed, and for a program the same as JSON."""
    desk = Desk(shell)
    (desk.folder / "folder").mkdir()
    (desk.folder / ".assent").mkdir()
    (desk.folder / ".assent" / "notes.md").write_text(DOCUMENT)
    (desk.folder / "half.json").write_text('[{"reviewer":')
    (desk.folder / "empty.json").write_text("[]")
    ended = shell.run("review", *arguments, "--json", typed="B\nA\n")
    assert (ended.status, ended.err.startswith(sentence)) == (status, True), ended
    assert "Traceback" not in ended.err
    assert ended.json["error"]["message"].startswith(sentence)
    assert desk.document == DOCUMENT


def test_document_that_is_not_utf8_takes_exact_edits_and_refuses_prose(shell: Shell) -> None:
    """Its other bytes stay as they are."""
    desk = Desk(shell, [reviewer("coherence", SAFE, raw("Say it shorter"))])
    desk.path.write_bytes(b"caf\xe9\nTeh users are told.\n")
    ended = desk.run("--applier", "cat", replies=["A", "A", "stop"])
    assert ended.status == 0, ended.err
    assert "Apply failed: The document is not UTF-8 text" in ended.out
    assert desk.path.read_bytes() == b"caf\xe9\nThe users are told.\n"


def test_reader_of_the_report_who_is_gone_costs_no_decision(shell: Shell) -> None:
    """`assent review … | head` closes the pipe early: the fixes are made all the same."""
    desk = Desk(shell)
    process = shell.start(*desk.arguments, stdin=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.close()
    process.stdout = None
    _, err = process.communicate(b"B\nA\nstop\n", timeout=PATIENCE)
    assert (process.returncode, b"Traceback" in err) == (1, False), err
    assert "for a minute" in desk.document
