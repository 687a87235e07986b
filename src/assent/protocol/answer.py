"""An answer: a reply that was understood and fits its prompt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

import msgspec

from assent.protocol.command import Typed, addresses, read_command
from assent.protocol.display import fold, is_blank, is_encodable, quote
from assent.protocol.error import TooLargeError, UnrecognisedError
from assent.protocol.principal import Assurance
from assent.protocol.prompt import Field, Option, Prompt, other_label
from assent.protocol.shape import ShapeError, convert_values

__all__ = [
    "MAX_REPLY_BYTES",
    "Answer",
    "FieldValues",
    "Values",
    "check_reply_size",
    "check_values",
    "find_destructive",
    "find_fault",
    "find_spelled",
    "gate_values",
    "labels",
    "spellings",
]

MAX_REPLY_BYTES = 64 << 10

FieldValues = dict[str, tuple[str, ...]]
Values = Mapping[str, Sequence[str]]
"""Per field name: the keys of the chosen options, or the typed text where the field is free."""


class Answer(msgspec.Struct, frozen=True, gc=False):
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
    reason: str = ""
    """The words that go with a no to an approval."""
    is_unattended: bool = False
    """No person was there: a process was let answer, or the credential was made where nobody was."""


def check_values(prompt: Prompt, values: Values) -> FieldValues:
    """Return `values` in the prompt's order if they answer every field, and nothing else.

    Raises:
        UnrecognisedError: a field is missing, unknown, or holds what it does not offer.
        TooLargeError: the typed text is over the limit.
    """
    for name in values:
        if not any(field.name == name for field in prompt.fields):
            raise UnrecognisedError(f'There is no question "{quote(name)}" here.')
    if prompt.commands:
        return {field.name: _check_gate(prompt, field, values.get(field.name, ())) for field in prompt.fields}
    checked = {field.name: _check_field(field, values.get(field.name, ())) for field in prompt.fields}
    for field in prompt.fields:
        fault = find_fault(prompt, field, checked[field.name])
        if fault:
            raise UnrecognisedError(fault)
    return checked


def find_destructive(prompt: Prompt, values: Values) -> Option | None:
    """Return the first chosen option that cannot be undone."""
    for field in prompt.fields:
        given = [find_spelled(field, value) for value in values.get(field.name, ())]
        for option in field.options:
            # A gate's values are labels, all others are keys.
            if option.destructive and (option.key in given or (prompt.commands and option.label in given)):
                return option
    return None


def find_spelled(field: Field, text: str) -> str:
    """Return the key of the option that a text spells where words of one's own would do, too; else the text itself.

    Whoever writes an option's label into the place for their own words means that option, as everywhere.
    """
    if not field.free or any(option.key == text for option in field.options):
        return text
    folded = fold(text)
    return next((option.key for option in field.options if folded in spellings(option)), text)


def spellings(option: Option) -> set[str]:
    """Return all texts that name an option, folded: its label, its key, and how it is shown if it is recommended."""
    names = {fold(option.label), fold(option.key)}
    return names | {fold(f"{option.label} (recommended)")} if option.recommended else names


def find_fault(prompt: Prompt, field: Field, given: Sequence[str]) -> str:
    """Return why `given` is no value of a form's field, as a sentence that names it; empty where nothing is wrong.

    >>> from assent.protocol.shape import Shape, ValueType
    >>> port = Field("port", free=True, shape=Shape(ValueType.INTEGER, maximum=65535))
    >>> find_fault(Prompt("Where?", fields=(port,)), port, ["99999"])
    'port: 99999 is greater than 65535.'
    """
    if field.shape is msgspec.UNSET:
        return ""
    try:
        convert_values(field.shape, given)
    except ShapeError as fault:
        name = quote(field.name)
        if len(prompt.fields) > 1:
            name = f"q{prompt.fields.index(field) + 1} ({name})"
        return f"{name}: {fault}."
    return ""


def _check_field(field: Field, given: Sequence[str]) -> tuple[str, ...]:
    name = quote(field.name)
    if isinstance(given, str) or not given:
        raise UnrecognisedError(f'There is no answer to "{name}".')
    if len(given) > 1 and not field.multiple:
        raise UnrecognisedError(f'"{name}" takes one answer, not {len(given)}.')
    keys = {option.key for option in field.options}
    given = [find_spelled(field, value) for value in given]
    typed = [value for value in given if value not in keys]
    for text in typed:
        if not field.free or not is_encodable(text):
            raise UnrecognisedError(f'I didn\'t recognize "{quote(text)}".')
        if is_blank(text):
            raise UnrecognisedError(f'The answer to "{name}" is empty.')
        if keys and fold(text) == fold(other_label(field)):
            raise UnrecognisedError(f'"{quote(text)}" says that words of your own follow, and none do.')
    check_reply_size("".join(typed))
    return tuple(dict.fromkeys(given))


def _check_gate(prompt: Prompt, field: Field, given: Sequence[str]) -> tuple[str, ...]:
    if isinstance(given, str) or len(given) != 1:
        raise UnrecognisedError(f'"{quote(field.name)}" takes one answer.')
    check_reply_size(given[0])
    chosen = gate_values(prompt, given[0])
    if chosen.text is None:
        raise UnrecognisedError(
            " ".join(filter(None, [f'I didn\'t recognize "{quote(given[0])}".', chosen.hint]))
        )
    return (chosen.text,)


def gate_values(prompt: Prompt, text: str) -> Typed:
    """Return the option or the command of a gate that `text` spells, or why it spells none.

    An option is chosen by its number, with or without a full stop or bracket, by its whole label, or by its line as
    it is shown (G36, G37, G-X7).
    """
    folded = fold(text)
    found = [
        option
        for number, option in enumerate(prompt.fields[0].options, start=1)
        if folded in addresses(number, (option.label, option.key))
    ]
    if len(found) > 1:
        meant = " or ".join(f'"{quote(option.label)}"' for option in found)
        return Typed(hint=f"It could mean {meant}.")
    return Typed(found[0].label, (), found[0].key) if found else read_command(prompt.commands, text)


def check_reply_size(text: str) -> None:
    """Check that nobody typed more than a person would.

    Raises:
        TooLargeError: somebody did.
    """
    size = len(text) if len(text) > MAX_REPLY_BYTES else len(text.encode(errors="surrogatepass"))
    if size > MAX_REPLY_BYTES:
        raise TooLargeError(f"A reply has at most {MAX_REPLY_BYTES:,} bytes; this one has {size:,}.")


def labels(prompt: Prompt, values: Values) -> list[str]:
    """Return what was chosen as people read it: an option's label, or the typed text."""
    shown: list[str] = []
    for field in prompt.fields:
        by_key = {option.key: option.label for option in field.options}
        shown.extend(by_key.get(value, value) for value in values.get(field.name, ()))
    return shown
