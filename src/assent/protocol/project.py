"""The name of a project: what may stand in an address, in a sentence and in a scope without being mistaken."""

from __future__ import annotations

from assent.protocol.display import display, is_encodable, quote
from assent.protocol.error import BadRequestError

__all__ = ["MAX_PROJECT", "check_project"]

MAX_PROJECT = 200


def check_project(name: str) -> str:
    """Return `name` if it can be a project's.

    >>> check_project("shop")
    'shop'

    Raises:
        BadRequestError: it is empty, too long, or not what it looks like.
    """
    is_plain = name == name.strip() and name == display(name, lines=False) and is_encodable(name)
    # In an address `.` and `..` are ways, not names: a browser resolves them, however they are spelled.
    if not (1 <= len(name) <= MAX_PROJECT and "/" not in name and is_plain and name not in (".", "..")):
        raise BadRequestError(
            f'"{quote(name)}" is not a project\'s name: no slashes, no `.` or `..`, nothing invisible, at most'
            f" {MAX_PROJECT} characters."
        )
    return name
