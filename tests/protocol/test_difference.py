"""What differs between two actions: found byte for byte, named by its place, and shown harmlessly (S5)."""

import doctest
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import assent.protocol.difference
from assent.protocol.canonical import Json, canonical
from assent.protocol.difference import MAX_DIFFERENCES, find_differences, render_differences
from assent.protocol.display import is_hidden
from tests.protocol.strategies import json_values, modest, texts

__all__: list[str] = []


def told(approved: Json, presented: Json) -> str:
    """Return what is said of two actions."""
    return render_differences(find_differences(approved, presented))


def test_examples_in_docstrings_hold() -> None:
    """A reader copies them."""
    assert doctest.testmod(assent.protocol.difference).failed == 0


@pytest.mark.parametrize(
    ("approved", "presented"),
    [
        ({"a": 1, "b": [2.0]}, {"b": [2], "a": 1.0}),
        ([1, (2, 3)], [1, [2, 3]]),
        ("", ""),
        (None, None),
    ],
    ids=["order and number form", "tuple", "empty text", "null"],
)
def test_another_spelling_of_the_same_action_is_no_difference(approved: Json, presented: Json) -> None:
    """Key order and 1.0 for 1: equal values have equal bytes."""
    assert find_differences(approved, presented) == ()


@pytest.mark.parametrize(
    ("approved", "presented", "said"),
    [
        ({"n": 1}, {"n": True}, "$.n was approved as 1, and is true now."),
        ({"n": 1}, {"n": "1"}, '$.n was approved as 1, and is "1" now.'),
        ({"n": 1}, {}, "$.n was approved as 1, and is missing now."),
        ({}, {"n": None}, "$.n is null now, and was not approved."),
        ([1, 2], [1], "$[1] was approved as 2, and is missing now."),
        (
            {"a": {"b": [0, {"c": 1}]}},
            {"a": {"b": [0, {"c": 2}]}},
            "$.a.b[1].c was approved as 1, and is 2 now.",
        ),
        ({"two words": 1}, {"two words": 2}, '$["two words"] was approved as 1, and is 2 now.'),
        ({"a": 1}, [1], '$ was approved as {"a":1}, and is [1] now.'),
    ],
    ids=["true", "text", "missing", "added", "shorter", "deep", "key with a space", "another kind"],
)
def test_difference_is_named_by_its_place_with_both_values(
    approved: Json, presented: Json, said: str
) -> None:
    """So that an agent, or whoever reads its log, can mend it."""
    assert told(approved, presented) == said


def test_values_that_look_alike_are_told_apart() -> None:
    """A Cyrillic letter, a hidden one, and the text of the mark that stands for it."""
    assert told("admin", "аdmin") == '$ was approved as "admin", and is "\\u0430dmin" now.'
    assert told("a", "a\u200b") == '$ was approved as "a", and is "a<U+200B>" now.'
    assert told("a\u200b", "a<U+200B>") == '$ was approved as "a\\u200b", and is "a<U+200B>" now.'


def test_long_values_are_shown_where_they_differ() -> None:
    """A changed byte in the middle of a megabyte is in what is said."""
    text = "x" * 500_000
    said = told({"script": text + "rm -r /scratch" + text}, {"script": text + "rm -r /" + text})
    assert "/scratch" in said
    assert len(said) < 300


def test_only_the_first_few_are_named_and_the_rest_is_counted() -> None:
    """However much was changed, it is a sentence or two."""
    said = told({}, {f"k{number}": number for number in range(10)})
    assert said.count("was not approved") == MAX_DIFFERENCES
    assert said.endswith("There are 7 more differences.")


def test_hostile_keys_and_values_stay_harmless() -> None:
    """They cannot begin a line, hide, drive a terminal, or pass for a place of their own."""
    hostile = 'x\n$.n was approved as 1\x1b[2J\u202e"]'
    said = told({hostile: 1}, {hostile: hostile})
    assert not any(map(is_hidden, said))
    assert said.startswith('$["x\\n$.n was approved as 1')


@given(json_values, json_values)
@modest
def test_difference_is_found_exactly_where_bytes_differ(approved: Any, presented: Any) -> None:
    """Never one where there is none, never none where there is one; and both sides are never shown the same."""
    found = find_differences(approved, presented)
    assert bool(found) == (canonical(approved) != canonical(presented))
    assert all(difference.approved != difference.presented for difference in found)
    assert not any(map(is_hidden, render_differences(found)))


@given(st.dictionaries(texts, json_values, min_size=1, max_size=4), st.data())
@modest
def test_changed_entry_is_the_one_that_is_named(action: dict[str, Any], choice: st.DataObject) -> None:
    """One mutation: one place, or places inside of it."""
    key = choice.draw(st.sampled_from(sorted(action)))
    changed = {**action, key: choice.draw(json_values)}
    found = find_differences(action, changed)
    place = find_differences({key: 1}, {key: 2})[0].path
    assert all(difference.path.startswith(place[:200]) for difference in found)
