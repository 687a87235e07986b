"""Composition, in one visible place: from an address to a client."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from assent.client.client import Client
from assent.client.door import Door
from assent.client.embedded import EmbeddedDoor
from assent.client.identity import agent, person
from assent.client.label import label_finder
from assent.client.place import find_project, find_store, is_database, is_server
from assent.client.tracing import find_traces
from assent.client.trust import admit
from assent.hub.clock import Clock
from assent.hub.compose import hub_on_database, hub_on_file
from assent.hub.hub import Hub
from assent.protocol.principal import Principal, Role, parse_principal

__all__ = ["connect", "find_parts", "open_door", "open_hub"]


def connect(
    store: str | Path | None = None, *, project: str | None = None, principal: str | None = None
) -> Client:
    """Return a client on a store or a server: what is named, ASSENT_STORE, or `.assent/assent.db` of this folder.

    A server (`http://…`) is shown ASSENT_TOKEN, and whose token it is acts, whatever `principal` says.

    Without a principal it acts for an agent, which can ask but never answer; `principal="human:ana"` acts for a
    person and is refused where an agent runs the process.
    """
    door, name, who = find_parts(store, project, principal)
    return Client(
        door, name, who, run_id=os.environ.get("ASSENT_RUN_ID") or None, find_label=label_finder(os.environ)
    )


def open_hub(
    store: str | Path | None,
    environ: Mapping[str, str],
    clock: Clock | None = None,
    *,
    is_named: bool | None = None,
    reads: bool = False,
) -> Hub:
    """Return a hub on the store that is meant: a file of this machine, or a database.

    `is_named` says whether somebody named the store: by itself, whether it or ASSENT_STORE is given. Who only `reads`
    it makes none, and has none noted.

    Raises:
        StoreUntrustedError: it is a file that this user has neither made nor adopted.
    """
    is_strict = environ.get("ASSENT_STRICT_REQUEST_IDS", "") not in {"", "0"}
    given = store or environ.get("ASSENT_STORE")
    if isinstance(given, str) and is_database(given):
        hub = hub_on_database(given, clock, is_strict=is_strict)
    else:
        path = store if isinstance(store, Path) else find_store(store, environ, Path.cwd())
        mark = admit(
            path.absolute(), environ, is_named=bool(given) if is_named is None else is_named, reads=reads
        )
        hub = hub_on_file(path, clock, is_strict=is_strict, mark=mark)
    hub.watch = find_traces()
    return hub


def open_door(
    store: str | Path | None, environ: Mapping[str, str], *, is_named: bool | None = None, reads: bool = False
) -> Door:
    """Return the door to the store or the server that is meant; `is_named` and `reads` are as for `open_hub`.

    Raises:
        BadRequestError: the address is of no known form.
        StoreUntrustedError: it is a file that this user has neither made nor adopted.
    """
    given = store or environ.get("ASSENT_STORE")
    if isinstance(given, str) and is_server(given):
        door: Door = sys.modules["assent"].HttpDoor(
            given, environ.get("ASSENT_TOKEN", "")
        )  # loaded where there is one
        return door
    return EmbeddedDoor(open_hub(store, environ, is_named=is_named, reads=reads))


def find_parts(
    store: str | Path | None, project: str | None, principal: str | None
) -> tuple[Door, str, Principal]:
    """Return the door, the project and the principal that are meant."""
    environ = os.environ
    who = agent(environ) if principal is None else parse_principal(principal)
    if who.role is not Role.AGENT:
        person(environ)  # refuses where an agent runs this process
    return open_door(store, environ), find_project(project, environ, Path.cwd()), who
