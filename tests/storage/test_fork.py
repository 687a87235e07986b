"""Forks and SQLite: nobody is inside, no connection is open, and both sides go on afterwards."""

import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from assent.storage.sqlite.fork import Gate
from assent.storage.sqlite.store import SqliteStore
from tests.contract.writing import store_asks, writing
from tests.patience import PATIENCE
from tests.samples import new_ask

__all__: list[str] = []

# From Python 3.12 on a fork beside threads is warned about; it is what these tests are about.
pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    """Give a store with one ask and open connections."""
    store = SqliteStore(tmp_path / "store.db")
    store_asks(store, new_ask(1))
    with store.reading() as reader:
        assert reader.count_open("p") == 1
    yield store
    store.close()


def fork() -> int:
    """Fork; return the child's exit status to the parent."""
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    return os.waitpid(pid, 0)[1]


def open_files(path: Path) -> int:
    """Count this process's descriptors of the database's own files."""
    targets = []
    for entry in Path("/proc/self/fd").iterdir():
        try:
            targets.append(entry.readlink().name)
        except OSError:
            continue
    return sum(target in (path.name, f"{path.name}-wal", f"{path.name}-shm") for target in targets)


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="needs a list of this process's open files")
def test_child_inherits_no_connection(store: SqliteStore) -> None:
    """Counted in the child, before it does anything."""
    assert open_files(store.path) > 0
    pid = os.fork()
    if pid == 0:
        os._exit(open_files(store.path))
    assert os.waitpid(pid, 0)[1] == 0


def test_parent_goes_on_after_a_fork(store: SqliteStore) -> None:
    """Writer and readers, also one that somebody holds, open again by themselves."""
    reader = store.reader()
    before = reader.version()
    assert fork() == 0
    assert store_asks(store, new_ask(2))[0].sequence == 2
    assert reader.count_open("p") == 2
    assert isinstance(before, int)
    reader.close()


def test_fork_waits_until_a_transaction_of_another_thread_is_over(store: SqliteStore) -> None:
    """A child of a half-done transaction would find the store busy for ever."""
    inside, go, forked = threading.Event(), threading.Event(), threading.Event()

    def write() -> None:
        with writing(store) as transaction:
            transaction.head("p", 0)
            inside.set()
            assert go.wait(PATIENCE)

    def fork_beside() -> None:
        assert fork() == 0
        forked.set()

    writer, forker = threading.Thread(target=write), threading.Thread(target=fork_beside)
    writer.start()
    assert inside.wait(PATIENCE)
    forker.start()
    assert not forked.wait(0.05)
    go.set()
    assert forked.wait(PATIENCE)
    writer.join(PATIENCE)
    forker.join(PATIENCE)
    assert store_asks(store, new_ask(2))[0].sequence == 2


def test_fork_from_inside_a_snapshot_does_not_wait_for_itself(store: SqliteStore) -> None:
    """The snapshot stays what it was in the parent."""
    with store.reading() as reader, reader.snapshot():
        assert reader.head_sequence("p") == 1
        assert fork() == 0
        store_asks(store, new_ask(2))
        assert reader.head_sequence("p") == 1
    with store.reading() as reader:
        assert reader.head_sequence("p") == 2


def test_gate_lets_in_again_whoever_is_inside() -> None:
    """Also while it is being shut, or a fork and a nested read would wait for each other."""
    gate = Gate()
    shut, nested = threading.Event(), threading.Event()

    def use() -> None:
        with gate:
            shut.set()
            while not gate._is_shut:
                nested.wait(0.001)
            with gate:
                nested.set()

    thread = threading.Thread(target=use)
    thread.start()
    assert shut.wait(PATIENCE)
    gate.shut()
    assert nested.is_set()
    outside = threading.Thread(target=gate.__enter__)
    outside.start()
    outside.join(0.05)
    assert outside.is_alive()
    gate.open_in_parent()
    outside.join(PATIENCE)
    assert not outside.is_alive()
    thread.join(PATIENCE)
