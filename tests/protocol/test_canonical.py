"""One value, one spelling, one digest; and a reader that takes nothing in which two readers could differ."""

import json
import math
import struct
from datetime import UTC, datetime
from fractions import Fraction
from typing import NoReturn

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from assent.protocol.canonical import Json, canonical, check_json, convert, digest, parse_json
from assent.protocol.error import BadJsonError, BadRequestError, TooLargeError
from assent.protocol.json_text import MAX_DEPTH, MAX_JSON_BYTES, MAX_JSON_PARTS
from assent.protocol.prompt import Field, Option, Prompt, question
from tests.protocol.strategies import json_values, modest


class Sample(msgspec.Struct):
    """Has all that a struct of ours may hold."""

    name: str
    at: datetime
    ratio: float = 0.5
    many: tuple[Option, ...] = ()
    extra: Json = None


def nested(levels: int) -> str:
    return "[" * levels + "]" * levels


def test_canonical_bytes_are_sorted_tight_and_utf8() -> None:
    """The rules of the spelling, in one example."""
    value: Json = {"b": [1, 2.5, "é\n"], "a": {"z": None, "\U0001f600": True, "\uffff": False}}
    assert canonical(value) == '{"a":{"z":null,"\uffff":false,"\U0001f600":true},"b":[1,2.5,"é\\n"]}'.encode()


@pytest.mark.parametrize(
    ("number", "spelled"),
    [
        (1.0, b"1"),
        (2.0**53 - 1, b"9007199254740991"),
        (-3.0, b"-3"),
        (0.5, b"0.5"),
        (1e300, b"1e300"),
    ],
)
def test_whole_float_is_spelled_as_the_integer_it_equals(number: float, spelled: bytes) -> None:
    """JSON has one kind of number, so 1.0 and 1 must have one digest."""
    assert canonical(number) == spelled
    assert canonical([number, {"n": (number,)}]) == b'[%s,{"n":[%s]}]' % (spelled, spelled)


def test_struct_with_and_without_json_in_it_is_spelled_alike() -> None:
    """The quick way for structs and the careful one must not differ."""
    prompt = question("Which?", ["é", "B"], body="x")
    plain = msgspec.to_builtins(prompt)
    assert canonical(prompt) == canonical(plain)
    with_action = msgspec.structs.replace(prompt, action={"b": 1.0, "a": [2.0, "x"]})
    assert canonical(with_action) == canonical({**plain, "action": {"a": [2, "x"], "b": 1}})


def test_struct_with_floats_and_instants_is_canonical() -> None:
    """Whatever types a struct declares, equal numbers have equal bytes."""
    sample = Sample("x", datetime(2026, 1, 2, tzinfo=UTC), 2.0, (Option("a", "A"),), {"n": 1.0})
    assert b'"at":"2026-01-02T00:00:00Z"' in canonical(sample)
    assert b'"extra":{"n":1}' in canonical(sample)
    assert b'"ratio":2}' in canonical(sample)


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_number_that_json_does_not_have_is_refused_and_not_written_as_null(number: float) -> None:
    """Written as null it would be another value than the one approved."""
    with pytest.raises(BadJsonError, match=r"^\$\.steps\[1\] is no number that JSON has\.$"):
        canonical({"steps": [1, number]})
    with pytest.raises(BadJsonError):
        canonical(Prompt("?", fields=(), action={"n": number}))
    with pytest.raises(BadJsonError):
        canonical(Sample("x", datetime(2026, 1, 2, tzinfo=UTC), number))


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        ("\ud800", "$ holds half of a surrogate pair, which no encoding can carry."),
        ({"a": ["x", "\udfff"]}, "$.a[1] holds half of a surrogate pair, which no encoding can carry."),
        ({"\ud800": 1}, "$.<U+D800> stands under a key that is no text."),
        ({1: 2}, "$[1] stands under a key that is no text."),
        ([1 << 64], "$[0] is a number beyond 64 bits."),
        ([-(1 << 63) - 1], "$[0] is a number beyond 64 bits."),
        ({"when": datetime(2026, 1, 1, tzinfo=UTC)}, "$.when is no JSON value but of type datetime."),
        ({"all": {1, 2}}, "$.all is no JSON value but of type set."),
        ({"a\x1b": math.nan}, "$.a<U+001B> is no number that JSON has."),
        ({"a": [-0.0]}, "$.a[0] is a zero with a sign, which not every reader keeps: write 0."),
    ],
)
def test_value_that_readers_could_take_for_two_things_is_refused_with_its_place(
    value: object, sentence: str
) -> None:
    """One clear sentence each, safe to print."""
    with pytest.raises(BadJsonError) as caught:
        check_json(value)
    assert caught.value.message == sentence


def test_struct_with_half_of_a_surrogate_pair_is_refused() -> None:
    """The quick way looks at no text, and still no such text gets through."""
    with pytest.raises(BadJsonError, match="half of a surrogate pair"):
        canonical(question("\ud800"))


def test_depth_is_allowed_up_to_the_limit_and_no_further() -> None:
    """The same limit for values and texts."""
    assert parse_json(nested(MAX_DEPTH)) == json.loads(nested(MAX_DEPTH))
    check_json(json.loads(nested(MAX_DEPTH)))
    with pytest.raises(BadJsonError, match="deeper than 32 levels"):
        parse_json(nested(MAX_DEPTH + 1))
    with pytest.raises(BadJsonError, match="deeper than 32 levels"):
        check_json(json.loads(nested(MAX_DEPTH + 1)))


def test_value_that_holds_itself_is_refused() -> None:
    """It has no end, so it has no spelling."""
    endless: list[Json] = []
    endless.append(endless)
    with pytest.raises(BadJsonError, match="deeper than 32 levels"):
        canonical(endless)


@pytest.mark.parametrize("opening", ["[", '{"a":', '[{"":', ' [\n"x",['])
def test_bottomless_text_is_refused_without_a_recursion_error(opening: str) -> None:
    """S18: a hundred thousand levels kill Python's own reader."""
    with pytest.raises(BadJsonError, match="deeper than 32 levels"):
        parse_json(opening * 100_000)


def test_brackets_in_strings_count_for_nothing() -> None:
    """A text about brackets is not deep."""
    value = ["[" * 100, "\\", '"[{', {"{" * 50: '\\"['}] * 10
    assert parse_json(json.dumps(value)) == value


def test_colons_in_strings_hide_no_key_that_stands_twice() -> None:
    """Twice keys are found by counting colons, and an escaped one is spelled out when it is written again."""
    assert parse_json('{"a":"\\u003a","\\u003a":":"}') == {"a": ":", ":": ":"}
    with pytest.raises(BadJsonError, match="twice"):
        parse_json('{"a":1,"a":"\\u003a"}')
    with pytest.raises(BadJsonError, match="twice"):
        parse_json('{"\\\\":1,"b":{"c:":"\\"","c\\u003a":2}}')


def test_text_over_the_limit_is_too_large() -> None:
    """In bytes, not in characters."""
    assert parse_json('"é"', limit=4) == "é"
    for text in ('"é"', '"é"'.encode(), '"abcd"'):
        with pytest.raises(TooLargeError):
            parse_json(text, limit=3)
    with pytest.raises(TooLargeError):
        parse_json(" " * (MAX_JSON_BYTES + 1))


def test_text_of_too_many_parts_is_too_large() -> None:
    """S18: a megabyte of empty lists takes a fifth of a second to build."""
    parts = ",".join(["[]", "{}"] * (MAX_JSON_PARTS // 2))
    assert parse_json(f"{parts[: parts.rindex(',')]}".join(["[", "]"]))
    with pytest.raises(TooLargeError):
        parse_json(f"[{parts}]")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('{"a":1,"a":2}', '$ has the key "a" twice.'),
        ('[1,{"x":{"a":1,"b":2,"\\u0061":3}}]', '$[1].x has the key "a" twice.'),
        ('{"k\\u001b":1,"k\\u001b":1}', '$ has the key "k<U+001B>" twice.'),
        ("NaN", "The JSON text cannot be read at line 1, column 1: NaN and Infinity are no JSON."),
        (
            "[1,\n -Infinity]",
            "The JSON text cannot be read at line 2, column 3: NaN and Infinity are no JSON.",
        ),
        ("[1e400]", "The JSON text cannot be read: number out of range at $[0]."),
        (
            '"\\ud800"',
            "The JSON text holds half of a surrogate pair, which no encoding can carry, at line 1, column 2.",
        ),
        (
            '["\\ud83d\\ude00", "\\uDE00"]',
            "The JSON text holds half of a surrogate pair, which no encoding can carry, at line 1, column 19.",
        ),
        (
            '"\ud800"',
            "The JSON text holds half of a surrogate pair, which no encoding can carry, at line 1, column 2.",
        ),
        (b'["\xff"]', "The JSON text is not UTF-8 at line 1, column 3."),
        (b'"\xed\xa0\x80"', "The JSON text is not UTF-8 at line 1, column 2."),
        ("18446744073709551616", "$ is a number beyond 64 bits."),
        ('{"n":-9223372036854775809}', "$.n is a number beyond 64 bits."),
        ("1 2", "The JSON text cannot be read at line 1, column 4: trailing characters."),
        ("", "The JSON text ends too early, at line 1, column 1."),
        ('{"a":\n[1,', "The JSON text ends too early, at line 2, column 4."),
        ('{"a" 1}', "The JSON text cannot be read at line 1, column 6: expected ':'."),
        ('"\x01"', "The JSON text cannot be read at line 1, column 2: invalid character."),
        ('["-0", -0.0]', "The JSON text has the number -0.0: a zero has no sign here."),
        ("[-0]", "The JSON text has the number -0: a zero has no sign here."),
        (
            '{"n": 1.0000000000000001}',
            (
                "The JSON text has the number 1.0000000000000001, of which 1.0 would be kept: "
                "write it with fewer digits, or as a text."
            ),
        ),
        (
            "[9007199254740993.0]",
            (
                "The JSON text has the number 9007199254740993.0, of which 9007199254740992.0 would be kept: "
                "write it with fewer digits, or as a text."
            ),
        ),
        (
            "[1e-99999999999999999999999]",
            (
                "The JSON text has the number 1e-99999999999999999999999, of which 0.0 would be kept: "
                "write it with fewer digits, or as a text."
            ),
        ),
    ],
)
def test_refused_text_gets_one_sentence_that_says_where(text: str | bytes, sentence: str) -> None:
    """S18: each class of hostile JSON."""
    with pytest.raises(BadJsonError) as caught:
        parse_json(text)
    assert caught.value.message == sentence


@pytest.mark.parametrize("tail", ['{"a":1,"a":2}', "9" * 25])
def test_fault_in_a_long_text_is_found_even_where_its_place_is_not_looked_for(tail: str) -> None:
    """The search for the place has a limit; the refusal has none."""
    with pytest.raises(BadJsonError, match="The JSON text has"):
        parse_json(f"[{'1,' * 100_000}{tail}]")


@pytest.mark.parametrize(
    "text",
    [
        "18446744073709551615",
        "-9223372036854775808",
        "[0.1000000000000000000000,1e19,1.1234567890123e-0000000000000000000001]",
        "[5e-324,-1.7976931348623157e308,0.30000000000000004]",
        '"' + "9" * 50 + '"',
        '{"' + "9" * 30 + '":1E+0000000000000000000001}',
    ],
)
def test_long_digits_within_64_bits_or_in_floats_and_strings_pass(text: str) -> None:
    """Twin of the refusals above."""
    assert repr(parse_json(text)) == repr(json.loads(text))


class RefusedError(Exception):
    """The text is in a class that the strict reader must not take."""


def read_by_the_book(text: str) -> Json:
    """Python's own reader, with each refused class spelled out."""

    def refuse(*_: object) -> NoReturn:
        raise RefusedError

    def pairs(found: list[tuple[str, Json]]) -> dict[str, Json]:
        if len({key for key, _ in found}) != len(found):
            raise RefusedError
        return dict(found)

    def integer(digits: str) -> int:
        number = int(digits)
        if digits == "-0":
            refuse()
        return number if -(1 << 63) <= number < 1 << 64 else refuse()

    def real(digits: str) -> float:
        number = float(digits)
        is_kept = math.isfinite(number) and Fraction(digits) == Fraction(repr(number))
        return number if is_kept and repr(number) != "-0.0" else refuse()

    value: Json = json.loads(
        text, object_pairs_hook=pairs, parse_constant=refuse, parse_int=integer, parse_float=real
    )
    if "\\u" in text or not text.isascii():
        msgspec.json.encode(value)
    return value


JSON_TEXTS = st.one_of(
    st.builds(
        lambda value, is_ascii, indent: json.dumps(value, ensure_ascii=is_ascii, indent=indent),
        json_values,
        st.booleans(),
        st.sampled_from([None, 0, 2]),
    ),
    st.text('[]{}",:0123456789eE+-.\\ud8f tnra\n', max_size=30),
    st.lists(
        st.sampled_from(
            ["[", "]", "{", "}", ",", ":", '"a"', '"b"', "1", "-0", "1e5", "1.0", "null", "true", " ", "\\"]
        )
        | st.sampled_from(
            ['"\\ud83d\\ude00"', '"\\ud83d"', '"\\\\ud83d"', "NaN", "1e999", "18446744073709551616", "01"]
        ),
        max_size=9,
    ).map("".join),
)


@modest
@given(JSON_TEXTS)
@example("[-0, -0.0, 1E400]")
@example('{"a":{"a":1},"b":{"a":2,"\\u0061":3}}')
def test_reader_takes_exactly_what_python_takes_minus_the_refused_classes(text: str) -> None:
    """S18: neither more nor less, and the same value."""
    try:
        expected = read_by_the_book(text)
    except (ValueError, RefusedError):  # a UnicodeEncodeError of the last look is a ValueError, too
        with pytest.raises(BadJsonError):
            parse_json(text)
    else:
        assert repr(parse_json(text)) == repr(expected)
        assert repr(parse_json(text.encode())) == repr(expected)


@modest
@given(json_values)
def test_canonical_bytes_are_read_back_and_written_the_same(value: Json) -> None:
    """What was hashed yesterday has the same hash tomorrow."""
    spelled = canonical(value)
    assert canonical(parse_json(spelled)) == spelled
    assert canonical(json.loads(spelled)) == spelled
    assert canonical(json.loads(json.dumps(value))) == spelled


def shuffled(value: Json) -> Json:
    if isinstance(value, dict):
        return {key: shuffled(inner) for key, inner in reversed(value.items())}
    return [shuffled(inner) for inner in value] if isinstance(value, list) else value


@modest
@given(json_values)
def test_order_of_keys_does_not_matter(value: Json) -> None:
    """Another writer, the same digest."""
    assert canonical(shuffled(value)) == canonical(value)


@modest
@given(st.integers(0, (1 << 64) - 1).map(lambda bits: struct.unpack("<d", struct.pack("<Q", bits))[0]))
def test_every_finite_float_survives_its_spelling(number: float) -> None:
    """Shortest form, no digit lost."""
    if math.isfinite(number) and repr(number) != "-0.0":
        assert json.loads(canonical(number)) == number


def test_digest_names_its_algorithm() -> None:
    """A reader must know what to compute."""
    assert digest(b"") == "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


def test_converted_value_is_the_struct() -> None:
    """As JSON gives it: lists become tuples, missing fields their defaults."""
    given_value = {"title": "?", "fields": [{"name": "q1", "options": [{"key": "a", "label": "A"}]}]}
    assert convert(given_value, Prompt) == Prompt("?", fields=(Field("q1", options=(Option("a", "A"),)),))


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        ({"title": 5}, "Expected str, got int at $.title."),
        ({"title": "?", "fields": [{"name": []}]}, "Expected str, got array at $.fields[0].name."),
        ({}, "Object missing required field title."),
        ("x", "Expected object, got str."),
    ],
)
def test_value_of_another_shape_is_refused_with_its_place(value: Json, sentence: str) -> None:
    """S18: wrong types are a request that cannot be read, not a fault of ours."""
    with pytest.raises(BadRequestError) as caught:
        convert(value, Prompt)
    assert caught.value.message == sentence
    assert caught.value.code == "bad_request"
