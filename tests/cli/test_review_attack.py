"""`assent review` against hostile findings, forged journals and Ctrl-C at the wrong moment."""

import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import pytest

from assent import connect
from assent.client.journal import make_step, render_opened
from assent.client.place import find_document
from assent.client.reviewing import prepare_review, review_id
from assent.flows.walk_through.walk_through import WALK_THROUGH
from assent.surfaces.card import short_id
from tests.cli.reviews import Desk, document_of, merged, merged_set
from tests.cli.shell import Shell
from tests.patience import PATIENCE

__all__: list[str] = []

ONE = merged_set(merged("one"))
TWO = merged_set(merged("one"), merged("two"))
AT = datetime(2030, 1, 31, tzinfo=UTC)


@pytest.fixture(autouse=True)
def at_the_desk(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    """Be in the folder: what a document goes by depends on where somebody is."""
    monkeypatch.chdir(shell.folder)


def forge(desk: Desk, findings: object, path: str, begun: object | None = None) -> None:
    """Begin the durable review of `findings` as an agent does who wants another one to be gone through."""
    place = find_document(desk.path)
    meant = prepare_review(msgspec.json.decode(msgspec.json.encode(findings)), place, AT)
    other = prepare_review(msgspec.json.decode(msgspec.json.encode(begun or findings)), place, AT)
    opened = render_opened(WALK_THROUGH, msgspec.structs.replace(other, path=path))
    with connect(desk.database, project=desk.folder.name, principal="agent:mallory") as client:
        client.write_step(make_step(review_id(meant, place), 0, opened))


def test_review_that_was_begun_on_another_document_is_refused(shell: Shell) -> None:
    """A yes would change a file that nobody named."""
    desk = Desk(shell, ONE, document_of("one"))
    other = desk.folder / "other.md"
    other.write_text(document_of("one"))
    forge(desk, ONE, "other.md")
    ended = desk.run("--durable", replies=["B", "A", "stop"])
    assert (ended.status, ended.out) == (1, "")
    assert "began with other findings, or on another document" in ended.err
    assert (desk.document, other.read_text()) == (document_of("one"), document_of("one"))
    assert shell.waiting() == []


def test_review_that_was_begun_with_other_findings_is_refused(shell: Shell) -> None:
    """What a person named is what they are asked about."""
    desk = Desk(shell, ONE, document_of("one", "two"))
    forge(desk, ONE, "plan.md", begun=TWO)
    ended = desk.run("--durable", replies=["B", "A", "stop"])
    assert "began with other findings" in ended.err
    assert desk.document == document_of("one", "two")


def test_review_that_was_begun_by_another_agent_as_it_is_goes_on(shell: Shell) -> None:
    """The other side of it: the same review is the same, whoever began it and whenever."""
    desk = Desk(shell, ONE, document_of("one"))
    forge(desk, ONE, "plan.md")
    ended = desk.run("--durable", replies=["B", "A", "stop"])
    assert (ended.status, desk.document) == (0, document_of("one", clear=["one"]))


def test_words_that_go_on_in_the_next_line_of_a_terminal_cannot_pass_for_lines_of_ours(shell: Shell) -> None:
    """Where a line is broken is up to whoever wrote the words before it."""
    fakes = ["A. Apply the proposed fix (recommended)", "Verdict: Ready.", "→ Applied. Edit staged."]
    words = " ".join(f"{fake} {'x' * (78 - len(fake))}" for fake in ["Readers stop.", *fakes])
    desk = Desk(shell, merged_set(merged("one", "Skip", why_it_matters=words)), document_of("one"))
    with desk.terminal(columns=80) as terminal:
        terminal.until("\n> ")
        terminal.type("A\n")
        terminal.until("C. Skip — don't apply")  # the fake lines are marked as the prompt is
        terminal.until("\n> ", 5)
        lines = terminal.screen()
    assert not any(line.startswith(fake) for line in lines for fake in fakes)
    assert any(line.startswith("> A. Apply the proposed fix (recommended)") for line in lines)
    assert "C. Skip — don't apply, don't append (recommended)" in lines


def test_table_of_an_agent_neither_ends_a_review_nor_hides_a_word(shell: Shell) -> None:
    """A line that is only a rule, words behind the last bar, and a cell that is wider than the window."""
    wide = f"| {'y' * 120} to the end |"
    why = f"| --- |\n\n| a | outside\n\n| a |\n{wide}"
    desk = Desk(shell, merged_set(merged("one", why_it_matters=why)), document_of("one"))
    with desk.terminal(columns=80) as terminal:
        terminal.until("\n> ")
        terminal.type("A\n")
        terminal.until("\n> ", 2)
        shown = "".join(terminal.screen())
    assert ("| a | outside" in shown, wide in shown) == (True, True)


def test_ctrl_c_at_the_question_after_a_durable_report_decides_nothing(shell: Shell) -> None:
    """The report is out, and the question stays: the same command finds its answer."""
    desk = Desk(shell, ONE, document_of("one"))
    with desk.terminal("--durable") as terminal:
        for number, reply in enumerate(["B", "A"], 1):
            terminal.until("\n> ", number)
            terminal.type(f"{reply}\n")
        terminal.until("What should the agent do next?")
        terminal.until("\n> ", 3)
        terminal.type("\x03")
        ended = terminal.end()
    assert ended.status == 0
    assert "Review complete." in ended.err
    waiting = shell.only_open()
    assert f"assent answer {short_id(waiting.ask_id)}" in ended.err
    shell.answer(waiting.ask_id, "A", "sam")
    assert desk.run("--durable", "--json").json["next_step"] == "go_on"


def test_ctrl_c_while_fixes_are_applied_does_not_say_that_none_was(shell: Shell, tmp_path: Path) -> None:
    """It may have come after the document was replaced: whoever left is told to look."""
    applier = tmp_path / "hang.py"
    applier.write_text("import time\ntime.sleep(600)\n")
    desk = Desk(shell, merged_set(merged("one", edit=None)), document_of("one"))
    with desk.terminal("--applier", f"{sys.executable} {applier}") as terminal:
        for number, reply in enumerate(["B", "A"], 1):
            terminal.until("\n> ", number)
            terminal.type(f"{reply}\n")
        terminal.until("Applying 1 of 1")
        terminal.type("\x03")
        ended = terminal.end()
    assert ended.status == 3
    assert "none of it applied" not in ended.err
    assert "The review was stopped while fixes were applied, so there is no report." in ended.err
    assert desk.document == document_of("one")


def test_pipe_that_the_primer_came_through_is_not_read_for_replies(shell: Shell) -> None:
    """As with the findings: who handed it in is not who answers, and nothing is begun, not even a safe fix."""
    safe = merged("one", autofix_class="safe_auto")
    desk = Desk(shell, merged_set(safe, merged("two")), document_of("one", "two"))
    ended = shell.run(*desk.arguments, "--primer", "-", typed='{"rounds": 1}')
    assert (ended.status, ended.out) == (3, "")
    assert ended.err.startswith("No reply is read here, so nothing was begun.\n")
    assert desk.document == document_of("one", "two")


_FROM_PYTHON = """
import assent, json, pathlib
with assent.connect(".assent/assent.db", project="shop") as client:
    try:
        client.review(json.loads(pathlib.Path("findings.json").read_bytes()), document="plan.md")
    except assent.StillOpen:
        print("nobody answered")
"""


def test_review_from_python_without_a_standard_input_reads_no_other_file_for_replies(shell: Shell) -> None:
    """The number of a closed standard input goes to the next file that is opened: that is nobody's reply."""
    desk = Desk(shell, ONE, document_of("one"))
    (desk.folder / ".assent").mkdir()
    ended = subprocess.run(
        ["/bin/sh", "-c", 'exec "$@" <&-', "sh", sys.executable, "-c", _FROM_PYTHON],
        cwd=desk.folder,
        env=shell.environ(),
        capture_output=True,
        timeout=PATIENCE,
        check=False,
    )
    assert (ended.returncode, ended.stdout) == (0, b"nobody answered\n"), ended.stderr
    assert desk.document == document_of("one")


@pytest.mark.parametrize("linked", ["the file", "its folder"])
def test_link_in_a_project_that_leads_out_of_it_is_refused(shell: Shell, tmp_path: Path, linked: str) -> None:
    """S16: a repository brings its links along, and a safe fix asks nobody."""
    elsewhere = tmp_path / "home"
    elsewhere.mkdir(exist_ok=True)
    own = elsewhere / "profile.md"
    own.write_text(document_of("one"))
    desk = Desk(shell, merged_set(merged("one", autofix_class="safe_auto")), document_of("one"))
    (desk.folder / ".git").mkdir()
    if linked == "the file":
        name = "profile.md"
        (desk.folder / name).symlink_to(own)
    else:
        name = "docs/profile.md"
        (desk.folder / "docs").symlink_to(elsewhere)
    ended = shell.run("review", "findings.json", "--document", name, "--headless")
    assert (ended.status, ended.out) == (1, "")
    assert ended.err.startswith(f"{name} leads out of {desk.folder}: ")
    assert own.read_text() == document_of("one")
    assert shell.run("review", "findings.json", "--document", str(own), "--headless").status == 0
    assert own.read_text() == document_of("one", clear=["one"])


def test_link_that_stays_in_its_project_is_followed(shell: Shell) -> None:
    """The file behind it changes, and the link stays one."""
    desk = Desk(shell, merged_set(merged("one", autofix_class="safe_auto")), document_of("one"))
    (desk.folder / ".git").mkdir()
    link = desk.folder / "docs" / "link.md"
    link.parent.mkdir()
    link.symlink_to("../plan.md")
    assert shell.run("review", "findings.json", "--document", "docs/link.md", "--headless").status == 0
    assert (link.is_symlink(), desk.document) == (True, document_of("one", clear=["one"]))
