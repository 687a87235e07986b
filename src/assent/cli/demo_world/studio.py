"""The folder that the agents of the demo share with the server: their documents, and a throw-away store.

Rule: it goes away with the last of them. A server that ends well removes it; one that was killed cannot, and then the
last agent does. Everybody holds a shared lock on it, so that the last one is whoever finds no other.
"""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["share"]


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
        shutil.rmtree(folder, ignore_errors=True)
    finally:
        os.close(handle)
