"""A terminal where a flow plays in memory: nothing is stored, and nobody can answer from anywhere else.

Rule 1: it reads and refuses as a `Meeting` does, only that there is no other side that could be faster.
Rule 2: the end of input is no reply. What was decided so far is the flow's own, and it is gone with it.
"""

from __future__ import annotations

from assent.flows.step import Answered, Ask
from assent.protocol.error import AssentError, TooLargeError, UnrecognisedError
from assent.protocol.prompt import Prompt
from assent.surfaces.race import Draft, refuse, show_next
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
            return self._read(draft)
        except EOFError:
            self._terminal.say("")
            return None

    def _read(self, draft: Draft) -> str | Answered | None:
        while True:
            reply = self._terminal.read()
            if reply is None:
                return None
            try:
                values = draft.take(reply)
            except (UnrecognisedError, TooLargeError) as refusal:
                refuse(self._terminal, draft.rest, refusal)
                continue
            if values is not None:
                return reply if draft.count == 1 else Answered(values)
            show_next(self._terminal, draft)

    def echo(self, ask: Ask, refusal: AssentError) -> None:
        """Say that a reply was not recognised, and what would be."""
        refuse(self._terminal, ask.prompt, refusal)

    def say(self, markdown: str) -> None:
        """Show what the flow says."""
        self._terminal.tell(markdown)
