"""What a transaction needs of a connection: to run the named queries of its dialect."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Protocol

from assent.protocol.error import BadRequestError, TooLargeError

__all__ = ["MAX_NAME_BYTES", "Session", "refuse_long", "refuse_nul"]

MAX_NAME_BYTES = 2_000
"""Of an id, a key, or whatever else things are found by: an index of PostgreSQL takes 2,704 for a row."""


def refuse_long(*names: str | None) -> None:
    """See that none of these is too long to be found by.

    Raises:
        TooLargeError: one is.
    """
    for name in names:
        # A character has at most four bytes, so most need not be counted.
        if name is not None and len(name) > MAX_NAME_BYTES // 4 and len(name.encode()) > MAX_NAME_BYTES:
            raise TooLargeError(f"A name, an id or a key may have at most {MAX_NAME_BYTES:,} bytes.")


def refuse_nul(new: Iterable[tuple[Any, ...]]) -> None:
    """See that no text of these rows of values has a NUL in it: not every store can keep one, so none does.

    Raises:
        BadRequestError: one has.
    """
    for values in new:
        for value in values:
            if isinstance(value, str) and "\0" in value:
                raise BadRequestError("A text that things are found by has a NUL character in it.")


class Session(Protocol):
    """One connection inside one transaction. A write may be held back until the end; a read never is."""

    def take_head(
        self, project: str, then: Sequence[tuple[str, tuple[Any, ...]]] = ()
    ) -> tuple[tuple[Any, ...] | None, list[list[tuple[Any, ...]]]]:
        """Return the row of `take_head` (None where there is none), and all rows that these queries find then.

        From now on nobody else is able to move the head.
        """
        ...

    def rows(self, query: str, values: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
        """Return all rows that a query finds."""
        ...

    def run(self, query: str, values: tuple[Any, ...]) -> None:
        """Run a query for what it changes."""
        ...

    def write(
        self, query: str, new: list[tuple[Any, ...]], *, changes_all: bool = False, taken: str = ""
    ) -> None:
        """Run a query that takes rows of values.

        Raises:
            StoreError: with `changes_all`, when not every row of values changed a row. They were read inside this
                transaction, so the store broke its word.
            CommandReusedError: a value that must be one of its kind is there already; `taken` is the sentence.
        """
        ...
