"""`assent store`: moved there and back nothing is another, a kill costs nothing, and a restore revives nothing."""

import json
import signal
import stat
import sys
import threading
from datetime import UTC, datetime

import apsw
import pytest

from assent import connect
from assent.cli.store_end import open_store
from assent.protocol.control import ControlCommand, render_request
from tests.cli.filled import fill, rows_of
from tests.cli.on_database import SECRET, with_secret
from tests.cli.serving import served
from tests.cli.shell import Shell, Terminal
from tests.patience import PATIENCE
from tools.postgres import PostgresServer
from tools.warm import run

__all__: list[str] = []

# Dies in the middle of a copy, as a machine does: after one page of so many rows was kept.
_KILLED = """
import os, signal, sys
from assent.storage import copy
from assent.cli.exit import run
copy.PAGE = int(sys.argv[1])
def tell(self, until, before=copy._Stage.copy_log):
    say = self._tell
    def count(done, total):
        if done >= copy.PAGE:
            os.kill(os.getpid(), signal.SIGKILL)
        say(done, total)
    self._tell = count
    before(self, until)
copy._Stage.copy_log = tell
sys.exit(run(sys.argv[2:]))
"""


SMALL = 20
"""So many rows are a page where a copy is killed."""


def audited(shell: Shell, store: str) -> str:
    """Return the verdict of an audit."""
    return shell.run("audit", "verify", "--store", store).out


def many(shell: Shell, number: int, project: str = "shop") -> None:
    """Open so many asks."""
    with connect(shell.store, project=project) as agent:
        for place in range(number):
            agent.open(f"Which {place}?")


def copied(shell: Shell, *arguments: str) -> str:
    """Copy, and return what was said."""
    ended = shell.run("store", "copy", *arguments)
    assert ended.status == 0, ended.err
    assert SECRET not in ended.out + ended.err
    return ended.out


@pytest.fixture
def other(database: str) -> str:
    """Give a database, named with a password."""
    return with_secret(database)


# There and back


def test_store_copied_into_a_database_and_back_is_the_same_byte_for_byte(shell: Shell, other: str) -> None:
    """Every row of every table, also what is volatile; and each of them is whole."""
    fill(shell)
    fill(shell, "desk")
    said = copied(shell, ".assent/assent.db", other)
    assert "shop: " in said
    assert "chain whole; asks " in said
    assert said.splitlines()[-1].endswith("all compared.")
    copied(shell, other, "back.db")
    with (
        open_store(shell.store) as first,
        open_store(other) as second,
        open_store(shell.folder / "back.db") as third,
    ):
        rows = rows_of(first.end)
        assert all(rows.values())  # nothing is the same because nothing is there
        assert rows == rows_of(second.end) == rows_of(third.end)
    assert audited(shell, ".assent/assent.db") == audited(shell, other) == audited(shell, "back.db")
    assert "the record is whole" in audited(shell, other)


def test_copied_project_goes_on_where_it_was(shell: Shell, other: str) -> None:
    """Its keys, receipts, tokens and runs are known there; new numbers do not collide."""
    made = fill(shell)
    copied(shell, ".assent/assent.db", other, "--project", "shop")
    with connect(other, project="shop") as agent:
        assert agent.ask("Which?", ["Red", "Blue"], key="colour") == "Red"
        agent.open("Something new?")
    with connect(other, project="another") as agent:
        agent.open("Else?")
    assert shell.run("redeem", made["receipt"], "action.json", "--store", other).status == 0
    assert shell.run("resume", "nightly", "--store", other).status == 0
    assert "2 projects" in audited(shell, other)
    assert "the record is whole" in audited(shell, other)


def test_only_the_named_projects_are_copied_and_an_unknown_one_is_refused(shell: Shell) -> None:
    """All of them by default."""
    many(shell, 1)
    many(shell, 2, "desk")
    copied(shell, ".assent/assent.db", "some.db", "--project", "desk")
    assert shell.run("store", "--store", "some.db", "--json").json["projects"] == {"desk": 2}
    copied(shell, ".assent/assent.db", "all.db")
    assert shell.run("store", "--store", "all.db", "--json").json["projects"] == {"desk": 2, "shop": 1}
    refused = shell.run("store", "copy", ".assent/assent.db", "none.db", "--project", "nope")
    assert (refused.status, 'has no project "nope"' in refused.err) == (1, True)


def test_copy_that_is_there_already_is_left_and_another_one_is_refused_untouched(shell: Shell) -> None:
    """The same head is the same log; a project of that name with another past is somebody's."""
    many(shell, 3)
    copied(shell, ".assent/assent.db", "b.db")
    assert "it was there before" in copied(shell, ".assent/assent.db", "b.db")
    with connect(shell.folder / "b.db", project="shop") as agent:
        agent.open("Mine?")
    with open_store(shell.folder / "b.db") as opened:
        before = rows_of(opened.end)
    refused = shell.run("store", "copy", ".assent/assent.db", "b.db")
    assert refused.status == 1
    assert 'already has a project "shop", which is not the same; nothing was changed there.' in refused.err
    with open_store(shell.folder / "b.db") as opened:
        assert rows_of(opened.end) == before


# Killed, damaged


@pytest.mark.parametrize("is_to_database", [True, False], ids=["to-database", "to-file"])
def test_copy_that_is_killed_shows_nothing_and_goes_on_when_it_is_started_again(
    shell: Shell, other: str, is_to_database: bool
) -> None:
    """Meanwhile others begin projects there and write at the source: nothing collides, nothing is lost."""
    target = other if is_to_database else "b.db"
    many(shell, 2 * SMALL + 10)
    arguments = ("store", "copy", ".assent/assent.db", target)
    killed = run(
        [sys.executable, "-c", _KILLED, str(SMALL), *arguments],
        cwd=shell.folder,
        env=shell.environ(),
        capture_output=True,
        timeout=PATIENCE,
        check=False,
    )
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    told = shell.run("store", "--store", target, "--json").json
    assert (told["projects"], told["unfinished"]) == ({}, 1)
    with connect(other if is_to_database else shell.folder / target, project="begun") as agent:
        agent.open("Do I collide?")
    many(shell, 5)
    assert f"gone on at event {SMALL + 1}" in copied(shell, ".assent/assent.db", target)
    told = shell.run("store", "--store", target, "--json").json
    assert (told["projects"], told["unfinished"]) == ({"begun": 1, "shop": 2 * SMALL + 15}, 0)
    assert "the record is whole" in audited(shell, target)


def test_unfinished_copy_can_be_dropped(shell: Shell) -> None:
    """Where its source is gone, nobody goes on with it."""
    many(shell, SMALL + 1)
    arguments = ("store", "copy", ".assent/assent.db", "b.db")
    run(
        [sys.executable, "-c", _KILLED, str(SMALL), *arguments],
        cwd=shell.folder,
        env=shell.environ(),
        capture_output=True,
        timeout=PATIENCE,
        check=False,
    )
    assert "Unfinished copies into it: 1" in shell.run("store", "--store", "b.db").out
    many_said = shell.run("store", "copy", "--fresh", ".assent/assent.db", "b.db")
    assert "Unfinished copies dropped: 1." in many_said.err
    assert "gone on" not in many_said.out
    assert "the record is whole" in audited(shell, "b.db")


@pytest.mark.parametrize(
    "harm",
    [
        "UPDATE events SET body = x'7b7d' WHERE event_number % 1099511627776 = 2",
        "DELETE FROM events WHERE event_number % 1099511627776 = 2",
        "UPDATE events SET type = 'ask.answered' WHERE event_number % 1099511627776 = 2",
        "DELETE FROM events WHERE event_number % 1099511627776 = 3",
    ],
    ids=["body", "missing", "type", "tail"],
)
def test_damaged_source_is_copied_and_saved_by_nobody(shell: Shell, other: str, harm: str) -> None:
    """The chain says so before the project appears anywhere."""
    many(shell, 3)
    connection = apsw.Connection(str(shell.store))
    connection.execute(harm)
    connection.close()
    refused = shell.run("store", "copy", ".assent/assent.db", other)
    assert (refused.status, refused.out) == (1, "")
    assert shell.run("store", "--store", other, "--json").json["projects"] == {}
    saved = shell.run("store", "backup", "kept.db")
    assert (saved.status, (shell.folder / "kept.db").exists()) == (1, False)
    assert [file.name for file in shell.folder.iterdir() if "kept" in file.name] == []


# Backup


@pytest.mark.parametrize("is_database", [True, False], ids=["database", "file"])
def test_backup_is_one_whole_file_of_ours_taken_while_others_write(
    shell: Shell, other: str, is_database: bool
) -> None:
    """It is one moment: what its heads say is there, and nothing behind it."""
    fill(shell)
    store = ".assent/assent.db"
    if is_database:
        copied(shell, store, other)
        store = other
    is_over = threading.Event()

    def write() -> None:
        with connect(other if is_database else shell.store, project="busy") as agent:
            while not is_over.is_set():
                agent.open("More?")

    writer = threading.Thread(target=write)
    writer.start()
    try:
        ended = shell.run("store", "backup", "kept.db", "--store", store, "--json")
    finally:
        is_over.set()
        writer.join(PATIENCE)
    assert ended.status == 0, ended.err
    file = shell.folder / "kept.db"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert ended.json["size"] == file.stat().st_size
    assert sorted(found.name for found in shell.folder.iterdir() if "kept" in found.name) == ["kept.db"]
    with open_store(file) as opened:
        rows = rows_of(opened.end)
    assert sum(len(rows[name]) for name in rows if name.endswith(".events")) == ended.json["events"]
    assert "the record is whole" in audited(shell, "kept.db")


def test_backup_overwrites_nothing_and_has_a_usual_name(shell: Shell) -> None:
    """Beside the store, which nobody else can look into."""
    many(shell, 1)
    (shell.folder / "kept.db").write_text("mine")
    refused = shell.run("store", "backup", "kept.db")
    assert (refused.status, "overwrites nothing" in refused.err) == (1, True)
    assert (shell.folder / "kept.db").read_text() == "mine"
    saved = shell.run("store", "backup")
    assert "1 project, 1 event, " in saved.out
    assert len(list(shell.store.parent.glob("assent-*Z.db"))) == 1
    assert shell.run("store", "backup", "kept.db", "--store", "nowhere.db").status == 1


# Restore


def restored(shell: Shell, *arguments: str) -> None:
    """Restore the backup into a new store."""
    ended = shell.run("store", "restore", "kept.db", "--yes", *arguments)
    assert ended.status == 0, ended.err


def back_up(shell: Shell) -> None:
    """Save the store as kept.db."""
    saved = shell.run("store", "backup", "kept.db")
    assert saved.status == 0, saved.err


@pytest.mark.parametrize("is_database", [True, False], ids=["database", "file"])
def test_restored_store_redeems_no_old_receipt_and_its_log_says_why(
    shell: Shell, other: str, is_database: bool
) -> None:
    """It may have been redeemed after the backup was taken: here it was."""
    target = other if is_database else "new.db"
    made = fill(shell)
    back_up(shell)
    assert shell.run("redeem", made["receipt"], "action.json").status == 0
    restored(shell, "--store", target)
    refused = shell.run("redeem", made["receipt"], "action.json", "--store", target)
    assert (refused.status, refused.out) == (5, "")
    assert "is void: the store was restored from a backup at " in refused.err
    types = [
        json.loads(line)["type"] for line in shell.run("log", "--json", "--store", target).out.splitlines()
    ]
    assert types.count("store.restored") == 1
    assert "restored it from a backup that ends at event" in shell.run("log", "--store", target).out
    assert "the record is whole" in audited(shell, target)
    granted = shell.run(
        "approve", "Again?", "--action", "action.json", "--category", "scopeChanges", "--store", target
    )
    assert shell.run("redeem", granted.out.strip(), "action.json", "--store", target).status == 0


def test_restored_store_lets_nobody_in_with_an_old_token_or_browser(shell: Shell) -> None:
    """A browser that was signed in has a token like everybody; --keep-tokens keeps them."""
    made = fill(shell)
    with served(shell) as server, server.sign_in():
        back_up(shell)
    restored(shell, "--store", "new.db")
    restored(shell, "--store", "kept-tokens.db", "--keep-tokens")
    for store, status, is_revoked in (("new.db", 4, True), ("kept-tokens.db", 0, False)):
        tokens = shell.run("token", "list", "--json", "--store", store).json["tokens"]
        assert [token["revoked_at"] is not None for token in tokens] == [is_revoked, is_revoked]
        with served(shell, "--store", store) as server:
            listed = shell.run("inbox", ASSENT_STORE=server.url, ASSENT_TOKEN=made["token"])
            assert listed.status == status, listed.err


def test_restored_store_executes_no_request_from_before(shell: Shell) -> None:
    """Neither one that only lay there, nor one whose id was used after the backup and is sent again."""
    fill(shell)
    late = render_request("late-1", ControlCommand.RESUME, "nightly", datetime.now(UTC)).decode()
    back_up(shell)
    assert shell.run("post", "loop:control", late).status == 0
    assert shell.run("runs", "--json").json["runs"][0]["status"] == "running"
    restored(shell, "--store", "new.db")
    told = shell.run("post", "loop:control", late, "--store", "new.db")
    assert (
        "is from before, and is not executed"
        in told.out + told.err + shell.run("read", "loop:control", "--store", "new.db").out
    )
    assert shell.run("runs", "--json", "--store", "new.db").json["runs"][0]["status"] == "paused"
    assert shell.run("resume", "nightly", "--store", "new.db").status == 0
    assert shell.run("runs", "--json", "--store", "new.db").json["runs"][0]["status"] == "running"
    assert "the record is whole" in audited(shell, "new.db")


def test_nobody_posts_where_restores_are_told(shell: Shell) -> None:
    """An agent that could would void what people approved."""
    refused = shell.run("post", "store:restored", "{}")
    assert (refused.status, "Only a restore posts on store:restored" in refused.err) == (4, True)


def test_restore_into_a_store_that_is_not_empty_is_refused_and_twice_does_nothing(shell: Shell) -> None:
    """What an interrupted restore has left is gone on with, and nothing else."""
    many(shell, 2)
    back_up(shell)
    refused = shell.run("store", "restore", "kept.db", "--yes")
    assert (refused.status, "is not empty" in refused.err) == (1, True)
    restored(shell, "--store", "new.db")
    before = shell.run("log", "--store", "new.db").out
    again = shell.run("store", "restore", "kept.db", "--yes", "--store", "new.db")
    assert (again.status, "restored before; nothing was done" in again.out) == (0, True)
    assert shell.run("log", "--store", "new.db").out == before


def test_restore_asks_a_person_and_takes_silence_for_no(shell: Shell) -> None:
    """At a terminal it says what will be void; where nobody is it wants --yes."""
    fill(shell)
    back_up(shell)
    alone = shell.run("store", "restore", "kept.db", "--store", "new.db")
    assert (alone.status, "--yes says that you mean it" in alone.err) == (4, True)
    with Terminal(shell, "store", "restore", "kept.db", "--store", "new.db") as terminal:
        terminal.until("Void afterwards: 1 receipt, 1 token, 0 commands to runs.")
        terminal.until("Restore it? [y/N]")
        terminal.type("\n")
        assert terminal.end().status == 4
    assert shell.run("store", "--store", "new.db", "--json").json["projects"] == {}
    with Terminal(shell, "store", "restore", "kept.db", "--store", "new.db") as terminal:
        terminal.until("Restore it? [y/N]")
        terminal.type("y\n")
        assert terminal.end().status == 0


def test_file_that_is_no_backup_is_not_restored_and_left_as_it_is(shell: Shell) -> None:
    """A text, an empty file, a damaged one."""
    many(shell, 3)
    back_up(shell)
    whole = (shell.folder / "kept.db").read_bytes()
    (shell.folder / "text.db").write_text("hello" * 500)
    (shell.folder / "empty.db").touch()
    (shell.folder / "torn.db").write_bytes(whole[: len(whole) // 2])
    for name in ("text.db", "empty.db", "torn.db", "missing.db"):
        refused = shell.run("store", "restore", name, "--yes", "--store", "new.db")
        assert (refused.status, refused.out) == (1, ""), name
    assert (shell.folder / "kept.db").read_bytes() == whole
    assert (shell.folder / "empty.db").read_bytes() == b""
    assert not (shell.folder / "missing.db").exists()


# Who, and what else


@pytest.mark.parametrize(
    "arguments",
    [("copy", "a.db", "b.db"), ("backup",), ("restore", "a.db"), ("migrate",)],
    ids=["copy", "backup", "restore", "migrate"],
)
def test_agent_moves_and_keeps_nothing(shell: Shell, arguments: tuple[str, ...]) -> None:
    """Status 4 and a sentence; an operator may."""
    refused = shell.run("store", *arguments, CLAUDECODE="1")
    assert (refused.status, "only a person or an operator can move and keep data" in refused.err) == (4, True)
    assert list(shell.folder.iterdir()) == []
    assert shell.run("store", *arguments, ASSENT_PRINCIPAL="operator:ops").status != 4


def test_server_is_not_copied_by_its_address(shell: Shell) -> None:
    """What it serves is named on a machine that reaches it."""
    for arguments in (
        ("copy", "http://x:1", "b.db"),
        ("copy", "a.db", "http://x:1"),
        ("backup",),
        ("migrate",),
        (),
    ):
        refused = shell.run("store", *arguments, ASSENT_STORE="http://x:1")
        assert (refused.status, "is a server" in refused.err) == (2, True), arguments
    same = shell.run("store", "copy", "a.db", "a.db")
    assert (same.status, same.err) == (2, "FROM and TO are the same store.\n")
    missing = shell.run("store", "copy", "a.db", "b.db")
    assert (missing.status, "There is no store" in missing.err) == (1, True)


def test_store_is_told_and_migrated(shell: Shell, other: str) -> None:
    """Which, of which kind and shape, and what it holds; nothing is made by looking."""
    assert "is not there yet; the first ask makes it." in shell.run("store").out
    assert list(shell.folder.iterdir()) == []
    many(shell, 2)
    told = shell.run("store").out.splitlines()
    assert told[0] == str(shell.store)
    assert told[1].startswith("SQLite, schema ")
    assert told[2:] == ["  shop: 2 events", "1 project, 2 events"]
    assert shell.run("store", "migrate").out == f"{shell.store}: nothing was to do.\n"
    assert "PostgreSQL, schema " in shell.run("store", "--store", other).out
    done = shell.run("store", "migrate", "--finish", "--store", other)
    assert done.out.endswith(": nothing was to do.\n")
    assert SECRET not in done.out


def test_bare_database_is_migrated(shell: Shell, postgres_server: PostgresServer) -> None:
    """The names of what was applied are told."""
    url = postgres_server.new_database(is_bare=True)
    try:
        assert "applied 0001_store" in shell.run("store", "migrate", "--store", url).out
        assert "nothing was to do" in shell.run("store", "migrate", "--store", url).out
    finally:
        postgres_server.drop_database(url)
