"""Patterns of a form: they mean what regular expressions mean, and none of them is slow."""

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assent.protocol.error import BadPromptError, TooLargeError
from assent.protocol.pattern import MAX_MATCHED, check_pattern, matches
from tests.chance import examples
from tests.protocol.strategies import modest

__all__: list[str] = []

ATOMS = st.sampled_from(["a", "b", "[ab]", "[^a]", ".", r"\d", r"\.", "^", "$", "c", "-"])
PATTERNS = st.recursive(
    ATOMS,
    lambda inner: st.one_of(
        st.tuples(inner, inner).map("".join),
        st.tuples(inner, inner).map(lambda pair: f"({pair[0]}|{pair[1]})"),
        st.tuples(inner, st.sampled_from(["?", "*", "+", "{2}", "{1,}", "{0,2}", "{0}"])).map(
            lambda pair: f"(?:{pair[0]}){pair[1]}"
        ),
    ),
    max_leaves=8,
)


@examples(1_000, parent=modest)
@given(PATTERNS, st.text("abc1.-", max_size=6))
def test_pattern_matches_exactly_what_a_regular_expression_matches(pattern: str, text: str) -> None:
    """Two matchers, one verdict."""
    try:
        found = matches(pattern, text)
    except TooLargeError:
        return
    assert found == bool(re.search(pattern, text))


@pytest.mark.parametrize(
    "pattern",
    [
        "(a*)*b",
        "((a+)+)+b",
        "(a|a)*b",
        "(a|aa)+$b",
        "(.*)(.*)(.*)(.*)x",
        "([a-c]{1,9}){1,9}d",
        "(a?){60}a{60}b",
    ],
)
def test_pattern_that_would_hang_a_regular_expression_is_done_at_once(pattern: str) -> None:
    """Nothing is tried twice, so the longest text takes no more than a moment."""
    begin = time.monotonic()
    assert not matches(pattern, "a" * MAX_MATCHED)
    assert time.monotonic() - begin < 5.0


@pytest.mark.parametrize(
    "pattern",
    [
        "a**",
        "a+?",
        "*a",
        "(",
        "a)",
        "(?=a)",
        "(?P<x>a)",
        r"(a)\1",
        r"\b",
        r"\p{L}",
        "[z-a]",
        "[",
        "]",
        "{",
        "a{3,2}",
        "[[:alpha:]]",
        "[a&&b]",
        "^*",
        "\\",
        "(?i)a",
    ],
)
def test_pattern_outside_the_safe_part_is_refused_with_its_place(pattern: str) -> None:
    """What could be slow, or mean something else elsewhere."""
    with pytest.raises(BadPromptError, match=r"at character [0-9]+ that is not allowed"):
        check_pattern(pattern)


@pytest.mark.parametrize(
    "pattern", ["a" * 201, "a{400}", "(a{100}){100}", "((a{20}){20}){20}", "(" * 99 + ")" * 99]
)
def test_pattern_over_a_limit_is_refused(pattern: str) -> None:
    """Its length, and its steps with each repetition spelled out."""
    with pytest.raises((TooLargeError, BadPromptError)):
        check_pattern(pattern)


def test_text_over_the_limit_is_refused() -> None:
    """It is not looked at."""
    with pytest.raises(TooLargeError):
        matches("a", "a" * (MAX_MATCHED + 1))


def test_classes_mean_ascii_and_the_end_is_the_very_end() -> None:
    """As JSON Schema means them, not as Python does."""
    assert not matches(r"^\d$", "٣")
    assert not matches("^a$", "a\n")
