"""What can happen on `loop:control`: events, as the log keeps them. Those with a `message` are on the topic."""

from __future__ import annotations

from datetime import datetime

import msgspec

from assent.protocol.control import ControlMessage, ControlRequest

__all__ = [
    "ControlAcknowledged",
    "ControlEvent",
    "ControlExpired",
    "ControlMalformed",
    "ControlRepeated",
    "ControlReplied",
    "ControlRequested",
    "ControlResolved",
]


class ControlRequested(msgspec.Struct, frozen=True, tag="control.requested"):
    """A REQUEST lies in the topic."""

    request: ControlRequest
    digest: str
    at: datetime
    by: str
    message: msgspec.Raw
    """As it was posted."""


class _Reply(msgspec.Struct, frozen=True):
    request_id: str
    message: ControlMessage


class ControlAcknowledged(_Reply, frozen=True, tag="control.acknowledged"):
    """It was received, and nothing has been done yet."""


class ControlResolved(_Reply, frozen=True, tag="control.resolved"):
    """Its one RESULT."""


class ControlExpired(msgspec.Struct, frozen=True, tag="control.expired"):
    """Nobody took it up in time. Not on the topic: it gets no reply."""

    request_id: str
    at: datetime


class ControlRepeated(msgspec.Struct, frozen=True, tag="control.repeated"):
    """A message that begins nothing: a known id again, or nothing that anybody could execute."""

    at: datetime
    by: str
    message: msgspec.Raw


class ControlReplied(_Reply, frozen=True, tag="control.replied"):
    """The RESULT for such a message; what is known of its id stays as it is."""


class ControlMalformed(msgspec.Struct, frozen=True, tag="control.malformed"):
    """Something was posted that nobody could be answered for. Not on the topic (I-X10)."""

    at: datetime
    by: str
    problem: str
    text: str


ControlEvent = (
    ControlRequested
    | ControlAcknowledged
    | ControlResolved
    | ControlExpired
    | ControlRepeated
    | ControlReplied
    | ControlMalformed
)
