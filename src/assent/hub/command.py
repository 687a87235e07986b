"""What can be sent to the hub: the machines' commands, and the few that touch no machine."""

from __future__ import annotations

import msgspec

from assent.engine.ask import (
    AnswerAsk,
    Command,
    DeclineAsk,
    LapseAsk,
    OpenAsk,
    ReportUndelivered,
    SupersedeAsk,
    WithdrawAsk,
)
from assent.protocol.ask import AskId
from assent.storage.port import Step

__all__ = [
    "AnswerAsk",
    "ClaimAsk",
    "Command",
    "DeclineAsk",
    "LapseAsk",
    "OpenAsk",
    "ReportUndelivered",
    "Request",
    "SupersedeAsk",
    "Tick",
    "WithdrawAsk",
    "WriteStep",
]


class ClaimAsk(msgspec.Struct, frozen=True, gc=False):
    """Say that one is on it. A courtesy, and volatile: it is not in the log and stops nobody."""

    ask_id: AskId


class WriteStep(msgspec.Struct, frozen=True, gc=False):
    """Keep one entry of a durable flow's journal."""

    step: Step


class Tick(msgspec.Struct, frozen=True, gc=False):
    """Do nothing but what every transaction does first: apply the deadlines that have passed."""


Request = Command | ClaimAsk | WriteStep | Tick
