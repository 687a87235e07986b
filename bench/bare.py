"""The first floor: bare apsw. One row a commit, flushed like ours, and a datagram to the process that waits."""

from __future__ import annotations

import fcntl
import itertools
import os
import socket
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw

from assent.hub.ids import new_ask_id
from bench.crowd import Callers, drive_lone
from bench.workload import ANSWER, BODY, OPTIONS, TITLE

__all__ = ["Bare", "create"]

Say = Callable[[dict[str, Any]], None]

_SCHEMA = """
CREATE TABLE asks (
  ask_number INTEGER PRIMARY KEY,
  ask_id     TEXT NOT NULL UNIQUE,
  opened_at  INTEGER NOT NULL,
  state      TEXT NOT NULL,
  prompt     TEXT NOT NULL,
  answer     TEXT
);
CREATE INDEX asks_open ON asks (ask_number) WHERE state = 'open';
"""
_INSERT = "INSERT INTO asks (ask_id, opened_at, state, prompt) VALUES (?, 0, 'open', ?)"
_UPDATE = "UPDATE asks SET state = 'answered', answer = ? WHERE ask_id = ? AND state = 'open'"
_PROMPT = f'{{"title":"{TITLE}","body":"{BODY}","options":["{OPTIONS[0]}","{OPTIONS[1]}","{OPTIONS[2]}"]}}'


def create(path: Path) -> None:
    """Make an empty file for the floor."""
    connection = apsw.Connection(str(path))
    connection.pragma("journal_mode", "wal")
    connection.execute(_SCHEMA)
    connection.close()


class Bare:
    """One asker's or answerer's process on the floor. A statement by itself is its own transaction."""

    def __init__(self, store: Path, role: str, say: Say) -> None:
        self._say = say
        self._connection = apsw.Connection(str(store))
        self._connection.set_busy_timeout(60_000)
        self._connection.pragma("synchronous", "FULL")
        self._lock = os.open(f"{store}-lock", os.O_CREAT | os.O_RDWR, 0o600)
        self._address = str(Path(os.environ["XDG_RUNTIME_DIR"]) / f"{store.stem[:20]}.bare")
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._waiting: dict[str, None] = {}
        if role == "listener":
            self._socket.bind(self._address)
            threading.Thread(target=self._listen, daemon=True).start()

    def open(self, waiter: str) -> dict[str, Any]:  # noqa: ARG002 - nothing waits here but the listening thread
        """Store a row and wait for it; the wake is told later, with its moment taken in the listening thread."""
        ask_id = str(new_ask_id())
        began = time.monotonic_ns()
        self._connection.execute(_INSERT, (ask_id, _PROMPT))
        ended = time.monotonic_ns()
        self._waiting[ask_id] = None
        return {"ask_id": ask_id, "began": began, "ended": ended}

    def answer(self, ask_id: str) -> dict[str, Any]:
        """Commit the answer and ring."""
        began = time.monotonic_ns()
        self._connection.execute(_UPDATE, (ANSWER, ask_id))
        self._socket.sendto(ask_id.encode(), self._address)
        return {"began": began, "ended": time.monotonic_ns()}

    def _listen(self) -> None:
        while True:
            heard = self._socket.recv(1 << 16).decode()
            woke = time.monotonic_ns()
            if heard in self._waiting:
                del self._waiting[heard]
                self._say({"ask_id": heard, "woke": woke})

    def asks(self, count: int, callers: int, how: Callers) -> dict[str, Any]:
        """Store so many rows, a commit each."""
        assert (callers, how) == (1, "lone")
        ask_ids = [str(new_ask_id()) for _ in range(count)]
        execute = self._connection.execute
        seconds = drive_lone(ask_ids, lambda ask_id: execute(_INSERT, (ask_id, _PROMPT)))
        return {"seconds": seconds, "ask_ids": ask_ids}

    def answers(self, ask_ids: list[str], callers: int, how: Callers) -> dict[str, Any]:
        """Answer these rows, a commit each."""
        assert (callers, how) == (1, "lone")
        execute = self._connection.execute
        return {"seconds": drive_lone(ask_ids, lambda ask_id: execute(_UPDATE, (ANSWER, ask_id)))}

    def write_for(self, seconds: float, *, takes_lock: bool) -> dict[str, Any]:
        """Store rows at full speed, behind one file lock or behind SQLite's own busy handler."""
        longest = 0.0
        ask_ids = (str(new_ask_id()) for _ in itertools.count())
        moment = time.perf_counter()
        until = moment + seconds
        count = 0
        while moment < until:
            if takes_lock:
                fcntl.flock(self._lock, fcntl.LOCK_EX)
            self._connection.execute(_INSERT, (next(ask_ids), _PROMPT))
            if takes_lock:
                fcntl.flock(self._lock, fcntl.LOCK_UN)
            began, moment = moment, time.perf_counter()
            longest = max(longest, moment - began)
            count += 1
        return {"count": count, "longest": longest}
