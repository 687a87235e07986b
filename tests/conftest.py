"""Surroundings that every test shares: an empty home, a runtime folder of its own, and no mark of an agent's host.

The runtime folder's name is short on purpose: a socket's whole path has at most 107 bytes.
"""

import os
import shutil
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from assent.client.identity import AGENT_MARKS
from tools.postgres import PostgresServer

__all__ = ["bare_database", "database", "postgres_server", "surroundings"]

# A busy machine must not turn a slow example into a failure; pytest bounds the whole test.
settings.register_profile("assent", deadline=None, print_blob=True)
settings.load_profile("assent")

# A shell starts what runs in its background deaf to Ctrl-C, and every program started from here would be so, too.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session", autouse=True)
def surroundings() -> Iterator[Path]:
    """Keep tests away from the user's own folders, also in the processes that they start."""
    home = Path(tempfile.mkdtemp(prefix="as-"))
    with pytest.MonkeyPatch.context() as patch:
        for name in (*AGENT_MARKS, *(name for name in os.environ if name.startswith("ASSENT_"))):
            patch.delenv(name, raising=False)
        patch.setenv("HOME", str(home))
        patch.setenv("XDG_STATE_HOME", str(home / "state"))
        patch.setenv("XDG_RUNTIME_DIR", str(home / "run"))
        yield home
    shutil.rmtree(home, ignore_errors=True)


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    """Give a PostgreSQL server of this worker's own. Whoever stops it starts it again."""
    with PostgresServer() as server:
        yield server


@pytest.fixture
def database(postgres_server: PostgresServer) -> Iterator[str]:
    """Give the address of a database with an empty store in it."""
    url = postgres_server.lend_database()
    yield url
    postgres_server.take_back(url)


@pytest.fixture
def bare_database(postgres_server: PostgresServer) -> Iterator[str]:
    """Give the address of a database with nothing in it."""
    url = postgres_server.new_database(is_bare=True)
    yield url
    postgres_server.drop_database(url)
