"""Who is told of asks, for those who have the store: targets are set where it is, and delivered from there.

No server lets a target be set over HTTP: the address would travel, and a stolen credential would read along.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from assent.client.calls import Calls
from assent.client.door import Call, until
from assent.client.embedded import EmbeddedDoor
from assent.hub.command import AddTarget, RemoveTarget, TargetCommand
from assent.hub.ids import new_command_id
from assent.hub.outbox import LEASE_SECONDS, Claim, Due, Outbox
from assent.protocol.ask import Kind
from assent.protocol.error import AssentError
from assent.protocol.target import Secret, Target

__all__ = ["LEASE_SECONDS", "Claim", "Due", "Outbox", "add_target", "open_outbox", "remove_target"]


def open_outbox(door: EmbeddedDoor, *, lease_seconds: float = LEASE_SECONDS) -> Outbox:
    """Return the outbox of the store behind a door."""
    return Outbox(door.hub, lease_seconds=lease_seconds)


def add_target(  # noqa: PLR0913 - every part of a target has a name
    calls: Calls,
    name: str,
    secret: Secret,
    *,
    kinds: Sequence[Kind] = (),
    people: Mapping[str, str] | None = None,
    allows_internal: bool = False,
    person: str = "",
    is_unattended: bool = False,
    command_id: str = "",
) -> Call[Target]:
    """Tell an address of this project's asks from now on; `person` is whose it is, if not everybody's.

    Raises:
        ForbiddenError: an agent tries, or nobody is at a terminal.
        ConflictError: there is a target of that name.
        BadRequestError: the name or the address cannot be.
    """
    request = AddTarget(
        name,
        secret,
        tuple(kinds),
        dict(people or {}),
        allows_internal,
        calls.assurance,
        is_unattended or calls.is_unattended,
        person,
    )
    return (yield from _send(calls, request, command_id))


def remove_target(calls: Calls, name: str, *, command_id: str = "") -> Call[Target]:
    """Tell a target nothing more, and forget its address; one that was removed before stays so.

    Raises:
        NotFoundError: there is none.
        ForbiddenError: an agent tries.
    """
    return (yield from _send(calls, RemoveTarget(name), command_id))


def _send(calls: Calls, request: TargetCommand, command_id: str) -> Call[Target]:
    told = yield from until(
        calls.door.send(request, calls.project, calls.principal, command_id or new_command_id())
    )
    if not isinstance(told, Target):
        raise AssentError("The hub told of something else than a target.")
    return told
