"""One session while it is under way: what all of its phases use.

Rule 1: a person may pause at every gate; the session is saved then, whatever its mode (G42).
Rule 2: after each chunk, each change of a finding and each change of a status the session is saved; in the quick mode
        it is not (G-U12), unless it was paused before: then what is saved must not lag behind.
"""

from __future__ import annotations

from collections.abc import Collection
from enum import StrEnum

import msgspec
from msgspec.structs import replace

from assent.flows.gate import pass_gate
from assent.flows.session.effect import SaveFindings, SaveSession
from assent.flows.session.finding import ChunkStatus, Held, Phase, Session, move
from assent.flows.session.posting import Posted
from assent.flows.step import Ended, Failed, Flow, do, say
from assent.protocol.ask import State
from assent.protocol.gate import PAUSE, Choice, Gate
from assent.protocol.review import Review

__all__ = ["Closing", "How", "Left", "Opening", "Talk", "ids_of"]


class How(StrEnum):
    """How a session came to its end."""

    POSTED = "posted"
    SAVED = "saved"
    """The findings were exported."""
    FAILED = "failed"
    """Posting did not work; the findings were exported."""
    DISCARDED = "discarded"
    CANCELLED = "cancelled"
    CLEARED = "cleared"
    """The saved session was removed, to start afresh."""
    PAUSED = "paused"
    KEPT = "kept"
    """Another session is saved and was not to be discarded."""
    DECLINED = "declined"
    """A person said no to being asked."""
    ENDED = "ended"
    """An ask of it ended otherwise without an answer."""


class Opening(msgspec.Struct, frozen=True):
    """What a session starts from."""

    started: str
    """The moment, as ISO 8601."""
    review: Review | None = None
    saved: Session | None = None
    """The session that was found."""
    is_resuming: bool = False
    is_post_only: bool = False
    is_headless: bool = False
    """Nobody sits here: every gate may be answered later, so the quick mode is saved, too."""


class Closing(msgspec.Struct, frozen=True):
    """What came of a session."""

    how: How
    posted: Posted | None = None
    reason: str = ""


class Left(Exception):  # noqa: N818 - never leaves this folder: a person left the session, from however deep
    """The session is over."""

    def __init__(self, how: How, reason: str = "") -> None:
        self.closing = Closing(how, None, reason)


class Talk:
    """A session, and the ways in which it asks, changes and is kept."""

    def __init__(self, opening: Opening) -> None:
        self.opening = opening
        self.session: Session

    def pass_(self, gate: Gate, about: str = "", *, is_aside: bool = False) -> Flow[Choice]:
        """Stop at a gate; return what was chosen, unless that is to pause."""
        choice = yield from pass_gate(gate, about, is_aside=is_aside)
        if isinstance(choice, Ended):
            # So that whoever comes again is asked anew.
            yield from self.keep(self.session) if self.opening.is_post_only else self.save()
            how = How.DECLINED if choice.state is State.DECLINED else How.ENDED
            raise Left(how, choice.reason or f"The gate was {choice.state}.")
        if choice.label in (PAUSE, "Pause & save"):
            yield from self.pause()
        return choice

    def pause(self) -> Flow[None]:
        """Save, and leave. The chunk stays in progress: nobody chose to go on (G-X11)."""
        kind = SaveFindings if self.opening.is_post_only else SaveSession
        saved = yield from do(kind(self.session))
        if isinstance(saved, Failed):
            yield from say(f"The session was not saved: {saved.message}")
            raise Left(How.FAILED, saved.message)
        raise Left(How.PAUSED)

    def move(self, number: int, status: ChunkStatus) -> Flow[None]:
        """Bring a chunk into another status."""
        self.session, warning = move(self.session, number, status)
        if warning:
            yield from say(f"Warning: {warning}")

    def change(self, session: Session) -> Flow[None]:
        """Change the session, and save it."""
        self.session = session
        yield from self.save()

    def keep(self, session: Session) -> Flow[None]:
        """Change the marks of exported findings."""
        self.session = session
        saved = yield from do(SaveFindings(session))
        if isinstance(saved, Failed):
            yield from say(f"The marks were not saved: {saved.message}")

    def enter(self, phase: Phase) -> Flow[None]:
        """Come to another phase."""
        yield from self.change(replace(self.session, phase=phase))

    def save(self) -> Flow[None]:
        """Save the session, where its mode has it."""
        # What is only posted is no session in progress, and must not take the place of one.
        if self.opening.is_post_only:
            return
        is_kept = self.opening.is_headless or self.opening.is_resuming
        if self.session.mode == "quick" and not is_kept:
            return
        saved = yield from do(SaveSession(self.session))
        if isinstance(saved, Failed):
            yield from say(f"Warning: the session was not saved: {saved.message}")


def ids_of(held: Collection[Held]) -> tuple[str, ...]:
    """Return the ids of findings."""
    return tuple(each.finding_id for each in held)
