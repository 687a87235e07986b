"""Effects that are simply done. Nothing is left to look for after a crash: they are done again.

So a flow that has them is not durable, unless they only look something up.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

import msgspec

from assent.effects.performer import Intention, World
from assent.flows.step import Effect
from assent.protocol.canonical import Json

__all__ = ["Direct"]

E = TypeVar("E", bound=Effect)


class Direct(Generic[E]):
    """Performs one kind of effect by a function."""

    def __init__(self, kind: type[E], act: Callable[[E], Json]) -> None:
        self._kind, self._act = kind, act

    def intend(self, effect: E) -> Intention:
        """Keep the effect as it is."""
        return Intention(self._kind.__name__, content=msgspec.json.encode(effect))

    def look(self, intention: Intention) -> World:  # noqa: ARG002 - nothing tells whether it was done
        """Say that it has yet to be done."""
        return World.BEFORE

    def perform(self, intention: Intention) -> Json:
        """Do it."""
        return self._act(msgspec.json.decode(intention.content, type=self._kind))
