"""What a copy brings along is everything: no table and no column can be forgotten, in either store."""

from pathlib import Path

import pytest

from assent.cli.store_end import open_store
from assent.protocol.error import StoreBusyError, StoreRefusedError
from assent.storage.copy_end import Source
from assent.storage.copy_table import EVENTS, TABLES

__all__: list[str] = []

HEAD = {"project_number", "project", "sequence", "hash", "at"}
OWN = {"migrations", "holds", "sqlite_sequence", "store_secret", "store_marks"}
"""What is of one store only."""


def described() -> dict[str, set[str]]:
    """Return the tables as the copy knows them."""
    known = {table.name: {"project_number", *table.columns} for table in TABLES}
    return {**known, "events": set(EVENTS), "projects": HEAD}


def columns_of(end: Source, *, is_database: bool) -> dict[str, set[str]]:
    """Return the tables as the store has them."""
    query = (
        "SELECT m.name, c.name FROM sqlite_schema m JOIN pragma_table_info(m.name) c WHERE m.type = 'table'"
    )
    if is_database:
        query = (
            "SELECT c.table_name::text, c.column_name::text FROM information_schema.columns c "
            "JOIN information_schema.tables t USING (table_schema, table_name) "
            "WHERE c.table_schema = 'assent' AND t.table_type = 'BASE TABLE'"
        )
    found: dict[str, set[str]] = {}
    for table, column in end.query(query):
        found.setdefault(table, set()).add(column)
    return {table: columns for table, columns in found.items() if table not in OWN}


def test_copy_knows_every_table_and_column_of_a_file(tmp_path: Path) -> None:
    """A new column that it does not know would be lost in silence."""
    with open_store(tmp_path / "store.db") as opened:
        assert columns_of(opened.end, is_database=False) == described()


def test_copy_knows_every_table_and_column_of_a_database(database: str) -> None:
    """As above."""
    with open_store(database) as opened:
        assert columns_of(opened.end, is_database=True) == described()


def test_two_copies_into_one_store_are_never_under_way_at_once(tmp_path: Path, database: str) -> None:
    """They would go on with each other's pages."""
    for address in (tmp_path / "store.db", database):
        with open_store(address) as first, open_store(address) as second:
            with first.alone(), pytest.raises(StoreBusyError, match="Another copy into"), second.alone():
                pass
            with second.alone():
                is_free = True
        assert is_free


def test_text_with_a_nul_is_refused_by_a_database_in_one_sentence(database: str) -> None:
    """SQLite can keep one, PostgreSQL cannot."""
    with open_store(database) as opened:
        row = ("flow\0", 0, "d", "done", b"", "", 1)
        columns = ("flow_id", "step", "digest", "state", "content", "by", "project_number")
        with pytest.raises(StoreRefusedError, match="a NUL"), opened.end.writing():
            opened.end.insert("steps", columns, [row])
        assert opened.end.query("SELECT count(*) FROM steps") == [(0,)]
