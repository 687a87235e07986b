"""A throw-away store, on a file or behind a server, and clients of both sorts on it.

Every test runs twice: for threads on a file, and for tasks on a server. Both ways drive the same generators and both doors
are one port, so that each call is tried through each; `test_client.py`, which has the calls that all others stand on, runs
all four. The further cases of a table say what the engine decides, and run on a file.
"""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from assent.testing import FakeClock, ThrowawayStore, throwaway
from assent.testing.server import ThrowawayServer
from tests.client.both import Clients, Door, NewStore, clients_on
from tests.client.served import ServedStore
from tests.samples import NOON

__all__ = ["clients", "clock", "door", "new_store", "server", "store"]

_ALL_FOUR = "test_client.py"
_OURS = frozenset({"door", "clients"})


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave out what another run of the same test tells."""
    items[:] = [item for item in items if _is_wanted(item)]


def _is_wanted(item: pytest.Item) -> bool:
    callspec = getattr(item, "callspec", None)
    if callspec is None or Path(__file__).parent not in item.path.parents or "door" not in callspec.params:
        return True
    if any("door" in mark.args[0] for mark in item.iter_markers("parametrize")):
        return True
    is_first = not any(index for name, index in callspec.indices.items() if name not in _OURS)
    door, way = callspec.params["door"], callspec.params.get("clients")
    if not is_first:
        return door == "file" and way in {None, "threads"}
    return (
        way is None
        or item.path.name == _ALL_FOUR
        or (door, way) in {("file", "threads"), ("server", "tasks")}
    )


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
    """Say what stands behind the clients: on a file, or on a server."""
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
