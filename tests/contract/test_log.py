"""What every store promises about the log: dense numbers, an unbroken chain, pages, versions, journals."""

from hashlib import sha256

import pytest

from assent.protocol.ask import State
from assent.storage.chain import genesis, link
from assent.storage.port import Step, Store
from tests.contract.conftest import MakeStore
from tests.contract.writing import AT, append_end, store_asks, writing
from tests.samples import new_ask

__all__: list[str] = []


@pytest.fixture
def store(make_store: MakeStore) -> Store:
    """Give one store."""
    return make_store()


def write(store: Store, project: str, *bodies: bytes, at: int = AT) -> None:
    """Append one event a body, in one transaction."""
    with writing(store) as transaction:
        head = transaction.head(project, at)
        for body in bodies:
            transaction.append(head, "t", "s", body)


def test_head_begins_at_the_genesis_and_follows_every_append(store: Store) -> None:
    """The head gives number, hash and moment to whoever writes next."""
    with writing(store) as transaction:
        head = transaction.head("p", AT)
        assert (head.project, head.sequence, head.hash, head.at) == ("p", 0, genesis("p"), AT)
        transaction.append(head, "t", "s", b"1")
        expected = link(genesis("p"), 1, AT, "t", "s", sha256(b"1").digest())
        assert (head.sequence, head.hash) == (1, expected)
        assert transaction.head("p", AT + 5) is head
    with store.reading() as reader:
        [kept] = reader.heads()
        assert (kept.project, kept.sequence, kept.hash, kept.at) == ("p", 1, expected, AT)


def test_moment_is_the_clocks_also_where_it_ran_back(store: Store) -> None:
    """Numbers are the order; an event of a wrong clock moves nobody's time."""
    write(store, "p", b"1", at=AT)
    write(store, "p", b"2", at=AT - 1_000_000)
    write(store, "p", b"3", at=AT + 1)
    with store.reading() as reader:
        assert [record.at for record in reader.records("p", 0, 10)] == [AT, AT - 1_000_000, AT + 1]
        assert [head.high for head in reader.heads()] == [AT + 1]


def test_numbers_are_dense_a_project_whoever_writes(make_store: MakeStore) -> None:
    """Readers can tell a gap from the end."""
    stores = [make_store(), make_store()]
    for turn in range(6):
        write(stores[turn % 2], f"p{turn % 3}", b"a", b"b")
    with stores[0].reading() as reader:
        for project in ("p0", "p1", "p2"):
            assert [record.sequence for record in reader.records(project, 0, 99)] == [1, 2, 3, 4]


def test_chain_links_every_event_to_the_one_before(store: Store) -> None:
    """Records are the exact bytes that were hashed."""
    write(store, "p", b'{"a":1}', b"\x00\xff")
    write(store, "q", b"elsewhere")
    write(store, "p", b"")
    previous = genesis("p")
    with store.reading() as reader:
        records = reader.records("p", 0, 10)
    assert [record.body for record in records] == [b'{"a":1}', b"\x00\xff", b""]
    for record in records:
        assert record.body is not None
        assert record.digest == sha256(record.body).digest()
        previous = link(previous, record.sequence, record.at, record.type, record.subject, record.digest)
        assert record.hash == previous


def test_records_come_in_pages(store: Store) -> None:
    """A cursor is the last number that was read; the end is an empty page."""
    write(store, "p", *(str(number).encode() for number in range(1, 8)))
    write(store, "q", b"not ours")
    with store.reading() as reader:
        assert [record.sequence for record in reader.records("p", 0, 3)] == [1, 2, 3]
        assert [record.sequence for record in reader.records("p", 3, 3)] == [4, 5, 6]
        assert [record.body for record in reader.records("p", 6, 3)] == [b"7"]
        assert reader.records("p", 7, 3) == []
        assert reader.records("p", 99, 3) == []
        assert reader.records("nowhere", 0, 3) == []
        assert (reader.head_sequence("p"), reader.head_sequence("nowhere")) == (7, 0)


def test_ended_gives_what_ended_after_a_cursor(store: Store) -> None:
    """One query serves all who wait; what stays open is not in it."""
    asks = store_asks(store, new_ask(1), new_ask(2), new_ask(3))
    store_asks(store, new_ask(9, "q"))
    with store.reading() as reader:
        assert reader.ended("p", 0) == (3, [])
        assert reader.ended("nowhere", 0) == (0, [])
    ended = []
    for ask, state in zip(asks, (State.ANSWERED, State.EXPIRED), strict=False):
        with writing(store) as transaction:
            loaded = transaction.ask("p", ask.ask_id)
            assert loaded is not None
            ended.append(append_end(transaction, transaction.head("p", AT), loaded, state))
    with store.reading() as reader:
        assert reader.ended("p", 3) == (5, ended)
        assert reader.ended("p", 4) == (5, ended[1:])
        assert reader.ended("p", 5) == (5, [])


def test_journal_keeps_steps_in_order_and_by_flow(store: Store) -> None:
    """An intended step becomes done in its place; flows and projects do not mix."""
    first = Step("f", 0, "sha256:0", "done", b"{}")
    intended = Step("f", 1, "sha256:1", "intended", b'{"path":"a"}')
    done = Step("f", 1, "sha256:1", "done", b'{"result":1}')
    with writing(store) as transaction:
        head = transaction.head("p", AT)
        transaction.append(head, "flow.stepped", "f", b"{}")
        for step in (intended, first, Step("g", 0, "d", "done", b"")):
            transaction.put_step(head, step)
        assert transaction.steps("p", "f") == [first, intended]
    with writing(store) as transaction:
        head = transaction.head("p", AT)
        transaction.append(head, "flow.stepped", "f", b"{}")
        transaction.put_step(head, done)
    with store.reading() as reader:
        assert reader.steps("p", "f") == [first, done]
        assert reader.steps("q", "f") == []


def test_version_changes_with_every_commit_of_another(make_store: MakeStore) -> None:
    """The net under the bell: on one reader, a version that stays the same means that nothing was committed."""
    ours, theirs = make_store(), make_store()
    write(ours, "p", b"1")
    reader = ours.reader()
    try:
        seen = [reader.version(), reader.version()]
        write(theirs, "p", b"2")
        seen.append(reader.version())
        write(ours, "p", b"3")
        seen.append(reader.version())
    finally:
        reader.close()
    assert seen[0] == seen[1]
    assert len({*seen}) == 3


def test_snapshot_sees_one_moment(make_store: MakeStore) -> None:
    """An audit must not see the head of one moment and the rows of another."""
    ours, theirs = make_store(), make_store()
    write(ours, "p", b"1")
    with ours.reading() as reader:
        with reader.snapshot():
            assert reader.head_sequence("p") == 1
            write(theirs, "p", b"2")
            assert reader.head_sequence("p") == 1
            assert len(reader.records("p", 0, 9)) == 1
        assert reader.head_sequence("p") == 2
