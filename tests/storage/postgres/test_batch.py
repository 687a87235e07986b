"""Statements that travel together: what they find, what one that fails leaves undone, and one connection for all rings."""

import psycopg
import pytest

from assent.storage.postgres.array import packers_of
from assent.storage.postgres.batch import SYNC, run_batch
from assent.storage.postgres.connection import Address, connect
from tests.storage.postgres.conftest import OpenStore
from tests.storage.postgres.test_bell import wait_until_said
from tools.fault_proxy import FaultProxy

__all__: list[str] = []

COLUMNS = "SELECT * FROM unnest($1::text[], $2::bigint[], $3::integer[], $4::bytea[])"


def test_packed_columns_come_back_as_they_were(database: str) -> None:
    """Texts, numbers and bytes, and where there is none."""
    rows = [('é\n{"', -(2**62), 7, b"\0\xff"), (None, None, None, None), ("", 0, -1, b"")]
    packed = tuple(
        pack(column) for pack, column in zip(packers_of(COLUMNS), zip(*rows, strict=True), strict=True)
    )
    connection = connect(Address(database))
    try:
        assert run_batch(connection, [("SELECT $1::text", ("a",)), (COLUMNS, packed)]) == [[("a",)], rows]
    finally:
        connection.close()


def test_commit_behind_a_statement_that_failed_keeps_nothing(database: str) -> None:
    """The COMMIT is on its way already; the connection is whole afterwards."""
    connection = connect(Address(database))
    try:
        with pytest.raises(psycopg.errors.DivisionByZero):
            run_batch(
                connection,
                [
                    ("BEGIN", ()),
                    ("CREATE TABLE public.kept (n int)", ()),
                    ("SELECT 1 / $1::integer", (0,)),
                    SYNC,
                    ("COMMIT", ()),
                ],
            )
        assert run_batch(connection, [("SELECT to_regclass('public.kept') IS NULL", ())]) == [[(True,)]]
    finally:
        connection.close()


def test_all_rings_of_a_process_go_over_one_connection(
    database: str, proxy: FaultProxy, open_store: OpenStore
) -> None:
    """To connect anew for each would take many times as long as the ring."""
    store = open_store(proxy.url(database))
    for number in range(20):
        store.bell.ring([f"ask_{number}"], has_news=True)
        wait_until_said(store)
    store.bell.close()
    assert proxy.opened == 1
