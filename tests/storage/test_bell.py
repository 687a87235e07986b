"""The doorbell's sockets: the dead are cleared away, the deaf cost nothing, and no ring ever fails a commit."""

import os
import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from assent.storage.port import EVERYTHING
from assent.storage.sqlite.bell import SocketBell, SocketListener, runtime_folder
from tests.patience import PATIENCE

__all__: list[str] = []

Listen = Callable[[], SocketListener]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Give the place of a store; bells only look at its name."""
    return tmp_path / "store.db"


@pytest.fixture
def bell(path: Path) -> Iterator[SocketBell]:
    """Give the bell of the process that writes."""
    bell = SocketBell(path)
    yield bell
    bell.close()


@pytest.fixture
def listen(path: Path) -> Iterator[Listen]:
    """Give what makes an ear of another process."""
    listeners: list[SocketListener] = []

    def make() -> SocketListener:
        listener = SocketBell(path).listen(follows_feed=False)
        assert listener is not None
        listeners.append(listener)
        return listener

    yield make
    for listener in listeners:
        listener.close()


def test_socket_of_a_dead_process_is_removed_by_the_next_ring(bell: SocketBell, listen: Listen) -> None:
    """A killed process cannot clear up after itself; whoever rings does."""
    dead, alive = listen(), listen()
    dead._socket.close()
    assert Path(dead.path).exists()
    bell.ring(["ask_1"], True)
    assert not Path(dead.path).exists()
    assert alive.wait(PATIENCE) == ("ask_1",)


def test_ring_into_a_full_ear_neither_blocks_nor_fails(bell: SocketBell, listen: Listen) -> None:
    """Who has not read is awake already and will look."""
    listener = listen()
    for number in range(2_000):
        bell.ring([f"ask_{number}"], True)
    assert listener.wait(PATIENCE)
    bell.ring(["ask_last"], True)
    heard = listener.wait(PATIENCE)
    assert heard
    assert heard[-1] == "ask_last"


def test_ring_with_long_names_says_everything(bell: SocketBell, listen: Listen) -> None:
    """A datagram has a limit; above it the listener looks at all."""
    listener = listen()
    bell.ring([f"ask_{number:018}" for number in range(1_000)], True)
    assert listener.wait(PATIENCE) == (EVERYTHING,)


@pytest.mark.parametrize("kind", ["folder", "file", "stream"])
def test_stray_entry_among_the_sockets_does_not_fail_a_ring(
    bell: SocketBell, listen: Listen, kind: str
) -> None:
    """A ring comes after the commit: whatever lies in the folder, the answer was given and must be acknowledged."""
    listener = listen()
    stray = Path(listener.path).with_name("0-stray.w")
    if kind == "folder":
        stray.mkdir()
    elif kind == "file":
        stray.touch()
    else:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as server:
            server.bind(str(stray))
            server.listen()
            bell.ring([], True)
            bell.ring(["ask_0"], True)
            assert listener.wait(PATIENCE) == ("ask_0",)
    bell.ring(["ask_1"], True)
    assert listener.wait(PATIENCE) == ("ask_1",)


def test_ring_without_descriptors_left_does_not_fail(
    bell: SocketBell, listen: Listen, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process at its limit of open files still gets its answer acknowledged; the others look by the clock."""
    listener = listen()

    def refuse(*_: object) -> socket.socket:
        raise OSError(24, "Too many open files")

    with monkeypatch.context() as patch:
        patch.setattr(socket, "socket", refuse)
        bell.ring(["ask_1"], True)
    bell.ring(["ask_2"], True)
    assert listener.wait(PATIENCE) == ("ask_2",)


def test_closed_listener_is_never_written_to(path: Path, listen: Listen) -> None:
    """Its descriptors' numbers may be somebody else's files by then, even the store's."""
    listener = listen()
    listener.close()
    taken = [os.open(path.with_name(f"file{number}"), os.O_CREAT | os.O_RDWR) for number in range(8)]
    listener.nudge()
    assert {os.fstat(descriptor).st_size for descriptor in taken} == {0}
    for descriptor in taken:
        os.close(descriptor)


def test_closed_listener_leaves_no_socket(listen: Listen) -> None:
    """An orderly end clears up."""
    listener = listen()
    assert Path(listener.path).is_socket()
    listener.close()
    assert not Path(listener.path).exists()


# The runtime folder


def test_runtime_folder_is_made_for_the_user_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sockets tell what is going on; nobody else may look."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    folder = runtime_folder()
    assert folder is not None
    assert folder.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("fault", ["open", "link", "file", "stranger"])
def test_foreign_runtime_folder_is_not_trusted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    """Without a folder of one's own there is no bell, and waits go by the clock."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    folder = tmp_path / "assent"
    if fault == "link":
        (tmp_path / "theirs").mkdir(mode=0o700)
        folder.symlink_to(tmp_path / "theirs")
    elif fault == "file":
        folder.touch(mode=0o700)
    else:
        folder.mkdir(mode=0o700)
    if fault == "open":
        folder.chmod(0o755)
    if fault == "stranger":
        monkeypatch.setattr(os, "geteuid", lambda: 54_321)
    assert runtime_folder() is None
    bell = SocketBell(tmp_path / "store.db")
    assert bell.listen(follows_feed=True) is None
    bell.ring(["ask_1"], True)
    bell.close()


def test_runtime_folder_with_too_long_a_name_means_no_bell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A socket's path has at most 107 bytes; beyond it waits go by the clock."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / ("long" * 25)))
    bell = SocketBell(tmp_path / "store.db")
    assert bell.listen(follows_feed=False) is None
    bell.ring(["ask_1"], True)
    bell.close()


def test_last_one_to_close_takes_the_folder_away(path: Path, bell: SocketBell, listen: Listen) -> None:
    """Stores come and go, in tests by the thousand; who comes back makes the folder again."""
    listener = listen()
    folder = Path(listener.path).parent
    bell.close()
    assert folder.is_dir()
    listener.close()
    bell.close()
    assert not folder.exists()
    again = listen()
    other = SocketBell(path)
    other.ring(["ask_1"], True)
    assert again.wait(PATIENCE) == ("ask_1",)
    other.close()


def test_ear_that_is_bound_after_the_list_was_kept_is_rung(bell: SocketBell, listen: Listen) -> None:
    """A list of sockets is kept only while the folder cannot have changed unseen."""
    first = listen()
    folder = Path(first.path).parent
    os.utime(folder, (1, 1))
    bell.ring(["ask_1"], True)
    kept = bell._listed_at
    assert kept is not None  # old enough to be kept
    second = listen()
    bell.ring(["ask_2"], True)
    assert bell._listed_at != kept  # changed just now: the next ring lists again
    third = listen()
    bell.ring(["ask_3"], True)
    assert [ear.wait(PATIENCE) for ear in (first, second, third)] == [
        ("ask_1", "ask_2", "ask_3"),
        ("ask_2", "ask_3"),
        ("ask_3",),
    ]


def test_ear_that_nobody_has_in_hand_goes_with_its_bell(tmp_path: Path) -> None:
    """Ctrl-C may come between the binding of a socket and its being noted; another bell's ears stay."""
    bell, other = SocketBell(tmp_path / "a.db"), SocketBell(tmp_path / "a.db")
    lost, kept = bell.listen(follows_feed=False), other.listen(follows_feed=False)
    assert lost is not None
    assert kept is not None
    bell.close()
    assert not Path(lost.path).exists()
    assert Path(kept.path).exists()
    lost.close()
    kept.close()
    other.close()
