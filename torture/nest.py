"""A trial's own small world: a folder, a store, an environment without an agent's marks, and its workers."""

from __future__ import annotations

import os
import queue
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import msgspec

from assent.client.identity import AGENT_MARKS
from tools.warm import spawn
from torture.nursery import HEAD, OBITUARY, main
from torture.twins import TWIN

__all__ = ["ROOT", "Nest", "Worker", "WorkerLostError", "clean_environ"]

ROOT = Path(__file__).resolve().parents[1]
_BEGIN = f"import sys; from {main.__module__} import main; main(int(sys.argv[1]))"
PATIENCE = 120.0
"""Seconds after which a worker that says nothing is given up."""
_SAID_WITHIN = 5.0
"""Seconds in which the end of a worker is told that nobody wanted."""


class WorkerLostError(Exception):
    """A worker died, hung or failed where the trial did not want it to."""


def clean_environ(folder: Path) -> dict[str, str]:
    """Return the environment of a person whose home is `folder`: no agent's marks, none of our settings."""
    environ = {
        name: value
        for name, value in os.environ.items()
        if name not in AGENT_MARKS and not name.startswith(("ASSENT_", "XDG_"))
    }
    places = {"HOME": folder, "XDG_STATE_HOME": folder / "state", "XDG_RUNTIME_DIR": folder / "run"}
    return environ | {name: str(place) for name, place in places.items()}


class Worker:
    """A running worker, seen from the trial."""

    def __init__(
        self,
        pid: int,
        role: str,
        connection: socket.socket,
        words: Callable[[], str],
        listen: Callable[[dict[str, Any]], None] | None,
    ) -> None:
        self.pid = pid
        self.role = role
        self._words = words
        self.error = ""
        self._socket = connection
        self._heard: queue.SimpleQueue[dict[str, Any] | None] = queue.SimpleQueue()
        self._listen = listen or self._heard.put
        self._gone = threading.Event()
        self._thread = threading.Thread(target=self._read, daemon=True, name=f"hear-{role}")
        self._thread.start()

    @property
    def is_gone(self) -> bool:
        """Whether it lives no more, and all that it said is here."""
        return self._gone.is_set()

    def say(self, **message: Any) -> None:
        """Tell the worker something; a dead one does not hear it."""
        try:
            self._socket.sendall(msgspec.json.encode(message) + b"\n")
        except OSError:
            self._gone.wait(PATIENCE)

    def hear(self, seconds: float = PATIENCE) -> dict[str, Any]:
        """Return what the worker says next.

        Raises:
            WorkerLostError: it died, failed, or said nothing for `seconds`.
        """
        try:
            heard = self._heard.get(timeout=seconds)
        except queue.Empty:
            raise WorkerLostError(f"{self.role} said nothing for {seconds} s.") from None
        if heard is None:
            raise WorkerLostError(f"{self.role} is gone. {self.error}{self._end()}")
        return heard

    def _end(self) -> str:
        """Return how it ended, and what was written last: its nursery may say so a moment later than its socket."""
        said = OBITUARY.format(self.pid, "")[:-1]
        until = time.monotonic() + _SAID_WITHIN
        while said not in self._words() and time.monotonic() < until:
            time.sleep(0.01)
        return self._words()

    def kill(self) -> None:
        """Send SIGKILL, and return when it is dead and its last word is here."""
        if not self.is_gone:
            with suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)
        self.join()

    def join(self, seconds: float = PATIENCE) -> None:
        """Wait for its end."""
        if not self._gone.wait(seconds):
            raise WorkerLostError(f"{self.role} did not end within {seconds} s.")
        self._thread.join()

    def _read(self) -> None:
        left = b""
        while True:
            try:
                piece = self._socket.recv(1 << 16)
            except OSError as error:
                self.error, piece = f"It cannot be heard any more: {error}. ", b""
            if not piece:
                break
            # A line that death cut short was not said.
            *lines, left = (left + piece).split(b"\n")
            for line in lines:
                message: dict[str, Any] = msgspec.json.decode(line)
                if "error" in message and len(message) == 1:
                    self.error = message["error"]
                else:
                    self._listen(message)
        self._socket.close()
        self._gone.set()
        self._heard.put(None)


class Nest:
    """A folder that is gone afterwards, with everything that ran in it."""

    def __init__(self, twin: str = "", *, in_memory: bool = False) -> None:
        # Where only death and not the disk's speed matters, a file system in memory does the same in less time.
        memory = Path("/dev/shm")
        is_there = in_memory and memory.is_dir() and os.access(memory, os.W_OK)
        self.folder = Path(tempfile.mkdtemp(prefix="at-", dir=memory if is_there else None))
        self.store = self.folder / "store" / "x.db"
        self.store.parent.mkdir()
        (self.folder / "run").mkdir(mode=0o700)
        self.environ = clean_environ(self.folder) | {TWIN: twin}
        self._workers: list[Worker] = []
        self._words = (self.folder / "stderr").open("wb")
        self._nurseries: dict[str, tuple[socket.socket, subprocess.Popen[bytes]]] = {}
        """By twin: some workers of a trial without its guard have it."""

    def start(
        self,
        role: str,
        *,
        listen: Callable[[dict[str, Any]], None] | None = None,
        twin: str | None = None,
        environ: dict[str, str] | None = None,
        **setting: Any,
    ) -> Worker:
        """Start a worker for `module:function`; what it says goes to `listen`, or waits for `hear`."""
        ours, theirs = socket.socketpair()
        told = self.environ | (environ or {})
        if twin is not None:
            told[TWIN] = twin
        order = msgspec.json.encode({"role": role, "environ": told, "setting": setting})
        orders = self._nursery(told[TWIN])
        socket.send_fds(orders, [b"%0*d" % (HEAD, len(order))], [theirs.fileno()])
        orders.sendall(order)
        theirs.close()
        answer = orders.recv(100)
        if not answer:
            raise WorkerLostError(f"No worker can be started. {self.words()}")
        worker = Worker(int(answer), role, ours, self.words, listen)
        self._workers = [known for known in self._workers if not known.is_gone]
        self._workers.append(worker)
        return worker

    def _nursery(self, twin: str) -> socket.socket:
        """Return where workers with this twin are ordered."""
        if twin not in self._nurseries:
            ours, theirs = socket.socketpair()
            # Forked from a Python that has loaded the nursery and no more: a twin must be planted before the rest is.
            nursery = spawn(
                [sys.executable, "-c", _BEGIN, str(theirs.fileno())],
                loaded=main.__module__,
                cwd=ROOT,
                env=self.environ | {TWIN: twin},
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=self._words,
                stderr=self._words,
            )
            theirs.close()
            self._nurseries[twin] = (ours, nursery)
        return self._nurseries[twin][0]

    def words(self) -> str:
        """Return the end of what all workers wrote to standard error."""
        return (self.folder / "stderr").read_text(errors="replace")[-4_000:]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for worker in self._workers:
            worker.kill()
        for orders, nursery in self._nurseries.values():
            orders.close()
            try:
                nursery.wait(10)
            except subprocess.TimeoutExpired:
                nursery.kill()
                nursery.wait(10)
        self._words.close()
        shutil.rmtree(self.folder, ignore_errors=True)
