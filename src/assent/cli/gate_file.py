"""What gates and sessions read: the project's own gates in `.assent/gates.toml`, and a review."""

from __future__ import annotations

from pathlib import Path

from assent.protocol.error import BadRequestError
from assent.protocol.gate import CONTEXTS, Context
from assent.protocol.gate_file import MAX_GATE_FILE_BYTES, parse_contexts
from assent.protocol.review import MAX_REVIEW_BYTES, Review, parse_review

__all__ = ["FOLDER", "GATE_FILE", "read_bounded", "read_contexts", "read_gate_file", "read_review"]

FOLDER = ".assent"
GATE_FILE = f"{FOLDER}/gates.toml"


def read_bounded(file: Path, limit: int) -> bytes:
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
    return read_bounded(file, MAX_GATE_FILE_BYTES) if file.exists() else b""


def read_contexts(root: Path) -> dict[str, Context]:
    """Return the standard contexts, and those that a project adds to them.

    Raises:
        BadRequestError: the project's file has a fault; the sentence names the place.
    """
    return {**CONTEXTS, **parse_contexts(read_gate_file(root), GATE_FILE)}


def read_review(file: Path) -> Review:
    """Return the review in a file.

    Raises:
        BadRequestError: it is none; the sentence names file, place and reason.
    """
    text = read_bounded(file, MAX_REVIEW_BYTES)
    try:
        return parse_review(text)
    except BadRequestError as error:
        raise BadRequestError(f"{file}: {error.message}") from None
