"""A target is an address that a person has told to be told.

Rule 1: only people add and remove targets: an agent that could would choose who hears of its own work (decided rule 8).
Rule 2: to add one needs more than a process's word: a terminal, a token, or a person's explicit consent that nobody is
        there, which the log then shows. What agents ask leaves the house by it. To remove one needs no more.
Rule 3: a name is of one target at a time. Once removed, it may be given again, to another one.
Rule 4: what is sent again does nothing, and is told what it was told before.
"""

from __future__ import annotations

from datetime import datetime
from typing import get_args

import msgspec
from msgspec.structs import replace

from assent.engine.machine import PEOPLE, Machine
from assent.engine.stamp import NOBODY, UNSTAMPED, Stamp
from assent.protocol.ask import AskId, Kind
from assent.protocol.display import quote
from assent.protocol.error import BadRequestError, ConflictError, ForbiddenError, NotFoundError
from assent.protocol.principal import PROVEN, Assurance, Principal, Role, parse_principal
from assent.protocol.target import (
    MAX_ERROR,
    MAX_PEOPLE,
    Secret,
    Service,
    Target,
    What,
    check_target_name,
    host_of,
    person_of,
    service_of,
)

__all__ = [
    "MACHINE",
    "AddTarget",
    "GiveUpMessage",
    "RemoveTarget",
    "TargetAdded",
    "TargetCommand",
    "TargetEvent",
    "TargetFailed",
    "TargetRemoved",
    "decide",
    "evolve",
]


# Events


class TargetAdded(msgspec.Struct, frozen=True, tag="target.added"):
    """An address is told of asks."""

    name: str
    service: Service
    host: str
    kinds: tuple[Kind, ...]
    people: dict[str, str]
    allows_internal: bool
    at: datetime
    by: str
    assurance: Assurance
    is_unattended: bool = False
    command_id: str = ""
    person: str = ""
    """Whose it is; empty for everybody's."""


class TargetRemoved(msgspec.Struct, frozen=True, tag="target.removed"):
    """It is told nothing more."""

    name: str
    at: datetime
    by: str
    command_id: str = ""


class TargetFailed(msgspec.Struct, frozen=True, tag="target.failed"):
    """A message to it was given up."""

    name: str
    at: datetime
    ask_id: AskId
    what: What
    event: int
    attempts: int
    error: str
    is_gone: bool = False
    """It is told nothing more, as the other side is gone for good."""


TargetEvent = TargetAdded | TargetRemoved | TargetFailed


# Commands


class AddTarget(msgspec.Struct, frozen=True):
    """Tell this address of the project's asks from now on."""

    name: str
    secret: Secret
    kinds: tuple[Kind, ...] = ()
    people: dict[str, str] = {}
    allows_internal: bool = False
    assurance: Assurance = Assurance.DECLARED
    is_unattended: bool = False
    """A person let a process add it where no terminal is; the log says so."""
    person: str = ""
    """Whose it is; empty for everybody's."""
    stamp: Stamp = UNSTAMPED


class RemoveTarget(msgspec.Struct, frozen=True):
    """Tell it nothing more, and forget its address."""

    name: str
    stamp: Stamp = UNSTAMPED


class GiveUpMessage(msgspec.Struct, frozen=True):
    """A sender could not deliver a message, and goes on behind it. The hub's own."""

    name: str
    fence: int
    """Of the sender's claim: one that has lost it gives nothing up."""
    event: int
    """The number of the event of which the target was to be told."""
    ask_id: AskId
    what: What
    attempts: int
    error: str
    is_gone: bool = False
    """The other side says that it is gone for good."""
    stamp: Stamp = UNSTAMPED


TargetCommand = AddTarget | RemoveTarget | GiveUpMessage


# The machine


def decide(target: Target | None, command: TargetCommand) -> tuple[TargetEvent, ...]:
    """Return what `command` does to the target; nothing when it was done before.

    Raises:
        ForbiddenError: this principal may not do that, or not in this way.
        BadRequestError: a part of the new target is not what it must be.
        ConflictError: another target has that name.
        NotFoundError: there is none.
    """
    stamp = command.stamp
    if isinstance(command, GiveUpMessage):
        return _give_up(target, command, stamp)
    _check_setter(stamp.by)
    if isinstance(command, AddTarget):
        return _add(target, command, stamp)
    if target is None:
        raise NotFoundError(f'There is no target "{quote(command.name, 60)}" here.')
    if target.removed_at is not None:
        return ()
    return (TargetRemoved(target.name, stamp.at, str(stamp.by), stamp.command_id),)


def evolve(target: Target | None, event: TargetEvent, *, project: str = "", sequence: int = 0) -> Target:
    """Return the target as it is after `event`, the project's event number `sequence`."""
    if isinstance(event, TargetAdded):
        return Target(
            event.name,
            project,
            event.service,
            event.host,
            event.at,
            event.by,
            since=sequence,
            kinds=event.kinds,
            people=event.people,
            allows_internal=event.allows_internal,
            person=event.person,
            command_id=event.command_id,
            sequence=sequence,
        )
    assert target is not None  # noqa: S101 - decide() has found it
    if isinstance(event, TargetRemoved):
        return replace(target, removed_at=event.at, removed_by=event.by, sequence=sequence)
    gone = event.at if event.is_gone else target.disabled_at
    return replace(target, failed=target.failed + 1, disabled_at=gone, sequence=sequence)


def _add(target: Target | None, command: AddTarget, stamp: Stamp) -> tuple[TargetEvent, ...]:
    name = check_target_name(command.name)
    service, host = service_of(command.secret.address), host_of(command.secret.address)
    if target is not None and stamp.command_id and target.command_id == stamp.command_id:
        return ()
    if target is not None and target.removed_at is None:
        raise ConflictError(f'There is a target "{name}" already: {target.service} at {quote(target.host)}.')
    for known in command.people.values():
        parse_principal(f"{Role.HUMAN}:{known}")
    if len(command.people) > MAX_PEOPLE:
        raise BadRequestError(f"A target has at most {MAX_PEOPLE} people.")
    if command.assurance not in PROVEN and not command.is_unattended:
        raise ForbiddenError(
            "Adding a target needs a person at a terminal or a person's token; a process's word is not enough."
        )
    return (
        TargetAdded(
            name,
            service,
            host,
            tuple(dict.fromkeys(command.kinds)),
            command.people,
            command.allows_internal,
            stamp.at,
            str(stamp.by),
            command.assurance,
            command.is_unattended,
            stamp.command_id,
            person_of(command.person) if command.person else "",
        ),
    )


def _give_up(target: Target | None, command: GiveUpMessage, stamp: Stamp) -> tuple[TargetEvent, ...]:
    if stamp.by != NOBODY:
        raise ForbiddenError(f"{stamp.by} delivers nothing.")
    if target is None or not target.is_live:
        raise NotFoundError(f'There is no target "{quote(command.name, 60)}" here.')
    return (
        TargetFailed(
            target.name,
            stamp.at,
            command.ask_id,
            command.what,
            command.event,
            command.attempts,
            quote(command.error, MAX_ERROR),
            command.is_gone,
        ),
    )


def _check_setter(by: Principal) -> None:
    if by.role is Role.AGENT:
        raise ForbiddenError(f"{by} is an agent: only a person can say who is told of asks.")
    if by.role is not Role.HUMAN:
        raise ForbiddenError(f"{by} may not say who is told of asks: only a person can.")


MACHINE = Machine(
    "target",
    {
        AddTarget: PEOPLE,  # what agents ask leaves the house by it
        RemoveTarget: PEOPLE,
        GiveUpMessage: frozenset({Role.OPERATOR}),  # of them only the hub itself
    },
    get_args(TargetEvent),
    decide,
    evolve,
)
