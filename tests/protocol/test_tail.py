"""The tail of an output: counted in bytes, cut between characters, and made of whatever bytes there were."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assent.protocol.tail import MAX_TAIL_BYTES, Kept, cut_front, encode_output, grow, tail_of
from tests.samples import NOON

__all__: list[str] = []


def kept_of(text: str | bytes, before: Kept | None = None, skipped: int = 0) -> Kept:
    """Return what is kept once `text` has come."""
    return grow(before, encode_output(text), skipped, NOON, "cmd_1")


@pytest.mark.parametrize(
    ("given_", "kept"),
    [
        (b"ok\n", "ok\n"),
        (b"\xff\xfe\x00", "\ufffd\ufffd\0"),
        ("\ud800 half", "\ufffd half"),
        ("\ud83d\ude80", "\U0001f680"),
        ("\x1b[31mred", "\x1b[31mred"),
    ],
    ids=["text", "bytes", "half", "pair", "escape"],
)
def test_output_of_any_bytes_becomes_text(given_: str | bytes, kept: str) -> None:
    """What is no text is replaced; an escape stays as it is, to be shown as a mark by whoever shows it."""
    assert encode_output(given_).decode() == kept


@given(st.text(max_size=40), st.integers(0, 60))
def test_text_is_cut_between_characters_only(text: str, most: int) -> None:
    """At most so many bytes, and at most three less than there is room for."""
    whole = encode_output(text)
    cut = cut_front(whole, most)
    assert whole.endswith(cut)
    assert cut.decode() in text or not cut
    assert min(most, len(whole)) - 3 <= len(cut) <= most


@given(st.lists(st.text(max_size=12), max_size=8), st.integers(0, 120))
def test_reader_that_comes_again_with_what_was_written_reads_every_character_once(
    pieces: list[str], after: int
) -> None:
    """Rule 1, for every place that a reader may have stopped at."""
    kept: Kept | None = None
    read, position = "", 0
    for piece in pieces:
        kept = kept_of(piece, kept)
        tail = tail_of(kept, position)
        assert tail.start == position
        read, position = read + tail.text, tail.written
    assert read == encode_output("".join(pieces)).decode() or any("\ud800" <= c <= "\udfff" for c in read)
    part = tail_of(kept, after)
    assert part.start + len(part.text.encode()) == part.written
    assert min(after, part.written) <= part.start


def test_only_the_last_of_a_long_output_is_kept_and_all_of_it_counted() -> None:
    """64 KiB, and the reader is told what it has missed."""
    kept = kept_of("ö" * MAX_TAIL_BYTES, kept_of("first\n"))
    tail = tail_of(kept, 0)
    assert len(kept.text) == MAX_TAIL_BYTES
    assert tail.written == 6 + 2 * MAX_TAIL_BYTES
    assert tail.start == tail.written - MAX_TAIL_BYTES
    assert set(tail.text) == {"ö"}


def test_output_that_was_skipped_is_counted_and_never_joined_over() -> None:
    """What stands beside each other in a tail stood beside each other in the output."""
    kept = kept_of("after\n", kept_of("before\n"), skipped=1_000)
    assert kept.text == b"after\n"
    assert tail_of(kept, 0).start == 7 + 1_000
    assert tail_of(kept, 7).text == "after\n"


def test_reader_beyond_the_end_is_told_where_the_end_is() -> None:
    """A run that was begun anew, or whose tail is gone."""
    assert (tail_of(None, 500).written, tail_of(None, 500).text, tail_of(None, 0).at) == (0, "", None)
    beyond = tail_of(kept_of("abc"), 500)
    assert (beyond.text, beyond.start, beyond.written) == ("", 3, 3)
