"""Spans of time as people say them."""

from datetime import timedelta

import pytest

from assent.surfaces.moment import render_span

__all__: list[str] = []


@pytest.mark.parametrize(
    ("span", "words"),
    [
        (timedelta(seconds=-5), "0 s"),
        (timedelta(seconds=59), "59 s"),
        (timedelta(minutes=4, seconds=59), "4 min"),
        (timedelta(hours=1), "1 h"),
        (timedelta(hours=2, minutes=40), "2 h 40 min"),
        (timedelta(days=1), "1 day"),
        (timedelta(days=40), "40 days"),
    ],
)
def test_span_is_said_in_the_unit_that_matters(span: timedelta, words: str) -> None:
    """Rounded down: nothing is older than it is."""
    assert render_span(span) == words
