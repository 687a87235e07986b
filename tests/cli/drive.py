"""Runs to look at and to steer: driven by the test itself, or by a process of its own that goes on line by line."""

import os
import select
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

from assent import connect
from assent.client.client import Client
from assent.client.connect import open_hub
from assent.client.driven import DrivenRun
from assent.protocol.principal import Principal, Role
from assent.protocol.run import Run
from assent.testing.clock import FakeClock
from tests.cli.shell import Shell
from tests.patience import PATIENCE
from tools.warm import spawn

__all__ = ["LONG_AGO", "Driver", "agent_of", "begun", "leave_behind", "look", "next_line"]

LONG_AGO = datetime(2024, 12, 28, 10, 0, tzinfo=UTC)

# Prints each iteration's number, model and attempt, and goes on when it is given a line.
_DRIVER = """
import sys
from assent import connect
with connect(project=sys.argv[1], principal="agent:coder") as client:
    with client.run(sys.argv[2], run_id=sys.argv[3], max=9, model="haiku", title="Fix the tests") as run:
        for turn in run:
            print(turn.number, turn.model, turn.attempt, flush=True)
            sys.stdin.readline()
    print(run.state.status, run.state.reason, flush=True)
"""


def next_line(process: subprocess.Popen[bytes]) -> str:
    """Return the next line of standard output, or fail after a while."""
    assert process.stdout is not None
    descriptor, line = process.stdout.fileno(), b""
    # Byte by byte, past Python's own buffer: what it had taken along would not be seen by `select`.
    while not line.endswith(b"\n"):
        assert select.select([descriptor], [], [], PATIENCE)[0], line
        more = os.read(descriptor, 1)
        assert more, line
        line += more
    return line.decode().rstrip("\n")


class Driver:
    """A process that drives a run."""

    def __init__(self, shell: Shell, run_id: str = "loop-1703123456-12345", mode: str = "loop") -> None:
        self.run_id = run_id
        self.process = spawn(
            [sys.executable, "-c", _DRIVER, shell.folder.name, mode, run_id],
            cwd=shell.folder,
            env=shell.environ(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        shell.started.append(self.process)

    def says(self) -> str:
        """Return what it says next."""
        return next_line(self.process)

    def go_on(self) -> None:
        """End its iteration."""
        assert self.process.stdin is not None
        self.process.stdin.write(b"\n")
        self.process.stdin.flush()

    def kill(self) -> None:
        """End it as a crash does."""
        self.process.kill()
        self.process.wait(PATIENCE)


def agent_of(shell: Shell, project: str | None = None) -> Client:
    """Return an agent in the folder's own store."""
    return connect(shell.store, project=project or shell.folder.name, principal="agent:coder")


@contextmanager
def begun(shell: Shell, run_id: str, *, project: str | None = None, **parts: Any) -> Iterator[DrivenRun]:
    """Give a run that this process drives, in the middle of its first iteration."""
    with agent_of(shell, project) as client, client.run(run_id=run_id, **parts) as run:
        next(run)
        yield run


def look(shell: Shell, run_id: str, project: str | None = None) -> Run:
    """Return a run as it is now."""
    with agent_of(shell, project) as client:
        return client.find_run(run_id)


def leave_behind(shell: Shell, run_id: str, *, is_over: bool, at: datetime = LONG_AGO) -> None:
    """Leave a run in the store that was begun long ago: done, or without its driver."""
    hub = open_hub(shell.store, shell.environ(), FakeClock(at))
    client = Client(hub, shell.folder.name, Principal(Role.AGENT, "coder"))
    try:
        with client.run(run_id=run_id, title="Old") as run:
            next(run)
            if not is_over:
                raise KeyboardInterrupt  # which leaves the run as it is
    except KeyboardInterrupt:
        pass
    finally:
        hub.close()
