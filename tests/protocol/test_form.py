"""A form: one field for each property of a schema, and no value that the schema would refuse."""

import json
from collections.abc import Callable
from typing import Any

import jsonschema
import msgspec
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from assent.protocol.answer import check_values
from assent.protocol.block import render_question
from assent.protocol.error import BadPromptError, BadRequestError, TooLargeError, UnrecognisedError
from assent.protocol.form import MAX_SCHEMA_BYTES, form, form_fields, form_value, is_form
from assent.protocol.prompt import Field, Option, Prompt, check_prompt, encode_prompt, question
from assent.protocol.reply import parse_reply, read_field, recognise
from assent.protocol.shape import Absence, Shape, ValueType
from tests.chance import examples
from tests.protocol.strategies import modest

__all__: list[str] = []

Schema = dict[str, Any]


def of(property_: object, *, required: bool = True) -> Schema:
    """Return the schema of an object with one property."""
    return {
        "type": "object",
        "properties": {"port": property_},
        "required": ["port"] if required else [],
    }


def ask(property_: object, *, required: bool = True) -> Prompt:
    """Return the form for one property, as it would be opened."""
    prompt = form("Settings?", of(property_, required=required))
    check_prompt(prompt)
    return prompt


def read(prompt: Prompt, text: str) -> dict[str, Any]:
    """Return the object that a reply spells."""
    return form_value(prompt, recognise(prompt, text))


SETTINGS = form(
    "Deploy settings?",
    {
        "type": "object",
        "description": "For the shop.",
        "properties": {
            "host": {"type": "string", "minLength": 2, "maxLength": 20},
            "port": {"type": "integer", "minimum": 1, "maximum": 65535, "default": 8080},
            "share": {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
            "dry": {"type": "boolean"},
            "colour": {"enum": ["red", "blue", 3]},
            "days": {"type": "array", "items": {"enum": ["Mon", "Tue"]}, "maxItems": 1},
            "from": {"type": "string", "format": "date"},
        },
        "required": ["host", "port", "share", "dry", "colour"],
    },
)


# From a schema to questions


def test_form_has_a_question_for_each_property() -> None:
    """In their order; what can be chosen has options, everything else is typed."""
    check_prompt(SETTINGS)
    assert is_form(SETTINGS)
    assert SETTINGS.body == "For the shop."
    assert [field.name for field in SETTINGS.fields] == [
        "host",
        "port",
        "share",
        "dry",
        "colour",
        "days",
        "from",
    ]
    assert [field.free for field in SETTINGS.fields] == [True, True, True, False, False, False, True]
    dry, colour, days = SETTINGS.fields[3:6]
    assert dry.options == (Option("true", "Yes"), Option("false", "No"))
    assert [option.key for option in colour.options] == ["red", "blue", "3"]
    assert [option.key for option in days.options] == ["Mon", "Tue", "[]", "-"]
    assert days.multiple


def test_form_says_what_each_value_has_to_be() -> None:
    """Before anybody types, and with the default for them to see."""
    shown = render_question(SETTINGS)
    assert (
        "Q2 port\n: A whole number, at least 1, at most 65535.\n: Default: 8080\nType your answer." in shown
    )
    assert "Q3 share\n: A number, more than 0, less than 1." in shown
    assert "Q7 from\n: A date, as in 2026-01-31; - leaves it out." in shown


def test_form_takes_titles_and_descriptions_from_the_schema() -> None:
    """What the asker wrote for people is what people read."""
    field = form_fields(of({"type": "boolean", "title": "Dry run", "description": "Change nothing."}))[0]
    assert field.text == "Dry run\nChange nothing."


def test_form_follows_references_and_optional_types() -> None:
    """The ways in which types of Python are spelled as JSON Schema."""
    schema: Schema = {
        "$ref": "#/$defs/Settings",
        "$defs": {
            "Colour": {"enum": ["red", "blue"], "title": "Colour", "type": "string"},
            "Settings": {
                "type": "object",
                "properties": {
                    "colour": {"$ref": "#/$defs/Colour", "default": "red"},
                    "once": {"allOf": [{"$ref": "#/$defs/Colour"}]},
                    "count": {"anyOf": [{"type": "integer"}, {"type": "null"}], "default": None},
                    "more": {"type": ["integer", "null"]},
                    "days": {"type": "array", "items": {"$ref": "#/$defs/Colour"}, "uniqueItems": True},
                },
                "required": ["once", "more", "days"],
            },
        },
    }
    fields = form_fields(schema)
    shapes = [field.shape for field in fields]
    assert shapes == [
        Shape(ValueType.CHOICE, ("red", "blue"), Absence.LEFT_OUT),
        Shape(ValueType.CHOICE, ("red", "blue")),
        Shape(ValueType.INTEGER, (), Absence.LEFT_OUT),
        Shape(ValueType.INTEGER, (), Absence.NULL),
        Shape(ValueType.CHOICES, ("red", "blue")),
    ]
    assert fields[0].text == "Colour\nDefault: red"


CIRCLE = {"$ref": "#/$defs/A"}


@pytest.mark.parametrize(
    ("schema", "place"),
    [
        ({"type": "string"}, "$.type"),
        ([], "$"),
        ({"type": "object"}, "$.properties"),
        ({"type": "object", "properties": {}}, "$.properties"),
        ({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["b"]}, "$.required"),
        ({"type": "object", "properties": {"a": {"type": "string"}}, "required": [["a"]]}, "$.required"),
        ({**of({"type": "string"}), "patternProperties": {}}, "$.patternProperties"),
        ({**of({"type": "string"}), "additionalProperties": {"type": "string"}}, "$.additionalProperties"),
        (of(True), "$.properties.port"),
        (of({}), "$.properties.port.type"),
        (of({"type": "null"}), "$.properties.port.type"),
        (of({"type": ["string", "integer"]}), "$.properties.port.type"),
        (of({"type": {"a": 1}}), "$.properties.port.type"),
        (of({"type": "object", "properties": {}}), "$.properties.port.type"),
        (of({"type": "string", "minimum": 1}), "$.properties.port.minimum"),
        (of({"type": "integer", "minimum": "1"}), "$.properties.port.minimum"),
        (of({"type": "integer", "minimum": True}), "$.properties.port.minimum"),
        (of({"type": "number", "multipleOf": 0.1}), "$.properties.port.multipleOf"),
        (of({"type": "string", "minLength": -1}), "$.properties.port.minLength"),
        (of({"type": "string", "format": "ipv4"}), "$.properties.port.format"),
        (of({"type": "string", "pattern": 3}), "$.properties.port.pattern"),
        (of({"type": "string", "contentEncoding": "base64"}), "$.properties.port.contentEncoding"),
        (of({"oneOf": [{"type": "string"}, {"type": "integer"}]}), "$.properties.port.oneOf"),
        (of({"anyOf": 3}), "$.properties.port.anyOf"),
        (of({"anyOf": [{"type": "string"}], "maxLength": 3}), "$.properties.port.maxLength"),
        (of({"not": {"type": "string"}}), "$.properties.port.not"),
        (of({"$ref": "https://example.org/a.json"}), "$.properties.port.$ref"),
        (of({"$ref": "#/$defs/Gone"}), "$.properties.port.$ref"),
        (of({"$ref": 3}), "$.properties.port.$ref"),
        (of({"$ref": "#/properties/port"}), "$.properties.port.$ref"),
        ({**of(CIRCLE), "$defs": {"A": CIRCLE}}, "$.properties.port.$ref"),
        ({**of(CIRCLE), "$defs": {"A": {"anyOf": [CIRCLE]}}}, "$.properties.port" + 9 * ".anyOf"),
        ({**of(CIRCLE), "$defs": {"A": {"type": "array", "items": CIRCLE}}}, "$.properties.port.items"),
        (of({"type": "array"}), "$.properties.port.items"),
        (of({"type": "array", "items": {"type": "string"}}), "$.properties.port.items"),
        (of({"type": "array", "items": {"enum": ["a1", None]}}), "$.properties.port.items"),
        (of({"enum": []}), "$.properties.port.enum"),
        (of({"enum": "abc"}), "$.properties.port.enum"),
        (of({"enum": [["a"]]}), "$.properties.port.enum"),
        (of({"enum": ["-"]}), "$.properties.port.enum"),
        (of({"enum": ["a1"], "const": "a1"}), "$.properties.port.const"),
        (of({"type": "integer", "enum": ["a1"]}), "$.properties.port.enum"),
        (of({"type": "integer", "enum": [True]}), "$.properties.port.enum"),
        (of({"type": "array", "enum": ["a1"]}), "$.properties.port.enum"),
        (of({"type": "string", "enum": ["a1"], "maxLength": 1}), "$.properties.port.maxLength"),
    ],
)
def test_schema_that_a_form_cannot_check_is_refused_with_its_place(schema: Any, place: str) -> None:
    """A rule that nobody checks must not look as if somebody did."""
    with pytest.raises(BadPromptError) as refused:
        form_fields(schema)
    assert refused.value.message.startswith(f"{place}: ")


@pytest.mark.parametrize(
    "property_",
    [
        {"type": "string", "pattern": "(?=a)"},
        {"type": "integer", "minimum": 3, "maximum": 2},
        {"type": "integer", "multipleOf": 0},
        {"type": "string", "minLength": 3, "maxLength": 2},
        {"type": "string", "maxLength": 0},
        {"type": "array", "items": {"enum": ["a1"]}, "minItems": 2},
        {"enum": ["A1", "a1"]},
        {"enum": ["3", 3]},
    ],
)
def test_question_that_nobody_could_answer_is_refused_with_its_name(property_: Schema) -> None:
    """No value lies within the limits, or two options look alike."""
    with pytest.raises(BadPromptError):
        ask(property_)


def test_schema_over_a_limit_is_refused() -> None:
    """Size, depth, properties, choices, and the length of a pattern."""
    with pytest.raises(TooLargeError):
        form_fields(of({"type": "string", "description": "x" * MAX_SCHEMA_BYTES}))
    deep: Any = "x"
    for _ in range(40):
        deep = [deep]
    with pytest.raises(BadRequestError, match="deeper"):
        form_fields(of({"type": "string", "default": deep}))
    many = {f"p{number}": {"type": "string"} for number in range(51)}
    with pytest.raises(BadPromptError, match="1 to 50"):
        form_fields({"type": "object", "properties": many})
    with pytest.raises(BadPromptError, match="1 to 200"):
        form_fields(of({"enum": [f"choice {number}" for number in range(201)]}))
    with pytest.raises(TooLargeError, match=r'^"port": A pattern'):
        ask({"type": "string", "pattern": "a" * 201})


# From a reply to a value


def test_reply_to_a_form_becomes_an_object_with_types() -> None:
    """Stored are texts; the agent gets what the schema promises."""
    values = recognise(
        SETTINGS, "q1: shop.example\nport: 443\nq3: 0.5\nq4: yes\nq5: 3)\nq6: Mon\nq7: 2026-01-02"
    )
    assert values["port"] == ("443",)
    assert form_value(SETTINGS, values) == {
        "host": "shop.example",
        "port": 443,
        "share": 0.5,
        "dry": True,
        "colour": 3,
        "days": ["Mon"],
        "from": "2026-01-02",
    }


def test_wrong_values_are_refused_by_name_and_with_the_reason() -> None:
    """Every one of them, and what was right is kept apart."""
    text = "q1: shop\nq2: 99999\nq3: 1\nq4: perhaps\nq5: red\nq6: Mon, Tue\nq7: 2026-02-30"
    with pytest.raises(UnrecognisedError) as refused:
        recognise(SETTINGS, text)
    for sentence in (
        "q2 (port): 99999 is greater than 65535.",
        "q3 (share): 1 is not less than 1.",
        '"perhaps" is no answer to q4.',
        "q6 (days): it takes at most 1 of the options.",
        'q7 (from): "2026-02-30" is no date, as in 2026-01-31.',
    ):
        assert sentence in refused.value.message
    assert set(parse_reply(SETTINGS, text).values) == {"host", "colour"}


def test_wrong_value_that_comes_ready_made_is_refused_alike() -> None:
    """A page or a program sends values by name; they are checked by the same rules."""
    values = {
        "host": ["shop"],
        "port": ["0"],
        "share": ["0.5"],
        "dry": ["true"],
        "colour": ["red"],
        "days": ["-"],
        "from": ["-"],
    }
    with pytest.raises(UnrecognisedError, match=r"^q2 \(port\): 0 is less than 1\.$"):
        check_values(SETTINGS, values)
    assert form_value(SETTINGS, check_values(SETTINGS, {**values, "port": ["1"]})) == {
        "host": "shop",
        "port": 1,
        "share": 0.5,
        "dry": True,
        "colour": "red",
    }


def test_single_question_of_a_form_is_read_as_strictly() -> None:
    """Also where a surface looks at one field alone."""
    prompt = ask({"type": "integer", "maximum": 9})
    assert read_field(prompt.fields[0], "10") is None
    assert read_field(prompt.fields[0], "9") == ("9",)
    with pytest.raises(UnrecognisedError, match=r'^I didn\'t recognize "10"\. port: 10 is greater than 9\.$'):
        recognise(prompt, "10")


@pytest.mark.parametrize(
    ("property_", "required", "value"),
    [
        ({"type": "integer", "default": 3}, False, {}),
        ({"type": ["integer", "null"]}, True, {"port": None}),
        ({"type": ["integer", "null"]}, False, {}),
        ({"anyOf": [{"type": "string", "enum": ["a1"]}, {"type": "null"}]}, True, {"port": None}),
        ({"enum": ["a1", None]}, True, {"port": None}),
        ({"type": "boolean"}, False, {}),
        ({"type": "array", "items": {"enum": ["a1"]}}, False, {}),
    ],
)
def test_value_is_left_out_only_by_saying_so(
    property_: Schema, required: bool, value: dict[str, Any]
) -> None:
    """A dash; a default is never filled in, and silence is no value."""
    prompt = ask(property_, required=required)
    assert read(prompt, "-") == value
    jsonschema.validate(value, of(property_, required=required))
    with pytest.raises(UnrecognisedError):
        recognise(prompt, " ")
    with pytest.raises(UnrecognisedError):
        check_values(prompt, {})


@pytest.mark.parametrize(
    "property_",
    [
        {"type": "integer"},
        {"type": "boolean"},
        {"type": ["string", "null"], "enum": ["a1"]},
        {"type": "string", "enum": ["a1", None]},
        {"type": "array", "items": {"enum": ["a1"]}},
    ],
)
def test_required_value_cannot_be_left_out(property_: Schema) -> None:
    """The dash means something only where it is offered."""
    with pytest.raises(UnrecognisedError):
        recognise(ask(property_), "-")


def test_list_may_be_empty_only_by_saying_so_and_where_the_schema_allows_it() -> None:
    """An option of its own, which goes with no other."""
    prompt = ask({"type": "array", "items": {"enum": ["a1", "b1"]}})
    assert read(prompt, "(none of them)") == {"port": []}
    assert read(prompt, "b1, a1") == {"port": ["b1", "a1"]}
    with pytest.raises(UnrecognisedError, match="port: none of the options cannot be chosen together"):
        recognise(prompt, "a1, []")
    with pytest.raises(UnrecognisedError):
        recognise(ask({"type": "array", "items": {"enum": ["a1"]}, "minItems": 1}), "[]")
    with pytest.raises(UnrecognisedError, match='port: "-" cannot be chosen together'):
        recognise(ask({"type": "array", "items": {"enum": ["a1"]}}, required=False), "a1, -")


@pytest.mark.parametrize(
    ("format_", "right", "wrong"),
    [
        ("date", ["2024-02-29"], ["2023-02-29", "29.02.2024", "2024-2-9", "20240229", "0000-01-01"]),
        (
            "date-time",
            ["2026-01-31T18:00:00Z", "2026-01-31T18:00:00.5+05:30"],
            ["2026-01-31T18:00:00", "2026-01-31", "2026-01-31T25:00:00Z", "tomorrow"],
        ),
        ("email", ["ana@example.org"], ["ana", "ana@", "@example.org", "a b@example.org", "a@b@c"]),
        ("uri", ["https://example.org/a?b#c", "urn:x:y"], ["example.org", "https:", "https://a b", "://x"]),
    ],
)
def test_text_with_a_format_is_taken_only_in_it(format_: str, right: list[str], wrong: list[str]) -> None:
    """A date is a day that exists, a moment has its zone."""
    prompt = ask({"type": "string", "format": format_})
    for text in right:
        assert read(prompt, text) == {"port": text}
    for text in wrong:
        with pytest.raises(UnrecognisedError, match=r"^I didn't"):
            recognise(prompt, text)


@pytest.mark.parametrize(
    "text", ["1,000", "1_000", "007", "+1", "0x10", "1.0", "1e3", "NaN", "٣", "one", "9" * 20, "9" * 500]
)
def test_whole_number_is_never_guessed(text: str) -> None:
    """It is written as JSON writes it."""
    with pytest.raises(UnrecognisedError):
        recognise(ask({"type": "integer"}), text)


# The schema and the form agree

NUMBERS = st.integers(-20, 20) | st.sampled_from([-1.5, 0.25, 2.0, 7.5])
LIMITS: dict[str, st.SearchStrategy[Any]] = {
    "minimum": NUMBERS,
    "maximum": NUMBERS,
    "exclusiveMinimum": NUMBERS,
    "exclusiveMaximum": NUMBERS,
    "multipleOf": st.integers(1, 5),
}
LENGTHS: dict[str, st.SearchStrategy[Any]] = {
    "minLength": st.integers(0, 4),
    "maxLength": st.integers(1, 6),
    "pattern": st.sampled_from(["^[a-c]+$", "[0-9]", "^(ab|c)*$", "a.c", "^-?[0-9]{1,3}$"]),
    "format": st.just("date"),
}
COUNTS: dict[str, st.SearchStrategy[Any]] = {"minItems": st.integers(0, 3), "maxItems": st.integers(0, 3)}
WORDS = ["red", "blue", "light green", 3, 7.5, True]
ENUMS = st.lists(st.sampled_from(WORDS), min_size=1, unique_by=repr).map(lambda values: {"enum": values})


def with_some(kind: str, keywords: dict[str, st.SearchStrategy[Any]]) -> st.SearchStrategy[Schema]:
    """Give schemas of a type with some of its keywords."""
    return st.fixed_dictionaries({"type": st.just(kind)}, optional=keywords)


PROPERTIES: st.SearchStrategy[Schema] = st.one_of(
    with_some("integer", LIMITS),
    with_some("number", LIMITS),
    with_some("string", LENGTHS),
    st.just({"type": "boolean"}),
    ENUMS,
    ENUMS.flatmap(lambda items: with_some("array", {**COUNTS}).map(lambda found: {**found, "items": items})),
)
TEXTS = st.one_of(
    st.integers(-25, 25).map(str),
    st.sampled_from(["0.25", "-1.5", "2.0", "1e1", "7.5", "2026-01-02", "2026-13-02", "yes", "No", "True"]),
    st.text("abc019 -.", min_size=1, max_size=7),
    st.lists(st.sampled_from([str(word) for word in WORDS]), min_size=1, max_size=3).map(", ".join),
)


def meaning(property_: Schema, text: str) -> Any:
    """Return the value that a text stands for, told without the code under test; fail where it stands for none."""
    if "enum" in property_:
        return {"yes": True, **{str(word).lower(): word for word in WORDS}}[text.lower()]
    kind = property_["type"]
    if kind == "array":
        return [meaning(property_["items"], part) for part in dict.fromkeys(text.split(", "))]
    if kind == "boolean":
        return {"yes": True, "true": True, "no": False, "false": False}[text.lower()]
    if kind == "string":
        return text
    number = json.loads(text)
    if kind == "integer" and not isinstance(number, int):
        raise ValueError(text)
    return number


def is_valid(value: object, schema: Schema) -> bool:
    """Whether another validator accepts it."""
    checker = jsonschema.FormatChecker(["date"])
    return bool(jsonschema.Draft202012Validator(schema, format_checker=checker).is_valid(value))


def attempt(call: Callable[[], Any]) -> tuple[bool, Any]:
    """Return whether a reply or a text means something, and what."""
    try:
        return True, call()
    except (UnrecognisedError, ValueError, KeyError, TypeError):
        return False, None


@examples(1_500, parent=modest)
@given(PROPERTIES, TEXTS)
def test_text_is_accepted_exactly_where_the_schema_accepts_its_value(property_: Schema, text: str) -> None:
    """Whatever the flat schema and whatever is typed: two validators, one verdict."""
    text = text.strip()
    # Letters and numbers also stand for positions; what they choose is looked at elsewhere.
    is_chosen = "enum" in property_ or property_["type"] in ("boolean", "array")
    assume(text and not (is_chosen and any(len(part) < 3 for part in text.split(", ") if part != "No")))
    try:
        prompt = ask(property_)
    except BadPromptError:
        return  # nobody could answer it
    is_taken, value = attempt(lambda: read(prompt, text))
    is_meant, expected = attempt(lambda: {"port": meaning(property_, text)})
    assert is_taken == (is_meant and is_valid(expected, of(property_)))
    if is_taken:
        assert value == expected


@modest
@given(PROPERTIES, st.booleans())
def test_form_that_was_stored_is_the_same_form(property_: Schema, required: bool) -> None:
    """Its bytes, so its digest, so its key; and what it accepts."""
    try:
        prompt = ask(property_, required=required)
    except BadPromptError:
        return
    encoded = encode_prompt(prompt)
    again = msgspec.json.decode(encoded, type=Prompt)
    assert encode_prompt(again) == encoded
    assert check_prompt(again) == encoded


# Beside forms


def test_prompt_without_a_form_is_spelled_as_ever() -> None:
    """Its digest, and with it every key, stays what it was."""
    assert encode_prompt(question("Which?", ["one", "two"])) == (
        b'{"action":null,"body":"","commands":[],"fields":[{"free":false,"multiple":false,"name":"q1","options":'
        b'[{"description":"","destructive":false,"key":"one","label":"one","recommended":false},'
        b'{"description":"","destructive":false,"key":"two","label":"two","recommended":false}],"text":""}],'
        b'"risk":null,"title":"Which?"}'
    )


@pytest.mark.parametrize(
    "field",
    [
        Field("port", shape=Shape(ValueType.INTEGER), options=(Option("1", "one"),)),
        Field("port", shape=Shape(ValueType.CHOICE, ("a1",)), free=True),
        Field("port", shape=Shape(ValueType.CHOICE, ("a1",)), options=(Option("b1", "b1"),)),
        Field("port", shape=Shape(ValueType.CHOICE, ("a1",)), options=(Option("-", "nothing"),)),
        Field("port", shape=Shape(ValueType.CHOICES, ("a1",)), options=(Option("a1", "a1"),)),
        Field("port", shape=Shape(ValueType.STRING, least=-1), free=True),
        Field("port", shape=Shape(ValueType.STRING, pattern="a**"), free=True),
    ],
)
def test_shape_that_does_not_suit_its_field_is_refused(field: Field) -> None:
    """A prompt may be made by hand, or come from anywhere."""
    with pytest.raises(BadPromptError, match=r'^"port": '):
        check_prompt(Prompt("Settings?", fields=(field,)))


def test_shape_with_a_number_that_json_cannot_hold_is_refused() -> None:
    """As everywhere else in a prompt."""
    field = Field("port", free=True, shape=Shape(ValueType.NUMBER, minimum=float("nan")))
    with pytest.raises(BadRequestError):
        check_prompt(Prompt("Settings?", fields=(field,)))


def test_value_of_a_prompt_with_and_without_shapes_has_both() -> None:
    """A field without a shape keeps its text."""
    fields = (Field("why", free=True), ask({"type": "integer"}).fields[0])
    prompt = Prompt("Both?", fields=fields)
    assert not is_form(prompt)
    assert form_value(prompt, {"why": ("so",), "port": ("3",)}) == {"why": "so", "port": 3}
