"""A terminal where a flow's asks are stored ones: each can be answered here or from anywhere else, and the first wins.

Rule 1: an ask is stored before it is shown. Whatever is killed then, it waits.
Rule 2: with a name, the asks go by `<name>:1`, `<name>:2`, … Whoever comes again under that name finds the replies
        that were given already, and is not asked twice.
Rule 3: a number that another prompt has is never answered with that one's reply. An open ask gives its place up; one
        that has ended keeps it, and the next number is tried.
"""

from __future__ import annotations

from assent.client.client import Client
from assent.client.durable import result_of
from assent.flows.step import Answered, Ended
from assent.flows.step import Ask as AskStep
from assent.protocol.ask import Ask
from assent.protocol.display import display
from assent.protocol.error import AssentError, KeyReusedError, StillOpen
from assent.surfaces.race import await_end, race, refuse, tell_end
from assent.surfaces.terminal import TerminalSurface
from assent.surfaces.wake import uninterrupted
from assent.surfaces.width import wrap

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
        """How many asks have ended."""
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
            self.ask = self._open(ask)
        return self.ask

    def _open(self, ask: AskStep) -> Ask:
        may_replace = False
        while True:
            key = None if self._name is None else f"{self._name}:{self.asked + 1}"
            try:
                return self._asker.open(
                    ask.prompt, kind=ask.kind, key=key, replace=may_replace, run_id=self._run_id
                ).ask
            except KeyReusedError as reused:
                if reused.ask is None:
                    raise
                may_replace = reused.ask.is_open
                self.asked += not may_replace

    def read(self) -> Answered | Ended | None:
        """Return how the ask ended, here or elsewhere; None when nothing more is typed, or the wait lapsed."""
        ask = self.ask
        if ask is None:
            return None
        try:
            ended = self._await(ask) if ask.is_open else ask
        except EOFError:
            self._terminal.say("")
            return None
        except StillOpen:
            return None
        self.ask, self.ended = None, ended
        self.asked += 1
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
        """Show what the flow says. An agent may have written it, so it is made safe first."""
        self._terminal.say(*wrap(display(markdown), self._terminal.width))
