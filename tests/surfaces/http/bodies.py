"""Bodies that must be refused, for every verb that takes one: bad as text, and bad against the document."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jsonschema
import msgspec

from assent.client.verbs import VERBS
from assent.protocol.json_text import MAX_DEPTH, MAX_JSON_BYTES
from assent.surfaces.http.openapi import render_openapi

__all__ = ["bad_bodies"]

_DOCUMENT: dict[str, Any] = msgspec.json.decode(render_openapi("0"))
_WRONG: tuple[Any, ...] = (None, True, 0, -1, 1.5, "", "nope", [], [None], [[]], {}, {"nope": None})


def bad_bodies(name: str, fitting: dict[str, Any]) -> Iterator[tuple[str, bytes]]:
    """Yield bodies that a verb must refuse, each with what is wrong with it; `fitting` is one that it takes."""
    text = msgspec.json.encode(fitting)
    yield from _bad_texts(text[1:])
    if not VERBS[name].is_body_optional:
        yield "nothing", b""
        yield "white space", b" \n"
    validator = _validator(name)
    if validator is None:
        return
    for wrong in _WRONG:
        yield from _if_wrong(validator, f"{wrong!r} in all", wrong)
    yield from _if_wrong(validator, "a field nobody knows", fitting | {"nope": 1})
    for field in fitting:
        yield from _if_wrong(validator, f"no {field}", {key: fitting[key] for key in fitting if key != field})
        for wrong in _WRONG:
            yield from _if_wrong(validator, f"{wrong!r} as {field}", fitting | {field: wrong})


def _bad_texts(rest: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield what is no JSON with one reading; `rest` closes an object that a key was put before."""
    comma = b"" if rest == b"}" else b","
    deep = MAX_DEPTH  # with the object around it, one more than is allowed
    yield "no JSON", b"nope"
    yield "a form", b"text=1&decline=true"
    yield "half", b'{"x":'
    yield "two", b"{}{}"
    yield "not UTF-8", b'{"x":"\xff"}'
    yield "UTF-16", '{"x":1}'.encode("utf-16")
    yield "a comment", b"{/* x */}"
    for what, value in {
        "NaN": b"NaN",
        "infinity": b"-Infinity",
        "too deep": b"[" * deep + b"]" * deep,
        "far too deep": b"[" * 100_000,
        "half a pair": b'"\\ud800"',
        "a huge number": b"1" + b"0" * 30,
        "a huge negative number": b"-1" + b"0" * 30,
        "a number that is endless": b"1e999",
        "a zero too many": b"01",
        "a bare control": b'"\x00"',
    }.items():
        yield what, b'{"x":' + value + comma + rest
    yield "a key twice", b'{"x":1,"x":1' + comma + rest
    yield "a key twice, spelled differently", b'{"x":1,"\\u0078":1' + comma + rest
    yield "a byte too many", b'{"x":"' + b"a" * (MAX_JSON_BYTES - 6 - len(comma + rest)) + b'"' + comma + rest


def _validator(name: str) -> jsonschema.Draft202012Validator | None:
    """Return what says whether a body fits; None where every JSON does."""
    for methods in _DOCUMENT["paths"].values():
        for told in methods.values():
            if told["operationId"] == name:
                schema = told["requestBody"]["content"]["application/json"]["schema"]
                return (
                    jsonschema.Draft202012Validator(schema | {"components": _DOCUMENT["components"]})
                    if schema
                    else None
                )
    raise KeyError(name)


def _if_wrong(validator: Any, what: str, body: object) -> Iterator[tuple[str, bytes]]:
    if not validator.is_valid(body):
        yield what, msgspec.json.encode(body)
