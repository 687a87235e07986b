"""The page of the JSON forms, out of the structs that are encoded."""

from __future__ import annotations

import types
from collections.abc import Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import msgspec

from assent.engine.ask import TRANSITIONS
from assent.hub.record import FlowStepped
from assent.protocol.answer import Answer
from assent.protocol.ask import Ask, Claim, Outcome
from assent.protocol.prompt import Field, Option, Prompt
from assent.storage.port import Step
from tools.reference_notes import NOTES
from tools.source import field_notes, first_sentence, table

__all__ = ["render_json_page"]

_SHAPES: tuple[type[msgspec.Struct], ...] = (Ask, Prompt, Field, Option, Answer, Outcome, Claim)
_SIMPLE = {str: "string", bool: "true or false", int: "number", type(None): "null", bytes: "string, base64"}


def _words(kind: Any) -> str:
    """Say a type in the words of JSON."""
    if kind in _SIMPLE:
        return _SIMPLE[kind]
    if kind is Any:
        return "any JSON"
    if hasattr(kind, "__supertype__"):
        return _words(kind.__supertype__)
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        return " or ".join(map(_words, inner))
    if origin is Literal:
        return ", ".join(f"`{value}`" for value in inner)
    if origin in (tuple, list, Sequence):
        return f"list of {_words(inner[0])}"
    if origin in (dict, Mapping):
        return f"object: name to {_words(inner[1])}"
    if isinstance(kind, type) and issubclass(kind, StrEnum):
        return ", ".join(f"`{value}`" for value in kind)
    if kind is datetime:
        return "instant"
    name = kind.__name__
    return f"[{name.lower()}](#{name.lower()})" if kind in _SHAPES else name.lower()


def _note(struct: type[msgspec.Struct], name: str) -> str:
    for cls in struct.__mro__:
        if issubclass(cls, msgspec.Struct) and cls is not msgspec.Struct and name in field_notes(cls):
            return field_notes(cls)[name]
    return NOTES[struct.__name__, name]


def _rows(struct: type[msgspec.Struct]) -> list[tuple[str, ...]]:
    hints = get_type_hints(struct)
    return [
        (f"`{field.encode_name}`", _words(hints[field.name]), _note(struct, field.name).removesuffix("."))
        for field in msgspec.structs.fields(struct)
    ]


def _events() -> list[type[msgspec.Struct]]:
    found = [event for events in TRANSITIONS.values() for event in events]
    return [*dict.fromkeys(found), FlowStepped]


def render_json_page() -> str:
    """Return the page."""
    parts = [_HEAD]
    for struct in _SHAPES:
        parts.append(f"## {struct.__name__}\n\n{first_sentence(struct)}\n")
        parts.append(table(("field", "type", "meaning"), _rows(struct)))
    parts.append(_EVENTS)
    for event in _events():
        parts.append(f"### {event.__struct_config__.tag}\n\n{first_sentence(event)}\n")
        parts.append(table(("field", "type", "meaning"), _rows(event)))
    parts.append(
        f"A `step` holds: {', '.join(f'`{name}`' for name in Step.__struct_fields__)}. Its `content` is base64.\n"
    )
    return "\n".join(parts)


_HEAD = """\
# JSON

`assent show --json`, `ask --json`, `answer --json`, `claim --json` and `withdraw --json` print one [ask](#ask).
`inbox --json` prints `{"asks": [ask, …]}`. `log --json` prints one [event](#events) a line. An error prints
`{"error": {"code", "message", "details"}}`; see [errors](errors.md).

All fields are always there. An instant is written as in `2030-01-01T09:00:00Z`, always in UTC, with six digits after
the seconds where they are not zero. Fields may be added; none is renamed or removed.

JSON that is read must have one reading: no key twice, no NaN, no number beyond 64 bits, no half of a surrogate pair.
[Settings and limits](settings.md#limits) says how large and how deep it may be.
"""

_EVENTS = """\
## Events

Each line of `assent log --json` is an object with `sequence` (number, without gaps in its project), `type`, `at`
(instant) and `data`, the fields below. `data` is null when a body was erased; the chain still holds then.
"""
