"""Where a command acts: which store, which project, as whom. Set by options before or after the command's name."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime

    from assent.client.client import Client
    from assent.hub.hub import Hub
    from assent.protocol.principal import Assurance, Principal

__all__ = ["Place", "is_there", "now"]


def now() -> datetime:
    """Return the moment by the store's clock."""
    from assent.hub.clock import SystemClock
    from assent.hub.desk import instant

    return instant(SystemClock().now())


def is_there(path: Path) -> bool:
    """Whether a store's file exists. What may not be looked at exists: opening it will say what is wrong."""
    try:
        path.stat()
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
    def path(self) -> Path:
        """The file of the current store, absolute."""
        from assent.client.place import find_store

        return find_store(self.store, self.environ, Path.cwd()).absolute()

    @property
    def project_name(self) -> str:
        """The current project."""
        from assent.client.place import find_project

        return find_project(self.project, self.environ, Path.cwd())

    @property
    def others(self) -> list[Path]:
        """The other stores that this user opened; none when one was named."""
        from assent.client.place import noted_stores

        return [] if self.store else [path for path in noted_stores(self.environ) if path != self.path]

    @contextmanager
    def hub(self, path: Path | None = None) -> Iterator[Hub]:
        """Give a hub on the current store, or on another one."""
        from assent.client.connect import open_hub

        hub = open_hub(path or self.path, self.environ)
        try:
            yield hub
        finally:
            hub.close()

    def client(
        self, hub: Hub, principal: Principal, *, via: str = "cli", assurance: Assurance | None = None
    ) -> Client:
        """Return a client in the current project."""
        from assent.client.client import Client
        from assent.protocol.principal import Assurance

        return Client(hub, self.project_name, principal, via=via, assurance=assurance or Assurance.DECLARED)
