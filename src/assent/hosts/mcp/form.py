"""A prompt as an MCP form, and what was filled in as an answer.

Rule 1: at the root of a form stand type, properties and required, and nothing else: a title there makes one host answer
        `cancel` without showing anything.
Rule 2: every question has a field that must be filled in, so that a host which accepts by itself decides nothing.
Rule 3: what came back is read here, and judged by the hub. Nothing is guessed: two values for one question are none.
Rule 4: hosts of before 2025-11-25 know neither titles of options nor lists. There an option is its own name, and
        several of them are typed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from assent.protocol.answer import FieldValues
from assent.protocol.ask import Ask, Kind
from assent.protocol.dialog import clip
from assent.protocol.display import display, is_blank, quote
from assent.protocol.error import UnrecognisedError
from assent.protocol.gate import render_gate
from assent.protocol.prompt import Field, Option, Prompt, other_label
from assent.protocol.reply import read_field

__all__ = ["MAX_MESSAGE", "NO", "YES", "Form", "make_form"]

MAX_MESSAGE = 20_000
"""So many characters stand above a form; the surfaces of the hub have all of them."""
YES, NO = "Yes", "No"
_TITLED_SINCE = "2025-11-25"
_COMMAND = "Type a command below"


class _Part(msgspec.Struct, frozen=True):
    """One question of a form."""

    field: Field
    name: str
    """Of the property that holds the choice, or the text."""
    is_boolean: bool = False
    is_typed: bool = False
    """It is a text, whatever the question is."""
    choices: dict[str, str] = {}
    """What the host sends for an option, and the option's key."""
    own: str = ""
    """What the host sends where words of one's own follow."""
    own_name: str = ""
    """Of the property that holds those words."""


class Form(msgspec.Struct, frozen=True):
    """What a host is asked to show."""

    message: str
    schema: dict[str, Any]
    parts: tuple[_Part, ...]

    def read(self, content: Mapping[str, Any] | None) -> FieldValues:
        """Return the values that were filled in.

        Raises:
            UnrecognisedError: a question has no answer, or two.
        """
        return {part.field.name: _read(part, content or {}) for part in self.parts}


def make_form(ask: Ask, version: str, echo: str = "") -> Form | None:
    """Return the form for a host that speaks this version of the protocol; none where it may not decide.

    `echo` says why the reply before was not taken.
    """
    prompt = ask.prompt
    if ask.kind is Kind.APPROVAL or prompt.action is not None:
        return None  # a host's reply is as good as a process that says so, and that is too little for an approval
    is_titled = version >= _TITLED_SINCE
    properties: dict[str, Any] = {}
    parts: list[_Part] = []
    for number, field in enumerate(prompt.fields, start=1):
        name = f"q{number}" if len(prompt.fields) > 1 else "answer"
        part = _part(ask, field, name, is_titled=is_titled)
        properties |= _properties(prompt, part, is_titled=is_titled)
        parts.append(part)
    schema = {"type": "object", "properties": properties, "required": [part.name for part in parts]}
    return Form(_message(ask, echo), schema, tuple(parts))


def _part(ask: Ask, field: Field, name: str, *, is_titled: bool) -> _Part:
    if ask.kind is Kind.CONFIRM and [option.key for option in field.options] == [YES, NO]:
        return _Part(field, name, is_boolean=True)
    if not field.options or (field.multiple and not is_titled):
        return _Part(field, name, is_typed=True)
    choices: dict[str, str] = {}
    for number, option in enumerate(field.options, start=1):
        sent = display(option.label, lines=False)
        choices[sent if sent not in choices else f"{number}. {sent}"] = option.key
    own = ""
    if ask.prompt.commands:
        own = _COMMAND
    elif field.free:
        own = display(other_label(field), lines=False)
    while own in choices:
        own += "…"
    return _Part(field, name, choices=choices, own=own, own_name=f"{name}_text" if own else "")


def _properties(prompt: Prompt, part: _Part, *, is_titled: bool) -> dict[str, Any]:
    field = part.field
    about: dict[str, Any] = {}
    if len(prompt.fields) > 1:
        about["title"] = clip(display(field.text.strip() or field.name, lines=False), MAX_MESSAGE)
    elif field.text:
        about["description"] = clip(display(field.text), MAX_MESSAGE)
    if part.is_boolean:
        return {part.name: {"type": "boolean", **about}}
    if part.is_typed:
        if field.options:
            shown = "; ".join(
                f"{number}. {_title(option)}" for number, option in enumerate(field.options, start=1)
            )
            about["description"] = clip(f"Several, separated by commas: {shown}", MAX_MESSAGE)
        return {part.name: {"type": "string", "minLength": 1, **about}}
    sent = [*part.choices, *filter(None, [part.own])]
    titles = [*map(_title, field.options), *filter(None, [part.own])]
    titled = [{"const": value, "title": title} for value, title in zip(sent, titles, strict=True)]
    if field.multiple:
        made: dict[str, Any] = {"type": "array", "minItems": 1, "items": {"anyOf": titled}}
    else:
        made = {"type": "string", "oneOf": titled} if is_titled else {"type": "string", "enum": sent}
    properties = {part.name: made | about}
    if part.own:
        properties[part.own_name] = {"type": "string", "title": f'With "{part.own}"'}
    return properties


def _title(option: Option) -> str:
    words = display(option.label, lines=False)
    if option.recommended:
        words += " (recommended)"
    if option.destructive:
        words += " (destructive)"
    about = display(option.description, lines=False) if option.description else ""
    return f"{words} - {about}" if about else words


def _message(ask: Ask, echo: str) -> str:
    prompt = ask.prompt
    if prompt.commands:
        text = render_gate(prompt)
    else:
        title, *more = display(prompt.title.strip()).split("\n")
        lines = [*more, *(display(prompt.body).split("\n") if prompt.body else ())]
        # As everywhere: a line of the asker's cannot pass for one of ours.
        text = "\n".join([title, *(f": {line}" if line else ":" for line in lines)])
    if len(text) > MAX_MESSAGE:
        text = f"{clip(text, MAX_MESSAGE)}\n\nThis is not all of it: assent show {ask.ask_id}"
    return f"{display(echo)}\n\n{text}" if echo else text


def _read(part: _Part, content: Mapping[str, Any]) -> tuple[str, ...]:
    given, words = content.get(part.name), content.get(part.own_name) if part.own_name else None
    name = "Your answer" if part.name == "answer" else part.name
    if part.is_boolean:
        if not isinstance(given, bool):
            raise UnrecognisedError(f"{name} is neither yes nor no.")
        return (YES if given else NO,)
    if part.is_typed:
        return _read_typed(part.field, given, name)
    sent = given if isinstance(given, list) and part.field.multiple else [given]
    chosen = [value for value in sent if isinstance(value, str)]
    if not chosen or len(chosen) < len(sent):
        raise UnrecognisedError(f"{name} is missing.")
    strange = [value for value in chosen if value not in part.choices and value != (part.own or None)]
    if strange:
        raise UnrecognisedError(f'I didn\'t recognize "{quote(strange[0])}".')
    has_words = isinstance(words, str) and not is_blank(words)
    if has_words != bool(part.own and part.own in chosen):
        raise UnrecognisedError(
            f'Choose "{part.own}" together with your own words, and neither of them without the other.'
        )
    values = [part.choices[value] for value in chosen if value != part.own]
    return (*values, words.strip()) if has_words and isinstance(words, str) else tuple(values)


def _read_typed(field: Field, given: object, name: str) -> tuple[str, ...]:
    if not isinstance(given, str) or is_blank(given):
        raise UnrecognisedError(f"{name} is missing.")
    if not field.options:
        return (given.strip(),)
    values = read_field(field, given)
    if values is None:
        raise UnrecognisedError(f'I didn\'t recognize "{quote(given)}".')
    return values
