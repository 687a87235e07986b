"""Whose typing counts here: the person at this terminal, or behind this pipe; or nobody's.

On a server it counts only with a person's token: an agent's can never answer, so nothing is read, and that is said.
"""

from __future__ import annotations

import os
import sys

from assent.cli.exit import say
from assent.cli.place import Place, acting
from assent.client.client import Client
from assent.client.door import Door
from assent.client.identity import agent_mark, person
from assent.protocol.ask import Ask
from assent.protocol.display import display
from assent.protocol.error import ForbiddenError
from assent.protocol.principal import Assurance, Principal, Role
from assent.surfaces.card import short_id
from assent.surfaces.terminal import TerminalSurface, is_background

__all__ = ["find_typist", "tell_waiting", "warn_unreached", "who_types"]


def find_typist(place: Place, door: Door, *, takes_pipe: bool = False) -> Client | None:
    """Return a client of the person whose typing counts, or nobody; see `who_types`."""
    principal = who_types(place, takes_pipe=takes_pipe)
    if principal is None:
        return None
    who = acting(door, principal)
    if who.role is not Role.HUMAN:
        where = f"a person can answer with a token of their own: assent inbox --store {place.shown}"
        say(
            display(f"ASSENT_TOKEN is that of {who}, so what is typed here is not read; {where}", lines=False)
        )
        return None
    is_terminal = os.isatty(0)
    via = "terminal" if is_terminal else "pipe"
    return place.client(
        door, who, via=via, assurance=Assurance.TERMINAL if is_terminal else Assurance.DECLARED
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


def warn_unreached(place: Place, door: Door, name: str | None) -> None:
    """Say that nobody has a target of the person whom an ask is to be escalated to. Over a server nobody can tell.

    Raises:
        BadRequestError: that is no person.
    """
    if name is None:
        return
    from assent.client.embedded import EmbeddedDoor
    from assent.client.outbox import open_outbox
    from assent.protocol.target import person_of

    person = person_of(name)
    if not isinstance(door, EmbeddedDoor):
        return
    targets = [target for target, _ in open_outbox(door).targets(place.project_name) if target.is_live]
    if any(target.is_of(person) for target in targets):
        return
    others = "only the targets of everybody are" if any(not each.person for each in targets) else "nobody is"
    say(
        f"Warning: {person} has no target here, so at the deadline {others} told. "
        f"To add one: assent notify add NAME ADDRESS --for {person}"
    )


def tell_waiting(place: Place, terminal: TerminalSurface, ask: Ask) -> None:
    """Say how an ask is answered that nobody can answer here.

    Who sits at a terminal with an agent's token for a server sees what is asked all the same.
    """
    has_onlooker = place.is_server and os.isatty(0) and not is_background(0) and not agent_mark(place.environ)
    if has_onlooker:
        terminal.present(ask, can_type=False)
    else:
        say(f"waiting for an answer: assent answer {short_id(ask.ask_id)} …")
