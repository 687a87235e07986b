"""Finding and ending what a loop has started and what those have started: its leftovers.

Three nets, as each has a hole: the process group (a program may leave it), descent (ends where a parent died, unless
orphans come to us, which `adopt_orphans` asks for), and marks in the environment, with the sessions that marked
processes lead (a program may clear the marks, or open a session of its own, but few do both). On a machine without
/proc only the group is left.

Run as a program this file is the guard of a loop: it waits on standard input, and if the loop dies before it has said
"done", the guard ends what the loop had started. So a loop that is killed leaves no agent behind that nobody steers.
The guard must start fast and outlive the package, so this file imports nothing of ours.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path

__all__ = ["DONE", "GRACE_SECONDS", "NOTHING", "Leftovers", "adopt_orphans"]

GRACE_SECONDS = 5.0
"""From the request to end until there is no asking any more."""
DONE = b"done"
NOTHING = b"nothing"
_ROUNDS = 500
_MAX_GRIPS = 200
"""So many processes are struck at once; each takes a descriptor."""
_LOOK_SECONDS = 0.02
_KILL_SECONDS = 10.0
"""So long killed processes may take to be gone; one that hangs in the kernel is not waited for."""
_PROC = Path("/proc")
_PR_SET_CHILD_SUBREAPER = 36


def adopt_orphans() -> None:
    """Have the orphans among our descendants come to this process, so that descent finds them."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


class Leftovers:
    """What carries all of `marks` in its environment, and what descends from `ancestor`."""

    def __init__(
        self, marks: Mapping[str, str], *, ancestor: int | None = None, spared: Iterable[int] = ()
    ) -> None:
        self._marks = [f"{name}={value}".encode() for name, value in marks.items()]
        self._ancestor = ancestor
        self._spared = {os.getpid(), *spared}
        self._sessions: set[int] = set()
        """Those that a marked process leads or led: whoever is in one belongs to it, marks or not."""

    def find(self) -> list[int]:
        """Return the process ids of all that are left."""
        parents, sessions = _look_around()
        found = set() if self._ancestor is None else _descendants(parents, self._ancestor)
        marked = {pid for pid in parents if self._is_marked(pid)}
        self._sessions |= {pid for pid in marked if sessions[pid] == pid}
        found |= marked | {pid for pid, session in sessions.items() if session in self._sessions}
        return sorted(found - self._spared - _ancestors(parents, os.getpid()))

    def end(
        self,
        grace_seconds: float = GRACE_SECONDS,
        *,
        group: int | None = None,
        is_impatient: Callable[[], bool] = lambda: False,
    ) -> bool:
        """Ask everything to end, kill what does not, and say whether nothing is left.

        `group` is a process group to end as well; `is_impatient` may cut the grace time short.
        """
        self._strike(signal.SIGTERM, group)
        until = time.monotonic() + grace_seconds
        while self._is_any(group) and time.monotonic() < until and not is_impatient():
            time.sleep(_LOOK_SECONDS)
        until = time.monotonic() + _KILL_SECONDS
        # Again and again: what is killed may have had the time to start something.
        while self._is_any(group) and time.monotonic() < until:
            self._kill_children()
            self._strike(signal.SIGKILL, group)
            time.sleep(_LOOK_SECONDS)
        return not self._is_any(group)

    def reap(self) -> None:
        """Notice the orphans that have ended: they came to us, and nobody else will."""
        for pid in self._children():
            with suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)

    def _children(self) -> set[int]:
        """Return our own children, as the kernel counts them; only where orphans come to us.

        A process that forks and ends, time after time, is gone whenever all processes are looked through. Its orphan
        is our child at once, and this list is read in one go.
        """
        found: set[int] = set()
        if self._ancestor == os.getpid():
            with suppress(OSError):
                for task in (_PROC / str(self._ancestor) / "task").iterdir():
                    with suppress(OSError):
                        found.update(map(int, (task / "children").read_text().split()))
        return found - self._spared

    def _kill_children(self) -> None:
        # Faster than they can fork. No number can be another's before we have reaped it.
        for _ in range(_ROUNDS):
            children = self._children()
            if not children:
                return
            for pid in children:
                with suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, signal.SIGKILL)
            self.reap()

    def _is_any(self, group: int | None) -> bool:
        self.reap()
        return bool(self._children() or self.find()) or (group is not None and _has_group(group))

    def _strike(self, number: int, group: int | None) -> None:
        if group is not None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(group, number)
        found = self.find()
        for start in range(0, len(found), _MAX_GRIPS):
            self._strike_some(found[start : start + _MAX_GRIPS], number)

    def _strike_some(self, pids: Iterable[int], number: int) -> None:
        # A number may be another program's by now: look again with a grip on the processes themselves. One look for
        # many, as a look reads of every process on the machine.
        grips = {}
        for pid in pids:
            with suppress(OSError, AttributeError):
                grips[pid] = os.pidfd_open(pid)
        still = set(self.find())
        for pid, grip in grips.items():
            if pid in still:
                with suppress(ProcessLookupError, PermissionError):
                    signal.pidfd_send_signal(grip, number)
            os.close(grip)

    def _is_marked(self, pid: int) -> bool:
        if not self._marks:
            return False
        try:
            entries = (_PROC / str(pid) / "environ").read_bytes().split(b"\0")
        except OSError:
            return False  # gone, a zombie, or somebody else's
        return all(mark in entries for mark in self._marks)


def _look_around() -> tuple[dict[int, int], dict[int, int]]:
    """Return the parent and the session of every process that is not a zombie."""
    parents, sessions = {}, {}
    with suppress(OSError):
        for entry in os.listdir(_PROC):  # noqa: PTH208 - on a path that looks often
            if entry.isdecimal():
                with suppress(OSError, ValueError, IndexError):
                    # The name in brackets may hold anything, brackets too.
                    fields = (_PROC / entry / "stat").read_text(errors="replace").rpartition(")")[2].split()
                    if fields[0] not in {"Z", "X"}:
                        parents[int(entry)], sessions[int(entry)] = int(fields[1]), int(fields[3])
    return parents, sessions


def _descendants(parents: Mapping[int, int], ancestor: int) -> set[int]:
    found: set[int] = set()
    newest = {ancestor}
    while newest:
        newest = {pid for pid, parent in parents.items() if parent in newest} - found - {ancestor}
        found |= newest
    return found


def _ancestors(parents: Mapping[int, int], pid: int) -> set[int]:
    """Return whom we came from. They may carry the marks, as a shell does in which somebody set them, and are no
    leftovers.
    """
    found: set[int] = set()
    while (pid := parents.get(pid, 0)) > 0 and pid not in found:
        found.add(pid)
    return found


def _has_group(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except (ProcessLookupError, PermissionError):
        return False
    return not _is_all_zombie(group)


def _is_all_zombie(group: int) -> bool:
    """A group whose members have all ended, and only wait to be noticed."""
    if not _PROC.is_dir():
        return False
    for pid in _look_around()[0]:
        with suppress(OSError):
            if os.getpgid(pid) == group:
                return False
    return True


def main(arguments: list[str]) -> None:
    """Guard a loop: its grace time and marks are the arguments, and its life is our standard input.

    A line there is the process group of the command that it has just started, NOTHING when it has ended, or DONE.
    """
    grace_seconds = float(arguments[0])
    marks = dict(argument.split("=", 1) for argument in arguments[1:])
    told = b""
    while piece := os.read(0, 64):
        told = (told + piece)[-64:]
    last = told.split(b"\n")[-2:-1]
    if last != [DONE]:
        Leftovers(marks).end(grace_seconds, group=int(last[0]) if last and last[0].isdigit() else None)


if __name__ == "__main__":
    main(sys.argv[1:])
