"""Which store, which project: from what was said, else from the environment, else from where we are."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from assent.protocol.display import quote
from assent.protocol.error import BadRequestError, NotFoundError, PathRefusedError
from assent.protocol.project import check_project

__all__ = [
    "DocumentPlace",
    "find_document",
    "find_project",
    "find_root",
    "find_store",
    "find_working_tree",
    "is_database",
    "is_server",
    "state_folder",
]


def find_root(start: Path) -> Path:
    """Return the nearest folder upward with `.assent/` or `.git`, else `start`.

    In a git worktree it is the main worktree, so that all worktrees share one store.
    """
    start = start.resolve()
    for folder in (start, *start.parents):
        if (folder / ".assent").is_dir() or (folder / ".git").is_dir():
            return folder
        pointer = folder / ".git"
        if pointer.is_file():
            return _main_worktree(pointer) or folder
    return start


def find_working_tree(start: Path) -> Path:
    """Return the nearest folder upward with `.assent/` or `.git`, else `start`; a git worktree is its own."""
    return _nearest_tree(start.resolve())


def _nearest_tree(start: Path) -> Path:
    for folder in (start, *start.parents):
        if (folder / ".assent").is_dir() or (folder / ".git").exists():
            return folder
    return start


class DocumentPlace(NamedTuple):
    """Where a file that people work on lies, and what it goes by."""

    root: Path
    """Its own: in a git worktree it is that worktree, not the main one."""
    path: str
    """From the root, with slashes."""
    name: str
    """What it goes by in the store: its path from the project's root, and a whole path outside of it."""


def find_document(file: Path, noun: str = "document") -> DocumentPlace:
    """Return where a file lies.

    Raises:
        NotFoundError: there is no such file.
        PathRefusedError: it is named in one folder and lies in another.
    """
    if file.is_dir():
        raise NotFoundError(f"{file} is a folder, and a {noun} is a file.")
    if not file.is_file():
        raise NotFoundError(f"There is no {noun} {file}.")
    whole = file.resolve()
    # Links come with a repository. Whoever names a file of it does not mean one of their own elsewhere (S16).
    named = _nearest_tree(Path(os.path.abspath(file)).parent)  # noqa: PTH100 - as it is spelled, links and all
    if not whole.is_relative_to(named.resolve()):
        raise PathRefusedError(
            f"{quote(str(file))} leads out of {quote(str(named))}: name the {noun} by its own path, {quote(str(whole))}."
        )
    root = find_working_tree(whole.parent)
    # Worktrees share a store, and a file of another project may be named from here: the path from its own root would be
    # that of a file of ours, and a yes to the one is none to the other.
    home = find_root(Path.cwd())
    name = whole.relative_to(home) if whole.is_relative_to(home) else whole
    return DocumentPlace(root, whole.relative_to(root).as_posix(), name.as_posix())


def _main_worktree(pointer: Path) -> Path | None:
    # A worktree's .git file says "gitdir: MAIN/.git/worktrees/NAME".
    try:
        text = pointer.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    head, _, target = text.partition(":")
    git_folder = (pointer.parent / target.strip()).resolve()
    if (
        head.strip() == "gitdir"
        and git_folder.parent.name == "worktrees"
        and git_folder.parents[1].name == ".git"
        and _leads_back(git_folder, pointer)
    ):
        return git_folder.parents[2]
    return None


def _leads_back(git_folder: Path, pointer: Path) -> bool:
    # Anybody can write a file that points to a project of yours; only git writes into it which worktrees are its own.
    try:
        text = (git_folder / "gitdir").read_text(encoding="utf-8", errors="replace")
        return (git_folder / text.strip()).resolve() == pointer.resolve()
    except (OSError, ValueError):
        return False


def is_server(address: str) -> bool:
    """Say whether an address is that of a server, and not of a store's file."""
    return address.startswith(("http://", "https://"))


def is_database(address: str) -> bool:
    """Say whether an address is that of a PostgreSQL database."""
    return address.startswith(("postgresql://", "postgres://"))


def find_store(url: str | None, environ: Mapping[str, str], start: Path) -> Path:
    """Return the file of the embedded store that `url` (or a plain path), ASSENT_STORE or the folder names.

    Raises:
        BadRequestError: the address is of no known form.
    """
    given = url or environ.get("ASSENT_STORE")
    if not given:
        return find_root(start) / ".assent" / "assent.db"
    if given.startswith("sqlite:///"):
        return Path(given.removeprefix("sqlite:///")).expanduser()
    scheme = given.partition("://")[0] if "://" in given else ""
    if scheme:
        raise BadRequestError(
            f'There is no "{scheme}://" store: use sqlite:///path/file.db, postgresql://host/database or a server\'s '
            "http://host:port, or leave it out for .assent/assent.db."
        )
    return Path(given).expanduser()


def find_project(name: str | None, environ: Mapping[str, str], start: Path) -> str:
    """Return the project that is meant: as said, by ASSENT_PROJECT, or the root folder's name."""
    return check_project(name or environ.get("ASSENT_PROJECT") or find_root(start).name or "default")


def state_folder(environ: Mapping[str, str]) -> Path | None:
    """Return the folder for what this user's commands remember, if the user has any."""
    state = environ.get("XDG_STATE_HOME")
    home = environ.get("HOME")
    if state:
        return Path(state) / "assent"
    return Path(home) / ".local" / "state" / "assent" if home else None
