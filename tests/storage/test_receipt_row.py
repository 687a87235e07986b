"""Rows of receipts that somebody else has changed: they are refused or named."""

from pathlib import Path

import apsw
import pytest

from assent.protocol.error import StoreDamagedError
from assent.storage.sql.receipt_row import receipt_of
from assent.storage.sqlite.store import SqliteStore
from tests.contract.writing import AT, writing
from tests.receipt_samples import RECEIPT_ID, new_receipt

__all__: list[str] = []

CHANGES = {
    "renamed": ("UPDATE receipts SET receipt_id = 'x'", "receipt x"),
    "made good again": ("UPDATE receipts SET is_redeemed = 1", f"receipt {RECEIPT_ID}"),
    "moved": ("UPDATE receipts SET project_number = 2", f"receipt {RECEIPT_ID}"),
    "lost": ("UPDATE receipts SET project_number = 9", f"receipt {RECEIPT_ID}"),
    "without its key": ("UPDATE receipts SET key = NULL", f"receipt {RECEIPT_ID}"),
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Give the file of a closed store with a receipt, and a second project."""
    store = SqliteStore(tmp_path / "store.db")
    with writing(store) as transaction:
        head = transaction.head("p", AT)
        transaction.append(head, "receipt.granted", RECEIPT_ID, b"{}")
        transaction.put_receipt(head, new_receipt(key="drop"))
        transaction.append(transaction.head("q", AT), "task.created", "t", b"{}")
    store.close()
    return tmp_path / "store.db"


@pytest.mark.parametrize("record", [b"", b"yes", b"[]", b"{}", b'{"receipt_id":"\xff"}', b"[" * 100_000])
def test_record_that_assent_did_not_write_is_damage(record: bytes) -> None:
    """In one sentence, whatever is wrong with the bytes."""
    with pytest.raises(StoreDamagedError, match="cannot be read"):
        receipt_of(record)


@pytest.mark.parametrize("how", sorted(CHANGES))
def test_row_whose_columns_are_not_its_own_is_named(path: Path, how: str) -> None:
    """A receipt must not be found by what it is not."""
    sql, name = CHANGES[how]
    connection = apsw.Connection(str(path))
    connection.execute(sql)
    connection.close()
    store = SqliteStore(path)
    assert store.check() == [f"the row of {name} is listed under what it is not."]
    store.close()
