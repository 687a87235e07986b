"""The fake clock: time passes in order, and everything that falls due on the way happens."""

import doctest
from datetime import UTC, datetime, timedelta

import pytest

from assent.protocol.ask import State
from assent.protocol.error import Expired
from assent.testing import FakeClock, clock, person, script, store, throwaway
from tests.samples import NOON, microseconds

__all__: list[str] = []


@pytest.mark.parametrize("module", [clock, person, script, store], ids=lambda module: module.__name__)
def test_examples_of_the_docstrings_run(module: object) -> None:
    """What the kit shows is what it does."""
    outcome = doctest.testmod(module)  # type: ignore[arg-type]  # a module
    assert outcome.attempted > 0
    assert outcome.failed == 0


def test_clock_stands_still_until_it_is_moved() -> None:
    """Seconds, spans and moments."""
    clock = FakeClock(NOON)
    assert clock.now() == clock.now() == microseconds(NOON)
    clock.advance(1.5)
    clock.advance(timedelta(microseconds=1))
    assert clock.at == NOON + timedelta(seconds=1.5, microseconds=1)
    clock.set(datetime(2001, 2, 3, tzinfo=UTC))
    assert str(clock.at) == "2001-02-03 00:00:00+00:00"
    with pytest.raises(ValueError, match="forwards"):
        clock.advance(-1)


def test_asks_are_opened_at_the_clocks_moment() -> None:
    """Everything that is stored carries its time."""
    clock = FakeClock(NOON)
    with throwaway(clock=clock) as store:
        agent = store.agent()
        clock.advance(60)
        assert agent.open("Which?", ["red fox", "blue fox"]).ask.opened_at == NOON + timedelta(minutes=1)


def test_advance_applies_deadlines_for_everybody() -> None:
    """All clients of the store see it as soon as the clock has moved, and those who wait wake."""
    clock = FakeClock()
    with throwaway(clock=clock) as store:
        agent, person = store.agent(), store.person()
        handle = agent.open("Which?", ["red fox", "blue fox"], deadline=timedelta(days=7), consequence="deny")
        clock.advance(timedelta(days=6))
        assert person.count() == 1
        clock.advance(timedelta(days=1))
        assert person.show(handle.ask_id).state is State.EXPIRED
        with pytest.raises(Expired):
            handle.value(10)


def test_advance_stops_where_somebody_has_planned_something() -> None:
    """A reply planned for before the deadline is in time, although the clock was moved past both in one go."""
    clock = FakeClock(NOON)
    with throwaway(clock=clock) as store, store.scripted_person() as person:
        agent = store.agent()
        person.will_answer("Soon", "1", after=30).will_answer("Late", "1", after=90)
        handles = [
            agent.open(title, ["red fox", "blue fox"], deadline=timedelta(seconds=60), consequence="deny")
            for title in ("Soon?", "Late?")
        ]
        clock.advance(120)
        soon, late = (handle.wait(10) for handle in handles)
    assert soon.answer is not None
    assert soon.answer.at == NOON + timedelta(seconds=30)
    assert late.outcome is not None
    assert (late.state, late.outcome.at) == (State.EXPIRED, NOON + timedelta(seconds=60))


def test_set_jumps_over_what_was_planned() -> None:
    """As a machine that slept: the deadline has passed before anybody could act."""
    clock = FakeClock(NOON)
    with throwaway(clock=clock) as store, store.scripted_person() as person:
        person.will_answer("Soon", "1", after=30)
        handle = store.agent().open(
            "Soon?", ["red fox", "blue fox"], deadline=timedelta(seconds=60), consequence="deny"
        )
        clock.set(NOON + timedelta(seconds=120))
        assert handle.wait(10).state is State.EXPIRED
    assert [refusal.code for refusal in person.refused] == ["conflict"]
