"""The stores that the contract is tried on. A new store joins with one entry of FACTORIES."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from assent.storage.port import Store
from assent.storage.sqlite.store import SqliteStore

__all__ = ["FACTORIES", "MakeStore", "make_store"]

MakeStore = Callable[[], Store]

FACTORIES: dict[str, Callable[[Path], Store]] = {
    "sqlite": lambda folder: SqliteStore(folder / "store.db"),
}
"""Name of a store to what opens it, given an empty folder that belongs to the test."""


@pytest.fixture(params=sorted(FACTORIES))
def make_store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[MakeStore]:
    """Give what opens one more store object on the same, at first empty, store."""
    opened: list[Store] = []

    def make() -> Store:
        opened.append(FACTORIES[request.param](tmp_path))
        return opened[-1]

    yield make
    for store in opened:
        store.close()
