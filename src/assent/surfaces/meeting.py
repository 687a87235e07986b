"""A terminal where a flow's asks are stored ones: each can be answered here or from anywhere else, and the first wins.

Rule 1: an ask is stored before it is shown. Whatever is killed then, it waits.
Rule 2: with a name, whoever comes again under it finds the replies that were given already; see `client.stored`.
"""

from __future__ import annotations

from assent.client.client import Client
from assent.client.door import run_call
from assent.client.durable import result_of
from assent.client.stored import open_numbered
from assent.effects.interrupt import uninterrupted
from assent.flows.step import Answered, Ended
from assent.flows.step import Ask as AskStep
from assent.protocol.ask import Ask
from assent.protocol.error import AssentError, StillOpen
from assent.surfaces.race import await_end, race, refuse, tell_end
from assent.surfaces.terminal import TerminalSurface

__all__ = ["Meeting"]


class Meeting:
    """Where a person meets a flow: this terminal, and every other surface of the same store."""

    def __init__(
        self,
        asker: Client,
        typist: Client | None,
        terminal: TerminalSurface,
        *,
        name: str | None = None,
        asked: int = 0,
        run_id: str | None = None,
        seconds: float | None = None,
    ) -> None:
        self._asker = asker
        self._typist = typist
        self._terminal = terminal
        self._name = name
        self._run_id = run_id
        self._seconds = seconds
        self.ask: Ask | None = None
        """The stored ask that is open now."""
        self.asked = asked
        """How many numbered asks have ended."""
        self._is_aside = False
        self.ended: Ask | None = None
        """The ask that ended last."""

    def present(self, ask: AskStep) -> None:
        """Store what is asked, and show it, unless its reply is there already."""
        stored = self.open(ask)
        if stored.is_open:
            self._terminal.present(stored, can_type=self._typist is not None)

    def open(self, ask: AskStep) -> Ask:
        """Store what is asked, or find it again; it is shown elsewhere only."""
        with uninterrupted():  # so that the id of what was stored can be told
            opening = open_numbered(self._asker.calls, ask, self._name, self.asked, self._run_id)
            self.ask, self.asked = run_call(opening)
        self._is_aside = ask.is_aside
        return self.ask

    def read(self) -> Answered | Ended | None:
        """Return how the ask ended, here or elsewhere; None when nothing more is typed, or the wait lapsed."""
        ask = self.ask
        if ask is None:
            return None
        try:
            ended = self._await(ask) if ask.is_open else ask
        except EOFError:
            self._terminal.say("")
            ended = self._asker.show(ask.ask_id)  # it may have been answered elsewhere in the same moment
            tell_end(self._terminal, ended)
        except StillOpen:
            return None
        if ended.is_open:
            return None
        self.ask, self.ended = None, ended
        self.asked += not self._is_aside
        return result_of(ended)

    def _await(self, ask: Ask) -> Ask:
        if self._typist is not None:
            return race(self._terminal, self._typist, ask, self._seconds)
        ended = await_end(self._asker, ask, self._seconds)
        tell_end(self._terminal, ended)
        return ended

    def echo(self, ask: AskStep, refusal: AssentError) -> None:
        """Say that a reply was not recognised, and what would be."""
        refuse(self._terminal, ask.prompt, refusal)

    def say(self, markdown: str) -> None:
        """Show what the flow says."""
        self._terminal.tell(markdown)
