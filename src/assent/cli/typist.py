"""Whose typing counts here: the person at this terminal, or behind this pipe; or nobody's."""

from __future__ import annotations

import os
import sys

from assent.cli.exit import say
from assent.cli.place import Place
from assent.client.client import Client
from assent.client.identity import agent_mark, person
from assent.hub.hub import Hub
from assent.protocol.display import display
from assent.protocol.error import ForbiddenError
from assent.protocol.principal import Assurance, Principal
from assent.surfaces.terminal import is_background

__all__ = ["find_typist", "who_types"]


def find_typist(place: Place, hub: Hub, *, takes_pipe: bool = False) -> Client | None:
    """Return a client of the person whose typing counts, or nobody; see `who_types`."""
    principal = who_types(place, takes_pipe=takes_pipe)
    if principal is None:
        return None
    is_terminal = os.isatty(0)
    via = "terminal" if is_terminal else "pipe"
    return place.client(
        hub, principal, via=via, assurance=Assurance.TERMINAL if is_terminal else Assurance.DECLARED
    )


def who_types(place: Place, *, takes_pipe: bool = False) -> Principal | None:
    """Return the person whose typing counts, or nobody.

    A program that types into its own question has not asked anybody: where an agent runs the command nothing is read,
    and that is said.
    """
    if not sys.stdin or sys.stdin.closed:
        return None
    if is_background(0) or not (os.isatty(0) or takes_pipe):
        return None
    mark = agent_mark(place.environ)
    if mark is not None:
        say(f"{mark} is set, so an agent runs this command: what is typed here is not read.")
        return None
    try:
        return person(place.environ)
    except ForbiddenError as error:
        say(display(error.message, lines=False))
        return None
