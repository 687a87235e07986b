"""A stretch of a project's log that is not too much for one reply: how large events are is up to agents.

It is read in small steps, which grow while the events are small: so a log of large ones is never in memory at once, and
one of small ones takes few steps.
"""

from __future__ import annotations

from assent.client.door import Call, until
from assent.client.embedded import EmbeddedDoor
from assent.hub.record import Record

__all__ = ["Record", "read_stretch"]

_FIRST_STEP = 8
"""So many events are read at first; each may have a megabyte."""
_LONGEST_STEP = 1_024
_SMALL = 1 << 18
"""A step that brought no more bytes than this is followed by one that is twice as long."""


def read_stretch(
    door: EmbeddedDoor, project: str, after: int, limit: int, most_bytes: int
) -> Call[list[Record]]:
    """Return events after a number, oldest first: at most `limit`, and of more than `most_bytes` only the last one.

    Whoever wants more comes again behind the last; there is none only where the log ends.
    """
    found: list[Record] = []
    size, step = 0, _FIRST_STEP
    while len(found) < limit:
        asked = min(step, limit - len(found))
        page = yield from until(door.records(project, found[-1].sequence if found else after, asked))
        before = size
        for record in page:
            found.append(record)
            size += len(record.body or b"")
            if size > most_bytes:
                return found
        if len(page) < asked:
            break
        step = min(2 * step, _LONGEST_STEP) if size - before <= _SMALL else _FIRST_STEP
    return found
