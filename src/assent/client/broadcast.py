"""An event as it is broadcast: the text that goes out to whoever follows a project, and what that text looks like.

Rule 1: the text has no line break, whatever an agent wrote, not even one that only some readers take for one. So a
        stream whose frames are lines can carry it as it is.
Rule 2: nothing goes out by which a credential could be recognised, nor whereto it reaches beyond this project.
Rule 3: what is described is what is told: both come from here.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple, get_args

import msgspec
from msgspec.structs import replace

from assent.client.door import run_call, until
from assent.client.embedded import EmbeddedDoor
from assent.hub.desk import instant
from assent.hub.record import Record, Recorded
from assent.protocol.notification import (
    Notification,
    ResolvedBody,
    as_added,
    render_added,
    render_resolved,
)
from assent.protocol.wire_record import Event

__all__ = ["NOTHING", "Told", "describe_events", "render_event"]

NOTHING = b"null"
"""What is told of an event whose body was erased."""

_ADDED, _RESOLVED = "notification.added", "notification.resolved"
_NOTIFICATIONS: dict[str, Any] = {_ADDED: Notification, _RESOLVED: ResolvedBody}
"""What is told in a form of its own, which the protocol fixes (Q-U5); all others go out as the log has them."""
_HIDDEN = frozenset({"type", "command_id", "commandId", "digest"})
"""What is no business of a listener: the type stands beside the data, the rest is the record's own."""
_HIDDEN_OF_TOKEN = _HIDDEN | {"projects"}
_BREAKS = bytes.maketrans(b"\r\n", b"  ")
"""In JSON they can only stand between its parts, where a space does as well."""
_RARE_BREAKS = {ord(sign): f"\\u{ord(sign):04x}" for sign in "\x85\u2028\u2029"}
"""These can only stand inside of its texts, where they can be written like this."""

_encoder = msgspec.json.Encoder()
_parts = msgspec.json.Decoder(dict[str, msgspec.Raw])
"""Each part is left as it is: a number of a thousand digits is none of our business."""


class Told(NamedTuple):
    """An event, ready to go out."""

    sequence: int
    type: str
    text: str


def render_event(door: EmbeddedDoor, record: Record) -> Told:
    """Return an event as it is broadcast.

    Raises:
        AssentError: the store cannot be read just now.
    """
    data = NOTHING if record.body is None else _data(door, record, record.body)
    event = Event(record.sequence, record.type, instant(record.at), msgspec.Raw(data))
    text = _encoder.encode(event).translate(_BREAKS).decode()
    return Told(record.sequence, record.type, text if text.isascii() else text.translate(_RARE_BREAKS))


def _data(door: EmbeddedDoor, record: Record, body: bytes) -> bytes:
    if record.type in _NOTIFICATIONS:
        found = run_call(until(door.notification(record.project, record.subject)))
        if found is None:
            return NOTHING
        if record.type == _RESOLVED:
            return render_resolved(found)
        # As it was then: it may have been resolved meanwhile.
        return render_added(replace(as_added(found), sequence=record.sequence))
    try:
        body.decode()  # the parts stay unread, so bytes that are no text would pass
        parts = _parts.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return NOTHING  # a damaged log is the audit's to report; whoever follows goes on behind it
    hidden = _hidden(record.type)
    return _encoder.encode({name: part for name, part in parts.items() if name not in hidden})


def _hidden(event_type: str) -> frozenset[str]:
    return _HIDDEN_OF_TOKEN if event_type.startswith("token.") else _HIDDEN


@cache
def describe_events(ref_template: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the JSON schema of each type's data, by type, and of all that those refer to, by name."""
    kinds = {str(kind.__struct_config__.tag): kind for kind in get_args(Recorded)} | _NOTIFICATIONS
    refs, components = msgspec.json.schema_components(kinds.values(), ref_template=ref_template)
    told: dict[str, Any] = {}
    for event_type, ref in zip(kinds, refs, strict=True):
        if event_type in _NOTIFICATIONS:
            told[event_type] = ref
            continue
        whole, hidden = components.pop(ref["$ref"].rsplit("/", 1)[-1]), _hidden(event_type)
        told[event_type] = whole | {
            "properties": {name: part for name, part in whole["properties"].items() if name not in hidden},
            "required": [name for name in whole["required"] if name not in hidden],
        }
    return dict(sorted(told.items())), components
