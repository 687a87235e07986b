"""Topics, runs and durable flows, as HTTP bodies. See `wire`."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

import msgspec

from assent.protocol.control import ControlCommand, ControlMessage
from assent.protocol.run import DoneReason, Frame, Run
from assent.protocol.topic import Message
from assent.protocol.wire import Body, Reply

__all__ = [
    "ControlBody",
    "DriveBody",
    "FlowStep",
    "HoldBody",
    "Messages",
    "OutputBody",
    "PostedReply",
    "RunReply",
    "Runs",
    "StartBody",
    "Steps",
]


class Messages(Reply, frozen=True):
    """Messages of a topic, oldest first."""

    messages: tuple[Message, ...]


class PostedReply(Reply, frozen=True):
    """A message as it is in its topic now, and what a REQUEST was answered with."""

    sequence: int
    topic: str
    posted_at: datetime
    body: msgspec.Raw
    by: str = ""
    reply: ControlMessage | None = None


class ControlBody(Body, frozen=True):
    """A command to a run; under the request id of an earlier one it is the same command."""

    command: ControlCommand
    model: str | None = None
    reason: str = ""
    issue_id: str | None = None
    request_id: str | None = None


class RunReply(Reply, frozen=True):
    """A run as it is shown, and its record."""

    run_id: str
    project: str
    title: str
    status: str
    mode: str
    iteration: int
    attempt: int
    max: int
    model: str | None
    updated_at: datetime
    stack: tuple[Frame, ...]
    reason: str | None
    note: str
    driver: str | None
    started_at: datetime
    paused_at: datetime | None
    ended_at: datetime | None
    sequence: int
    record: Run


class Runs(Reply, frozen=True):
    """Runs, newest first."""

    runs: tuple[RunReply, ...]


class StartBody(Body, frozen=True):
    """A run to begin, or to take over from a driver that died."""

    run_id: str
    frame: Frame
    driver: str
    title: str = ""
    models: tuple[str, ...] = ()


class DriveBody(Body, frozen=True):
    """What the driver of a run says, under its fence."""

    command: Literal["begin", "end", "push", "pop", "finish", "fail"]
    fence: int
    depth: int = 0
    level: int | None = None
    signal: DoneReason | None = None
    """Of `end`: its loop is over."""
    failure: str = ""
    frame: Frame | None = None
    """Of `push`."""
    outer: int | None = None
    reason: DoneReason = DoneReason.COMPLETE
    note: str = ""


class OutputBody(Body, frozen=True):
    """What the command of a run has printed, under its driver's fence."""

    text: str
    fence: int
    skipped: int = 0
    """How many bytes before it are handed on by nobody: more came than is kept."""


class HoldBody(Body, frozen=True):
    """What somebody wants to drive, alone: a flow or a run. They do as long as the reply is open."""

    flow_id: str | None = None
    run_id: str | None = None


class FlowStep(Body, frozen=True):
    """One entry of a flow's journal."""

    flow_id: str
    step: int
    digest: str
    state: Literal["intended", "done"]
    content: bytes
    """As base64."""
    by: str = ""
    """Who wrote it. Told, and not heard: whose token it is says so."""


class Steps(Reply, frozen=True):
    """A flow's journal."""

    steps: tuple[FlowStep, ...]
