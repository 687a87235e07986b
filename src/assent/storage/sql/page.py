"""Asks a page at a time, and their times without their texts: what a history and its figures are made of.

Rule 1: an order is total and never changes behind its cursor: by opening, or by the end in the log. Within a log the number
says what came first, whatever the clock said; of two logs the moment does, or where a clock ran back the latest before it.
Rule 2: what a page holds is chosen by numbers and sizes alone; only the asks in it are read.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple

import msgspec

from assent.protocol.answer import Answer
from assent.protocol.approval import approval_values
from assent.protocol.ask import Kind, State
from assent.protocol.error import StoreDamagedError
from assent.protocol.numbers import End, Span, Waiting
from assent.storage.port import Head
from assent.storage.sql.row import UNREADABLE, decode_instant
from assent.storage.sql.transaction import LOG_SHIFT

__all__ = ["Look", "choose_page", "read_spans", "read_waiting"]

Query = Callable[[str, tuple[Any, ...]], list[tuple[Any, ...]]]
"""Runs a named query."""
Each = Callable[[str, Sequence[str | int], tuple[Any, ...]], list[tuple[Any, ...]]]
"""Runs a named query for each of several first values."""


class Look(NamedTuple):
    """How a store is looked into."""

    one: Query
    each: Each


_BEHIND_ALL = (1 << 63) - 1
_ENDS = {
    State.OPEN: End.OPEN,
    State.ANSWERED: End.ANSWERED,
    State.DECLINED: End.DECLINED,
    State.WITHDRAWN: End.UNANSWERED,
    State.EXPIRED: End.UNANSWERED,
    State.SUPERSEDED: End.UNANSWERED,
}
_KINDS = {kind.value: kind for kind in Kind}
_STATES = {state.value: state for state in State}
_YES = approval_values(True)
_answer = msgspec.json.Decoder(Answer).decode


def choose_page(
    look: Look,
    heads: Sequence[Head],
    state: State | Literal["ended"] | None,
    kind: Kind | None,
    before: str | None,
    limit: int,
    most_bytes: int,
) -> tuple[list[str], bool]:
    """Return the ids of a page's asks, newest first, and whether more come behind them.

    The page ends before the ask that would make it too large; one is always in it. Behind an ask that is not of these
    projects comes nothing.
    """
    place: tuple[int, int, int] | None = None
    if before is not None:
        found = look.one("place_of_ask", (before,))
        if not found or found[0][1] not in {head.number for head in heads}:
            return [], False
        place = found[0]
    if state == "ended":
        rows = _ended(look.one, heads, kind, place, limit + 1)
    else:
        rows = _opened(look, heads, state, kind, place, limit + 1)
    rows.sort(reverse=True)  # by their place; no two have the same
    ids: list[str] = []
    size = 0
    for *_, bytes_, ask_id in rows[:limit]:
        size += bytes_
        if ids and size > most_bytes:
            break
        ids.append(ask_id)
    return ids, len(rows) > len(ids)


def _opened(
    look: Look,
    heads: Sequence[Head],
    state: State | None,
    kind: Kind | None,
    place: tuple[int, int, int] | None,
    count: int,
) -> list[tuple[Any, ...]]:
    number = _BEHIND_ALL if place is None else place[0]
    if state is State.OPEN:
        return look.each("open_before", [head.number for head in heads], (number, kind, count))
    numbers = msgspec.json.encode([head.number for head in heads]).decode()
    return look.one("opened_before", (number, numbers, state, kind, count))


def _ended(
    query: Query, heads: Sequence[Head], kind: Kind | None, place: tuple[int, int, int] | None, count: int
) -> list[tuple[Any, ...]]:
    found = []
    at = None if place is None else _at(query, place[1], place[2])
    for head in heads:
        last = head.sequence
        if place is not None and at is not None:
            # Of the same moment, the project with the lower number comes later; as the rows are sorted.
            is_own, is_later = head.number == place[1], head.number < place[1]
            last = place[2] - 1 if is_own else _count_before(query, head, at + is_later)
        base = head.number * LOG_SHIFT
        found += query("ended_before", (base, base + last + 1, kind, count))
    return found


def read_spans(query: Query, heads: Sequence[Head], since: int, until: int | None, limit: int) -> list[Span]:
    """Return the times of the asks that were opened since a moment and before another, at most so many; of each project
    the newest first.
    """
    spans: list[Span] = []
    for head in heads:
        if len(spans) >= limit or head.high < since:
            continue
        base = head.number * LOG_SHIFT
        first = base + _count_before(query, head, since)
        last = head.sequence if until is None else _count_before(query, head, until)
        rows = query("spans", (first, base + last + 1, limit - len(spans)))
        spans += map(_span, rows)
    return spans


def read_waiting(each: Each, heads: Sequence[Head]) -> Waiting:
    """Return how many asks wait, and since when."""
    count = sum(int(number) for (number,) in each("count_open", [head.project for head in heads], ()))
    oldest = [at for (at,) in each("oldest_open", [head.number for head in heads], ())]
    return Waiting(count, decode_instant(min(oldest)) if oldest else None)


def _span(row: tuple[Any, ...]) -> Span:
    kind, state, asker, opened_at, changed_at, ending = row
    try:
        end = _ENDS[_STATES[state]]
        if ending is not None and _answer(ending).values != _YES:
            end = End.DECLINED
        return Span(_KINDS[kind], asker, opened_at, None if end is End.OPEN else changed_at, end)
    except (KeyError, *UNREADABLE) as error:
        raise StoreDamagedError("The row of an ask cannot be read.") from error


def _count_before(query: Query, head: Head, at: int) -> int:
    """Return how many events of a project happened before a moment. Its numbers have no gaps, and its places never run back."""
    low, high = 0, head.sequence
    while low < high:
        middle = (low + high + 1) // 2
        if _at(query, head.number, middle) < at:
            low = middle
        else:
            high = middle - 1
    return low


def _at(query: Query, number: int, sequence: int) -> int:
    found = query("event_at", (number * LOG_SHIFT + sequence,))
    if not found:
        raise StoreDamagedError(f"Event {sequence} of a log is missing.")
    return int(found[0][0])
