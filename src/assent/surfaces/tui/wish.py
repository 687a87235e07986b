"""What a key wants done, where more than the screen is to change: the app does it and says what came of it."""

from __future__ import annotations

import msgspec

from assent.protocol.ask import Ask
from assent.protocol.run import Run

__all__ = [
    "Browse",
    "Claim",
    "Control",
    "Copy",
    "Edit",
    "Leave",
    "Scroll",
    "Send",
    "Stay",
    "Wish",
    "Withdraw",
    "Write",
]


class Send(msgspec.Struct, frozen=True):
    """Answer an ask, or decline it: without values and text it is declined."""

    ask: Ask
    values: dict[str, list[str]] | None = None
    text: str | None = None
    """A command, as it was typed."""
    reason: str = ""
    """Words that go with a no."""
    is_confirmed: bool = False
    """The person was asked once more about what cannot be undone."""

    @property
    def reply(self) -> str | dict[str, list[str]] | None:
        """What is answered; None where it is declined."""
        return self.text if self.values is None else self.values


class Claim(msgspec.Struct, frozen=True):
    """Say that one is on it."""

    ask: Ask


class Withdraw(msgspec.Struct, frozen=True):
    """Take an ask back."""

    ask: Ask
    reason: str


class Control(msgspec.Struct, frozen=True):
    """Steer a run."""

    run: Run
    command: str
    model: str | None = None
    reason: str = ""


class Copy(msgspec.Struct, frozen=True):
    """Put a text into the clipboard."""

    text: str


class Browse(msgspec.Struct, frozen=True):
    """Open an ask in the browser."""

    ask: Ask


class Write(msgspec.Struct, frozen=True):
    """Let somebody type a text; what it is for comes back with it."""

    purpose: str
    label: str
    text: str = ""
    is_long: bool = False


class Stay(msgspec.Struct, frozen=True):
    """Leave the field open with its words: they were not taken, and the view says why."""


class Edit(msgspec.Struct, frozen=True):
    """Let somebody write in their own editor."""

    purpose: str
    text: str


class Scroll(msgspec.Struct, frozen=True):
    """Page what is read; how far a page goes is known where the size is."""

    pages: int


class Leave(msgspec.Struct, frozen=True):
    """End the program."""


Wish = Send | Claim | Withdraw | Control | Copy | Browse | Write | Stay | Edit | Scroll | Leave
