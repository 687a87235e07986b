"""Events as the log keeps them: the exact bytes that were hashed, and back."""

from __future__ import annotations

import msgspec

from assent.engine.ask import Event
from assent.protocol.error import StoreDamagedError
from assent.storage.port import Hold, Reader, Record, Step

__all__ = [
    "FlowStepped",
    "Hold",
    "Reader",
    "Record",
    "Recorded",
    "Step",
    "decode_event",
    "encode_event",
    "type_of",
]


class FlowStepped(msgspec.Struct, frozen=True, tag="flow.stepped"):
    """A durable flow's journal has a new entry, or an intended one is done."""

    step: Step


Recorded = Event | FlowStepped

_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(Recorded)


def encode_event(event: Recorded) -> bytes:
    """Return the bytes of `event` for the log."""
    return _encoder.encode(event)


def decode_event(body: bytes) -> Recorded:
    """Return the event that the log's bytes hold."""
    try:
        event: Recorded = _decoder.decode(body)
    except msgspec.DecodeError as error:
        raise StoreDamagedError(f"An event of the log cannot be read: {error}.") from error
    return event


def type_of(event: Recorded) -> str:
    """Return the type of `event` on the wire."""
    return str(type(event).__struct_config__.tag)
