"""Colour, where it is wanted; marks and words carry the meaning without it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import IO

__all__ = ["Ink", "ink_for"]


class Ink:
    """Turns text of ours into bold, faint or coloured text; a plain one leaves it as it is."""

    def __init__(self, *, is_plain: bool) -> None:
        self.is_plain = is_plain

    def _paint(self, code: str, text: str) -> str:
        return text if self.is_plain or not text else f"\x1b[{code}m{text}\x1b[0m"

    def strong(self, text: str) -> str:
        """What to read first."""
        return self._paint("1", text)

    def faint(self, text: str) -> str:
        """What can be passed over."""
        return self._paint("2", text)

    def accent(self, text: str) -> str:
        """What can be typed."""
        return self._paint("36", text)

    def good(self, text: str) -> str:
        """What went well."""
        return self._paint("32", text)

    def caution(self, text: str) -> str:
        """Running time."""
        return self._paint("33", text)

    def danger(self, text: str) -> str:
        """What cannot be undone, and what is wrong."""
        return self._paint("31", text)


def ink_for(stream: IO[str], environ: Mapping[str, str]) -> Ink:
    """Return colours for a terminal that shows them, unless NO_COLOR says otherwise."""
    wants_colour = not environ.get("NO_COLOR") and environ.get("TERM", "dumb") != "dumb"
    return Ink(is_plain=not (wants_colour and stream.isatty()))
