"""Driving a flow in memory: it plays on one surface, nothing is stored, and it is gone with the process.

A flow receives only replies that were recognised. Whatever else is typed is echoed and asked for again, for ever
(G16, G17), and no reply at all is no decision: the flow stops where it is.

While an ask is open the floor is the person's. A flow cannot break that, as it is not running then; what it started
(a thread of a callback, say) gets the floor only through `Floor`, which refuses it (G15).
"""

from __future__ import annotations

import threading
from typing import Generic, Protocol, TypeVar, assert_never

from assent.effects.performer import Performers, find_performer, intend, settle
from assent.flows.step import Answered, Ask, Done, Effect, Ended, Failed, Flow, Result, Said, Say, Step
from assent.protocol.error import AssentError, GateOpenError, StillOpen, TooLargeError, UnrecognisedError
from assent.protocol.prompt import check_prompt
from assent.protocol.reply import recognise

__all__ = ["NOBODY_PERFORMS", "Finished", "Floor", "Surface", "advance", "drive", "drive_on"]

R = TypeVar("R")

NOBODY_PERFORMS: Performers = {}


class Surface(Protocol):
    """Where a person meets a flow that plays in memory."""

    def present(self, ask: Ask) -> None:
        """Show what is asked."""
        ...

    def read(self) -> str | Answered | Ended | None:
        """Return the next reply, an answer that was accepted, another end, or None: there will be no reply."""
        ...

    def echo(self, ask: Ask, refusal: AssentError) -> None:
        """Say that the reply was not recognised, and what would be."""
        ...

    def say(self, markdown: str) -> None:
        """Show what the flow says."""
        ...


class Finished(Generic[R]):
    """What a flow returned."""

    __slots__ = ("value",)

    def __init__(self, value: R) -> None:
        self.value = value


def advance(flow: Flow[R], result: Result | None) -> Step | Finished[R]:
    """Send in the last step's result, nothing at first; return what the flow does next."""
    # Only the flow's own end may be caught here: a surface that ran dry must not look like one.
    try:
        return next(flow) if result is None else flow.send(result)
    except StopIteration as stop:
        return Finished(stop.value)


class Floor:
    """Who may speak. Everything that a flow and its performers show or do goes through here.

    Its methods may be called from any thread.
    """

    def __init__(self, surface: Surface, performers: Performers = NOBODY_PERFORMS) -> None:
        self._surface = surface
        self._performers = performers
        self._is_open = False
        # Held while something is said and while an ask is shown, so that no other thread's words come in between.
        self._turn = threading.RLock()

    @property
    def is_open(self) -> bool:
        """A person has been asked and has not answered yet."""
        return self._is_open

    def say(self, markdown: str) -> None:
        """Show something.

        Raises:
            GateOpenError: an ask is open.
        """
        with self._turn:
            self._check()
            self._surface.say(markdown)

    def perform(self, effect: Effect) -> Done | Failed:
        """Do something.

        Raises:
            GateOpenError: an ask is open.
        """
        self._check()
        performer = find_performer(self._performers, effect)
        intention = intend(performer, effect)
        if isinstance(intention, Failed):
            return intention
        self._check()  # another thread may have asked while this one looked
        return settle(performer, intention)

    def ask(self, ask: Ask, by: str = "") -> Answered | Ended:
        """Ask, and give the floor to the person until the ask has ended.

        Raises:
            GateOpenError: another ask is open.
            StillOpen: there will be no reply. The ask stays open, and the floor the person's.
        """
        with self._turn:
            self._check()
            check_prompt(ask.prompt)
            self._is_open = True
            self._surface.present(ask)
        result = self._read(ask, by)
        self._is_open = False
        return result

    def _check(self) -> None:
        if self._is_open:
            raise GateOpenError

    def _read(self, ask: Ask, by: str) -> Answered | Ended:
        while True:
            reply = self._surface.read()
            if reply is None:
                raise StillOpen
            if not isinstance(reply, str):
                return reply
            try:
                return Answered(recognise(ask.prompt, reply), reply, by)
            except (UnrecognisedError, TooLargeError) as refusal:
                self._surface.echo(ask, refusal)


def drive(flow: Flow[R], surface: Surface, performers: Performers = NOBODY_PERFORMS, *, by: str = "") -> R:
    """Play `flow` on `surface`, and return what it returns. `by` is who replies there, as `human:ana`.

    Raises:
        StillOpen: the surface gave no reply; nothing was decided.
    """
    return drive_on(Floor(surface, performers), flow, by=by)


def drive_on(floor: Floor, flow: Flow[R], *, by: str = "") -> R:
    """Play `flow` on a floor that its performers know, too; see `drive`."""
    result: Result | None = None
    try:
        while True:
            step = advance(flow, result)
            if isinstance(step, Finished):
                return step.value
            result = _happen(step, floor, by)
    finally:
        flow.close()


def _happen(step: Step, floor: Floor, by: str) -> Result:
    match step:
        case Ask():
            return floor.ask(step, by)
        case Say():
            floor.say(step.markdown)
            return Said()
        case Effect():
            return floor.perform(step)
        case _:
            assert_never(step)
