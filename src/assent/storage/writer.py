"""Group commit: one transaction at a time, as many commands in it as have come in, and never a timer.

A caller that finds the writer idle commits on its own thread (a lone caller would otherwise pay two thread
hand-overs, about a quarter of its time). It does its own work only: Ctrl-C may hit it at any point, and nobody
else's work may be in its hands then. Everyone else queues, and the writer thread takes all that is there. The
thread starts with the first queued work: a program that never needs it never has it.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

__all__ = ["LARGEST_GROUP", "Writer"]

LARGEST_GROUP = 512
_IDLE_SECONDS = 30.0

W = TypeVar("W")


class Writer(Generic[W]):
    """Gives groups of work to `perform`, one group at a time.

    `perform(group, may_wait)` must settle every piece of work in it and raise nothing; it returns False only
    without `may_wait`, when another process has the store: the group is then queued for the thread, which waits.
    """

    def __init__(self, mutex: threading.Lock, perform: Callable[[list[W], bool], bool]) -> None:
        self._mutex = mutex
        self._perform = perform
        self._queue: queue.SimpleQueue[W | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._starting = threading.Lock()

    def submit(self, work: W, *, may_lead: bool) -> None:
        """Have `work` done: here and now if nobody else writes and the caller `may_lead`, else by the thread."""
        if may_lead and self._queue.empty() and self._mutex.acquire(blocking=False):
            try:
                is_done = self._perform([work], False)
            finally:
                self._mutex.release()
            if is_done:
                return
        self.submit_all([work])

    def submit_all(self, group: Iterable[W]) -> None:
        """Have the thread do all of these; it finds them together."""
        for work in group:
            self._queue.put(work)
        if self._thread is None or not self._thread.is_alive():
            self._start()

    def close(self, seconds: float | None = None) -> bool:
        """Finish what is queued and end the thread; say whether it ended in time."""
        # No second thread may start before the first has gone: it could take the None that is meant for the other.
        with self._starting:
            thread, self._thread = self._thread, None
            if thread is None or not thread.is_alive():  # Ctrl-C may have kept it from beginning
                return True
            self._queue.put(None)
            thread.join(seconds)
            return not thread.is_alive()

    def _start(self) -> None:
        with self._starting:
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._run, daemon=True, name="assent-writer")
                self._thread.start()

    def _run(self) -> None:
        while True:
            try:
                first = self._queue.get(timeout=_IDLE_SECONDS)
            except queue.Empty:
                if self._leave():
                    return
                continue
            if first is None:
                return
            with self._mutex:
                group = self._drain([first])
                self._perform(group, True)

    def _leave(self) -> bool:
        """End a thread that nobody has needed for a while: a database has a writer for every project."""
        if not self._starting.acquire(blocking=False):
            return False  # somebody starts or ends one just now
        try:
            if self._thread is not threading.current_thread():
                return False  # `close` has a None for us
            # Whoever queues looks for a thread afterwards: one of the two sees the other.
            self._thread = None
            if self._queue.empty():
                return True
            self._thread = threading.current_thread()
            return False
        finally:
            self._starting.release()

    def _drain(self, group: list[W]) -> list[W]:
        try:
            while len(group) < LARGEST_GROUP:
                work = self._queue.get_nowait()
                if work is None:
                    self._queue.put(None)
                    break
                group.append(work)
        except queue.Empty:
            pass
        return group
