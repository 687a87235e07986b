"""What can happen to a target, as the log keeps it. The tag is the event's type on the wire.

The address is in none of them: it is a secret.
"""

from __future__ import annotations

from datetime import datetime

import msgspec

from assent.protocol.ask import AskId, Kind
from assent.protocol.principal import Assurance
from assent.protocol.target import Service, What

__all__ = ["TargetAdded", "TargetEvent", "TargetFailed", "TargetRemoved"]


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
