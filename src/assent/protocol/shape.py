"""The shape of a value: what a text must be to stand for a number, a date, a yes or a no.

A field with a shape is part of a form (`protocol.form`). Its values are stored as texts, as those of any other field;
the shape says which texts are taken, and which JSON value each of them is.

Rule 1: nothing is guessed. A number is written as JSON writes it, a date as 2026-01-02; `1,000` is no number.
Rule 2: nothing is filled in. What may be left out is left out by saying so, with `-`.
Rule 3: a refusal says what is wrong with the value in a few words; whoever shows it names the field.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from datetime import date, datetime
from enum import StrEnum
from typing import Any

import msgspec

from assent.protocol.canonical import Json, canonical
from assent.protocol.display import is_blank, quote
from assent.protocol.error import BadPromptError
from assent.protocol.pattern import MAX_MATCHED, check_pattern, matches

__all__ = [
    "EMPTY",
    "NOTHING",
    "Absence",
    "Format",
    "Scalar",
    "Shape",
    "ShapeError",
    "ValueType",
    "check_shape",
    "convert_values",
    "describe_shape",
    "spell",
]

NOTHING = "-"
"""What a person types, and what is stored, where a value may be left out or be null."""
EMPTY = "[]"
"""What is stored where none of several options is chosen."""
_MIN_INT, _MAX_INT = -(1 << 63), (1 << 64) - 1
_LONGEST_NUMBER = 400

_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]*)").fullmatch
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?").fullmatch
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}").fullmatch
_DATE_TIME = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,6})?(?:Z|[+-][0-9]{2}:[0-9]{2})"
).fullmatch
_EMAIL = re.compile(r"[^\s@<>()\[\]\\,;:\"]{1,64}@[^\s@<>()\[\]\\,;:\"]{1,255}").fullmatch
_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[!-~]+").fullmatch

Scalar = str | int | float | bool


class ValueType(StrEnum):
    """What a value is."""

    STRING = "string"
    INTEGER = "integer"
    NUMBER = "number"
    CHOICE = "choice"
    """One of the values in `choices`; a yes or no is one, too."""
    CHOICES = "choices"
    """A list of some of them."""


class Format(StrEnum):
    """How a text is written."""

    DATE = "date"
    DATE_TIME = "date-time"
    EMAIL = "email"
    URI = "uri"


class Absence(StrEnum):
    """What `-` stands for."""

    LEFT_OUT = "left_out"
    NULL = "null"


class Shape(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """What a value has to be. All that it does not name is free."""

    type: ValueType
    """What the value is."""
    choices: tuple[Scalar, ...] = ()
    """What the options stand for; the key of each is the value's spelling."""
    absence: Absence | None = None
    """What `-` stands for; nothing where there has to be a value."""
    minimum: int | float | None = None
    """A number is at least this."""
    maximum: int | float | None = None
    """A number is at most this."""
    above: int | float | None = None
    """A number is greater than this."""
    below: int | float | None = None
    """A number is less than this."""
    multiple_of: int | None = None
    """A number can be divided by this."""
    least: int | None = None
    """So many characters, or choices, at least."""
    most: int | None = None
    """So many characters, or choices, at most."""
    pattern: str | None = None
    """What a text matches somewhere, in the safe part of regular expressions."""
    format: Format | None = None
    """How a text is written."""


class ShapeError(Exception):
    """Why a value does not fit; the sentence goes without the field's name."""


def spell(value: Json) -> str:
    """Return the text that stands for a JSON value: a text for itself, anything else as JSON spells it.

    >>> spell("blue"), spell(True), spell(2.0)
    ('blue', 'true', '2')
    """
    return value if isinstance(value, str) else canonical(value).decode()


def convert_values(shape: Shape, values: Sequence[str]) -> Json:
    """Return the JSON value of what was chosen or typed; None, too, where it is left out (`Absence`).

    Raises:
        ShapeError: it does not fit.
    """
    if shape.absence is not None and NOTHING in values:
        if len(values) > 1:
            raise ShapeError(f'"{NOTHING}" cannot be chosen together with something else')
        return None
    if shape.type is ValueType.CHOICES:
        return _several(shape, values)
    if len(values) != 1:
        raise ShapeError("it takes one value")
    text = values[0]
    if shape.type is ValueType.CHOICE:
        return _choice(shape, text)
    return _string(shape, text) if shape.type is ValueType.STRING else _number(shape, text)


def _several(shape: Shape, values: Sequence[str]) -> list[Scalar]:
    if EMPTY in values and len(values) > 1:
        raise ShapeError("none of the options cannot be chosen together with some of them")
    chosen = [] if EMPTY in values else [_choice(shape, text) for text in dict.fromkeys(values)]
    if shape.least is not None and len(chosen) < shape.least:
        raise ShapeError(f"it takes at least {shape.least} of the options")
    if shape.most is not None and len(chosen) > shape.most:
        raise ShapeError(f"it takes at most {shape.most} of the options")
    return chosen


def _choice(shape: Shape, text: str) -> Scalar:
    for value in shape.choices:
        if spell(value) == text:
            return value
    raise ShapeError(f'"{quote(text)}" is none of the options')


def _string(shape: Shape, text: str) -> str:
    if shape.least is not None and len(text) < shape.least:
        raise ShapeError(f"it has {len(text):,} characters, and needs at least {shape.least:,}")
    most = shape.most
    if shape.pattern is not None:
        most = MAX_MATCHED if most is None else min(most, MAX_MATCHED)
    if most is not None and len(text) > most:
        raise ShapeError(f"it has {len(text):,} characters, and may have at most {most:,}")
    if shape.format is not None and not _is_written(shape.format, text):
        raise ShapeError(f'"{quote(text)}" is no {_FORMATS[shape.format]}')
    if shape.pattern is not None and not matches(shape.pattern, text):
        raise ShapeError(f'"{quote(text)}" does not match {quote(shape.pattern)}')
    return text


_FORMATS = {
    Format.DATE: "date, as in 2026-01-31",
    Format.DATE_TIME: "moment with its time zone, as in 2026-01-31T18:00:00Z",
    Format.EMAIL: "e-mail address",
    Format.URI: "address, as in https://example.org",
}


def _is_written(format_: Format, text: str) -> bool:
    if format_ is Format.EMAIL:
        return _EMAIL(text) is not None
    if format_ is Format.URI:
        return _URI(text) is not None
    try:
        if format_ is Format.DATE:
            return _DATE(text) is not None and bool(date.fromisoformat(text))
        return _DATE_TIME(text) is not None and bool(datetime.fromisoformat(text))
    except ValueError:
        return False  # a 30th of February


def _number(shape: Shape, text: str) -> int | float:
    typed = text.strip()
    is_whole = len(typed) <= _LONGEST_NUMBER and _INTEGER(typed) is not None
    if not is_whole and (
        shape.type is ValueType.INTEGER or len(typed) > _LONGEST_NUMBER or not _NUMBER(typed)
    ):
        kind = "whole number, as in 42" if shape.type is ValueType.INTEGER else "number, as in 42 or 0.5"
        raise ShapeError(f'"{quote(text)}" is no {kind}')
    value = int(typed) if is_whole else float(typed)
    if not math.isfinite(value) or (is_whole and not _MIN_INT <= value <= _MAX_INT):
        raise ShapeError(f"{quote(typed)} is beyond 64 bits")
    if shape.minimum is not None and value < shape.minimum:
        raise ShapeError(f"{typed} is less than {spell(shape.minimum)}")
    if shape.maximum is not None and value > shape.maximum:
        raise ShapeError(f"{typed} is greater than {spell(shape.maximum)}")
    if shape.above is not None and value <= shape.above:
        raise ShapeError(f"{typed} is not greater than {spell(shape.above)}")
    if shape.below is not None and value >= shape.below:
        raise ShapeError(f"{typed} is not less than {spell(shape.below)}")
    if shape.multiple_of is not None and value % shape.multiple_of != 0:
        raise ShapeError(f"{typed} is no multiple of {shape.multiple_of}")
    return value


def describe_shape(shape: Shape) -> str:
    """Return what a person has to know before typing, as a sentence; empty where any text will do.

    >>> describe_shape(Shape(ValueType.INTEGER, minimum=1, maximum=65535, absence=Absence.LEFT_OUT))
    'A whole number, at least 1, at most 65535; - leaves it out.'
    """
    kinds = {ValueType.INTEGER: "a whole number", ValueType.NUMBER: "a number"}
    parts = [kinds.get(shape.type, "a text")]
    if shape.format is not None:
        article = "an" if _FORMATS[shape.format][0] in "ae" else "a"
        parts = [f"{article} {_FORMATS[shape.format]}"]
    is_counted = shape.type is ValueType.CHOICES
    if is_counted:
        parts = ["some of the options"]
    unit = "" if is_counted else " characters"
    limits: tuple[tuple[str, Any, str], ...] = (
        ("at least", shape.minimum, ""),
        ("at most", shape.maximum, ""),
        ("more than", shape.above, ""),
        ("less than", shape.below, ""),
        ("a multiple of", shape.multiple_of, ""),
        ("at least", shape.least, unit),
        ("at most", shape.most, unit),
        ("matching", shape.pattern, ""),
    )
    parts += [
        f"{word} {spell(limit)}{unit.removesuffix('s') if limit == 1 else unit}"
        for word, limit, unit in limits
        if limit is not None
    ]
    if shape.type is ValueType.CHOICE or (len(parts) == 1 and (is_counted or parts == ["a text"])):
        parts = []
    said = ", ".join(parts)
    if shape.absence is not None and not shape.choices:
        leaves = "leaves it out" if shape.absence is Absence.LEFT_OUT else "is for nothing at all"
        said = "; ".join(filter(None, [said, f"{NOTHING} {leaves}"]))
    return f"{said[0].upper()}{said[1:]}." if said else ""


def _is_unreachable(shape: Shape) -> bool:
    lows = [limit for limit in (shape.minimum, shape.above) if limit is not None]
    highs = [limit for limit in (shape.maximum, shape.below) if limit is not None]
    if lows and highs and max(lows) > min(highs):
        return True
    counts = [] if shape.most is None else [shape.most]
    if shape.type is ValueType.CHOICES:
        counts.append(len(shape.choices))
    # An empty text is no answer (G21), so a text has one character at least.
    least = max(shape.least or 0, 1 if shape.type is ValueType.STRING else 0)
    return bool(counts) and least > min(counts)


def check_shape(shape: Shape, keys: Sequence[str], *, is_multiple: bool, is_free: bool) -> None:
    """Check that a field with these options can be given a value of this shape.

    Raises:
        BadPromptError: some option stands for no value, or no value can be given.
        TooLargeError: its pattern is over a limit.
    """
    is_chosen = shape.type in (ValueType.CHOICE, ValueType.CHOICES)
    if is_free is is_chosen or bool(keys) is not is_chosen:
        raise BadPromptError("a value is either typed or chosen, as its shape says")
    if is_multiple is not (shape.type is ValueType.CHOICES):
        raise BadPromptError("several options are for a list, and only for a list")
    if any(limit is not None and limit < 0 for limit in (shape.least, shape.most)):
        raise BadPromptError("a length is not less than 0")
    if _is_unreachable(shape):
        raise BadPromptError("no value lies within its limits: nobody could answer it")
    if shape.multiple_of is not None and shape.multiple_of < 1:
        raise BadPromptError("a multiple is one of a number from 1 on")
    if shape.pattern is not None:
        check_pattern(shape.pattern)
    for key in keys:
        is_known = any(spell(value) == key for value in shape.choices)
        is_none = (key == NOTHING and shape.absence is not None) or (
            key == EMPTY and shape.type is ValueType.CHOICES
        )
        if is_known is is_none or is_blank(key):
            raise BadPromptError(f'the option "{quote(key)}" stands for no value, or for two')
