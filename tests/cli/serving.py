"""A server that somebody started in a shell, as a process of its own."""

import os
import re
import select
import signal
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

import httpx2

from assent.client.identity import AGENT_MARKS
from tests.cli.shell import Result, Shell
from tests.patience import PATIENCE
from tests.surfaces.http.signing import sign_in
from tools.warm import PYTHON
from tools.warm_shell import programs

__all__ = ["Served", "served", "served_at_usual_port"]


class Served:
    """A server that was started in a shell."""

    def __init__(self, shell: Shell, arguments: Sequence[str], changes: Mapping[str, str | None]) -> None:
        self.shell = shell
        marks: dict[str, str | None] = dict.fromkeys((*AGENT_MARKS, "ASSENT_PRINCIPAL"))
        self.process = shell.start("serve", *arguments, stdin=subprocess.DEVNULL, **{**marks, **changes})
        self.said = ""
        assert self.process.stdout is not None
        until = time.monotonic() + PATIENCE
        while "Ctrl-C stops it." not in self.said:
            assert time.monotonic() < until, self.said
            if select.select([self.process.stdout], [], [], 0.5)[0]:
                came = os.read(self.process.stdout.fileno(), 65_536)
                assert came, self.process.communicate()
                self.said += came.decode()

    @property
    def url(self) -> str:
        """Its address."""
        return self.said.splitlines()[0].removeprefix("Assent listens on ")

    @property
    def code(self) -> str:
        """What stands at the end of the link; empty where there is none."""
        found = re.search(r"/sign-in#(\S+)", self.said)
        return found[1] if found else ""

    @contextmanager
    def sign_in(self) -> Iterator[httpx2.Client]:
        """Give a browser that has signed in."""
        signer, own = sign_in(self.url, code=self.code), {"origin": self.url}
        with httpx2.Client(
            base_url=self.url, headers=own, auth=signer, trust_env=False, timeout=PATIENCE
        ) as browser:
            yield browser

    def line(self) -> socket.socket:
        """Return a connection to it."""
        host, _, port = self.url.removeprefix("http://").partition(":")
        return socket.create_connection((host, int(port)), PATIENCE)

    def stop(self, number: int = signal.SIGTERM) -> Result:
        """Send a signal, and wait until it is gone."""
        self.process.send_signal(number)
        out, err = self.process.communicate(timeout=PATIENCE)
        return Result(self.process.returncode, self.said + out.decode(), err.decode())


@contextmanager
def served(shell: Shell, *arguments: str, **changes: str | None) -> Iterator[Served]:
    """Give a server on any free port; it is stopped at the end."""
    with served_at_usual_port(shell, "--port", "0", *arguments, **changes) as server:
        yield server


@contextmanager
def served_at_usual_port(shell: Shell, *arguments: str, **changes: str | None) -> Iterator[Served]:
    """Give a server that was told no port; what it starts as Python is forked, too."""
    with programs() as folder:
        server = Served(shell, arguments, {PYTHON: str(folder / "python"), **changes})
        try:
            yield server
        finally:
            if server.process.poll() is None:
                server.stop()
