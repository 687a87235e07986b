"""Start: what `import assent` and a hook with nothing to ask add to a bare interpreter, and how long `assent --help` takes."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import time
from collections.abc import Iterator

from bench.figure import Figure, Reading
from bench.peer import clean_environment
from bench.session import Session

__all__ = ["measure"]

_EVENT = b"""{"hook_event_name": "PreToolUse", "session_id": "s-1", "cwd": "/", "tool_use_id": "toolu_1",
"tool_name": "Bash", "tool_input": {"command": "npm test", "description": "Runs the tests"}}"""
"""What an agent's host says before a call that nobody has to approve: it waits for the hook each time."""


def measure(session: Session) -> Iterator[Figure]:
    """Give the milliseconds that each start takes, or adds, with compiled bytecode."""
    session.begin("start")
    starts = {
        "bare": [sys.executable, "-c", "pass"],
        "import": [sys.executable, "-c", "import assent"],
        "connect": [sys.executable, "-c", "import assent; assent.connect"],
    }
    if importlib.util.find_spec("assent.cli") is not None:
        starts["help"] = [sys.executable, "-m", "assent", "--help"]
        starts["hook"] = [sys.executable, "-m", "assent", "hook", "claude-code", "--ask", "Bash(rm *)"]
    found: dict[str, list[float]] = {name: [] for name in starts}
    for command in starts.values():
        _time(session, command)  # compiles what is not compiled yet
    for number in session.repetitions():
        for name in session.turns(number, list(starts)):
            found[name].append(_time(session, starts[name]))
    yield _added("import assent, added", found["import"], found["bare"], 150.0)
    yield _added("the same with the client loaded, added", found["connect"], found["bare"], None)
    if "help" in found:
        yield Figure(
            "start", "assent --help, in all", "ms", Reading.VALUE, found["help"], found["bare"], goal=200.0
        )
        yield _added("assent hook, nothing to ask, added", found["hook"], found["bare"], 80.0)


def _added(name: str, ours: list[float], bare: list[float], goal: float | None) -> Figure:
    added = [mine - base for mine, base in zip(ours, bare, strict=True)]
    return Figure("start", name, "ms", Reading.VALUE, added, bare, goal=goal)


def _time(session: Session, command: list[str]) -> float:
    began = time.perf_counter()
    subprocess.run(
        command,
        env=clean_environment(session.runtime),
        input=_EVENT,
        stdout=subprocess.DEVNULL,
        check=True,
        timeout=60,
    )
    return 1000 * (time.perf_counter() - began)
