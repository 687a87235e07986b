"""Which JSON is accepted, as a text and as a value: only what has one reading.

Rule 1: what two readers could take for two things is refused: keys that stand twice, NaN, numbers beyond 64 bits or
        with more digits than a float keeps, a zero with a sign, halves of surrogate pairs. A digest is only worth
        something if all readers agree.
Rule 2: size, depth and the number of parts have limits, which are checked before anything is built.
Rule 3: every refusal is one sentence that says where.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec

from assent.protocol.display import is_encodable, quote
from assent.protocol.error import BadJsonError, TooLargeError

__all__ = [
    "HALF_PAIR",
    "MAX_DEPTH",
    "MAX_JSON_BYTES",
    "MAX_JSON_PARTS",
    "Json",
    "check_json",
    "is_exact",
    "parse_json",
]

if TYPE_CHECKING:
    Json: TypeAlias = bool | int | float | str | Sequence["Json"] | Mapping[str, "Json"] | None
else:
    # msgspec builds its decoders from the annotation and cannot follow an alias into itself.
    Json = Any

MAX_DEPTH = 32
MAX_JSON_BYTES = 1 << 20
MAX_JSON_PARTS = 50_000
"""Lists and objects in one text. A text of a megabyte could hold a million, which take 200 ms to build."""

_MIN_INT, _MAX_INT = -(1 << 63), (1 << 64) - 1
_MAX_EXACT = 1 << 53
"""From here on not every whole number has a float of its own, so a float is no longer that number."""
_KINDS = frozenset({str, int, float, bool, type(None), dict, list, tuple})
HALF_PAIR = "holds half of a surrogate pair, which no encoding can carry"

_decoder = msgspec.json.Decoder()


def check_json(value: object) -> bool:
    """Check that `value` is JSON that every reader takes for the same; return whether `is_exact` holds in it.

    Raises:
        BadJsonError: it is not; the sentence names the place, such as `$.steps[2]`.
    """
    try:
        return _look(value, MAX_DEPTH)
    except _Fault as fault:
        place = "".join(["$", *reversed(fault.way)])
        raise BadJsonError(f"{quote(place)} {fault}.") from None


class _Fault(Exception):  # noqa: N818 - never leaves this file
    """What is wrong, and the way to it, collected from the inside out."""

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence)
        self.way: list[str] = []


class _Twice(msgspec.Struct):
    """Stands where an object has a key twice."""

    key: str


def _look(value: object, depth: int) -> bool:
    if type(value) not in _KINDS:
        twice = f'has the key "{quote(value.key)}" twice' if isinstance(value, _Twice) else None
        raise _Fault(twice or f"is no JSON value but of type {type(value).__name__}")
    if isinstance(value, str):
        if not is_encodable(value):
            raise _Fault(HALF_PAIR)
    elif isinstance(value, int):
        if not _MIN_INT <= value <= _MAX_INT:
            raise _Fault("is a number beyond 64 bits")
    elif isinstance(value, float):
        if not math.isfinite(value):
            raise _Fault("is no number that JSON has")
        if value == 0 and math.copysign(1, value) < 0:
            raise _Fault("is a zero with a sign, which not every reader keeps: write 0")
        return is_exact(value)
    elif isinstance(value, dict | list | tuple):
        if depth == 0:
            raise _Fault(f"is deeper than {MAX_DEPTH} levels")
        return _look_inside(value, depth - 1)
    return False


def _look_inside(value: dict[object, object] | Sequence[object], depth: int) -> bool:
    respells = False
    key: object = None
    try:
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            if isinstance(value, dict) and (type(key) is not str or not is_encodable(key)):
                raise _Fault("stands under a key that is no text")
            if _look(inner, depth):
                respells = True
    except _Fault as fault:
        fault.way.append(f".{key}" if isinstance(key, str) else f"[{key}]")
        raise
    return respells


def is_exact(number: float) -> bool:
    """Whether a float is a whole number that an integer spells better: 1.0 is 1."""
    return number.is_integer() and abs(number) < _MAX_EXACT


# Reading. msgspec is strict about all but five things, which are looked at here: how deep and how many before
# it builds anything, keys that stand twice and numbers that cannot be kept as they were written afterwards.

_TO_LISTS = bytes.maketrans(b"{}", b"[]")
_NO_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
_DIGITS = bytes(ord("0") if chr(byte).isdecimal() else ord(" ") for byte in range(128)) + b" " * 128
_LONG_RUN = b"0" * len(str(_MIN_INT)[1:])
_LONG_NUMBERS = re.compile(rb"[0-9]{19,}").finditer
_FRACTION = (b".", b"e", b"E", b"+")
# Numbers that a float may not keep: of more than 15 digits, with an exponent, or a zero with a sign. Whole numbers of any
# length are told by their value.
_RISKY_NUMBERS = re.compile(
    rb"-?[0-9]+(?:\.[0-9]+)?[eE][+-]?[0-9]+|-?(?=[0-9.]{16})[0-9]+\.[0-9]+|-0(?:\.0+)?(?![0-9.])"
).findall
_LONGEST_SHOWN = 40
_NEGATIVE_EXPONENT = (b"e-", b"E-")
_NO_NUMBER = re.compile(rb"NaN|Infinity").match
_HIGH, _LOW = rb"\\u[dD][89abAB][0-9a-fA-F]{2}", rb"\\u[dD][c-fC-F][0-9a-fA-F]{2}"
_HALF_ESCAPE = re.compile(rb"%s(?!%s)|(?<!%s)%s" % (_HIGH, _LOW, _HIGH, _LOW)).search
_FAULT_AT_BYTE = re.compile(r"JSON is malformed: (?P<fault>.*) \(byte (?P<at>[0-9]+)\)").fullmatch
_MAX_SEARCHED = 1 << 17
"""Up to this size the place of a fault is looked for even where that takes a second and slower reading."""


def parse_json(text: bytes | str, *, limit: int = MAX_JSON_BYTES) -> Json:
    """Return the value of a JSON text that has only one reading.

    Raises:
        BadJsonError: it is malformed or ambiguous; the sentence says where.
        TooLargeError: it has more bytes or parts than the limit.
    """
    source = _encode(text, limit)
    _check_nesting(source)
    try:
        value: Json = _decoder.decode(source)
    except msgspec.DecodeError as error:
        raise BadJsonError(_explain(source, str(error))) from None
    if b":" in source and _has_key_twice(source, value):
        _refuse_key_twice(source)
    if _LONG_RUN in source.translate(_DIGITS):
        _check_numbers(source, value)
    if risky := _RISKY_NUMBERS(_without_strings(source)):
        _check_spellings(risky)
    return value


def _encode(text: bytes | str, limit: int) -> bytes:
    """Return `text` as bytes that are UTF-8 and not too many."""
    _check_size(text, limit)
    try:
        if isinstance(text, bytes):
            text.decode()
            return text
        source = text.encode()
    except UnicodeDecodeError as error:
        place = _place(text[: error.start])
        raise BadJsonError(f"The JSON text is not UTF-8 at {place}.") from None
    except UnicodeEncodeError as error:
        place = _place(text[: error.start])
        raise BadJsonError(f"The JSON text {HALF_PAIR}, at {place}.") from None
    _check_size(source, limit)
    return source


def _check_size(text: bytes | str, limit: int) -> None:
    if len(text) > limit:
        raise TooLargeError(f"A JSON text has at most {limit:,} bytes; this one has {len(text):,}.")


def _place(before: bytes | str) -> str:
    if isinstance(before, bytes):
        before = before.decode(errors="replace")
    line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
    return f"line {line}, column {column}"


def _without_strings(source: bytes) -> bytes:
    if b"\\" in source:
        source = source.replace(b"\\\\", b"").replace(b'\\"', b"")
    return b"".join(source.split(b'"')[::2])


def _check_nesting(source: bytes) -> None:
    if source.count(b"[") + source.count(b"{") <= MAX_DEPTH:
        return
    brackets = _without_strings(source).translate(_TO_LISTS, _NO_BRACKETS)
    parts = brackets.count(b"[")
    # Taking out the innermost pairs once per level leaves nothing of a text that is shallow enough. A text with
    # too many parts is refused in any case, so the first of them suffice to tell the reason.
    brackets = brackets[: 2 * MAX_JSON_PARTS]
    for _ in range(MAX_DEPTH):
        brackets = brackets.replace(b"[]", b"")
    if b"[]" in brackets or brackets.count(b"[") > MAX_DEPTH:
        raise BadJsonError(f"The JSON text is deeper than {MAX_DEPTH} levels.")
    if parts > MAX_JSON_PARTS:
        raise TooLargeError(
            f"A JSON text has at most {MAX_JSON_PARTS:,} lists and objects; this one has {parts:,}."
        )


def _explain(source: bytes, message: str) -> str:
    found = _FAULT_AT_BYTE(message)
    at = int(found["at"]) if found else len(source)
    # A half pair is reported where the other half should have ended, or as the end of the text.
    if half := _HALF_ESCAPE(source, max(0, at - 12), at):
        return f"The JSON text {HALF_PAIR}, at {_place(source[: half.start()])}."
    if found:
        fault = "NaN and Infinity are no JSON" if _NO_NUMBER(source, at) else found["fault"]
        return f"The JSON text cannot be read at {_place(source[:at])}: {fault}."
    if "truncated" in message:
        return f"The JSON text ends too early, at {_place(source[:at])}."
    return f"The JSON text cannot be read: {message.replace(' - at ', ' at ').replace('`', '').lower()}."


def _check_numbers(source: bytes, value: Json) -> None:
    bare = _without_strings(source)
    for run in _LONG_NUMBERS(bare):
        before, after = bare[max(0, run.start() - 2) : run.start()], bare[run.end() : run.end() + 1]
        if after in _FRACTION or before[-1:] in _FRACTION or before in _NEGATIVE_EXPONENT:
            continue  # digits of a float, of which there may be any number
        number = run[0][:21]  # more are beyond in any case, and not worth turning into an integer
        if not _MIN_INT <= int(b"-" + number if before[-1:] == b"-" else number) <= _MAX_INT:
            if len(source) <= _MAX_SEARCHED:
                check_json(value)
            raise BadJsonError("The JSON text has a number beyond 64 bits.")


def _check_spellings(numbers: list[bytes]) -> None:
    """Refuse a number that would be kept, and shown, as another one."""
    for number in map(bytes.decode, numbers):
        said = f"The JSON text has the number {quote(number, _LONGEST_SHOWN)}"
        kept = float(number)
        if kept == 0 and number.startswith("-"):
            raise BadJsonError(f"{said}: a zero has no sign here.")
        if not _spells(number, kept):
            raise BadJsonError(
                f"{said}, of which {kept!r} would be kept: write it with fewer digits, or as a text."
            )


def _spells(number: str, kept: float) -> bool:
    """Whether a number is, to the last digit, the float that is kept of it."""
    try:
        return Decimal(number) == Decimal(repr(kept))
    except InvalidOperation:  # an exponent that nobody writes
        return False


def _has_key_twice(source: bytes, value: Json) -> bool:
    """Whether some object lost a key while it was read: written again, the value then has fewer colons."""
    again = msgspec.json.encode(value)
    if b"\\" in source:  # an escape may be spelled differently the second time
        source, again = _without_strings(source), _without_strings(again)
    return source.count(b":") != again.count(b":")


def _refuse_key_twice(source: bytes) -> None:
    if len(source) <= _MAX_SEARCHED:
        check_json(json.loads(source.decode(), object_pairs_hook=_mark_key_twice))
    raise BadJsonError("The JSON text has an object with the same key twice.")


def _mark_key_twice(pairs: list[tuple[str, Json]]) -> dict[str, Json] | _Twice:
    found: dict[str, Json] = {}
    for key, value in pairs:
        if key in found:
            return _Twice(key)
        found[key] = value
    return found
