"""The doorbell: after a commit the writer rings every process that waits, by a datagram to its socket.

A ring is a hint. Whoever hears it reads the store, and a look by the clock catches what no ring told. The order
that loses nothing: a listener binds, registers, looks; a writer commits, lists the sockets, rings.

The name of a socket says what it wants: `.w` hears of ended asks, `.f` follows the feed and hears of everything.
"""

from __future__ import annotations

import os
import secrets  # noqa: TID251 - a socket's name only has to be unused; it is no id of ours
import select
import socket
import stat
import tempfile
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from assent.storage.port import EVERYTHING

__all__ = ["SocketBell", "SocketListener", "runtime_folder"]

_TICK = 100_000_000
"""Nanoseconds; a file system's clock ticks every few milliseconds."""
_FULL = 10
"""A socket keeps so many rings; where so many were waiting, one more may have been turned away."""
_LARGEST = 8_000
"""A ring that would name more bytes of ids says EVERYTHING."""


def runtime_folder() -> Path | None:
    """Return this user's own runtime folder, or None where none can be trusted."""
    given = os.environ.get("XDG_RUNTIME_DIR")
    folder = Path(given) / "assent" if given else Path(tempfile.gettempdir()) / f"assent-{os.geteuid()}"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = folder.lstat()
    except OSError:
        return None
    # In a world-writable folder somebody else may have made it first.
    is_ours = stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid() and not found.st_mode & 0o077
    return folder if is_ours else None


class SocketListener:
    """One process's ear on one store."""

    def __init__(self, folder: Path, prefix: str, *, follows_feed: bool) -> None:
        # 16 hex digits of a hash and a short name keep the path under a socket's limit of 107 bytes.
        name = f"{prefix}{secrets.token_hex(3)}.{'f' if follows_feed else 'w'}"
        self.path = str(folder / name)
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        try:
            self._socket.bind(self.path)
        except OSError:
            self._socket.close()
            raise
        except BaseException:  # Ctrl-C, with the name already there
            self._socket.close()
            Path(self.path).unlink(missing_ok=True)
            raise
        # Not settimeout: a socket with a time-out ignores MSG_DONTWAIT and draining it would wait.
        self._socket.setblocking(False)
        self._closing = threading.Lock()
        self._is_closed = False
        self._nudge_out, self._nudge_in = os.pipe()
        os.set_blocking(self._nudge_out, False)
        os.set_blocking(self._nudge_in, False)
        self._poll = select.poll()
        self._poll.register(self._socket, select.POLLIN)
        self._poll.register(self._nudge_out, select.POLLIN)

    def wait(self, seconds: float) -> tuple[str, ...] | None:
        """Wait for a ring; return what it named, () for a nudge, None when nothing was heard."""
        ready = self._poll.poll(max(0, seconds) * 1000)
        if not ready:
            return None
        names: list[str] = []
        for descriptor, _ in ready:
            if descriptor == self._nudge_out:
                os.read(descriptor, 4096)
            else:
                self._drain(names)
        return tuple(filter(None, names))

    def _drain(self, names: list[str]) -> None:
        rings = 0
        try:
            while True:
                names.extend(self._socket.recv(1 << 16).decode("utf-8", "replace").split("\n"))
                rings += 1
        except BlockingIOError:
            if rings >= _FULL:
                names.append(EVERYTHING)

    def nudge(self) -> None:
        """Wake whoever waits here, from another thread of this process."""
        # After a close the number may already be somebody else's file.
        with self._closing, suppress(BlockingIOError):
            if not self._is_closed:
                os.write(self._nudge_in, b".")

    def close(self) -> None:
        """Stop listening; nobody may be inside `wait`."""
        with self._closing:
            if self._is_closed:
                return
            self._is_closed = True
            with suppress(FileNotFoundError):
                Path(self.path).unlink()
            self._socket.close()
            os.close(self._nudge_in)
            os.close(self._nudge_out)


class SocketBell:
    """Rings, and gives out ears, for one store's file."""

    def __init__(self, path: Path) -> None:
        runtime = runtime_folder()
        folder = None
        if runtime is not None:
            folder = runtime / sha256(os.fsencode(path.resolve())).hexdigest()[:16]
            try:
                folder.mkdir(mode=0o700, exist_ok=True)
            except OSError:
                folder = None
        self._folder = folder
        # A hub wakes its own waiters by itself; another hub of this process is rung like any other.
        self._prefix = f"{os.getpid()}-{secrets.token_hex(2)}-"
        self._socket: socket.socket | None = None
        self._path = str(folder)
        self._names: list[str] = []
        self._listed_at: int | None = None

    def listen(self, *, follows_feed: bool) -> SocketListener | None:
        """Return a bound ear, or None where sockets cannot be bound: look by the clock then."""
        if self._folder is None:
            return None
        for _ in range(3):
            try:
                self._folder.mkdir(mode=0o700, exist_ok=True)
                return SocketListener(self._folder, self._prefix, follows_feed=follows_feed)
            except FileNotFoundError:
                continue  # whoever closed last has just taken the empty folder away
            except OSError:
                break
        return None

    def ring(self, ended: Sequence[str], has_news: bool) -> None:
        """Tell the other processes what ended, and those who follow the feed that there is news."""
        if self._folder is None or not (ended or has_news):
            return
        names = "\n".join(ended)
        message = (names if names and len(names) <= _LARGEST else EVERYTHING).encode()
        for name in self._bound():
            wants_it = name.endswith(".f") or (bool(ended) and name.endswith(".w"))
            if wants_it and not name.startswith(self._prefix):
                self._send(message, f"{self._folder}/{name}")

    def _bound(self) -> list[str]:
        """Return the sockets in the folder; listed anew when it has changed, or may have without showing it."""
        try:
            changed_at = os.stat(self._path).st_mtime_ns  # noqa: PTH116 - on every commit's way
            if changed_at != self._listed_at:
                self._names = os.listdir(self._path)  # noqa: PTH208 - on every commit's way
                # Two changes within one tick of the file system's clock leave the same time behind. A list is kept
                # only if it is so much younger than the change that the next one must show.
                age = time.clock_gettime_ns(time.CLOCK_REALTIME) - changed_at
                self._listed_at = changed_at if age > _TICK else None
        except OSError:
            return []
        return self._names

    def _send(self, message: bytes, address: str) -> None:
        # The commit is done and must be acknowledged, so nothing here may raise. Full: it is awake already and
        # will look. Gone: it no longer waits. Anything else: the look by the clock is there for that.
        with suppress(OSError):
            if self._socket is None:
                self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
                self._socket.setblocking(False)
            try:
                self._socket.sendto(message, address)
            except ConnectionRefusedError:
                # Nobody holds it any more; names are never used twice.
                Path(address).unlink()

    def close(self) -> None:
        """Close the sending socket; take the folder away if nobody listens. Our own ears are closed by now."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None
        if self._folder is not None:
            with suppress(OSError):
                # Ctrl-C may have come when an ear was bound and nobody had it in hand yet.
                for left in self._folder.glob(f"{self._prefix}*"):
                    left.unlink(missing_ok=True)
                self._folder.rmdir()
