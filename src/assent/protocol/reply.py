"""What a person typed, turned into an answer. Nothing here guesses.

Rule 1: an option is chosen by its number, its letter, its whole label or its key, in any case and spacing (G36,
        G37, G-X7, C-X10); never by a part of it.
Rule 2: a reply that could mean two options means none of them; the sentence names both.
Rule 3: an empty reply is no answer (G21), not even where any text would do.
Rule 4: in a round, `q1:` begins an answer, and the next `q2:` or a line of dashes ends it (C20, C-X3). What is
        understood of it is told apart from what is not, so that it can be kept.
Rule 5: at a gate only what is shown there can be typed: numbers, labels and commands, and no letters (G16).
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import NamedTuple

import msgspec

from assent.protocol.answer import FieldValues, check_reply_size, find_fault, gate_values, spellings
from assent.protocol.approval import is_rejection
from assent.protocol.display import fold, is_blank, is_encodable, quote
from assent.protocol.error import UnrecognisedError
from assent.protocol.prompt import Field, Prompt, other_label, parse_position, render_position

__all__ = [
    "Reading",
    "parse_reply",
    "read_field",
    "recognise",
    "recognise_reply",
    "render_missing",
    "render_refusal",
]

# `C) my words`. After a full stop or colon there is white space, or 3.5 and C:\temp would lose their heads.
_AFTER_POSITION = re.compile(
    r"(?P<position>[a-z]|[1-9][0-9]{0,2})(?:\)\s*|[.:]\s+)(?P<words>\S.*)",
    re.DOTALL | re.IGNORECASE | re.ASCII,
).fullmatch
_KEY_LINE = re.compile(r"\s*(?P<key>[\w-]+)\s*:(?P<rest>.*)").fullmatch
_ROUND_KEY = re.compile(r"q[0-9]+").fullmatch
_FIRST_KEY = re.compile(r"\s*q1\s*:", re.IGNORECASE).match
_DASHES = re.compile(r"\s*-{6,}\s*").fullmatch
_LINE_END = re.compile(r"\r?\n")


class Reading(msgspec.Struct, frozen=True):
    """How far a reply was understood."""

    values: FieldValues
    """Per field name, what was recognised."""
    unrecognised: tuple[str, ...] = ()
    """The pieces of the reply that mean nothing here."""
    missing: tuple[str, ...] = ()
    """The names of the fields that have no value yet."""
    hints: tuple[str, ...] = ()
    """Sentences that help to say it again."""
    wrong: tuple[str, ...] = ()
    """Of a round: the names of the fields that were given something, but no answer."""
    reason: str = ""
    """The words that go with a no to an approval: `Reject: not on a Friday`."""


def recognise(prompt: Prompt, text: str) -> FieldValues:
    """Return the values that `text` gives to every field of `prompt`.

    Raises:
        UnrecognisedError: some of it means nothing here, or a field is still without an answer.
        TooLargeError: it is longer than a reply may be.
    """
    return recognise_reply(prompt, text).values


def recognise_reply(prompt: Prompt, text: str) -> Reading:
    """Return the same, with the words that go with a no.

    Raises:
        UnrecognisedError: as `recognise`.
        TooLargeError: as `recognise`.
    """
    reading = parse_reply(prompt, text)
    if not reading.unrecognised and not reading.missing:
        return reading
    raise UnrecognisedError(
        " ".join(filter(None, [render_refusal(reading, text), render_missing(prompt, reading.missing)]))
    )


def render_refusal(reading: Reading, text: str) -> str:
    """Return the sentence that echoes a reply, with what helps to say it again (G17)."""
    echo = quote(_LINE_END.sub(" ", text))
    return " ".join([f'I didn\'t recognize "{echo}".', *reading.hints])


def render_missing(prompt: Prompt, names: Collection[str]) -> str:
    """Return the sentence that says which questions of a round have no answer yet."""
    keys = [f"q{number}" for number, field in enumerate(prompt.fields, start=1) if field.name in names]
    return f"Still missing: {', '.join(keys)}." if keys and len(prompt.fields) > 1 else ""


def parse_reply(prompt: Prompt, text: str) -> Reading:
    """Return what `text` says about each field of `prompt`.

    Raises:
        TooLargeError: it is longer than a reply may be.
    """
    check_reply_size(text)
    if prompt.commands:
        return _read_gate(prompt, text)
    if len(prompt.fields) > 1:
        return _read_round(prompt, text)
    field = prompt.fields[0]
    if _FIRST_KEY(text) and not _positions(field, _names(field), text):
        return _read_round(prompt, text)
    choice = _read_shaped(prompt, field, text)
    if choice.values:
        return Reading({field.name: choice.values})
    head, _, words = text.partition(":")
    if not is_blank(words) and is_encodable(words):
        values: FieldValues = {field.name: _read(field, head).values}
        if is_rejection(prompt, values):
            return Reading(values, reason=words.strip())
    return Reading({}, (text.strip(),), (field.name,), (choice.hint,) if choice.hint else ())


def read_field(field: Field, text: str) -> tuple[str, ...] | None:
    """Return the values that `text` gives to `field`, or nothing if it is no answer to it.

    >>> from assent.protocol.prompt import question
    >>> database = question("Which database?", ["PostgreSQL", "SQLite"]).fields[0]
    >>> read_field(database, "b)"), read_field(database, "SQL")
    (('SQLite',), None)
    """
    return _read_shaped(Prompt("", fields=(field,)), field, text).values or None


def _read_gate(prompt: Prompt, text: str) -> Reading:
    field = prompt.fields[0]
    chosen = gate_values(prompt, text)
    if chosen.text is not None:
        return Reading({field.name: (chosen.text,)})
    return Reading({}, (text.strip(),), (field.name,), (chosen.hint,) if chosen.hint else ())


# One answer.


class _Choice(NamedTuple):
    """The values that a text stands for, or why it stands for none."""

    values: tuple[str, ...] = ()
    hint: str = ""


def _read_shaped(prompt: Prompt, field: Field, text: str) -> _Choice:
    """Return what `text` stands for, unless the field has a shape that it does not fit."""
    choice = _read(field, text)
    fault = find_fault(prompt, field, choice.values) if choice.values else ""
    return _Choice(hint=fault) if fault else choice


def _read(field: Field, text: str) -> _Choice:
    if is_blank(text) or not is_encodable(text):
        return _Choice()
    choice = _choose(field, text)
    if choice:
        return choice
    return _Choice((text.strip(),)) if field.free else _Choice()


def _choose(field: Field, text: str) -> _Choice | None:
    """Return what `text` chooses, or why it cannot; nothing if it addresses no option at all."""
    if not field.options:
        return None
    names = _names(field)
    positions = _positions(field, names, text)
    words = _own_words(field, text)
    if words is not None and (positions or is_blank(words)):
        positions.add(len(field.options))
    elif words is not None:
        positions = names.get(fold(words), set())
    if positions:
        return _pick(field, text, positions)
    if words is not None:
        return _Choice((words,))
    if field.multiple and "," in text:
        return _choose_several(field, names, text)
    return None


def _choose_several(field: Field, names: dict[str, set[int]], text: str) -> _Choice | None:
    parts: list[tuple[str, set[int]]] = []
    for part in text.split(","):
        positions = _positions(field, names, part)
        if not positions:
            # Text of one's own may hold commas, so a part that is no option makes all of it such text.
            return None if field.free else _Choice(hint=_blame(part))
        parts.append((part, positions))
    chosen: dict[str, None] = {}
    for part, positions in parts:
        choice = _pick(field, part, positions)
        if not choice.values:
            return choice
        chosen.update(dict.fromkeys(choice.values))
    return _Choice(tuple(chosen))


def _blame(part: str) -> str:
    if is_blank(part):
        return "Something is missing beside a comma."
    return f'"{quote(part.strip())}" is none of the options.'


def _names(field: Field) -> dict[str, set[int]]:
    names: dict[str, set[int]] = {}
    for position, option in enumerate(field.options):
        for name in spellings(option):
            names.setdefault(name, set()).add(position)
    if field.free and field.options:
        # The label alone says that own words will follow. Where an option has our own label for it, that is meant.
        names.setdefault(fold(other_label(field)), {len(field.options)})
    return names


def _positions(field: Field, names: dict[str, set[int]], text: str) -> set[int]:
    """Return every position that `text` could mean; the one after the last option is that of free text."""
    folded = fold(text)
    found = set(names.get(folded, ()))
    position = parse_position(folded, field)
    if position is not None and position < len(field.options) + field.free:
        found.add(position)
    if line := _AFTER_POSITION(text.strip()):
        # An option's line, copied as it is shown: both halves must agree.
        position = parse_position(fold(line["position"]), field)
        found |= {named for named in names.get(fold(line["words"]), ()) if named == position}
    return found


def _pick(field: Field, text: str, positions: set[int]) -> _Choice:
    position = min(positions)
    if len(positions) == 1 and position < len(field.options):
        return _Choice((field.options[position].key,))
    marks = [f"{render_position(position, field)})" for position in sorted(positions)]
    if len(positions) > 1:
        shown = " or ".join(_describe(field, position) for position in sorted(positions))
        return _Choice(hint=f'"{quote(text.strip())}" could mean {shown}: write {" or ".join(marks)}.')
    return _Choice(hint=f'Write your own words after {marks[0]}, as in "{marks[0]} not yet".')


def _describe(field: Field, position: int) -> str:
    is_own = position == len(field.options)
    label = "your own words" if is_own else quote(field.options[position].label)
    return f"{render_position(position, field)}) {label}"


def _own_words(field: Field, text: str) -> str | None:
    line = _AFTER_POSITION(text.strip()) if field.free else None
    if line and parse_position(fold(line["position"]), field) == len(field.options):
        return line["words"]
    return None


# A round.


def _read_round(prompt: Prompt, text: str) -> Reading:
    given, outside = _split_round(prompt, text)
    values: FieldValues = {}
    unrecognised, wrong, hints = list(outside), [], []
    if outside:
        hints.append(f'"{quote(outside[0])}" belongs to no question: begin each answer as in "q1: …".')
    for number, field in enumerate(prompt.fields, start=1):
        texts = given.get(number, [])
        if len(texts) > 1:
            unrecognised += texts
            wrong.append(field.name)
            hints.append(f"q{number} is answered twice.")
        elif texts and not is_blank(texts[0]):
            choice = _read_shaped(prompt, field, texts[0])
            if choice.values:
                values[field.name] = choice.values
            else:
                unrecognised.append(texts[0])
                wrong.append(field.name)
                hints.append(choice.hint or f'"{quote(texts[0])}" is no answer to q{number}.')
    missing = tuple(field.name for field in prompt.fields if field.name not in values)
    return Reading(values, tuple(unrecognised), missing, tuple(hints), tuple(wrong))


def _split_round(prompt: Prompt, text: str) -> tuple[dict[int, list[str]], list[str]]:
    """Return the texts that were given per question number, and the text that belongs to none."""
    numbers: dict[str, set[int]] = {}
    for number, field in enumerate(prompt.fields, start=1):
        for key in (f"q{number}", fold(field.name)):
            numbers.setdefault(key, set()).add(number)
    pieces: list[tuple[int | None, list[str]]] = [(None, [])]
    for line in _LINE_END.split(text):
        if _DASHES(line):
            pieces.append((None, []))
        elif start := _begin(numbers, line):
            pieces.append((start[0], [start[1]]))
        else:
            pieces[-1][1].append(line)
    given: dict[int, list[str]] = {}
    outside = []
    for asked, lines in pieces:
        piece = "\n".join(lines).strip()
        if asked is not None:
            given.setdefault(asked, []).append(piece)
        elif piece:
            outside.append(piece)
    return given, outside


def _begin(numbers: dict[str, set[int]], line: str) -> tuple[int | None, str] | None:
    """Return the number of the question whose answer `line` begins, none if it is unclear, and its text."""
    head = _KEY_LINE(line)
    if not head:
        return None
    key, rest = fold(head["key"]), head["rest"]
    found = numbers.get(key, set())
    is_counted = _ROUND_KEY(key) is not None
    # A name takes a space behind its colon: where a question is called "https", a link is still a link.
    if len(found) == 1 and (is_counted or not rest or rest[0].isspace()):
        return min(found), rest
    return (None, line) if is_counted else None
