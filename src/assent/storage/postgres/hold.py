"""Rights that one process in the world has: a lease by the database's clock, with a number of its own.

A holder renews its leases three times as often as it must. One that cannot is not sure of them any more before anybody
else can have them: it counts from before it asked, by its own clock that never jumps. A process that died on this
machine need not be waited for: its leases are taken over at once; those of another machine run out.
"""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from hashlib import sha256
from pathlib import Path

import psycopg

from assent.protocol.error import AssentError, FlowTakenError
from assent.storage.postgres.clock import boot_seconds
from assent.storage.postgres.connection import Connection, rows

__all__ = ["LEASE_SECONDS", "Leases", "PostgresHold"]

LEASE_SECONDS = 15.0
"""How long a right outlives a holder of which nothing is heard."""


class PostgresHold:
    """Fits `storage.port.Hold`."""

    def __init__(self, leases: Leases, name: str, fence: int, until: float) -> None:
        self._leases = leases
        self.name = name
        self.fence = fence
        """No other holder has or had it."""
        self.until = until
        """The monotonic moment up to which nobody else can have it."""
        self._owner = os.getpid()

    @property
    def is_held(self) -> bool:
        """Whether this process still has the right for certain; not so in a forked child."""
        return boot_seconds() < self.until and self._owner == os.getpid()

    def release(self) -> None:
        """Let the next one in."""
        if self._owner == os.getpid():  # a forked child has inherited the locks in whatever state they were
            self._leases.drop(self)


class Leases:
    """All rights of one process on one database."""

    def __init__(
        self, borrow: Callable[[], AbstractContextManager[Connection]], queries: dict[str, str]
    ) -> None:
        self._borrow = borrow
        self._queries = queries
        self._lock = threading.Lock()
        self._held: dict[str, PostgresHold] = {}
        self._thread: threading.Thread | None = None
        self._turn = threading.Condition(self._lock)

    def take(self, name: str) -> PostgresHold:
        """Take the right that goes by `name`.

        Raises:
            FlowTakenError: somebody has it.
        """
        digest = _digest(name)
        began = boot_seconds()
        with self._borrow() as connection:
            dead = ""
            while True:
                values = (digest, holder_name(), LEASE_SECONDS, dead)
                found = rows(connection, self._queries["take_hold"], values)
                if found:
                    break
                holder = rows(connection, self._queries["holder"], (digest,))
                if holder and (holder[0][0] == dead or not is_dead(holder[0][0])):
                    raise FlowTakenError(driver=describe(holder[0][0]))
                dead = holder[0][0] if holder else ""
        hold = PostgresHold(self, digest, found[0][0], began + LEASE_SECONDS)
        with self._turn:
            self._held[digest] = hold
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._keep, daemon=True, name="assent-leases")
                self._thread.start()
        return hold

    def is_held(self, name: str) -> bool:
        """Say whether somebody has the right that goes by `name`."""
        with self._borrow() as connection:
            found = rows(connection, self._queries["holder"], (_digest(name),))
        return bool(found) and not is_dead(found[0][0])

    def drop(self, hold: PostgresHold) -> None:
        """Give a right back; where that cannot be said, it runs out."""
        with self._turn:
            was_held = hold.is_held
            hold.until = 0.0
            if self._held.get(hold.name) is hold:
                del self._held[hold.name]
            if not self._held:
                self._turn.notify_all()
        if was_held:
            with suppress(psycopg.Error, AssentError), self._borrow() as connection:
                connection.execute(self._queries["drop_hold"], (hold.name, hold.fence))

    def close(self) -> None:
        """Give back what is still held."""
        with self._lock:
            held = list(self._held.values())
        for hold in held:
            self.drop(hold)

    def forget(self) -> None:
        """In a forked child: nothing is held here."""
        for hold in self._held.values():
            hold.until = 0.0
        self._held.clear()

    def _keep(self) -> None:
        while True:
            with self._turn:
                self._turn.wait(LEASE_SECONDS / 3)
                if not self._held:
                    self._thread = None
                    return
                held = dict(self._held)
            began = boot_seconds()
            names, fences = list(held), [hold.fence for hold in held.values()]
            try:
                with self._borrow() as connection:
                    kept = rows(connection, self._queries["keep_holds"], (names, fences, LEASE_SECONDS))
            except (psycopg.Error, AssentError):
                continue  # the database is away; what runs out meanwhile is not held
            still = {name for (name,) in kept}
            with self._turn:  # what is let go meanwhile stays so
                for name, hold in held.items():
                    hold.until = began + LEASE_SECONDS if name in still and hold.until else 0.0


def _digest(name: str) -> str:
    return sha256(name.encode()).hexdigest()


def holder_name() -> str:
    """Return which process on which machine this is: the pid's own space and the boot are a part of it."""
    return f"{_machine()}\n{os.getpid()}\n{_started(os.getpid())}"


def describe(holder: str) -> str:
    """Return a holder as people know it."""
    machine, pid, *_ = [*holder.split("\n"), "", ""]
    host = machine.split(" ")[0]
    return f"Process {pid} on {host}" if pid.isdecimal() else "Another process"


def is_dead(holder: str) -> bool:
    """Say whether a holder was a process of this machine and is certainly gone."""
    machine, pid, started = [*holder.split("\n"), "", "", ""][:3]
    if machine != _machine() or not pid.isdecimal():
        return False
    found = _started(int(pid))
    if found:
        return found != started
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False  # it is there, and the system hides it from us
    return True  # ended, and its parent has not heard of it yet


def _machine() -> str:
    boot = pids = ""
    with suppress(OSError):
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        pids = str(Path("/proc/self/ns/pid").readlink())
    # Where the system does not tell, nobody is taken for dead.
    return f"{socket.gethostname()} {boot or os.getpid()} {pids}"


def _started(pid: int) -> str:
    """Return when a process began, as the kernel counts; "" where there is none: a number may be used again."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    fields = stat.rpartition(") ")[2].split()
    return "" if fields[0] in "ZX" else fields[19]
