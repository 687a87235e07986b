"""What a transaction needs of a connection: to run the named queries of its dialect."""

from __future__ import annotations

from typing import Any, Protocol

__all__ = ["Session"]


class Session(Protocol):
    """One connection inside one transaction. A write may be held back until the end; a read never is."""

    def take_head(self, project: str) -> tuple[Any, ...] | None:
        """Return the row of `take_head`, with nobody else able to move the head from now on; None where there is none."""
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
