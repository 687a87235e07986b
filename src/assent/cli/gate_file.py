"""The project's own gates where they are: `.assent/gates.toml`."""

from __future__ import annotations

from pathlib import Path

from assent.protocol.error import BadRequestError
from assent.protocol.gate import CONTEXTS, Context
from assent.protocol.gate_file import MAX_GATE_FILE_BYTES, parse_contexts

__all__ = ["FOLDER", "GATE_FILE", "read_contexts", "read_gate_file", "read_input"]

FOLDER = ".assent"
GATE_FILE = f"{FOLDER}/gates.toml"


def read_input(file: Path, limit: int) -> bytes:
    """Return what a file holds, and one byte more than `limit` at most.

    Raises:
        BadRequestError: it cannot be read; the sentence names it.
    """
    try:
        with file.open("rb") as opened:
            return opened.read(limit + 1)
    except OSError as error:
        raise BadRequestError(f"{file}: it cannot be read: {error.strerror}.") from None


def read_gate_file(root: Path) -> bytes:
    """Return the project's file, empty where there is none."""
    file = root / GATE_FILE
    return read_input(file, MAX_GATE_FILE_BYTES) if file.exists() else b""


def read_contexts(root: Path) -> dict[str, Context]:
    """Return the standard contexts, and those that a project adds to them.

    Raises:
        BadRequestError: the project's file has a fault; the sentence names the place.
    """
    return {**CONTEXTS, **parse_contexts(read_gate_file(root), GATE_FILE)}
