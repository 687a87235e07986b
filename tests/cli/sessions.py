"""What the tests of `assent session` share: a review as a file, and a shell from which no GitHub can be reached."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec

from assent.flows.session.finding import Session
from assent.flows.session.state import parse_state
from assent.protocol.review import Review
from tests.cli.shell import Result, Shell, Terminal
from tests.flows.session.seat import REVIEW
from tests.patience import PATIENCE
from tools.warm import run

__all__ = ["Desk", "person_answers"]


class Desk:
    """A shell with a review in its folder."""

    def __init__(self, shell: Shell) -> None:
        self.shell = shell
        self.folder = shell.folder
        nothing = shell.folder.parent / "bin"
        nothing.mkdir()
        self.surroundings: dict[str, Any] = {
            "PATH": str(nothing),  # no gh, whoever is logged in on this machine
            "GH_TOKEN": None,
            "GITHUB_TOKEN": None,
            "GITHUB_ACTIONS": None,
        }
        self.write(REVIEW)

    def write(self, review: Review, name: str = "findings.json") -> str:
        """Write a review; return its name."""
        (self.folder / name).write_bytes(msgspec.json.encode(review))
        return name

    def path(self, name: str) -> Path:
        """Return a file beside the store."""
        return self.folder / ".assent" / name

    @property
    def session(self) -> Session:
        """What is saved now."""
        return parse_state(self.path("review-state.md").read_bytes())

    def run(self, *arguments: str, typed: str | None = "") -> Result:
        """Run `assent session` with replies from a pipe, a line each; None: no pipe at all."""
        return self.shell.run("session", *arguments, typed=typed, **self.surroundings)

    def start(self, *arguments: str) -> subprocess.Popen[bytes]:
        """Start `assent session` with a pipe that stays open."""
        return self.shell.start("session", *arguments, stdin=subprocess.PIPE, **self.surroundings)

    def terminal(self, *arguments: str) -> Terminal:
        """Start `assent session` on a terminal."""
        return Terminal(self.shell, "session", *arguments, stdout_too=True, **self.surroundings)


def person_answers(shell: Shell, ask_id: str, reply: str, *more: str) -> Result:
    """Run `assent answer` as somebody in another terminal."""
    done = run(
        [sys.executable, "-m", "assent", "answer", ask_id, reply, *more],
        cwd=shell.folder,
        env={**shell.environ(), "USER": "sam", "LOGNAME": "sam"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    return Result(done.returncode, done.stdout, done.stderr)
