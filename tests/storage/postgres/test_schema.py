"""Setting a database up and bringing it to this program's shape, while others do the same or go on with theirs."""

import subprocess
import sys

import psycopg
import pytest

from assent.protocol.error import StoreRefusedError, StoreTooNewError
from assent.storage.migration import Migration, load_migrations
from assent.storage.postgres import schema
from assent.storage.postgres.store import PostgresStore
from tests.contract.writing import store_asks
from tests.patience import PATIENCE
from tests.samples import new_ask
from tests.storage.postgres.conftest import OpenStore
from tools.warm import spawn

__all__: list[str] = []

SETS_UP = """
import sys
from assent.storage.postgres.store import PostgresStore
store = PostgresStore(sys.argv[1])
sys.stdout.write("ready\\n"); sys.stdout.flush(); sys.stdin.readline()
with store.reading() as reader:
    print(len(reader.heads()))
store.close()
"""


def run_sql(url: str, statement: str, *values: object) -> list[tuple[object, ...]]:
    """Run one statement as somebody else would; return its rows."""
    with psycopg.connect(url, autocommit=True, options="-c search_path=assent") as connection:
        cursor = connection.execute(statement, values)
        return cursor.fetchall() if cursor.description else []


def add_steps(monkeypatch: pytest.MonkeyPatch, *steps: Migration) -> None:
    """Let this program know these migrations as well."""
    known = [*load_migrations("assent.storage.postgres"), *steps]
    monkeypatch.setattr(schema, "load_migrations", lambda _package: known)


def new_step(number: int, name: str, script: str) -> Migration:
    """Return a migration of a program to come."""
    return Migration(number, name, script, f"checksum of {number}")


def test_empty_database_is_set_up_by_its_first_use(bare_database: str, open_store: OpenStore) -> None:
    """Nobody has to prepare anything but the database itself."""
    store = open_store(bare_database)
    store_asks(store, new_ask())
    with store.reading() as reader:
        assert [head.sequence for head in reader.heads()] == [1]


def test_processes_that_set_it_up_at_once_all_work(bare_database: str) -> None:
    """One does it, and the others wait and find it done."""
    started = [
        spawn(
            [sys.executable, "-c", SETS_UP, bare_database],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(3)
    ]
    try:
        for process in started:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
        said = []
        for process in started:
            assert process.stdin is not None
            process.stdin.write("\n")
            process.stdin.flush()
        for process in started:
            out, err = process.communicate(timeout=PATIENCE)
            said.append((process.returncode, out, err))
    finally:
        for process in started:
            process.kill()
            process.wait(PATIENCE)
    assert said == [(0, "0\n", "")] * 3
    assert len(run_sql(bare_database, "SELECT number FROM migrations")) == len(
        load_migrations("assent.storage.postgres")
    )


def test_migration_with_another_checksum_is_refused(own_database: str, open_store: OpenStore) -> None:
    """Its history is another program's."""
    run_sql(own_database, "UPDATE migrations SET checksum = 'other' WHERE number = 1")
    with pytest.raises(StoreRefusedError, match="Migration 1"), open_store(own_database).reading() as reader:
        reader.heads()


def test_database_that_a_newer_program_closed_to_this_one_is_refused(
    own_database: str, open_store: OpenStore
) -> None:
    """The newer one wrote what this one would misread."""
    run_sql(own_database, "INSERT INTO migrations VALUES (9000, 'later', 'x', 9000)")
    with pytest.raises(StoreTooNewError), open_store(own_database).reading() as reader:
        reader.heads()


def test_program_goes_on_beside_a_newer_one_that_lets_it(own_database: str, open_store: OpenStore) -> None:
    """An upgrade is done one server at a time, and the older ones work until their turn."""
    store = open_store(own_database)
    store_asks(store, new_ask(1))
    run_sql(own_database, "ALTER TABLE asks ADD COLUMN mood text NOT NULL DEFAULT ''")
    run_sql(own_database, f"INSERT INTO migrations VALUES (9000, 'mood', 'x', {schema.MIN_READER})")
    store_asks(store, new_ask(2))
    later = open_store(own_database)
    store_asks(later, new_ask(3))
    with later.reading() as reader:
        assert (len(reader.asks("p", None, 10)), reader.head_sequence("p")) == (3, 3)


@pytest.mark.parametrize("what", ["TABLE tasks (x int)", "VIEW tasks AS SELECT 1 AS x"])
def test_schema_with_another_programs_tables_is_refused_and_left_alone(
    bare_database: str, open_store: OpenStore, what: str
) -> None:
    """Somebody else has that name: nothing of ours goes between theirs."""
    run_sql(bare_database, "CREATE SCHEMA assent")
    run_sql(bare_database, f"CREATE {what}")
    with (
        pytest.raises(StoreRefusedError, match="another program's"),
        open_store(bare_database).reading() as reader,
    ):
        reader.heads()
    kept = run_sql(bare_database, "SELECT relname FROM pg_class WHERE relnamespace = 'assent'::regnamespace")
    assert kept == [("tasks",)]


def test_tables_of_others_in_another_schema_are_no_obstacle(
    bare_database: str, open_store: OpenStore
) -> None:
    """Ours have a schema of their own for that."""
    run_sql(bare_database, "CREATE TABLE public.asks (x int)")
    store_asks(open_store(bare_database), new_ask())
    assert run_sql(bare_database, "SELECT count(*) FROM public.asks") == [(0,)]


def test_migration_that_takes_away_waits_until_it_is_asked_for(
    bare_database: str, open_store: OpenStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What only older programs use stays while they may still be there."""
    add_steps(
        monkeypatch,
        new_step(9001, "more", "CREATE TABLE more (x bigint)"),
        new_step(9002, "less_after", "DROP VIEW open_questions"),
    )
    store = open_store(bare_database)
    assert [name for name in store.migrate() if name > "9"] == ["9001_more"]
    assert run_sql(bare_database, "SELECT count(*) FROM open_questions") == [(0,)]
    assert store.migrate(is_last=True) == ["9002_less_after"]
    with pytest.raises(psycopg.errors.UndefinedTable):
        run_sql(bare_database, "SELECT count(*) FROM open_questions")
    assert store.migrate(is_last=True) == []


def test_migration_that_fails_leaves_everything_as_it_was(
    bare_database: str, open_store: OpenStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All or nothing: its tables, and the note that it was done."""
    add_steps(
        monkeypatch,
        new_step(9001, "half", "CREATE TABLE half (x bigint); CREATE TABLE half (x bigint)"),
    )
    with pytest.raises(psycopg.errors.DuplicateTable):
        open_store(bare_database).migrate()
    assert run_sql(bare_database, "SELECT to_regnamespace('assent')") == [(None,)]
    monkeypatch.undo()
    assert open_store(bare_database).migrate()


def test_user_that_may_only_use_the_store_needs_no_right_to_change_it(
    own_database: str, open_store: OpenStore
) -> None:
    """A server need not be the owner of its tables, once somebody has set them up."""
    run_sql(own_database, "DROP ROLE IF EXISTS assent_clerk")
    run_sql(own_database, "CREATE ROLE assent_clerk LOGIN")
    try:
        run_sql(own_database, "GRANT USAGE ON SCHEMA assent TO assent_clerk")
        run_sql(
            own_database,
            "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA assent TO assent_clerk",
        )
        run_sql(own_database, "GRANT USAGE ON ALL SEQUENCES IN SCHEMA assent TO assent_clerk")
        clerk: PostgresStore = open_store(own_database.replace("postgres@", "assent_clerk@"))
        store_asks(clerk, new_ask())
        hold = clerk.hold("h")
        assert hold.is_held
        hold.release()
        clerk.close()
    finally:
        run_sql(own_database, "DROP OWNED BY assent_clerk")
        run_sql(own_database, "DROP ROLE assent_clerk")
