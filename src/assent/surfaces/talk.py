"""A terminal where a flow plays in memory: nothing is stored, and nobody can answer from anywhere else.

Rule 1: it reads and refuses as a `Meeting` does, only that there is no other side that could be faster.
Rule 2: the end of input is no reply. What was decided so far is the flow's own, and it is gone with it.
"""

from __future__ import annotations

from assent.flows.step import Answered, Ask
from assent.protocol.error import AssentError
from assent.protocol.prompt import Prompt
from assent.surfaces.race import Draft, read_typed, refuse, show_next
from assent.surfaces.terminal import TerminalSurface

__all__ = ["Talk"]


class Talk:
    """Where a person meets a flow in memory. Where nobody can type, everything is shown and nothing is read."""

    def __init__(self, terminal: TerminalSurface, *, can_type: bool = True) -> None:
        self._terminal = terminal
        self._can_type = can_type
        self._prompt = Prompt("")

    def present(self, ask: Ask) -> None:
        """Show what is asked."""
        self._prompt = ask.prompt
        self._terminal.pose(ask)

    def read(self) -> str | Answered | None:
        """Return a reply that was recognised, of a round all answers, or None: nothing more is typed."""
        if not self._can_type:
            return None
        draft = Draft(self._prompt)
        if draft.count > 1:
            show_next(self._terminal, draft)
        try:
            typed = read_typed(self._terminal, draft, lambda: self._terminal.repose(self._prompt))
        except EOFError:
            self._terminal.say("")
            return None
        if typed is None:
            return None
        return typed.text if draft.count == 1 else Answered(typed.values)

    def echo(self, ask: Ask, refusal: AssentError) -> None:
        """Say that a reply was not recognised, and what would be."""
        refuse(self._terminal, ask.prompt, refusal)

    def say(self, markdown: str) -> None:
        """Show what the flow says."""
        self._terminal.tell(markdown)
