"""What waits, in this project or in all stores of this user. Looking never makes a store."""

from __future__ import annotations

from datetime import datetime
from heapq import merge
from pathlib import Path

import msgspec

from assent.cli.place import Place, now
from assent.client.door import run_call, until
from assent.protocol.ask import Ask, State
from assent.protocol.display import display
from assent.protocol.error import AssentError

__all__ = ["Gathered", "gather"]


class Gathered(msgspec.Struct):
    """Open asks, newest first, and what could not be looked at."""

    asks: list[Ask]
    count: int
    """How many wait; `asks` may hold fewer."""
    troubles: list[str]
    at: datetime
    """By the clock of the current store, where there is one."""


def gather(place: Place, *, everywhere: bool, limit: int) -> Gathered:
    """Collect at most `limit` open asks.

    Everywhere means all projects of all stores, unless a store or a project was named; on a server it means all
    projects of the caller there. Another store that cannot be opened is a trouble; the current one is an error.
    """
    project = place.project if everywhere else place.project_name
    found = Gathered([], 0, [], now())
    here = place.address
    pages: list[list[Ask]] = []
    if place.is_there():
        pages.append(_take(place, here, project, limit, found))
    for path in place.others if everywhere else []:
        try:
            pages.append(_take(place, path, project, limit, found))
        except AssentError as error:
            found.troubles.append(f"{display(str(path), lines=False)}: {display(error.message, lines=False)}")
    # Each store has them in order already, by number.
    found.asks += list(merge(*pages, key=lambda ask: ask.opened_at, reverse=True))[:limit]
    return found


def _take(place: Place, address: Path | str, project: str | None, limit: int, found: Gathered) -> list[Ask]:
    with place.looking(address) as door:
        asks = run_call(until(door.asks(project, State.OPEN, limit)))
        found.count += run_call(until(door.count(project)))
        if address == place.address:
            found.at = door.now()
    return asks
