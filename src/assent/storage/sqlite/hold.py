"""The right to drive one flow: a `flock` on a side file, as long as its holder lives.

The kernel frees the lock of a process that dies, so what it drove can be taken over at once. Each hold has an open
file of its own, so that two threads or hubs of one process exclude each other like two processes.

Rule 1: whoever lets go takes the file away first, under the lock; whoever gets the lock looks whether the file is
        still the one under that name. Nothing piles up, and nobody holds a file that others no longer see.
Rule 2: a forked child holds nothing. It closes what it inherited, or the lock would outlive the parent; closing
        leaves the parent's lock alone. It does so before anything else; only a parent that is killed while its child
        has not yet begun to run is outlived by its hold, for that moment. No fork falls between opening a file and
        noting it.
"""

from __future__ import annotations

import errno
import fcntl
import os
import threading
import time
from contextlib import suppress

from assent.protocol.error import FlowTakenError, StoreFullError, StoreReadOnlyError

__all__ = ["FileHold", "forking", "is_held"]

_GLANCE_SECONDS = 0.05
"""Whoever asks whether a hold is taken has it for a moment; so long that is not taken for a holder."""

forking = threading.RLock()
"""Whoever has it is sure that no child inherits the files that they have open."""
_held: set[FileHold] = set()


class FileHold:
    """Fits `storage.port.Hold`."""

    def __init__(self, path: str) -> None:
        """Take the hold at `path`.

        Raises:
            FlowTakenError: somebody alive has it.
            StoreReadOnlyError: the side file cannot be made.
        """
        self._path = path
        self._descriptor = -1
        self.size = 0
        """How long the file is."""
        until = time.monotonic() + _GLANCE_SECONDS
        while self._descriptor < 0:
            try:
                with forking:
                    self._try()
                    if self.is_held:
                        _held.add(self)
            except FlowTakenError:
                if time.monotonic() >= until:
                    raise
                time.sleep(_GLANCE_SECONDS / 10)

    @property
    def is_held(self) -> bool:
        """Whether this process still has the right; not so in a forked child."""
        return self._descriptor >= 0

    def release(self) -> None:
        """Let the next one in."""
        with forking:
            if self.is_held:
                with suppress(FileNotFoundError):
                    # Not the file of another holder, should somebody have cleared ours away meanwhile.
                    if self._is_ours(self._descriptor):
                        os.unlink(self._path)  # noqa: PTH108 - beside the other calls of its kind
                # Said aloud: a copy of the descriptor in a child that is just starting would keep the lock.
                fcntl.flock(self._descriptor, fcntl.LOCK_UN)
                self.drop()

    def append(self, text: bytes) -> None:
        """Write at the end of the file; its first line is the holder's number."""
        self.size += os.pwrite(self._descriptor, text, self.size)

    def rewrite(self, text: bytes) -> None:
        """Write `text` behind the holder's number, and nothing else."""
        start = len(str(os.getpid()))
        self.size = start + os.pwrite(self._descriptor, text, start)
        os.ftruncate(self._descriptor, self.size)

    def drop(self) -> None:
        """Close the file and no more."""
        descriptor, self._descriptor = self._descriptor, -1
        os.close(descriptor)
        _held.discard(self)

    def _try(self) -> None:
        descriptor = self._open()
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if self._is_ours(descriptor):
                os.ftruncate(descriptor, 0)
                self.size = os.pwrite(descriptor, str(os.getpid()).encode(), 0)
                self._descriptor, descriptor = descriptor, -1
        except BlockingIOError:
            holder = os.pread(descriptor, 20, 0).decode("ascii", "replace")
            by = f"Process {holder}" if holder.isdecimal() else "Another process"
            raise FlowTakenError(driver=by) from None
        except FileNotFoundError:
            pass  # its last holder has just taken it away: try again
        except OSError as error:
            if error.errno == errno.ENOSPC:
                raise StoreFullError from error
            raise StoreReadOnlyError(f"{self._path} cannot be written; nothing was changed.") from error
        finally:
            if descriptor >= 0:
                os.close(descriptor)

    def _is_ours(self, descriptor: int) -> bool:
        """Whether this open file is still the one under the hold's name."""
        return os.path.samestat(os.fstat(descriptor), os.stat(self._path, follow_symlinks=False))  # noqa: PTH116

    def _open(self) -> int:
        try:
            return os.open(self._path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        except OSError as error:
            raise StoreReadOnlyError(f"{self._path} cannot be written; nothing was changed.") from error


def is_held(path: str) -> bool:
    """Say whether somebody alive has the hold at `path`. A file that its holder's death left behind is not held."""
    with forking:
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
        except OSError:
            return False
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        finally:
            os.close(descriptor)
        return False


def _after_fork_in_child() -> None:
    for hold in list(_held):
        hold.drop()
    forking.release()


os.register_at_fork(
    before=forking.acquire, after_in_parent=forking.release, after_in_child=_after_fork_in_child
)
