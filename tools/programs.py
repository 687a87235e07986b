"""Finds the agent programs that the tests of `make test-hosts` drive, and fetches with npm those that are not there.

    python -m tools.programs claude-code codex

Each is pinned to the version that its adapter was written against, and kept in .programs/NAME/VERSION. They are
big (100 to 400 MB) and not ours to hand on, so none is fetched before somebody asks for it.

Rule 1: only the standard library. Which registry is asked is the business of npm's own settings.
Rule 2: a program is believed once it has told its version; what was fetched in part is never used.
Rule 3: one fetches at a time, and nothing takes for ever.
"""

from __future__ import annotations

import fcntl
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tools.node import NodeError, find_npm, node_environ

__all__ = ["PROGRAMS", "Program", "ProgramError", "find_program", "main"]

ROOT = Path(__file__).resolve().parent.parent
HOME = ROOT / ".programs"

FETCH_SECONDS = 600
LOCK_SECONDS = 900
TRY_SECONDS = 60
_LINES_TOLD = 3


class ProgramError(Exception):
    """Why a program could not be had, in one sentence."""


@dataclass(frozen=True)
class Program:
    """A program as it is pinned: the package that brings it, its version, and the name of its executable."""

    package: str
    version: str
    executable: str

    @property
    def spec(self) -> str:
        return f"{self.package}@{self.version}"


PROGRAMS = {
    "claude-code": Program("@anthropic-ai/claude-code", "2.1.325", "claude"),
    "codex": Program("@openai/codex", "0.166.0", "codex"),
    "opencode": Program("opencode-ai", "1.18.33", "opencode"),
    "gemini": Program("@google/gemini-cli", "0.61.0", "gemini"),
}


def main() -> int:
    """Print the paths of the programs that are named, or of all."""
    status = 0
    for name in sys.argv[1:] or list(PROGRAMS):
        try:
            print(find_program(name))
        except ProgramError as error:
            print(f"programs: {error}", file=sys.stderr)
            status = 1
    return status


def find_program(name: str) -> Path:
    """Return the executable of a program, fetching it if need be.

    Raises:
        ProgramError: there is no such program, or it cannot be had here.
    """
    program = PROGRAMS.get(name)
    if program is None:
        raise ProgramError(f"No program is called {name}; there are {', '.join(PROGRAMS)}.")
    folder = HOME / name / program.version
    there = folder / "node_modules" / ".bin" / program.executable
    if there.exists():
        return there
    try:
        npm = find_npm()
    except NodeError as error:
        raise ProgramError(f"{program.spec} is fetched with npm, and {error}") from None
    with _alone(name):
        if not there.exists():  # whoever had the lock before may have fetched it
            _fetch(npm, program, folder)
    return there


@contextmanager
def _alone(name: str) -> Iterator[None]:
    """Hold the lock that lets one at a time fetch this program."""
    HOME.mkdir(exist_ok=True)
    with (HOME / f"{name}.lock").open("w") as lock:
        until = time.monotonic() + LOCK_SECONDS
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > until:
                    raise ProgramError(f"Somebody else fetches {name} and does not finish.") from None
                time.sleep(0.2)
        yield


def _fetch(npm: list[str], program: Program, folder: Path) -> None:
    folder.parent.mkdir(parents=True, exist_ok=True)
    made = Path(tempfile.mkdtemp(prefix=".part-", dir=folder.parent))
    try:
        # What a program asks of Node is not enforced: these bring a native executable along.
        _run(
            [
                *npm,
                "install",
                "--prefix",
                str(made),
                "--no-audit",
                "--no-fund",
                "--loglevel=error",
                program.spec,
            ],
            program,
            made,
            FETCH_SECONDS,
        )
        executable = made / "node_modules" / ".bin" / program.executable
        told = _run([str(executable), "--version"], program, made, TRY_SECONDS)
        if program.version not in told:
            raise ProgramError(f"{program.spec} says that it is {told.strip()[:80]!r}.")
        made.rename(folder)
    finally:
        shutil.rmtree(made, ignore_errors=True)


def _run(command: list[str], program: Program, folder: Path, seconds: float) -> str:
    try:
        done = subprocess.run(
            command,
            cwd=folder,  # the settings of a project that we happen to stand in are not ours
            env={**node_environ(), "npm_config_update_notifier": "false"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise ProgramError(
            f"{program.spec}: {Path(command[0]).name} took more than {seconds:.0f} s."
        ) from None
    except OSError as error:
        raise ProgramError(f"{program.spec} does not start here: {error.strerror}.") from None
    if done.returncode:
        told = " / ".join((done.stderr or done.stdout).strip().splitlines()[:_LINES_TOLD])
        raise ProgramError(f"{program.spec} cannot be had (status {done.returncode}): {told or 'no word'}")
    return done.stdout


if __name__ == "__main__":
    raise SystemExit(main())
