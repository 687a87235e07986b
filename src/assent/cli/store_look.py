"""A file that is no store of this user's, a backup or a copy, is looked at as a copy of it, and left as it is."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from assent.client.embedded import EmbeddedDoor
from assent.hub.compose import hub_on_file
from assent.protocol.error import StoreRefusedError, StoreTooNewError
from assent.storage.sqlite.copy_end import FileEnd

__all__ = ["copied", "looking_at", "opened_file"]


@contextmanager
def looking_at(path: Path) -> Iterator[EmbeddedDoor]:
    """Give a door to what the file holds."""
    with opened_file(path) as end:
        end.check()
        with copied(end, path) as copy:
            yield EmbeddedDoor(hub_on_file(copy))


@contextmanager
def opened_file(path: Path) -> Iterator[FileEnd]:
    """Give a file that is only read."""
    end = FileEnd(path)
    try:
        yield end
    finally:
        end.close()


@contextmanager
def copied(end: FileEnd, path: Path) -> Iterator[Path]:
    """Give a copy that may be brought to this program's shape; it goes away at the end.

    Raises:
        StoreTooNewError: a newer program has written it.
        StoreRefusedError: it is no store.
    """
    if end.is_newer:
        raise StoreTooNewError
    if not end.schema:
        raise StoreRefusedError(f"{path} is not a store, and not a backup of one.")
    folder = Path(tempfile.mkdtemp(prefix="assent-look-"))
    try:
        end.save_as(folder / "assent.db")
        yield folder / "assent.db"
    finally:
        shutil.rmtree(folder, ignore_errors=True)
