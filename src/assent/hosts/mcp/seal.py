"""The key that seals what hosts hand back: a file of the user's own, made once, read by every later process.

It lies beside the store, or with what this user's commands remember where the store is no file. It is made whole or not
at all, and one that others could read is refused.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

from assent.protocol.error import AssentError

__all__ = ["find_key_file", "load_key"]

_LEAST_CHARACTERS = 32


def find_key_file(address: Path | str, state: Path | None) -> Path | None:
    """Return where the key for a store lies; nowhere where nothing can be kept."""
    if isinstance(address, Path):
        return address.with_name(f"{address.name}.mcp-key")
    return None if state is None else state / f"mcp-{sha256(address.encode()).hexdigest()[:16]}.key"


def load_key(file: Path | None, mint: Callable[[], str]) -> str:
    """Return the key in `file`, minted the first time; without a file it is this process's own.

    Raises:
        AssentError: others could read it, or it is none.
    """
    if file is None:
        return mint()
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not file.exists():
        _make(file, mint())
    descriptor = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    with os.fdopen(descriptor, encoding="ascii", errors="replace") as opened:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o077:
            raise AssentError(
                f"{file} must be a file of your own that nobody else can read: chmod 600, or remove it."
            )
        key = opened.read().strip()
    if len(key) < _LEAST_CHARACTERS:
        raise AssentError(f"{file} holds no key: remove it, and it is made anew.")
    return key


def _make(file: Path, key: str) -> None:
    draft = file.with_name(f"{file.name}.{os.getpid()}")
    draft.unlink(missing_ok=True)
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(descriptor, "w", encoding="ascii") as opened:
            opened.write(f"{key}\n")
            opened.flush()
            os.fsync(descriptor)
        try:
            file.hardlink_to(draft)
        except FileExistsError:
            return  # another process was first, and its key counts
    finally:
        draft.unlink(missing_ok=True)
