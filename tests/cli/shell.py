"""A person's or an agent's shell in a folder of its own: it runs `assent` as a process, on a terminal or without one."""

import fcntl
import json
import os
import pty
import select
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from struct import pack
from typing import Any, NamedTuple, Self

import psutil
import pyte

from assent import Ask
from assent.client.client import Client
from assent.client.connect import open_hub
from assent.protocol.principal import Principal, Role
from tests.patience import PATIENCE
from tools.warm import spawn

__all__ = ["Result", "Shell", "Terminal", "is_stopped", "wait_for"]


class Result(NamedTuple):
    """How a command ended, and what it said."""

    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Standard output, read as JSON."""
        return json.loads(self.out)


def wait_for(condition: Callable[[], bool]) -> None:
    """Wait until something is true; fail after a while."""
    until = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < until, "it never came true"
        select.select([], [], [], 0.01)


def is_stopped(process: subprocess.Popen[bytes]) -> bool:
    """Say whether a process is stopped, as by Ctrl-Z."""
    return psutil.Process(process.pid).status() == psutil.STATUS_STOPPED


class Shell:
    """Starts `assent` in `folder` as somebody with an empty home and no agent's marks."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.started: list[subprocess.Popen[bytes]] = []

    def environ(self, **changes: str | None) -> dict[str, str]:
        """Return the environment; None takes a variable away."""
        home = self.folder.parent / "home"
        environ = {
            **os.environ,
            "HOME": str(home),
            "XDG_STATE_HOME": str(home / "state"),
            "TERM": "xterm-256color",
            "USER": "ana",
            "LOGNAME": "ana",
            "PYTHONFAULTHANDLER": "1",
        }
        environ.pop("PYTHONDONTWRITEBYTECODE", None)
        environ.pop("NO_COLOR", None)
        for name, value in changes.items():
            environ.pop(name, None)
            if value is not None:
                environ[name] = value
        return environ

    def start(
        self, *arguments: str, stdin: int = subprocess.DEVNULL, **changes: str | None
    ) -> subprocess.Popen[bytes]:
        """Start `assent` without a terminal, and do not wait for it."""
        process = spawn(
            [sys.executable, "-m", "assent", *arguments],
            cwd=self.folder,
            env=self.environ(**changes),
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        self.started.append(process)
        return process

    def finish(self, process: subprocess.Popen[bytes], typed: bytes | None = None) -> Result:
        """Wait for a process to end."""
        out, err = process.communicate(typed, timeout=PATIENCE)
        return Result(process.returncode, out.decode(), err.decode())

    def run(self, *arguments: str, typed: str | None = None, **changes: str | None) -> Result:
        """Run `assent` without a terminal; `typed` is piped in."""
        stdin = subprocess.DEVNULL if typed is None else subprocess.PIPE
        process = self.start(*arguments, stdin=stdin, **changes)
        return self.finish(process, None if typed is None else typed.encode())

    def open(self, *arguments: str, **changes: str | None) -> str:
        """Open an ask and return its id."""
        opened = self.run("ask", *arguments, "--no-wait", **changes)
        assert opened.status == 0, opened.err
        return opened.out.strip()

    @property
    def store(self) -> Path:
        """The file of the folder's own store."""
        return self.folder / ".assent" / "assent.db"

    def ask(self, ask_id: str) -> Ask:
        """Return an ask as it is now."""
        with self.client(Principal(Role.AGENT, "test")) as client:
            return client.show(ask_id)

    def waiting(self) -> list[Ask]:
        """Return what waits in this folder."""
        if not self.store.exists():
            return []
        with self.client(Principal(Role.AGENT, "test")) as client:
            return client.inbox()

    def only_open(self) -> Ask:
        """Return the one ask that waits in this folder, once it is there."""
        wait_for(lambda: len(self.waiting()) == 1)
        return self.waiting()[0]

    def answer(self, ask_id: str, reply: str, name: str = "sam") -> Ask:
        """Answer from elsewhere."""
        with self.client(Principal(Role.HUMAN, name)) as client:
            return client.answer(ask_id, reply)

    def client(self, principal: Principal, project: str = "") -> Client:
        """Return a client of this shell's user: whose state folder it is says which stores are theirs."""
        return Client(open_hub(self.store, self.environ()), project or self.folder.name, principal)

    def close(self) -> None:
        """End what is still running."""
        for process in self.started:
            if process.poll() is None:
                process.kill()
            process.wait(PATIENCE)
            for stream in (process.stdin, process.stdout, process.stderr):
                if stream is not None:
                    stream.close()


class Terminal:
    """`assent` on a terminal of its own: keyboard and standard error are a pty, standard output may be a pipe."""

    def __init__(
        self,
        shell: Shell,
        *arguments: str,
        columns: int = 80,
        stdout_too: bool = False,
        ignores_hangup: bool = False,
        program: Sequence[str] = (),
        **changes: str | None,
    ) -> None:
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, pack("HHHH", 40, columns, 0, 0))
        self.seen = b""
        self.columns = columns

        self.process = spawn(
            [*(program or (sys.executable, "-m", "assent")), *arguments],
            has_terminal=True,
            ignores=[signal.SIGHUP] if ignores_hangup else (),
            cwd=shell.folder,
            env=shell.environ(**changes),
            stdin=slave,
            stdout=slave if stdout_too else subprocess.PIPE,
            stderr=slave,
            start_new_session=True,
        )
        shell.started.append(self.process)
        os.close(slave)

    def _read(self, seconds: float) -> bool:
        """Read what is there; say whether there can be more."""
        if self.master < 0 or not select.select([self.master], [], [], seconds)[0]:
            return self.master >= 0
        try:
            more = os.read(self.master, 65_536)
        except OSError:
            more = b""  # the other side is closed
        self.seen += more
        return bool(more)

    def until(self, text: str, times: int = 1) -> None:
        """Wait until the terminal has shown `text` so many times."""
        until = time.monotonic() + PATIENCE
        while self.seen.count(text.encode()) < times:
            goes_on = self._read(0.5)
            assert goes_on or self.seen.count(text.encode()) >= times, self.seen
            assert time.monotonic() < until, self.seen

    def type(self, text: str) -> None:
        """Type; a new line is the Enter key."""
        os.write(self.master, text.encode())

    def hang_up(self) -> None:
        """Close the terminal."""
        os.close(self.master)
        self.master = -1

    def end(self) -> Result:
        """Wait for the command to end; return its status, its output, and all that the terminal showed."""
        until = time.monotonic() + PATIENCE
        while self.process.poll() is None:
            self._read(0.05)
            if time.monotonic() > until:
                self.process.send_signal(signal.SIGABRT)  # its threads say where they are
                self.process.wait(PATIENCE)
                self._read(0.5)
                raise AssertionError(self.seen.decode(errors="replace"))
        while select.select([self.master], [], [], 0)[0] and self._read(0):
            pass
        out = self.process.stdout.read() if self.process.stdout else b""
        return Result(self.process.returncode, out.decode(), self.seen.decode(errors="replace"))

    def screen(self) -> list[str]:
        """Return what a terminal makes of all that was written, line by line."""
        screen = pyte.HistoryScreen(self.columns, 40, history=1_000)
        pyte.ByteStream(screen).feed(self.seen)
        above = ["".join(line[x].data for x in range(self.columns)) for line in screen.history.top]
        return [line.rstrip() for line in (*above, *screen.display)]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.master >= 0:
            self.hang_up()
