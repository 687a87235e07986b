"""What the asks of some days come to: how many, how fast people answered, how long agents waited, how asks ended.

Rule 1: an ask belongs to the moment at which it was opened; whatever came of it since then counts there.
Rule 2: hours and days begin where they do for the person who looks: `offset` minutes ahead of UTC.
Rule 3: a person's no is an answer in time (`answer_time`), and none in kind (`ends`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from math import ceil

import msgspec

from assent.protocol.ask import Kind

__all__ = [
    "MAX_ASKERS",
    "AskerWait",
    "Bin",
    "End",
    "KindEnds",
    "KindPace",
    "Numbers",
    "Pace",
    "Rest",
    "Span",
    "Waiting",
    "count_numbers",
    "start_of",
]

MAX_ASKERS = 12
"""So many askers are named; what the others waited is one sum."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_HOUR, _DAY = timedelta(hours=1), timedelta(days=1)
_SECOND = 1_000_000


class End(StrEnum):
    """What came of an ask, as far as it is counted here."""

    OPEN = "open"
    ANSWERED = "answered"
    """A person answered; of an approval: with the yes."""
    DECLINED = "declined"
    """A person declined, or rejected an approval."""
    UNANSWERED = "unanswered"
    """It was withdrawn, replaced, or its time ran out."""


_REACTED = (End.ANSWERED, End.DECLINED)


class Span(msgspec.Struct, frozen=True, gc=False):
    """The time of one ask, in microseconds since 1970."""

    kind: Kind
    asker: str
    opened_at: int
    ended_at: int | None
    """None while it is open."""
    end: End


class Waiting(msgspec.Struct, frozen=True):
    """What waits now, whenever it was opened."""

    count: int
    oldest_at: datetime | None = None
    """When that was opened which waits longest."""


class Pace(msgspec.Struct, frozen=True):
    """How fast people reacted, by an answer or by a no."""

    count: int
    median_seconds: float | None = None
    """Half were faster; None where nobody has reacted yet."""
    slow_seconds: float | None = None
    """Nine in ten were at least so fast."""


class KindPace(Pace, frozen=True, kw_only=True):
    """The same of one kind."""

    kind: Kind


class Bin(msgspec.Struct, frozen=True):
    """The asks that were opened in one hour, or on one day."""

    start_at: datetime
    answered: int = 0
    """A person answered or said no."""
    unanswered: int = 0
    open: int = 0


class AskerWait(msgspec.Struct, frozen=True):
    """How long one asker waited in all: to the end of each ask, or to now."""

    asker: str
    asks: int
    seconds: float


class Rest(msgspec.Struct, frozen=True):
    """The askers that are not named."""

    askers: int
    asks: int
    seconds: float


class KindEnds(msgspec.Struct, frozen=True):
    """How the asks of one kind ended."""

    kind: Kind
    answered: int = 0
    declined: int = 0
    unanswered: int = 0
    open: int = 0


class Numbers(msgspec.Struct, frozen=True):
    """What the asks of some days come to."""

    days: int
    offset: int
    start_at: datetime
    now: datetime
    is_whole: bool
    """False where there were more asks than are counted: the oldest are left out then."""
    asks: int
    waiting: Waiting
    answer_time: Pace
    earlier_time: Pace
    """The same of as many days before; without figures where there were more asks than are counted."""
    paces: tuple[KindPace, ...]
    """Of each kind that people reacted to, the fastest first."""
    bins: tuple[Bin, ...]
    """Hours of one day, else days; the first one first, up to now."""
    waited_seconds: float
    waits: tuple[AskerWait, ...]
    """The longest first."""
    rest: Rest | None
    ends: tuple[KindEnds, ...]
    """Of each kind that was asked, the most frequent first."""


def start_of(now: datetime, days: int, offset: int) -> datetime:
    """Return when the window begins: at midnight, where the clock is `offset` minutes ahead, of today or of a day before.

    >>> start_of(datetime(2030, 1, 1, 23, 30, tzinfo=UTC), 1, 60)
    datetime.datetime(2030, 1, 1, 23, 0, tzinfo=datetime.timezone.utc)
    """
    ahead = timedelta(minutes=offset)
    local = now.astimezone(UTC) + ahead
    midnight = local.replace(hour=0, minute=0, second=0, microsecond=0)
    return midnight - (days - 1) * _DAY - ahead


def count_numbers(
    spans: Iterable[Span],
    waiting: Waiting,
    earlier: Iterable[Span] = (),
    *,
    now: datetime,
    days: int,
    offset: int,
    is_whole: bool = True,
) -> Numbers:
    """Return what the asks that were opened in the window come to; those before it do not count.

    Of `earlier` ones only is told how fast people were.
    """
    start = start_of(now, days, offset)
    first, last = _count(start), _count(now)
    found = [span for span in spans if span.opened_at >= first]
    reacted: dict[Kind, list[int]] = defaultdict(list)
    ends: dict[Kind, list[End]] = defaultdict(list)
    waited: dict[str, list[int]] = defaultdict(list)
    for span in found:
        took = _took(span, last)
        waited[span.asker].append(took)
        ends[span.kind].append(span.end)
        if span.end in _REACTED:
            reacted[span.kind].append(took)
    waits = sorted(
        (AskerWait(asker, len(each), sum(each) / _SECOND) for asker, each in waited.items()),
        key=lambda wait: (-wait.seconds, wait.asker),
    )
    named, others = tuple(waits[:MAX_ASKERS]), waits[MAX_ASKERS:]
    return Numbers(
        days,
        offset,
        start,
        now,
        is_whole,
        len(found),
        waiting,
        Pace(*_pace([took for each in reacted.values() for took in each])),
        Pace(*_pace([_took(span, last) for span in earlier if span.end in _REACTED])),
        tuple(
            sorted(
                (KindPace(*_pace(each), kind=kind) for kind, each in reacted.items()),
                key=lambda pace: (pace.median_seconds, pace.slow_seconds, pace.kind),
            )
        ),
        _bins(found, start, now, days),
        sum(took for each in waited.values() for took in each) / _SECOND,
        named,
        _rest(others),
        tuple(
            sorted(
                (KindEnds(kind, *_tally(each)) for kind, each in ends.items()),
                key=lambda of_kind: (-len(ends[of_kind.kind]), of_kind.kind),
            )
        ),
    )


def _took(span: Span, now: int) -> int:
    # A clock may run back between two events, and between two looks at it.
    return max(0, (now if span.ended_at is None else span.ended_at) - span.opened_at)


def _count(at: datetime) -> int:
    return (at - _EPOCH) // _MICROSECOND


def _pace(tooks: list[int]) -> tuple[int, float | None, float | None]:
    if not tooks:
        return 0, None, None
    tooks.sort()
    # Not by `statistics`: every command would load it at its start.
    middle = (tooks[(len(tooks) - 1) // 2] + tooks[len(tooks) // 2]) / 2
    return len(tooks), middle / _SECOND, tooks[ceil(0.9 * len(tooks)) - 1] / _SECOND


def _tally(ends: Sequence[End]) -> tuple[int, int, int, int]:
    return (
        ends.count(End.ANSWERED),
        ends.count(End.DECLINED),
        ends.count(End.UNANSWERED),
        ends.count(End.OPEN),
    )


def _rest(others: Sequence[AskerWait]) -> Rest | None:
    if not others:
        return None
    return Rest(len(others), sum(each.asks for each in others), sum(each.seconds for each in others))


def _bins(spans: Sequence[Span], start: datetime, now: datetime, days: int) -> tuple[Bin, ...]:
    width = _HOUR if days == 1 else _DAY
    count = (now - start) // width + 1
    ends: list[list[End]] = [[] for _ in range(count)]
    first, size = _count(start), width // _MICROSECOND
    for span in spans:
        ends[max(0, min((span.opened_at - first) // size, count - 1))].append(span.end)
    return tuple(
        Bin(start + number * width, answered + declined, unanswered, still_open)
        for number, (answered, declined, unanswered, still_open) in enumerate(map(_tally, ends))
    )
