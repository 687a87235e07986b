"""What the asks of some days come to."""

from datetime import UTC, datetime, timedelta
from math import isclose

from hypothesis import given
from hypothesis import strategies as st

from assent.protocol.ask import Kind
from assent.protocol.numbers import MAX_ASKERS, End, Numbers, Span, Waiting, count_numbers, start_of
from tests.samples import NOON, microseconds

__all__: list[str] = []

SECOND = 1_000_000
NOBODY = Waiting(0)


def span(
    minutes_ago: float = 10,
    seconds: float | None = 30,
    *,
    kind: Kind = Kind.QUESTION,
    end: End = End.ANSWERED,
    asker: str = "agent:coder",
    now: datetime = NOON,
) -> Span:
    """Return an ask that was opened so long ago and took so long; without `seconds` it is open."""
    opened = microseconds(now - timedelta(minutes=minutes_ago))
    if seconds is None:
        return Span(kind, asker, opened, None, End.OPEN)
    return Span(kind, asker, opened, opened + round(seconds * SECOND), end)


def count(*spans: Span, days: int = 1, offset: int = 0, now: datetime = NOON) -> Numbers:
    """Count these asks."""
    return count_numbers(spans, NOBODY, now=now, days=days, offset=offset)


def test_no_asks_come_to_nothing_and_no_figure_is_made_up() -> None:
    """There is no median of nothing; the hours of the day are there all the same."""
    found = count()
    assert (found.asks, found.waited_seconds, found.paces, found.waits, found.ends) == (0, 0, (), (), ())
    assert (found.answer_time.median_seconds, found.answer_time.slow_seconds, found.rest) == (
        None,
        None,
        None,
    )
    assert len(found.bins) == 13


def test_median_and_slowest_tenth_are_those_of_the_asks_that_a_person_reacted_to() -> None:
    """A person's no took a person's time; what was withdrawn or still waits says nothing of it."""
    reacted = [
        span(seconds=number, end=End.DECLINED if number == 3 else End.ANSWERED) for number in range(1, 11)
    ]
    other = [span(seconds=9_999, end=End.UNANSWERED), span(seconds=None)]
    found = count(*reacted, *other)
    assert (found.answer_time.count, found.answer_time.median_seconds) == (10, 5.5)
    assert found.answer_time.slow_seconds == 9.0
    assert found.asks == 12


def test_kinds_are_told_apart_the_fastest_first_and_the_most_frequent_first() -> None:
    """How fast, and how it ended, are questions of the kind."""
    found = count(
        span(seconds=60, kind=Kind.APPROVAL),
        span(seconds=90, kind=Kind.APPROVAL, end=End.DECLINED),
        span(seconds=50, kind=Kind.APPROVAL, end=End.UNANSWERED),
        span(seconds=5, kind=Kind.FINDING),
    )
    assert [(pace.kind, pace.count, pace.median_seconds) for pace in found.paces] == [
        (Kind.FINDING, 1, 5.0),
        (Kind.APPROVAL, 2, 75.0),
    ]
    assert [(each.kind, each.answered, each.declined, each.unanswered) for each in found.ends] == [
        (Kind.APPROVAL, 1, 1, 1),
        (Kind.FINDING, 1, 0, 0),
    ]


def test_open_ask_counts_as_waiting_until_now() -> None:
    """An agent that still waits has waited so far."""
    found = count(span(minutes_ago=10, seconds=None), span(minutes_ago=5, seconds=30))
    assert found.waited_seconds == 630.0
    assert [(wait.asks, wait.seconds) for wait in found.waits] == [(2, 630.0)]


def test_days_before_are_told_by_their_pace_alone() -> None:
    """Whether people are faster than yesterday; nothing else of yesterday counts."""
    earlier = [
        span(minutes_ago=60 * 20, seconds=10),
        span(minutes_ago=60 * 20, seconds=50, end=End.UNANSWERED),
    ]
    found = count_numbers([span()], NOBODY, earlier, now=NOON, days=1, offset=0)
    assert (found.earlier_time.count, found.earlier_time.median_seconds) == (1, 10.0)
    assert (found.asks, found.answer_time.count) == (1, 1)


def test_askers_beyond_the_longest_waits_are_one_sum() -> None:
    """Whatever agents are called, and however many there are, the list is short."""
    found = count(*(span(seconds=number, asker=f"agent:{number}") for number in range(1, MAX_ASKERS + 4)))
    assert [wait.seconds for wait in found.waits] == [15.0 - number for number in range(MAX_ASKERS)]
    assert found.rest is not None
    assert (found.rest.askers, found.rest.asks, found.rest.seconds) == (3, 3, 6.0)


def test_hours_begin_where_the_person_is() -> None:
    """Half an hour ahead of UTC, 12:00 is in the hour that began at 11:30 UTC, and the day began at 23:30."""
    found = count(span(minutes_ago=5), span(minutes_ago=45), offset=30)
    assert found.start_at == datetime(2029, 12, 31, 23, 30, tzinfo=UTC)
    assert found.bins[-1].start_at == datetime(2030, 1, 1, 11, 30, tzinfo=UTC)
    assert [each.answered for each in found.bins[-2:]] == [1, 1]


def test_days_end_with_today_and_what_was_before_does_not_count() -> None:
    """Seven days are today and the six before it."""
    week = count(span(minutes_ago=60 * 24 * 6), span(minutes_ago=60 * 24 * 7), days=7)
    assert (week.asks, len(week.bins), week.bins[0].answered) == (1, 7, 1)
    assert len(count(days=30).bins) == 30


def test_ask_that_the_clock_puts_into_the_future_counts_now() -> None:
    """The store's clock never runs back within a log; ours may."""
    found = count(span(minutes_ago=-90, seconds=None))
    assert (found.bins[-1].open, found.waited_seconds) == (1, 0.0)


SPANS = st.lists(
    st.builds(
        span,
        minutes_ago=st.integers(-60, 60 * 24 * 40),
        seconds=st.none() | st.integers(0, 100_000),
        kind=st.sampled_from(Kind),
        end=st.sampled_from([End.ANSWERED, End.DECLINED, End.UNANSWERED]),
        asker=st.text(max_size=2),
    ),
    max_size=60,
)


@given(SPANS, st.sampled_from([1, 7, 30]), st.integers(-1_439, 1_439))
def test_every_ask_of_the_window_is_counted_once_in_every_figure(
    spans: list[Span], days: int, offset: int
) -> None:
    """Hours, kinds and askers are three ways to cut the same asks."""
    found = count(*spans, days=days, offset=offset)
    inside = [each for each in spans if each.opened_at >= microseconds(found.start_at)]
    rest = found.rest
    assert found.asks == len(inside)
    assert sum(each.answered + each.unanswered + each.open for each in found.bins) == len(inside)
    assert sum(each.answered + each.declined + each.unanswered + each.open for each in found.ends) == len(
        inside
    )
    assert sum(each.asks for each in found.waits) + (rest.asks if rest else 0) == len(inside)
    told = sum(each.seconds for each in found.waits) + (rest.seconds if rest else 0)
    assert isclose(told, found.waited_seconds, abs_tol=1e-6)
    assert sum(pace.count for pace in found.paces) == found.answer_time.count


@given(SPANS, st.sampled_from([1, 7, 30]))
def test_figures_do_not_depend_on_the_order_of_the_asks(spans: list[Span], days: int) -> None:
    """However a store hands them out."""
    assert count(*spans, days=days) == count(*reversed(spans), days=days)


@given(SPANS)
def test_half_are_at_most_the_median_and_nine_in_ten_at_most_the_slow(spans: list[Span]) -> None:
    """What the words on the page say is so."""
    found = count(*spans, days=30)
    tooks = [
        ((each.ended_at or 0) - each.opened_at) / SECOND
        for each in spans
        if each.opened_at >= microseconds(found.start_at) and each.end in (End.ANSWERED, End.DECLINED)
    ]
    if not tooks:
        assert found.answer_time.median_seconds is None
        return
    median, slow = found.answer_time.median_seconds, found.answer_time.slow_seconds
    assert median is not None
    assert slow is not None
    assert median <= slow
    assert 2 * sum(took <= median for took in tooks) >= len(tooks)
    assert 10 * sum(took <= slow for took in tooks) >= 9 * len(tooks)


@given(
    st.datetimes(datetime(2000, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC)),  # noqa: DTZ001 - bounds only
    st.sampled_from([1, 7, 30]),
    st.integers(-1_439, 1_439),
)
def test_window_begins_at_a_midnight_of_the_person_and_ends_on_their_day(
    now: datetime, days: int, offset: int
) -> None:
    """It has the days that were asked for, and the last of them has begun."""
    start = start_of(now, days, offset)
    local = start + timedelta(minutes=offset)
    assert (local.hour, local.minute, local.second, local.microsecond) == (0, 0, 0, 0)
    assert timedelta(days=days - 1) <= now - start < timedelta(days=days)
