"""`assent inbox` and `assent` alone: what waits, without making anything."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.shell import Result, Shell, Terminal

__all__: list[str] = []

Call = Callable[..., Result]


@pytest.mark.parametrize(
    ("arguments", "out"),
    [
        (("inbox",), "Nothing waits.\n"),
        (("inbox", "--all"), "Nothing waits.\n"),
        (("inbox", "--json"), '{"asks":[]}\n'),
        (("inbox", "--count"), "0\n"),
        (("inbox", "--format", "{count}|{oldest}|{newest}|{projects}"), "0|||\n"),
        ((), "Nothing waits in shop.\n"),
        (("log",), ""),
    ],
)
def test_looking_where_no_store_is_makes_none(
    call: Call, shell: Shell, arguments: tuple[str, ...], out: str
) -> None:
    """Empty is not an error, and a look leaves nothing behind."""
    looked = call(*arguments)
    assert (looked.status, looked.out, looked.err) == (0, out, "")
    assert list(shell.folder.iterdir()) == []


def test_inbox_lists_time_that_runs_before_what_is_newest(call: Call) -> None:
    """A line each, with its deadline below."""
    for title in ("First?", "Second?"):
        call("ask", title, "--no-wait")
    call("ask", "Urgent?", "--deadline", "10m", "--consequence", "deny", "--no-wait")
    call("ask", "Third?", "--no-wait")
    lines = call("inbox").out.splitlines()
    assert [line.split()[-1] for line in lines if "question" in line] == [
        "Urgent?",
        "Third?",
        "Second?",
        "First?",
    ]
    assert lines[1].strip() == "9 min left, then it ends as a no"
    titles = [entry["prompt"]["title"] for entry in call("inbox", "--json").json["asks"]]
    assert titles == ["Third?", "Urgent?", "Second?", "First?"]


def test_inbox_limit_says_how_many_more_there_are(call: Call) -> None:
    """Nothing is left out in silence."""
    for number in range(3):
        call("ask", f"Number {number}?", "--no-wait")
    lines = call("inbox", "--limit", "2").out.splitlines()
    assert len(lines) == 3
    assert lines[-1] == "and 1 more: assent inbox --limit 3"
    assert call("inbox", "--count", "--limit", "1").out == "3\n"


def test_inbox_here_and_all_differ_by_project_and_store(
    call: Call, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Without a terminal it is this project; --all is everything that this user opened."""
    call("ask", "Here?", "--no-wait")
    call("ask", "Next door?", "--project", "annex", "--no-wait")
    other = tmp_path / "other"
    other.mkdir()
    monkeypatch.chdir(other)
    call("ask", "There?", "--no-wait")
    counts = [call(*arguments).out.strip() for arguments in (
        ("inbox", "--count"),
        ("inbox", "--count", "--all"),
        ("inbox", "--count", "--all", "--project", "annex"),
        ("--store", f"sqlite:///{tmp_path}/shop/.assent/assent.db", "inbox", "--count", "--all"),
        ("inbox", "--count", "--here", "--project", "annex"),
    )]  # fmt: skip
    assert counts == ["1", "3", "1", "2", "0"]


def test_inbox_on_a_terminal_shows_all_stores(call: Call, tmp_path: Path) -> None:
    """A person sees everything that waits for them, wherever they stand."""
    call("ask", "Here?", "--no-wait")
    other = Shell(tmp_path / "other")
    other.folder.mkdir()
    with Terminal(other, "inbox", stdout_too=True) as terminal:
        assert terminal.end().status == 0
        assert any("Here?" in line for line in terminal.screen())
    with Terminal(other, stdout_too=True, TERM="dumb") as terminal:
        assert terminal.end().status == 0
        screen = terminal.screen()
    assert screen[0] == "1 ask waits in all your projects."
    other.close()
    assert not (other.folder / ".assent").exists()


def test_store_that_cannot_be_opened_does_not_hide_the_others(
    call: Call, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """It is named on standard error."""
    call("ask", "Here?", "--no-wait")
    broken = tmp_path / "broken.db"
    call("ask", "There?", "--no-wait", "--store", f"sqlite:///{broken}")
    for path in tmp_path.glob("broken.db*"):
        path.unlink()
    broken.write_bytes(b"not a database at all, and longer than a header of sixteen bytes" * 20)
    listed = call("inbox", "--all")
    assert (listed.status, "Here?" in listed.out) == (0, True)
    assert f"Not looked at: {broken}: " in listed.err
    monkeypatch.setenv("ASSENT_STORE", f"sqlite:///{broken}")
    assert call("inbox").status == 1


def test_inbox_format_fills_in_names(call: Call) -> None:
    """For a prompt or a status line."""
    call("ask", "Which?", "--no-wait")
    call("ask", "Next?", "--no-wait", "--project", "annex")
    filled = call("inbox", "--all", "--format", "{{{count}}} {overdue} in {projects}: {newest}").out
    assert filled == "{2} 0 in annex, shop: Next?\n"


@pytest.mark.parametrize(
    "template", ["{", "{unknown}", "{count.__class__}", "{count!r}", "{count:>9999999}", "{0}", "{}"]
)
def test_inbox_format_refuses_what_it_does_not_know(call: Call, template: str) -> None:
    """Names only; no way into the program."""
    refused = call("inbox", "--format", template)
    assert (refused.status, refused.out) == (2, "")
    assert refused.err.startswith("--format ")


def test_inbox_takes_one_form_only(call: Call) -> None:
    """Two forms would be none."""
    assert call("inbox", "--json", "--count").status == 2


def test_store_and_project_may_stand_before_or_after_the_command(call: Call, tmp_path: Path) -> None:
    """And in the environment."""
    url = f"sqlite:///{tmp_path}/x.db"
    ask_id = call("--store", url, "--project", "p", "ask", "Which?", "--no-wait").out.strip()
    for arguments in (
        ("inbox", "--store", url, "--project", "p"),
        ("--store", url, "inbox", "--project", "p"),
    ):
        assert call(*arguments, "--json").json["asks"][0]["ask_id"] == ask_id
    assert call("inbox", "--count").out == "0\n"


def test_store_is_shielded_from_others_and_from_git(call: Call, shell: Shell) -> None:
    """The folder that the first ask makes."""
    call("ask", "Which?", "--no-wait")
    assert (shell.store.parent.stat().st_mode & 0o777, shell.store.stat().st_mode & 0o777) == (0o700, 0o600)
    assert (shell.store.parent / ".gitignore").read_text() == "*\n"
