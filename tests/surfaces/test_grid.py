"""A Markdown table on a terminal."""

import pytest

from assent.surfaces.card import lay_out_markdown
from assent.surfaces.grid import lay_out_table
from assent.surfaces.width import columns

__all__: list[str] = []

TABLE = ["| Finding | Anchor |", "| --- | --- |", "| Two tiers \\| one name, 漢字 | 75 |", "| x | 100 |"]


def test_table_has_its_columns_under_each_other() -> None:
    """Wide characters and a bar that ends no cell included."""
    assert lay_out_table(TABLE, 80) == [
        "| Finding                     | Anchor |",
        "| --------------------------- | ------ |",
        "| Two tiers \\| one name, 漢字 | 75     |",
        "| x                           | 100    |",
    ]


@pytest.mark.parametrize("width", [24, 30, 35])
def test_cell_goes_on_below_where_the_window_is_narrow(width: int) -> None:
    """The widest column gives way first, and no word is lost."""
    laid = lay_out_table(TABLE, width)
    assert {columns(line) for line in laid} == {width}
    assert laid[-1].endswith("| 100    |")
    told = " ".join(line[2:].rpartition(" | ")[0].strip() for line in laid[2:-1])
    assert " ".join(told.split()) == "Two tiers \\| one name, 漢字"


@pytest.mark.parametrize("lines", [TABLE, ["| a | b |", "| c |"], ["|"], ["| only"]], ids=range(4))
def test_what_cannot_be_laid_out_stays_as_it_is(lines: list[str]) -> None:
    """A window that is too narrow, rows of different lengths, and what only begins like a table."""
    assert lay_out_table(lines, 12) == lines


def test_table_in_markdown_is_laid_out_and_the_lines_around_it_stay() -> None:
    """Also at the very end; without a known width nothing is touched."""
    markdown = "\n".join(["Before.", *TABLE, "", *TABLE])
    laid = lay_out_markdown(markdown, 80)
    assert laid == ["Before.", *lay_out_table(TABLE, 80), "", *lay_out_table(TABLE, 80)]
    assert "\n".join(lay_out_markdown(markdown, None)) == markdown
