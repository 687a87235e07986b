"""Ready-made values are held to the same rules as typed ones."""

from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assent.protocol.answer import MAX_REPLY_BYTES, check_reply_size, check_values, labels
from assent.protocol.error import TooLargeError, UnrecognisedError
from assent.protocol.prompt import Field, Option, Prompt, question
from tests.protocol.strategies import modest, prompts, texts

ROUND = Prompt(
    "Set up",
    fields=(
        Field("db", options=(Option("pg", "PostgreSQL"), Option("lite", "SQLite"))),
        Field("tags", options=(Option("a", "Alpha"), Option("b", "Beta")), multiple=True),
        Field("note", free=True),
    ),
)
GOOD: dict[str, Sequence[str]] = {"note": ["hi"], "tags": ["b", "a", "b"], "db": ["pg"]}


def test_values_come_back_in_the_order_of_the_prompt_without_duplicates() -> None:
    """One answer, one spelling, whoever sent it."""
    checked = check_values(ROUND, GOOD)
    assert checked == {"db": ("pg",), "tags": ("b", "a"), "note": ("hi",)}
    assert list(checked) == ["db", "tags", "note"]


def test_labels_are_what_people_read() -> None:
    """The key is for programs, the label for people; typed text is itself."""
    assert labels(ROUND, GOOD) == ["PostgreSQL", "Beta", "Alpha", "Beta", "hi"]
    assert labels(ROUND, {}) == []


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"db": []}, 'There is no answer to "db".'),
        ({"db": "pg"}, 'There is no answer to "db".'),
        ({"db": ["pg", "lite"]}, '"db" takes one answer, not 2.'),
        ({"db": ["PostgreSQL"]}, 'I didn\'t recognize "PostgreSQL".'),
        ({"db": ["\x1b[2J"]}, 'I didn\'t recognize "<U+001B>[2J".'),
        ({"tags": ["a", "c"]}, 'I didn\'t recognize "c".'),
        ({"note": [""]}, 'The answer to "note" is empty.'),
        ({"note": [" \u200b"]}, 'The answer to "note" is empty.'),
        ({"note": ["\udc80"]}, 'I didn\'t recognize "<U+DC80>".'),
        ({"other\n": ["x"]}, 'There is no question "other<U+000A>" here.'),
    ],
)
def test_values_that_do_not_answer_are_refused(change: Mapping[str, Sequence[str]], sentence: str) -> None:
    """Silence, strangers and leftovers are no answer; the sentence is safe to print."""
    with pytest.raises(UnrecognisedError) as caught:
        check_values(ROUND, {**GOOD, **change})
    assert caught.value.message == sentence


@pytest.mark.parametrize("name", ["db", "tags", "note"])
def test_missing_field_is_refused(name: str) -> None:
    """A partial answer is none."""
    with pytest.raises(UnrecognisedError):
        check_values(ROUND, {key: value for key, value in GOOD.items() if key != name})


def test_typed_text_has_a_limit_in_bytes() -> None:
    """64 KiB is more than a person types."""
    why = question("Why?")
    check_values(why, {"q1": ["x" * MAX_REPLY_BYTES]})
    check_reply_size("é" * (MAX_REPLY_BYTES // 2))
    for text in ("x" * (MAX_REPLY_BYTES + 1), "é" * (MAX_REPLY_BYTES // 2) + "x", "\ud800" * MAX_REPLY_BYTES):
        with pytest.raises(TooLargeError):
            check_reply_size(text)
    many = Prompt("?", fields=(Field("q1", multiple=True, free=True),))
    with pytest.raises(TooLargeError):
        check_values(many, {"q1": [f"{number:06}" for number in range(20_000)]})


@modest
@given(prompts(), st.data())
def test_accepted_values_are_options_or_text_where_text_is_allowed(
    prompt: Prompt, data: st.DataObject
) -> None:
    """Whatever is sent: refused, or all of it was on offer."""
    keys = [option.key for field in prompt.fields for option in field.options]
    given_values = st.lists(st.sampled_from(keys) | texts, max_size=3)
    values = {field.name: data.draw(given_values) for field in prompt.fields}
    try:
        checked = check_values(prompt, values)
    except UnrecognisedError:
        return
    for field in prompt.fields:
        offered = {option.key for option in field.options}
        assert checked[field.name]
        assert all(field.free or value in offered for value in checked[field.name])


# Gates

STOP = Prompt(
    "Ship?",
    fields=(Field("action", options=(Option("ship", "Ship it"), Option("stop", "Stop"))),),
    commands=("discard", "drop {IDs: H1, M2}"),
)


@pytest.mark.parametrize(
    ("given_value", "kept"),
    [
        ("stop", "stop"),
        ("Ship it", "ship"),
        ("1", "ship"),
        ("DISCARD", "discard"),
        ("drop m2 h1 m2", "drop M2, H1"),
    ],
)
def test_value_of_a_gate_is_kept_in_one_spelling(given_value: str, kept: str) -> None:
    """A tool that sends the label, the number or the command means what a person who types it means."""
    assert check_values(STOP, {"action": [given_value]}) == {"action": (kept,)}
    assert check_values(STOP, {"action": (kept,)}) == {"action": (kept,)}


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({}, '"action" takes one answer.'),
        ({"action": []}, '"action" takes one answer.'),
        ({"action": "stop"}, '"action" takes one answer.'),
        ({"action": ["stop", "ship"]}, '"action" takes one answer.'),
        ({"action": ["stop", "stop"]}, '"action" takes one answer.'),
        ({"action": ["b"]}, 'I didn\'t recognize "b".'),
        ({"action": [""]}, 'I didn\'t recognize "".'),
        ({"action": ["drop H1 H9"]}, 'I didn\'t recognize "drop H1 H9". There is no H9 here.'),
        ({"action": ["\udc80"]}, 'I didn\'t recognize "<U+DC80>".'),
        ({"action": ["stop"], "other": ["x"]}, 'There is no question "other" here.'),
    ],
)
def test_values_that_do_not_answer_a_gate_are_refused(
    values: Mapping[str, Sequence[str]], sentence: str
) -> None:
    """One action, and one that is there."""
    with pytest.raises(UnrecognisedError) as caught:
        check_values(STOP, values)
    assert caught.value.message == sentence


def test_labels_of_a_gate_are_what_people_read() -> None:
    """The label of an option, or the command as it was kept."""
    assert labels(STOP, {"action": ("ship",)}) == ["Ship it"]
    assert labels(STOP, {"action": ("drop M2, H1",)}) == ["drop M2, H1"]
