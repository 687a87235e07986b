"""A form: a prompt whose fields come from an object's JSON Schema, so that each value has a type and limits.

Rule 1: one question for each property, in their order. What can be chosen is options; everything else is typed.
Rule 2: a schema is taken whole or refused: a rule that nobody would check must not look as if somebody did. What is
        taken is flat: texts, numbers, yes or no, one of several values, a list of some of them.
Rule 3: a default is shown and never filled in. A property that is not required is left out by saying so.
Rule 4: every refusal names the place, as in `$.properties.port.pattern`.

The hub reads `Shape`s and never a schema, so this file is all that knows of JSON Schema.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from assent.protocol.answer import Values
from assent.protocol.canonical import Json, canonical
from assent.protocol.display import quote
from assent.protocol.error import BadPromptError, TooLargeError
from assent.protocol.prompt import MAX_FIELDS, MAX_OPTIONS, Field, Option, Prompt
from assent.protocol.shape import (
    EMPTY,
    NOTHING,
    Absence,
    Format,
    Scalar,
    Shape,
    ValueType,
    convert_values,
    describe_shape,
    spell,
)

__all__ = ["MAX_SCHEMA_BYTES", "form", "form_fields", "form_value", "is_form"]

MAX_SCHEMA_BYTES = 64 << 10
_MAX_HOPS = 8
"""So many references may lead to one another."""

_NOTES = frozenset(
    {"title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly", "$comment"}
)
"""What says something about a value and checks nothing."""
_ROOT = _NOTES | {
    "$schema",
    "$id",
    "$defs",
    "definitions",
    "type",
    "properties",
    "required",
    "additionalProperties",
}
_LIMITS = {
    "minimum": "minimum",
    "maximum": "maximum",
    "exclusiveMinimum": "above",
    "exclusiveMaximum": "below",
    "multipleOf": "multiple_of",
    "minLength": "least",
    "maxLength": "most",
    "minItems": "least",
    "maxItems": "most",
}
"""The keywords with a number, and what a shape calls them."""
_COUNTS = frozenset({"minLength", "maxLength", "minItems", "maxItems", "multipleOf"})
_OF_NUMBERS = frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"})
_KEYWORDS = {
    "string": frozenset({"minLength", "maxLength", "pattern", "format"}),
    "integer": _OF_NUMBERS,
    "number": _OF_NUMBERS,
    "boolean": frozenset[str](),
    "array": frozenset({"items", "minItems", "maxItems", "uniqueItems"}),
}
_ABSENT = {
    Absence.LEFT_OUT: Option(NOTHING, "(leave it out)"),
    Absence.NULL: Option(NOTHING, "(nothing)"),
}
_NONE = Option(EMPTY, "(none of them)")

_Node = Mapping[str, Any]


def form(title: str, schema: Json, *, body: str = "") -> Prompt:
    """Return the prompt that asks for an object of this schema.

    Raises:
        BadPromptError: the schema is no flat object; the sentence names the place.
        TooLargeError: it is over a limit.
    """
    fields = form_fields(schema)
    about = _resolve(schema, schema, "$").get("description", "")
    return Prompt(title, body or (about if isinstance(about, str) else ""), fields)


def form_fields(schema: Json) -> tuple[Field, ...]:
    r"""Return a field for each property of an object's schema.

    >>> port = {"type": "integer", "maximum": 65535}
    >>> form_fields({"type": "object", "properties": {"port": port}, "required": ["port"]})[0].text
    'port\nA whole number, at most 65535.'

    Raises:
        BadPromptError: the schema is no flat object; the sentence names the place.
        TooLargeError: it is over a limit.
    """
    size = len(canonical(schema))
    if size > MAX_SCHEMA_BYTES:
        raise TooLargeError(f"A schema has at most {MAX_SCHEMA_BYTES:,} bytes; this one has {size:,}.")
    root = _resolve(schema, schema, "$")
    _check_keywords(root, _ROOT, "$")
    if root.get("type") != "object":
        raise BadPromptError('$.type: a form is an object, so this is "object".')
    if not isinstance(root.get("additionalProperties", False), bool):
        raise BadPromptError("$.additionalProperties: a form has the properties that it names and no others.")
    properties = root.get("properties")
    if not isinstance(properties, Mapping) or not 1 <= len(properties) <= MAX_FIELDS:
        raise BadPromptError(f"$.properties: a form has 1 to {MAX_FIELDS} properties.")
    required = root.get("required", [])
    if not isinstance(required, Sequence) or not set(map(str, required)) <= properties.keys():
        raise BadPromptError("$.required: it is a list of names that stand in $.properties.")
    return tuple(
        _field(schema, name, property_, is_required=name in required)
        for name, property_ in properties.items()
    )


def is_form(prompt: Prompt) -> bool:
    """Whether every field of `prompt` has a shape, so that its answer is an object."""
    return all(field.shape is not msgspec.UNSET for field in prompt.fields)


def form_value(prompt: Prompt, values: Values) -> dict[str, Json]:
    """Return the object that an accepted answer to a form spells; what was left out is not in it."""
    value: dict[str, Json] = {}
    for field in prompt.fields:
        shape, given = field.shape, values[field.name]
        if shape is msgspec.UNSET:
            value[field.name] = list(given) if field.multiple else given[0]
        elif shape.absence is not Absence.LEFT_OUT or NOTHING not in given:
            value[field.name] = convert_values(shape, given)
    return value


# One property.


def _field(schema: Json, name: str, property_: object, *, is_required: bool) -> Field:
    place = f"$.properties.{quote(name)}"
    node, is_null_beside = _open_up(schema, property_, place)
    shape, is_null_in_it = _shape(schema, node, place)
    if not is_required:
        shape = msgspec.structs.replace(shape, absence=Absence.LEFT_OUT)
    elif is_null_beside or is_null_in_it:
        shape = msgspec.structs.replace(shape, absence=Absence.NULL)
    options = [_option(value) for value in shape.choices]
    if shape.type is ValueType.CHOICES and not shape.least:
        options.append(_NONE)
    if options and shape.absence is not None:
        options.append(_ABSENT[shape.absence])
    return Field(
        name,
        _text(name, node, shape),
        tuple(options),
        shape.type is ValueType.CHOICES,
        not options,
        shape=shape,
    )


def _option(value: Scalar) -> Option:
    if isinstance(value, bool):
        return Option(spell(value), "Yes" if value else "No")
    return Option(spell(value), spell(value))


def _text(name: str, node: _Node, shape: Shape) -> str:
    about = [node.get(key) for key in ("title", "description")]
    lines = [text for text in about if isinstance(text, str) and text.strip()] or [name]
    lines.append(describe_shape(shape))
    default = node.get("default")
    if default is not None:
        lines.append(f"Default: {spell(default)}")
    return "\n".join(filter(None, lines))


def _open_up(schema: Json, given: object, place: str, hops: int = _MAX_HOPS) -> tuple[_Node, bool]:
    """Return the schema that really describes a value, and whether null stands beside it.

    Types in Python become `{"anyOf": [{…}, {"type": "null"}]}` and references to `$defs`.
    """
    node = _resolve(schema, given, place)
    for keyword in ("anyOf", "oneOf", "allOf"):
        if keyword not in node:
            continue
        _check_keywords(node, _NOTES | {keyword}, place)
        parts = node[keyword] if isinstance(node[keyword], Sequence) else ()
        inner = [part for part in parts if part != {"type": "null"}]
        is_nullable = keyword != "allOf" and len(inner) == len(parts) - 1
        if len(inner) != 1 or not (is_nullable or len(parts) == 1) or hops == 0:
            raise BadPromptError(f"{place}.{keyword}: a value has one type, or one type and null.")
        notes = {key: value for key, value in node.items() if key != keyword}
        found, is_null = _open_up(schema, inner[0], f"{place}.{keyword}", hops - 1)
        return {**found, **notes}, is_nullable or is_null
    return node, False


def _resolve(schema: Json, given: object, place: str) -> _Node:
    """Return a schema in place of the reference to it; only `$defs` of the same schema are looked into."""
    node = given
    notes: dict[str, Any] = {}
    for _ in range(_MAX_HOPS):
        if not isinstance(node, Mapping):
            raise BadPromptError(f"{place}: a schema is an object.")
        if "$ref" not in node:
            return {**node, **notes}
        _check_keywords(node, _NOTES | {"$ref", "$defs", "definitions"}, place)
        notes = {**{key: value for key, value in node.items() if key in _NOTES}, **notes}
        node = _find(schema, node["$ref"], f"{place}.$ref")
    raise BadPromptError(
        f"{place}.$ref: it leads round in a circle, or through more than {_MAX_HOPS} others."
    )


def _find(schema: Json, reference: object, place: str) -> object:
    head, _, name = reference.rpartition("/") if isinstance(reference, str) else ("", "", "")
    table = schema.get(head.removeprefix("#/")) if isinstance(schema, Mapping) else None
    if head not in ("#/$defs", "#/definitions") or not isinstance(table, Mapping) or name not in table:
        raise BadPromptError(f"{place}: a reference names something in $defs of the same schema.")
    return table[name]


def _check_keywords(node: _Node, known: frozenset[str], place: str) -> None:
    for keyword in node:
        if keyword not in known and not keyword.startswith("x-"):
            raise BadPromptError(f"{place}.{quote(keyword)}: a form cannot check this here.")


def _shape(schema: Json, node: _Node, place: str) -> tuple[Shape, bool]:
    """Return the shape of one value, and whether null will do, too."""
    kind = node.get("type")
    is_nullable = False
    if isinstance(kind, Sequence) and not isinstance(kind, str):
        named = [name for name in kind if name != "null"]
        if len(named) != 1:
            raise BadPromptError(f"{place}.type: a value has one type, or one type and null.")
        is_nullable = len(named) < len(kind)
        kind = named[0]
    is_chosen = "enum" in node or "const" in node
    if is_chosen and (kind is None or kind in tuple(_TYPES)):
        shape = _choice(node, kind, place)
        # A null among the values is one only if the type, where one is named, allows it.
        return shape, None in node.get("enum", ()) and (kind is None or is_nullable)
    if kind is None:
        _check_keywords(node, _NOTES, place)
    if not isinstance(kind, str) or kind not in _KEYWORDS:
        raise BadPromptError(f"{place}.type: it is one of {', '.join(_KEYWORDS)}.")
    _check_keywords(node, _NOTES | _KEYWORDS[kind] | {"type"}, place)
    limits = _limits(node, place)
    if kind == "boolean":
        return Shape(ValueType.CHOICE, (True, False)), is_nullable
    if kind == "array":
        return _list(schema, node, limits, place), is_nullable
    pattern = node.get("pattern")
    if pattern is not None and not isinstance(pattern, str):
        raise BadPromptError(f"{place}.pattern: it is a text.")
    return Shape(ValueType(kind), pattern=pattern, format=_format(node, place), **limits), is_nullable


def _limits(node: _Node, place: str) -> dict[str, Any]:
    limits = {}
    for keyword, limit in node.items():
        if keyword not in _LIMITS:
            continue
        is_number = isinstance(limit, int | float) and not isinstance(limit, bool)
        if not is_number or (keyword in _COUNTS and (limit != int(limit) or limit < 0)):
            kind = "whole number" if keyword in _COUNTS else "number"
            raise BadPromptError(f"{place}.{keyword}: it is a {kind}.")
        limits[_LIMITS[keyword]] = int(limit) if keyword in _COUNTS else limit
    return limits


def _format(node: _Node, place: str) -> Format | None:
    name = node.get("format")
    if name is None:
        return None
    if name not in tuple(Format):
        raise BadPromptError(f"{place}.format: it is one of {', '.join(Format)}.")
    return Format(name)


_TYPES: dict[str | None, type | tuple[type, ...]] = {
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
}


def _choice(node: _Node, kind: str | None, place: str) -> Shape:
    _check_keywords(node, _NOTES | {"type", "enum", "const"}, place)
    keyword = "enum" if "enum" in node else "const"
    if "enum" in node and "const" in node:
        raise BadPromptError(f"{place}.const: there is an enum, too.")
    values = node["enum"] if keyword == "enum" else [node["const"]]
    place = f"{place}.{keyword}"
    if not isinstance(values, Sequence) or isinstance(values, str):
        raise BadPromptError(f"{place}: it is a list of values.")
    chosen = tuple(value for value in values if value is not None)
    if not 1 <= len(chosen) <= MAX_OPTIONS:
        raise BadPromptError(f"{place}: there are 1 to {MAX_OPTIONS} values to choose from.")
    for value in chosen:
        is_typed = isinstance(value, _TYPES.get(kind, (str, int, float, bool)))
        if not is_typed or (isinstance(value, bool) and kind not in (None, "boolean")):
            raise BadPromptError(
                f"{place}: {quote(spell(value))} is no {quote(str(kind or 'simple value'))}."
            )
        if spell(value) in (NOTHING, EMPTY):
            raise BadPromptError(f"{place}: {spell(value)} is how a person leaves something out.")
    return Shape(ValueType.CHOICE, chosen)


def _list(schema: Json, node: _Node, limits: dict[str, Any], place: str) -> Shape:
    inner = f"{place}.items"
    entry, is_null_beside = _open_up(schema, node.get("items"), inner)
    is_chosen = "enum" in entry or "const" in entry
    shape, is_null_in_it = _shape(schema, entry, inner) if is_chosen else (None, False)
    if shape is None or is_null_beside or is_null_in_it:
        raise BadPromptError(f"{inner}: a list in a form is one of values to choose from (enum).")
    return msgspec.structs.replace(shape, type=ValueType.CHOICES, **limits)
