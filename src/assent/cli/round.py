"""A prompt from a JSON file: a round of questions, with options as plain texts or in full.

What the file says of itself holds: its protocol, its label for words of one's own, its most in a round. What it leaves
open is taken from the command.
"""

from __future__ import annotations

import msgspec
from msgspec.structs import replace

from assent.cli.json_file import read_json_file
from assent.flows.question import MOST_IN_A_ROUND
from assent.protocol.canonical import Json, convert, parse_json
from assent.protocol.catalogue import check_protocol, find_protocol
from assent.protocol.error import BadPromptError
from assent.protocol.prompt import Field, Option, Prompt, label_other

__all__ = ["Round", "Wishes", "parse_round", "read_round"]


class Wishes(msgspec.Struct, frozen=True):
    """What a command says about a round, for what its file leaves open."""

    title: str | None = None
    protocol: str | None = None
    """The id of the protocol that it is asked by; the file may not name another."""
    other: str = ""
    """The label for words of one's own."""
    most: int | None = None
    """So many in one round; before what the file says."""


class Round(msgspec.Struct, frozen=True):
    """What is to be asked, and in how many goes."""

    prompt: Prompt
    most: int = MOST_IN_A_ROUND


_NO_WISHES = Wishes()


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
    other: str = ""


class _Round(msgspec.Struct, forbid_unknown_fields=True):
    fields: list[_Field]
    title: str | None = None
    body: str = ""
    action: Json = None
    risk: str | None = None
    commands: list[str] = []
    protocol: str | None = None
    other: str = ""
    most: int = MOST_IN_A_ROUND


def read_round(place: str, wishes: Wishes = _NO_WISHES) -> Round:
    """Return the round in the file at `place`, or on standard input for `-`.

    Raises:
        BadRequestError: it cannot be read, or is no prompt; the sentence names the place.
    """
    return read_json_file(place, lambda text: parse_round(text, wishes))


def parse_round(text: bytes, wishes: Wishes = _NO_WISHES) -> Round:
    """Return the round that a JSON text spells.

    Raises:
        BadRequestError: it is no prompt, or not by its protocol; the sentence names the place.
    """
    found = convert(parse_json(text), _Round)
    shown = found.title or wishes.title
    if not shown:
        raise BadPromptError("$.title is missing.")
    if wishes.title is not None and found.title not in (None, wishes.title):
        raise BadPromptError("$.title is there, so leave the text out of the command.")
    if wishes.protocol is not None and found.protocol not in (None, wishes.protocol):
        raise BadPromptError("$.protocol is another one than that of the command.")
    protocol_id = found.protocol or wishes.protocol
    protocol = None if protocol_id is None else find_protocol(protocol_id)
    fields = [
        _field(field, number, None if protocol is None else protocol.is_free)
        for number, field in enumerate(found.fields, 1)
    ]
    # The file's own label was meant for its questions; the command's is for those that have the place for it.
    labelled = tuple(label_other(field, found.other or wishes.other) for field in fields)
    prompt = Prompt(shown, found.body, labelled, found.action, found.risk, tuple(found.commands))
    most = found.most if wishes.most is None else wishes.most
    if protocol_id is not None:
        check_protocol(protocol_id, prompt, max(most, len(fields)))
    return Round(prompt, most)


def _field(field: _Field, number: int, is_free: bool | None) -> Field:
    options = tuple(_option(option) for option in field.options)
    if is_free is None:
        is_free = not options
    asked = Field(
        field.name or f"q{number}",
        field.text,
        options,
        field.multiple,
        is_free if field.free is None else field.free,
    )
    return replace(asked, other=field.other) if field.other else asked


def _option(option: str | _Option) -> Option:
    if isinstance(option, str):
        return Option(option, option)
    key = option.label if option.key is None else option.key
    return Option(key, option.label, option.recommended, option.destructive, option.description)
