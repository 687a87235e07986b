"""Which asks a process waits for, so that its death can be seen: a file for each process that waits, under a lock.

The kernel frees the lock of a process that dies, and its file stays: what is noted there was waited for by somebody who is
gone. A process that ends its waits in order notes that, too, and takes its file away when it closes the store.

Rule 1: volatile, and a courtesy. Nothing here is in the log, and nothing here may fail a wait.
Rule 2: a wait costs a short write at its beginning and one at its end, without a sync: a machine that dies takes the
        askers along, and their asks are found by their keys.
Rule 3: whoever waits for an ask again takes its mark away: while they wait, as their file is under a lock, and for good
        when they stop.
"""

from __future__ import annotations

import fcntl
import os
import secrets  # noqa: TID251 - a file's name only has to be unused; it is no id of ours
import threading
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress

from assent.protocol.error import AssentError, StoreReadOnlyError
from assent.storage.sqlite.hold import FileHold, forking

__all__ = ["FileWaits"]

_LEFT = "left"
"""Where a server notes whose client is gone; nobody's lock is on it for longer than a write."""
_LONGEST = 1 << 16
"""A file that has grown so long is written anew."""


class FileWaits:
    """Fits `storage.port.Waits`."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._counts: dict[str, int] = {}
        self._hold: FileHold | None = None

    def begin(self, ask_id: str) -> None:
        """Note that this process waits for an ask."""
        with self._lock:
            count = self._counts.get(ask_id, 0)
            self._counts[ask_id] = count + 1
            if not count:
                self._note("+", ask_id)

    def end(self, ask_id: str, *, is_over: bool) -> None:
        """Note that it does no longer: the ask is over, or it has been left in order."""
        self._end(ask_id)
        if not is_over:
            self._forget(lambda name: name == ask_id)

    def abandon(self, ask_id: str) -> None:
        """Note that somebody is gone for whom this process has waited."""
        with suppress(OSError), forking:
            os.makedirs(self._folder, mode=0o700, exist_ok=True)  # noqa: PTH103 - beside the other calls of its kind
            descriptor = os.open(
                f"{self._folder}/{_LEFT}",
                os.O_CREAT | os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW,
                0o600,
            )
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX)
                os.write(descriptor, f"\n+{ask_id}".encode())
            finally:
                os.close(descriptor)
        self._end(ask_id)

    def gone(self, ask_ids: Collection[str]) -> set[str]:
        """Return those of these asks that somebody waited for who died, and nobody waits for now."""
        names = self._names()
        if not names:
            return set()
        left: set[str] = set()
        alive: list[str] = []
        for name in names:
            with self._locked(name, fcntl.LOCK_SH) as descriptor:
                if descriptor is None:
                    alive.append(name)
                else:
                    left |= _noted(_read(descriptor)) & set(ask_ids)
        for name in alive if left else ():
            with suppress(OSError), open(f"{self._folder}/{name}", "rb") as file:  # noqa: PTH123 - as above
                left -= _noted(file.read())
        return left

    def sweep(self, is_open: Callable[[str], bool]) -> None:
        """Forget what was noted of asks that have ended since."""
        self._forget(lambda ask_id: not is_open(ask_id))

    def close(self) -> None:
        """Take our file away: whoever closes a store has ended its waits."""
        with self._lock, suppress(OSError):
            hold, self._hold = self._hold, None
            self._counts.clear()
            if hold is not None:
                hold.release()
                os.rmdir(self._folder)  # noqa: PTH106 - if nobody else has one there

    def _end(self, ask_id: str) -> None:
        with self._lock:
            count = self._counts.pop(ask_id, 0)
            if count > 1:
                self._counts[ask_id] = count - 1
            elif count:
                self._note("-", ask_id)

    def _note(self, sign: str, ask_id: str) -> None:
        with suppress(OSError, AssentError):
            hold = self._hold = self._hold or self._take()
            hold.append(f"\n{sign}{ask_id}".encode())
            if hold.size > _LONGEST and hold.size > _LONGEST * len(self._counts) // 100:
                hold.rewrite("".join(f"\n+{each}" for each in self._counts).encode())

    def _take(self) -> FileHold:
        name = f"{self._folder}/{os.getpid()}-{secrets.token_hex(4)}"
        try:
            return FileHold(name)
        except StoreReadOnlyError:  # nobody has waited yet, or the last one has just taken the folder away
            os.makedirs(self._folder, mode=0o700, exist_ok=True)  # noqa: PTH103 - as above
            return FileHold(name)

    def _forget(self, is_done: Callable[[str], bool]) -> None:
        """Take marks out of the files of those who died; a file without any goes, too."""
        for name in self._names():
            with suppress(OSError), self._locked(name, fcntl.LOCK_EX) as descriptor:
                if descriptor is None:
                    continue
                noted = _noted(_read(descriptor))
                kept = {ask_id for ask_id in noted if not is_done(ask_id)}
                if kept != noted:
                    os.ftruncate(descriptor, 0)
                    os.pwrite(descriptor, "".join(f"\n+{ask_id}" for ask_id in sorted(kept)).encode(), 0)
                if not kept and name != _LEFT:
                    os.unlink(f"{self._folder}/{name}")  # noqa: PTH108 - as above

    def _names(self) -> list[str]:
        try:
            return os.listdir(self._folder)  # noqa: PTH208 - on every look's way
        except OSError:
            return []

    @contextmanager
    def _locked(self, name: str, operation: int) -> Iterator[int | None]:
        """Give the file of a process that is gone, under a lock; None of one that lives."""
        with forking:
            try:
                descriptor = os.open(f"{self._folder}/{name}", os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
            except OSError:
                yield None
                return
            try:
                fcntl.flock(descriptor, operation if name == _LEFT else operation | fcntl.LOCK_NB)
            except OSError:
                os.close(descriptor)
                yield None
                return
            try:
                yield descriptor
            finally:
                os.close(descriptor)


def _read(descriptor: int) -> bytes:
    return os.pread(descriptor, os.fstat(descriptor).st_size, 0)


def _noted(text: bytes) -> set[str]:
    """Return the asks that are waited for by what a file says."""
    noted: set[str] = set()
    for line in text.decode("utf-8", "replace").split("\n"):
        if line.startswith("+"):
            noted.add(line[1:])
        elif line.startswith("-"):
            noted.discard(line[1:])
    return noted
