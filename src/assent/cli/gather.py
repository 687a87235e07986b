"""What waits, in this project or in every store that this user opened. Looking never makes a store."""

from __future__ import annotations

from pathlib import Path

import msgspec

from assent.cli.place import Place, is_there
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


def gather(place: Place, *, everywhere: bool, limit: int) -> Gathered:
    """Collect at most `limit` open asks.

    Everywhere means all projects of all stores, unless a store or a project was named; on a server it means all
    projects of the caller there. Another store that cannot be opened is a trouble; the current one is an error.
    """
    project = place.project if everywhere else place.project_name
    found = Gathered([], 0, [])
    here = place.address
    if is_there(here):
        _take(place, here, project, limit, found)
    for path in place.others if everywhere else []:
        try:
            _take(place, path, project, limit, found)
        except AssentError as error:
            found.troubles.append(f"{display(str(path), lines=False)}: {display(error.message, lines=False)}")
    found.asks.sort(key=lambda ask: ask.opened_at, reverse=True)
    del found.asks[limit:]
    return found


def _take(place: Place, address: Path | str, project: str | None, limit: int, found: Gathered) -> None:
    with place.door(address) as door:
        asks = run_call(until(door.asks(project, State.OPEN, limit)))
        found.asks += asks
        found.count += run_call(until(door.count(project)))
