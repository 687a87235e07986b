"""The stores that the contract is tried on. A new store joins with one entry of FACTORIES."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from assent.storage.port import Store
from assent.storage.postgres.store import PostgresStore
from assent.storage.sqlite.store import SqliteStore

__all__ = ["FACTORIES", "MakeStore", "make_store"]

MakeStore = Callable[[], Store]


def _on_sqlite(request: pytest.FixtureRequest) -> MakeStore:
    path: Path = request.getfixturevalue("tmp_path") / "store.db"
    return lambda: SqliteStore(path)


def _on_postgres(request: pytest.FixtureRequest) -> MakeStore:
    url: str = request.getfixturevalue("database")
    return lambda: PostgresStore(url)


FACTORIES: dict[str, Callable[[pytest.FixtureRequest], MakeStore]] = {
    "sqlite": _on_sqlite,
    "postgres": _on_postgres,
}
"""Name of a store to what opens one, each time on the same store, which is empty at first and belongs to the test."""


@pytest.fixture(params=sorted(FACTORIES))
def make_store(request: pytest.FixtureRequest) -> Iterator[MakeStore]:
    """Give what opens one more store object on the same, at first empty, store."""
    opened: list[Store] = []
    open_ = FACTORIES[request.param](request)

    def make() -> Store:
        opened.append(open_())
        return opened[-1]

    yield make
    for store in opened:
        store.close()
