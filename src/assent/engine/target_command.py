"""What can be asked of a target: its commands. The hub sets the stamp."""

from __future__ import annotations

import msgspec

from assent.engine.stamp import UNSTAMPED, Stamp
from assent.protocol.ask import AskId, Kind
from assent.protocol.principal import Assurance
from assent.protocol.target import Secret, What

__all__ = ["AddTarget", "GiveUpMessage", "RemoveTarget", "TargetCommand"]


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
