"""What every store promises about rows: `storage.port.Store`, `Transaction` and the asks of `Reader`."""

from datetime import timedelta
from itertools import cycle

import pytest
from msgspec.structs import replace

from assent.protocol.ask import Ask, AskId, Claim, Consequence, Kind, State
from assent.protocol.error import CommandReusedError, StoreBusyError, StoreError
from assent.protocol.prompt import Field, Option, Prompt
from assent.storage.port import Store
from tests.contract.conftest import MakeStore
from tests.contract.writing import AT, append_end, append_open, store_asks, writing
from tests.samples import NOON, digest_of, new_ask

__all__: list[str] = []


@pytest.fixture
def store(make_store: MakeStore) -> Store:
    """Give one store."""
    return make_store()


def stored(store: Store, ask_id: str) -> Ask | None:
    """Return an ask as it is committed."""
    with store.reading() as reader:
        return reader.ask(ask_id)


def test_ask_with_every_part_comes_back_equal(store: Store) -> None:
    """What was asked is what is shown, to the last field and microsecond."""
    options = (Option("pg", "PostgreSQL", recommended=True), Option("x", "Öl – 油", destructive=True))
    prompt = Prompt(
        "Which?",
        "body\n\x00",
        (Field("q1", "t", options, multiple=True),),
        {"a": [1, None]},
        "risk",
        ("stop",),
    )
    ask = new_ask(
        kind=Kind.APPROVAL,
        key="k/1",
        prompt=prompt,
        digest=digest_of(prompt),
        run_id="run_1",
        opened_at=NOON + timedelta(microseconds=1),
        deadline=NOON + timedelta(days=3, microseconds=7),
        consequence=Consequence.ESCALATE,
        escalate_to="human:bob",
        is_overdue=True,
        is_undelivered=True,
    )
    [kept] = store_asks(store, ask)
    assert stored(store, ask.ask_id) == kept


@pytest.mark.parametrize("state", [state for state in State if state is not State.OPEN])
def test_ended_ask_comes_back_with_its_ending(store: Store, state: State) -> None:
    """Every outcome is a typed one, also after a restart."""
    [ask] = store_asks(store, new_ask())
    with writing(store) as transaction:
        loaded = transaction.ask("p", ask.ask_id)
        assert loaded is not None
        ended = append_end(transaction, transaction.head("p", AT), loaded, state)
    assert stored(store, ask.ask_id) == ended


def test_transaction_sees_what_was_put_in_it(store: Store) -> None:
    """Commands of one group decide on what their neighbours did."""
    with writing(store) as transaction:
        head = transaction.head("p", AT)
        assert transaction.ask("p", new_ask().ask_id) is None
        assert transaction.ask_by_key("p", "k") is None
        opened = append_open(transaction, head, new_ask(key="k"))
        assert transaction.ask("p", opened.ask_id) == opened
        assert transaction.ask_by_key("p", "k") == opened
        ended = append_end(transaction, head, opened)
        assert transaction.ask("p", opened.ask_id) == ended
        assert transaction.ask_by_key("p", "k") == ended
    assert stored(store, opened.ask_id) == ended


def test_asks_are_found_by_the_keys_they_hold_in_their_project(store: Store) -> None:
    """Several at once, open or ended; a key that nobody holds, and a project that is not there, give nothing."""
    asks = store_asks(store, new_ask(1, key="a"), new_ask(2, key="b"), new_ask(3))
    with store.reading() as reader:
        assert sorted(reader.asks_by_key("p", ["a", "b", "none"]), key=lambda ask: ask.ask_id) == asks[:2]
        assert reader.asks_by_key("p", []) == []
        assert reader.asks_by_key("elsewhere", ["a"]) == []


def test_prefetch_never_hides_what_was_put_before(store: Store) -> None:
    """An ask that lapsed at the head of a group must not look open to the rest of it."""
    asks = store_asks(store, new_ask(1, key="a"), new_ask(2, key="b"), new_ask(3))
    with writing(store) as transaction:
        head = transaction.head("p", AT)
        loaded = transaction.ask("p", asks[0].ask_id)
        assert loaded is not None
        ended = append_end(transaction, head, loaded)
        transaction.prefetch("p", [ask.ask_id for ask in asks], ["a", "b", "none"])
        assert transaction.ask("p", asks[0].ask_id) == ended
        assert transaction.ask_by_key("p", "a") == ended
        assert transaction.ask_by_key("p", "b") == asks[1]
        assert transaction.ask("p", asks[2].ask_id) == asks[2]
        assert transaction.ask_by_key("p", "none") is None
    assert stored(store, asks[0].ask_id) == ended


def test_due_gives_the_open_asks_whose_deadline_has_passed(store: Store) -> None:
    """A deadline at this very instant has passed; one already applied is not due again."""
    second = timedelta(seconds=1)
    past, now, later, overdue, none = store_asks(
        store,
        new_ask(1, deadline=NOON - second),
        new_ask(2, deadline=NOON),
        new_ask(3, deadline=NOON + second),
        new_ask(4, deadline=NOON - second, is_overdue=True),
        new_ask(5),
    )
    store_asks(store, new_ask(6, "other", deadline=NOON - second))
    with writing(store) as transaction:
        head = transaction.head("p", AT)
        assert {ask.ask_id for ask in transaction.due(head)} == {past.ask_id, now.ask_id}
        append_end(transaction, head, past, State.EXPIRED)
        append_open(transaction, head, new_ask(7, deadline=NOON - second))
        assert {ask.ask_id for ask in transaction.due(head)} == {now.ask_id, new_ask(7).ask_id}
    assert {later.is_open, overdue.is_open, none.is_open} == {True}


def test_mark_on_an_open_ask_is_kept(store: Store) -> None:
    """Overdue and undelivered asks stay open and say so."""
    [ask] = store_asks(store, new_ask(deadline=NOON))
    with writing(store) as transaction:
        head = transaction.head("p", AT)
        loaded = transaction.ask("p", ask.ask_id)
        assert loaded is not None
        transaction.append(head, "ask.overdue", ask.ask_id, b"{}")
        marked = replace(loaded, is_overdue=True, sequence=head.sequence)
        transaction.put(head, marked)
    assert stored(store, ask.ask_id) == marked
    with writing(store) as transaction:
        assert transaction.due(transaction.head("p", AT)) == []


def test_claim_is_kept_and_seen_in_its_own_transaction(store: Store) -> None:
    """Two claims in one group must not both succeed unseen."""
    [ask] = store_asks(store, new_ask())
    claim = Claim("human:ana", NOON)
    with writing(store) as transaction:
        transaction.head("p", AT)
        loaded = transaction.ask("p", ask.ask_id)
        assert loaded is not None
        transaction.claim(loaded, claim)
        again = transaction.ask("p", ask.ask_id)
        assert again is not None
        assert again.claim == claim
    assert stored(store, ask.ask_id) == replace(ask, claim=claim)


def test_rolled_back_transaction_leaves_nothing(store: Store) -> None:
    """A group that fails was never there: no row, no event, no number."""
    [kept] = store_asks(store, new_ask(1))

    def fail() -> None:
        with writing(store) as transaction:
            head = transaction.head("p", AT)
            append_open(transaction, head, new_ask(2, key="k"))
            append_open(transaction, transaction.head("new", AT), new_ask(3, "new"))
            loaded = transaction.ask("p", kept.ask_id)
            assert loaded is not None
            append_end(transaction, head, loaded)
            raise LookupError

    with pytest.raises(LookupError):
        fail()
    assert stored(store, kept.ask_id) == kept
    with store.reading() as reader:
        assert [(head.project, head.sequence) for head in reader.heads()] == [("p", 1)]
        assert [ask.ask_id for ask in reader.asks(None, None, 10)] == [kept.ask_id]
    [follower] = store_asks(store, new_ask(2, key="k"))
    assert follower.sequence == 2


def test_transaction_without_events_leaves_no_project(store: Store) -> None:
    """A refused command in a project that never began does not begin it."""
    with writing(store) as transaction:
        assert transaction.head("typo", AT).sequence == 0
        assert transaction.ask("typo", AskId("ask_none")) is None
    with store.reading() as reader:
        assert reader.heads() == []


def test_end_is_conditional_on_open(store: Store) -> None:
    """Rule 4 of an ask's life: one conditional write decides; who comes with an old copy writes nothing."""
    [ask] = store_asks(store, new_ask())
    with writing(store) as transaction:
        loaded = transaction.ask("p", ask.ask_id)
        assert loaded is not None
        ended = append_end(transaction, transaction.head("p", AT), loaded)

    def end_again() -> None:
        with writing(store) as transaction:
            head = transaction.head("p", AT)
            assert transaction.ask("p", ask.ask_id) == ended
            append_end(transaction, head, ask, State.DECLINED)

    with pytest.raises(StoreError):
        end_again()
    assert stored(store, ask.ask_id) == ended


def test_key_belongs_to_one_ask_until_it_is_superseded(store: Store) -> None:
    """Same key, same ask, for ever: only a superseded one frees it, also for its successor's own transaction."""
    [first] = store_asks(store, new_ask(1, key="k"))
    with pytest.raises(CommandReusedError):
        store_asks(store, new_ask(2, key="k"))
    with writing(store) as transaction:
        head = transaction.head("p", AT)
        loaded = transaction.ask("p", first.ask_id)
        assert loaded is not None
        second = append_open(transaction, head, new_ask(2, key="k"))
        append_end(transaction, head, loaded, State.SUPERSEDED)
        assert transaction.ask_by_key("p", "k") == second
    with writing(store) as transaction:
        transaction.head("p", AT)
        assert transaction.ask_by_key("p", "k") == second
        transaction.prefetch("p", [], ["k"])
        assert transaction.ask_by_key("p", "k") == second


def test_same_key_in_another_project_is_another_ask(store: Store) -> None:
    """Projects do not mix."""
    here, there = store_asks(store, new_ask(1, "here", key="k"), new_ask(2, "there", key="k"))
    assert (here.sequence, there.sequence) == (1, 1)
    with writing(store) as transaction:
        transaction.head("here", AT)
        transaction.head("there", AT)
        transaction.prefetch("here", [here.ask_id, there.ask_id], ["k"])
        assert transaction.ask_by_key("here", "k") == here
        assert transaction.ask_by_key("there", "k") == there
        assert transaction.ask("here", there.ask_id) is None
    with store.reading() as reader:
        assert reader.ask(here.ask_id, "there") is None
        assert reader.asks("here", None, 10) == [here]
        assert reader.asks_ending_in(there.ask_id[-4:], "here") == []


def test_id_of_another_project_cannot_be_opened_again(store: Store) -> None:
    """An id that exists elsewhere is refused whole: neither project's row or log changes."""
    [theirs] = store_asks(store, new_ask(1, "theirs"))

    def take_over() -> None:
        with writing(store) as transaction:
            head = transaction.head("mine", AT)
            assert transaction.ask("mine", theirs.ask_id) is None
            append_open(transaction, head, new_ask(1, "mine"))

    with pytest.raises(CommandReusedError):
        take_over()
    assert stored(store, theirs.ask_id) == theirs
    with store.reading() as reader:
        assert reader.head_sequence("mine") == 0


@pytest.mark.parametrize("count", [1, 7, 8, 9, 40, 73])
def test_group_of_any_size_is_stored_whole(store: Store, count: int) -> None:
    """Rows are written several a statement; no size of a group may fall between the statements."""
    asks = store_asks(store, *(new_ask(number, key=f"k{number}") for number in range(1, count + 1)))
    with store.reading() as reader:
        assert reader.asks("p", State.OPEN, count + 1) == asks[::-1]
        assert reader.count_open("p") == count
        assert [record.sequence for record in reader.records("p", 0, count + 1)] == list(range(1, count + 1))
    ended = []
    with writing(store) as transaction:
        head = transaction.head("p", AT)
        for ask, state in zip(asks, cycle(set(State) - {State.OPEN}), strict=False):
            assert transaction.ask("p", ask.ask_id) == ask
            ended.append(append_end(transaction, head, ask, state))
    with store.reading() as reader:
        assert reader.asks("p", None, count + 1) == ended[::-1]
        assert reader.ended("p", count) == (2 * count, ended)


def test_asks_are_listed_newest_first_by_project_state_and_limit(store: Store) -> None:
    """An inbox shows what is new on top; a limit counts what was asked for."""
    asks = store_asks(
        store, *(new_ask(number, opened_at=NOON + timedelta(seconds=number)) for number in (1, 2, 3, 4))
    )
    [other] = store_asks(store, new_ask(9, "other", opened_at=NOON))  # by a clock that had run back
    with writing(store) as transaction:
        head = transaction.head("p", AT)
        loaded = transaction.ask("p", asks[0].ask_id)
        assert loaded is not None
        ended = append_end(transaction, head, loaded)
    with store.reading() as reader:
        assert reader.asks("p", State.OPEN, 2) == [asks[3], asks[2]]
        assert reader.asks("p", None, 10) == [asks[3], asks[2], asks[1], ended]
        assert reader.asks("p", State.ANSWERED, 1) == [ended]
        assert reader.asks(None, State.OPEN, 10) == [other, asks[3], asks[2], asks[1]]
        assert reader.asks("nowhere", None, 10) == []
        assert (reader.count_open("p"), reader.count_open(None), reader.count_open("nowhere")) == (3, 4, 0)


def test_ask_is_found_by_the_end_of_its_id_in_its_project(store: Store) -> None:
    """People type the end; other projects' asks with the same end are not in the way."""
    same_end = [new_ask(0, f"other{number}", ask_id=AskId(f"ask_{number}{'z' * 16}")) for number in range(5)]
    mine = new_ask(0, "p", ask_id=AskId(f"ask_9{'z' * 16}"))
    store_asks(store, *same_end, mine)
    with store.reading() as reader:
        assert [ask.ask_id for ask in reader.asks_ending_in("zzzz", "p")] == [mine.ask_id]
        assert len(reader.asks_ending_in("zzzz")) > 1
        assert reader.asks_ending_in("ZZZZ", "p") == reader.asks_ending_in("zzzz", "p")
        for pattern in ("%", "____", "zz%z", "\\", "sk_9_zzz"):
            assert reader.asks_ending_in(pattern, "p") == []


def test_deadlines_of_all_projects_are_known(store: Store) -> None:
    """Timers come from the stored deadlines and nothing else."""
    with store.reading() as reader:
        assert reader.next_deadline() is None
    second = timedelta(seconds=1)
    store_asks(
        store,
        new_ask(1, "a", deadline=NOON + 5 * second),
        new_ask(2, "b", deadline=NOON + 3 * second),
        new_ask(3, "b", deadline=NOON, is_overdue=True),
        new_ask(4, "c"),
    )
    with store.reading() as reader:
        assert reader.next_deadline() == AT + 3_000_000
        assert reader.has_due(AT + 2_999_999) == []
        assert reader.has_due(AT + 3_000_000) == ["b"]
        assert sorted(reader.has_due(AT + 9_000_000)) == ["a", "b"]


def test_two_store_objects_see_each_other(make_store: MakeStore) -> None:
    """Several processes share one store: what one committed, the other reads and continues."""
    ours, theirs = make_store(), make_store()
    [first] = store_asks(ours, new_ask(1, key="k"))
    assert stored(theirs, first.ask_id) == first
    [second] = store_asks(theirs, new_ask(2))
    assert second.sequence == 2
    with writing(ours) as transaction:
        assert transaction.head("p", AT).sequence == 2
        assert transaction.ask_by_key("p", "k") == first


def test_transaction_that_may_not_wait_says_busy(make_store: MakeStore) -> None:
    """Whoever must not block is told at once, and both can write afterwards."""
    ours, theirs = make_store(), make_store()
    store_asks(ours, new_ask(1))
    with writing(ours) as held:
        held.head("p", AT)
        with (
            theirs.mutex_of("p"),
            pytest.raises(StoreBusyError),
            theirs.transaction(may_wait=False) as refused,
        ):
            refused.head("p", AT)
    with theirs.mutex_of("p"), theirs.transaction(may_wait=False) as transaction:
        assert transaction.head("p", AT).sequence == 1


def test_store_that_was_closed_opens_again_by_use(store: Store) -> None:
    """Closing lets go of files, not of the store."""
    [ask] = store_asks(store, new_ask())
    store.close()
    assert stored(store, ask.ask_id) == ask
    store.close()
    assert store_asks(store, new_ask(2))[0].sequence == 2


def test_check_finds_nothing_wrong_with_a_sound_store(store: Store) -> None:
    """Twin of the damage tests: a sound store raises no alarm."""
    store_asks(store, new_ask())
    assert store.check() == []
