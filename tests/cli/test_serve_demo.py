"""The live demo of `assent serve --demo`: real agents that ask, hear the answer, run in loops, and leave nothing behind."""

import os
import signal
import socket
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import httpx2
import psutil
import pytest

from assent import connect
from assent.cli.demo_world.cast import AGENTS, HOME
from assent.cli.demo_world.studio import share
from assent.cli.serve import DEFAULT_PORT
from assent.protocol.ask import Kind
from tests.cli.serving import served, served_at_usual_port
from tests.cli.shell import Result, Shell, wait_for
from tests.patience import PATIENCE

__all__: list[str] = []

Call = Callable[..., Result]


class Inbox:
    """What a person who followed the link sees, and does."""

    def __init__(self, browser: httpx2.Client) -> None:
        self._browser = browser

    def get(self, path: str, **query: Any) -> Any:
        """Return what a page gets."""
        reply = self._browser.get(path, params=query)
        assert reply.status_code == 200, reply.text
        return reply.json()

    def post(self, path: str, body: dict[str, Any]) -> Any:
        """Return the reply to what a page posts."""
        reply = self._browser.post(path, json=body)
        assert reply.status_code == 200, reply.text
        return reply.json()

    def open(self) -> list[dict[str, Any]]:
        """Return what waits, in all projects."""
        asks: list[dict[str, Any]] = self.get("/asks")["asks"]
        return asks

    def of(self, asker: str) -> dict[str, Any] | None:
        """Return what an agent asks now."""
        return next((ask for ask in self.open() if ask["asker"] == f"agent:{asker}"), None)

    def asked(self, asker: str, after: str = "") -> dict[str, Any]:
        """Return what an agent asks, once it does; `after` is the id of what it asked before."""
        found: list[dict[str, Any]] = []

        def look() -> bool:
            ask = self.of(asker)
            found[:] = [ask] if ask is not None and ask["ask_id"] != after else []
            return bool(found)

        wait_for(look)
        return found[0]

    def answer(self, ask: dict[str, Any], reply: dict[str, Any]) -> str:
        """Answer an ask; return its id."""
        self.post(f"/projects/{ask['project']}/asks/{ask['ask_id']}/answer", reply)
        name: str = ask["ask_id"]
        return name

    def run(self, agent: str) -> dict[str, Any]:
        """Return the run that an agent drives, once it does."""
        found: list[dict[str, Any]] = []

        def look() -> bool:
            runs = [run for project in self.projects() for run in self.runs(project)]
            found[:] = [run for run in runs if run["record"]["started_by"] == f"agent:{agent}"]
            return bool(found)

        wait_for(look)
        return found[0]

    def runs(self, project: str) -> list[dict[str, Any]]:
        """Return the runs of a project."""
        runs: list[dict[str, Any]] = self.get(f"/projects/{project}/runs")["runs"]
        return runs

    def projects(self) -> list[str]:
        """Return the projects that have something."""
        projects: list[str] = self.get("/projects")["projects"]
        return projects


@pytest.fixture(scope="module")
def inbox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Inbox]:
    """Give somebody at a demo for all tests that do something: each has agents there that no other test answers."""
    folder = tmp_path_factory.mktemp("demo") / "shop"
    folder.mkdir()
    shell = Shell(folder)
    with served(shell, "--demo", "--throwaway", TMPDIR=str(folder)) as server, server.sign_in() as browser:
        yield Inbox(browser)
    shell.close()


# What a newcomer sees


def test_newcomer_finds_all_kinds_at_a_demo_that_leaves_nothing(shell: Shell) -> None:
    """A throw-away demo from its first line to Ctrl-C, where the usual port is taken."""
    secrets = {"GH_TOKEN": "x", "GITHUB_TOKEN": "x", "ASSENT_TOKEN": "x"}
    with ExitStack() as stack:
        with suppress(OSError):  # somebody else has it: as good
            stack.enter_context(socket.create_server(("127.0.0.1", DEFAULT_PORT)))
        server = stack.enter_context(
            served_at_usual_port(shell, "--demo", "--throwaway", TMPDIR=str(shell.folder), **secrets)
        )
        # It takes a free port, and says so; a server that is none of a demo does not.
        assert f"on a free port, as {DEFAULT_PORT} is taken" in server.said
        assert not server.url.endswith(f":{DEFAULT_PORT}")
        assert shell.run("serve").err.startswith(f"Port {DEFAULT_PORT} is taken")
        # The link stands on a line of its own: it is what a newcomer looks for. Nothing is opened by itself.
        assert f"    {server.url}/sign-in#{server.code}" in server.said.splitlines()
        assert "  sign in" not in server.said
        assert len(list(shell.folder.glob("assent-demo-*/assent.db"))) == 1
        agents = psutil.Process(server.process.pid).children()
        assert_no_way_out(agents, secrets)
        assert httpx2.get(server.url, trust_env=False).status_code == 200
        with server.sign_in() as browser:
            assert_all_kinds_are_asked(Inbox(browser))
            assert_each_kind_shows_what_it_can_hold(Inbox(browser))
        assert server.stop(signal.SIGINT).err == ""
        gone, alive = psutil.wait_procs(agents, PATIENCE)
        assert (len(gone), alive) == (len(AGENTS), [])
    assert list(shell.folder.glob("assent-demo-*")) == []
    assert not shell.store.exists()


def assert_no_way_out(agents: list[psutil.Process], secrets: Iterable[str]) -> None:
    """A demo that somebody says yes to posts nothing in their name: no way to GitHub, and no token."""
    assert len(agents) == len(AGENTS)
    for agent in agents:
        assert {*secrets, "PATH"}.isdisjoint(agent.environ())
        # In the environment, which only the same user can read; a command line is everybody's.
        assert agent.environ()["ASSENT_STORE"] not in " ".join(agent.cmdline())


def assert_all_kinds_are_asked(inbox: Inbox) -> None:
    """By different agents, in four projects, and never more than one ask of each."""
    wait_for(lambda: {ask["kind"] for ask in inbox.open()} == set(Kind))
    askers = [ask["asker"] for ask in inbox.open()]
    assert len(askers) == len(set(askers)) <= len(AGENTS)
    wait_for(lambda: set(inbox.projects()) == {HOME, "edge-infra", "ledger-sync", "handbook"})


def assert_each_kind_shows_what_it_can_hold(inbox: Inbox) -> None:
    """Several fields at once, commands of a gate, a difference and a deadline that says no, a task that waits."""
    fields = inbox.asked("librarian")["prompt"]["fields"]
    assert [(field["multiple"], bool(field["options"]), field["free"]) for field in fields] == [
        (True, True, False),
        (False, True, True),
        (False, True, False),
        (False, False, True),
    ]
    approval = inbox.asked("deployer")
    assert approval["prompt"]["risk"] == "irreversible"
    assert approval["deadline"] is not None
    assert approval["consequence"] == "deny"
    assert all("\n@@ -" in file["diff"] for file in approval["prompt"]["action"]["files"])
    gate = inbox.asked("reviewer")
    assert gate["kind"] == Kind.GATE
    question = inbox.asked("coder")
    tasks = inbox.get("/projects/ledger-sync/tasks")["tasks"]
    assert question["kind"] == Kind.OPEN_QUESTION
    assert "blocked" in {task["status"] for task in tasks}


# How agents react


def test_answer_leads_to_the_next_ask_and_a_no_is_taken_well(inbox: Inbox) -> None:
    """A question, a finding that is declined, and an approval, which is spent once."""
    question, finding, approval = map(inbox.asked, ("storefront", "linter", "deployer"))
    chosen = question["prompt"]["fields"][0]["options"][0]["label"]
    answered = inbox.answer(question, {"text": chosen})
    declined = inbox.answer(finding, {"decline": True, "reason": "Not now."})
    approved = inbox.answer(approval, {"text": "approve"})
    assert "thirty days" in inbox.asked("storefront", answered)["prompt"]["title"]
    assert inbox.asked("deployer", approved)["kind"] == Kind.QUESTION
    assert inbox.asked("linter", declined)["kind"] == Kind.FINDING
    log = inbox.get("/projects/edge-infra/log")["events"]
    assert [event["type"] for event in log].count("receipt.redeemed") == 1


def test_walk_through_asks_about_dependents_and_ends_in_a_report(inbox: Inbox) -> None:
    """Findings that rest on one that is skipped are asked about; at the end the agent tells what came of it."""
    last, seen = "", []
    for _ in range(12):
        ask = inbox.asked("editor", last)
        seen.append(ask["prompt"]["title"])
        if "is reviewed" in seen[-1]:
            break
        # A is one by one, apply, cascade and go on; C is skip.
        last = inbox.answer(ask, {"text": "C" if "alert robot helps" in seen[-1] else "A"})
    assert any("depend" in title for title in seen), seen
    assert "is reviewed: " in seen[-1]


def test_session_goes_on_from_gate_to_gate(inbox: Inbox) -> None:
    """At the gate of a chunk there are commands, and one of them counts."""
    first = inbox.asked("reviewer")
    second = inbox.asked("reviewer", inbox.answer(first, {"text": "1"}))
    third = inbox.asked("reviewer", inbox.answer(second, {"text": "1"}))
    assert any(command.startswith("deselect") for command in third["prompt"]["commands"])
    fourth = inbox.asked("reviewer", inbox.answer(third, {"text": "deselect M1"}))
    assert "- [ ] M1" in fourth["prompt"]["body"]


def test_confirm_and_open_question_go_on_when_they_are_answered(inbox: Inbox) -> None:
    """A change that a person wants is in the next summary; a task goes on, and is closed."""
    confirm, question = inbox.asked("migrator"), inbox.asked("coder")
    changed = inbox.answer(confirm, {"text": "keep the old column for a month"})
    fields = question["prompt"]["fields"]
    inbox.answer(question, {"values": {field["name"]: ["As the bank says."] for field in fields}})
    assert "keep the old column" in inbox.asked("migrator", changed)["prompt"]["title"]
    wait_for(
        lambda: "closed" in {task["status"] for task in inbox.get("/projects/ledger-sync/tasks")["tasks"]}
    )


def test_runs_can_be_steered_and_say_what_they_do(inbox: Inbox) -> None:
    """Paused, escalated, resumed and cancelled; the output is there for a board."""
    builder, canary = inbox.run("builder"), inbox.run("canary")
    wait_for(lambda: len(inbox.run("builder")["stack"]) == 2)
    where = f"/projects/{builder['project']}/runs/{builder['run_id']}"
    wait_for(lambda: "SHOP-311" in inbox.get(f"{where}/output")["text"])
    for command in ({"command": "pause"}, {"command": "escalate", "model": "opus"}, {"command": "resume"}):
        assert inbox.post(f"{where}/control", command)["payload"]["status"] == "success"
    wait_for(lambda: inbox.get(where)["model"] == "opus")
    other = f"/projects/{canary['project']}/runs/{canary['run_id']}"
    asked = inbox.asked("canary")
    assert asked["run_id"] == canary["run_id"]
    assert inbox.post(f"{other}/control", {"command": "cancel"})["payload"]["status"] == "success"
    wait_for(lambda: inbox.of("canary") is None)


# How it ends


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_demo_on_a_store_of_ones_own_plays_in_the_current_project_and_leaves_only_what_others_asked(
    shell: Shell, number: int
) -> None:
    """However its end came, and while a run is paused; what the agents wrote is gone, too.

    Agents of one's own may be called as those of the demo are; and it is said what the demo writes, and where.
    """
    with connect(shell.store, project="shop", principal="agent:linter") as linter:
        asked = linter.open("Mine?", ["yes", "no"])
    with served(shell, "--demo", TMPDIR=str(shell.folder)) as server, server.sign_in() as browser:
        inbox = Inbox(browser)
        assert f"  store    {shell.store}" in server.said.splitlines()
        assert "in this project and in edge-infra, handbook, ledger-sync;" in server.said
        assert "--throwaway has one of its own" in server.said
        agents = psutil.Process(server.process.pid).children()
        assert len(agents) == len(AGENTS)
        # Three kinds of asks and a run are in the project, whatever it is called.
        wait_for(lambda: len({ask.kind for ask in shell.waiting()}) >= 3)
        wait_for(lambda: {ask["kind"] for ask in inbox.open()} == set(Kind))
        run = inbox.run("demo-builder")
        assert run["project"] == "shop"
        inbox.post(f"/projects/shop/runs/{run['run_id']}/control", {"command": "pause"})
        ended = server.stop(number)
        gone, alive = psutil.wait_procs(agents, PATIENCE)
    assert (len(gone), alive, ended.err) == (len(AGENTS), [], "")
    left = shell.run("inbox", "--json", "--all").json["asks"]
    assert [ask["ask_id"] for ask in left] == [asked.ask_id]
    for project in ("shop", "edge-infra"):
        assert {run["status"] for run in shell.run("runs", "--json", "--project", project).json["runs"]} <= {
            "done",
            "aborted",
        }
    assert list(shell.folder.glob("assent-demo-*")) == []


def test_throwaway_store_of_a_killed_server_goes_with_the_last_who_uses_it(shell: Shell) -> None:
    """A server that was killed cannot remove it; then the last of its agents does."""
    with served(shell, "--demo", "--throwaway", TMPDIR=str(shell.folder)) as server:
        agents = psutil.Process(server.process.pid).children()
        assert len(agents) == len(AGENTS)
        assert len(list(shell.folder.glob("assent-demo-*/assent.db"))) == 1
        server.stop(signal.SIGKILL)
        psutil.wait_procs(agents, PATIENCE)
    assert list(shell.folder.glob("assent-demo-*")) == []
    assert not shell.store.exists()


def test_throwaway_store_needs_no_demo(shell: Shell) -> None:
    """It is a server as any other, that keeps nothing."""
    with served(shell, "--throwaway", "--project", "mine", TMPDIR=str(shell.folder)) as server:
        assert "  project  mine" in server.said.splitlines()
        assert "  sign in" in server.said
        assert psutil.Process(server.process.pid).children() == []
        assert server.stop().status == 0
    assert list(shell.folder.glob("assent-demo-*")) == []


def test_folder_is_removed_by_the_last_and_not_before(tmp_path: Path) -> None:
    """Whoever comes when it is gone is told."""
    folder = tmp_path / "shared"
    folder.mkdir()
    with share(folder) as first:
        with share(folder) as second:
            assert (first, second) == (True, True)
        assert folder.is_dir()
    assert not folder.exists()
    with share(folder) as late:
        assert not late


# How it begins


def test_throwaway_store_beside_a_named_one_is_refused(call: Call) -> None:
    """One of the two was not meant."""
    ended = call("--store", "sqlite:///kept.db", "serve", "--throwaway")
    assert ended.status == 2
    assert "leave --store out" in ended.err


def test_folder_of_a_demo_goes_though_something_is_written_there_at_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A program that ends with its agent may write once more just then."""
    folder = tmp_path / "demo"
    folder.mkdir()
    late = iter(["last words"])
    rmdir = os.rmdir

    def write_first(path: Any, **given: Any) -> None:
        for words in late:
            (folder / "late.txt").write_text(words)
        rmdir(path, **given)

    monkeypatch.setattr(os, "rmdir", write_first)
    with share(folder):
        pass
    assert list(late) == []
    assert not folder.exists()
