"""A backup: a whole store as one file, which is complete, checked and ours alone before it has its name.

Rule 1: nothing is overwritten, ever.
Rule 2: whatever has the name of a backup is one: the file is written, synced and checked under another name first.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

import msgspec

from assent.protocol.error import StoreReadOnlyError, StoreRefusedError
from assent.storage.copy import check_chain, find_heads
from assent.storage.sqlite.copy_end import FileEnd
from assent.storage.sqlite.mark import mark_as_backup

__all__ = ["Checked", "check_backup", "save_backup"]


class Checked(msgspec.Struct, frozen=True):
    """What a backup holds, all of it looked at."""

    projects: int
    events: int
    size: int
    """Bytes."""


def save_backup(store: Path, path: Path) -> Checked:
    """Write one moment of the store at `store` to the new file `path`, while others write to the store.

    Raises:
        StoreRefusedError: there is something at `path`.
        StoreReadOnlyError: it cannot be written there.
        StoreDamagedError: the store, and so its copy, cannot be believed.
    """
    _refuse_taken(path)
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        os.close(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600))
    except OSError as error:
        raise StoreReadOnlyError(f"{path.parent} cannot be written: {error.strerror}.") from error
    try:
        source = FileEnd(store)
        try:
            source.save_as(draft)
        finally:
            source.close()
        mark_as_backup(draft)
        _sync(draft)
        checked = check_backup(draft)
        try:
            os.link(draft, path)  # unlike a rename, it fails where something has come meanwhile
        except FileExistsError:
            _refuse_taken(path)
    finally:
        with suppress(FileNotFoundError):
            draft.unlink()
    _sync(path.parent)
    return checked


def check_backup(path: Path) -> Checked:
    """Look at all of a backup, and change nothing of it.

    Raises:
        StoreRefusedError: it is no backup.
        StoreDamagedError: it cannot be believed.
    """
    end = FileEnd(path)
    try:
        end.check()
        if not end.schema:
            raise StoreRefusedError(f"{path} is not a backup of a store.")
        heads = find_heads(end)
        for head in heads.values():
            check_chain(end, head)
    finally:
        end.close()
    return Checked(len(heads), sum(head.sequence for head in heads.values()), path.stat().st_size)


def _refuse_taken(path: Path) -> None:
    if path.is_symlink() or path.exists():
        raise StoreRefusedError(f"{path} is there already, and a backup overwrites nothing.")


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
