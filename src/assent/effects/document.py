"""Documents on disk: read whole, and replaced whole in one move, never over somebody else's change.

A new content is written to a scratch file in the same folder, flushed, and moved over the old one; then the folder
is flushed. Whoever reads the document sees the old or the new one. Directly before the move the document is compared
with what the flow saw: a person who saved in the meantime keeps what they saved.

A move asks nobody whether the old file may be written, so we do: what is read-only stays as it is, also for root.
"""

from __future__ import annotations

import os
import re
import secrets  # noqa: TID251 - a scratch file's name only has to be unused; it is no id of ours
import stat
from contextlib import suppress
from pathlib import Path

import msgspec

from assent.effects.performer import Intention, Performers, World
from assent.effects.place import MAX_FILE_BYTES, Place, read_file
from assent.flows.document import Document, ReadDocument, WriteDocument
from assent.protocol.canonical import Json, digest
from assent.protocol.display import quote
from assent.protocol.error import AssentError, EffectError, PathRefusedError, WorldChangedError

__all__ = ["DocumentReader", "DocumentWriter", "document_performers", "is_read_only", "read_document_in"]

_WRITE_BITS = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH

_is_scratch = re.compile(r"\.assent-[0-9a-f]{8}").fullmatch


def document_performers(root: Path) -> Performers:
    """Return who reads and writes documents under `root`."""
    place = Place(root)
    return {ReadDocument: DocumentReader(place), WriteDocument: DocumentWriter(place)}


class DocumentReader:
    """Performs `ReadDocument`."""

    def __init__(self, place: Place) -> None:
        self._place = place

    def intend(self, effect: ReadDocument) -> Intention:
        """Name the document; there is nothing to keep."""
        return Intention(effect.path)

    def look(self, intention: Intention) -> World:  # noqa: ARG002 - reading changes nothing, so it is never done
        """Say that it has yet to be read."""
        return World.BEFORE

    def perform(self, intention: Intention) -> Json:
        """Return the `Document` in its JSON form."""
        json: Json = msgspec.to_builtins(read_document_in(self._place, intention.path))
        return json


class DocumentWriter:
    """Performs `WriteDocument`."""

    def __init__(self, place: Place, limit: int = MAX_FILE_BYTES) -> None:
        self._place = place
        self._limit = limit

    def intend(self, effect: WriteDocument) -> Intention:
        """Return what will be written; refuse what cannot be kept."""
        if len(effect.content) > self._limit:
            raise EffectError(f"A document has at most {self._limit:,} bytes.")
        with self._place.folder(effect.path):
            pass
        scratch = f".assent-{secrets.token_hex(4)}"
        return Intention(effect.path, effect.before_digest, effect.content, scratch)

    def look(self, intention: Intention) -> World:
        """Compare the document with what it was and what it is to be."""
        with self._place.folder(intention.path) as (folder, name):
            here = _read(folder, name, self._limit)
            if here == Document(intention.content, digest(intention.content)):
                _keep(folder, intention.path)  # the crash may have come between the move and the flush
                return World.AFTER
        return World.BEFORE if here.digest == intention.before_digest else World.OTHER

    def perform(self, intention: Intention) -> Json:
        """Replace the document."""
        if not _is_scratch(intention.scratch):
            raise PathRefusedError(f'"{quote(intention.scratch)}" is no name that was made here.')
        with self._place.folder(intention.path) as (folder, name):
            try:
                _prepare(folder, name, intention)
                if _read(folder, name, self._limit).digest != intention.before_digest:
                    raise WorldChangedError(f'Somebody changed "{quote(intention.path)}" in the meantime.')
                os.replace(intention.scratch, name, src_dir_fd=folder, dst_dir_fd=folder)
            except BaseException:
                with suppress(FileNotFoundError):
                    os.unlink(intention.scratch, dir_fd=folder)
                raise
            _keep(folder, intention.path)
        return None


def read_document_in(place: Place, name: str, limit: int = MAX_FILE_BYTES) -> Document:
    """Return a file of a place as it is now."""
    with place.folder(name) as (folder, found):
        return _read(folder, found, limit)


def is_read_only(folder: int, name: str, known: os.stat_result) -> bool:
    """Whether a file is not meant to be changed, or not by this user, or lies where nothing can be."""
    # The mode by itself, too: root may write everything, but whoever took all the write bits away meant root as well.
    return not known.st_mode & _WRITE_BITS or not os.access(name, os.W_OK, dir_fd=folder)


def _read(folder: int, name: str, limit: int) -> Document:
    content = read_file(folder, name, limit)
    return Document(b"", None) if content is None else Document(content, digest(content))


def _prepare(folder: int, name: str, intention: Intention) -> None:
    """Write the new content beside the document, with its owner and mode."""
    try:
        known = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        known = None
    if known is not None and is_read_only(folder, name, known):
        raise EffectError(f'"{quote(intention.path)}" is read-only.')
    with suppress(FileNotFoundError):
        os.unlink(intention.scratch, dir_fd=folder)  # left by a crash: nobody else knows this name
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(intention.scratch, flags, 0o666 if known is None else 0o600, dir_fd=folder)
    with open(descriptor, "wb") as file:  # noqa: PTH123 - an open descriptor, not a path
        file.write(intention.content)
        file.flush()
        if known is not None:
            with suppress(PermissionError):
                os.fchown(descriptor, known.st_uid, known.st_gid)
            os.fchmod(descriptor, known.st_mode & 0o7777)
        os.fsync(descriptor)


def _keep(folder: int, path: str) -> None:
    """Make sure that the move outlives a power cut."""
    try:
        os.fsync(folder)
    except OSError as error:
        # Neither done nor undone as far as anybody knows: the flow is not told, and whoever resumes looks again.
        raise AssentError(
            f'The disk does not say that "{quote(path)}" was kept: {error.strerror}.'
        ) from error
