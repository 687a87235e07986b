"""What can be asked of a policy: its one command. The hub sets the stamp."""

from __future__ import annotations

import msgspec

from assent.engine.stamp import UNSTAMPED, Stamp
from assent.protocol.kind import Kind
from assent.protocol.policy import Category, Level
from assent.protocol.principal import Assurance

__all__ = ["SetPolicy"]


class SetPolicy(msgspec.Struct, frozen=True):
    """Set the levels of the categories that are named: of one, or of all."""

    levels: dict[Category, Level] = {}
    """What is not named stays as it is when the command is done, not as its sender saw it."""
    assurance: Assurance = Assurance.DECLARED
    is_unattended: bool = False
    """A person let a process loosen it where no terminal is; the log says so."""
    assurances: dict[Kind, tuple[Assurance, ...]] = {}
    """Per kind of ask, the assurances that suffice; an empty list takes back what the project said."""
    stamp: Stamp = UNSTAMPED
