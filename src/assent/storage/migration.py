"""Numbered migrations: what a store must go through to be of this program's shape.

The files are named `0001_what.sql`. Each is applied once, in order, in a transaction, and remembered with its
checksum: a file that changed after it was applied is a mistake in the program, and is refused.
"""

from __future__ import annotations

import re
from functools import cache
from hashlib import sha256
from importlib.resources import files

import msgspec

__all__ = ["Migration", "load_migrations"]

_NAME = re.compile(r"^(\d{4})_(\w+)\.sql$")


class Migration(msgspec.Struct, frozen=True):
    """One step of a store's shape."""

    number: int
    name: str
    script: str
    checksum: str


def load_migrations(package: str) -> list[Migration]:
    """Return the migrations that lie in `package`, lowest number first."""
    return list(_read(package))


@cache
def _read(package: str) -> tuple[Migration, ...]:
    found = []
    for entry in files(package).joinpath("migrations").iterdir():
        match = _NAME.match(entry.name)
        if match:
            script = entry.read_text(encoding="utf-8")
            checksum = sha256(script.encode()).hexdigest()
            found.append(Migration(int(match[1]), match[2], script, checksum))
    return tuple(sorted(found, key=lambda migration: migration.number))
