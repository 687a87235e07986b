"""What one round of a review tells the next: which findings were applied, and which a person did not want (W-U14)."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from assent.protocol.finding import Verb

__all__ = ["Primer", "PrimerEntry"]


class PrimerEntry(msgspec.Struct, frozen=True, omit_defaults=True):
    """A finding of an earlier round, and what became of it."""

    section: str
    title: str
    action: Verb
    reviewers: tuple[str, ...] = ()
    confidence: int = 0
    evidence: str = ""
    """The beginning of its first quote."""
    reason: str = ""


class Primer(msgspec.Struct, frozen=True, omit_defaults=True):
    """The decisions of the rounds before this one; a new review starts without."""

    rounds: Annotated[int, Meta(ge=0)] = 0
    """How many there were."""
    applied: tuple[PrimerEntry, ...] = ()
    rejected: tuple[PrimerEntry, ...] = ()
    """Skipped, deferred and acknowledged ones: R29 suppresses them."""
