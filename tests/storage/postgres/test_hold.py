"""Rights that one process in the world has: leases that run out, numbers that grow, and holders that know in time."""

import subprocess
import sys
import time

import psycopg
import pytest

from assent.protocol.error import FlowTakenError
from assent.storage.postgres import hold as hold_module
from tests.patience import PATIENCE
from tests.storage.postgres.conftest import OpenStore
from tools.fault_proxy import FaultProxy
from tools.warm import spawn

__all__: list[str] = []

Direct = psycopg.Connection[tuple[object, ...]]
HOLDS = """
import sys
from assent.storage.postgres.store import PostgresStore
hold = PostgresStore(sys.argv[1]).hold("flow")
print(hold.fence, flush=True)
sys.stdin.readline()
"""


def take_from_another_machine(direct: Direct) -> None:
    """Let the holder of the only right be a process of which nothing can be known from here."""
    direct.execute("UPDATE holds SET holder = 'elsewhere boot pids' || chr(10) || '1' || chr(10) || '1'")


def wait_until_free(open_store: OpenStore, database: str) -> float:
    """Return the moment at which somebody else could take the right."""
    store = open_store(database)
    until = time.monotonic() + PATIENCE
    while True:
        try:
            store.hold("flow")
        except FlowTakenError:
            assert time.monotonic() < until
        else:
            return time.monotonic()


def test_lease_of_a_holder_that_renews_does_not_run_out(
    database: str, open_store: OpenStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is kept for as long as its holder lives."""
    monkeypatch.setattr(hold_module, "LEASE_SECONDS", 0.6)
    hold = open_store(database).hold("flow")
    first = hold.until
    until = time.monotonic() + PATIENCE
    while hold.until < first + 1.5:
        assert hold.is_held
        assert time.monotonic() < until
    with pytest.raises(FlowTakenError):
        open_store(database).hold("flow")


def test_holder_that_cannot_renew_knows_it_before_anybody_else_can_have_the_right(
    database: str, proxy: FaultProxy, open_store: OpenStore, direct: Direct, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It counts from before it asked, by a clock that never jumps."""
    monkeypatch.setattr(hold_module, "LEASE_SECONDS", 0.8)
    hold = open_store(proxy.url(database)).hold("flow")
    take_from_another_machine(direct)
    proxy.refuse()
    proxy.cut_all()
    free_at = wait_until_free(open_store, database)
    assert hold.until < free_at
    assert not hold.is_held


def test_right_that_was_lost_while_the_database_was_away_is_not_held_again(
    database: str, proxy: FaultProxy, open_store: OpenStore, direct: Direct, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When the database is back, the holder's number is no longer there: it has lost, and does not take it back."""
    monkeypatch.setattr(hold_module, "LEASE_SECONDS", 0.6)
    hold = open_store(proxy.url(database)).hold("flow")
    take_from_another_machine(direct)
    proxy.refuse()
    proxy.cut_all()
    wait_until_free(open_store, database)
    proxy.accept()
    opened = proxy.opened
    until = time.monotonic() + PATIENCE
    while proxy.opened == opened:  # until the holder has asked again
        assert time.monotonic() < until
        assert not hold.is_held
    with pytest.raises(FlowTakenError):
        open_store(proxy.url(database)).hold("flow")
    assert not hold.is_held


def test_number_of_a_right_only_grows(database: str, open_store: OpenStore) -> None:
    """Whoever is told an older number knows that its sender has lost the right."""
    store = open_store(database)
    fences = []
    for _ in range(5):
        hold = store.hold("flow")
        fences.append(hold.fence)
        hold.release()
    assert fences == sorted(set(fences))


def test_old_holder_that_lets_go_does_not_take_the_right_from_the_new_one(
    database: str, open_store: OpenStore, direct: Direct
) -> None:
    """It lets go of its own number only."""
    old = open_store(database).hold("flow")
    take_from_another_machine(direct)
    direct.execute("UPDATE holds SET until = clock_timestamp()")
    new = open_store(database)
    taken = new.hold("flow")
    old.release()
    assert taken.is_held
    assert new.is_held("flow")


def test_killed_process_of_this_machine_is_replaced_at_once(database: str, open_store: OpenStore) -> None:
    """Nobody waits for the lease of somebody who is certainly dead."""
    process = spawn(
        [sys.executable, "-c", HOLDS, database], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        fence = int(process.stdout.readline())
        store = open_store(database)
        with pytest.raises(FlowTakenError, match=f"Process {process.pid} on "):
            store.hold("flow")
    finally:
        process.kill()
        process.communicate(timeout=PATIENCE)
    assert not store.is_held("flow")
    assert store.hold("flow").fence > fence


def test_right_can_be_taken_right_after_the_server_has_ended_all_connections(
    database: str, open_store: OpenStore, direct: Direct
) -> None:
    """A connection that was kept from before is not mistaken for a database that is away."""
    store = open_store(database)
    store.hold("flow").release()
    direct.execute(
        "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
        " WHERE datname = current_database() AND pid <> pg_backend_pid()"
    )
    assert store.hold("flow").is_held
