"""A throw-away store, on a file or behind a server, and clients of both sorts on it."""

from collections.abc import Iterator

import pytest

from assent.testing import FakeClock, ThrowawayStore, throwaway
from assent.testing.server import ThrowawayServer
from tests.client.both import Clients, Door, clients_on
from tests.client.served import ServedStore
from tests.samples import NOON

__all__ = ["clients", "clock", "door", "server", "store"]


@pytest.fixture
def clock() -> FakeClock:
    """Give a clock that stands at noon."""
    return FakeClock(NOON)


@pytest.fixture(scope="session")
def server() -> Iterator[ThrowawayServer]:
    """Give a server that is turned to the store of each test, and stopped after the last."""
    with throwaway() as first, ThrowawayServer(first) as made:
        yield made


@pytest.fixture(params=["file", "server"])
def door(request: pytest.FixtureRequest) -> Door:
    """Say what stands behind the clients: each test runs once on a file and once on a server."""
    found: Door = request.param
    return found


@pytest.fixture
def store(door: Door, clock: FakeClock, request: pytest.FixtureRequest) -> Iterator[ThrowawayStore]:
    """Give an empty store on `clock`."""
    if door == "server":
        with ServedStore(request.getfixturevalue("server"), clock=clock) as served:
            yield served
        return
    with throwaway(clock=clock) as made:
        yield made


@pytest.fixture(params=["threads", "tasks"])
def clients(request: pytest.FixtureRequest, store: ThrowawayStore) -> Iterator[Clients]:
    """Give what makes clients; each test runs once for threads and once for tasks."""
    with clients_on(store, request.param) as made:
        yield made
