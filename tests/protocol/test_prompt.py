"""A prompt is opened only if people can see it, tell its options apart, and type each of them."""

import itertools
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assent.protocol import prompt as prompt_module
from assent.protocol.canonical import Json, canonical, parse_json
from assent.protocol.display import fold, skeleton
from assent.protocol.error import AssentError, BadJsonError, BadPromptError, BadRequestError, TooLargeError
from assent.protocol.prompt import (
    LETTERS,
    MAX_FIELDS,
    MAX_LABEL,
    MAX_OPTIONS,
    MAX_PROMPT_BYTES,
    MAX_TITLE,
    Field,
    Option,
    Prompt,
    check_prompt,
    encode_prompt,
    label_other,
    parse_position,
    prompt_digest,
    question,
    render_position,
)
from tests.protocol.strategies import modest, prompts


def of(*labels: str, free: bool = False) -> Prompt:
    return question("Which?", labels, free=free)


def named(*names: str) -> Prompt:
    return Prompt("?", fields=tuple(Field(name, free=True) for name in names))


def test_checked_prompt_gives_its_canonical_bytes() -> None:
    """What is stored is what is digested."""
    prompt = of("PostgreSQL", "SQLite")
    assert check_prompt(prompt) == encode_prompt(prompt) == canonical(prompt)
    assert prompt_digest(check_prompt(prompt)).startswith("sha256:")
    assert msgspec.json.decode(check_prompt(prompt), type=Prompt) == prompt


def test_digest_changes_with_anything_that_is_shown() -> None:
    """An answer belongs to what was seen, to the letter."""
    base = Prompt("t", "b", (Field("q1", "x", (Option("a", "A"), Option("b", "B"))),), {"n": 1}, "r")
    field = base.fields[0]
    others = [
        msgspec.structs.replace(base, title="T"),
        msgspec.structs.replace(base, body="b "),
        msgspec.structs.replace(base, action={"n": 2}),
        msgspec.structs.replace(base, risk=None),
        msgspec.structs.replace(base, commands=("pause",)),
        msgspec.structs.replace(base, fields=(msgspec.structs.replace(field, free=True),)),
        msgspec.structs.replace(base, fields=(msgspec.structs.replace(field, multiple=True),)),
        msgspec.structs.replace(base, fields=(msgspec.structs.replace(field, options=field.options[::-1]),)),
        msgspec.structs.replace(base, fields=(msgspec.structs.replace(field, text=""),)),
    ]
    digests = {prompt_digest(encode_prompt(prompt)) for prompt in (base, *others)}
    assert len(digests) == 1 + len(others)
    same = msgspec.structs.replace(base, action={"n": 1.0})
    assert encode_prompt(same) == encode_prompt(base)


def test_question_without_options_takes_free_text() -> None:
    """Otherwise nobody could answer it."""
    assert question("Why?").fields[0].free
    assert not of("a", "b").fields[0].free
    assert of("a", "b", free=True).fields[0].free
    assert question("Why?", [Option("k", "Label")]).fields[0].options[0].key == "k"


@pytest.mark.parametrize(
    "prompt",
    [
        Prompt("", fields=(Field("q1", free=True),)),
        Prompt(" \u200b\n", fields=(Field("q1", free=True),)),
        Prompt("?"),
        named("a", "a"),
        named("a", "A "),
        named("a", " "),
        named("q2", "other"),
        named("x", "Q1"),
        Prompt("?", fields=(Field("q1"),)),
        of("yes", ""),
        of("yes", " \u3164"),
        of("yes", "Yes"),
        of("yes", "yes\u200b"),
        of("Approve", "Аpprove"),
        of("Straße", "STRASSE"),
        of("Ν", "ν"),
        of("a", "B", "c", "x", "b "),
        question("?", [Option("no", "yes"), Option("x", "no")]),
        question("?", [Option("a1", "yes"), Option("a1", "no")]),
    ],
)
def test_prompt_that_cannot_be_seen_or_told_apart_is_refused(prompt: Prompt) -> None:
    """S4: no gate is accepted whose options share a shape."""
    with pytest.raises(BadPromptError):
        check_prompt(prompt)


@pytest.mark.parametrize(
    ("labels", "free"),
    [
        (("B", "x"), False),
        (("x", "A"), False),
        (("b)", "x"), False),
        (("2)", "x"), False),
        (("x", "1."), False),
        (("C", "x"), True),
        (("В", "x"), False),  # a Cyrillic ve, which anybody types as B
        (("Ｂ", "x"), False),
        (("B\u200b", "x"), False),
    ],
)
def test_option_that_reads_like_the_address_of_another_is_refused(
    labels: tuple[str, ...], free: bool
) -> None:
    """Shown as "A) B" it could never be typed without a guess."""
    with pytest.raises(BadPromptError, match="reads like the letter or number of another option"):
        check_prompt(of(*labels, free=free))


@pytest.mark.parametrize(
    ("labels", "free"),
    [
        (("A", "B", "C"), False),
        (("x", "y", "C"), False),
        (("1", "2", "3"), False),
        (("1", "3", "5"), False),  # "3" alone is ambiguous then, but A) to C) are not
        (("C", "x"), False),  # there is no third position
        (("Z", "x"), True),
        (("I", "O", "0x"), False),
        (("rn", "m"), False),
        (tuple(f"step {n}" for n in range(40)), True),
    ],
)
def test_honest_options_pass(labels: tuple[str, ...], free: bool) -> None:
    """Twin of the refusals above."""
    check_prompt(of(*labels, free=free))


@pytest.mark.parametrize(
    "prompt",
    [
        question("x" * (MAX_TITLE + 1)),
        of(*map(str, range(1000, 1001 + MAX_OPTIONS))),
        of("x" * (MAX_LABEL + 1)),
        question("?", [Option("x" * (MAX_LABEL + 1), "x")]),
        named("x" * (MAX_LABEL + 1)),
        question("?", body="x" * MAX_PROMPT_BYTES),
        question("?", body="é" * (MAX_PROMPT_BYTES // 2)),
    ],
)
def test_prompt_over_a_limit_is_too_large(prompt: Prompt) -> None:
    """Everything has a limit."""
    with pytest.raises(TooLargeError):
        check_prompt(prompt)


def test_prompt_of_too_many_questions_is_refused() -> None:
    """A person answers a round, not a survey."""
    check_prompt(named(*(f"n{number}" for number in range(MAX_FIELDS))))
    with pytest.raises(BadPromptError):
        check_prompt(named(*(f"n{number}" for number in range(MAX_FIELDS + 1))))


@pytest.mark.parametrize("action", [float("nan"), {"a": "\ud800"}, {1: 2}, [1 << 70], object()])
def test_action_that_is_no_json_is_refused(action: object) -> None:
    """What is approved must be the same for every reader."""
    with pytest.raises(BadJsonError):
        check_prompt(Prompt("?", fields=(Field("q1", free=True),), action=action))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "prompt",
    [
        question("\ud800"),
        question("?", body="\udfff"),
        of("a", "\ud800"),
        named("\ud800"),
        question("?", [Option("k", "l", description="\ud800")]),
    ],
)
def test_text_that_cannot_be_encoded_is_refused(prompt: Prompt) -> None:
    """It could be neither stored nor sent."""
    with pytest.raises(BadRequestError):
        check_prompt(prompt)


def test_hostile_text_in_sentences_about_a_prompt_is_shown_inert() -> None:
    """S3: the refusal goes to a terminal."""
    with pytest.raises(BadPromptError) as caught:
        check_prompt(of("a\x1b[2J", "A\x1b[2J"))
    assert caught.value.message == 'The options "a<U+001B>[2J" and "A<U+001B>[2J" look alike.'


@modest
@given(prompts())
def test_options_of_a_checked_prompt_differ_in_every_way_of_reading(prompt: Prompt) -> None:
    """No two options share a shape or a spelling, in label or key."""
    for field in prompt.fields:
        for one, other in itertools.combinations(field.options, 2):
            for mine, yours in itertools.product((one.label, one.key), (other.label, other.key)):
                assert fold(mine) != fold(yours)
                assert skeleton(mine) != skeleton(yours)


def test_prompt_read_from_json_is_the_prompt() -> None:
    """Round trip through the strict reader."""
    prompt = Prompt(
        "t", "b", (Field("q1", "x", (Option("a", "A", recommended=True),)),), {"n": [1]}, "r", ("pause",)
    )
    assert msgspec.convert(parse_json(check_prompt(prompt)), Prompt) == prompt


def test_positions_are_letters_then_numbers() -> None:
    """C5, and beyond Z there are only numbers."""
    shown = [render_position(position) for position in range(28)]
    assert "".join(shown[:26]) == LETTERS
    assert shown[26:] == ["27", "28"]
    for position, mark in enumerate(shown):
        for typed in (mark, f"{mark}.", f"{mark})", str(position + 1), f"{position + 1})"):
            assert parse_position(fold(typed)) == position


@pytest.mark.parametrize(
    "typed", ["", "0", "01", "a b", "aa", "1..", "(a)", "-1", "1000", "١", "ａ", "é", "1 )"]
)
def test_anything_else_is_no_position(typed: str) -> None:
    """Twin of the test above."""
    assert parse_position(fold(typed)) is None


@pytest.mark.parametrize("options", ["abc", [1, 2], [None], [["a"]]])
def test_question_whose_options_are_no_list_of_texts_is_refused(options: Any) -> None:
    """One text would otherwise become an option for each of its letters."""
    with pytest.raises(BadPromptError):
        question("Which?", options)


_NEAR_MISSES = st.text("aAbBlI1oO02) .-\té", max_size=3)


@modest
@given(st.lists(_NEAR_MISSES, min_size=1, max_size=4), st.booleans(), st.booleans())
def test_one_look_at_plain_options_gives_the_same_verdict_as_a_look_at_each(
    labels: list[str], is_keyed: bool, free: bool
) -> None:
    """The short way must never let pass what the long way refuses, nor refuse more."""
    options = tuple(Option(f"k{n}" if is_keyed else label, label) for n, label in enumerate(labels))
    prompt = Prompt("Which?", fields=(Field("q1", "", options, free=free),))

    def verdict(is_plain: Callable[[Field], bool]) -> str:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(prompt_module, "_is_plain", is_plain)
            try:
                check_prompt(prompt)
            except AssentError as refusal:
                return refusal.code
        return "accepted"

    assert verdict(prompt_module._is_plain) == verdict(lambda _: False)


# Gates


def gate(*options: str | Option, commands: tuple[str, ...] = ("pause",), **changes: Any) -> Prompt:
    prompt = question("Ship?", options)
    field = msgspec.structs.replace(prompt.fields[0], **{"free": False, **changes})
    return msgspec.structs.replace(prompt, fields=(field,), commands=commands)


def test_gate_has_one_question_with_one_answer_and_no_other_text() -> None:
    """What is typed there is an option or a command, so nothing else can be meant."""
    check_prompt(gate("Go", "Stop"))
    check_prompt(gate())  # commands alone will do
    two = msgspec.structs.replace(gate("Go"), fields=(*gate("Go").fields, Field("q2", free=True)))
    for prompt in (gate("Go", free=True), gate("Go", multiple=True), two):
        with pytest.raises(BadPromptError, match="A prompt with commands has one question"):
            check_prompt(prompt)


@pytest.mark.parametrize(
    ("prompt", "sentence"),
    [
        (gate("Go", "GO"), 'The options "Go" and "GO" look alike.'),
        (gate("Pause", "Go"), 'The command "pause" reads like an option.'),
        (gate(Option("pause", "Go")), 'The command "pause" reads like an option.'),
        (gate("2", "Go"), '"2" could mean option 1 or option 2.'),
        (gate("Go", "1. Go"), '"1. go" could mean option 1 or option 2.'),
        (gate("Go", commands=("go {IDs",)), '"go {IDs" is not how a command is spelled.'),
        (
            gate("Drop H1", commands=("drop {IDs: H1}",)),
            '"drop h1" could mean option 1 or something behind "drop".',
        ),
    ],
)
def test_gate_at_which_a_text_could_mean_two_things_is_refused(prompt: Prompt, sentence: str) -> None:
    """Before anybody sees it; at a question, letters would still tell them apart."""
    with pytest.raises(BadPromptError) as caught:
        check_prompt(prompt)
    assert caught.value.message == sentence


def test_question_may_have_a_number_for_an_option_where_a_gate_may_not() -> None:
    """Twin: there are letters at a question."""
    check_prompt(msgspec.structs.replace(gate("2", "Go"), commands=()))
    with pytest.raises(BadPromptError):
        check_prompt(gate("2", "Go"))


# The label for words of one's own.


def test_label_for_own_words_that_is_not_set_leaves_the_digest_alone() -> None:
    """A prompt that was stored before there were such labels is still the same prompt."""
    prompt = Prompt("t", "b", (Field("q1", "x", (Option("a", "Red"),), free=True),), {"n": 1})
    assert check_prompt(prompt) == (
        b'{"action":{"n":1},"body":"b","commands":[],"fields":[{"free":true,"multiple":false,"name":"q1","options":'
        b'[{"description":"","destructive":false,"key":"a","label":"Red","recommended":false}],"text":"x"}],'
        b'"risk":null,"title":"t"}'
    )


@modest
@given(prompts(), st.text(max_size=20))
def test_prompt_without_the_label_is_spelled_as_ever(prompt: Prompt, text: str) -> None:
    """Whatever stands in its texts, also what looks like the label's own spelling."""
    prompt = msgspec.structs.replace(prompt, title=text + ',"other":""', body='"other":"",')
    spelled: Json = {
        "title": prompt.title,
        "body": prompt.body,
        "fields": [
            {
                "name": field.name,
                "text": field.text,
                "options": [msgspec.to_builtins(option) for option in field.options],
                "multiple": field.multiple,
                "free": field.free,
            }
            for field in prompt.fields
        ],
        "action": None,
        "risk": None,
        "commands": [],
    }
    assert encode_prompt(prompt) == canonical(spelled)
    assert msgspec.json.decode(encode_prompt(prompt), type=Prompt) == prompt


def test_label_for_own_words_is_part_of_what_is_shown() -> None:
    """Another label is another prompt, and it comes back as it was."""
    plain, labelled = (
        of("Red", "Blue", free=True),
        question("Which?", ["Red", "Blue"], free=True, other="Mine"),
    )
    assert check_prompt(plain) != check_prompt(labelled)
    assert msgspec.json.decode(check_prompt(labelled), type=Prompt) == labelled
    assert label_other(plain.fields[0], "Mine") == labelled.fields[0]
    assert label_other(labelled.fields[0], "Yours") == labelled.fields[0]


@pytest.mark.parametrize(
    "label",
    ["Red", " red ", "r\u0435d", "A", "B)", "\u200b", "   ", "x" * (MAX_LABEL + 1)],
    ids=["option", "folded", "look-alike", "letter", "mark", "hidden", "blank", "long"],
)
def test_label_for_own_words_is_checked_like_an_option(label: str) -> None:
    """C13 lets it be anything that people can tell from the options."""
    with pytest.raises((BadPromptError, TooLargeError)):
        check_prompt(question("Which?", ["Red", "Blue"], free=True, other=label))


@pytest.mark.parametrize(
    "label", ["其他（可填写）", "自由输入", "自定义", "自定义答案", "Другое", "C", "Something else"]
)
def test_label_for_own_words_may_be_in_any_language(label: str) -> None:
    """C12, C13: none is required, and none is forbidden."""
    check_prompt(question("Which?", ["Red", "Blue"], free=True, other=label))


@pytest.mark.parametrize("field", [Field("q1", free=True), Field("q1", options=(Option("a", "Red"),))])
def test_label_without_a_place_for_it_is_refused_or_left_out(field: Field) -> None:
    """Where there are no options, or no other text, nothing stands there."""
    with pytest.raises(BadPromptError):
        check_prompt(Prompt("?", fields=(msgspec.structs.replace(field, other="Mine"),)))
    assert label_other(field, "Mine") == field
