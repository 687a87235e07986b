"""How far a long pass has come: one line that is rewritten in place, and gone at the end.

Rule 1: where no screen is a terminal nothing can be taken back, so there is a line only for about each tenth.
Rule 2: a pass of one is not long: it shows nothing where lines stay.
"""

from __future__ import annotations

from typing import Self

from assent.protocol.display import display
from assent.surfaces.terminal import TerminalSurface

__all__ = ["Progress"]

_TENTHS = 10


class Progress:
    """Tells on a terminal which of many is in hand; use it in a `with` block, at whose end the line is taken away."""

    def __init__(self, terminal: TerminalSurface) -> None:
        self._terminal = terminal

    def show(self, doing: str, number: int, total: int, title: str = "") -> None:
        """Tell that `number` of `total` is in hand: `Applying 3 of 12: Two tiers`."""
        about = f": {display(title, lines=False)}" if title else ""
        line = f"{doing} {number} of {total}{about}"
        if self._terminal.is_watched:
            self._terminal.pass_by(line)
        elif total > 1 and number * _TENTHS // total > (number - 1) * _TENTHS // total:
            self._terminal.say(line)

    def close(self) -> None:
        """Take the line away."""
        self._terminal.pass_by("")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
