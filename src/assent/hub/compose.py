"""Composition, in one visible place: a hub on the store that an address names."""

from __future__ import annotations

from pathlib import Path

from assent.hub.clock import Clock
from assent.hub.hub import Hub
from assent.storage.sqlite.store import SqliteStore

__all__ = ["hub_on_file"]


def hub_on_file(path: Path, clock: Clock | None = None, *, is_strict: bool = False) -> Hub:
    """Return a hub on the SQLite store at `path`; an empty one is set up by its first use."""
    return Hub(SqliteStore(path), clock, is_strict=is_strict)
