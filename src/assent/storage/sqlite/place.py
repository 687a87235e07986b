"""Is this a safe place for a store? The folder is ours alone, git does not track the file, no network disk.

Checked before the file is opened: a store that leaks or that a network file system tears apart is worse than none.
"""

from __future__ import annotations

import os
import stat
import subprocess
from pathlib import Path

from assent.protocol.error import StoreReadOnlyError, StoreRefusedError

__all__ = ["NETWORK_FILE_SYSTEMS", "check_owner", "file_system_of", "prepare"]

NETWORK_FILE_SYSTEMS = frozenset(
    {
        "9p",
        "afs",
        "ceph",
        "cifs",
        "davfs",
        "fuse.glusterfs",
        "fuse.rclone",
        "fuse.s3fs",
        "fuse.sshfs",
        "gfs2",
        "glusterfs",
        "lustre",
        "ncpfs",
        "nfs",
        "nfs4",
        "smb3",
        "smbfs",
    }
)
"""Their file locks and shared memory cannot be relied on, and WAL needs both."""

_ENDS = ("", "-wal", "-journal", "-shm")
"""What SQLite reads as a part of the file, so that who brings it along brings rows of the store."""
_UNMOVED = ("--literal-pathspecs", "-c", "core.fsmonitor=false")
"""A repository's own settings must start no program here."""


def prepare(path: Path) -> None:
    """Make the folder of the store if need be, and refuse what is not safe.

    Raises:
        StoreRefusedError: another user owns it, git tracks it, it is a link, or it lies on a network file system.
        StoreReadOnlyError: the folder cannot be made.
    """
    folder = path.parent
    try:
        if folder.name == ".assent":
            _refuse_link(folder)
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            _shield(folder)
        folder.mkdir(parents=True, exist_ok=True)
        check_owner(path)
    except OSError as error:
        raise StoreReadOnlyError(
            f"{folder} cannot be used: {error.strerror}. Nothing was changed."
        ) from error
    kind = file_system_of(folder)
    if kind in NETWORK_FILE_SYSTEMS:
        raise StoreRefusedError(
            f"{folder} is on a network file system ({kind}), which cannot keep a store safe. Use a local folder or a server."
        )
    _check_git(path)


def _refuse_link(folder: Path) -> None:
    if folder.is_symlink():
        # Links come with a repository, and lead to what it brought along.
        raise StoreRefusedError(f"{folder} is a link; the folder of a store must be one of its own.")


def _shield(folder: Path) -> None:
    found = folder.stat()
    if found.st_uid != os.geteuid():
        # Where everybody may write, somebody else could have made it first.
        raise StoreRefusedError(f"{folder} belongs to another user.")
    if found.st_mode & 0o077:
        folder.chmod(0o700)
    ignore = folder / ".gitignore"
    if not ignore.exists():
        ignore.write_text("*\n", encoding="utf-8")


def check_owner(path: Path) -> None:
    """Refuse a file that is not this user's own.

    Raises:
        StoreRefusedError: another user owns it, or it is a link or no file.
    """
    try:
        found = path.lstat()
    except FileNotFoundError:
        return
    if stat.S_ISLNK(found.st_mode):
        raise StoreRefusedError(f"{path} is a link; a store must be a file of its own.")
    if found.st_uid not in (os.geteuid(), 0):
        raise StoreRefusedError(f"{path} belongs to another user.")
    if not stat.S_ISREG(found.st_mode):
        raise StoreRefusedError(f"{path} is not a file.")


def file_system_of(folder: Path) -> str:
    """Return the name of the file system under `folder`, or "" where the system does not tell."""
    try:
        lines = Path("/proc/self/mountinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ""
    here, best, kind = str(folder.resolve()), "", ""
    for line in lines:
        fields = line.split(" ")
        mount = fields[4].replace("\\040", " ")
        inside = here == mount or here.startswith(mount.rstrip("/") + "/")
        if inside and len(mount) >= len(best):
            best, kind = mount, fields[fields.index("-") + 1]
    return kind


def _check_git(path: Path) -> None:
    root = next((parent for parent in path.parents if (parent / ".git").exists()), None)
    if root is None:
        return
    index = root / ".git" / "index"
    try:
        # A look into the index is cheap; git itself is only asked when the name occurs in it.
        if index.is_file() and _cannot_hold(index.read_bytes(), path.name):
            return
        asked = subprocess.run(  # noqa: S603 - fixed program, the paths are arguments after --
            ["git", "-C", str(root), *_UNMOVED, "ls-files", "-z", "--", *(f"{path}{end}" for end in _ENDS)],  # noqa: S607
            capture_output=True,
            check=False,
            timeout=10,
        )
    except (OSError, subprocess.SubprocessError):
        return
    if asked.returncode == 0 and asked.stdout:
        name = os.fsdecode(asked.stdout.split(b"\0")[0].rsplit(b"/")[-1])
        raise StoreRefusedError(
            f"git tracks {path.with_name(name)}; take it out of the repository first (git rm --cached)."
        )


def _cannot_hold(index: bytes, name: str) -> bool:
    """Say whether a name is certainly not in git's index. Version 4 shortens names, a split index keeps them elsewhere."""
    is_plain = int.from_bytes(index[4:8]) in (2, 3) and b"link" not in index
    return is_plain and os.fsencode(name) not in index
