"""Forms that a host carries for somebody else (MCP and ACP elicitation), as a prompt of ours and back.

What a person sends is checked by the hub as any form is, so that the host gets an object of its own schema. A form that
cannot be shown whole is refused, and never shown in part.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from assent.protocol.ask import Ask
from assent.protocol.canonical import Json
from assent.protocol.display import is_blank, quote
from assent.protocol.error import BadPromptError, TooLargeError
from assent.protocol.form import form, form_value
from assent.protocol.prompt import MAX_LABEL, MAX_TITLE, Field, Option, Prompt, check_prompt
from assent.protocol.shape import EMPTY, NOTHING, Absence, Scalar, Shape, spell

__all__ = ["HostForm", "headline", "host_form"]

_NOTHING_SAID = "(no text)"
_Node = dict[str, Any]
_Names = dict[str, str]
"""What people read, by the value that it stands for."""


def headline(text: str, body: str = "") -> tuple[str, str]:
    """Return a title of one line that fits, and a body that holds what does not.

    >>> headline("Which?")
    ('Which?', '')
    """
    told = _NOTHING_SAID if is_blank(text) else text.strip()
    first = told.split("\n", 1)[0].strip()
    title = first if len(first) <= MAX_TITLE else first[: MAX_TITLE - 1] + "…"
    if title == told:
        return title, body
    return title, f"{told}\n\n{body}" if body else told


class HostForm(msgspec.Struct, frozen=True):
    """A form as people are asked, and what its answer means to the host."""

    prompt: Prompt
    numbered: dict[str, tuple[Scalar, ...]]
    """The values of those properties that are shown by number, as nobody could tell or type them otherwise."""

    def content(self, ask: Ask) -> dict[str, Json] | None:
        """Return the object that was answered; None where the ask has no answer."""
        if ask.answer is None:
            return None
        content = form_value(ask.prompt, ask.answer.values)
        for name, values in self.numbered.items():
            chosen = content.pop(name)
            keys = chosen if isinstance(chosen, list) else [chosen]
            if NOTHING not in keys:
                found: list[Json] = [values[int(str(key)) - 1] for key in keys if key != EMPTY]
                content[name] = found if isinstance(chosen, list) else found[0]
        return content


def host_form(message: str, schema: object, *, body: str = "") -> HostForm:
    """Return the form that asks for an object of `schema`; titles of its values are what people read.

    Raises:
        BadPromptError: it is no flat object; the sentence names the place.
        TooLargeError: it is over a limit.
    """
    try:
        # Through JSON once: what a host sends is read as it would be written, and nothing of the host's own stays.
        given: Json = msgspec.json.decode(msgspec.json.encode(schema))
    except (TypeError, ValueError, RecursionError, msgspec.MsgspecError):
        raise BadPromptError("The form is no JSON Schema.") from None
    if not isinstance(given, Mapping):
        raise BadPromptError("The form is no JSON Schema.")
    plain, names = _without_titles(given)
    title, body = headline(message, body)
    prompt = form(title, plain, body=body)
    fields, numbered = [], {}
    for field in prompt.fields:
        named = _named(field, names.get(field.name, {}))
        if not _is_askable(named) and not isinstance(field.shape, msgspec.UnsetType):
            named = _numbered(field, field.shape, names.get(field.name, {}))
            numbered[field.name] = field.shape.choices
        fields.append(named)
    prompt = msgspec.structs.replace(prompt, fields=tuple(fields))
    check_prompt(prompt)
    return HostForm(prompt, numbered)


def _without_titles(schema: Mapping[str, Any]) -> tuple[_Node, dict[str, _Names]]:
    """Return the schema with plain enums, and the titles that its values had, by property."""
    root, names = _present(schema), {}
    properties = root.get("properties")
    if isinstance(properties, Mapping):
        plain = {}
        for name, node in properties.items():
            plain[name], names[name] = _plain_property(node)
        root["properties"] = plain
    return root, names


def _plain_property(node: object) -> tuple[object, _Names]:
    if not isinstance(node, Mapping):
        return node, {}
    made = _present(node)
    labels = made.pop("enumNames", None)
    values = made.get("enum")
    if isinstance(labels, Sequence) and isinstance(values, Sequence) and len(labels) == len(values):
        return made, {spell(value): str(label) for value, label in zip(values, labels, strict=True)}
    titled = _titled(made.get("oneOf"))
    if titled is not None:
        del made["oneOf"]
        return {**made, "enum": list(titled)}, _labels(titled)
    entries = made.get("items")
    if isinstance(entries, Mapping):
        inner = _present(entries)
        keyword = "anyOf" if "anyOf" in inner else "oneOf"
        titled = _titled(inner.get(keyword))
        if titled is not None:
            del inner[keyword]
            inner["enum"] = list(titled)
            return {**made, "items": inner}, _labels(titled)
        made["items"] = inner
    return made, {}


def _present(node: Mapping[str, Any]) -> _Node:
    """Return the node without what is null or its reader's own: some libraries write all that a schema could have."""
    return {key: value for key, value in node.items() if value is not None and key != "_meta"}


def _titled(given: object) -> dict[Any, str] | None:
    if not isinstance(given, Sequence) or isinstance(given, str) or not given:
        return None
    titled: dict[Any, str] = {}
    for entry in given:
        if not isinstance(entry, Mapping) or not isinstance(entry.get("const"), str | int | float):
            return None
        if set(_present(entry)) - {"const", "title", "description"}:
            return None  # a rule that nobody would check
        titled[entry["const"]] = str(entry.get("title") or "")
    return titled


def _labels(titled: dict[Any, str]) -> _Names:
    return {spell(value): label for value, label in titled.items()}


def _named(field: Field, names: _Names) -> Field:
    """Return the field with titles as labels, if people can tell those apart."""
    options = tuple(
        Option(option.key, names[option.key]) if not is_blank(names.get(option.key, "")) else option
        for option in field.options
    )
    named = msgspec.structs.replace(field, options=options)
    if _is_askable(named):
        return named
    beside = tuple(
        Option(option.key, option.key, description=names.get(option.key, ""))
        if option.key in names
        else option
        for option in field.options
    )
    return msgspec.structs.replace(field, options=beside)


def _numbered(field: Field, shape: Shape, names: _Names) -> Field:
    """Return the field with its choices by number, as a plain question; it has no other rule that would be lost.

    Raises:
        BadPromptError: it has.
    """
    if shape.absence is Absence.NULL or shape.most is not None or (shape.least or 0) > 1:
        raise BadPromptError(f'The values of "{quote(field.name)}" cannot be told apart.')
    labels = [names.get(spell(value)) or spell(value) for value in shape.choices]
    options = [Option(str(place), f"{place}. {label}"[:MAX_LABEL]) for place, label in enumerate(labels, 1)]
    options += [option for option in field.options if option.key in {NOTHING, EMPTY}]
    return Field(field.name, field.text, tuple(options), field.multiple)


def _is_askable(field: Field) -> bool:
    try:
        check_prompt(Prompt("?", fields=(field,)))
    except (BadPromptError, TooLargeError):
        return False
    return True
