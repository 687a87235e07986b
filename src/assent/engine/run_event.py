"""What can happen to a run: its events, as the log keeps them. Those with a `message` are on `loop:current`."""

from __future__ import annotations

from datetime import datetime

import msgspec

from assent.protocol.run import Frame, RunId, StateMessage

__all__ = [
    "FramePopped",
    "FramePushed",
    "RunAborted",
    "RunDone",
    "RunEscalated",
    "RunEvent",
    "RunHeld",
    "RunPaused",
    "RunResumed",
    "RunStarted",
    "RunTaken",
    "TurnBegun",
    "TurnEnded",
]


class _Happened(msgspec.Struct, frozen=True, kw_only=True):
    run_id: RunId
    at: datetime
    by: str
    command_id: str = ""


class _Announced(_Happened, frozen=True, kw_only=True):
    message: StateMessage | None = None
    """As it stands on the topic; set by the machine once the run is what the event made of it."""


class RunStarted(_Announced, frozen=True, kw_only=True, tag="run.started"):
    """A new run."""

    frame: Frame
    driver: str
    title: str = ""
    models: tuple[str, ...] = ()


class RunTaken(_Announced, frozen=True, kw_only=True, tag="run.taken"):
    """A new driver goes on with it. Loops inside its lowest one begin anew; so does an interrupted iteration."""

    driver: str
    fence: int


class TurnBegun(_Announced, frozen=True, kw_only=True, tag="run.turn_begun"):
    """An iteration began."""

    depth: int
    number: int
    attempt: int


class TurnEnded(_Happened, frozen=True, kw_only=True, tag="run.turn_ended"):
    """An iteration is over. Not on the topic: what follows from it is."""

    depth: int
    number: int
    failure: str = ""


class FramePushed(_Announced, frozen=True, kw_only=True, tag="run.frame_pushed"):
    """A loop inside a loop began."""

    depth: int
    frame: Frame


class FramePopped(_Announced, frozen=True, kw_only=True, tag="run.frame_popped"):
    """It is over, and the one below goes on."""

    depth: int
    reason: str


class RunPaused(_Announced, frozen=True, kw_only=True, tag="run.paused"):
    """No further iteration starts."""


class RunHeld(_Announced, frozen=True, kw_only=True, tag="run.held"):
    """Its work is done while it is paused: it is held, and done as soon as somebody resumes it."""

    reason: str
    """With which it will be done."""


class RunResumed(_Announced, frozen=True, kw_only=True, tag="run.resumed"):
    """Iterations may start again."""


class RunEscalated(_Announced, frozen=True, kw_only=True, tag="run.escalated"):
    """The next iteration gets another model."""

    model: str
    reason: str = ""


class RunDone(_Announced, frozen=True, kw_only=True, tag="run.done"):
    """It ended by itself."""

    reason: str


class RunAborted(_Announced, frozen=True, kw_only=True, tag="run.aborted"):
    """It was ended. The last message of its run (I-X14)."""

    reason: str | None
    note: str = ""


RunEvent = (
    RunStarted
    | RunTaken
    | TurnBegun
    | TurnEnded
    | FramePushed
    | FramePopped
    | RunPaused
    | RunHeld
    | RunResumed
    | RunEscalated
    | RunDone
    | RunAborted
)
