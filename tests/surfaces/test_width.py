"""Text in columns: nothing is lost, nothing is wider than the terminal."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assent.protocol.display import display
from assent.surfaces.width import columns, cut, pad, wrap
from tests.effort import MUCH, effort

__all__: list[str] = []

TEXTS = st.text().map(display)


@pytest.mark.parametrize(("text", "width"), [("abc", 3), ("日本", 4), ("e\u0301", 1), ("", 0), ("a日", 3)])
def test_columns_counts_what_a_terminal_draws(text: str, width: int) -> None:
    """Wide characters take two, stacked marks none."""
    assert columns(text) == width


@given(TEXTS, st.integers(4, 60))
def test_wrap_keeps_every_word_and_the_width(text: str, width: int) -> None:
    """Whatever the text, no line is wider than asked, and only blanks go."""
    lines = wrap(text, width)
    assert all(columns(line) <= width for line in lines)
    assert "".join("".join(lines).split()) == "".join(text.split())


@given(st.text("ab  ", min_size=1).filter(lambda text: text[0] != " "), st.integers(4, 20))
def test_wrap_loses_no_blank(text: str, width: int) -> None:
    """A row that is full goes on with the same word; one that is not was cut at a blank."""
    *rows, last = wrap(text, width)
    assert "".join(row if len(row) == width else f"{row} " for row in rows) + last == text
    assert not [row for row in rows if row != row.rstrip() and len(row) < width]


@given(TEXTS, st.integers(2, 60))
def test_cut_and_pad_fit(text: str, width: int) -> None:
    """A sign stands where something is left out."""
    line = text.replace("\n", " ").replace("\t", " ")
    assert columns(cut(line, width)) <= width
    assert columns(pad(line, width)) == width
    assert cut(line, width) == line or cut(line, width).endswith("…")


def test_wrap_keeps_line_ends_and_indents() -> None:
    """Code stays readable."""
    assert wrap("if x:\n    return the value of x\n\nend", 16) == [
        "if x:",
        "    return the",
        "    value of x",
        "",
        "end",
    ]


@pytest.mark.parametrize(
    "text",
    ["x" * 600_000, "中" * 300_000, "a word " * 90_000, f"x{' ' * 600_000}x"],
    ids=["ascii", "wide", "words", "blanks"],
)
def test_very_long_line_is_wrapped_in_time_that_grows_with_it(text: str) -> None:
    """An agent may send a megabyte on one line: were each part to look at all the rest, it would take minutes."""
    with effort() as spent:
        lines = wrap(text, 38)
    assert spent.loops < MUCH
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")
    assert max(map(columns, lines)) <= 38
