"""Events as the log keeps them: the exact bytes that were hashed, and back."""

from __future__ import annotations

from datetime import datetime
from typing import get_args

import msgspec

from assent.engine.ask import Event
from assent.engine.control import ControlEvent, ControlExpired, ControlMalformed
from assent.engine.notification import NotificationEvent
from assent.engine.policy import PolicySet
from assent.engine.receipt import ReceiptEvent
from assent.engine.run import RunEvent, TurnEnded
from assent.engine.target import TargetEvent
from assent.engine.task import TaskEvent
from assent.engine.token import TokenEvent
from assent.protocol.error import StoreDamagedError
from assent.protocol.topic import CONTROL_TOPIC, CURRENT_TOPIC
from assent.storage.port import Hold, Page, Reader, Record, Step, Waits

__all__ = [
    "RESTORED_TOPIC",
    "FlowStepped",
    "Hold",
    "Page",
    "Reader",
    "Record",
    "Recorded",
    "RestoredFrom",
    "Step",
    "StoreRestored",
    "TopicPosted",
    "Waits",
    "decode_event",
    "encode_event",
    "topic_of",
    "type_of",
]


RESTORED_TOPIC = "store:restored"
"""Where a project's restores are found; nobody posts there."""


class FlowStepped(msgspec.Struct, frozen=True, tag="flow.stepped"):
    """A durable flow's journal has a new entry, or an intended one is done."""

    step: Step


class TopicPosted(msgspec.Struct, frozen=True, tag="topic.posted", omit_defaults=True):
    """Somebody put a message into a topic."""

    topic: str
    at: datetime
    by: str
    message: msgspec.Raw
    is_copy: bool = False
    """Assent put an answer into the chat of its task. Nobody can post this: it stands beside the message."""


class RestoredFrom(msgspec.Struct, frozen=True):
    """Where the backup ended: everything behind it is of another life of the store."""

    sequence: int
    hash: str


class StoreRestored(msgspec.Struct, frozen=True, tag="store.restored"):
    """The project was restored from a backup. What was approved, asked of a run or signed in before is void."""

    at: datetime
    by: str
    message: RestoredFrom


Recorded = (
    Event
    | RunEvent
    | ControlEvent
    | NotificationEvent
    | TaskEvent
    | PolicySet
    | TokenEvent
    | ReceiptEvent
    | TargetEvent
    | FlowStepped
    | TopicPosted
    | StoreRestored
)

_TOPICS: dict[type[Recorded], str] = {
    **dict.fromkeys(set(get_args(ControlEvent)) - {ControlExpired, ControlMalformed}, CONTROL_TOPIC),
    **dict.fromkeys(set(get_args(RunEvent)) - {TurnEnded}, CURRENT_TOPIC),
    StoreRestored: RESTORED_TOPIC,
}
"""Which topic shows an event; the others are only in the log."""

_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(Recorded)


def encode_event(event: Recorded) -> bytes:
    """Return the bytes of `event` for the log."""
    return _encoder.encode(event)


def decode_event(body: bytes) -> Recorded:
    """Return the event that the log's bytes hold."""
    try:
        event: Recorded = _decoder.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:  # the latter of bytes that are no text
        raise StoreDamagedError(f"An event of the log cannot be read: {error}.") from error
    return event


def type_of(event: Recorded) -> str:
    """Return the type of `event` on the wire."""
    return str(type(event).__struct_config__.tag)


def topic_of(event: Recorded) -> str | None:
    """Return the topic that shows `event`, if any does."""
    return event.topic if isinstance(event, TopicPosted) else _TOPICS.get(type(event))
