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
from assent.engine.run import (
    AbortRun,
    BeginTurn,
    DriverCommand,
    EndTurn,
    FailRun,
    FinishRun,
    PopFrame,
    PushFrame,
    StartRun,
)
from assent.engine.target import AddTarget, GiveUpMessage, RemoveTarget, TargetCommand
from assent.engine.token import CreateToken, RevokeToken, TokenCommand
from assent.hub.receipt_command import ReceiptRequest, RedeemReceipt, RequestApproval
from assent.hub.work_command import WorkRequest, WorkTold
from assent.protocol.ask import Ask, AskId
from assent.protocol.control import Control, ControlMessage
from assent.protocol.receipt import Receipt
from assent.protocol.run import Run, RunId
from assent.protocol.tail import Tail
from assent.protocol.target import Target
from assent.protocol.token import Token
from assent.protocol.topic import Message
from assent.storage.port import Step

__all__ = [
    "AbortRun",
    "AddTarget",
    "AnswerAsk",
    "BeginTurn",
    "ClaimAsk",
    "Command",
    "CreateToken",
    "DeclineAsk",
    "DriverCommand",
    "EndTurn",
    "ExecuteControl",
    "FailRun",
    "FinishRun",
    "GiveUpMessage",
    "LapseAsk",
    "OpenAsk",
    "PopFrame",
    "PostMessage",
    "Posted",
    "PushFrame",
    "ReceiptRequest",
    "RedeemReceipt",
    "RemoveTarget",
    "ReportUndelivered",
    "Request",
    "RequestApproval",
    "RevokeToken",
    "StartRun",
    "SupersedeAsk",
    "TargetCommand",
    "TellOutput",
    "Tick",
    "TokenCommand",
    "Told",
    "WithdrawAsk",
    "WorkRequest",
    "WriteStep",
]


class ClaimAsk(msgspec.Struct, frozen=True, gc=False):
    """Say that one is on it. A courtesy, and volatile: it is not in the log and stops nobody."""

    ask_id: AskId


class WriteStep(msgspec.Struct, frozen=True, gc=False):
    """Keep one entry of a durable flow's journal."""

    step: Step
    is_own: bool = False
    """No other agent may have written in this journal. A server says so; on a file everybody writes under any name."""


class Tick(msgspec.Struct, frozen=True, gc=False):
    """Do nothing but what every transaction does first: apply the deadlines that have passed."""


class TellOutput(msgspec.Struct, frozen=True, gc=False):
    """Hand on what the command of a run has printed. Volatile: it is not in the log, and nobody decides by it."""

    run_id: RunId
    fence: int
    text: bytes
    """Whole characters in UTF-8."""
    skipped: int = 0
    """How many bytes before it are handed on by nobody: more came than is kept."""


class PostMessage(msgspec.Struct, frozen=True):
    """Put a message into a topic. On `loop:control` it is a REQUEST, and taken up at once."""

    topic: str
    text: bytes
    is_left: bool = False
    """Leave a REQUEST lying there, as a program does that only writes the topic."""
    not_after: int | None = None
    """When it is too late for a REQUEST, by the boot clock of this machine, in milliseconds: its sender has given up."""


class ExecuteControl(msgspec.Struct, frozen=True):
    """Execute a control that was accepted by a transaction before this one."""

    request_id: str


class Posted(msgspec.Struct, frozen=True):
    """What became of a message."""

    message: Message | None
    """None for a text that is in no topic: nobody could be answered for it."""
    control: Control | None = None
    """The control that it began, as it is now."""
    reply: ControlMessage | None = None
    """The ACK or RESULT that it got at once."""
    problem: str = ""
    """What is wrong with a text that is in no topic."""


Request = (
    Command
    | ClaimAsk
    | WriteStep
    | Tick
    | DriverCommand
    | TellOutput
    | PostMessage
    | ExecuteControl
    | WorkRequest
    | TokenCommand
    | ReceiptRequest
    | TargetCommand
)
Told = Ask | Run | Tail | Control | Posted | WorkTold | Token | Receipt | Target | None
"""What the sender of a request is told."""
