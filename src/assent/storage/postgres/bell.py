"""NOTIFY and LISTEN as a doorbell: a hint that says when to look, and never what is true.

A NOTIFY inside the commit it tells of would make all commits of the server wait for each other. So it goes out after
the commit, on a connection of its own, one at a time: while one is under way, what is to be said next gathers, and goes
out as one. One connection a process listens, for all who wait here; when it was lost, everybody looks.
"""

from __future__ import annotations

import os
import select
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress

import psycopg

from assent.protocol.error import AssentError
from assent.storage.port import EVERYTHING
from assent.storage.postgres.connection import Connection, rows

__all__ = ["PostgresBell", "PostgresListener"]

_LARGEST = 7_900
"""Bytes of names in one ring; a payload has less than 8,000. Of more, everybody looks."""
_MOST_KEPT = 1_000
"""Names that an ear keeps which nobody reads; of more, it is told to look."""
_PAUSE = 0.25
"""Seconds between two tries to reach a server that is away."""
_QUIET_SECONDS = 0.002
"""After a ring, so long nothing is said, so that more goes out as one; the first ring never waits."""
_FIRST_SECONDS = 5.0
_LAST_SECONDS = 1.0
"""How long a process that ends waits for its last ring to go out."""


class PostgresListener:
    """Fits `storage.port.Listener`."""

    def __init__(self, forget: Callable[[PostgresListener], None], *, follows_feed: bool) -> None:
        self._forget = forget
        self.follows_feed = follows_feed
        self._turn = threading.Condition()
        self._names: dict[str, None] = {}
        self._is_nudged = False

    def wait(self, seconds: float) -> tuple[str, ...] | None:
        """Wait for a ring; return what it named, () for a nudge, None when nothing was heard."""
        with self._turn:
            if not self._names and not self._is_nudged:
                self._turn.wait(max(0.0, seconds))
            if not self._names and not self._is_nudged:
                return None
            names, self._names, self._is_nudged = tuple(self._names), {}, False
            return names

    def hear(self, names: Sequence[str]) -> None:
        """Take a ring in."""
        with self._turn:
            self._names.update(dict.fromkeys(names))
            if len(self._names) > _MOST_KEPT:
                self._names = {EVERYTHING: None}
            self._turn.notify()

    def nudge(self) -> None:
        """Wake whoever waits here, from another thread of this process."""
        with self._turn:
            self._is_nudged = True
            self._turn.notify()

    def close(self) -> None:
        """Stop listening."""
        self._forget(self)


class PostgresBell:
    """Rings, and gives out ears, for one database."""

    def __init__(self, open_: Callable[[], Connection], query: str) -> None:
        self._open = open_
        self._query = query
        self._turn = threading.Condition()
        self._pending: dict[str, None] = {}
        self._has_pending = False
        self._is_closed = False
        self._is_ringing = False
        self._ringer: threading.Thread | None = None
        self._line: Connection | None = None
        """The connection that rings. Opened by the ringer; used under the lock, or by the ringer while it is ringing."""
        self._said_at = 0.0
        self._own = -1
        """The server's number for the connection that rings: what it says is not meant for ourselves."""
        self._ears: list[PostgresListener] = []
        self._ear_lock = threading.Lock()
        self._listening: threading.Thread | None = None
        self._wake: int | None = None
        self._is_heard = threading.Event()

    def ring(self, ended: Sequence[str], has_news: bool) -> None:
        """Tell the other processes what ended, and those who follow the feed that there is news."""
        if not ended and not has_news:
            return
        with self._turn:
            self._pending.update(dict.fromkeys(ended))
            self._has_pending = True
            if self._say_at_once():
                return
            if self._ringer is None or not self._ringer.is_alive():
                self._is_closed = False
                self._ringer = threading.Thread(target=self._ring, daemon=True, name="assent-ringer")
                self._ringer.start()
            self._turn.notify_all()

    def listen(self, *, follows_feed: bool) -> PostgresListener:
        """Return an ear; the first one starts to listen."""
        ear = PostgresListener(self._forget, follows_feed=follows_feed)
        with self._ear_lock:
            self._ears.append(ear)
            if self._listening is None or not self._listening.is_alive():
                out, self._wake = os.pipe()
                self._is_heard = threading.Event()
                self._listening = threading.Thread(
                    target=self._hear, args=(out, self._is_heard), daemon=True, name="assent-ear"
                )
                try:
                    self._listening.start()
                except BaseException:  # Ctrl-C: nobody knows of this ear, and the next one begins anew
                    self._ears.remove(ear)
                    if self._listening.ident is None:
                        os.close(out)  # else it is the thread's, which sees the other end go
                    self._stop_listening()
                    raise
        # Who listens looks next, and must not miss what is said between the two.
        self._is_heard.wait(_FIRST_SECONDS)
        return ear

    def close(self) -> None:
        """Say what is left to be said, and stop listening."""
        with self._turn:
            self._is_closed = True
            self._turn.notify_all()
            self._turn.wait_for(lambda: not self._has_pending and not self._is_ringing, _LAST_SECONDS)
        with self._ear_lock:
            self._ears.clear()
            thread = self._stop_listening()
        if thread is not None and thread.is_alive() and thread is not threading.current_thread():
            thread.join(_LAST_SECONDS)

    # Ringing

    def _say_at_once(self) -> bool:
        """Send what is pending from the caller's own thread, and wait for nothing: the reply is read before the next.

        The caller has the lock. False where it is the ringer's turn, which waits as long as it takes.
        """
        line, now = self._line, time.monotonic()
        if line is None or self._is_ringing or now < self._said_at + _QUIET_SECONDS:
            return False
        raw = line.pgconn
        try:
            raw.consume_input()
            while not raw.is_busy():
                if raw.get_result() is None:
                    break
            else:
                return False  # the last one is still under way
            raw.send_query_params(self._query.encode(), [self._payload().encode()])
            if raw.flush():
                return False
        except psycopg.Error:
            self._line = None
            line.close()
            return False
        self._pending, self._has_pending, self._said_at = {}, False, now
        return True

    def _payload(self) -> str:
        names = "\n".join(self._pending)
        return names if not names or len(names.encode()) <= _LARGEST else EVERYTHING

    def _take(self) -> str | None:
        """Return what is to be said; None where somebody has said it meanwhile."""
        if not self._has_pending:
            return None
        payload, self._pending, self._has_pending = self._payload(), {}, False
        return payload

    def _ring(self) -> None:
        while True:
            with self._turn:
                while not self._has_pending:
                    if self._is_closed:
                        line, self._line, self._ringer = self._line, None, None
                        if line is not None:
                            line.close()
                        return
                    self._turn.wait()
                pause = 0.0 if self._is_closed else self._said_at + _QUIET_SECONDS - time.monotonic()
            if pause > 0:
                time.sleep(pause)
            with self._turn:
                payload = self._take()
                if payload is None:
                    continue
                line, self._is_ringing = self._line, True
            try:
                if line is None or line.closed:
                    line = self._open()
                    self._own = line.info.backend_pid
                _hear_out(line)
                rows(line, self._query, (payload,))
            except (psycopg.Error, AssentError):
                # Whoever waits also looks by the clock; and who was cut off looks when it is back.
                if line is not None:
                    line.close()
                line = None
            finally:
                with self._turn:
                    self._line, self._is_ringing, self._said_at = line, False, time.monotonic()
                    self._turn.notify_all()

    # Listening

    def _forget(self, ear: PostgresListener) -> None:
        with self._ear_lock:
            if ear in self._ears:
                self._ears.remove(ear)
            if not self._ears:
                self._stop_listening()

    def _stop_listening(self) -> threading.Thread | None:
        thread, self._listening = self._listening, None
        wake, self._wake = self._wake, None
        if wake is not None:
            os.close(wake)  # its other end sees that, and belongs to the thread
        return thread

    def _hear(self, out: int, is_heard: threading.Event) -> None:
        """Listen until the other end of `out` is closed."""
        was_lost = False
        try:
            while True:
                connection: Connection | None = None
                try:
                    connection = self._open()
                    connection.execute("LISTEN assent")
                    if was_lost:
                        self._tell(("", EVERYTHING))  # whatever was said meanwhile
                    is_heard.set()
                    if not self._hear_on(connection, out):
                        return
                except (psycopg.Error, AssentError, OSError):
                    was_lost = True
                    is_heard.set()  # whoever waits for it would wait for the server to come back
                    if _wait_for([out], _PAUSE):
                        return
                finally:
                    if connection is not None:
                        connection.close()
        finally:
            os.close(out)

    def _hear_on(self, connection: Connection, out: int) -> bool:
        raw = connection.pgconn
        while True:
            if out in _wait_for([raw.socket, out]):
                return False
            raw.consume_input()  # raises when the server has gone
            payloads: list[str] = []
            while (told := raw.notifies()) is not None:
                if told.be_pid != self._own:
                    payloads.append(told.extra.decode("utf-8", "replace"))
            if payloads:
                self._tell(payloads)

    def _tell(self, payloads: Sequence[str]) -> None:
        names = [name for payload in payloads for name in payload.split("\n") if name]
        with self._ear_lock:
            ears = list(self._ears)
        for ear in ears:
            if ear.follows_feed:
                ear.hear((EVERYTHING,))
            elif names:
                ear.hear(names)

    def after_fork(self) -> None:
        """In a forked child: close the parent's pipe here; its threads and connections are not ours."""
        if self._wake is not None:
            with suppress(OSError):
                os.close(self._wake)


def _wait_for(files: Sequence[int], seconds: float | None = None) -> set[int]:
    """Return which of these have something to say. Not by select(): a server has more than 1,024 open files."""
    ear = select.poll()
    for file in files:
        ear.register(file, select.POLLIN)
    return {file for file, _ in ear.poll(None if seconds is None else seconds * 1_000)}


def _hear_out(line: Connection) -> None:
    """Read the reply to what was said without waiting for it."""
    raw = line.pgconn
    while True:
        raw.flush()
        if raw.is_busy():
            _wait_for([raw.socket], _LAST_SECONDS)
            raw.consume_input()
        elif raw.get_result() is None:
            return
