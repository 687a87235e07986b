"""Colour only where a terminal shows it and nobody asked for none."""

import io

import pytest

from assent.surfaces.ink import Ink, ink_for

__all__: list[str] = []


class Screen(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("environ", "is_plain"),
    [
        ({"TERM": "xterm"}, False),
        ({"TERM": "xterm", "NO_COLOR": "1"}, True),
        ({"TERM": "xterm", "NO_COLOR": ""}, False),
        ({"TERM": "dumb"}, True),
        ({}, True),
    ],
)
def test_ink_follows_the_environment(environ: dict[str, str], *, is_plain: bool) -> None:
    """NO_COLOR with any value, a dumb terminal or none: plain text."""
    assert ink_for(Screen(), environ).is_plain is is_plain
    assert ink_for(io.StringIO(), environ).is_plain


def test_every_paint_ends_where_it_began() -> None:
    """Nothing runs on behind the text."""
    ink = Ink(is_plain=False)
    for paint in (ink.strong, ink.faint, ink.accent, ink.good, ink.caution, ink.danger):
        assert paint("x").startswith("\x1b[")
        assert paint("x").endswith("mx\x1b[0m")
        assert paint("") == ""
