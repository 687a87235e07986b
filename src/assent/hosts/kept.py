"""Where a run was when it stopped to ask: one small file, whole at any moment, for frameworks that keep nothing."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["Kept"]


class Kept:
    """The file of one run. It is there while the run waits, and gone once the run has ended."""

    def __init__(self, path: str | Path) -> None:
        self._path = Path(path)

    def read(self) -> bytes | None:
        """Return what was kept; None if nothing is."""
        try:
            return self._path.read_bytes()
        except FileNotFoundError:
            return None

    def write(self, state: bytes) -> None:
        """Keep this instead. A kill at any moment leaves what was there or what is there now; only its user reads it."""
        fresh = self._path.with_name(f"{self._path.name}.new")
        fresh.unlink(missing_ok=True)
        with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(state)
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(self._path)

    def drop(self) -> None:
        """The run has ended."""
        self._path.unlink(missing_ok=True)
