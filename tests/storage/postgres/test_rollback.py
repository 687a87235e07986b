"""A transaction that is taken back leaves its connection as good as it was."""

import pytest

from assent.protocol.error import StoreBusyError
from assent.storage.postgres.store import PostgresStore
from tests.contract.writing import append_open
from tests.samples import new_ask
from tests.storage.postgres.conftest import OpenStore

__all__: list[str] = []

PROJECT = "p"
TRIES = 12
"""More than psycopg needs to begin preparing a statement."""


def save_one(store: PostgresStore, number: int, *, may_wait: bool = True) -> None:
    """Open one ask, in a transaction of its own."""
    with store.transaction(may_wait=may_wait) as transaction:
        append_open(transaction, transaction.head(PROJECT, 1), new_ask(number))


@pytest.mark.parametrize("saved_before", [0, 1, 2, 3, 4, 5, 6])
def test_connection_whose_head_was_taken_by_another_can_be_used_as_before(
    database: str, open_store: OpenStore, saved_before: int
) -> None:
    """Whatever was to be prepared behind a lock that was not got is prepared when it is needed, however often."""
    ours, theirs = open_store(database), open_store(database)
    save_one(theirs, 0)
    for number in range(saved_before):
        save_one(ours, 1 + number)
    for turn in range(TRIES):
        with theirs.transaction() as transaction:
            append_open(transaction, transaction.head(PROJECT, 1), new_ask(100 + turn))
            with pytest.raises(StoreBusyError):
                save_one(ours, 200 + turn, may_wait=False)
        save_one(ours, 300 + turn)
    with ours.reading() as reader:
        assert reader.head_sequence(PROJECT) == 1 + saved_before + 2 * TRIES
