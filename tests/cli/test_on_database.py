"""The story of a file, on a database: every command in a process of its own, and nobody ever sees the password."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from assent import connect
from assent.cli.lookout import Lookout
from assent.cli.place import Place, now, show_address
from tests.cli.on_database import SECRET, DatabaseShell, with_secret
from tests.cli.serving import served
from tests.cli.shell import Result, wait_for
from tests.patience import PATIENCE
from tools.postgres import PostgresServer

__all__: list[str] = []

Call = Callable[..., Result]


@pytest.fixture
def desk(tmp_path: Path, database: str) -> Iterator[DatabaseShell]:
    """Give a shell in an empty folder, on an empty database; what it started is ended with the test."""
    folder = tmp_path / "shop"
    folder.mkdir()
    shell = DatabaseShell(folder, database)
    yield shell
    shell.close()


def waiting(desk: DatabaseShell) -> list[str]:
    """Return the ids of what waits."""
    return [ask["ask_id"] for ask in desk.run("inbox", "--json").json["asks"]]


def test_ask_that_waits_on_a_database_is_listed_answered_elsewhere_and_wakes(desk: DatabaseShell) -> None:
    """Three processes that share nothing but the address."""
    asking = desk.start("ask", "Which database?", "--option", "PostgreSQL", "--option", "SQLite")
    wait_for(lambda: len(waiting(desk)) == 1)
    [ask_id] = waiting(desk)
    assert "Which database?" in desk.run("show", ask_id).out
    answered = desk.run("answer", ask_id, "PostgreSQL")
    assert answered.status == 0, answered.err
    assert desk.finish(asking)[:2] == (0, "PostgreSQL\n")
    late = desk.run("answer", ask_id, "SQLite")
    assert (late.status, late.out) == (6, "")
    assert "ana answered at " in late.err
    assert list(desk.folder.iterdir()) == []  # nothing lies beside a database


def test_record_of_a_database_is_logged_and_whole(desk: DatabaseShell) -> None:
    """`log`, `audit verify` and the summary, as on a file."""
    ask_id = desk.open("Which?", "--option", "Red", "--option", "Blue")
    assert desk.run("answer", ask_id, "Red").status == 0
    types = [json.loads(line)["type"] for line in desk.run("log", "--json").out.splitlines()]
    assert types == ["ask.opened", "ask.answered"]
    assert desk.run("audit", "verify").out == "1 project, 2 events, 1 ask: the record is whole.\n"
    assert desk.run().out.startswith("Nothing waits in shop.")


def test_doctor_on_a_database_tells_its_state_and_what_is_wrong_with_it(desk: DatabaseShell) -> None:
    """The test server does not wait for the disk: that is exactly what doctor is for."""
    desk.open("Which?")
    found = desk.run("doctor", "--json")
    told = {check["name"]: check for check in found.json["checks"]}
    assert told["store"]["value"] == f"{show_address(desk.url)} (by ASSENT_STORE)"
    assert told["database"]["value"].startswith("PostgreSQL ")
    assert told["contents"]["value"] == "1 project, 1 event, 1 open ask"
    assert told["tls"]["value"] == "no, and the database is on this machine"
    assert told["schema"]["ok"]
    assert told["connections"]["value"].startswith("up to ")
    assert (told["durability"]["ok"], found.status) == (False, 1)
    assert "set both to on" in told["durability"]["remedy"]


def test_doctor_on_a_bare_database_makes_nothing(tmp_path: Path, postgres_server: PostgresServer) -> None:
    """It looks; the first ask sets the store up."""
    url = postgres_server.new_database(is_bare=True)
    try:
        desk = DatabaseShell(tmp_path, url)
        for _ in range(2):
            told = {check["name"]: check["value"] for check in desk.run("doctor", "--json").json["checks"]}
            assert told["schema"].startswith("no store in it yet; the first ask makes it")
            assert "contents" not in told
    finally:
        postgres_server.drop_database(url)


def test_server_on_a_database_serves_browsers_and_agents_and_shows_no_password(desk: DatabaseShell) -> None:
    """The banner, the words of its process and the page; an agent asks over HTTP, a person answers on the database."""
    with served(desk) as server, server.sign_in() as browser:
        assert f"store    {show_address(desk.url)}" in server.said
        assert SECRET not in server.said
        assert SECRET.encode() not in Path(f"/proc/{server.process.pid}/cmdline").read_bytes()
        token = desk.run("token", "create", "--role", "agent", "--name", "ci").out.strip()
        asking = desk.start(
            "ask", "Ship?", "--option", "Yes", "--option", "No", ASSENT_STORE=server.url, ASSENT_TOKEN=token
        )
        wait_for(lambda: len(waiting(desk)) == 1)
        listed = browser.get("/projects/shop/asks").json()["asks"]
        assert [ask["prompt"]["title"] for ask in listed] == ["Ship?"]
        assert desk.run("answer", listed[0]["ask_id"], "Yes").status == 0
        assert desk.finish(asking)[:2] == (0, "Yes\n")
        ended = server.stop()
    assert (ended.status, SECRET in ended.out + ended.err) == (0, False)


def test_demo_of_a_server_on_a_database_plays_and_shows_no_password_to_other_users(
    desk: DatabaseShell,
) -> None:
    """Everybody can read the words of a command: the agents get the address otherwise."""
    with served(desk, "--demo") as server:
        wait_for(lambda: len(desk.run("inbox", "--all", "--json").json["asks"]) >= 3)
        children = Path(f"/proc/{server.process.pid}/task/{server.process.pid}/children").read_text().split()
        words = [Path(f"/proc/{pid}/cmdline").read_bytes() for pid in children]
        assert any(b"demo_world" in each for each in words)
        assert not any(SECRET.encode() in each for each in words)
        server.stop()


def test_demo_on_a_database_says_that_it_wants_a_file(desk: DatabaseShell) -> None:
    """It plays on a file of its own; one that is named by the environment is left alone."""
    refused = desk.run("demo", "--store", desk.url)
    assert refused.status == 2
    assert "not on a database: leave --store out." in refused.err
    assert desk.run("log").out == ""


def test_loop_on_a_database_is_paused_and_resumed_from_another_process(desk: DatabaseShell) -> None:
    """And its output lies in a folder whose name has no password."""
    gate = desk.folder / "go"
    turn = "import os, sys, time\nprint(os.environ['ASSENT_ITERATION'])\nwhile not os.path.exists('go'): time.sleep(0.02)"
    looping = desk.start(
        "loop", "--run-id", "nightly", "--max", "2", "--prompt", "x", "--", sys.executable, "-c", turn
    )
    wait_for(lambda: [run["iteration"] for run in desk.run("runs", "--json").json["runs"]] == [1])
    assert desk.run("pause", "nightly").status == 0
    [run] = desk.run("runs", "--json").json["runs"]
    assert run["status"] in {"paused", "pausing"}
    gate.touch()
    wait_for(lambda: desk.run("runs", "--json").json["runs"][0]["status"] == "paused")
    assert desk.run("resume", "nightly").status == 0
    ended = desk.finish(looping)
    assert (ended.status, SECRET in ended.out + ended.err) == (7, False)
    state = Path(desk.environ()["XDG_STATE_HOME"])
    kept = [file for file in state.rglob("*") if file.suffix == ".log"]
    assert kept
    assert not any(SECRET in str(file) for file in kept)


def test_database_that_is_away_is_one_sentence_and_works_again_when_it_is_back(
    desk: DatabaseShell, postgres_server: PostgresServer
) -> None:
    """Whatever is asked of it; nothing of what was refused was saved."""
    desk.open("Which?")
    postgres_server.stop()
    try:
        name = show_address(desk.url).partition("@")[2]
        for arguments in (("ask", "More?", "--no-wait"), ("runs",), ("store",)):
            away = desk.run(*arguments)
            assert (away.status, away.out) == (1, ""), arguments
            assert away.err.splitlines() == [f"The database {name} does not answer; nothing was saved."]
        told = desk.run("inbox", "--json").json["error"]
        assert (told["code"], name in told["message"]) == ("store_away", True)
        checks = {check["name"]: check for check in desk.run("doctor", "--json").json["checks"]}
        assert checks["database"]["remedy"] == "Start the database, or correct the address."
    finally:
        postgres_server.start()
    assert desk.run("inbox", "--count").out == "1\n"


def test_lookout_goes_on_while_a_database_is_away_and_says_so(
    desk: DatabaseShell, postgres_server: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was seen last stays, and is told as such."""
    for name, value in desk.environ().items():
        monkeypatch.setenv(name, value)
    with connect(desk.url, project="shop") as asker:
        asker.open("Which?")
    with Lookout(Place(), everywhere=True) as lookout:
        [seen] = lookout.look_each(now())
        postgres_server.stop()
        try:
            [kept] = lookout.look_each(now())
            assert kept.asks == seen.asks
            assert [SECRET in trouble for trouble in lookout.troubles] == [False]
            assert lookout.away is not None
        finally:
            postgres_server.start()
        lookout.look_each(now())
        assert [lookout.troubles, lookout.away] == [[], None]


def test_database_without_its_driver_says_what_to_install(desk: DatabaseShell) -> None:
    """One sentence, a code, and no trace; doctor goes on with what it can."""
    code = "import sys; sys.modules['psycopg'] = None; from assent.cli.exit import run; sys.exit(run(sys.argv[1:]))"
    ended = {}
    for name in ("inbox", "store", "doctor"):
        ended[name] = subprocess.run(
            [sys.executable, "-c", code, name, "--json"],
            env=desk.environ(),
            cwd=desk.folder,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
    for name in ("inbox", "store"):
        assert ended[name].returncode == 1
        assert ended[name].stderr == "A PostgreSQL store needs an extra: pip install 'assent[postgres]'.\n"
        assert json.loads(ended[name].stdout)["error"]["code"] == "store_refused"
    checks = {check["name"]: check for check in json.loads(ended["doctor"].stdout)["checks"]}
    assert checks["psycopg"]["remedy"] == "pip install 'assent[postgres]'"
    assert not any(SECRET in each.stdout + each.stderr for each in ended.values())


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        (
            "postgresql://ana:pw@db.example:5433/assent?sslmode=require",
            "postgresql://ana@db.example:5433/assent",
        ),
        ("postgres://ana:p@ss:w@db.example/assent", "postgresql://ana@db.example/assent"),
        ("postgresql:///assent?password=pw", "postgresql:///assent"),
        ("postgresql://db.example/assent#pw", "postgresql://db.example/assent"),
        ("postgresql://ana:p/w@db.example/assent", "postgresql://ana@db.example/assent"),
        ("postgresql://ana:p?w@db.example/assent", "postgresql://..."),
        ("postgresql://db/assent?password=p@w", "postgresql://..."),
        ("postgresql://a/na:pw@db/assent", "postgresql://..."),
        ("http://127.0.0.1:8484", "http://127.0.0.1:8484"),
    ],
    ids=[
        "usual",
        "at-sign",
        "setting",
        "fragment",
        "slash",
        "question-mark",
        "at-sign-in-setting",
        "odd",
        "server",
    ],
)
def test_address_is_shown_without_its_password_however_it_is_written(address: str, shown: str) -> None:
    """Where it cannot be told what is secret, nothing is shown."""
    assert show_address(address) == shown


def test_bad_address_of_a_database_is_refused_and_not_quoted(desk: DatabaseShell) -> None:
    """The driver's own words would quote it."""
    bad = f"postgresql://ana:{SECRET}@host/assent?colour=red"
    refused = desk.run("inbox", "--store", bad)
    assert (refused.status, refused.out) == (2, "")
    assert "cannot be read" in refused.err


def test_secret_is_in_the_address_of_these_tests(database: str) -> None:
    """Else the others prove nothing."""
    assert SECRET in with_secret(database)
