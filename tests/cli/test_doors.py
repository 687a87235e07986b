"""Every command through a door: the same on a file and against a server, and one sentence where no server answers."""

import re
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

import assent
from assent.cli.lookout import Lookout
from assent.cli.place import Place, is_there, now
from assent.cli.table import COMMANDS
from assent.client.client import Client
from assent.client.door import Wait, run_call, until
from assent.client.identity import AGENT_MARKS
from assent.hub.command import Request, Told
from assent.hub.compose import hub_on_file
from assent.protocol.ask import State
from assent.protocol.error import UnreachableError
from assent.protocol.principal import Assurance, Principal, Role
from assent.protocol.run import Run
from tests.cli.gates import write_review
from tests.cli.reviews import DOCUMENT, LIFETIME, reviewer
from tests.cli.server_double import ADDRESS, ServerDouble, root, server_file, settled
from tests.cli.shell import Result, Shell, Terminal
from tests.cli.test_confirm import BEFORE, PLAN
from tests.patience import PATIENCE

__all__: list[str] = []

Call = Callable[..., Result]

FINDINGS = "findings.json"
REACHING: dict[str, list[tuple[str, ...]]] = {
    "ask": [("Which?", "--no-wait"), ("Which?",)],
    "approve": [("Drop it", "--action", "action.json", "--wait", "0")],
    "redeem": [("rcp_01m7hzh0s5mpytfwr4", "action.json")],
    "gate": [("phase-gate", "--summary", "Twelve files.", "--no-wait")],
    "confirm": [(*BEFORE, "--no-wait")],
    "session": [("FINDINGS.json",)],
    "review": [(FINDINGS, "--document", "plan.md", "--durable", "--wait", "0")],
    "result": [("coder", "--source-id", "T-1", "action.json")],
    "pr": [("post", "abcdef", "--pr", "acme/shop#7"), ("collect",)],
    "loop": [("--prompt", "x", "--", "true")],
    "host": [("codex", "go"), ("opencode",)],
    "mcp": [()],
    "inbox": [(), ("--all",), ("--count",)],
    "show": [("abcdef",)],
    "answer": [("abcdef", "1")],
    "claim": [("abcdef",)],
    "withdraw": [("abcdef",)],
    "policy": [("show",), ("explain",), ("set", "scopeChanges", "requires_approval")],
    "token": [("list",), ("create", "--role", "agent"), ("revoke", "ci")],
    "runs": [(), ("--all",), ("--watch",)],
    "pause": [("run-1",)],
    "resume": [("run-1",)],
    "cancel": [("run-1",)],
    "escalate": [("run-1",)],
    "post": [("notes", "{}")],
    "read": [("notes",), ("notes", "--follow")],
    "log": [(), ("--follow",)],
    "audit": [("verify",)],
}
"""What of each command reaches the store, with arguments that are right."""
KEEPING_OFF = {"completion", "demo", "doctor", "hook", "install", "notify", "plan", "serve", "store"}
"""Those that need no store, or say in their own way that it is not there."""
CASES = [(name, *arguments) for name, each in REACHING.items() for arguments in each]


@pytest.fixture
def desk(shell: Shell) -> Shell:
    """Give a shell with every file that a command asks for."""
    (shell.folder / ".git").mkdir()
    (shell.folder / "plan.xml").write_text(PLAN)
    (shell.folder / "plan.md").write_text(DOCUMENT)
    (shell.folder / "action.json").write_text("{}")
    (shell.folder / FINDINGS).write_bytes(msgspec.json.encode(reviewer("critic", LIFETIME)))
    write_review(shell.folder)
    return shell


@pytest.fixture
def server(call: Call, monkeypatch: pytest.MonkeyPatch) -> Call:
    """Give commands of a person against a double of a server."""
    monkeypatch.setitem(vars(assent), "HttpDoor", ServerDouble)
    monkeypatch.setenv("ASSENT_STORE", ADDRESS)
    monkeypatch.setenv("ASSENT_TOKEN", "human:bea")
    return call


def behind(shell: Shell, project: str | None = None) -> Client:
    """Return a client of an agent on the file behind the server."""
    hub = hub_on_file(server_file(shell.environ()["HOME"]))
    return Client(hub, project or shell.folder.name, Principal(Role.AGENT, "coder"))


def test_every_command_is_tried_on_a_server_that_is_not_there() -> None:
    """A new one has to be added above, or to those that keep off."""
    assert set(COMMANDS) - KEEPING_OFF == set(REACHING)


@pytest.mark.parametrize("arguments", CASES, ids=" ".join)
def test_command_against_no_server_says_so_in_one_line_and_fails(
    desk: Shell, call: Call, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]
) -> None:
    """No stack trace, no store made beside it, and no guess."""
    monkeypatch.setattr("assent.client.http.exchange.FIRST_SECONDS", 0.0)  # the patience is claimed elsewhere
    ended = call(*arguments, "--store", ADDRESS) if arguments[0] != "loop" else _loop(call, *arguments)
    assert (ended.status, ended.out) == (1, "")
    assert ended.err.splitlines() == [f"No server answers at {ADDRESS}. Start one with: assent serve"]
    assert not desk.store.exists()


def _loop(call: Call, name: str, *rest: str) -> Result:
    return call(name, "--store", ADDRESS, *rest)  # what stands behind the command is the command's


@pytest.mark.parametrize("arguments", CASES, ids=" ".join)
def test_command_on_an_address_of_an_unknown_scheme_is_refused_with_the_known_ones(
    desk: Shell, call: Call, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]
) -> None:
    """A slip of the finger makes no file of that name."""
    monkeypatch.setenv("ASSENT_STORE", "ftp://example.org")
    ended = call(*arguments)
    assert (ended.status, ended.out) == (2, "")
    assert ended.err.count("\n") == 1
    assert "sqlite:///path/file.db, postgresql://host/database or a server's http://host:port" in ended.err
    assert not desk.store.exists()


def test_no_server_is_told_by_a_process_without_a_stack_trace(shell: Shell) -> None:
    """As a script sees it, patience included."""
    ended = shell.run("inbox", "--store", ADDRESS, "--json")
    assert ended.status == 1
    assert ended.json["error"]["code"] == "unreachable"
    assert ended.err == f"No server answers at {ADDRESS}. Start one with: assent serve\n"


@pytest.mark.parametrize("mark", [*AGENT_MARKS, "ASSENT_PRINCIPAL"])
@pytest.mark.parametrize("name", ["answer", "claim", "withdraw", "policy", "token", "pause", "cancel"])
def test_person_s_command_where_an_agent_runs_it_is_refused_before_the_server_is_asked(
    desk: Shell, call: Call, monkeypatch: pytest.MonkeyPatch, name: str, mark: str
) -> None:
    """A person's token in an agent's environment makes it no person."""
    monkeypatch.setenv(mark, "agent:coder")
    ended = call(name, *REACHING[name][-1], "--store", ADDRESS)
    assert (ended.status, ended.out) == (4, "")
    assert ended.err.startswith(f"{mark} is set")
    assert not desk.store.exists()


def test_demo_on_a_server_is_refused(call: Call) -> None:
    """It plays on a file; where only ASSENT_STORE names a server, it plays on its own as ever."""
    ended = call("demo", "--store", ADDRESS)
    assert ended.status == 2
    assert "leave --store out" in ended.err


def test_address_of_a_server_has_one_spelling_and_no_file(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever needs a file is told; a server is always there, and nothing beside it is looked at."""
    monkeypatch.setenv("ASSENT_STORE", f"{ADDRESS}/")
    place = Place()
    assert (place.address, place.is_server, place.others, is_there(place.address)) == (
        ADDRESS,
        True,
        [],
        True,
    )
    with pytest.raises(assent.AssentError, match="is a server"):
        _ = place.path


def test_store_said_on_the_command_line_wins_over_a_server_in_the_environment(
    shell: Shell, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As any two stores."""
    call("ask", "Which?", "--no-wait")
    monkeypatch.setenv("ASSENT_STORE", ADDRESS)
    assert call("inbox", "--count", "--store", str(shell.store)).out == "1\n"


# Against a server

STORY = (
    ("ask", "Which?", "-o", "Red", "-o", "Blue", "--key", "k", "--no-wait"),
    ("inbox",),
    ("show", "ID"),
    ("claim", "ID"),
    ("answer", "ID", "Blue"),
    ("answer", "ID", "Red"),
    ("ask", "Which?", "-o", "Red", "-o", "Blue", "--key", "k"),
    ("gate", "phase-gate", "--summary", "Twelve files.", "--no-wait"),
    ("withdraw", "ID"),
    ("confirm", *BEFORE, "--no-wait"),
    ("post", "notes", '{"a": 1}'),
    ("read", "notes"),
    ("policy", "set", "scopeChanges", "automated", "--unattended"),
    ("policy", "explain"),
    ("result", "coder", "--source-id", "T-1", "action.json"),
    ("pause", "nightly", "--request-id", "r1"),
    ("runs", "--json"),
    ("log",),
    ("audit", "verify"),
)
_PASSING = r"\d{4}-\d\d-\d\d.\d\d:\d\d:\d\d(?:\.\d+Z)?|\b(?:ask_|oq-)\w+"  # moments, and ids


class AsSaid(ServerDouble):
    """A door that is no hub of this process, and lets everybody be who they say."""

    def who(self) -> Wait[Principal | None]:
        """Say nothing."""
        return self._door.who()

    def send(self, request: Request, project: str, principal: Principal, command_id: str) -> Wait[Told]:
        """Act as said."""
        return self._door.send(request, project, principal, command_id)


def play(call: Call) -> list[tuple[str, int, str, str]]:
    """Play the story; return what was said, without what differs from one time to the next."""
    told, ends = [], [""]
    for name, *rest in STORY:
        waiting = [ask["ask_id"] for ask in call("inbox", "--json").json["asks"]]
        ends += [ask_id[-6:] for ask_id in waiting]
        told.append((name, call(name, *(ends[-1] if word == "ID" else word for word in rest))))
    passing = re.compile("|".join([_PASSING, *filter(None, ends)]))
    return [
        (name, ended.status, passing.sub("…", ended.out), passing.sub("…", ended.err)) for name, ended in told
    ]


def test_commands_of_a_story_say_the_same_on_a_server_and_on_a_file(
    desk: Shell, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One script, two doors: the same lines, the same statuses."""
    on_a_file = play(call)
    statuses = [status for _, status, *_ in on_a_file]
    assert statuses == [0, 0, 0, 0, 0, 6, 0, 0, 0, 3, 0, 0, 0, 0, 0, 4, 0, 0, 0]
    (desk.folder / "plan.xml").write_text(PLAN)
    monkeypatch.setitem(vars(assent), "HttpDoor", AsSaid)
    monkeypatch.setenv("ASSENT_STORE", ADDRESS)
    assert play(call) == on_a_file


def test_who_acts_on_a_server_is_whose_token_it_is(server: Call, shell: Shell) -> None:
    """Neither the account of this machine nor what the environment says: the answer and the sentence name the holder."""
    with behind(shell) as asker:
        ask_id = asker.open("Which?", ["Red", "Blue"]).ask_id
        other_id = asker.open("What?", ["Up"]).ask_id
        assert "bea is on" in server("claim", ask_id).out
        assert server("answer", ask_id, "Red").out.startswith('bea answered: "Red"\nAsked: ')
        assert server("withdraw", other_id).out.startswith("bea took")
        answer = asker.show(ask_id).answer
    assert answer is not None
    assert answer.by == "human:bea"


def test_agent_s_token_with_a_person_s_command_is_refused(
    server: Call, shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the server, which is asked: no mark of an agent is in the environment."""
    monkeypatch.setenv("ASSENT_TOKEN", "agent:coder")
    with behind(shell) as asker:
        ask_id = asker.open("Which?", ["Red"]).ask_id
        refused = server("answer", ask_id, "Red")
        assert asker.show(ask_id).is_open
    assert (refused.status, refused.err) == (4, "agent:coder is an agent: only a person can answer.\n")


def test_everywhere_on_a_server_is_all_its_projects_and_no_file_of_this_machine(
    server: Call, shell: Shell
) -> None:
    """A server is named, if only by ASSENT_STORE: what this user opened beside it is not meant."""
    server("ask", "A file's?", "--no-wait", "--store", str(shell.store))
    with behind(shell) as here, behind(shell, "elsewhere") as there:
        here.open("Here?")
        there_id = there.open("There?").ask_id
    titles = [ask["prompt"]["title"] for ask in server("inbox", "--all", "--json").json["asks"]]
    assert sorted(titles) == ["Here?", "There?"]
    assert server("inbox", "--here", "--count").out == "1\n"
    assert server("show", there_id[-6:], "--json").json["project"] == "elsewhere"


def test_run_in_another_project_of_a_server_is_found_by_a_part_of_its_id(server: Call, shell: Shell) -> None:
    """As on a file."""
    with behind(shell, "elsewhere") as driver, driver.run(run_id="nightly-4711", max=3) as run:
        next(run)
        paused = server("pause", "nightly")
        assert paused.status == 0, paused.err
        assert server("runs", "--all", "--json").json["runs"][0]["status"] == "pausing"


def test_doctor_of_a_server_tells_whose_token_it_is_and_nothing_of_files(
    server: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What there is to know of it from here."""
    checks = {check["name"]: check for check in server("doctor", "--json").json["checks"]}
    assert checks["server"]["value"] == f"{ADDRESS} (by ASSENT_STORE)"
    assert checks["who"]["value"] == "human:bea answers and steers"
    assert not {"store", "sqlite", "file", "file system", "contents", "doorbell", "noted"} & set(checks)
    monkeypatch.setenv("ASSENT_TOKEN", "")
    without = server("doctor")
    assert without.status == 1
    assert "ASSENT_TOKEN is not set" in without.out
    assert "assent token create" in without.out


def test_doctor_of_no_server_says_that_none_answers_and_what_to_do(
    call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And goes on looking at the rest."""
    monkeypatch.setattr("assent.client.http.exchange.FIRST_SECONDS", 0.0)
    found = call("doctor", "--store", ADDRESS, "--json")
    checks = {check["name"]: check for check in found.json["checks"]}
    assert (found.status, checks["who"]["ok"]) == (1, False)
    assert checks["who"]["value"].startswith(f"No server answers at {ADDRESS}.")
    assert checks["who"]["remedy"] == "Start it with assent serve, or correct the address."
    assert "agent marks" in checks


# Who types


def at_terminal(shell: Shell, token: str, *arguments: str, mark: str | None = None) -> Terminal:
    """Start a command on a terminal against the double of a server."""
    return Terminal(
        shell,
        *arguments,
        program=(sys.executable, "-m", "tests.cli.server_double"),
        PYTHONPATH=root,
        ASSENT_STORE=ADDRESS,
        ASSENT_TOKEN=token,
        NO_COLOR="1",
        CLAUDECODE=mark,
    )


ASKING = {
    "ask": ("ask", "Which colour?", "-o", "Red", "-o", "Blue"),
    "gate": ("gate", "phase-gate", "--summary", "Which colour?"),
    "confirm": ("confirm", *BEFORE),
    "review": ("review", FINDINGS, "--document", "plan.md", "--durable"),
    "approve": ("approve", "Which colour?", "--action", "action.json"),
}


@pytest.mark.parametrize("name", ASKING)
def test_agent_s_token_at_a_terminal_shows_the_question_and_reads_nothing(desk: Shell, name: str) -> None:
    """An agent's token never answers: what is typed goes nowhere, and one line says where a person can answer."""
    with at_terminal(desk, "agent:coder", *ASKING[name]) as terminal:
        terminal.until("Waiting for an answer from elsewhere: assent answer")
        terminal.type("1\n")
        with behind(desk) as asker:
            ask = asker.inbox()[0]
            assert asker.count() == 1
            person = Client(
                asker.door, asker.project, Principal(Role.HUMAN, "bea"), assurance=Assurance.TOKEN
            )
            person.decline(ask.ask_id, "not now")
        ended = terminal.end()
        with behind(desk) as asker:
            assert asker.show(ask.ask_id).state is State.DECLINED
    flat = " ".join(ended.err.split())
    assert ended.status == 4, ended.err
    assert flat.count("ASSENT_TOKEN is that of agent:coder, so what is typed here is not read") == 1
    assert f"assent inbox --store {ADDRESS}" in flat
    assert ask.prompt.title[:12] in flat


def test_person_s_token_at_a_terminal_sends_what_is_typed_in_the_holder_s_name(desk: Shell) -> None:
    """How sure that is, the server says."""
    with at_terminal(desk, "human:bea", *ASKING["ask"]) as terminal:
        terminal.until("> ")
        terminal.type("2\n")
        ended = terminal.end()
        with behind(desk) as asker:
            answer = asker.log()[-1]
    assert (ended.status, ended.out) == (0, "Blue\n")
    assert answer.type == "ask.answered"
    assert b"human:bea" in (answer.body or b"")


def test_mark_of_an_agent_at_a_terminal_keeps_even_a_person_s_token_from_answering(desk: Shell) -> None:
    """An agent that found a person's token is still the one that types."""
    with at_terminal(desk, "human:bea", *ASKING["ask"], "--wait", "1", mark="1") as terminal:
        terminal.until("what is typed here is not read")
        terminal.type("2\n")
        ended = terminal.end()
    assert (ended.status, ended.out) == (3, "")


# What only a file has


def test_loop_against_a_server_hands_its_address_down_and_keeps_output_out_of_the_project(
    shell: Shell,
) -> None:
    """Nothing is written into a folder that git may look at."""
    tell = (sys.executable, "-c", "import os; print(os.environ['ASSENT_STORE'], os.environ['ASSENT_TOKEN'])")
    with at_terminal(
        shell, "agent:coder", "loop", "--run-id", "nightly", "--max", "1", "--", *tell
    ) as terminal:
        ended = terminal.end()
    assert ended.status == 7, ended.err
    kept = list(Path(shell.environ()["XDG_STATE_HOME"]).rglob("0001.log"))
    assert [file.read_text() for file in kept] == [f"{ADDRESS} agent:coder\n"]
    assert list(shell.folder.iterdir()) == []


@pytest.mark.usefixtures("desk")
def test_gate_against_a_server_is_never_posted_as_a_comment(
    server: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever replies there has no token here, and their answer must not carry the name of whose token this is."""
    monkeypatch.setenv("GITHUB_REPOSITORY", "acme/shop")
    monkeypatch.setenv("GITHUB_TOKEN", "x")
    monkeypatch.setattr("assent.effects.github.find.find_channel", lambda _: object())
    monkeypatch.setattr("assent.cli.remote.post_gate", pytest.fail)
    arguments = ("phase-gate", "--summary", "x", "--findings", "FINDINGS.json", "--wait", "0")
    ended = server("gate", *arguments)
    assert ended.status == 3, ended.err
    assert "could not be taken over to the server in its writer's name" in ended.err
    assert "Answer it with: assent answer" in ended.err


# The board


class Ending(AsSaid):
    """A server on which every run ends right after it was listed."""

    def runs(self, project: str | None, limit: int, *, active: bool) -> Wait[list[Run]]:
        """List runs."""
        if not active:
            return self._door.runs(project, limit, active=False)
        listed = run_call(until(self._door.runs(project, limit, active=True)))
        for run in listed:
            Client(self._door, run.project, Principal(Role.HUMAN, "bea")).cancel(run.run_id)
        return Wait(lambda _: settled(listed))


class Leaving(AsSaid):
    """A server that can go away."""

    is_away = False

    def runs(self, project: str | None, limit: int, *, active: bool) -> Wait[list[Run]]:
        """List runs, while it is there."""
        if Leaving.is_away:
            raise UnreachableError
        return self._door.runs(project, limit, active=active)


def test_run_that_ends_between_two_reads_is_on_the_board_once(
    server: Call, shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Over a door each read is of its own moment; the later one counts."""
    monkeypatch.setitem(vars(assent), "HttpDoor", Ending)
    with behind(shell) as driver, driver.run(run_id="nightly", max=3) as run:
        next(run)
        listed = server("runs", "--here", "--json").json["runs"]
    assert [(run["run_id"], run["status"]) for run in listed] == [("nightly", "aborted")]


@pytest.mark.usefixtures("server")
def test_lookout_goes_on_while_a_server_is_away_and_says_so(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was seen last stays, and is told as such; one that never answered is an error."""
    monkeypatch.setitem(vars(assent), "HttpDoor", Leaving)
    monkeypatch.setattr(Leaving, "is_away", True)
    with Lookout(Place(), everywhere=False) as lookout:
        with pytest.raises(UnreachableError):
            lookout.look(now())
        monkeypatch.setattr(Leaving, "is_away", False)
        with behind(shell) as driver, driver.run(run_id="nightly", max=3) as run:
            next(run)
            seen = lookout.look(now())
        monkeypatch.setattr(Leaving, "is_away", True)
        assert lookout.look(now()) == seen
        assert lookout.troubles == ["No server answers there."]
        monkeypatch.setattr(Leaving, "is_away", False)
        lookout.look(now())
        assert lookout.troubles == []


@pytest.mark.usefixtures("server")
def test_lookout_on_a_project_of_a_server_hears_of_news(shell: Shell) -> None:
    """Its log is followed, as no bell rings from there."""
    news = threading.Event()
    with Lookout(Place(), everywhere=False, tell=news.set) as lookout, behind(shell) as asker:
        lookout.look(now())
        asker.open("Which?")
        assert news.wait(PATIENCE)
