"""What every store promises of receipts, and of the terms of an ask."""

import pytest
from msgspec.structs import replace

from assent.protocol.error import StoreError
from assent.protocol.receipt import Receipt, ReceiptId
from assent.protocol.terms import Terms
from assent.storage.port import Head, Store, Transaction
from tests.contract.conftest import MakeStore
from tests.contract.writing import AT, store_asks, writing
from tests.receipt_samples import RECEIPT_ID, new_receipt
from tests.samples import AGENT, NOON, new_ask

__all__: list[str] = []

OTHER_ID = ReceiptId("rcp_000000000000000002")


@pytest.fixture
def store(make_store: MakeStore) -> Store:
    """Give one store."""
    return make_store()


def append_receipt(transaction: Transaction, head: Head, receipt: Receipt) -> Receipt:
    """Put a receipt as the hub would; return it with its number."""
    transaction.append(head, "receipt.granted", receipt.receipt_id, b"{}")
    receipt = replace(receipt, project=head.project, sequence=head.sequence)
    transaction.put_receipt(head, receipt)
    return receipt


def redeemed(receipt: Receipt) -> Receipt:
    """Return the receipt after its use."""
    return replace(receipt, redeemed_at=NOON, redeemed_by=str(AGENT), command_id="cmd_1")


def test_receipt_is_found_by_its_id_and_its_key_in_its_own_project_only(store: Store) -> None:
    """Before and after the commit; another project has nothing of it."""
    with writing(store) as transaction:
        head = transaction.head("p", AT)
        kept = append_receipt(transaction, head, new_receipt(key="drop"))
        assert transaction.receipt("p", RECEIPT_ID) == kept
        assert transaction.receipt_by_key(head, "drop") == kept
        other = transaction.head("q", AT)
        append_receipt(transaction, other, new_receipt(receipt_id=OTHER_ID))
        assert transaction.receipt("q", RECEIPT_ID) is None
        assert transaction.receipt_by_key(other, "drop") is None
    with writing(store) as transaction:
        head, other = transaction.head("p", AT), transaction.head("q", AT)
        assert transaction.receipt("p", RECEIPT_ID) == kept
        assert transaction.receipt_by_key(head, "drop") == kept
        assert transaction.receipt("q", RECEIPT_ID) is None
        assert transaction.receipt_by_key(other, "drop") is None
        assert transaction.receipt_by_key(head, "other") is None
    with store.reading() as reader:
        assert reader.receipt("p", RECEIPT_ID) == kept
        assert (reader.receipt("q", RECEIPT_ID), reader.receipt("none", RECEIPT_ID)) == (None, None)


def test_receipts_are_listed_newest_first_up_to_a_limit(store: Store) -> None:
    """Those of one project."""
    with writing(store) as transaction:
        head = transaction.head("p", AT)
        kept = [
            append_receipt(transaction, head, new_receipt(receipt_id=f"rcp_{number}")) for number in range(5)
        ]
    with store.reading() as reader:
        assert reader.receipts("p", 10) == kept[::-1]
        assert reader.receipts("p", 2) == [kept[4], kept[3]]
        assert reader.receipts("q", 10) == []


@pytest.mark.parametrize("is_apart", [True, False], ids=["in a later transaction", "in the same"])
def test_redeemed_receipt_is_kept(store: Store, is_apart: bool) -> None:
    """Granted and redeemed in one group of commands, or days apart."""
    with writing(store) as transaction:
        head = transaction.head("p", AT)
        kept = append_receipt(transaction, head, new_receipt())
        if not is_apart:
            transaction.put_receipt(head, redeemed(kept))
            assert transaction.receipt("p", RECEIPT_ID) == redeemed(kept)
    if is_apart:
        with writing(store) as transaction:
            transaction.put_receipt(transaction.head("p", AT), redeemed(kept))
    with store.reading() as reader:
        assert reader.receipt("p", RECEIPT_ID) == redeemed(kept)
    assert store.check() == []


def test_receipt_that_is_redeemed_is_never_redeemed_again(store: Store) -> None:
    """The write itself names the state that it expects: whoever forgot to look is stopped, and nothing is written."""
    with writing(store) as transaction:
        kept = redeemed(append_receipt(transaction, transaction.head("p", AT), redeemed(new_receipt())))
    with pytest.raises(StoreError), writing(store) as transaction:
        transaction.put_receipt(transaction.head("p", AT), replace(kept, redeemed_by="agent:other"))
    with store.reading() as reader:
        assert reader.receipt("p", RECEIPT_ID) == kept


def test_terms_of_an_ask_are_kept_with_it(store: Store) -> None:
    """An ask without any has none."""
    terms = Terms(RECEIPT_ID, 60)
    (plain, bound) = store_asks(store, new_ask(1), new_ask(2, terms=terms))
    with store.reading() as reader:
        assert reader.ask(plain.ask_id) == plain
        found = reader.ask(bound.ask_id)
    assert found == bound
    assert found.terms == terms
