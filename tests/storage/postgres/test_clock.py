"""The database's clock judges; that of the machine that asks has no say."""

from datetime import UTC, datetime, timedelta

import psycopg
import pytest

from assent.client.client import Client
from assent.hub.clock import SystemClock
from assent.hub.compose import hub_on_database
from assent.protocol.principal import Principal, Role
from assent.testing import FakeClock
from tests.samples import NOON

__all__: list[str] = []

AGENT = Principal(Role.AGENT, "coder")
NOW = "SELECT clock_timestamp()"


@pytest.mark.parametrize("off", [timedelta(days=3650), timedelta(seconds=-90), timedelta(days=-3650)])
def test_moment_is_the_databases_whatever_this_machines_clock_says(
    database: str, monkeypatch: pytest.MonkeyPatch, off: timedelta
) -> None:
    """What is stored, what is shown as now, and what is due."""
    machine = SystemClock.now
    monkeypatch.setattr(SystemClock, "now", lambda clock: machine(clock) + off // timedelta(microseconds=1))
    with (
        psycopg.connect(database, autocommit=True) as other,
        Client(hub_on_database(database), "p", AGENT) as client,
    ):
        (before,) = other.execute(NOW).fetchone() or (None,)
        first = client.open("Which?", ["red fox", "blue fox"], deadline=timedelta(hours=1)).ask
        now = client.door.now()
        (after,) = other.execute(NOW).fetchone() or (None,)
        assert before <= first.opened_at <= now <= after
        assert first.deadline == first.opened_at + timedelta(hours=1)
        assert client.show(first.ask_id).is_open


def test_first_word_of_the_clock_is_the_databases(database: str) -> None:
    """Also before anything else was asked of it."""
    with (
        psycopg.connect(database, autocommit=True) as other,
        Client(hub_on_database(database), "p", AGENT) as client,
    ):
        (before,) = other.execute(NOW).fetchone() or (None,)
        now = client.door.now()
        (after,) = other.execute(NOW).fetchone() or (None,)
    assert before <= now <= after


def test_clock_that_was_given_stands_in_for_the_databases(database: str) -> None:
    """A test's own clock is the only one that it need look at."""
    clock = FakeClock(NOON)
    with Client(hub_on_database(database, clock), "p", AGENT) as client:
        ask = client.open("Which?", ["red fox", "blue fox"], deadline=timedelta(hours=1)).ask
        assert (ask.opened_at, client.door.now()) == (NOON, NOON)
        assert datetime.now(UTC) < NOON
        clock.advance(timedelta(hours=1))
        assert client.show(ask.ask_id).is_overdue
