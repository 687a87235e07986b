"""Composition, in one visible place: a hub on the store that an address names."""

from __future__ import annotations

import sys
from pathlib import Path

from assent.hub.clock import Clock
from assent.hub.hub import Hub
from assent.protocol.error import StoreRefusedError
from assent.storage.port import Store
from assent.storage.sqlite.mark import Found, find_mark
from assent.storage.sqlite.store import SqliteStore

__all__ = ["hub_on_database", "hub_on_file", "marks_of_file"]


def hub_on_file(
    path: Path, clock: Clock | None = None, *, is_strict: bool = False, mark: bytes | None = None
) -> Hub:
    """Return a hub on the SQLite store at `path`; an empty one is set up by its first use.

    With a `mark`, it is used only as long as it is the file that has it.
    """
    return Hub(SqliteStore(path, mark), clock, is_strict=is_strict)


def marks_of_file(path: Path) -> Found:
    """Return by which marks the file of a store is known, and whether it is a backup; nothing of it is changed."""
    return find_mark(path)


def hub_on_database(url: str, clock: Clock | None = None, *, is_strict: bool = False) -> Hub:
    """Return a hub on the PostgreSQL store at `url`; an empty database is set up by its first use.

    Raises:
        StoreRefusedError: this Assent was installed without PostgreSQL.
    """
    try:
        store: Store = sys.modules["assent"].PostgresStore(url)  # loaded where it is used
    except ImportError as error:
        raise StoreRefusedError(
            "A PostgreSQL store needs an extra: pip install 'assent[postgres]'."
        ) from error
    return Hub(store, clock, is_strict=is_strict)
