"""`assent session` and `assent gate` where nobody sits: gates on the pull request, answers from there, and the review."""

import json
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from assent import Ask
from tests.cli.shell import Result, Shell, Terminal
from tests.github.double import HEAD, Double, Fault
from tests.patience import PATIENCE
from tests.proves import proves

__all__: list[str] = []

STOP = "\N{OCTAGONAL SIGN}"


def finding(severity: str, title: str, line: int) -> dict[str, object]:
    """Return a finding as a file has it."""
    return {
        "severity": severity,
        "title": title,
        "file": "src/pay.py",
        "line": line,
        "category": "bug",
        "confidence": 95,
        "description": "Nobody checks the sum.",
    }


REVIEW = {
    "pull_request": {"owner": "acme", "repo": "shop", "number": 7, "head_sha": HEAD},
    "chunks": [
        {
            "label": "payments",
            "files": ["src/pay.py", "logo.png"],
            "lines": 4,
            "findings": [finding("critical", "Overdraft", 3), finding("warning", "Rounding", 2)],
        }
    ],
}


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Shell]:
    """Give a shell in a folder with a review."""
    folder = tmp_path / "shop"
    folder.mkdir()
    (folder / "findings.json").write_text(json.dumps(REVIEW))
    shell = Shell(folder)
    yield shell
    shell.close()


Run = Callable[..., Result]


@pytest.fixture
def run(shell: Shell, double: Double, rest_environ: dict[str, str]) -> Run:
    """Give `assent session` with a token and without a terminal."""
    double.permissions = {"ana": "write", "stranger": "read"}
    token, address = rest_environ["GH_TOKEN"], rest_environ["GITHUB_API_URL"]

    def run(*arguments: str, **changes: str | None) -> Result:
        changes = {"GITHUB_REPOSITORY": "acme/shop", **changes}
        return shell.run(*arguments, GH_TOKEN=token, GITHUB_API_URL=address, **changes)

    return run


def newest(double: Double) -> str:
    """Return the last comment of ours that is a gate."""
    ours = [each["body"] for each in double.comments if each["user"]["login"] == double.me]
    return str(ours[-1])


def reply_to(shell: Shell, double: Double, text: str, login: str = "ana") -> Ask:
    """Have somebody answer the gate that is open; return its ask."""
    ask = shell.only_open()
    double.say(login, f"/gate {ask.ask_id[-6:]} {text}")
    return ask


@proves("G2", "G38", "G40")
def test_session_without_a_terminal_goes_from_comment_to_comment_to_one_review(
    run: Run, shell: Shell, double: Double
) -> None:
    """G-X2: each gate is posted and the run stops with status 3; a reply there, and it goes on."""
    first = run("session", "findings.json")
    assert first.status == 3
    assert "It is a comment on acme/shop#7 now" in first.err
    assert newest(double).startswith(f"### {STOP} REVIEW GATEWAY: Phase Gate\n\nacme/shop#7\n")
    assert len(double.comments) == 1

    waiting = run("session", "findings.json", "--resume")
    assert waiting.status == 3
    assert len(double.comments) == 1, "the same gate is not posted twice"

    double.say("ana", "What is this?")
    reply_to(shell, double, "1", login="stranger")
    assert run("session", "findings.json", "--resume").status == 3
    assert "Phase Gate" in newest(double), "a stranger answers nothing"

    asks = [reply_to(shell, double, "Proceed")]
    for context, text in [
        ("Chunk Plan", "1"),
        ("Chunk Loop", "todo: ask about rounding"),
        ("Chunk Loop", "deselect m1"),
        ("Chunk Loop", "Continue"),
        ("Synthesis", "post all marked"),
        ("1 task is not done. Post anyway? [y/n]", "y"),
    ]:
        assert run("session", "--resume").status == 3
        assert context in newest(double)
        asks.append(reply_to(shell, double, text))
    last = run("session", "--resume", "--json")
    assert (last.status, last.json["how"]) == (0, "posted"), last.err

    (review,) = double.submitted
    assert [comment["line"] for comment in review["comments"]] == [3]
    assert review["state"] == "CHANGES_REQUESTED"
    assert double.complaints == []
    for ask in asks:
        answer = shell.ask(ask.ask_id).answer
        assert answer is not None
        assert (answer.by, answer.via) == ("human:ana@github", f"github:{double.number_of('ana')}")
    left = sorted(path.name for path in (shell.folder / ".assent").iterdir() if path.suffix == ".md")
    assert left == []


def test_agent_without_a_terminal_does_not_wait_where_the_gate_can_be_posted(
    run: Run, double: Double
) -> None:
    """In CI the agent's own mark is set: its input is not read, and the run ends instead of hanging."""
    left = run("session", "findings.json", CLAUDECODE="1")
    assert left.status == 3
    assert len(double.comments) == 1


def test_gate_by_itself_is_answered_by_a_comment_under_its_key(
    run: Run, shell: Shell, double: Double
) -> None:
    """The review names the pull request; who comes again with the key finds the answer."""
    arguments = (
        "gate",
        "synthesis",
        "--summary",
        "Two findings.",
        "--findings",
        "findings.json",
        "--key",
        "s",
    )
    assert run(*arguments).status == 3
    assert "Two findings." in newest(double)
    reply_to(shell, double, "4.")
    again = run(*arguments)
    assert (again.status, again.out) == (0, "Save locally\n")
    assert newest(double).startswith("**Answered** by `ana`")


def test_answer_from_elsewhere_is_written_on_the_comment(run: Run, shell: Shell, double: Double) -> None:
    """One winner: the comment says who, and a later reply to it changes nothing."""
    run("session", "findings.json")
    ask = shell.only_open()
    shell.answer(ask.ask_id, "Cancel", name="sam")
    double.say("ana", f"/gate {ask.ask_id[-6:]} 1")
    ended = run("session", "--resume")
    assert (ended.status, ended.out) == (0, "Cancelled. Nothing was posted.\n")
    assert newest(double).startswith("**Answered** by `sam`: `Cancel`")


def test_gate_comment_that_was_edited_is_posted_again(run: Run, shell: Shell, double: Double) -> None:
    """Nobody knows what was answered then."""
    run("session", "findings.json")
    double.comments[0]["body"] += "\n5. Approve everything"
    reply_to(shell, double, "1")
    again = run("session", "--resume")
    assert again.status == 3
    assert "was edited" in again.err
    assert shell.only_open().is_open
    assert len([each for each in double.comments if STOP in each["body"]]) == 2


def test_github_out_of_reach_leaves_the_gate_open_and_says_so(run: Run, shell: Shell, double: Double) -> None:
    """A bad address and a failing request are one sentence each, and decide nothing."""
    refused = shell.run(
        "session",
        "findings.json",
        GH_TOKEN="t",
        GITHUB_API_URL="http://example.com",
        GITHUB_REPOSITORY="acme/shop",
    )
    assert refused.status == 3
    assert '"example.com" is reached only by an https address.' in refused.err
    double.faults.append(Fault("POST", "/comments", 503))
    failed = run("session", "--resume")
    assert failed.status == 3
    assert "The gate was not posted as a comment: GitHub did not do it (503" in failed.err
    assert "Traceback" not in refused.err + failed.err
    assert shell.only_open().is_open


def test_saved_findings_of_another_pull_request_are_not_posted_unasked(run: Run, shell: Shell) -> None:
    """The file says one pull request, what is saved another: nobody guesses which is meant."""
    saved = shell.run("session", "findings.json", typed="1\n1\n1\n4\n")
    assert saved.status == 0, saved.err
    other = {**REVIEW, "pull_request": {"owner": "acme", "repo": "shop", "number": 8, "head_sha": HEAD}}
    (shell.folder / "other.json").write_text(json.dumps(other))
    refused = run("session", "other.json", "--post-only")
    assert refused.status == 2
    assert "The saved findings are of acme/shop#7, and other.json is of acme/shop#8." in refused.err


def test_gates_of_a_session_that_is_discarded_are_taken_back(shell: Shell) -> None:
    """Nobody would hear the answer any more."""
    assert shell.run("session", "findings.json").status == 3
    left = shell.only_open()
    assert shell.run("session", "findings.json", typed="y\n").status == 3
    assert shell.ask(left.ask_id).state == "withdrawn"
    assert shell.only_open().prompt.title == "Phase Gate"


def test_quick_mode_goes_on_where_it_was_left(shell: Shell) -> None:
    """It saves nothing of its own (G-U12), and what was answered is found again."""
    with Terminal(shell, "session", "findings.json") as terminal:
        terminal.until("Phase Gate")
        terminal.type("3\n")
        terminal.until("Chunk Loop")
        terminal.type("deselect m1\n")
        terminal.until("Chunk Loop", 2)
        terminal.type("\x03")
        assert terminal.end().status == 3
    assert 'mode: "full"' in (shell.folder / ".assent" / "review-state.md").read_text()
    shell.answer(shell.only_open().ask_id, "4")
    ended = shell.run("session", "--resume", typed="4\n")
    assert (ended.status, ended.out.split(".")[0]) == (0, "Saved locally"), ended.err
    assert "- [ ] M1" in ended.err


@proves("G12")
def test_an_answer_is_not_found_again_for_other_findings(run: Run, shell: Shell, double: Double) -> None:
    """Whoever puts back an old state with other words in it gets a new gate, and nothing is posted."""
    run("session", "findings.json")
    for _ in range(3):
        reply_to(shell, double, "1")
        run("session", "--resume")
    state = shell.folder / ".assent" / "review-state.md"
    before = state.read_text()
    reply_to(shell, double, "1")
    assert run("session", "--resume").status == 0
    for old, new in (("Nobody checks the sum.", "Nobody saw this."), (HEAD, HEAD[:10])):
        state.write_text(before.replace(old, new))
        again = run("session", "--resume", CLAUDECODE="1")
        assert again.status == 3
        assert "REVIEW GATEWAY: Synthesis" in again.err
    assert len(double.submitted) == 1


@proves("G12")
def test_pull_request_that_went_on_is_asked_about_again_before_it_is_posted_to(
    run: Run, shell: Shell, double: Double
) -> None:
    """The choice to post was made for another commit: one sentence, nothing posted, and the gate shows the new one."""
    run("session", "findings.json")
    for _ in range(3):
        reply_to(shell, double, "1")
        run("session", "--resume")
    assert f"acme/shop#7 at commit {HEAD[:12]}: Request changes." in newest(double)
    shell.answer(shell.only_open().ask_id, "Post all marked", "sam")
    double.head = "d00d" + "0" * 36
    again = run("session", "--resume")
    assert again.status == 3
    assert (
        "Not posted: acme/shop#7 is at commit d00d00000000 by now, which is not the one that you were shown."
        in again.err
    )
    assert double.submitted == []
    gate = shell.only_open()
    assert gate.prompt.body.startswith(
        f"acme/shop#7 at commit {HEAD[:12]}, which is at commit d00d00000000 by now: Request changes."
    )
    assert run("session", "--resume").status == 3
    assert shell.only_open() == gate
    shell.answer(gate.ask_id, "Post all marked", "sam")
    posted = run("session", "--resume", "--json")
    assert (posted.status, posted.json["how"]) == (0, "posted"), posted.err
    (review,) = double.submitted
    assert review["commit_id"] == HEAD
    assert "looked at commit" in review["body"]


def test_posting_only_asks_again_where_the_pull_request_went_on(
    run: Run, shell: Shell, double: Double
) -> None:
    """As a session does; the findings that were saved stay."""
    run("session", "findings.json", "--post-only")
    shell.answer(shell.only_open().ask_id, "Post all marked", "sam")
    double.head = "d00d" + "0" * 36
    assert run("session", "--post-only").status == 3
    gate = shell.only_open()
    assert "which is at commit d00d00000000 by now" in gate.prompt.body
    assert double.submitted == []
    shell.answer(gate.ask_id, "Post all marked", "sam")
    assert run("session", "--post-only").out.startswith("Posted: 2 new comments")


def test_yes_to_open_tasks_is_not_found_again_for_other_findings(
    run: Run, shell: Shell, double: Double
) -> None:
    """Post anyway was said of what was to be posted then."""
    run("session", "findings.json")
    for text in ("1", "1", "todo: ask about rounding", "Continue"):
        shell.answer(shell.only_open().ask_id, text, "sam")
        run("session", "--resume", CLAUDECODE="1")
    state = shell.folder / ".assent" / "review-state.md"
    before = state.read_text()
    shell.answer(shell.only_open().ask_id, "Post all marked", "sam")
    run("session", "--resume", CLAUDECODE="1")
    shell.answer(shell.only_open().ask_id, "y", "sam")
    state.write_text(before.replace("Nobody checks the sum.", "Nobody saw this."))
    run("session", "--resume", CLAUDECODE="1")
    (gate,) = [ask for ask in shell.waiting() if ask.prompt.title == "Synthesis"]
    shell.answer(gate.ask_id, "Post all marked", "sam")
    again = run("session", "--resume", CLAUDECODE="1")
    assert (again.status, double.submitted) == (3, [])
    assert [ask.prompt.title for ask in shell.waiting()] == ["1 task is not done. Post anyway? [y/n]"]


def test_only_gates_are_answered_by_comments(run: Run, shell: Shell, double: Double) -> None:
    """A planted note that ties a question of somebody else to the pull request leads to nothing."""
    asked = shell.open("Delete the production database?", "--option", "Yes", "--option", "No")
    run("session", "findings.json")
    noted = shell.folder / ".assent" / "gate-comments.json"
    (entry,) = json.loads(noted.read_text())
    noted.write_text(json.dumps([{**entry, "ask_id": asked}]))
    double.say("ana", "1")
    run("session", "--resume", CLAUDECODE="1")
    assert shell.ask(asked).is_open


def test_posting_only_goes_on_from_a_comment(run: Run, shell: Shell, double: Double) -> None:
    """The reply is found again by whoever comes with --post-only, with the file or without it."""
    asked = run("session", "findings.json", "--post-only")
    assert (asked.status, "Go on with: assent session --post-only" in asked.err) == (3, True)
    reply_to(shell, double, "toggle M1")
    assert run("session", "--post-only").status == 3
    reply_to(shell, double, "4")
    assert run("session", "findings.json", "--post-only").out.startswith("Cancelled")
    assert run("session", "--post-only").status == 3
    reply_to(shell, double, "1")
    assert run("session", "--post-only").out.startswith("Posted: 1 new comment")
    assert len(double.submitted) == 1
    assert shell.waiting() == []


def test_gate_is_not_posted_to_a_repository_that_is_not_this_one(
    run: Run, shell: Shell, double: Double
) -> None:
    """The file names it, and the agent wrote the file: it must not pick who may answer."""
    for elsewhere, how in (("acme/other", "findings.json"), (None, "--resume")):
        left = run("session", how, GITHUB_REPOSITORY=elsewhere)
        assert left.status == 3
        assert double.comments == []
        assert "acme/shop is not the repository of this folder or CI run" in left.err
    subprocess.run(["git", "init", "-q", str(shell.folder)], check=True, timeout=PATIENCE)
    subprocess.run(
        ["git", "-C", str(shell.folder), "remote", "add", "origin", "git@github.com:Acme/Shop.git"],
        check=True,
        timeout=PATIENCE,
    )
    assert run("session", "--resume", GITHUB_REPOSITORY=None).status == 3
    assert len(double.comments) == 1


def test_question_about_a_saved_session_is_not_left_to_the_pull_request(
    run: Run, shell: Shell, double: Double
) -> None:
    """A reply would come when nobody knows any more what was to take its place."""
    assert run("session", "findings.json").status == 3
    again = run("session", "findings.json")
    assert (again.status, len(double.comments)) == (3, 1)
    assert "The saved session stays. Go on with it: assent session --resume" in again.err
    assert shell.only_open().prompt.title == "Phase Gate"
