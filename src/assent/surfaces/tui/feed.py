"""What the app needs of the stores: to look at all of them, to act on one thing, and to hear of news.

All calls but `listen` and `close` may take a while, and are made from threads of their own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from assent.protocol.ask import Ask
from assent.protocol.run import Run
from assent.surfaces.tui.view import RunDetail, Snapshot
from assent.surfaces.tui.wish import Claim, Control, Send, Withdraw

__all__ = ["Feed"]


class Feed(Protocol):
    """All stores of a user, as one."""

    def look(self) -> Snapshot:
        """Return what waits and what runs, everywhere.

        Raises:
            AssentError: the store that was named, or the only one, cannot be read.
        """

    def find(self, ask: Ask) -> Ask:
        """Return an ask as it is now."""

    def answer(self, wish: Send) -> Ask:
        """Answer an ask, or decline it.

        Raises:
            ConflictError: it has ended; the error has it as it is now.
            AssentError: it was refused, or cannot be reached.
        """

    def claim(self, wish: Claim) -> Ask:
        """Say that one is on it."""

    def withdraw(self, wish: Withdraw) -> Ask:
        """Take an ask back."""

    def control(self, wish: Control) -> str:
        """Steer a run; return what came of it in a sentence, empty where it was done."""

    def detail(self, run: Run) -> RunDetail:
        """Return what a run was told and printed."""

    def address(self, ask: Ask) -> str:
        """Return where a browser shows an ask; empty where no server does."""

    def listen(self, tell: Callable[[], None]) -> None:
        """Have `tell` called, from any thread, when there is something new."""

    def close(self) -> None:
        """Let go of all stores."""
