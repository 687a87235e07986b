"""A throw-away store, and clients of both sorts on it."""

from collections.abc import Iterator

import pytest

from assent.testing import FakeClock, ThrowawayStore, throwaway
from tests.client.both import Clients, clients_on
from tests.samples import NOON

__all__ = ["clients", "clock", "store"]


@pytest.fixture
def clock() -> FakeClock:
    """Give a clock that stands at noon."""
    return FakeClock(NOON)


@pytest.fixture
def store(clock: FakeClock) -> Iterator[ThrowawayStore]:
    """Give an empty store on `clock`."""
    with throwaway(clock=clock) as made:
        yield made


@pytest.fixture(params=["threads", "tasks"])
def clients(request: pytest.FixtureRequest, store: ThrowawayStore) -> Iterator[Clients]:
    """Give what makes clients; each test runs once for threads and once for tasks."""
    with clients_on(store, request.param) as made:
        yield made
