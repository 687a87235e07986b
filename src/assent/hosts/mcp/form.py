"""A prompt as an MCP form, and what was filled in as an answer.

Rule 1: at the root of a form stand type, properties and required, and nothing else: a title there makes one host answer
        `cancel` without showing anything.
Rule 2: every question has a field that must be filled in, so that a host which accepts by itself decides nothing.
Rule 3: what came back is read here, and judged by the hub. Nothing is guessed: two values for one question are none.
Rule 4: options are numbered in the order of the prompt (G5). How a form says so, and how much it holds, is in the table
        of capabilities; hosts of before 2025-11-25 have a record of their own.
Rule 5: an approval is shown whole or not at all, and whether a host may carry it is not said here.
Rule 6: a no may have words with it, and a yes has none.
Rule 7: of a menu the block is the message, and the question stands at its field (W29).
Rule 8: after a reply that was not recognised the message is the echo and the brief list, without the context (G17, G18);
        an approval is shown whole again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from assent.protocol.answer import FieldValues, find_destructive
from assent.protocol.approval import is_approval, is_rejection
from assent.protocol.ask import Ask, Kind
from assent.protocol.block import render_question
from assent.protocol.capability import CAPABILITIES, Capability
from assent.protocol.dialog import clip
from assent.protocol.display import display, is_blank, quote
from assent.protocol.error import BadRequestError, UnrecognisedError
from assent.protocol.gate import render_gate, render_options
from assent.protocol.menu import is_menu, render_explanation, render_stem
from assent.protocol.prompt import Field, Option, Prompt, other_label
from assent.protocol.reply import read_field

__all__ = ["NO", "YES", "Filled", "Form", "make_check", "make_form"]

YES, NO = "Yes", "No"
_TITLED_SINCE = "2025-11-25"
_COMMAND = "Type a command below"
_ANSWER, _REASON = "answer", "reason"


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


class Filled(msgspec.Struct, frozen=True):
    """What was filled in."""

    values: FieldValues
    reason: str = ""
    """The words that go with a no."""
    is_confirmed: bool = False
    """It was asked once more, as it cannot be undone."""


class Form(msgspec.Struct, frozen=True):
    """What a host is asked to show."""

    message: str
    schema: dict[str, Any]
    prompt: Prompt
    parts: tuple[_Part, ...] = ()
    chosen: FieldValues | None = None
    """It only asks whether these are really meant."""

    def read(self, content: Mapping[str, Any] | None) -> Filled:
        """Return what was filled in.

        Raises:
            UnrecognisedError: a question has no answer, or two; or what was chosen is not meant.
            BadRequestError: words that go with a no came with a yes.
        """
        given = content or {}
        if self.chosen is not None:
            if given.get(_ANSWER) != YES:
                raise UnrecognisedError("That was not confirmed, so nothing was chosen.")
            return Filled(self.chosen, is_confirmed=True)
        values = {part.field.name: _read(part, given) for part in self.parts}
        words = given.get(_REASON) if _REASON in self.schema["properties"] else None
        if not isinstance(words, str) or is_blank(words):
            return Filled(values)
        if not is_rejection(self.prompt, values) and values != {self.parts[0].field.name: (NO,)}:
            raise BadRequestError("A reason goes with a no: take it out, or choose the no.")
        return Filled(values, words.strip())


def make_form(ask: Ask, version: str, echo: str = "") -> Form | None:
    """Return the form for a host that speaks this version of the protocol; none where it may not decide.

    `echo` says why the reply before was not taken.
    """
    prompt, host = ask.prompt, _host(version)
    if (ask.kind is Kind.APPROVAL or prompt.action is not None) and not _is_whole(ask, host):
        return None  # nobody says yes to what they have not seen
    properties: dict[str, Any] = {}
    parts: list[_Part] = []
    for number, field in enumerate(prompt.fields, start=1):
        name = f"q{number}" if len(prompt.fields) > 1 else _ANSWER
        part = _part(ask, field, name, host)
        properties |= _properties(prompt, part, host)
        parts.append(part)
    if is_approval(prompt) or parts[0].is_boolean:
        properties[_REASON] = {"type": "string", "title": "Why not (with a no, if you like)"}
    schema = {"type": "object", "properties": properties, "required": [part.name for part in parts]}
    return Form(_message(ask, host, echo), schema, prompt, tuple(parts))


def make_check(ask: Ask, chosen: FieldValues, version: str) -> Form | None:
    """Return the form that asks once more about what cannot be undone; none where nothing of it is chosen."""
    option = find_destructive(ask.prompt, chosen)
    if option is None:
        return None
    label, host = display(option.label, lines=False), _host(version)
    made = _choice({NO: "No, choose again", YES: f"Yes: {label}"}, host)
    schema = {"type": "object", "properties": {_ANSWER: made}, "required": [_ANSWER]}
    message = f'"{label}" cannot be undone. Do you mean it?\n\n{_message(ask, host)}'
    return Form(message, schema, ask.prompt, chosen=chosen)


def _host(version: str) -> Capability:
    return CAPABILITIES["mcp-form" if version >= _TITLED_SINCE else "mcp-form-2025-06"]


def _part(ask: Ask, field: Field, name: str, host: Capability) -> _Part:
    if ask.kind is Kind.CONFIRM and [option.key for option in field.options] == [YES, NO]:
        return _Part(field, name, is_boolean=True)
    if not field.options or (field.multiple and not host.allows_multiple):
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


def _properties(prompt: Prompt, part: _Part, host: Capability) -> dict[str, Any]:
    field = part.field
    about: dict[str, Any] = {}
    if len(prompt.fields) > 1:
        about["title"] = clip(display(field.text.strip() or field.name, lines=False), host.text_max)
    elif is_menu(prompt) and prompt.body:
        about["description"] = clip(render_stem(prompt), host.text_max)
    elif field.text:
        about["description"] = clip(display(field.text), host.text_max)
    if part.is_boolean:
        return {part.name: {"type": "boolean", **about}}
    titles = _titles(field)
    if part.is_typed:
        if field.options:
            about["description"] = clip(f"Several, separated by commas: {'; '.join(titles)}", host.text_max)
        return {part.name: {"type": "string", "minLength": 1, **about}}
    shown = dict(zip(part.choices, titles, strict=True))
    if part.own:
        shown[part.own] = part.own
    made = _choice(shown, host)
    if field.multiple:
        made = {"type": "array", "minItems": 1, "items": {"anyOf": made["oneOf"]}}
    properties = {part.name: made | about}
    if part.own:
        properties[part.own_name] = {"type": "string", "title": f'With "{part.own}"'}
    return properties


def _choice(titles: Mapping[str, str], host: Capability) -> dict[str, Any]:
    """Return a choice of one: what the host sends for each, and what a person reads."""
    if host.allows_multiple:  # since then an option has its title beside it
        return {
            "type": "string",
            "oneOf": [{"const": sent, "title": title} for sent, title in titles.items()],
        }
    return {"type": "string", "enum": [*titles], "enumNames": [*titles.values()]}


def _titles(field: Field) -> list[str]:
    return [_title(number, option) for number, option in enumerate(field.options, start=1)]


def _title(number: int, option: Option) -> str:
    words = f"{number}. {display(option.label, lines=False)}"
    if option.recommended:
        words += " (recommended)"
    if option.destructive:
        words += " (destructive)"
    about = display(option.description, lines=False) if option.description else ""
    return f"{words} - {about}" if about else words


def _is_whole(ask: Ask, host: Capability) -> bool:
    """Say whether a form would show an approval to the last character."""
    return is_approval(ask.prompt) and (
        host.text_max is None or len(render_question(ask.prompt)) <= host.text_max
    )


def _message(ask: Ask, host: Capability, echo: str = "") -> str:
    prompt = ask.prompt
    is_bound = prompt.action is not None or prompt.risk is not None
    if echo and not is_bound:
        text = _brief(prompt)
    elif prompt.commands:
        text = render_gate(prompt)
    elif is_bound:
        text = render_question(prompt)  # with the action, and with what could go wrong
    elif is_menu(prompt):
        text = render_explanation(prompt) or render_stem(prompt)
    else:
        title, *more = display(prompt.title.strip()).split("\n")
        lines = [*more, *(display(prompt.body).split("\n") if prompt.body else ())]
        # As everywhere: a line of the asker's cannot pass for one of ours.
        text = "\n".join([title, *(f": {line}" if line else ":" for line in lines)])
    if host.text_max is not None and len(text) > host.text_max:
        text = f"{clip(text, host.text_max)}\n\nThis is not all of it: assent show {ask.ask_id}"
    return f"{display(echo)}\n\n{text}" if echo else text


def _brief(prompt: Prompt) -> str:
    """Return only the numbered lists; where there is none, what is asked."""
    if prompt.commands:
        return render_options(prompt)
    lists = ["\n".join(_titles(field)) for field in prompt.fields if field.options]
    return "\n\n".join(lists) or display(prompt.title.strip())


def _read(part: _Part, content: Mapping[str, Any]) -> tuple[str, ...]:
    given, words = content.get(part.name), content.get(part.own_name) if part.own_name else None
    name = "Your answer" if part.name == _ANSWER else part.name
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
