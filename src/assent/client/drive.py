"""Driving a flow in memory: it plays on one surface, nothing is stored, and it is gone with the process.

A flow receives only replies that were recognised. Whatever else is typed is echoed and asked for again, for ever
(G16, G17), and no reply at all is no decision: the flow stops where it is.
"""

from __future__ import annotations

from typing import Generic, Protocol, TypeVar, assert_never

from assent.effects.performer import Performers, find_performer, intend, settle
from assent.flows.step import Answered, Ask, Effect, Ended, Failed, Flow, Result, Said, Say, Step
from assent.protocol.error import AssentError, StillOpen, TooLargeError, UnrecognisedError
from assent.protocol.prompt import check_prompt
from assent.protocol.reply import recognise

__all__ = ["NOBODY_PERFORMS", "Finished", "Surface", "advance", "drive"]

R = TypeVar("R")

NOBODY_PERFORMS: Performers = {}


class Surface(Protocol):
    """Where a person meets a flow that plays in memory."""

    def present(self, ask: Ask) -> None:
        """Show what is asked."""
        ...

    def read(self) -> str | Ended | None:
        """Return the next reply, a no to being asked, or None: there will be no reply."""
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


def drive(flow: Flow[R], surface: Surface, performers: Performers = NOBODY_PERFORMS, *, by: str = "") -> R:
    """Play `flow` on `surface`, and return what it returns. `by` is who replies there, as `human:ana`.

    Raises:
        StillOpen: the surface gave no reply; nothing was decided.
    """
    result: Result | None = None
    try:
        while True:
            step = advance(flow, result)
            if isinstance(step, Finished):
                return step.value
            result = _happen(step, surface, performers, by)
    finally:
        flow.close()


def _happen(step: Step, surface: Surface, performers: Performers, by: str) -> Result:
    match step:
        case Ask():
            check_prompt(step.prompt)
            surface.present(step)
            return _read(step, surface, by)
        case Say():
            surface.say(step.markdown)
            return Said()
        case Effect():
            performer = find_performer(performers, step)
            intention = intend(performer, step)
            return intention if isinstance(intention, Failed) else settle(performer, intention)
        case _:
            assert_never(step)


def _read(ask: Ask, surface: Surface, by: str) -> Answered | Ended:
    while True:
        reply = surface.read()
        if reply is None:
            raise StillOpen
        if isinstance(reply, Ended):
            return reply
        try:
            return Answered(recognise(ask.prompt, reply), reply, by)
        except (UnrecognisedError, TooLargeError) as refusal:
            surface.echo(ask, refusal)
