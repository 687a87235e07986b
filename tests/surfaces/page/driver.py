"""A process that drives a run through a server, an iteration a line, and prints what it is told to."""

import os
import subprocess
import sys
from types import TracebackType
from typing import Self

from assent.protocol.principal import Role
from assent.testing.server import ThrowawayServer
from tests.cli.drive import next_line
from tests.patience import PATIENCE
from tools.warm import spawn

__all__ = ["Driver"]

# An empty line ends the iteration; any other is printed, as the work of an agent would.
_DRIVER = """
import ast, sys
from assent import connect
with connect() as client, client.run("loop", run_id=sys.argv[1], max=9, model="haiku", title=sys.argv[2]) as run:
    for turn in run:
        print(turn.number, turn.model, flush=True)
        while (line := sys.stdin.readline().strip()):
            run.tell(ast.literal_eval(line))
print(run.state.status, run.state.reason, flush=True)
"""


class Driver:
    """Drives one run until it is told that it is over, or killed."""

    def __init__(self, site: ThrowawayServer, run_id: str = "r-1", title: str = "Fix the tests") -> None:
        environ = os.environ | {
            "ASSENT_STORE": site.url,
            "ASSENT_TOKEN": site.token(Role.AGENT, "coder"),
            "ASSENT_PROJECT": site.store.project,
        }
        self.process = spawn(
            [sys.executable, "-c", _DRIVER, run_id, title],
            env=environ,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )

    def says(self) -> str:
        """Return what it says next."""
        return next_line(self.process)

    def prints(self, text: str) -> None:
        """Have it print something."""
        self._write(repr(text))

    def goes_on(self) -> None:
        """End its iteration."""
        self._write("")

    def kill(self) -> None:
        """End it as a crash does."""
        self.process.kill()
        self.process.wait(PATIENCE)

    def _write(self, line: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line.encode() + b"\n")
        self.process.stdin.flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.kill()
        for stream in (self.process.stdin, self.process.stdout):
            assert stream is not None
            stream.close()
