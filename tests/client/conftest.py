"""A throw-away store, on a file or behind a server, and clients of both sorts on it."""

from collections.abc import Iterator
from functools import partial

import pytest

from assent.testing import FakeClock, ThrowawayStore, throwaway
from assent.testing.server import ThrowawayServer
from tests.client.both import Clients, Door, NewStore, clients_on
from tests.client.served import ServedStore
from tests.samples import NOON

__all__ = ["clients", "clock", "door", "new_store", "server", "store"]


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
def new_store(door: Door, request: pytest.FixtureRequest) -> NewStore:
    """Give what makes an empty store, for a `with`; behind a server there is one at a time."""
    if door == "server":
        return partial(ServedStore, request.getfixturevalue("server"))
    return throwaway


@pytest.fixture
def store(new_store: NewStore, clock: FakeClock) -> Iterator[ThrowawayStore]:
    """Give an empty store on `clock`."""
    with new_store(clock=clock) as made:
        yield made


@pytest.fixture(params=["threads", "tasks"])
def clients(request: pytest.FixtureRequest, store: ThrowawayStore) -> Iterator[Clients]:
    """Give what makes clients; each test runs once for threads and once for tasks."""
    with clients_on(store, request.param) as made:
        yield made
