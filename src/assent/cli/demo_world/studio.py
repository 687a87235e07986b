"""The folder that the agents of the demo share with the server: their documents, and a throw-away store.

Rule: it goes away with the last of them. A server that ends well removes it; one that was killed cannot, and then the
last agent does. Everybody holds a shared lock on it, so that the last one is whoever finds no other.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["share"]

_REMOVE_SECONDS = 5.0
_LOOK_SECONDS = 0.05


@contextmanager
def share(folder: Path) -> Iterator[bool]:
    """Give whether the folder is there; it is removed at the end unless somebody else uses it still."""
    try:
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except FileNotFoundError:
        yield False
        return
    try:
        fcntl.flock(handle, fcntl.LOCK_SH)
        yield folder.is_dir()  # it may have gone while we waited
    finally:
        _leave(handle, folder)


def _leave(handle: int, folder: Path) -> None:
    try:
        fcntl.flock(handle, fcntl.LOCK_UN)
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return
    else:
        _remove(folder)
    finally:
        os.close(handle)


def _remove(folder: Path) -> None:
    """Remove it. A program that an agent had started, and that is ending now, may put one more file there meanwhile."""
    until = time.monotonic() + _REMOVE_SECONDS
    while True:
        shutil.rmtree(folder, ignore_errors=True)
        if not folder.exists() or time.monotonic() > until:
            return
        time.sleep(_LOOK_SECONDS)
