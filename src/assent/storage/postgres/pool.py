"""A few connections for all threads of a process. Opened on demand, on the thread that needs one, and kept for the next.

There is no thread that opens or mends them: whoever finds the server away says so at once, and whoever comes after it
is back has a connection at once. One that the server has ended meanwhile is not given to anybody.
"""

from __future__ import annotations

import select
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from psycopg import pq

from assent.protocol.error import StoreBusyError
from assent.storage.postgres.connection import Connection

__all__ = ["IDLE_SECONDS", "Pool"]

IDLE_SECONDS = 300.0
"""A connection that nobody needed for so long is closed by the next that is given back."""
_TURN_SECONDS = 5.0


class Pool:
    """At most `size` connections at once."""

    def __init__(self, open_: Callable[[], Connection], size: int) -> None:
        self._open = open_
        self._turns = threading.BoundedSemaphore(size)
        self._lock = threading.Lock()
        self._idle: list[tuple[float, Connection]] = []
        """Another list after each clearing: what was lent before it does not come into the new one."""
        self.in_use = 0
        """How many are lent out now."""

    @contextmanager
    def borrow(self, *, is_fresh: bool = False) -> Iterator[Connection]:
        """Give a connection; it is kept for the next one if it is whole and in no transaction afterwards.

        Raises:
            StoreBusyError: all of them are in use for too long.
        """
        if not self._turns.acquire(timeout=_TURN_SECONDS):
            raise StoreBusyError("This process uses all of its connections to the database.")
        try:
            kept_in = self._idle
            connection = self._open() if is_fresh else self._take() or self._open()
            with self._lock:
                self.in_use += 1
            try:
                yield connection
            finally:
                with self._lock:
                    self.in_use -= 1
                self._give_back(connection, kept_in)
        finally:
            self._turns.release()

    def clear(self) -> None:
        """Close the idle ones now, and those in use when they come back: nobody needs them, or the server has gone."""
        with self._lock:
            idle, self._idle = self._idle, []
        for _, connection in idle:
            connection.close()

    def inherited(self) -> list[Connection]:
        """Return the idle ones and forget them, in a forked child: they are the parent's."""
        idle, self._idle = self._idle, []
        return [connection for _, connection in idle]

    def _take(self) -> Connection | None:
        while True:
            with self._lock:
                if not self._idle:
                    return None
                connection = self._idle.pop()[1]
            if _is_quiet(connection):
                return connection
            connection.close()

    def _give_back(self, connection: Connection, kept_in: list[tuple[float, Connection]]) -> None:
        is_whole = not connection.closed and (
            connection.pgconn.transaction_status == pq.TransactionStatus.IDLE
        )
        now = time.monotonic()
        with self._lock:
            is_kept = is_whole and self._idle is kept_in
            if is_kept:
                self._idle.append((now, connection))
            stale = [
                self._idle.pop(0)[1] for _ in range(len(self._idle)) if now - self._idle[0][0] > IDLE_SECONDS
            ]
        for old in stale if is_kept else [*stale, connection]:
            old.close()


def _is_quiet(connection: Connection) -> bool:
    """Say whether nothing has come from the server. Unasked it says one thing: that it ends the connection."""
    if connection.closed:
        return False
    ear = select.poll()  # not select(): a process may have more than 1,024 open files
    ear.register(connection.fileno(), select.POLLIN)
    return not ear.poll(0)
