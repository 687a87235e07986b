"""A disk that fails on demand: a layer between SQLite and the real files, in the process that installs it.

It counts every write, sync, truncate and delete, and at the call that it was told it kills the process, tears the
write in half and kills it, or reports an error. It works wherever apsw does and needs no rights.
"""

from __future__ import annotations

import os
import signal

import apsw

__all__ = ["ACTS", "Disk"]

ACTS = ("kill", "tear", "eio", "enospc")


class Disk(apsw.VFS):
    """All files of this process's SQLite from now on."""

    def __init__(self) -> None:
        self._base = apsw.vfs_names()[0]
        self.calls: list[str] = []
        """What was called since `arm`, in order: `write x.db-wal` …"""
        self.unsynced: set[str] = set()
        """Files with writes that no sync has followed."""
        self.fired = 0
        self.room: int | None = None
        """Bytes that may still be written; None for a disk without end."""
        self._act = ""
        self._first = self._last = 0
        self._is_armed = False
        super().__init__("torture", self._base, makedefault=True)

    def arm(self, act: str = "", first: int = 0, last: int = 0) -> None:
        """Count from here; do `act` at the calls from `first` to `last` (the first one is 1)."""
        self.calls.clear()
        self.fired = 0
        self._act, self._first, self._last = act, first, max(first, last)
        self._is_armed = True

    def heal(self) -> None:
        """Do nothing any more."""
        self._is_armed = False
        self.room = None

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> _File:  # noqa: N802 - SQLite's name
        """Open a file through this layer."""
        return _File(self, self._base, name, flags)

    def xDelete(self, filename: str, syncdir: bool) -> None:  # noqa: N802
        """Delete a file."""
        self.before("delete", os.path.basename(filename))  # noqa: PTH119 - a name, not a path of ours
        super().xDelete(filename, syncdir)

    def before(self, what: str, name: str, size: int = 0) -> bool:
        """Note a call, and let it fail if its turn has come; say whether it is to be torn."""
        # Only the log file: SQLite goes on when the copying back into the main file fails, which happens after
        # the commit; an exception of ours cannot be ignored by it and would be taken for a failed commit.
        if self.room is not None and what == "write" and name.endswith("-wal"):
            if size > self.room:
                self.fired += 1
                raise apsw.FullError("no room is left on this disk")
            self.room -= size
        if not self._is_armed:
            return False
        self.calls.append(f"{what} {name}")
        if not self._first <= len(self.calls) <= self._last:
            return False
        self.fired += 1
        if self._act == "eio":
            raise apsw.IOError("this disk reports an error")
        if self._act == "enospc":
            raise apsw.FullError("no room is left on this disk")
        if self._act == "kill" or what != "write":
            os.kill(os.getpid(), signal.SIGKILL)
        return True


class _File(apsw.VFSFile):
    def __init__(self, disk: Disk, base: str, name: str | apsw.URIFilename | None, flags: list[int]) -> None:
        self._disk = disk
        full = name.filename() if isinstance(name, apsw.URIFilename) else name or "?"
        self._name = full.rpartition("/")[2]
        super().__init__(base, name, flags)

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802
        is_torn = self._disk.before("write", self._name, len(data))
        self._disk.unsynced.add(self._name)
        if is_torn:
            super().xWrite(data[: len(data) // 2], offset)
            os.kill(os.getpid(), signal.SIGKILL)
        super().xWrite(data, offset)

    def xSync(self, flags: int) -> None:  # noqa: N802
        self._disk.before("sync", self._name)
        super().xSync(flags)
        self._disk.unsynced.discard(self._name)

    def xTruncate(self, newsize: int) -> None:  # noqa: N802
        self._disk.before("truncate", self._name)
        super().xTruncate(newsize)
