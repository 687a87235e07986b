"""The label that a project gives to the option for words of one's own, in whatever language its people read (C13).

ASSENT_OTHER_LABEL says it, or `other = "…"` in `.assent/questions.toml` of the root folder. It is looked up when
something is asked: a bad file stops nobody from answering.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec

from assent.client.place import find_root
from assent.protocol.canonical import convert
from assent.protocol.error import BadRequestError

__all__ = ["find_label", "label_finder"]

_FILE = Path(".assent", "questions.toml")
_MOST_BYTES = 64 << 10
_ROOT_SECONDS = 1.0
"""How long a root folder that was found is taken for the root: to find it takes longer than all the rest of an ask."""


class _Questions(msgspec.Struct, forbid_unknown_fields=True):
    other: str = ""


def label_finder(environ: Mapping[str, str]) -> Callable[[], str]:
    """Return what finds the label for the folder that we are in now."""
    start = Path.cwd()
    found: tuple[float, Path] | None = None

    def find() -> str:
        nonlocal found
        known, now = found, time.monotonic()
        if known is None or now > known[0] + _ROOT_SECONDS:
            known = found = (now, find_root(start) / _FILE)
        return _read_label(environ, known[1])

    return find


def find_label(environ: Mapping[str, str], start: Path) -> str:
    """Return the project's label; empty where it has none.

    Raises:
        BadRequestError: the project's file cannot be read; the sentence says why.
    """
    return _read_label(environ, find_root(start) / _FILE)


def _read_label(environ: Mapping[str, str], path: Path) -> str:
    given = environ.get("ASSENT_OTHER_LABEL")
    if given:
        return given
    try:
        with path.open("rb") as file:
            text = file.read(_MOST_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except OSError as error:
        raise BadRequestError(f"{path} cannot be read: {error.strerror}.") from None
    if len(text) > _MOST_BYTES:
        raise BadRequestError(f"{path} has more than {_MOST_BYTES:,} bytes.")
    try:
        # By msgspec, which loads the parser when there is something to parse: it takes as long as all of this room.
        return convert(msgspec.toml.decode(text.decode()), _Questions).other
    except (UnicodeDecodeError, msgspec.DecodeError):
        raise BadRequestError(f"{path} is no TOML.") from None
    except BadRequestError as error:
        raise BadRequestError(f"{path}: {error.message}") from None
