"""Where a command acts: which store, which project, as whom. Set by options before or after the command's name."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime

    from assent.client.client import Client
    from assent.client.door import Door
    from assent.protocol.principal import Assurance, Principal

__all__ = ["Place", "acting", "is_there", "now", "show_address"]


def now() -> datetime:
    """Return the moment by the store's clock."""
    from assent.hub.clock import SystemClock
    from assent.hub.desk import instant

    return instant(SystemClock().now())


def acting(door: Door, said: Principal) -> Principal:
    """Return who acts behind a door: on a server whoever the token belongs to, else as said."""
    from assent.client.door import run_call, until

    return run_call(until(door.who())) or said


def show_address(address: Path | str) -> str:
    """Return an address for people and logs: of a database, without its password and settings.

    Nothing is taken for certain here, also where what is installed could read it: a password may hold any character.

    >>> show_address("postgresql://ana:secret@db.example/assent?sslmode=require")
    'postgresql://ana@db.example/assent'
    """
    from assent.client.place import is_database

    if isinstance(address, Path) or not is_database(address):
        return str(address)
    before, _, after = address.partition("://")[2].rpartition("@")
    user = before.partition(":")[0]
    if any(sign in before for sign in "?#") or "/" in user:
        return "postgresql://..."  # it cannot be told where a secret ends
    where = after.partition("?")[0].partition("#")[0]
    return f"postgresql://{user}@{where}" if user else f"postgresql://{where}"


def is_there(address: Path | str) -> bool:
    """Whether a store's file exists. What may not be looked at exists: opening it will say what is wrong.

    A server or a database is always there: whether it answers is found out by asking it.
    """
    if isinstance(address, str):
        return True
    try:
        address.stat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True
    return True


class Place:
    """What was said about the place, and what follows from it."""

    def __init__(self) -> None:
        self.environ: Mapping[str, str] = os.environ
        self.store: str | None = None
        """As said by --store."""
        self.project: str | None = None
        """As said by --project."""

    @property
    def address(self) -> Path | str:
        """The file of the current store, absolute, or the address of the server or database, in one spelling."""
        from assent.client.place import find_store, is_database, is_server

        given = self.store or self.environ.get("ASSENT_STORE") or ""
        if is_database(given):
            return given
        if is_server(given):
            return given.rstrip("/")
        return find_store(self.store, self.environ, Path.cwd()).absolute()

    @property
    def is_server(self) -> bool:
        """Whether the current store is a server's."""
        from assent.client.place import is_server

        address = self.address
        return isinstance(address, str) and is_server(address)

    @property
    def is_database(self) -> bool:
        """Whether the current store is a database."""
        return isinstance(self.address, str) and not self.is_server

    @property
    def shown(self) -> str:
        """The current store's address for people; no password is in it."""
        return show_address(self.address)

    @property
    def own_address(self) -> Path | str:
        """The file or the database of the current store.

        Raises:
            BadRequestError: it is a server, and what it keeps is its own business.
        """
        from assent.protocol.error import BadRequestError

        if self.is_server:
            raise BadRequestError(
                "What is named here is a server, and this needs a store of its own: sqlite:///path/file.db."
            )
        return self.address

    @property
    def path(self) -> Path:
        """The file of the current store, absolute.

        Raises:
            BadRequestError: it is a server or a database, and no file of this machine.
        """
        from assent.protocol.error import BadRequestError

        address = self.own_address
        if isinstance(address, str):
            raise BadRequestError(
                f"{self.shown} is a database, and this needs a file: sqlite:///path/file.db."
            )
        return address

    @property
    def project_name(self) -> str:
        """The current project."""
        from assent.client.place import find_project

        return find_project(self.project, self.environ, Path.cwd())

    @property
    def others(self) -> list[Path]:
        """The other stores of this user; none when one was named.

        A server is always named, if only by ASSENT_STORE, and whoever names it means what is there: it has all projects
        of its callers, and the files of this machine are not among them.
        """
        from assent.client.trust import noted_stores

        here = self.address
        if self.store or isinstance(here, str):
            return []
        return [path for path in noted_stores(self.environ) if path != here]

    def is_there(self) -> bool:
        """Whether there is a store to look at: one that nobody named may still be to be made.

        Raises:
            NotFoundError: it was named by --store, and is not there.
        """
        from assent.protocol.error import NotFoundError

        if is_there(self.address):
            return True
        if self.store:
            raise NotFoundError(f"There is no store {self.shown}.")
        return False

    def is_named(self, address: Path | str | None = None) -> bool:
        """Whether somebody named the current store, by --store or ASSENT_STORE, and it is the one that is meant."""
        is_given = bool(self.store or self.environ.get("ASSENT_STORE"))
        return is_given and (address is None or address == self.address)

    def open_door(self, address: Path | str | None = None, *, reads: bool = False) -> Door:
        """Return the door to the current store or server, or to another one. Who only `reads` makes no store."""
        from assent.client.connect import open_door

        return open_door(address or self.address, self.environ, is_named=self.is_named(address), reads=reads)

    @contextmanager
    def door(self, address: Path | str | None = None, *, reads: bool = False) -> Iterator[Door]:
        """Give the door to the current store or server, or to another one; it is closed at the end."""
        door = self.open_door(address, reads=reads)
        try:
            yield door
        finally:
            door.close()

    @contextmanager
    def looking(self, address: Path | str | None = None) -> Iterator[Door]:
        """Give the door to who only shows what is there.

        A file that --store names and that is no store of theirs, a backup or a copy, is looked at as a copy of it, by a
        person.
        """
        from assent.client.identity import agent_mark
        from assent.protocol.error import StoreUntrustedError

        with ExitStack() as stack:
            try:
                door = self.open_door(address, reads=True)
            except StoreUntrustedError:
                file = address or self.address
                is_meant = bool(self.store) and file == self.address
                if agent_mark(self.environ) or not is_meant or not isinstance(file, Path):
                    raise
                from assent.cli.store_look import looking_at

                door = stack.enter_context(looking_at(file))
            stack.callback(door.close)
            yield door

    def client(
        self, door: Door, principal: Principal, *, via: str = "cli", assurance: Assurance | None = None
    ) -> Client:
        """Return a client in the current project; on a server it acts for whoever the token belongs to."""
        from assent.client.client import Client
        from assent.protocol.principal import Assurance

        who = acting(door, principal)
        return Client(door, self.project_name, who, via=via, assurance=assurance or Assurance.DECLARED)
