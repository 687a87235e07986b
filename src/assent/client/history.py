"""What a server tells of the past: asks a page at a time, and what those of some days come to.

Both may be much to read, so they are read beside the event loop; and both are bounded, however much there is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Literal, TypeVar

from msgspec.structs import replace

from assent.client.door import Wait
from assent.client.embedded import EmbeddedDoor
from assent.client.grip import beside
from assent.hub.desk import instant
from assent.hub.record import Page, Reader
from assent.protocol.ask import Kind, State
from assent.protocol.numbers import Numbers, count_numbers, start_of

__all__ = ["MAX_COUNTED", "Page", "read_numbers", "read_page"]

MAX_COUNTED = 100_000
"""So many asks at most are counted for figures, of each project the newest first."""

T = TypeVar("T")


def read_page(
    door: EmbeddedDoor,
    projects: Sequence[str] | None,
    state: State | Literal["ended"] | None,
    *,
    kind: Kind | None,
    before: str | None,
    limit: int,
    most_bytes: int,
) -> Wait[Page]:
    """List asks of some projects or of all, behind one of them."""

    def look() -> Page:
        with door.hub.reading() as reader:
            page = reader.page(projects, state, kind=kind, before=before, limit=limit, most_bytes=most_bytes)
        return replace(page, asks=tuple(door.hub.mark(page.asks)))

    return beside(look)


def read_numbers(
    door: EmbeddedDoor, projects: Sequence[str] | None, days: int, offset: int, most: int = MAX_COUNTED
) -> Wait[Numbers]:
    """Count what the asks of some days come to, in some projects or in all."""
    now = door.now()
    start = start_of(now, days, offset)
    since, before = (
        (at - instant(0)) // timedelta(microseconds=1) for at in (start, start - timedelta(days=days))
    )

    def read(reader: Reader) -> Numbers:
        spans = reader.spans(projects, since, most + 1)
        earlier = reader.spans(projects, before, most + 1, until=since)
        return count_numbers(
            spans[:most],
            reader.waiting(projects),
            earlier if len(earlier) <= most else (),
            now=now,
            days=days,
            offset=offset,
            is_whole=len(spans) <= most,
        )

    return _read(door, read)


def _read(door: EmbeddedDoor, read: Callable[[Reader], T]) -> Wait[T]:
    def look() -> T:
        with door.hub.reading() as reader:
            return read(reader)

    return beside(look)
