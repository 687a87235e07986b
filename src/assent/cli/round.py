"""A prompt from a JSON file: a round of questions, with options as plain texts or in full."""

from __future__ import annotations

import sys
from pathlib import Path

import msgspec

from assent.protocol.canonical import Json, convert, parse_json
from assent.protocol.error import BadPromptError, BadRequestError
from assent.protocol.json_text import MAX_JSON_BYTES
from assent.protocol.prompt import Field, Option, Prompt

__all__ = ["parse_round", "read_round"]


class _Option(msgspec.Struct, forbid_unknown_fields=True):
    label: str
    key: str | None = None
    recommended: bool = False
    destructive: bool = False
    description: str = ""


class _Field(msgspec.Struct, forbid_unknown_fields=True):
    name: str | None = None
    text: str = ""
    options: list[str | _Option] = []
    multiple: bool = False
    free: bool | None = None


class _Round(msgspec.Struct, forbid_unknown_fields=True):
    fields: list[_Field]
    title: str | None = None
    body: str = ""
    action: Json = None
    risk: str | None = None
    commands: list[str] = []


def read_round(place: str, title: str | None) -> Prompt:
    """Return the prompt in the file at `place`, or on standard input for `-`.

    Raises:
        BadRequestError: it cannot be read, or is no prompt; the sentence names the place.
    """
    try:
        if place == "-":
            text = sys.stdin.buffer.read(MAX_JSON_BYTES + 1)
        else:
            with Path(place).open("rb") as file:
                text = file.read(MAX_JSON_BYTES + 1)
    except OSError as error:
        raise BadRequestError(f"{place} cannot be read: {error.strerror}.") from None
    name = "Standard input" if place == "-" else place
    try:
        return parse_round(text, title)
    except BadRequestError as error:
        raise type(error)(f"{name}: {error.message}") from None


def parse_round(text: bytes, title: str | None = None) -> Prompt:
    """Return the prompt that a JSON text spells; `title` stands in where it has none.

    Raises:
        BadRequestError: it is no prompt; the sentence names the place.
    """
    found = convert(parse_json(text), _Round)
    shown = found.title or title
    if not shown:
        raise BadPromptError("$.title is missing.")
    if title is not None and found.title not in (None, title):
        raise BadPromptError("$.title is there, so leave the text out of the command.")
    fields = tuple(_field(field, number) for number, field in enumerate(found.fields, 1))
    return Prompt(shown, found.body, fields, found.action, found.risk, tuple(found.commands))


def _field(field: _Field, number: int) -> Field:
    options = tuple(_option(option) for option in field.options)
    is_free = not options if field.free is None else field.free
    return Field(field.name or f"q{number}", field.text, options, field.multiple, is_free)


def _option(option: str | _Option) -> Option:
    if isinstance(option, str):
        return Option(option, option)
    key = option.label if option.key is None else option.key
    return Option(key, option.label, option.recommended, option.destructive, option.description)
