"""Composition, in one visible place: a hub on the store that an address names."""

from __future__ import annotations

import sys
from pathlib import Path

from assent.hub.clock import Clock
from assent.hub.hub import Hub
from assent.protocol.error import StoreRefusedError
from assent.storage.port import Store
from assent.storage.sqlite.store import SqliteStore

__all__ = ["hub_on_database", "hub_on_file"]


def hub_on_file(path: Path, clock: Clock | None = None, *, is_strict: bool = False) -> Hub:
    """Return a hub on the SQLite store at `path`; an empty one is set up by its first use."""
    return Hub(SqliteStore(path), clock, is_strict=is_strict)


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
