"""How a hub of this process stands, for a server that is watched; and what a watch is, for those who may not know the hub."""

from __future__ import annotations

import msgspec

from assent.hub.watch import Ended, Transacted, Watch, Went

__all__ = ["MAX_COUNTED_PROJECTS", "Ended", "Figures", "Transacted", "Watch", "Went"]

MAX_COUNTED_PROJECTS = 20
"""So many projects are counted by themselves: those in which something happened last. A name is a label, and a thousand
labels are a burden to whoever keeps them."""


class Figures(msgspec.Struct, frozen=True):
    """How a hub stands at one moment."""

    waits: int
    """Who in this process waits for an ask or a run."""
    ring_wakes: int
    """How often a ring of another process brought something that somebody waited for."""
    clock_wakes: int
    """How many waits were over that no ring told of: found by the clock."""
    connections: int
    """To the database, at work now."""
    open_asks: int
    open_by_project: dict[str, int]
    """Of `MAX_COUNTED_PROJECTS` at most."""
