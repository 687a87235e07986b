"""What a copy needs of a store at either end, and nothing more: plain statements, one transaction, one moment."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

from assent.storage.port import Head, StoreClock, Transaction

__all__ = ["End", "Row", "Seal", "Source"]

Row = tuple[Any, ...]


class Source(Protocol):
    """A store that is read, by a connection of its own."""

    @property
    def name(self) -> str:
        """For people; without a password."""
        ...

    def query(self, statement: str, values: Row = ()) -> list[Row]:
        """Return the rows that a statement finds; `?` stands for a value."""
        ...

    def still(self, project: str) -> AbstractContextManager[None]:
        """See one moment of a project, which nobody changes meanwhile."""
        ...

    def close(self) -> None:
        """Let the connection go."""
        ...


class End(Source, Protocol):
    """A store that is read and written."""

    @property
    def clock(self) -> StoreClock | None:
        """As `Store.clock`."""
        ...

    def writing(self) -> AbstractContextManager[None]:
        """Keep everything that is written inside, or nothing of it."""
        ...

    def reserve(self) -> int:
        """Return a project number that nobody has, inside `writing`: with its first event it stays so."""
        ...

    def insert(self, table: str, columns: Sequence[str], rows: Sequence[Row]) -> None:
        """Write new rows.

        Raises:
            StoreRefusedError: some of them are there already, or cannot be kept there.
        """
        ...

    def raise_numbers(self, table: str, column: str, least: int) -> None:
        """Give new rows of a table numbers above `least` from now on."""
        ...

    def transaction(self) -> Transaction:
        """Return the store's own transaction, on what is written so far, inside `writing`; it is kept with it."""
        ...


Seal = Callable[[Transaction, End, Head], None]
"""What is done to a project before it appears: with its transaction, and its head there."""
