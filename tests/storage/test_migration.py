"""How a file comes to this program's shape, and which files are refused untouched."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import apsw
import pytest
from msgspec.structs import replace

from assent.protocol.error import StoreDamagedError, StoreError, StoreRefusedError, StoreTooNewError
from assent.storage.migration import Migration, load_migrations
from assent.storage.sql.row import insert_values
from assent.storage.sqlite import schema
from assent.storage.sqlite.store import SqliteStore
from tests.contract.writing import AT, store_asks, writing
from tests.notification_samples import new_notification
from tests.patience import PATIENCE
from tests.run_samples import RUN_ID, new_control, new_run
from tests.samples import new_ask
from tests.task_samples import TASK_ID, new_task
from tools.warm import spawn

__all__: list[str] = []

PACKAGE = "assent.storage.sqlite"
OLD_EVENTS = """
INSERT INTO events (event_number, at, type, subject, body, hash, topic)
SELECT column1, column2, column3, column4, column5, column6, column7 FROM (VALUES {rows})
"""
"""How events were written before they had a place beside their moment."""
EVENT_COLUMNS = "event_number, at, type, subject, body, digest, hash, topic"
COLUMNS_OF_2 = (
    *("ask_id", "project_number", "kind", "state", "key", "digest", "prompt", "asker", "run_id", "opened_at"),
    *("opened", "deadline", "consequence", "escalate_to", "flags", "sequence", "ending"),
)
"""The columns of an ask that a program of schema 2 wrote."""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Give the place of a store that is not there yet."""
    return tmp_path / "store.db"


def set_up(path: Path) -> None:
    """Make a store with one ask and close it."""
    store = SqliteStore(path)
    store_asks(store, new_ask())
    store.close()


def run_sql(path: Path, sql: str) -> list[tuple[object, ...]]:
    """Do something to a file that no store has open."""
    connection = apsw.Connection(str(path))
    found = connection.execute(sql).fetchall()
    connection.close()
    return found


def open_both_ways(path: Path) -> Iterator[Callable[[], object]]:
    """Yield the two ways into a store: a transaction and a read."""

    def write() -> object:
        return store_asks(SqliteStore(path), new_ask(2))

    def read() -> object:
        with SqliteStore(path).reading() as reader:
            return reader.count_open("p")

    yield write
    yield read


def test_migrations_are_numbered_without_gaps_and_known_by_checksum() -> None:
    """The order is in the names."""
    migrations = load_migrations(PACKAGE)
    assert [migration.number for migration in migrations] == list(range(1, len(migrations) + 1))
    assert len({migration.checksum for migration in migrations}) == len(migrations)
    assert all(len(migration.checksum) == 64 for migration in migrations)


def test_new_file_carries_its_history_and_its_mark(path: Path) -> None:
    """Other programs, and ours of another age, can tell what it is."""
    set_up(path)
    expected = [
        (migration.number, migration.name, migration.checksum) for migration in load_migrations(PACKAGE)
    ]
    assert run_sql(path, "SELECT number, name, checksum FROM migrations ORDER BY number") == expected
    assert run_sql(path, "PRAGMA application_id") == [(schema.APPLICATION_ID,)]
    assert run_sql(path, "PRAGMA user_version") == [(expected[-1][0],)]
    assert run_sql(path, "PRAGMA journal_mode") == [("wal",)]


def test_missing_migration_is_applied_to_an_older_file(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Asks that wait survive an upgrade, whichever way the file is opened first."""
    set_up(path)
    newer = Migration(99, "mood", "ALTER TABLE asks ADD COLUMN mood TEXT", "f" * 64)
    monkeypatch.setattr(schema, "load_migrations", lambda package: [*load_migrations(package), newer])
    store = SqliteStore(path)
    with store.reading() as reader:
        assert reader.count_open("p") == 1
    store.close()
    assert run_sql(path, "SELECT mood FROM asks") == [(None,)]
    assert run_sql(path, "PRAGMA user_version") == [(99,)]


@pytest.fixture
def old_path(path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give the file of a closed store of schema 2, with an ask, a run and a control in it."""
    with monkeypatch.context() as patch:
        patch.setattr(schema, "load_migrations", lambda package: load_migrations(package)[:2])
        patch.setattr(schema, "MIN_READER", 2)
        store = SqliteStore(path)
        patch.setitem(store._queries, "insert_events", OLD_EVENTS)
        with writing(store) as transaction:
            head = transaction.head("p", AT)
            transaction.append(head, "ask.opened", new_ask().ask_id, b"{}")
            transaction.append(head, "run.started", RUN_ID, b"{}")
            transaction.put_run(head, new_run())
            transaction.put_control(head, new_control())
        store.close()
    # Written by hand: today's program knows a column that schema 2 had not.
    values = insert_values(1, 1, new_ask(sequence=1))[: len(COLUMNS_OF_2)]
    connection = apsw.Connection(str(path))
    names, signs = ", ".join(COLUMNS_OF_2), ", ".join("?" * len(COLUMNS_OF_2))
    connection.execute(f"INSERT INTO asks ({names}) VALUES ({signs})", values)
    connection.close()
    return path


def test_store_of_schema_2_is_brought_up_to_date_with_all_that_is_in_it(old_path: Path) -> None:
    """What was there stays to the byte, and what is new can be kept beside it at once."""
    tables = "* FROM projects", f"{EVENT_COLUMNS} FROM events", "* FROM runs", "* FROM controls"
    kept = (*tables, f"{', '.join(COLUMNS_OF_2)} FROM asks")
    before = [run_sql(old_path, f"SELECT {columns}") for columns in kept]
    assert all(before)
    assert run_sql(old_path, "PRAGMA user_version") == [(2,)]
    assert run_sql(old_path, "SELECT name FROM sqlite_schema WHERE name = 'tasks'") == []
    store = SqliteStore(old_path)
    with store.reading() as reader:
        assert reader.count_open("p") == 1
        assert reader.run("p", RUN_ID) == new_run()
        assert reader.controls("p") == [new_control()]
        assert (reader.tasks(None, 10, is_live=False), reader.policy("p")) == ([], None)
    store.close()
    assert [run_sql(old_path, f"SELECT {columns}") for columns in kept] == before
    assert run_sql(old_path, "SELECT terms FROM asks") == [(None,)]
    assert run_sql(old_path, "PRAGMA user_version") == [(load_migrations(PACKAGE)[-1].number,)]
    with writing(store) as transaction:
        head = transaction.head("p", AT)
        transaction.append(head, "task.created", TASK_ID, b"{}")
        transaction.put_task(head, new_task())
        transaction.put_notification(head, new_notification())
    with store.reading() as reader:
        assert reader.task("p", TASK_ID) == new_task()
        assert reader.count_notifications("p") == 1
    assert store.check() == []
    store.close()


def test_migrated_store_has_the_shape_of_a_new_one(old_path: Path) -> None:
    """Where a file comes from makes no difference afterwards."""
    new_path = old_path.with_name("new.db")
    set_up(new_path)
    store_asks(SqliteStore(old_path), new_ask(2))
    shape = "SELECT type, name, sql FROM sqlite_schema ORDER BY name"
    assert run_sql(old_path, shape) == run_sql(new_path, shape)


def test_program_of_schema_2_refuses_a_file_of_this_one(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It would answer an ask, and leave the notification open and the task blocked that hang on it."""
    set_up(path)
    monkeypatch.setattr(schema, "load_migrations", lambda package: load_migrations(package)[:2])
    for use in open_both_ways(path):
        with pytest.raises(StoreTooNewError):
            use()


def test_failed_migration_leaves_the_file_as_it_was(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All of it or nothing; the older program still opens the file."""
    set_up(path)
    before = run_sql(path, "SELECT sql FROM sqlite_schema ORDER BY name")
    broken = Migration(99, "mood", "CREATE TABLE moods (mood TEXT); SELECT nonsense", "f" * 64)
    with monkeypatch.context() as patch:
        patch.setattr(schema, "load_migrations", lambda package: [*load_migrations(package), broken])
        with pytest.raises(apsw.SQLError):
            store_asks(SqliteStore(path), new_ask(2))
    assert run_sql(path, "SELECT sql FROM sqlite_schema ORDER BY name") == before
    assert store_asks(SqliteStore(path), new_ask(2))[0].sequence == 2


def test_changed_migration_is_refused(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A script that changed after it was applied is a mistake in the program, never silently accepted."""
    set_up(path)
    first, *rest = load_migrations(PACKAGE)
    extra = Migration(99, "mood", "SELECT 1", "f" * 64)
    changed = [replace(first, checksum="0" * 64), *rest, extra]
    monkeypatch.setattr(schema, "load_migrations", lambda _: changed)
    for use in open_both_ways(path):
        with pytest.raises(StoreRefusedError, match="Migration 1"):
            use()


def test_file_that_needs_a_newer_program_is_refused(path: Path) -> None:
    """`min_reader` speaks: an older program does not guess."""
    set_up(path)
    run_sql(path, "INSERT INTO migrations VALUES (99, 'future', 'x', 99)")
    run_sql(path, "PRAGMA user_version = 99")
    for use in open_both_ways(path):
        with pytest.raises(StoreTooNewError):
            use()


def test_newer_file_that_allows_this_program_is_used(path: Path) -> None:
    """Two versions can work on one file while people upgrade."""
    set_up(path)
    run_sql(path, "INSERT INTO migrations VALUES (99, 'future', 'x', 1)")
    run_sql(path, "PRAGMA user_version = 99")
    for use in open_both_ways(path):
        assert use()


def test_another_programs_database_is_refused_untouched(path: Path) -> None:
    """A mistyped address must not cost anybody their file: not a byte of it changes."""
    run_sql(path, "CREATE TABLE photos (photo_id INTEGER)")
    before = path.read_bytes()
    for use in open_both_ways(path):
        with pytest.raises(StoreRefusedError, match="another program"):
            use()
    assert path.read_bytes() == before


def test_another_programs_mark_is_refused_untouched(path: Path) -> None:
    """An empty database that somebody else has marked is theirs, too."""
    run_sql(path, "PRAGMA application_id = 7")
    before = path.read_bytes()
    for use in open_both_ways(path):
        with pytest.raises(StoreRefusedError, match="another program"):
            use()
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "content", [b"no database at all, but quite long text" * 40, b"SQLite format 3\0" + b"\xff" * 4_080]
)
def test_file_that_is_no_database_is_refused_untouched(path: Path, content: bytes) -> None:
    """It says so in a sentence, and the file is left alone."""
    path.write_bytes(content)
    for use in open_both_ways(path):
        with pytest.raises(StoreDamagedError):
            use()
    assert path.read_bytes() == content


def test_empty_file_is_set_up(path: Path) -> None:
    """A file that was only touched is an empty store."""
    path.touch()
    assert store_asks(SqliteStore(path), new_ask())[0].sequence == 1


def test_damaged_page_is_named_and_not_read_over(path: Path) -> None:
    """Damage is loud: a typed error or a finding, never a quiet answer."""
    store = SqliteStore(path)
    store_asks(store, *(new_ask(number, key=f"k{number}") for number in range(1, 200)))
    store.close()
    content = bytearray(path.read_bytes())
    content[4_096 * 3 : 4_096 * 6] = b"\xa5" * 4_096 * 3
    path.write_bytes(content)
    damaged = SqliteStore(path)
    try:
        findings = damaged.check()
    except StoreError as error:
        findings = [error.code]
    assert findings
    damaged.close()


CHILD = """
import sys
from pathlib import Path
from assent.storage.sqlite.store import SqliteStore
from tests.contract.writing import store_asks
from tests.samples import new_ask
number = int(sys.argv[1])
print("ready", flush=True)
for line in sys.stdin:
    store = SqliteStore(Path(line.strip()))
    if number % 2:
        with store.reading() as reader:
            reader.count_open("p")
    store_asks(store, new_ask(number))
    store.close()
    print("done", flush=True)
"""


def test_processes_that_set_up_one_empty_store_at_once_all_succeed(tmp_path: Path) -> None:
    """The first command that uses a store sets it up, also when several do so at the same moment."""
    children = [
        spawn(
            [sys.executable, "-c", CHILD, str(number)],
            cwd=Path(__file__).parents[2],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            bufsize=1,
        )
        for number in range(1, 5)
    ]

    def tell_all(line: str) -> list[str]:
        for child in children:
            assert child.stdin is not None
            child.stdin.write(line)
        return [child.stdout.readline().strip() for child in children if child.stdout is not None]

    try:
        assert tell_all("") == ["ready"] * 4
        for turn in range(10):
            path = tmp_path / f"store{turn}.db"
            assert tell_all(f"{path}\n") == ["done"] * 4
            assert run_sql(path, "SELECT sequence FROM projects") == [(4,)]
            assert run_sql(path, "SELECT count(*) FROM migrations") == [(len(load_migrations(PACKAGE)),)]
    finally:
        for child in children:
            child.kill()
            child.communicate(timeout=PATIENCE)
