"""The text of a JSON file that a command names, or of standard input."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from assent.protocol.error import BadRequestError
from assent.protocol.json_text import MAX_JSON_BYTES

__all__ = ["read_json_file"]

T = TypeVar("T")


def read_json_file(place: str, parse: Callable[[bytes], T], limit: int = MAX_JSON_BYTES) -> T:
    """Return what `parse` makes of the file at `place`, or of standard input for `-`; it refuses more than `limit` bytes.

    Raises:
        BadRequestError: it cannot be read, or `parse` refuses it; the sentence names the file.
    """
    try:
        if place == "-":
            text = sys.stdin.buffer.read(limit + 1)
        else:
            with Path(place).open("rb") as file:
                text = file.read(limit + 1)
    except OSError as error:
        raise BadRequestError(f"{place} cannot be read: {error.strerror}.") from None
    try:
        return parse(text)
    except BadRequestError as error:
        name = "Standard input" if place == "-" else place
        raise type(error)(f"{name}: {error.message}") from None
