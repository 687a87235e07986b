"""Several processes begin the same project at the same moment."""

from collections.abc import Sequence
from typing import Any

import pytest

from assent.protocol.error import StoreBusyError
from assent.storage.postgres import session as session_module
from assent.storage.postgres.store import PostgresStore
from tests.contract.writing import append_open
from tests.samples import new_ask
from tests.storage.postgres.conftest import OpenStore

__all__: list[str] = []

PROJECT = "p"


def save_one(store: PostgresStore, number: int) -> None:
    """Open one ask, in a transaction of its own."""
    with store.transaction() as transaction:
        append_open(transaction, transaction.head(PROJECT, 1), new_ask(number))


def test_project_begun_between_lock_and_look_is_taken_under_its_lock(
    database: str, open_store: OpenStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A head that was not there to be locked is not believed when it is read: the second event is number 2, not an error."""
    ours, theirs = open_store(database), open_store(database)
    run_batch = session_module.__dict__["run_batch"]
    is_begun: list[bool] = []

    def between(connection: Any, statements: Sequence[Any]) -> Any:
        # Of the first batch, what is before the head's row is run, then somebody else begins, then the rest.
        if is_begun:
            return run_batch(connection, statements)
        is_begun.append(True)
        first = run_batch(connection, statements[:2])
        save_one(theirs, 1)
        return [*first, *run_batch(connection, statements[2:])]

    monkeypatch.setattr(session_module, "run_batch", between)
    with ours.transaction() as transaction:
        head = transaction.head(PROJECT, 1)
        with pytest.raises(StoreBusyError), theirs.transaction(may_wait=False) as late:
            late.head(PROJECT, 1)
        append_open(transaction, head, new_ask(2))
    with ours.reading() as reader:
        assert reader.head_sequence(PROJECT) == 2
