"""Tables of what a struct holds: its fields as JSON spells them, their types, defaults, meanings and limits."""

from __future__ import annotations

import re
import types
from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import msgspec

from tools.source import field_notes, first_sentence, table

__all__ = ["Notes", "list_values", "note_of", "render_shape"]

Notes = Mapping[tuple[str, str], str]
"""By struct and field: a sentence for what the code does not say beside the field."""

_SIMPLE = {str: "string", bool: "true or false", int: "number", type(None): "null"}
_PATTERNS = {
    r"^(?!\.{1,2}$)[A-Za-z0-9_.-]{1,100}(?!\n)$": "1 to 100 letters, digits, `.`, `_` and `-`",
    r"^[0-9a-f]{7,64}(?!\n)$": "7 to 64 digits of a commit's hash, in lower case",
    r"^[^\r\n]*(?!\n)$": "on one line",
    r"^[^\x00-\x1f]*(?!\n)$": "without control characters",
}
"""What a pattern means; one that is missing here fails the page, and not the reader."""

_EnumWords = Callable[[type[StrEnum]], str]


def list_values(kind: type[StrEnum]) -> str:
    """Return the values of an enum, as code."""
    return ", ".join(f"`{value}`" for value in kind)


def note_of(struct: type[msgspec.Struct], name: str, notes: Notes) -> str:
    """Return what a field means."""
    told = notes.get((struct.__name__, name)) or field_notes(struct).get(name)
    if told is None:
        raise KeyError(f"{struct.__name__}.{name} says nowhere what it is.")
    return told.removesuffix(".")


def render_shape(
    struct: type[msgspec.Struct], notes: Notes, title: str = "", enum_words: _EnumWords = list_values
) -> str:
    """Return a part of a page about a struct: heading, first sentence, fields."""
    hints = get_type_hints(struct, include_extras=True)
    rows = []
    for field in msgspec.structs.fields(struct):
        hint = hints[field.name]
        note = note_of(struct, field.name, notes)
        words = _words(hint, enum_words)
        rows.append((f"`{field.encode_name}`", words, _default(field), note, _limits(hint)))
    heading = title or _title(struct).capitalize()
    head = ("field", "type", "default", "meaning", "limits")
    return f"### {heading}\n\n{first_sentence(struct)}\n\n{table(head, rows)}"


def _words(kind: Any, enum_words: _EnumWords) -> str:
    if kind in _SIMPLE:
        return _SIMPLE[kind]
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return _words(inner[0], enum_words)
    if origin in (Union, types.UnionType):
        return " or ".join(_words(part, enum_words) for part in inner if part is not type(None))
    if origin is Literal:
        return ", ".join(f"`{value}`" for value in inner)
    if origin is tuple:
        return f"list of {_words(inner[0], enum_words)}"
    if issubclass(kind, StrEnum):
        return enum_words(kind)
    return f"[{_title(kind)}](#{_title(kind).replace(' ', '-')})"


def _title(struct: type) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", struct.__name__).lower()


def _limits(kind: Any) -> str:
    """Say what an annotation allows."""
    if get_origin(kind) in (Union, types.UnionType, tuple):
        return "; ".join(filter(None, (_limits(part) for part in get_args(kind))))
    if get_origin(kind) is not Annotated:
        return ""
    inner, *metas = get_args(kind)
    is_list = get_origin(inner) is tuple
    told = [_limits(inner)] if is_list else []
    lengths = [meta for meta in metas if meta.min_length is not None or meta.max_length is not None]
    if lengths:
        least = max(meta.min_length or 0 for meta in lengths)
        most = min(meta.max_length for meta in lengths if meta.max_length is not None)
        noun = "entries" if is_list else "characters"
        told.append(f"{least} to {most:,} {noun}")
    for meta in metas:
        if meta.pattern is not None:
            told.insert(0, _PATTERNS[meta.pattern])
        if meta.multiple_of is not None:
            told.append(", ".join(str(step) for step in range(meta.ge, meta.le + 1, meta.multiple_of)))
        elif meta.ge is not None:
            told.append(f"{meta.ge:,} to {meta.le:,}")
    return ", ".join(filter(None, told))


def _default(field: msgspec.structs.FieldInfo) -> str:
    if field.required:
        return "needed"
    value = field.default
    if isinstance(value, bool):
        return "`true`" if value else "`false`"
    return f"`{value}`" if value not in (None, "", (), msgspec.NODEFAULT) else ""
