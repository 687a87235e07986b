"""Where effects may reach: ordinary files under one root, and nothing else.

A path is relative and goes only downward. Links inside the root may be followed, as long as they end inside it;
that is found out first, and then the way is walked again, folder by folder from the root, following no link. So a
link that is put in the way between the two is refused, and no file outside is ever opened.

Two folders are closed wherever they lie: git's own, whose files make the next git command run things, and ours,
because closing the database's file would drop the locks that this process has on it.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from assent.protocol.display import quote
from assent.protocol.error import EffectError, PathRefusedError

__all__ = ["CLOSED_FOLDERS", "MAX_FILE_BYTES", "Place", "read_file"]

MAX_FILE_BYTES = 4 << 20
"""Documents and plans; an intention keeps all of it in the journal."""
CLOSED_FOLDERS = frozenset({".assent", ".git"})

_WAY = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW
_NOT_ORDINARY = frozenset({errno.ELOOP, errno.ENOTDIR, errno.ENXIO, errno.EISDIR})


class Place:
    """One root, and the files under it."""

    def __init__(self, root: Path) -> None:
        self.root = root.resolve()

    @contextmanager
    def folder(self, path: str) -> Iterator[tuple[int, str]]:
        """Give the open folder of the file that `path` leads to, and the file's name in it.

        Raises:
            PathRefusedError: it leads out of the root, or not to a file.
            EffectError: there is no such folder, or it may not be entered.
        """
        with _plain_errors(path):
            *folders, name = self._parts(path)
            descriptor = os.open(self.root, _WAY | os.O_DIRECTORY)
            try:
                for part in folders:
                    inner = os.open(part, _WAY | os.O_DIRECTORY, dir_fd=descriptor)
                    os.close(descriptor)
                    descriptor = inner
                yield descriptor, name
            finally:
                os.close(descriptor)

    def _parts(self, path: str) -> tuple[str, ...]:
        given = PurePosixPath(path)
        if not given.name or given.is_absolute() or ".." in given.parts or "\0" in path:
            raise PathRefusedError(f'"{quote(path)}" is not a path downward from the root.')
        # Not strict: the file need not be there yet. What is no link now and becomes one is refused on the way.
        real = Path(os.path.realpath(self.root / given))
        if real == self.root or not real.is_relative_to(self.root):
            raise PathRefusedError(f'"{quote(path)}" leads out of the root.')
        parts = real.relative_to(self.root).parts
        if any(part.casefold() in CLOSED_FOLDERS for part in parts):
            raise PathRefusedError(f'"{quote(path)}" lies in a folder that is not for documents.')
        return parts


def read_file(folder: int, name: str, limit: int = MAX_FILE_BYTES) -> bytes | None:
    """Return what an ordinary file in an open folder holds; nothing where there is no file."""
    try:
        # Not blocking: the other end of a pipe might never come.
        descriptor = os.open(name, _WAY | os.O_NONBLOCK, dir_fd=folder)
    except FileNotFoundError:
        return None
    with open(descriptor, "rb") as file:  # noqa: PTH123 - an open descriptor, not a path
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise PathRefusedError(f'"{quote(name)}" is not an ordinary file.')
        content = file.read(limit + 1)
    if len(content) > limit:
        raise EffectError(f'"{quote(name)}" is larger than {limit:,} bytes.')
    return content


@contextmanager
def _plain_errors(path: str) -> Iterator[None]:
    """Turn the system's refusals into ours, each with one plain sentence."""
    try:
        yield
    except OSError as error:
        if error.errno in _NOT_ORDINARY:
            raise PathRefusedError(f'"{quote(path)}" does not lead to an ordinary file.') from error
        raise EffectError(f'"{quote(path)}" cannot be used: {error.strerror}.') from error
