"""Surroundings that every test shares: an empty home, a runtime folder of its own, and no mark of an agent's host.

A machine without a program that many tests start is told so in one sentence, before any of them runs; what a test could
not try for want of a program is told at the end.

The runtime folder's name is short on purpose: a socket's whole path has at most 107 bytes.
"""

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from assent.client.identity import AGENT_MARKS
from tests import chance, leftovers
from tests.inherited import make_usual
from tests.leftovers import pytest_worker_begins
from tests.missing import MISSING
from tools import ledger_plugin, pool
from tools.pool import pytest_addhooks, pytest_runtestloop
from tools.postgres import PostgresServer

__all__ = [
    "bare_database",
    "database",
    "postgres_server",
    "pytest_addhooks",
    "pytest_configure",
    "pytest_runtestloop",
    "pytest_sessionstart",
    "pytest_terminal_summary",
    "pytest_worker_begins",
    "surroundings",
]

_LONGEST_NAME = 200

make_usual()
assert chance.SHARE > 0  # its profile is in force


def pytest_configure(config: pytest.Config) -> None:
    """Watch what is left behind, and which requirements are proven."""
    leftovers.pytest_configure(config)
    ledger_plugin.pytest_configure(config)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Have a pool, and a way to run the properties alone, with more examples."""
    pool.pytest_addoption(parser)
    parser.addoption("--properties", action="store_true", help="run only what is tried with random examples")


def pytest_make_parametrize_id(val: object) -> str | None:
    """Call a long text by its length: the name of a test goes to every worker, and into the environment."""
    return f"{len(val)} signs" if isinstance(val, str | bytes) and len(val) > _LONGEST_NAME else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what has no examples, where that is wanted; begin with what takes longest."""
    if config.getoption("--properties"):
        kept = [item for item in items if getattr(getattr(item, "obj", None), "is_hypothesis_test", False)]
        config.hook.pytest_deselected(items=[item for item in items if item not in kept])
        items[:] = kept
    # What may take longest has a bound of its own, and begins first: nobody waits for it alone at the end.
    items.sort(key=lambda item: item.get_closest_marker("timeout") is None)


def pytest_sessionstart() -> None:
    """Stop where a program is missing that the README names, or every system brings along."""
    missing = [name for name in ("bash", "git") if shutil.which(name) is None]
    if missing:
        pytest.exit(f"Install {' and '.join(missing)} first: the tests start what is not on this path.", 4)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say which programs are not here, and what was left out for it."""
    told = {
        str(value)
        for reports in terminalreporter.stats.values()
        for report in reports
        for name, value in getattr(report, "user_properties", ())
        if name == MISSING
    }
    for line in sorted(told):
        terminalreporter.line(f"not on this machine: {line}")


_MEMORY = Path("/dev/shm")
_ROOM = 1 << 30
"""Bytes that must be free there."""


def _has_memory() -> bool:
    """Say whether there is a file system in memory with room for the stores of a run."""
    return _MEMORY.is_dir() and os.access(_MEMORY, os.W_OK) and shutil.disk_usage(_MEMORY).free >= _ROOM


@pytest.fixture(scope="session", autouse=True)
def surroundings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Keep tests away from the user's own folders, also in the processes that they start.

    Throw-away stores are in memory where that can be: a store waits for the disk at each commit, and what they say is the
    same there. `tmp_path` is on the disk as ever, since pytest keeps the folders of its last runs.
    """
    tmp_path_factory.getbasetemp()  # found before the next line
    with pytest.MonkeyPatch.context() as patch:
        if _has_memory():
            patch.setattr(tempfile, "tempdir", str(_MEMORY))
        home = Path(tempfile.mkdtemp(prefix="as-"))
        for name in (*AGENT_MARKS, *(name for name in os.environ if name.startswith("ASSENT_"))):
            patch.delenv(name, raising=False)
        # A cold process takes twice as long to start when it is measured: only the pytest processes are, and what they fork.
        if os.environ.get("COVERAGE") != "all":
            patch.delenv("COVERAGE_PROCESS_CONFIG", raising=False)
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
