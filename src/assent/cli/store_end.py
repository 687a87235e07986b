"""From an address to a store that can be copied from and into; and who may do so."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import click

from assent.cli.place import Place, show_address
from assent.client.identity import agent_mark, person
from assent.client.place import find_store, is_database, is_server
from assent.client.trust import admit
from assent.hub.compose import hub_on_database
from assent.protocol.error import BadRequestError, FlowTakenError, ForbiddenError, StoreBusyError
from assent.protocol.principal import Principal, Role, parse_principal
from assent.storage.copy_end import End
from assent.storage.port import Store
from assent.storage.sqlite.store import SqliteStore

__all__ = ["Opened", "find_keeper", "is_agreed", "open_store", "parse_address"]

_RIGHT = "store copy"


def find_keeper(environ: Mapping[str, str]) -> Principal:
    """Return who moves and keeps data here: a person, or an operator.

    Raises:
        ForbiddenError: an agent runs this process.
    """
    mark = agent_mark(environ)
    if mark is not None:
        raise ForbiddenError(
            f"{mark} is set, so an agent runs this command, and only a person or an operator can move and keep data. "
            "A person can do it in a terminal of their own: assent store."
        )
    given = environ.get("ASSENT_PRINCIPAL", "")
    if given.startswith(f"{Role.OPERATOR}:"):
        return parse_principal(given)
    return person(environ)


def parse_address(given: str, environ: Mapping[str, str]) -> Path | str:
    """Return the file or the database that an argument names.

    Raises:
        BadRequestError: it is a server, or of no known form.
    """
    if is_server(given):
        raise BadRequestError(
            "What is named here is a server: name the file or the database that it serves, on a machine that reaches it."
        )
    return given if is_database(given) else find_store(given, environ, Path.cwd()).absolute()


def is_agreed(question: str) -> bool:
    """Ask the person at the terminal.

    Raises:
        ForbiddenError: there is none.
    """
    if not (sys.stdin is not None and sys.stdin.isatty()):
        raise ForbiddenError("Nobody is there to say yes: --yes says that you mean it.")
    return click.confirm(question, err=True)


class Opened:
    """A store that is open, and what a copy needs of it."""

    def __init__(self, address: Path | str, mark: bytes | None = None) -> None:
        self.shown = show_address(address)
        self.store: Store = (
            SqliteStore(address, mark) if isinstance(address, Path) else hub_on_database(address).store
        )
        self.end: End = _end_of(self.store)

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Let no second copy into this store be under way.

        Raises:
            StoreBusyError: one is.
        """
        try:
            hold = self.store.hold(_RIGHT)
        except FlowTakenError:
            raise StoreBusyError(f"Another copy into {self.shown} is under way.") from None
        try:
            yield
        finally:
            hold.release()

    def close(self) -> None:
        """Let everything go."""
        self.end.close()
        self.store.close()


@contextmanager
def open_store(address: Path | str, place: Place | None = None, *, reads: bool = False) -> Iterator[Opened]:
    """Give a store; an empty one is set up. Without a `place` it is a file that this very command has made.

    It is not one that an inbox of all stores shows, as long as nobody works with it.

    Raises:
        StoreUntrustedError: this user has neither made nor adopted it.
    """
    mark = None
    if place is not None and isinstance(address, Path):
        mark = admit(address, place.environ, is_named=True, reads=reads, is_listed=False)
    opened = Opened(address, mark)
    try:
        yield opened
    finally:
        opened.close()


def _end_of(store: Store) -> End:
    from assent.storage.sqlite.copy_end import SqliteEnd

    if isinstance(store, SqliteStore):
        return SqliteEnd(store)
    from assent.storage.postgres.copy_end import PostgresEnd
    from assent.storage.postgres.store import PostgresStore

    assert isinstance(store, PostgresStore)  # noqa: S101 - there are two kinds
    return PostgresEnd(store)
