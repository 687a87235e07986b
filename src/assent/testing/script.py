"""What a scripted person will do: lines, each for one ask, taken in the order in which they were written."""

from __future__ import annotations

import re
from collections.abc import Callable
from enum import StrEnum

from assent.protocol.answer import Values
from assent.protocol.ask import Ask

__all__ = ["Line", "Match", "Move", "Reply", "ScriptError", "matches"]

Match = str | re.Pattern[str] | Callable[[Ask], bool]
"""Which ask is meant: words of its title, a pattern found in title or body, or a question to the ask itself."""
Reply = str | Values | Callable[[Ask], str | Values]
"""Typed text, values by field name, or what makes one of them out of the ask."""


class ScriptError(AssertionError):
    """The script and what happened do not fit together."""


class Move(StrEnum):
    """What a line does."""

    ANSWER = "answer"
    ANSWER_WRONGLY = "answer wrongly"
    DECLINE = "decline"
    IGNORE = "ignore"


class Line:
    """One line of a script; it serves one ask."""

    __slots__ = ("after", "match", "move", "reason", "reply")

    def __init__(
        self, move: Move, match: Match, reply: Reply = "", *, reason: str = "", after: int = 0
    ) -> None:
        self.move = move
        self.match = match
        self.reply = reply
        self.reason = reason
        self.after = after
        """Microseconds of the clock between seeing the ask and acting."""

    def __str__(self) -> str:
        match = self.match.pattern if isinstance(self.match, re.Pattern) else self.match
        return f"{self.move} {match!r}"


def matches(match: Match, ask: Ask) -> bool:
    """Say whether `match` means `ask`.

    >>> from assent.protocol.prompt import question
    >>> from types import SimpleNamespace
    >>> ask = SimpleNamespace(prompt=question("Which database?", ["PostgreSQL", "SQLite"]))
    >>> matches("database", ask), matches(re.compile("^Where"), ask)
    (True, False)
    """
    if isinstance(match, str):
        return match in ask.prompt.title
    if isinstance(match, re.Pattern):
        return match.search(f"{ask.prompt.title}\n{ask.prompt.body}") is not None
    return match(ask)
