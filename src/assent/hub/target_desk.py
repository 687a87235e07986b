"""The part of the desk for targets: added and removed by people, and what could not be delivered to them.

Rule 1: to give a message up is an event and a step of the cursor, in one transaction, under the sender's fence: a sender
        that has lost its claim writes neither.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from assent.engine.target import AddTarget, GiveUpMessage, TargetCommand, decide, evolve
from assent.protocol.error import ConflictError, NotFoundError
from assent.protocol.target import Target
from assent.storage.port import Head

if TYPE_CHECKING:
    from assent.hub.desk import Desk

__all__ = ["TargetDesk"]


class TargetDesk:
    """The targets of one transaction."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def perform(self, head: Head, command: TargetCommand) -> Target:
        """Do one command, which is stamped; return its target as it is now.

        Raises:
            NotFoundError: there is no such target.
            ConflictError: another sender has it now.
        """
        transaction = self._desk.transaction
        target = transaction.target(head.project, command.name)
        events = decide(target, command)
        if events and isinstance(command, GiveUpMessage):
            # Read before anything is written: a refusal has nothing to undo.
            delivery = transaction.delivery(head.project, command.name)
            if delivery is None or delivery.fence != command.fence:
                raise ConflictError(f"Another sender has {command.name} now.")
            transaction.advance_target(
                head.project, command.name, command.fence, command.event, delivery.lease_until
            )
        for event in events:
            target = evolve(target, event, project=head.project, sequence=head.sequence + 1)
            self._desk.record(head, event, target.name)
            transaction.put_target(head, target, command.secret if isinstance(command, AddTarget) else None)
        if target is None:
            raise NotFoundError("There is no such target here.")
        return target
