"""By what two findings are told to be the same, and what is kept of a quote."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assent.protocol.fingerprint import SNIPPET, finding_id, fingerprint, normalise, overlap, snippet
from tests.effort import MUCH, effort
from tests.protocol.strategies import modest

__all__: list[str] = []

marks = st.text(st.sampled_from('<!->"\\ ab\n'), max_size=60)


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("Scope Boundaries", "scope boundaries"),
        ("  Scope:\n the   re-use ", "scope the reuse"),
        ("`safe_auto` + “tiers” — 3.5b", "safeauto tiers 35b"),
        ("$5 ~ ^<tag>|", "5 tag"),
        ("Ünïcode №5 → 进度。", "ünïcode №5 → 进度"),
        ("hid\u200bden\x1b", "hidden"),
        ("?!", "?!"),
        ("", ""),
    ],
    ids=range(8),
)
def test_text_is_normalised_to_its_words(text: str, normal: str) -> None:
    """W-U4: lower case, punctuation removed and not replaced, white space collapsed."""
    assert normalise(text) == normal
    assert normalise(normal) == normal


def test_fingerprint_tells_section_from_title() -> None:
    """The words of one do not run into the other."""
    assert fingerprint("a b", "c") != fingerprint("a", "b c")
    assert fingerprint("A: b!", "C") == fingerprint("a b", "c.")


def test_id_is_the_fingerprint_until_that_is_too_long() -> None:
    """Then it is cut, and a digest tells it from others that begin the same."""
    assert finding_id("Scope", "Two tiers") == "scope: two tiers"
    long = [finding_id("s" * 500, "t" * 499 + end) for end in "ab"]
    assert len(set(long)) == 2
    assert all(len(each) <= 220 for each in long)


@pytest.mark.parametrize(
    ("quote", "kept"),
    [
        ("two\n  words", "two words"),
        ('a "b" c', 'a \\"b\\" c'),
        ("a <!-- b --> c --!> d", "a b c d"),
        ("a <!<!---- b", "a b"),
        ("a -\\-> b", "a b"),
        ("back\\slash", "backslash"),
        ("word " * 40, ("word " * 24).strip()),
        ("x" * 200, "x" * SNIPPET),
        ("x" * 119 + '"', "x" * 119),
        (" ", ""),
    ],
    ids=range(10),
)
def test_snippet_is_the_beginning_of_a_quote(quote: str, kept: str) -> None:
    """W-U10: collapsed, without comment marks, quotes escaped, cut on a word's edge at about 120 characters."""
    assert snippet(quote) == kept


@modest
@given(marks)
def test_snippet_can_stand_between_quotes_in_a_comment(quote: str) -> None:
    """Whatever is in it: no mark that opens or closes one, and every quote is escaped."""
    kept = snippet(quote)
    assert not re.search(r'<!--|--!?>|\n|(?<!\\)"', kept)
    assert len(kept) <= SNIPPET


def test_snippet_of_marks_inside_marks_takes_no_time() -> None:
    """Each one that is taken out makes the next."""
    with effort() as spent:
        snippet("<!" * 10_000 + "--" * 10_000)
    assert spent.loops < MUCH


@pytest.mark.parametrize(
    ("one", "other", "share"),
    [
        ("the tiers are named later", "The Tiers, are named LATER!", 1.0),
        ("the tiers", "the tiers are named later", 1.0),
        ("a b c d", "a b x y", 0.5),
        ("a b", "c d", 0.0),
        ("", "", 1.0),
        ("", "a", 0.0),
        ("a", " ", 0.0),
    ],
    ids=range(7),
)
def test_overlap_is_the_share_of_the_shorter_quote(one: str, other: str, share: float) -> None:
    """W-X23: by words, in any case, from both sides the same."""
    assert overlap(one, other) == overlap(other, one) == share
