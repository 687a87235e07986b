"""JSON with one meaning: the strict reader, the canonical bytes, and the digest over them.

Rule 1: one value, one spelling. Keys sorted by code point, no white space, 1.0 and 1 are the same number.
Rule 2: what two readers could take for two things is refused: duplicate keys, NaN, numbers beyond 64 bits,
        halves of surrogate pairs. A digest is only worth something if all readers agree.
Rule 3: depth, size and the number of parts have limits that are checked before anything is built.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, get_args

import msgspec

from assent.protocol.display import display
from assent.protocol.error import BadJsonError, BadRequestError, TooLargeError

__all__ = [
    "MAX_DEPTH",
    "MAX_JSON_BYTES",
    "MAX_JSON_PARTS",
    "Json",
    "canonical",
    "check_json",
    "convert",
    "digest",
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
_MAX_QUOTE = 200
_KINDS = frozenset({str, int, float, bool, type(None), dict, list, tuple})
_HALF = "holds half of a surrogate pair, which no encoding can carry"

_T = TypeVar("_T")
_encoder = msgspec.json.Encoder(order="sorted")
_decoder = msgspec.json.Decoder()


def canonical(value: msgspec.Struct | Json) -> bytes:
    """Return the one spelling of `value` as JSON.

    >>> canonical({"b": 1.0, "a": [True, None]})
    b'{"a":[true,null],"b":1}'

    Raises:
        BadJsonError: it holds something that JSON, or some reader of it, cannot hold.
    """
    plain: object = value
    if not isinstance(value, msgspec.Struct):
        plain = _respell(value) if _check(value, MAX_DEPTH) else value
    elif _check_fields(value):
        plain = _respell(msgspec.to_builtins(value))
    try:
        return _encoder.encode(plain)
    except UnicodeEncodeError:
        raise BadJsonError(f"A text {_HALF}.") from None


def digest(encoded: bytes) -> str:
    """Return the digest of canonical bytes: `sha256:` and 64 hexadecimal digits."""
    return "sha256:" + hashlib.sha256(encoded).hexdigest()


def check_json(value: Json) -> None:
    """Check that `value` is JSON that every reader takes for the same.

    Raises:
        BadJsonError: it is not; the sentence names the place, such as `$.steps[2]`.
    """
    _check(value, MAX_DEPTH)


def convert(value: object, kind: type[_T]) -> _T:
    """Return `value`, as JSON gave it, as a `kind`.

    Raises:
        BadRequestError: it has another shape; the sentence names the place.
    """
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        sentence = str(error).replace(" - at ", " at ").replace("`", "")
        raise BadRequestError(f"{_quote(sentence)}.") from None


def _quote(text: str) -> str:
    shown = display(text, lines=False)
    return shown if len(shown) <= _MAX_QUOTE else shown[: _MAX_QUOTE - 1] + "…"


# What a value may hold.


@cache
def _json_fields(struct: type[msgspec.Struct]) -> tuple[str, ...]:
    """Return the fields of `struct` that could hold a float: the others need no look."""
    return tuple(field.name for field in msgspec.structs.fields(struct) if _may_hold_float(field.type))


def _may_hold_float(annotation: object) -> bool:
    if isinstance(annotation, type) and issubclass(annotation, msgspec.Struct):
        return bool(_json_fields(annotation))
    return annotation in (Any, float) or any(map(_may_hold_float, get_args(annotation)))


def _check_fields(value: msgspec.Struct) -> bool:
    """Check the JSON that `value` holds; return whether its canonical form spells a number differently."""
    respells = False
    for name in _json_fields(type(value)):
        inner = getattr(value, name)
        if isinstance(inner, msgspec.Struct):
            respells |= _check_fields(inner)
        elif inner is not None:
            respells |= _check(msgspec.to_builtins(inner), MAX_DEPTH)
    return respells


class _Fault(Exception):  # noqa: N818 - never leaves this file
    """What is wrong, and the way to it, collected from the inside out."""

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence)
        self.way: list[str] = []


class _Twice(msgspec.Struct):
    """Stands where an object has a key twice."""

    key: str


def _check(value: object, depth: int) -> bool:
    """Check all of `value`; return whether its canonical form spells a number in it differently."""
    try:
        return _look(value, depth)
    except _Fault as fault:
        place = "".join(["$", *reversed(fault.way)])
        raise BadJsonError(f"{_quote(place)} {fault}.") from None


def _look(value: object, depth: int) -> bool:
    if type(value) not in _KINDS:
        twice = f'has the key "{_quote(value.key)}" twice' if isinstance(value, _Twice) else None
        raise _Fault(twice or f"is no JSON value but of type {type(value).__name__}")
    if isinstance(value, str):
        if not _is_whole(value):
            raise _Fault(_HALF)
    elif isinstance(value, int):
        if not _MIN_INT <= value <= _MAX_INT:
            raise _Fault("is a number beyond 64 bits")
    elif isinstance(value, float):
        if not math.isfinite(value):
            raise _Fault("is no number that JSON has")
        return _is_exact(value)
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
            if isinstance(value, dict) and (type(key) is not str or not _is_whole(key)):
                raise _Fault("stands under a key that is no text")
            if _look(inner, depth):
                respells = True
    except _Fault as fault:
        fault.way.append(f".{key}" if isinstance(key, str) else f"[{key}]")
        raise
    return respells


def _is_whole(text: str) -> bool:
    """Whether `text` can be encoded: no half of a surrogate pair stands in it."""
    try:
        text.isascii() or text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _is_exact(number: float) -> bool:
    return number.is_integer() and abs(number) < _MAX_EXACT


def _respell(value: object) -> object:
    """Return a copy in which whole floats are integers, so that equal numbers have equal bytes."""
    if isinstance(value, float):
        return int(value) if _is_exact(value) else value
    if isinstance(value, dict):
        return {key: _respell(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_respell(inner) for inner in value]
    return value


# Reading. msgspec is strict about all but four things, which are looked at here: how deep and how many before
# it builds anything, keys that stand twice and numbers beyond 64 bits afterwards.

_TO_LISTS = bytes.maketrans(b"{}", b"[]")
_NO_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
_LONG_NUMBER = re.compile(rb"[0-9]{19}").search
_LONG_INTEGERS = re.compile(rb"(?<![0-9.eE+-])-?[0-9]{19,}(?![0-9.eE])").findall
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
    if _LONG_NUMBER(source) and any(map(_is_beyond, _LONG_INTEGERS(_without_strings(source)))):
        if len(source) <= _MAX_SEARCHED:
            check_json(value)
        raise BadJsonError("The JSON text has a number beyond 64 bits.")
    return value


def _encode(text: bytes | str, limit: int) -> bytes:
    try:
        # Even at one byte a character this would be too long; such a text is not encoded to find out.
        encoded = text if isinstance(text, bytes) or len(text) > limit else text.encode()
        if len(encoded) > limit:
            raise TooLargeError(f"A JSON text has at most {limit:,} bytes; this one has {len(encoded):,}.")
        if isinstance(text, bytes):
            text.decode()
        assert isinstance(encoded, bytes)
        return encoded
    except UnicodeDecodeError as error:
        where = _place(error.object, error.start)
    except UnicodeEncodeError as error:
        where = _place(error.object[: error.start].encode(), None)
    raise BadJsonError(f"The JSON text is not UTF-8 at {where}.")


def _place(source: bytes, at: int | None) -> str:
    before = source[:at]
    column = len(before[before.rfind(b"\n") + 1 :].decode(errors="replace")) + 1
    line = before.count(b"\n") + 1
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
    half = _HALF_ESCAPE(source.replace(b"\\\\", b"  "))
    if half:
        return f"The JSON text {_HALF}, at {_place(source, half.start())}."
    if found := _FAULT_AT_BYTE(message):
        at = int(found["at"])
        fault = "NaN and Infinity are no JSON" if _NO_NUMBER(source, at) else found["fault"]
        return f"The JSON text cannot be read at {_place(source, at)}: {fault}."
    if "truncated" in message:
        return f"The JSON text ends too early, at {_place(source, len(source))}."
    return f"The JSON text cannot be read: {message.replace(' - at ', ' at ').replace('`', '').lower()}."


def _is_beyond(number: bytes) -> bool:
    # Twenty digits and a sign; longer ones are not worth turning into an integer.
    return len(number) > len(str(_MAX_INT)) + 1 or not _MIN_INT <= int(number) <= _MAX_INT


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
    found = dict(pairs)
    if len(found) == len(pairs):
        return found
    keys = [key for key, _ in pairs]
    return _Twice(next(key for key in keys if keys.count(key) > 1))
