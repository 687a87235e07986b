"""The one spelling of a value as JSON, and the digest over it.

Keys are sorted by code point, there is no white space, and 1.0 and 1 are the same number: equal values have
equal bytes, whoever wrote them. What is digested is what is stored and what is shown.
"""

from __future__ import annotations

import hashlib
from functools import cache
from typing import Any, TypeVar, get_args

import msgspec

from assent.protocol.display import quote
from assent.protocol.error import BadJsonError, BadRequestError
from assent.protocol.json_text import HALF_PAIR, Json, check_json, is_exact, parse_json

__all__ = ["Json", "canonical", "check_json", "convert", "digest", "parse_json"]

_T = TypeVar("_T")
_encoder = msgspec.json.Encoder(order="sorted")


def canonical(value: msgspec.Struct | Json) -> bytes:
    """Return the one spelling of `value` as JSON.

    >>> canonical({"b": 1.0, "a": [True, None]})
    b'{"a":[true,null],"b":1}'

    Raises:
        BadJsonError: it holds something that JSON, or some reader of it, cannot hold.
    """
    plain: object = value
    if not isinstance(value, msgspec.Struct):
        plain = _respell(value) if check_json(value) else value
    elif _check_fields(value):
        plain = _respell(msgspec.to_builtins(value))
    try:
        return _encoder.encode(plain)
    except UnicodeEncodeError:
        raise BadJsonError(f"A text {HALF_PAIR}.") from None


def digest(encoded: bytes) -> str:
    """Return the digest of canonical bytes: `sha256:` and 64 hexadecimal digits."""
    return "sha256:" + hashlib.sha256(encoded).hexdigest()


def convert(value: object, kind: type[_T]) -> _T:
    """Return `value`, as JSON gave it, as a `kind`.

    Raises:
        BadRequestError: it has another shape; the sentence names the place.
    """
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        sentence = str(error).replace(" - at ", " at ").replace("`", "")
        raise BadRequestError(f"{quote(sentence)}.") from None


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
        elif isinstance(inner, tuple) and inner and isinstance(inner[0], msgspec.Struct):
            for entry in inner:
                respells |= _check_fields(entry)
        elif inner is not None and inner is not msgspec.UNSET:
            respells |= check_json(msgspec.to_builtins(inner))
    return respells


def _respell(value: object) -> object:
    """Return a copy in which whole floats are integers, so that equal numbers have equal bytes."""
    if isinstance(value, float):
        return int(value) if is_exact(value) else value
    if isinstance(value, dict):
        return {key: _respell(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_respell(inner) for inner in value]
    return value
