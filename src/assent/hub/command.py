"""What can be sent to the hub: the machines' commands, and the few that touch no machine."""

from __future__ import annotations

import msgspec

from assent.engine import ask
from assent.protocol.ask import AskId
from assent.storage.port import Step

__all__ = ["ClaimAsk", "Request", "Tick", "WriteStep"]


class ClaimAsk(msgspec.Struct, frozen=True):
    """Say that one is on it. A courtesy, and volatile: it is not in the log and stops nobody."""

    ask_id: AskId


class WriteStep(msgspec.Struct, frozen=True):
    """Keep one entry of a durable flow's journal."""

    step: Step


class Tick(msgspec.Struct, frozen=True):
    """Do nothing but what every transaction does first: apply the deadlines that have passed."""


Request = ask.Command | ClaimAsk | WriteStep | Tick
