"""How an effect is done so that a crash at any moment leaves it done once, or not at all.

1. `intend` looks at the world and says all that is needed: where, what is there now, what will be there. The
   intention is kept before anything is touched.
2. `look` compares the world with a kept intention. That is how a resumed flow learns what the crash left.
3. `perform` makes it so, in one indivisible move.

An effect that only looks something up has nothing to intend: the world is always as before, and it looks again.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Protocol, TypeVar

import msgspec

from assent.flows.step import Done, Effect, Failed
from assent.protocol.canonical import Json
from assent.protocol.display import quote
from assent.protocol.error import BadRequestError, EffectError, WorldChangedError

__all__ = ["Intention", "Performer", "Performers", "World", "find_performer", "intend", "settle"]

E_contra = TypeVar("E_contra", bound=Effect, contravariant=True)


class World(StrEnum):
    """How the world stands to an intention."""

    BEFORE = "before"
    """As it was: nothing has been done."""
    AFTER = "after"
    """As it was meant to be: it has been done."""
    OTHER = "other"
    """Neither: somebody else was at work."""


class Intention(msgspec.Struct, frozen=True, omit_defaults=True):
    """All that is needed to do an effect, and to see later whether it was done."""

    path: str
    before_digest: str | None = None
    """The digest of what was there; None: nothing."""
    content: bytes = b""
    """All that will be there."""
    scratch: str = ""
    """The name of the file that it is prepared in: whoever resumes knows what a crash left lying about."""


class Performer(Protocol[E_contra]):
    """Does one kind of effect. Each method may raise EffectError: then nothing was changed."""

    def intend(self, effect: E_contra) -> Intention: ...
    def look(self, intention: Intention) -> World:
        """Return how the world stands, and make sure that what is seen as AFTER stays so."""
        ...

    def perform(self, intention: Intention) -> Json:
        """Do it, if the world is as before; return what was looked up, None where something was done."""
        ...


Performers = Mapping[type[Effect], Performer[Any]]
"""Who does which kind of effect. Passed in by whoever drives a flow: it says what that flow may touch."""


def find_performer(performers: Performers, effect: Effect) -> Performer[Any]:
    """Return who does `effect`.

    Raises:
        BadRequestError: nobody here does.
    """
    try:
        return performers[type(effect)]
    except KeyError:
        raise BadRequestError(f"Nobody here performs {type(effect).__name__}.") from None


def intend(performer: Performer[Any], effect: Effect) -> Intention | Failed:
    """Return what `effect` comes to, or why it cannot be done."""
    try:
        return performer.intend(effect)
    except EffectError as error:
        return Failed(error.code, error.message)


def settle(performer: Performer[Any], intention: Intention) -> Done | Failed:
    """Bring an intention to its end, however far somebody got with it before."""
    try:
        match performer.look(intention):
            case World.BEFORE:
                return Done(performer.perform(intention))
            case World.AFTER:
                return Done()
            case World.OTHER:
                raise WorldChangedError(f'Somebody changed "{quote(intention.path)}" in the meantime.')
    except EffectError as error:
        return Failed(error.code, error.message)
