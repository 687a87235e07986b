"""Where a store may lie: a folder and file of one's own, not in git, not on a network disk."""

import os
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from assent.protocol.error import StoreReadOnlyError, StoreRefusedError
from assent.storage.sqlite.place import NETWORK_FILE_SYSTEMS, file_system_of, prepare
from assent.storage.sqlite.store import SqliteStore
from tests.contract.writing import store_asks
from tests.patience import PATIENCE
from tests.samples import new_ask

__all__: list[str] = []

STRANGER = 54_321


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Give the place of a store in a folder of the usual name."""
    return tmp_path / ".assent" / "assent.db"


@pytest.fixture
def open_umask() -> Iterator[None]:
    """Let the process give everything to everybody, unless told otherwise."""
    before = os.umask(0)
    yield
    os.umask(before)


def mode(path: Path) -> int:
    """Return a file's permission bits."""
    return stat.S_IMODE(path.stat().st_mode)


def give_away(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make `path` another user's, as far as we can tell."""
    if os.geteuid() == 0:
        os.chown(path, STRANGER, -1)
    else:
        monkeypatch.setattr(os, "geteuid", lambda: STRANGER)


def git(folder: Path, *arguments: str) -> None:
    """Run git, which has no configuration here."""
    subprocess.run(["git", "-C", str(folder), *arguments], check=True, capture_output=True, timeout=PATIENCE)


@pytest.mark.usefixtures("open_umask")
def test_folder_and_files_are_readable_by_the_user_alone(path: Path) -> None:
    """Questions and answers are often confidential; no umask may open them."""
    store = SqliteStore(path)
    store_asks(store, new_ask())
    assert mode(path.parent) == 0o700
    files = {entry.name: mode(entry) for entry in path.parent.iterdir() if entry.name != ".gitignore"}
    assert files.keys() >= {"assent.db", "assent.db-lock", "assent.db-wal"}
    assert set(files.values()) == {0o600}
    store.close()


def test_folder_of_the_usual_name_is_hidden_from_git(path: Path) -> None:
    """A store never travels with a repository by accident; an own .gitignore is kept."""
    prepare(path)
    assert (path.parent / ".gitignore").read_text() == "*\n"
    (path.parent / ".gitignore").write_text("mine\n")
    prepare(path)
    assert (path.parent / ".gitignore").read_text() == "mine\n"


def test_folder_that_others_can_read_is_closed_to_them(path: Path) -> None:
    """Somebody made it by hand: it is ours, so it is put right."""
    path.parent.mkdir(mode=0o755)
    prepare(path)
    assert mode(path.parent) == 0o700


def test_folder_of_another_name_is_left_as_it_is(tmp_path: Path) -> None:
    """A named file lies where the user wants it; their folder is their business."""
    folder = tmp_path / "deep" / "inside"
    folder.mkdir(parents=True, mode=0o755)
    folder.chmod(0o755)
    prepare(folder / "x.db")
    assert list(folder.iterdir()) == []
    assert mode(folder) == 0o755


def test_file_that_is_a_link_is_refused(tmp_path: Path) -> None:
    """A link could lead to anybody's file."""
    (tmp_path / "real.db").touch()
    (tmp_path / "link.db").symlink_to(tmp_path / "real.db")
    with pytest.raises(StoreRefusedError, match="is a link"):
        prepare(tmp_path / "link.db")


def test_file_that_is_a_folder_is_refused(tmp_path: Path) -> None:
    """Only an ordinary file can be a store."""
    (tmp_path / "x.db").mkdir()
    with pytest.raises(StoreRefusedError, match="is not a file"):
        prepare(tmp_path / "x.db")


def test_file_of_another_user_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever owns the file decides what is in it."""
    path = tmp_path / "x.db"
    path.touch()
    prepare(path)
    give_away(path, monkeypatch)
    if os.geteuid() != STRANGER:
        with pytest.raises(StoreRefusedError, match="another user"):
            prepare(path)


def test_folder_of_another_user_is_refused(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a folder that everybody may write, somebody else could have made it first."""
    path.parent.mkdir()
    give_away(path.parent, monkeypatch)
    with pytest.raises(StoreRefusedError, match="another user"):
        prepare(path)


def test_folder_that_cannot_be_made_is_said_plainly(tmp_path: Path) -> None:
    """One sentence, no stack of errors."""
    (tmp_path / "file").touch()
    with pytest.raises(StoreReadOnlyError, match="Nothing was changed"):
        prepare(tmp_path / "file" / "x.db")


# Git


def test_file_that_git_tracks_is_refused(tmp_path: Path) -> None:
    """Answers must not be pushed to a repository; an untracked file of the same repository is fine."""
    git(tmp_path, "init", "-q")
    path = tmp_path / "x.db"
    path.touch()
    prepare(path)
    git(tmp_path, "add", "x.db")
    with pytest.raises(StoreRefusedError, match="git tracks"):
        prepare(path)


def test_other_tracked_file_of_the_same_name_is_not_in_the_way(tmp_path: Path) -> None:
    """The name alone proves nothing."""
    git(tmp_path, "init", "-q")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "x.db").touch()
    git(tmp_path, "add", "other/x.db")
    prepare(tmp_path / "x.db")


def test_tracked_file_is_found_in_a_compressed_index(tmp_path: Path) -> None:
    """Version 4 of the index shortens names by what they share with the one before."""
    git(tmp_path, "init", "-q")
    git(tmp_path, "config", "index.version", "4")
    for name in ("x.da", "x.db"):
        (tmp_path / name).touch()
    git(tmp_path, "add", "x.da", "x.db")
    with pytest.raises(StoreRefusedError, match="git tracks"):
        prepare(tmp_path / "x.db")


def test_tracked_file_is_found_in_a_split_index(tmp_path: Path) -> None:
    """The names may lie in a second file beside the index."""
    git(tmp_path, "init", "-q")
    (tmp_path / "x.db").touch()
    git(tmp_path, "add", "x.db")
    git(tmp_path, "update-index", "--split-index")
    (tmp_path / "y").touch()
    git(tmp_path, "add", "y")
    with pytest.raises(StoreRefusedError, match="git tracks"):
        prepare(tmp_path / "x.db")


def test_tracked_file_is_found_in_a_worktree(tmp_path: Path) -> None:
    """There .git is a file that points to the index."""
    main = tmp_path / "main"
    main.mkdir()
    git(main, "init", "-q")
    (main / "x.db").touch()
    git(main, "add", "x.db")
    git(main, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "x")
    git(main, "worktree", "add", "-q", str(tmp_path / "side"))
    with pytest.raises(StoreRefusedError, match="git tracks"):
        prepare(tmp_path / "side" / "x.db")


# File systems


def fake_mounts(monkeypatch: pytest.MonkeyPatch, *mounts: tuple[Path, str]) -> None:
    """Let the system tell of these mounts; spaces in names are spelled as the kernel spells them."""
    spelled = [
        f"{number} 1 0:1 / {str(folder).replace(' ', chr(92) + '040')} rw,relatime shared:1 - {kind} server:/x rw"
        for number, (folder, kind) in enumerate(mounts, 20)
    ]
    real = Path.read_text

    def read_text(self: Path, encoding: str | None = None, errors: str | None = None) -> str:
        if str(self) == "/proc/self/mountinfo":
            return "\n".join(spelled) + "\n"
        return real(self, encoding, errors)

    monkeypatch.setattr(Path, "read_text", read_text)


@pytest.mark.parametrize("kind", sorted(NETWORK_FILE_SYSTEMS))
def test_network_file_system_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    """Its locks and shared memory cannot be relied on, and the write-ahead log needs both."""
    fake_mounts(monkeypatch, (Path("/"), "ext4"), (tmp_path, kind))
    with pytest.raises(StoreRefusedError, match="network file system"):
        prepare(tmp_path / "x.db")


def test_innermost_and_latest_mount_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A local disk inside a network folder is local, and the last one mounted on a place hides the others."""
    inner = tmp_path / "in ner"
    inner.mkdir()
    fake_mounts(monkeypatch, (tmp_path, "nfs4"), (inner, "nfs"), (inner, "ext4"), (Path("/"), "tmpfs"))
    assert file_system_of(inner) == "ext4"
    assert file_system_of(tmp_path) == "nfs4"
    assert file_system_of(tmp_path.parent) == "tmpfs"
    beside = tmp_path.with_name(tmp_path.name + "-beside")
    assert file_system_of(beside) == "tmpfs"


def test_system_that_does_not_tell_is_trusted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where there is no list of mounts, the user's word must do."""
    real = Path.read_text

    def read_text(self: Path, encoding: str | None = None, errors: str | None = None) -> str:
        if str(self) == "/proc/self/mountinfo":
            raise FileNotFoundError
        return real(self, encoding, errors)

    monkeypatch.setattr(Path, "read_text", read_text)
    assert file_system_of(tmp_path) == ""
    prepare(tmp_path / "x.db")
