"""Which stores this user trusts: those that they made or adopted, by path and mark, each noted in a file of its own.

Rule 1: a store that came with a repository, an archive or a copied folder counts for nothing until a person adopts it.
Rule 2: looking notes nothing. What is noted is what was made here, adopted, or named for use outside any work tree.
Rule 3: a note is written before the file has anything in it, so that of two who make a store both know it.

A note is one small file; it is all that the opening of a trusted store reads. The store then refuses every file that has
not the mark which is noted for its path.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from assent.client.place import find_root, state_folder
from assent.hub.compose import marks_of_file
from assent.hub.ids import new_store_mark
from assent.protocol.error import (
    AssentError,
    NotFoundError,
    StoreCopyError,
    StoreReadOnlyError,
    StoreUntrustedError,
)

__all__ = ["Kinship", "admit", "find_kin", "is_trusted", "note_adopted", "noted_stores"]

_FOLDER = "trusted"
_OLD = "stores"
"""The list of stores that were opened, as it was kept before there were notes."""
_MOST_NOTED = 200
_ADOPT = "A person can look at it and take it over: assent store adopt"


class _Note(NamedTuple):
    path: Path
    mark: bytes
    """Empty where an older program made the file, and nothing is known of it yet."""
    is_listed: bool
    """It is one of those that an inbox of all stores shows."""


class Kinship(NamedTuple):
    """What a file is to the stores that are noted."""

    original: Path | None = None
    """The noted store that it has a mark of."""
    is_there: bool = False
    """That one is still where it was."""
    is_backup: bool = False

    @property
    def is_copy(self) -> bool:
        """Whether somebody may wait at another file for what is answered in this one."""
        return self.is_backup or self.is_there


def admit(
    path: Path, environ: Mapping[str, str], *, is_named: bool, reads: bool = False, is_listed: bool = True
) -> bytes | None:
    """Return the mark that the file at `path` must have to be used; None where no mark is asked for.

    A file that is not there, or has nothing in it, is made by this user. One that was named and lies outside any work
    tree counts as adopted; who only `reads` it does not have it noted.

    Raises:
        StoreUntrustedError: this user has neither made nor adopted it.
        StoreCopyError: it is a copy of a store that is noted, or a backup.
    """
    note = _read(path, environ) or (_take_over(environ) and _read(path, environ))
    if note and note.mark:
        return note.mark if reads or note.is_listed or not is_listed else _list(note, environ)
    is_free = is_named and _is_outside(path, environ)
    if _is_empty(path):
        if reads:
            raise NotFoundError(f"There is no store {path}.")
        return _make(path, environ, is_needed=not is_free, is_listed=is_listed)
    if not note:
        note = _read(
            path, environ
        )  # made in this moment: the note was there before the file had anything in it
        if note and note.mark:
            return note.mark
    if note or is_named:
        kin = find_kin(path, environ)
        if kin.is_copy:
            raise _copy_error(path, kin)
    if not note and not is_free:
        raise StoreUntrustedError(
            f"{path} is no store that you made or adopted: it came with the folder, or was moved or copied. {_ADOPT}."
        )
    return None if reads else _learn(path, environ, is_listed=is_listed)


def find_kin(path: Path, environ: Mapping[str, str]) -> Kinship:
    """Return what the file at `path` is to the stores that are noted."""
    found = marks_of_file(path)
    own = _real(path)
    for note in _all_notes(environ):
        if note.mark in found.marks and note.path != own:
            if _has_mark(note):
                return Kinship(note.path, is_there=True, is_backup=found.is_backup)
            return Kinship(note.path, is_backup=found.is_backup)
    return Kinship(is_backup=found.is_backup)


def is_trusted(path: Path, environ: Mapping[str, str]) -> bool:
    """Say whether this user made or adopted the very file at `path`."""
    note = _read(path, environ)
    if not note or not note.mark:
        return False
    found = marks_of_file(path)
    return note.mark in found.marks and not found.is_backup


def note_adopted(path: Path, environ: Mapping[str, str], mark: bytes) -> None:
    """Note that a person adopted the file at `path`.

    Raises:
        StoreReadOnlyError: it cannot be noted.
    """
    _write(_Note(_real(path), mark, is_listed=True), environ, is_needed=True)


def noted_stores(environ: Mapping[str, str]) -> list[Path]:
    """Return the stores that this user made or adopted and that are still there, newest first."""
    _take_over(environ)
    return [note.path for note in _all_notes(environ) if note.is_listed and note.path.is_file()]


# Where it is, and whether it is ours


def _real(path: Path) -> Path:
    return path.parent.resolve() / path.name


def _is_empty(path: Path) -> bool:
    try:
        return path.lstat().st_size == 0
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False


def _is_outside(path: Path, environ: Mapping[str, str]) -> bool:
    """Say whether a file lies outside any work tree: no clone has brought it, and no archive that was unpacked here."""
    try:
        here = find_root(Path.cwd())
    except OSError:
        return False
    home = Path(environ.get("HOME") or "/").resolve()
    places = {_real(path), path}  # a link of a repository may lead anywhere
    is_here = here not in (Path("/"), home) and any(place.is_relative_to(here) for place in places)
    folders = {folder for place in places for folder in place.parents}
    return not is_here and not any(
        (folder / name).exists() for folder in folders for name in (".git", ".assent")
    )


def _has_mark(note: _Note) -> bool:
    """Say whether the store that is noted is where it was."""
    try:
        return note.path.is_file() and note.mark in marks_of_file(note.path).marks
    except AssentError:
        return True  # it cannot be looked at, and so it may be


def _copy_error(path: Path, kin: Kinship) -> StoreCopyError:
    if kin.is_backup:
        return StoreCopyError(
            f"{path} is a backup, so nobody waits for what is answered there: assent store restore brings it back, "
            "assent store adopt goes on with it."
        )
    return StoreCopyError(
        f"{path} is a copy of {kin.original}, so nobody waits for what is answered there. {_ADOPT}."
    )


# Notes


def _folder(environ: Mapping[str, str]) -> Path | None:
    state = state_folder(environ)
    return state / _FOLDER if state else None


def _file(folder: Path, path: Path) -> Path:
    return folder / sha256(os.fsencode(_real(path))).hexdigest()[:32]


def _read(path: Path, environ: Mapping[str, str]) -> _Note | None:
    folder = _folder(environ)
    note = _parse(_file(folder, path)) if folder else None
    return note if note and note.path == _real(path) else None


def _parse(file: Path) -> _Note | None:
    try:
        told = json.loads(file.read_bytes())
        return _Note(Path(told["path"]), bytes.fromhex(told["mark"]), told["listed"] is True)
    except (OSError, ValueError, TypeError, KeyError):
        return None


def _all_notes(environ: Mapping[str, str]) -> list[_Note]:
    return [note for _, note in _by_age(_folder(environ))]


def _by_age(folder: Path | None) -> list[tuple[Path, _Note]]:
    """Return the notes with their files, newest first."""
    found: list[tuple[int, Path, _Note]] = []
    try:
        for entry in os.scandir(folder) if folder else ():
            note = _parse(Path(entry.path))
            if note:
                found.append((entry.stat().st_mtime_ns, Path(entry.path), note))
    except OSError:
        return []
    return [(file, note) for _, file, note in sorted(found, key=lambda each: each[:2], reverse=True)]


def _write(note: _Note, environ: Mapping[str, str], *, is_needed: bool, is_first: bool = False) -> bytes:
    """Write a note; return the mark that is noted now. With `is_first`, one that is there already is kept.

    Raises:
        StoreReadOnlyError: it cannot be written, and `is_needed`.
    """
    folder = _folder(environ)
    told = {"path": str(note.path), "mark": note.mark.hex(), "listed": note.is_listed}
    try:
        if folder is None:
            raise OSError("there is no HOME")
        folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)
        file = _file(folder, note.path)
        fresh = file.with_name(f".{file.name}.{os.getpid()}.{note.mark.hex()[:8]}")
        fresh.write_text(json.dumps(told), encoding="ascii")
        try:
            if is_first:
                os.link(fresh, file)
            else:
                fresh.replace(file)
        except FileExistsError:
            known = _parse(file)
            return known.mark if known and known.mark else _replace(fresh, file, note)
        finally:
            fresh.unlink(missing_ok=True)
        _prune(folder)
    except OSError as error:
        if is_needed:
            raise StoreReadOnlyError(
                f"It cannot be noted that {note.path} is yours ({folder or 'no state folder'}: "
                f"{error.strerror or error}): set XDG_STATE_HOME to a folder of yours."
            ) from error
    return note.mark


def _replace(fresh: Path, file: Path, note: _Note) -> bytes:
    fresh.replace(file)
    return note.mark


def _prune(folder: Path) -> None:
    """Drop the oldest notes of what is gone, where there are very many."""
    if len(list(folder.iterdir())) > _MOST_NOTED:
        for file, note in _by_age(folder)[_MOST_NOTED // 2 :]:
            if not note.path.exists():
                file.unlink(missing_ok=True)


def _make(path: Path, environ: Mapping[str, str], *, is_needed: bool, is_listed: bool) -> bytes:
    note = _Note(_real(path), new_store_mark(), is_listed)
    return _write(note, environ, is_needed=is_needed, is_first=True)


def _list(note: _Note, environ: Mapping[str, str]) -> bytes:
    return _write(note._replace(is_listed=True), environ, is_needed=False)


def _learn(path: Path, environ: Mapping[str, str], *, is_listed: bool) -> bytes | None:
    """Note a store that was there; one of an older shape has its mark the next time."""
    marks = marks_of_file(path).marks
    return _write(_Note(_real(path), marks[0], is_listed), environ, is_needed=False) if marks else None


def _take_over(environ: Mapping[str, str]) -> bool:
    """Make notes of the old list, once: of several files with one mark only the one that a project has is a store."""
    state = state_folder(environ)
    if state is None:
        return False
    try:
        lines = (state / _OLD).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return False
    paths = [Path(line) for line in lines if line and Path(line).is_file()]
    seen: set[bytes] = set()
    for path in sorted(paths, key=lambda path: path.parent.name != ".assent"):
        try:
            found = marks_of_file(path)
        except AssentError:
            continue
        if found.is_backup or seen & set(found.marks) or _read(path, environ):
            continue
        seen |= set(found.marks)
        mark = found.marks[0] if found.marks else b""
        _write(_Note(_real(path), mark, is_listed=True), environ, is_needed=False, is_first=True)
    with suppress(OSError):
        (state / _OLD).unlink(missing_ok=True)
    return True
