"""What whoever counts or traces may see of a hub at work: how its commands went, and nothing of what they say.

Rule 1: where nobody watches, nothing is made for it: a command pays for a look at an attribute, and no more.
Rule 2: a watch is told once a transaction is over, before its senders are: what was answered has been counted.
Rule 3: it decides nothing. Whatever it raises is dropped: the commands are saved, and their senders must learn so.
Rule 4: kinds, states, names of commands and codes of errors are ours; no text of an agent or a person is in any of it.
"""

from __future__ import annotations

from typing import Protocol

import msgspec

from assent.hub.desk import Envelope
from assent.protocol.ask import Ask, Kind, State
from assent.protocol.error import AssentError

__all__ = ["Ended", "Transacted", "Watch", "Went", "see_command", "see_end"]


class Went(msgspec.Struct, frozen=True, gc=False):
    """How one command went."""

    verb: str
    """The name of its class, such as `OpenAsk`."""
    project: str
    code: str
    """Of the error by which it was refused; empty when it was done."""
    sender: object = None
    """What `Watch.sender` returned when it was sent."""


class Ended(msgspec.Struct, frozen=True, gc=False):
    """How one ask ended."""

    kind: Kind
    outcome: State
    seconds: float
    """How long it was open, by the store's clock."""


class Transacted(msgspec.Struct, frozen=True, gc=False):
    """One transaction, once it is over."""

    began_at: int
    """Microseconds since 1970, by the hub's clock."""
    seconds: float
    """How long it took with the tries before it, by the clock that never jumps."""
    commands: tuple[Went, ...]
    """All that shared it."""
    opened: tuple[Kind, ...] = ()
    """The asks that it opened."""
    ended: tuple[Ended, ...] = ()
    """The asks that it ended."""
    store_error: str = ""
    """The code of what kept it from being saved, where that was the store."""


class Watch(Protocol):
    """Somebody who watches a hub. It is called from any thread, often from several at once."""

    @property
    def is_awake(self) -> bool:
        """Whether there is anybody to tell: where not, nothing is made for it."""

    def sender(self) -> object:
        """Return what is to be remembered of whoever sends a command, from where it is sent."""

    def transacted(self, seen: Transacted) -> None:
        """Learn of a transaction."""


def see_command(envelope: Envelope, refusal: AssentError | None, sender: object) -> Went:
    """Return how a command went."""
    code = "" if refusal is None else refusal.code
    return Went(type(envelope.request).__name__, envelope.project, code, sender)


def see_end(ask: Ask) -> Ended:
    """Return how an ask ended."""
    end = ask.answer or ask.outcome
    seconds = 0.0 if end is None else (end.at - ask.opened_at).total_seconds()
    return Ended(ask.kind, ask.state, seconds)
