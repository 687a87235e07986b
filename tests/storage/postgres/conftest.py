"""A door to the database that fails on demand, and stores that are closed after the test."""

from collections.abc import Callable, Iterator

import psycopg
import pytest

from assent.storage.postgres.store import PostgresStore
from tools.fault_proxy import FaultProxy
from tools.postgres import PostgresServer

__all__ = ["OpenStore", "direct", "open_store", "own_database", "proxy"]

OpenStore = Callable[[str], PostgresStore]


@pytest.fixture
def proxy(postgres_server: PostgresServer) -> Iterator[FaultProxy]:
    """Give a door to the server that fails on demand."""
    with FaultProxy(postgres_server.port) as made:
        yield made


@pytest.fixture
def open_store() -> Iterator[OpenStore]:
    """Give what opens a store, as another process would."""
    opened: list[PostgresStore] = []

    def open_(url: str) -> PostgresStore:
        opened.append(PostgresStore(url))
        return opened[-1]

    yield open_
    for store in opened:
        store.close()


@pytest.fixture
def direct(database: str) -> Iterator[psycopg.Connection[tuple[object, ...]]]:
    """Give a connection to the database that no store knows of."""
    with psycopg.connect(database, autocommit=True, options="-c search_path=assent") as connection:
        yield connection


@pytest.fixture
def own_database(postgres_server: PostgresServer) -> Iterator[str]:
    """Give the address of a database with an empty store in it that no other test will see."""
    url = postgres_server.new_database()
    yield url
    postgres_server.drop_database(url)
