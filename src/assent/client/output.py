"""A piece of a run's output on its way to the store."""

from __future__ import annotations

import msgspec

from assent.hub.ids import new_command_id
from assent.protocol.tail import MAX_TAIL_BYTES, cut_front, encode_output

__all__ = ["Output", "pack_output"]


class Output(msgspec.Struct, frozen=True):
    """What is handed on at once; under one id, so that it is kept once however often it is sent."""

    text: bytes
    skipped: int
    command_id: str


def pack_output(text: str | bytes, skipped: int = 0) -> Output:
    """Return a text as it is handed on: of a long one the end, with `skipped` and what was cut off counted."""
    encoded = encode_output(text)
    kept = cut_front(encoded, MAX_TAIL_BYTES)
    return Output(kept, skipped + len(encoded) - len(kept), new_command_id())
