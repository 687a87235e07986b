"""What every store promises of the tails of runs' outputs."""

import pytest

from assent.protocol import tail as tail_module
from assent.protocol.run import RunId, Status
from assent.protocol.tail import MAX_ENDED_TAILS, Kept
from assent.storage.port import Store
from tests.contract.conftest import MakeStore
from tests.contract.test_run import append_run
from tests.contract.writing import AT, writing
from tests.run_samples import RUN_ID, new_run
from tests.samples import NOON

__all__: list[str] = []


@pytest.fixture
def store(make_store: MakeStore) -> Store:
    """Give one store."""
    return make_store()


def put(
    store: Store, run_id: str, text: bytes, *, status: Status = Status.RUNNING, project: str = "p"
) -> None:
    """Put a run and what it printed."""
    with writing(store) as transaction:
        head = transaction.head(project, AT)
        append_run(transaction, head, new_run(run_id=RunId(run_id), status=status))
        transaction.put_tail(head, RunId(run_id), Kept(text, 100 + len(text), NOON, "cmd_1"))


def test_tail_comes_back_equal_in_another_process(make_store: MakeStore) -> None:
    """To the last byte and microsecond."""
    put(make_store(), RUN_ID, "ö\0\x1b".encode())
    with make_store().reading() as reader:
        tail = reader.tail("p", RUN_ID, 0)
    assert (tail.text, tail.start, tail.written, tail.at) == ("ö\0\x1b", 100, 104, NOON)


def test_transaction_sees_the_tail_that_was_put_in_it(store: Store) -> None:
    """Commands of one group go on where their neighbours ended."""
    kept = Kept(b"a", 1, NOON, "cmd_1")
    with writing(store) as transaction:
        head = transaction.head("p", AT)
        append_run(transaction, head, new_run())
        assert transaction.tail(head, RUN_ID) is None
        transaction.put_tail(head, RUN_ID, kept)
        assert transaction.tail(head, RUN_ID) == kept
    with writing(store) as transaction:
        assert transaction.tail(transaction.head("p", AT), RUN_ID) == kept


def test_tail_belongs_to_its_project_and_run(store: Store) -> None:
    """The same id in two projects is two runs; one without output has an empty tail."""
    put(store, RUN_ID, b"ours")
    put(store, RUN_ID, b"theirs", project="q")
    with store.reading() as reader:
        assert [reader.tail(name, RUN_ID, 0).text for name in ("p", "q", "nowhere")] == ["ours", "theirs", ""]
        assert reader.tail("p", "other", 0).written == 0


def test_only_the_newest_ended_runs_of_a_project_keep_their_tail(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Runs that go on keep theirs, however old they are, and other projects are not touched."""
    assert MAX_ENDED_TAILS == tail_module.MAX_ENDED_TAILS
    monkeypatch.setattr("assent.storage.sql.tail_row.MAX_ENDED_TAILS", 2)
    put(store, "elsewhere", b"x", status=Status.DONE, project="q")
    put(store, "alive", b"x")
    for number in range(4):
        put(store, f"done-{number}", b"x", status=Status.DONE)
    names = ["alive", "done-0", "done-1", "done-2", "done-3"]
    with store.reading() as reader:
        assert [name for name in names if reader.tail("p", name, 0).text] == ["alive", "done-2", "done-3"]
        assert reader.tail("q", "elsewhere", 0).text == "x"
