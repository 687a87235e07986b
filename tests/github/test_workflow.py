"""The workflow that people copy: it parses, it trusts no text, and its script ends blocked and goes on after the reply."""

import importlib
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.shell import PATIENCE, Shell
from tests.github.double import TOKEN, Double
from tools.page import ROOT

__all__: list[str] = []

FILE = ROOT / "examples" / "github" / "ask-before-deploy.yml"
UNTRUSTED = re.compile(r"github\.(event\.\S*\.(body|title|login|name|label|ref|message|email)|head_ref)\b")


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


def test_workflow_may_do_no_more_than_it_needs(workflow: dict[Any, Any]) -> None:
    """Nothing by default; one job writes its comment, and the other one reads the code."""
    assert workflow["permissions"] == {}
    assert workflow["jobs"]["ask"]["permissions"] == {"contents": "read", "pull-requests": "write"}
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
    assert workflow["jobs"]["deploy"]["if"] == "needs.ask.outputs.answer == 'Deploy'"
    (checkout,) = [step for step in workflow["jobs"]["deploy"]["steps"] if "uses" in step]
    assert checkout["with"]["ref"] == "${{ needs.ask.outputs.head }}"


def test_script_ends_blocked_and_goes_on_after_the_reply(
    workflow: dict[Any, Any], double: Double, tmp_path: Path
) -> None:
    """One comment, however often it runs; the reply is taken, and the next run finds the answer."""
    folder = tmp_path / "shop"
    folder.mkdir()
    shell = Shell(folder)
    double.permissions = {"ana": "write", double.me: "write"}
    (script,) = [step["run"] for step in steps(workflow) if step.get("id") == "ask"]
    script = script.replace("--wait 20s", "--wait 0")  # a test does not wait for nothing
    output = tmp_path / "output"
    outside = {
        "GITHUB_REPOSITORY": "acme/shop",
        "GITHUB_API_URL": double.address,
        "GH_TOKEN": TOKEN,
        "GITHUB_OUTPUT": str(output),
        "PR": "7",
        "HEAD": double.head,
        "CI": "true",
    }
    path = f"{Path(sys.executable).parent}:{shell.environ()['PATH']}"

    def run() -> int:
        ended = subprocess.run(
            ["bash", "-e", "-o", "pipefail", "-c", script],
            cwd=folder,
            env=shell.environ(**outside, PATH=path),
            capture_output=True,
            timeout=PATIENCE,
            check=False,
        )
        return ended.returncode

    for _ in range(2):
        assert run() == 0
        assert not output.exists(), "nobody has answered"
        assert len(double.comments) == 1
    (ask,) = shell.waiting()
    double.say("ana", f"/gate {ask.ask_id[-6:]} deploy")
    assert shell.run("pr", "collect", **outside).status == 0
    assert run() == 0
    assert output.read_text() == "answer=Deploy\n"
