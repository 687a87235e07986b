"""Which stores are one's own: what was made here or adopted; a copy and a backup know that they are none."""

import json
import os
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from assent.client.identity import AGENT_MARKS
from tests.cli.shell import Result, Shell, Terminal

__all__: list[str] = []

Call = Callable[..., Result]

READING = [
    ("inbox",),
    ("inbox", "--count"),
    ("log",),
    ("read", "loop:control"),
    ("show", "ask_00000000000000000z"),
    ("runs",),
    ("token", "list"),
    ("policy", "show"),
    ("policy", "explain"),
    ("notify", "list"),
    ("store",),
    ("store", "backup"),
    ("audit", "verify"),
]


def ask(call: Call, *options: str) -> str:
    """Open an ask; return its id."""
    opened = call("ask", "Which?", "-o", "a", "-o", "b", "--no-wait", *options)
    assert opened.status == 0, opened.err
    return opened.out.strip()


def refusal(ended: Result) -> str:
    """Return the code of a command that met a store which is not one's own."""
    assert ended.status == 8, ended
    assert len(ended.err.splitlines()) == 1
    code: str = ended.json["error"]["code"]
    return code


# A store that is not there


@pytest.mark.parametrize("arguments", READING, ids=" ".join)
def test_looking_at_a_store_that_is_not_there_is_an_error_and_makes_none(
    call: Call, shell: Shell, arguments: tuple[str, ...]
) -> None:
    """A wrong address is not an empty store, and no record is whole that is not there."""
    looked = call(*arguments, "--store", "sqlite:///nope/b.db")
    assert (looked.status, looked.out) == (1, "")
    assert "There is no store" in looked.err
    assert list(shell.folder.iterdir()) == []


def test_record_of_a_folder_without_a_store_is_not_whole(call: Call, shell: Shell) -> None:
    """There is nothing that could be."""
    verified = call("audit", "verify")
    assert (verified.status, verified.out) == (1, "")
    assert "There is no store" in verified.err
    assert list(shell.folder.iterdir()) == []


# Backups and copies


def copied(call: Call, shell: Shell, how: str, *, is_inside: bool = False) -> Path:
    """Make a backup or a copy of the folder's store."""
    file = shell.folder / "data" / "b.db" if is_inside else shell.folder.parent / "b.db"
    file.parent.mkdir(exist_ok=True)
    if how == "backup":
        assert call("store", "backup", str(file)).status == 0
    else:
        shutil.copy(shell.store, file)
    return file


@pytest.mark.parametrize("how", ["backup", "copy"])
@pytest.mark.parametrize("is_inside", [False, True])
def test_looking_at_a_backup_or_a_copy_leaves_it_as_it_is_and_out_of_the_inbox(
    call: Call, shell: Shell, how: str, is_inside: bool
) -> None:
    """It is one moment of another store: nobody waits for what is answered there."""
    ask_id = ask(call)
    file = copied(call, shell, how, is_inside=is_inside)
    before = file.read_bytes()
    named = ("--store", f"sqlite:///{file}")
    assert call("audit", "verify", *named).out == "1 project, 1 event, 1 ask: the record is whole.\n"
    assert ask_id in call("log", "--json", *named).out
    assert call("show", ask_id, *named).status == 0
    assert call("inbox", "--count", *named).out == "1\n"
    assert str(file) in call("store", *named).out
    assert (file.read_bytes(), sorted(path.name for path in file.parent.glob("b.db*"))) == (before, ["b.db"])
    listed = call("inbox", "--all", "--json").json["asks"]
    assert [each["ask_id"] for each in listed] == [ask_id]
    assert call("answer", ask_id, "a").status == 0
    assert shell.ask(ask_id).answer is not None


@pytest.mark.parametrize("how", ["backup", "copy"])
@pytest.mark.parametrize("is_inside", [False, True])
@pytest.mark.parametrize(
    "arguments", [("answer", "{ask}", "a"), ("ask", "More?", "--no-wait"), ("withdraw", "{ask}")]
)
def test_nothing_is_done_in_a_backup_or_a_copy(
    call: Call, shell: Shell, how: str, is_inside: bool, arguments: tuple[str, ...]
) -> None:
    """Refused with a code of its own, and nothing is changed."""
    ask_id = ask(call)
    file = copied(call, shell, how, is_inside=is_inside)
    before = file.read_bytes()
    given = [word.replace("{ask}", ask_id) for word in arguments]
    ended = call(*given, "--json", "--store", f"sqlite:///{file}")
    if "--json" in ended.err:  # a command without it
        ended = call(*given, "--store", f"sqlite:///{file}")
        assert (ended.status, ended.out) == (8, "")
    else:
        assert refusal(ended) == "store_copy"
    assert ("is a backup" if how == "backup" else f"is a copy of {shell.store}") in ended.err
    assert file.read_bytes() == before


def test_backup_that_was_checked_by_an_older_program_is_no_store(call: Call, shell: Shell) -> None:
    """It noted whatever it opened. Of several files with one mark only a project's is a store."""
    ask_id = ask(call)
    file = copied(call, shell, "copy")
    state = Path(os.environ["XDG_STATE_HOME"]) / "assent"
    shutil.rmtree(state / "trusted")
    (state / "stores").write_text(f"{file}\n{shell.store}\n")
    listed = call("inbox", "--all", "--json").json["asks"]
    assert [each["ask_id"] for each in listed] == [ask_id]
    assert call("answer", ask_id, "a").status == 0
    assert not (state / "stores").exists()


def test_store_of_an_older_program_goes_on_without_a_question(call: Call, shell: Shell) -> None:
    """It was noted by its path; it has no mark yet, or not even what one is made of."""
    ask_id = ask(call)
    state = Path(os.environ["XDG_STATE_HOME"]) / "assent"
    shutil.rmtree(state / "trusted")
    with sqlite3.connect(shell.store) as connection:
        connection.execute("DROP TABLE store_marks")
        connection.execute("DROP TABLE store_secret")
        connection.execute("ALTER TABLE events DROP COLUMN placed_at")
        for index in ("asks_action", "asks_asker"):
            connection.execute(f"DROP INDEX {index}")
        for column in ("action_digest", "again"):
            connection.execute(f"ALTER TABLE asks DROP COLUMN {column}")
        connection.execute("DELETE FROM migrations WHERE number > 10")
        connection.execute("PRAGMA user_version = 10")
    connection.close()
    (state / "stores").write_text(f"{shell.store}\n")
    for _ in range(2):
        assert call("inbox", "--count").out == "1\n"
        ask(call)
        assert call("withdraw", call("inbox", "--json").json["asks"][0]["ask_id"]).status == 0
    assert call("answer", ask_id, "a").status == 0
    [note] = (state / "trusted").iterdir()
    assert len(json.loads(note.read_text())["mark"]) == 32


# Adopting


def test_moved_store_is_refused_until_it_is_adopted_and_then_is_as_it_was(
    call: Call, shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it holds is shown first. Its tokens stay good: it is the same store."""
    ask_id = ask(call)
    assert call("token", "create", "--role", "human", "--unattended").status == 0
    moved = shell.folder.parent / "moved" / "shop"
    moved.parent.mkdir()
    shell.folder.rename(moved)
    shell.folder.mkdir()
    monkeypatch.chdir(moved)
    assert refusal(call("inbox", "--json")) == "store_untrusted"
    assert refusal(call("ask", "More?", "--no-wait", "--json")) == "store_untrusted"
    asked = call("store", "adopt")
    assert asked.status == 4
    assert "1 project: 1 ask (1 open), 0 answers, 0 policies, 1 live token" in asked.err
    assert "asked by agent:" in asked.err
    assert f"It was {shell.store} before." in asked.err
    assert "--yes" in asked.err
    assert call("inbox").status == 8
    assert call("store", "adopt", "--yes").status == 0
    assert call("answer", ask_id, "a").status == 0
    assert "revoked" not in call("token", "list").out
    assert call("store", "adopt", "--yes").out.endswith("is yours already.\n")


def test_person_at_a_terminal_is_asked_before_a_store_is_adopted(shell: Shell) -> None:
    """A no changes nothing."""
    shell.open("Which?")
    state = str(shell.folder.parent / "stranger")
    for reply, status in (("n", 4), ("y", 0)):
        with Terminal(shell, "store", "adopt", XDG_STATE_HOME=state) as terminal:
            terminal.until("You have not made it")
            terminal.until("Adopt it?")
            terminal.type(f"{reply}\n")
            assert terminal.end().status == status
        assert shell.run("inbox", XDG_STATE_HOME=state).status == (8 if status else 0)
    assert shell.run("inbox").status == 0, "whose it was before still knows it"


@pytest.mark.parametrize("mark", [*AGENT_MARKS, "ASSENT_PRINCIPAL"])
def test_agent_never_adopts_and_fails_closed(
    call: Call, shell: Shell, mark: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By whichever host it is run."""
    ask(call)
    monkeypatch.setenv("XDG_STATE_HOME", str(shell.folder.parent / "stranger"))
    monkeypatch.setenv(mark, "agent:coder")
    assert call("store", "adopt", "--yes").status == 4
    assert refusal(call("ask", "More?", "--no-wait", "--json")) == "store_untrusted"
    assert refusal(call("inbox", "--json", "--store", str(shell.store))) == "store_untrusted"
    assert call("audit", "verify", "--store", str(shell.store)).status == 8


def test_backup_that_is_adopted_revives_nothing(call: Call, shell: Shell) -> None:
    """It goes on as a restored one, and the store that it was taken of is as it was."""
    ask(call)
    assert call("token", "create", "--role", "human", "--unattended").status == 0
    file = copied(call, shell, "backup")
    named = ("--store", f"sqlite:///{file}")
    adopted = call("store", "adopt", "--yes", *named)
    assert (adopted.status, adopted.out) == (0, f"{file} is yours.\n")
    assert "It is a backup" in adopted.err
    assert "revoked" in call("token", "list", *named).out
    assert "store.restored" in call("log", "--json", *named).out
    assert call("audit", "verify", *named).status == 0
    ask(call, *named)
    assert "revoked" not in call("token", "list").out
    assert "store.restored" not in call("log", "--json").out


@pytest.mark.parametrize("what", ["link", "tracked", "foreign", "missing"])
def test_what_is_not_safe_to_use_is_not_adopted(
    call: Call, shell: Shell, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One sentence, and nothing is changed."""
    ask(call)
    monkeypatch.setenv("XDG_STATE_HOME", str(shell.folder.parent / "stranger"))
    if what == "link":
        shell.store.parent.rename(shell.folder / "data")
        shell.store.parent.symlink_to("data")
    elif what == "tracked":
        os.system("git init -q && git add -f .assent/assent.db")
    elif what == "foreign":
        shell.store.unlink()
        with sqlite3.connect(shell.store) as connection:
            connection.execute("CREATE TABLE theirs (x)")
        connection.close()
    else:
        shell.store.unlink()
    adopted = call("store", "adopt", "--yes")
    assert (adopted.status, adopted.out) == (1, "")
    assert len(adopted.err.splitlines()) == 1


# Made and named


def test_store_named_outside_any_work_tree_counts_as_adopted_once_it_is_used(
    call: Call, shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in a container or a job, whose home is new each time. Who only looks has it not noted."""
    file = shell.folder.parent / "data" / "x.db"
    ask_id = ask(call, "--store", str(file))
    monkeypatch.setenv("XDG_STATE_HOME", str(shell.folder.parent / "new"))
    monkeypatch.setenv("ASSENT_STORE", str(file))
    assert call("inbox", "--count").out == "1\n"
    assert not (shell.folder.parent / "new").exists()
    assert call("answer", ask_id, "a").status == 0
    monkeypatch.delenv("ASSENT_STORE")
    assert ask_id in call("show", ask_id, "--json").out


def test_store_that_cannot_be_noted_is_not_made(
    call: Call, shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next command would not know it."""
    (shell.folder.parent / "file").touch()
    monkeypatch.setenv("XDG_STATE_HOME", str(shell.folder.parent / "file"))
    refused = call("ask", "Which?", "--no-wait", "--json")
    assert (refused.status, refused.json["error"]["code"]) == (1, "store_read_only")
    assert "set XDG_STATE_HOME" in refused.err
    assert not shell.store.exists()


def test_stores_that_two_make_at_once_are_known_to_both(shell: Shell) -> None:
    """The note is there before the file has anything in it."""
    started = [shell.start("ask", f"{number}?", "--no-wait") for number in range(6)]
    assert [shell.finish(process).status for process in started] == [0] * 6
    assert len(shell.waiting()) == 6


def test_store_that_was_removed_is_made_anew_without_a_question(call: Call, shell: Shell) -> None:
    """As it was made the first time."""
    ask(call)
    shutil.rmtree(shell.store.parent)
    ask(call)
    assert call("inbox", "--count").out == "1\n"


def test_notes_are_for_nobody_else_to_read(call: Call) -> None:
    """Nor to write: they say which stores count."""
    ask(call)
    state = Path(os.environ["XDG_STATE_HOME"]) / "assent"
    for folder in (state, state / "trusted"):
        assert folder.stat().st_mode & 0o077 == 0
