"""An answer: a reply that was understood and fits its prompt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

import msgspec

from assent.protocol.error import UnrecognisedError
from assent.protocol.principal import Assurance
from assent.protocol.prompt import Field, Prompt

__all__ = ["Answer", "FieldValues", "Values", "check_values", "labels"]

FieldValues = dict[str, tuple[str, ...]]
Values = Mapping[str, Sequence[str]]
"""Per field name: the keys of the chosen options, or the typed text where the field is free."""


class Answer(msgspec.Struct, frozen=True):
    """What was answered, by whom, and from where."""

    values: FieldValues
    """Per field name: option keys, or typed text where the field is free."""
    text: str
    """The reply as it was typed; empty when the values came ready-made."""
    by: str
    """The principal, `human:ana`."""
    via: str
    """The surface: `terminal`, `cli`, `python`, …"""
    assurance: Assurance
    at: datetime
    command_id: str = ""
    """The command that gave it: a retry of it gets the same reply."""


def check_values(prompt: Prompt, values: Values) -> FieldValues:
    """Return `values` in the prompt's order if they answer every field, and nothing else.

    Raises:
        UnrecognisedError: a field is missing, unknown, or holds what it does not offer.
    """
    for name in values:
        if not any(field.name == name for field in prompt.fields):
            raise UnrecognisedError(f'There is no question "{name}" here.')
    return {field.name: _check_field(field, values.get(field.name, ())) for field in prompt.fields}


def _check_field(field: Field, given: Sequence[str]) -> tuple[str, ...]:
    if isinstance(given, str) or not given:
        raise UnrecognisedError(f'There is no answer to "{field.name}".')
    if len(given) > 1 and not field.multiple:
        raise UnrecognisedError(f'"{field.name}" takes one answer, not {len(given)}.')
    keys = {option.key for option in field.options}
    for value in given:
        if value in keys:
            continue
        if not field.free:
            raise UnrecognisedError(f'I didn\'t recognize "{value}".')
        if not value.strip():
            raise UnrecognisedError(f'The answer to "{field.name}" is empty.')
    return tuple(dict.fromkeys(given))


def labels(prompt: Prompt, values: Values) -> list[str]:
    """Return what was chosen as people read it: an option's label, or the typed text."""
    shown = []
    for field in prompt.fields:
        by_key = {option.key: option.label for option in field.options}
        shown.extend(by_key.get(value, value) for value in values.get(field.name, ()))
    return shown
