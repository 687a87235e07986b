"""An exact change of a document: made in one place, or refused in one sentence; every other byte stays."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assent.protocol.edit import apply_edit, is_made, with_line_ends_of
from assent.protocol.error import BadRequestError
from assent.protocol.finding import Edit
from tests.protocol.strategies import modest

__all__: list[str] = []

MARK = "⟦passage⟧"


def refusal(document: bytes, edit: Edit) -> str:
    """Return why an edit is refused."""
    with pytest.raises(BadRequestError) as caught:
        apply_edit(document, edit)
    return caught.value.message


@pytest.mark.parametrize(
    ("document", "before", "after", "result"),
    [
        (b"one two three\n", "two", "2", b"one 2 three\n"),
        (b"two", "two", "2", b"2"),
        (b"one\ntwo\n", "one\n", "", b"two\n"),
        (b"\xffcaf\xe9 two\x00\n", "two", "zwei", b"\xffcaf\xe9 zwei\x00\n"),
        ("\ufeffé two".encode(), "é", "e", "\ufeffe two".encode()),
        (b"a{0}\\1$b", "a{0}\\1", "\\g<0>{x}", b"\\g<0>{x}$b"),
        (b"aab", "ab", "c", b"ac"),
    ],
    ids=[
        "middle",
        "all of it",
        "taken out",
        "no text around it",
        "mark and accent",
        "no pattern",
        "late start",
    ],
)
def test_passage_that_stands_there_once_becomes_the_other(
    document: bytes, before: str, after: str, result: bytes
) -> None:
    """Whatever stands around it stays, also what is no text; nothing in it is a pattern."""
    assert apply_edit(document, Edit(before, after)) == result


@modest
@given(st.binary(max_size=40), st.binary(max_size=40), st.text(st.characters(codec="utf-8"), max_size=20))
def test_no_byte_changes_outside_of_the_passage(head: bytes, tail: bytes, after: str) -> None:
    """For any bytes around it."""
    document = head + MARK.encode() + tail
    result = apply_edit(document, Edit(MARK, after))
    assert result.startswith(head)
    assert result.endswith(tail)
    assert (
        result[len(head) : len(result) - len(tail)].replace(b"\r\n", b"\n")
        == after.replace("\r\n", "\n").encode()
    )


@pytest.mark.parametrize(
    ("document", "before", "after", "reason"),
    [
        (b"one\n", "two", "2", 'What the edit replaces, "two", is not in the document.'),
        (b"", "two", "2", 'What the edit replaces, "two", is not in the document.'),
        (b"Two", "two", "2", 'What the edit replaces, "two", is not in the document.'),
        (b"two two", "two", "2", 'What the edit replaces, "two", is in the document more than once.'),
        (b"ababa", "aba", "x", 'What the edit replaces, "aba", is in the document more than once.'),
        (b"two", "", "x", 'What the edit replaces, "", is in the document more than once.'),
        (b"one two", "two", "two", "The edit changes nothing."),
        (b"a\r\nb\r\n", "a\nb", "a\r\nb", "The edit changes nothing."),
        (b"a\r\nb\n", "a\nb", "x", 'What the edit replaces, "a<U+000A>b", is not in the document.'),
        (b"two", "two", "\ud800", "The edit has half of a surrogate pair in it, so it is no text."),
        (b"two", "\udfff", "x", "The edit has half of a surrogate pair in it, so it is no text."),
        (
            b"x",
            "\x1b[2J" + "y" * 20_000,
            "z",
            f'What the edit replaces, "<U+001B>[2J{"y" * 188}…", is not in the document.',
        ),
    ],
    ids=[
        "missing",
        "empty document",
        "other case",
        "twice",
        "overlapping",
        "nothing to find",
        "same text",
        "same but for line ends",
        "mixed line ends",
        "half pair after",
        "half pair before",
        "long and hostile",
    ],
)
def test_edit_that_cannot_be_made_is_refused_in_one_sentence(
    document: bytes, before: str, after: str, reason: str
) -> None:
    """Nothing is guessed: not which place was meant, not what was nearly written."""
    assert refusal(document, Edit(before, after)) == reason


def test_lines_of_a_crlf_document_are_found_and_written_as_such() -> None:
    """A reviewer quotes with LF what an editor for Windows wrote."""
    document = b"# Plan\r\none\r\ntwo\r\n"
    assert apply_edit(document, Edit("one\ntwo\n", "1\n2\n3\n")) == b"# Plan\r\n1\r\n2\r\n3\r\n"
    assert apply_edit(document, Edit("one\r\ntwo", "1\r\n2\n3")) == b"# Plan\r\n1\r\n2\r\n3\r\n"
    assert apply_edit(document, Edit("one", "1\n2")) == b"# Plan\r\n1\r\n2\r\ntwo\r\n"


def test_lines_of_any_other_document_are_left_as_the_edit_has_them() -> None:
    """Where line ends are mixed, or there are none, there is nothing to go by."""
    assert apply_edit(b"a\nb\r\n", Edit("a", "1\n2")) == b"1\n2\nb\r\n"
    assert apply_edit(b"a\nb\n", Edit("a\n", "1\r\n")) == b"1\r\nb\n"
    assert apply_edit(b"a", Edit("a", "1\n2")) == b"1\n2"


@modest
@given(st.text("ab\r\n", max_size=20))
def test_text_with_the_line_ends_of_a_crlf_document_has_no_other(text: str) -> None:
    """And doing it twice changes nothing more."""
    once = with_line_ends_of(b"x\r\n", text.encode())
    assert once.count(b"\n") == once.count(b"\r\n")
    assert with_line_ends_of(b"x\r\n", once) == once


def test_largest_passage_in_a_document_made_to_slow_the_search_is_looked_for_in_no_time() -> None:
    """Findings are written by agents: a search must not take the square of what they write."""
    document = b"a" * (4 << 20)
    edit = Edit("a" * 9_999 + "b" + "a" * 10_000, "x")
    begun = time.monotonic()
    assert refusal(document, edit).endswith(" is not in the document.")
    assert time.monotonic() - begun < 5


ENTRY = b"\n## Deferred / Open Questions\n\n### From 2026-01-01 review\n\n- **Two** quoted as two\n"


@pytest.mark.parametrize(
    ("document", "before", "after", "quote", "made"),
    [
        (b"one 2 three", "two", "2", "one two three", True),
        (b"one two three", "two", "2", "one two three", False),
        (b"one three", "two", "2", "one two three", False),
        (b"one 2 three, one 2 three", "two", "2", "one two three", False),
        (b"one three four", "two ", "", "one two three four", True),
        (b"one 2 three" + ENTRY, "two", "2", "one two three", True),
        (b"one three\n" + ENTRY, "thrice", "quoted", "thrice as two", False),
        (b"it lives one hour, a minute is nothing", "one houre", "minute", "lives one houre", False),
        (b"it lives one hour, a minute is nothing", "one houre", "minute", "one houre", False),
        (b"the whole sentence is new", "It was old.", "the whole sentence is new", "It was old.", True),
    ],
    ids=[
        "made",
        "yet to make",
        "neither",
        "twice",
        "taken away",
        "quoted by an entry",
        "only in an entry",
        "misquoted",
        "a word that stands elsewhere",
        "the whole quote",
    ],
)
def test_edit_is_known_to_be_made_by_what_stands_there(
    document: bytes, before: str, after: str, quote: str, made: bool
) -> None:
    """Its quote stands there once, with the change in it; entries are no part of the text."""
    assert is_made(document, Edit(before, after), [quote]) is made


def test_edit_of_what_only_an_entry_quotes_is_refused() -> None:
    """The entry would be changed, and the fix reported as applied."""
    assert "is not in the document" in refusal(b"one 2 three\n" + ENTRY, Edit("quoted", "said"))
