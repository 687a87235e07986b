"""Composition, in one visible place: from an address to a client."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from assent.client.client import Client
from assent.client.identity import agent, person
from assent.client.label import label_finder
from assent.client.place import find_project, find_store, note_store
from assent.hub.clock import Clock
from assent.hub.compose import hub_on_file
from assent.hub.hub import Hub
from assent.protocol.principal import Principal, Role, parse_principal

__all__ = ["connect", "find_parts", "open_hub"]


def connect(
    store: str | Path | None = None, *, project: str | None = None, principal: str | None = None
) -> Client:
    """Return a client on the embedded store: the file named, ASSENT_STORE, or `.assent/assent.db` of this folder.

    Without a principal it acts for an agent, which can ask but never answer; `principal="human:ana"` acts for a
    person and is refused where an agent runs the process.
    """
    hub, name, who = find_parts(store, project, principal)
    return Client(
        hub, name, who, run_id=os.environ.get("ASSENT_RUN_ID") or None, find_label=label_finder(os.environ)
    )


def open_hub(store: str | Path | None, environ: Mapping[str, str], clock: Clock | None = None) -> Hub:
    """Return a hub on the embedded store that is meant."""
    path = store if isinstance(store, Path) else find_store(store, environ, Path.cwd())
    hub = hub_on_file(path, clock, is_strict=environ.get("ASSENT_STRICT_REQUEST_IDS", "") not in {"", "0"})
    note_store(path.absolute(), environ)
    return hub


def find_parts(
    store: str | Path | None, project: str | None, principal: str | None
) -> tuple[Hub, str, Principal]:
    """Return the hub, the project and the principal that are meant."""
    environ = os.environ
    who = agent(environ) if principal is None else parse_principal(principal)
    if who.role is not Role.AGENT:
        person(environ)  # refuses where an agent runs this process
    return open_hub(store, environ), find_project(project, environ, Path.cwd()), who
