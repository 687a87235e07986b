"""The workflow that people copy: it parses, it trusts no text, and its script ends blocked and goes on after the reply."""

import importlib
import re
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from assent.client.embedded import EmbeddedDoor
from assent.effects.github.rest import RestChannel
from assent.protocol.principal import Principal, Role
from assent.surfaces.comment_hook import Hint, Hook
from assent.surfaces.http.github import ProjectLedger
from tests.cli.shell import Shell
from tests.github.double import TOKEN, Double
from tests.patience import PATIENCE
from tools.page import ROOT
from tools.warm_shell import programs

__all__: list[str] = []

FILE = ROOT / "examples" / "github" / "ask-before-deploy.yml"
UNTRUSTED = re.compile(r"github\.(event\.\S*\.(body|title|login|name|label|ref|message|email)|head_ref)\b")
GH = '#!/bin/sh\necho "$*" >> "$STATUSES"\n'
JQ = f"""#!{sys.executable}
import functools, json, sys
path = sys.argv[2].strip(".").split(".")
print(functools.reduce(dict.__getitem__, path, json.load(sys.stdin)))
"""
"""Of the two programs that the script calls, as much as it calls for."""


@pytest.fixture
def workflow() -> dict[Any, Any]:
    """Give what the file says."""
    found: dict[Any, Any] = importlib.import_module("yaml").safe_load(FILE.read_text())
    return found


def steps(workflow: dict[Any, Any]) -> list[dict[str, Any]]:
    """Return every step of every job."""
    return [step for job in workflow["jobs"].values() for step in job["steps"]]


def test_workflow_begins_with_the_pull_request_and_with_a_new_comment(workflow: dict[Any, Any]) -> None:
    """An edited comment starts nothing; and what a pull request of a fork changes is not run with secrets."""
    on = workflow[True]  # YAML's own reading of the word
    assert on["issue_comment"] == {"types": ["created"]}
    assert "pull_request_target" not in on
    assert "github.event.issue.pull_request" in workflow["jobs"]["ask"]["if"]


def test_comment_on_a_pull_request_of_a_fork_asks_nothing(workflow: dict[Any, Any]) -> None:
    """Anybody may write one, and such a run has secrets: it ends once it knows where the commit comes from."""
    head, ask = workflow["jobs"]["ask"]["steps"]
    assert ".head.repo.full_name == .base.repo.full_name" in head["run"]
    assert ask["if"] == "steps.head.outputs.head != ''"


def test_workflow_may_do_no_more_than_it_needs(workflow: dict[Any, Any]) -> None:
    """Nothing by default; one job writes its comment, and the other one reads the code."""
    assert workflow["permissions"] == {}
    assert workflow["jobs"]["ask"]["permissions"] == {
        "contents": "read",
        "pull-requests": "write",
        "statuses": "write",
    }
    assert workflow["jobs"]["deploy"]["permissions"] == {"contents": "read"}


def test_no_text_of_anybody_reaches_a_script(workflow: dict[Any, Any]) -> None:
    """Neither in a script itself nor by the environment of a step; and nothing is put into a script at all."""
    assert [step["run"] for step in steps(workflow) if "${{" in step.get("run", "")] == []
    assert UNTRUSTED.search("${{ github.event.comment.body }}")
    told = [str(step.get("env", "")) for step in steps(workflow)]
    told += [str(job.get("env", "")) for job in workflow["jobs"].values()]
    assert [each for each in told if UNTRUSTED.search(each)] == []


def test_code_of_the_pull_request_is_fetched_only_after_the_answer(workflow: dict[Any, Any]) -> None:
    """And it is the commit that the answer was about."""
    assert not any("uses" in step for step in workflow["jobs"]["ask"]["steps"])
    assert workflow["jobs"]["deploy"]["if"] == "needs.ask.outputs.answer == 'approved'"
    (checkout,) = [step for step in workflow["jobs"]["deploy"]["steps"] if "uses" in step]
    assert checkout["with"]["ref"] == "${{ needs.ask.outputs.head }}"


class Runner:
    """Runs the script as a job does, with a `gh` that notes which status the commit got."""

    def __init__(self, script: str, double: Double, folder: Path, programs: Path) -> None:
        self.shell = Shell(folder / "shop")
        self.shell.folder.mkdir()
        self._script = script.replace("--wait 20s", "--wait 0")  # a test does not wait for nothing
        self._double, self._bin = double, folder / "bin"
        self._bin.mkdir()
        self._command("gh", GH)
        self._command("jq", JQ)
        self._programs = programs
        self.output, self._statuses = folder / "output", folder / "statuses"

    def _command(self, name: str, text: str) -> None:
        (self._bin / name).write_text(text)
        (self._bin / name).chmod(0o755)

    def run(self) -> int:
        """Run it once; return how it ended."""
        outside = {
            "GITHUB_REPOSITORY": "acme/shop",
            "GITHUB_API_URL": self._double.address,
            "GH_TOKEN": TOKEN,
            "GITHUB_OUTPUT": str(self.output),
            "STATUSES": str(self._statuses),
            "PR": "7",
            "HEAD": self._double.head,
            "CI": "true",
            "PATH": f"{self._bin}:{self._programs}:{self.shell.environ()['PATH']}",
        }
        ended = subprocess.run(
            ["bash", "-e", "-o", "pipefail", "-c", self._script],
            cwd=self.shell.folder,
            env=self.shell.environ(**outside),
            capture_output=True,
            timeout=PATIENCE,
            check=False,
        )
        return ended.returncode

    def statuses(self) -> list[str]:
        """Return what the commit was marked with, one after the other."""
        return re.findall(r"state=(\w+)", self._statuses.read_text())

    def reply(self, words: str) -> None:
        """Have somebody write a comment that is delivered to the server."""
        (ask,) = self.shell.waiting()
        body = f"/gate {ask.ask_id[-6:]} {words}"
        comment_id = self._double.say("ana", body)
        hint = Hint("acme", "shop", 7, comment_id, self._double.number_of("ana"), "delivery-1", body)
        with self.shell.client(Principal(Role.AGENT, "test")) as client:
            assert isinstance(client.door, EmbeddedDoor)
            ledger = Ledger(client.door, "shop")
            weighed = Hook(RestChannel(self._double.address, TOKEN), "a secret of both", ledger).weigh(hint)
        assert weighed.status == "decided"


class Ledger(ProjectLedger):
    """Its clock is that of the double."""

    def now(self) -> datetime:
        """Return the double's day."""
        return datetime(2030, 1, 1, tzinfo=UTC)


@pytest.fixture
def runner(workflow: dict[Any, Any], double: Double, tmp_path: Path) -> Iterator[Runner]:
    """Give the job that asks."""
    double.permissions = {"ana": "write", double.me: "write"}
    (script,) = [step["run"] for step in steps(workflow) if step.get("id") == "ask"]
    with programs() as folder:
        yield Runner(script, double, tmp_path, folder)


def test_script_ends_blocked_and_goes_on_after_the_reply_once(runner: Runner, double: Double) -> None:
    """One comment, however often it runs; after the reply the next run may deploy, and no later one may again."""
    for _ in range(2):
        assert runner.run() == 0
        assert not runner.output.exists(), "nobody has answered"
        assert len(double.comments) == 1
    assert runner.statuses() == ["pending", "pending"]
    runner.reply("approve")
    assert runner.run() == 0
    assert runner.output.read_text() == "answer=approved\n"
    assert runner.statuses()[2:] == ["success"]
    runner.output.unlink()
    double.say("ana", "Thank you, all.")
    assert runner.run() == 0
    assert not runner.output.exists(), "a yes is for one deployment"


def test_script_that_is_told_no_marks_the_commit_and_deploys_nothing(runner: Runner) -> None:
    """Twin of the test above."""
    assert runner.run() == 0
    runner.reply("decline not on a Friday")
    assert runner.run() == 0
    assert not runner.output.exists()
    assert runner.statuses() == ["pending", "failure"]
