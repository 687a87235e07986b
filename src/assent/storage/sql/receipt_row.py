"""Receipts as rows, and back; and the part of a transaction that keeps them.

The record is the whole receipt; the columns beside it are only there to find it by, and the audit compares them.
"""

from __future__ import annotations

import msgspec

from assent.protocol.display import quote
from assent.protocol.receipt import Receipt, ReceiptId, ReceiptStatus, parse_receipt, render_receipt
from assent.storage.port import Head
from assent.storage.sql.row import UNREADABLE, read_record
from assent.storage.sql.session import Session

__all__ = ["PutReceipts", "receipt_of", "strayed_receipt"]


def receipt_of(record: bytes) -> Receipt:
    """Return the receipt of a row.

    Raises:
        StoreDamagedError: somebody wrote what Assent does not write.
    """
    return read_record(parse_receipt, record, "receipt")


def strayed_receipt(
    project: str | None, receipt_id: str, key: str | None, is_redeemed: int, record: bytes
) -> str | None:
    """Return the name of a receipt whose columns are not those of its record; an unreadable one is reported elsewhere."""
    try:
        receipt = parse_receipt(record)
    except UNREADABLE:
        return None
    own = (receipt.project, receipt.receipt_id, receipt.key, _is_redeemed(receipt))
    return None if own == (project, receipt_id, key, bool(is_redeemed)) else f"receipt {quote(receipt_id)}"


def _is_redeemed(receipt: Receipt) -> bool:
    return receipt.status is ReceiptStatus.REDEEMED


class _Put(msgspec.Struct):
    """A receipt that this transaction will write."""

    number: int
    """Of its project."""
    receipt: Receipt
    is_new: bool


class PutReceipts:
    """The receipts of one transaction: what it has read, and what it will write."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._known: dict[tuple[str, str], Receipt | None] = {}
        """As the file has them."""
        self._put: dict[tuple[str, str], _Put] = {}

    def find(self, project: str, receipt_id: ReceiptId) -> Receipt | None:
        """Return the receipt as it is in this transaction."""
        place = (project, receipt_id)
        if place in self._put:
            return self._put[place].receipt
        if place not in self._known:
            found = self._session.rows("receipt", place)
            self._known[place] = receipt_of(found[0][0]) if found else None
        return self._known[place]

    def find_by_key(self, head: Head, key: str) -> Receipt | None:
        """Return the receipt that holds `key`, as it is in this transaction; a receipt never lets its key go."""
        for (project, _), put in self._put.items():
            if project == head.project and put.receipt.key == key:
                return put.receipt
        found = self._session.rows("receipt_by_key", (head.number, key))
        return receipt_of(found[0][0]) if found else None

    def put(self, head: Head, receipt: Receipt) -> None:
        """Keep `receipt` as it is now."""
        place = (head.project, receipt.receipt_id)
        is_new = self._put[place].is_new if place in self._put else self.find(*place) is None
        self._put[place] = _Put(head.number, receipt, is_new)

    def write(self) -> None:
        """Write what was put; called once, before COMMIT.

        Raises:
            CommandReusedError: another receipt has that key.
            StoreError: somebody redeemed one between the look and the write, which cannot be.
        """
        for put in self._put.values():
            receipt, is_redeemed = put.receipt, int(_is_redeemed(put.receipt))
            if put.is_new:
                values = (put.number, receipt.receipt_id, receipt.key, is_redeemed, render_receipt(receipt))
                self._session.write(
                    "insert_receipt", [values], taken="This key already belongs to another approval."
                )
                continue
            redeemed = (is_redeemed, render_receipt(receipt), put.number, receipt.receipt_id)
            self._session.write("redeem_receipt", [redeemed], changes_all=True)
