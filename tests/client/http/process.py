"""`assent serve` as a process of its own that can be stopped, killed and started again on its port."""

import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import TracebackType
from typing import Self

from assent.client.http.door import HttpDoor
from assent.client.identity import AGENT_MARKS
from tests.patience import PATIENCE
from tools.warm import spawn

__all__ = ["ServerProcess"]


_SERVE = "import runpy; runpy.run_module('assent', run_name='__main__', alter_sys=True)"


class ServerProcess:
    """A server on a store, started as a person would start it."""

    def __init__(self, store: Path, *, prelude: str = "") -> None:
        self._store = store
        self._prelude = prelude
        self._process: subprocess.Popen[bytes] | None = None
        self._doors: list[HttpDoor] = []
        self.url = ""
        self.start()

    @property
    def port(self) -> int:
        """Where it listens; 0 before it does."""
        return int(self.url.rpartition(":")[2] or 0)

    def start(self) -> None:
        """Start it, on the port that it had before, and wait until it listens."""
        environ = {name: value for name, value in os.environ.items() if not name.startswith("ASSENT_")}
        for mark in AGENT_MARKS:
            environ.pop(mark, None)
        environ |= {
            "ASSENT_STORE": str(self._store),
            "ASSENT_PROJECT": "serving",
            "HOME": str(self._store.parent),
        }
        self._process = spawn(
            [sys.executable, "-c", f"{self._prelude}\n{_SERVE}", "serve", "--port", str(self.port)],
            env=environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        self.url = self._read_address()

    def _read_address(self) -> str:
        assert self._process is not None
        assert self._process.stdout is not None
        said, until = b"", time.monotonic() + PATIENCE
        while b"Ctrl-C stops it." not in said:
            assert time.monotonic() < until, said
            if select.select([self._process.stdout], [], [], 0.5)[0]:
                came = os.read(self._process.stdout.fileno(), 65_536)
                assert came, said
                said += came
        return said.decode().splitlines()[0].removeprefix("Assent listens on ")

    def stand_still(self) -> None:
        """Stop it in the middle of whatever it does, as a machine that is put to sleep does."""
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)

    def wake(self) -> None:
        """Let it go on."""
        assert self._process is not None
        self._process.send_signal(signal.SIGCONT)

    def end(self, how: signal.Signals) -> None:
        """End it by a signal, and wait until it is gone."""
        if self._process is not None:
            self._process.send_signal(how)
            self._process.communicate(timeout=PATIENCE)
        self._process = None

    def door(self, secret: str) -> HttpDoor:
        """Return a door to it."""
        self._doors.append(HttpDoor(self.url, secret))
        return self._doors[-1]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for door in self._doors:
            door.close()
        self.end(signal.SIGKILL)
