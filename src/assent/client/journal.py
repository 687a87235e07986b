"""A flow's journal as it is kept: what its entries hold.

    step 0       Opened: kind, version and inputs
    step 1, …    one for each thing that the flow yielded, under its digest: Settled with the result;
                 an effect stands there as Intended first
    last step    Returned: what the flow returned

A flow gets everything as the journal gives it back, also the first time, so that a first run never knows more, or in
another order, than a resumed one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypeVar

import msgspec

from assent.effects.performer import Intention
from assent.flows.kind import FlowKind
from assent.flows.step import Result
from assent.hub.record import Step
from assent.protocol.canonical import Json, canonical, convert, digest
from assent.protocol.error import BadRequestError, FlowDivergedError, StoreDamagedError

__all__ = [
    "Entry",
    "Intended",
    "Opened",
    "Returned",
    "Settled",
    "decode_entry",
    "end_of",
    "make_step",
    "read_back",
    "render_opened",
    "render_returned",
]

T = TypeVar("T")


class Opened(msgspec.Struct, frozen=True, tag="opened"):
    """The flow began."""

    kind: str
    version: int
    inputs: Json


class Intended(msgspec.Struct, frozen=True, tag="intended"):
    """An effect is about to be performed."""

    intention: Intention


class Settled(msgspec.Struct, frozen=True, tag="settled"):
    """What the flow yielded has happened."""

    result: Result


class Returned(msgspec.Struct, frozen=True, tag="returned"):
    """The flow is over."""

    value: Json


Entry = Opened | Intended | Settled | Returned
E = TypeVar("E", bound=Entry)

_decoder = msgspec.json.Decoder(Entry)


def render_opened(kind: FlowKind[T, Any], inputs: T) -> Opened:
    """Return the first entry of a flow."""
    return Opened(kind.name, kind.version, msgspec.to_builtins(inputs))


def render_returned(value: object) -> Returned:
    """Return the last entry of a flow."""
    return Returned(msgspec.to_builtins(value))


def make_step(flow_id: str, number: int, entry: Entry, yielded: str | None = None) -> Step:
    """Return `entry` as the store keeps it, under the digest of what was yielded or, without that, its own."""
    content = canonical(entry)
    state: Literal["intended", "done"] = "intended" if isinstance(entry, Intended) else "done"
    return Step(flow_id, number, yielded or digest(content), state, content)


def decode_entry(step: Step, kind: type[E]) -> E:
    """Return what an entry holds, which must be of this kind.

    Raises:
        StoreDamagedError: it is not, or cannot be read.
    """
    entry = _decode(step)
    if not isinstance(entry, kind):
        raise StoreDamagedError(f"Step {step.step} of {step.flow_id} is out of place in its journal.")
    return entry


def end_of(journal: Sequence[Step]) -> Returned | None:
    """Return the last entry if the flow is over."""
    entry = _decode(journal[-1]) if journal else None
    return entry if isinstance(entry, Returned) else None


def _decode(step: Step) -> Entry:
    try:
        entry: Entry = _decoder.decode(step.content)
    except msgspec.DecodeError as error:
        raise StoreDamagedError(f"Step {step.step} of {step.flow_id} cannot be read: {error}.") from error
    return entry


def read_back(value: Json, kind: type[T], flow_id: str) -> T:
    """Return a kept value in the type that the flow's kind declares.

    Raises:
        FlowDivergedError: the type was changed, and the version was not.
    """
    try:
        return convert(value, kind)
    except BadRequestError as error:
        raise FlowDivergedError(
            f"What the journal of {flow_id} holds no longer fits: {error.message}"
        ) from None
