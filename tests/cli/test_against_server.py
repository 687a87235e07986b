"""Every command that touches a store, as a process: it says the same and ends the same on a file and on a server."""

import re
import signal
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import msgspec
import pytest

from assent.cli.table import COMMANDS
from assent.client.client import Client
from assent.client.connect import open_hub
from assent.client.identity import AGENT_MARKS
from assent.protocol.principal import Assurance, Principal, Role
from assent.protocol.token import ALL_PROJECTS
from assent.testing import throwaway
from assent.testing.server import ThrowawayServer
from tests.cli.gates import write_review
from tests.cli.reviews import DOCUMENT, LIFETIME, reviewer
from tests.cli.shell import Shell, wait_for
from tests.cli.test_confirm import BEFORE, PLAN
from tests.work_samples import DATABASE

__all__: list[str] = []

AGENT, HUMAN = Role.AGENT, Role.HUMAN
PROJECT = "shop"
AT_ONCE = 20.0
"""Seconds: less than a poll of the client takes."""
RED_OR_BLUE = ("Which colour?", "-o", "Red", "-o", "Blue")
STORY: tuple[tuple[Role, int, tuple[str, ...]], ...] = (
    (AGENT, 0, ("ask", *RED_OR_BLUE, "--key", "k", "--no-wait")),
    (HUMAN, 0, ("inbox",)),
    (HUMAN, 0, ("inbox", "--count")),
    (HUMAN, 0, ("inbox", "--json")),
    (HUMAN, 0, ("show", "ID")),
    (HUMAN, 0, ("show", "ID", "--json")),
    (HUMAN, 0, ("claim", "ID")),
    (HUMAN, 2, ("answer", "ID", "Green")),
    (HUMAN, 0, ("answer", "ID", "Blue")),
    (HUMAN, 6, ("answer", "LAST", "Red")),
    (AGENT, 0, ("ask", *RED_OR_BLUE, "--key", "k")),
    (AGENT, 6, ("ask", "Another?", "--key", "k", "--no-wait")),
    (AGENT, 3, ("ask", "Later?", "--wait", "0", "--json")),
    (HUMAN, 0, ("answer", "ID", "--decline", "--reason", "not now")),
    (AGENT, 3, ("gate", "phase-gate", "--summary", "Twelve files.", "--wait", "0")),
    (AGENT, 4, ("pr", "post", "ID", "--pr", "acme/shop#7")),
    (AGENT, 0, ("pr", "list")),
    (AGENT, 0, ("pr", "collect")),
    (HUMAN, 0, ("withdraw", "ID")),
    (AGENT, 3, ("confirm", *BEFORE, "--no-wait")),
    (HUMAN, 3, ("session", "FINDINGS.json")),  # what comes by a pipe is a person's, and so is the token
    (AGENT, 3, ("review", "findings.json", "--document", "plan.md", "--durable", "--wait", "0")),
    (AGENT, 0, ("result", "coder", "--source-id", "T-1", "result.json")),
    (AGENT, 3, ("approve", "Drop it", "--action", "action.json", "--key", "a", "--wait", "0")),
    (HUMAN, 0, ("answer", "ID", "1", "--unattended")),
    (AGENT, 0, ("approve", "Drop it", "--action", "action.json", "--key", "a", "--wait", "0")),
    (AGENT, 4, ("redeem", "RECEIPT", "result.json")),
    (AGENT, 0, ("redeem", "RECEIPT", "action.json")),
    (AGENT, 6, ("redeem", "RECEIPT", "action.json")),
    (HUMAN, 0, ("policy", "set", "scopeChanges", "automated", "--unattended")),
    (HUMAN, 0, ("policy", "show")),
    (HUMAN, 0, ("policy", "explain")),
    (AGENT, 0, ("policy", "export", "--task-dir", "task")),
    (AGENT, 7, ("loop", "--run-id", "nightly", "--max", "1", "--", "true")),
    (AGENT, 1, ("host", "opencode", "http://127.0.0.1:1")),
    (HUMAN, 0, ("runs", "--json")),
    (HUMAN, 4, ("pause", "nightly")),
    (HUMAN, 4, ("resume", "nightly")),
    (HUMAN, 4, ("cancel", "nightly")),
    (HUMAN, 4, ("escalate", "nightly")),
    (HUMAN, 0, ("post", "notes", '{"a": [1, null]}')),
    (HUMAN, 0, ("read", "notes")),
    (HUMAN, 0, ("token", "create", "--role", "agent", "--name", "ci")),
    (HUMAN, 0, ("token", "list")),
    (HUMAN, 0, ("token", "revoke", "ci")),
    (HUMAN, 0, ("log",)),
    (HUMAN, 0, ("audit", "verify")),
)
ABOUT_THE_PLACE = {
    "completion",
    "demo",
    "doctor",
    "hook",
    "install",
    "mcp",
    "notify",
    "plan",
    "serve",
    "store",
}
"""They tell of this machine, make a server, or need no store."""
_PASSING = re.compile(
    r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?(\.\d+)?Z?|\b\d\d:\d\d(:\d\d)?\b|\b(ask|rcp|tok|assent|oq|not|cmd)[-_]\w{8,}"
    r"|sha256:\w+|\b[0-9a-f]{32,}\b|\b\d+ m?s\b"
)
"""Moments, ids, digests and secrets."""
_ABOUT = re.compile(r"(?m)^( +\d+  …  [\w.]+ +)\S+")
"""The end of an id in a line of the log."""
_AS_SAID = re.compile(
    r"\b(cli|http), (declared|token)(?=[,)])|\b(declared|token)(?=[,)])|\bagent:(?=ana asks)"
)
"""What a server says by the token, and not by what a process says of itself: how sure, and who."""


class Desk(NamedTuple):
    """A shell, who acts there and how, and a look at the store behind it."""

    shell: Shell
    changes: dict[Role, dict[str, str | None]]
    look: Client


def make_shell(folder: Path) -> Shell:
    """Return a shell with every file that a command asks for."""
    folder.mkdir(parents=True)
    (folder / ".git").mkdir()
    (folder / "plan.xml").write_text(PLAN)
    (folder / "plan.md").write_text(DOCUMENT)
    (folder / "action.json").write_text('{"drop": "users.legacy_id"}')
    asking = {"status": "failed", "open_questions": [{"text": DATABASE}]}
    (folder / "result.json").write_bytes(msgspec.json.encode(asking))
    (folder / "findings.json").write_bytes(msgspec.json.encode(reviewer("critic", LIFETIME)))
    write_review(folder)
    return Shell(folder)


@pytest.fixture
def unmarked() -> dict[str, str | None]:
    """Give what takes every mark of an agent's host away."""
    return dict.fromkeys((*AGENT_MARKS, "ASSENT_PRINCIPAL", "ASSENT_STORE", "ASSENT_TOKEN", "ASSENT_PROJECT"))


@pytest.fixture
def on_file(tmp_path: Path, unmarked: dict[str, str | None]) -> Iterator[Desk]:
    """Give a desk on a file."""
    shell = make_shell(tmp_path / "file" / PROJECT)
    hub = open_hub(shell.store, shell.environ())
    minter = Client(hub, "keys", Principal(HUMAN, "minter"), assurance=Assurance.TERMINAL)
    for role in (AGENT, HUMAN):
        minter.create_token(role, name="ana", projects=(ALL_PROJECTS,))  # as many as the other desk has
    yield Desk(shell, {AGENT: unmarked, HUMAN: unmarked}, Client(hub, PROJECT, Principal(AGENT, "looker")))
    hub.close()
    shell.close()


@pytest.fixture
def server() -> Iterator[ThrowawayServer]:
    """Give a server."""
    with throwaway(project=PROJECT) as store, ThrowawayServer(store) as made:
        yield made


@pytest.fixture
def on_server(tmp_path: Path, unmarked: dict[str, str | None], server: ThrowawayServer) -> Iterator[Desk]:
    """Give a desk on the server; an agent's and a person's tokens are for whom the file takes them for."""
    shell = make_shell(tmp_path / "server" / PROJECT)
    changes: dict[Role, dict[str, str | None]] = {
        role: unmarked
        | {
            "ASSENT_STORE": server.url,
            "ASSENT_TOKEN": server.token(role, "ana", projects=(ALL_PROJECTS,), project="keys"),
        }
        for role in (AGENT, HUMAN)
    }
    yield Desk(shell, changes, server.store.agent("looker"))
    shell.close()


def play(desk: Desk) -> list[tuple[str, int, str]]:
    """Play the story; return what was said on standard output, without what differs from one time to the next."""
    told: list[tuple[str, int, str]] = []
    names = {"ID": "", "LAST": "", "RECEIPT": ""}
    ends: set[str] = set()
    for role, _, arguments in STORY:
        asks = desk.look.inbox()
        if asks:
            names |= {"ID": asks[0].ask_id, "LAST": names["ID"] or asks[0].ask_id}
        given = [names.get(word, word) for word in arguments]
        # A session reads a pipe as a terminal; its end is no decision.
        typed = "" if arguments[0] == "session" else None
        ended = desk.shell.run(*given, typed=typed, **desk.changes[role])
        if arguments[0] == "approve" and ended.status == 0:
            names["RECEIPT"] = ended.out.split()[0]
        ends |= {ask.ask_id[-6:] for ask in desk.look.inbox(all_states=True)}
        told.append((" ".join(arguments), ended.status, ended.out))
    short = re.compile("|".join(sorted(ends)))

    def settled(out: str) -> str:
        return _AS_SAID.sub("", _ABOUT.sub(r"\1…", short.sub("…", _PASSING.sub("…", out))))

    return [(words, status, settled(out)) for words, status, out in told]


def test_story_tells_of_every_command() -> None:
    """A new one that touches a store gets its line."""
    assert set(COMMANDS) - ABOUT_THE_PLACE == {arguments[0] for _, _, arguments in STORY}


def test_every_command_says_and_ends_the_same_on_a_server_as_on_a_file(
    on_file: Desk, on_server: Desk
) -> None:
    """One story, two doors, real processes."""
    with ThreadPoolExecutor(2) as pool:
        on_a_file, over_http = pool.map(play, (on_file, on_server))
    assert [(words, status) for words, status, _ in on_a_file] == [
        (" ".join(arguments), status) for _, status, arguments in STORY
    ]
    for (words, status, there), (_, same, here) in zip(over_http, on_a_file, strict=True):
        assert (words, status, there.splitlines()) == (words, same, here.splitlines())
    assert (on_server.shell.folder / "plan.xml").read_text() == (
        on_file.shell.folder / "plan.xml"
    ).read_text()
    assert not on_server.shell.store.exists()


def test_agent_s_token_ends_every_command_of_a_person_with_4(on_server: Desk) -> None:
    """The server refuses it, whatever the environment says."""
    look, shell = on_server.look, on_server.shell
    ask_id = look.open("Which?", ["red fox", "blue fox"]).ask_id
    before = look.log()
    for arguments in (
        ("answer", ask_id, "1"),
        ("claim", ask_id),
        ("withdraw", ask_id),
        ("policy", "set", "scopeChanges", "automated", "--unattended"),
        ("token", "create", "--role", "agent", "--name", "x"),
    ):
        ended = shell.run(*arguments, **on_server.changes[AGENT])
        assert (ended.status, ended.out) == (4, ""), arguments
        assert ended.err.count("\n") == 1
    assert look.log() == before


def test_token_that_is_none_is_told_in_one_line(on_server: Desk) -> None:
    """With what to do; no stack trace, and nothing is made up."""
    for token in ("", "assent_" + "0" * 64, "nonsense"):
        ended = on_server.shell.run("inbox", **(on_server.changes[HUMAN] | {"ASSENT_TOKEN": token}))
        assert ended.status in {1, 2, 4}, ended
        assert ended.out == ""
        assert ended.err.count("\n") == 1
        assert "oken" in ended.err


WAITING: dict[str, tuple[Role, int, tuple[str, ...]]] = {
    "ask": (AGENT, 3, ("ask", *RED_OR_BLUE)),
    "confirm": (AGENT, 3, ("confirm", *BEFORE)),
    "approve": (AGENT, 3, ("approve", "Drop it", "--action", "action.json")),
}


@pytest.mark.parametrize("name", WAITING)
def test_ctrl_c_ends_a_command_that_waits_on_a_server_with_3_at_once(
    name: str, on_server: Desk, server: ThrowawayServer
) -> None:
    """Long before the server would have answered; the ask stays open."""
    role, status, arguments = WAITING[name]
    process = on_server.shell.start(*arguments, stdin=subprocess.DEVNULL, **on_server.changes[role])
    wait_for(lambda: on_server.look.count() == 1 and server.waiting > 0)
    began = time.monotonic()
    process.send_signal(signal.SIGINT)
    ended = on_server.shell.finish(process)
    assert (ended.status, ended.out) == (status, ""), ended.err
    assert time.monotonic() - began < AT_ONCE
    assert "Traceback" not in ended.err
    assert on_server.look.count() == 1
