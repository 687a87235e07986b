"""Who plays in the live demo of `assent serve --demo`, and how they are started and let go.

Rule 1: an agent is a process of its own, which holds nothing of the server's but one end of a pipe. When the server
        ends, by a signal or by a kill, the pipe closes, and the agent ends.
Rule 2: at its end an agent takes back all that goes by its name. So on a store that is kept it has a name that no other
        agent has: somebody's own `linter` may be at work there.
Rule 3: what an agent shows never leaves this machine: it is started without a way to GitHub.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

__all__ = ["AGENTS", "HOME", "KEPT_PREFIX", "playing"]

HOME = "checkout-api"
"""The project of the server, where a throw-away store gives it none of its own."""
AGENTS = {
    "storefront": None,
    "reviewer": None,
    "linter": None,
    "builder": None,
    "deployer": "edge-infra",
    "canary": "edge-infra",
    "migrator": "ledger-sync",
    "coder": "ledger-sync",
    "librarian": "handbook",
    "editor": "handbook",
}
"""Each agent with its project; None is that of the server."""

KEPT_PREFIX = "demo-"
"""Before the name of an agent on a store that is kept."""
_END_SECONDS = 5.0
"""How long the agents of the demo may take to end, all of them together."""
_NOT_FOR_AGENTS = frozenset(
    {"ASSENT_RUN_ID", "ASSENT_STORE", "ASSENT_PROJECT", "ASSENT_TOKEN", "GH_TOKEN", "GITHUB_TOKEN", "PATH"}
)
"""Another run or store than theirs, and ways to GitHub; `gh` is looked for on the path."""


@contextmanager
def playing(
    store: Path | str, project: str, folder: Path, environ: Mapping[str, str], *, prefix: str = ""
) -> Iterator[None]:
    """Let all agents play, each by its name behind a `prefix`; at the end each takes back what is open, and ends."""
    own = {name: value for name, value in environ.items() if name not in _NOT_FOR_AGENTS}
    agents: list[subprocess.Popen[bytes]] = []
    try:
        for part, place in AGENTS.items():
            agents.append(_start(part, store, place or project, folder, own, prefix + part))
        yield
    finally:
        _let_go(agents)


def _start(
    part: str, store: Path | str, project: str, folder: Path, environ: Mapping[str, str], name: str
) -> subprocess.Popen[bytes]:
    # A session of its own: Ctrl-C is for the server, which then lets go of it.
    return subprocess.Popen(  # noqa: S603 - our own module
        [sys.executable, "-m", "assent.cli.demo_world", part, project, str(folder), name],
        # The address may hold a password, and everybody on this machine can read the words of a command.
        env={**environ, "ASSENT_PRINCIPAL": f"agent:{name}", "ASSENT_STORE": str(store)},
        cwd=folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        start_new_session=True,
    )


def _let_go(agents: list[subprocess.Popen[bytes]]) -> None:
    """End them all at once, so that the slowest is all that is waited for."""
    for agent in agents:
        if agent.stdin is not None:
            agent.stdin.close()
    until = time.monotonic() + _END_SECONDS
    for agent in agents:
        try:
            agent.wait(max(0.0, until - time.monotonic()))
        except subprocess.TimeoutExpired:
            agent.kill()
            agent.wait()
