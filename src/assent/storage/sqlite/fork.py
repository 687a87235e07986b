"""No thread is inside SQLite when this process forks, and no connection is open.

SQLite keeps the locks of a process in its memory. A child that inherits them believes that it holds locks of which
the system knows nothing: forked in the middle of a transaction it finds the store busy for ever; and when its parent
closes, the write-ahead log is taken away under the child's new connections. So before a fork every thread is let
out and every connection closed; in parent and child alike, the next use opens its own.
"""

from __future__ import annotations

import os
import threading
import weakref
from typing import Protocol

__all__ = ["FORK_SECONDS", "Gate", "Opened", "gate"]

FORK_SECONDS = 10.0
"""A fork waits no longer than this; a transaction waits for another process for half as long."""


class Opened(Protocol):
    """Something with a connection that it can open again."""

    def let_go(self) -> None: ...


class Gate:
    """Entered by whoever uses SQLite; shut while the process forks. May be entered again from inside."""

    def __init__(self) -> None:
        self._forking = threading.RLock()
        self._lock = threading.Lock()
        self._turn = threading.Condition(self._lock)
        self._here = threading.local()
        self._inside = 0
        self._is_shut = False
        self._opened: weakref.WeakSet[Opened] = weakref.WeakSet()
        self._noting = threading.Lock()

    def note(self, opened: Opened) -> None:
        """Have `opened` let go before every fork."""
        with self._noting:
            self._opened.add(opened)

    def __enter__(self) -> None:
        depth = getattr(self._here, "depth", 0)
        if not depth:
            with self._lock:  # the condition's own: to enter through the condition takes three times as long
                while self._is_shut:
                    self._turn.wait()
                self._inside += 1
        self._here.depth = depth + 1

    def __exit__(self, *_: object) -> None:
        self._here.depth -= 1
        if not self._here.depth:
            with self._lock:
                self._inside -= 1
                if self._is_shut:
                    self._turn.notify_all()

    def shut(self) -> None:
        """Let nobody in, wait until all are out but the thread that forks, and close the connections."""
        self._forking.acquire()
        with self._turn:
            self._is_shut = True
            self._turn.wait_for(lambda: self._inside <= self._own(), FORK_SECONDS)
        with self._noting:  # a set that grows while it is walked stops the walk
            noted = list(self._opened)
        for opened in noted:
            opened.let_go()

    def open_in_parent(self) -> None:
        """Let everybody in again."""
        with self._turn:
            self._is_shut = False
            self._turn.notify_all()
        self._forking.release()

    def open_in_child(self) -> None:
        """Begin anew: the other threads are not here."""
        self._lock = threading.Lock()
        self._turn = threading.Condition(self._lock)
        self._noting = threading.Lock()
        self._inside = self._own()
        self._is_shut = False
        self._forking.release()

    def _own(self) -> int:
        return int(bool(getattr(self._here, "depth", 0)))


gate = Gate()
"""SQLite's memory is the process's, so all stores of a process share one gate."""

os.register_at_fork(before=gate.shut, after_in_parent=gate.open_in_parent, after_in_child=gate.open_in_child)
