"""Who in this process waits for which ask or run: one ear, one thread, one query for all of them.

Register first, look second: whatever commits in between is seen by one of the two. A ring only says when to look;
a look goes by cursor over the log. Every NET_SECONDS by the clock (not after so much quiet: other people's rings
would starve it) the store's version is compared, so that a lost ring costs half a second and never an answer.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from typing import Any

from assent.hub.future import Future, Settled, settle
from assent.protocol.ask import Ask, AskId
from assent.protocol.error import NotFoundError, StoreError
from assent.protocol.run import Run, RunId
from assent.storage.port import EVERYTHING, Listener, Reader, Store

__all__ = ["DEAF_SECONDS", "LONGEST_NAP", "NET_SECONDS", "Waiters", "run_name"]

NET_SECONDS = 0.5
DEAF_SECONDS = 0.05
"""The same where no socket can be bound."""
LONGEST_NAP = 60.0
"""The clock that waits stands still while a laptop sleeps, and deadlines do not."""
_FEW = 16
"""Of more asks than these a walk over the log is the shorter way."""


def run_name(project: str, run_id: RunId) -> str:
    """Return what a ring calls a run. No ask is called so, and nobody takes it for more than a hint."""
    return f"run:{project}:{run_id}"


class Waiters:
    """All waits of one hub."""

    def __init__(self, store: Store, lapse: Callable[[], float | None]) -> None:
        self._store = store
        self._lapse = lapse
        """Applies what is due; returns the seconds until the next deadline."""
        self._lock = threading.Lock()
        self._waiting: dict[AskId, list[Future[Ask]]] = {}
        self._for_runs: dict[str, list[tuple[str, RunId, int, Future[Run]]]] = {}
        """By the name that a ring would have: project, run, the last event known, and who waits."""
        self._leased: dict[AskId, list[Future[Ask]]] = {}
        """Those of `_waiting` that wait for an ask of their own: the store is told, so that their death can be seen."""
        self._has_swept = False
        self._cursors: dict[str, int] = {}
        self._thread: threading.Thread | None = None
        self._listener: Listener | None = None
        self._is_closed = False
        self.ring_wakes = 0
        self.net_wakes = 0

    @property
    def count(self) -> int:
        """How many wait, for asks and for runs."""
        with self._lock:
            return sum(map(len, self._waiting.values())) + sum(map(len, self._for_runs.values()))

    def listen(self) -> None:
        """Keep an ear open also while nobody waits, so that what is due is applied when it is due."""
        with self._lock:
            self._listen()

    def add(self, ask_id: AskId, project: str, future: Future[Ask], by: str = "") -> None:
        """Settle `future` with the ask once it has ended; if `by` asked it, whoever looks can see that they wait."""
        with self._lock:
            self._begin(project)
            self._waiting.setdefault(ask_id, []).append(future)
        try:
            with self._store.reading() as reader:
                ask = reader.ask(ask_id, project)
        except BaseException:
            self.discard(ask_id, future)
            raise
        if ask is None:
            self.discard(ask_id, future)
            raise NotFoundError(f"There is no ask {ask_id} here.")
        if ask.is_open and by == ask.asker:
            self._lease(ask_id, future)
        if not ask.is_open:
            self.deliver([ask])
        elif ask.deadline is not None and (listener := self._listener) is not None:
            listener.nudge()

    def add_for_run(self, run_id: RunId, project: str, after: int, future: Future[Run]) -> None:
        """Settle `future` with the run once an event after number `after` has changed it."""
        with self._lock:
            self._begin(project)
            self._for_runs.setdefault(run_name(project, run_id), []).append((project, run_id, after, future))
        try:
            with self._store.reading() as reader:
                run = reader.run(project, run_id)
        except BaseException:
            self.discard_for_run(run_id, project, future)
            raise
        if run is None:
            self.discard_for_run(run_id, project, future)
            raise NotFoundError(f"There is no run {run_id} here.")
        if run.sequence > after:
            self.deliver_runs([run])

    def discard_for_run(self, run_id: RunId, project: str, future: Future[Run]) -> None:
        """Forget a wait that was given up."""
        name = run_name(project, run_id)
        with self._lock:
            left = [wait for wait in self._for_runs.pop(name, ()) if wait[3] is not future]
            if left:
                self._for_runs[name] = left

    def deliver_runs(self, runs: Iterable[Run]) -> None:
        """Wake those who wait for these runs to change."""
        if not self._for_runs:
            return  # as in `deliver`
        settled: list[Settled[Run]] = []
        with self._lock:
            for run in runs:
                name = run_name(run.project, run.run_id)
                left = []
                for wait in self._for_runs.pop(name, ()):
                    project, run_id, after, future = wait
                    if (project, run_id) == (run.project, run.run_id) and run.sequence > after:
                        settled.append((future, run, None))
                    else:
                        left.append(wait)
                if left:
                    self._for_runs[name] = left
        if settled:
            settle(settled)

    def _lease(self, ask_id: AskId, future: Future[Ask]) -> None:
        waits = self._store.waits
        with self._lock:
            if future not in self._waiting.get(ask_id, ()):
                return  # it has ended meanwhile
            self._leased.setdefault(ask_id, []).append(future)
            waits.begin(ask_id)
            is_first, self._has_swept = not self._has_swept, True
        if is_first:
            with self._store.reading() as reader:
                waits.sweep(lambda name: (found := reader.ask(name)) is not None and found.is_open)

    def discard(self, ask_id: AskId, future: Future[Ask]) -> None:
        """Forget a wait that was given up."""
        with self._lock:
            futures = self._waiting.get(ask_id, [])
            if future in futures:
                futures.remove(future)
            if not futures:
                self._waiting.pop(ask_id, None)
            leased = self._leased.get(ask_id, [])
            if future in leased:
                leased.remove(future)
                if not leased:
                    del self._leased[ask_id]
                self._store.waits.end(ask_id, is_over=False)

    def deliver(self, asks: Iterable[Ask]) -> None:
        """Wake those who wait for these ended asks."""
        if not self._waiting:
            return  # who comes now looks after registering, and sees what is committed
        settled: list[Settled[Ask]] = []
        with self._lock:
            for ask in asks:
                settled.extend((future, ask, None) for future in self._waiting.pop(ask.ask_id, ()))
                for _ in self._leased.pop(ask.ask_id, ()):
                    self._store.waits.end(ask.ask_id, is_over=True)
        if settled:
            settle(settled)

    def close(self) -> None:
        """Stop listening; whoever still waits is told so."""
        with self._lock:
            self._is_closed = True
            thread, listener = self._thread, self._listener
        if listener is not None:
            listener.nudge()
        if thread is not None and thread is not threading.current_thread() and thread.is_alive():
            thread.join()
        with self._lock:
            left: list[Future[Any]] = [future for futures in self._waiting.values() for future in futures]
            left += [wait[3] for waits in self._for_runs.values() for wait in waits]
            for ask_id, futures in self._leased.items():
                for _ in futures:
                    self._store.waits.end(ask_id, is_over=False)
            self._leased.clear()
            self._waiting.clear()
            self._for_runs.clear()
            self._thread = self._listener = None  # the next wait listens again
        if listener is not None and thread is not threading.current_thread():
            listener.close()  # Ctrl-C may have kept its thread from beginning
        settle(
            [
                (future, None, StoreError("The client was closed; what was waited for goes on."))
                for future in left
            ]
        )

    def _begin(self, project: str) -> None:
        """Listen, from this moment of the project's log on; the caller has the lock."""
        self._listen()
        if project not in self._cursors:
            with self._store.reading() as reader:
                self._cursors[project] = reader.head_sequence(project)

    def _listen(self) -> None:
        # Ctrl-C may have come in the middle of a start, so a thread that is noted need not be there.
        if self._thread is None or not self._thread.is_alive():
            self._is_closed = False
            self._listener = self._listener or self._store.bell.listen(follows_feed=False)
            self._thread = threading.Thread(target=self._run, daemon=True, name="assent-bell")
            self._thread.start()

    def _run(self) -> None:
        reader: Reader | None = None
        version, look_due, deadline_due = -1, 0.0, 0.0
        while not self._is_closed:
            now = time.monotonic()
            names = self._hear(min(look_due, deadline_due) - now)
            now = time.monotonic()
            try:
                reader = reader or self._store.reader()
                if names:
                    self._heed(reader, names)
                if names == () or now >= deadline_due:
                    seconds = self._lapse()
                    deadline_due = now + min(LONGEST_NAP, LONGEST_NAP if seconds is None else seconds)
                if now >= look_due:
                    look_due = now + (NET_SECONDS if self._listener is not None else DEAF_SECONDS)
                    seen, version = version, reader.version()
                    if version != seen:
                        deadline_due = 0.0
                        self.net_wakes += self._look(reader)
            except Exception:  # noqa: BLE001 - see below
                # The store is away, or a deadline cannot be applied: look again, by the clock, through a fresh
                # reader. Whatever it is, those who wait must not lose their ear.
                look_due = deadline_due = now + NET_SECONDS
                if reader is not None:
                    reader.close()
                reader, version = None, -1
        if self._listener is not None:
            self._listener.close()
        if reader is not None:
            reader.close()

    def _hear(self, seconds: float) -> tuple[str, ...] | None:
        if self._listener is not None:
            return self._listener.wait(seconds)
        time.sleep(max(0.001, min(seconds, DEAF_SECONDS)))
        return None

    def _heed(self, reader: Reader, names: tuple[str, ...]) -> None:
        """Look at the asks that a ring named and somebody waits for: one short read, however much else is written."""
        ours = [AskId(name) for name in names if name in self._waiting]
        runs = [wait[:2] for name in dict.fromkeys(names) for wait in self._for_runs.get(name, ())[:1]]
        if EVERYTHING in names or len(ours) + len(runs) > _FEW:
            self.ring_wakes += 1
            self._look(reader)
        elif ours or runs:
            self.ring_wakes += 1
            found = [reader.ask(ask_id) for ask_id in ours]
            self.deliver([ask for ask in found if ask is not None and not ask.is_open])
            seen = [reader.run(project, run_id) for project, run_id in runs]
            self.deliver_runs([run for run in seen if run is not None])

    def _look(self, reader: Reader) -> int:
        """Read what ended since the last look; return how many waits that woke."""
        woken = 0
        with self._lock:
            cursors = dict(self._cursors)
        for project, after in cursors.items():
            last, asks = reader.ended(
                project, after
            )  # reads the head first: what comes later is found next time
            runs = reader.changed_runs(project, after) if self._for_runs else []
            with self._lock:
                self._cursors[project] = max(last, self._cursors[project])
                ours = [ask for ask in asks if ask.ask_id in self._waiting]
                steered = [run for run in runs if run_name(project, run.run_id) in self._for_runs]
            woken += len(ours) + len(steered)
            self.deliver(ours)
            self.deliver_runs(steered)
        return woken
