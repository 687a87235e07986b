"""Asks a page at a time, and their times: what every store must give of the past."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Literal

import pytest
from msgspec.structs import replace

from assent.protocol.answer import Answer
from assent.protocol.approval import approval_values
from assent.protocol.ask import Ask, AskId, Kind, State
from assent.protocol.numbers import End
from assent.storage.port import Store
from tests.contract.conftest import MakeStore
from tests.contract.writing import AT, append_end, append_open, store_asks, writing
from tests.samples import NOON, new_answer, new_ask

__all__: list[str] = []

SECOND = 1_000_000
LARGE = 1 << 20


@pytest.fixture
def store(make_store: MakeStore) -> Store:
    """Give an empty store."""
    return make_store()


def open_at(store: Store, ask: Ask, second: int) -> Ask:
    """Open an ask at a second."""
    [opened] = store_asks(
        store, replace(ask, opened_at=NOON + timedelta(seconds=second)), at=AT + second * SECOND
    )
    return opened


def end_at(
    store: Store, ask: Ask, second: int, state: State = State.ANSWERED, answer: Answer | None = None
) -> Ask:
    """End an ask at a second."""
    with writing(store) as transaction:
        head = transaction.head(ask.project, AT + second * SECOND)
        loaded = transaction.ask(ask.project, ask.ask_id)
        assert loaded is not None
        if answer is None:
            return append_end(transaction, head, loaded, state)
        transaction.append(head, "ask.answered", ask.ask_id, b"{}")
        ended = replace(loaded, state=State.ANSWERED, answer=answer, sequence=head.sequence)
        transaction.put(head, ended)
        return ended


def walk(
    store: Store,
    projects: Sequence[str] | None,
    state: State | Literal["ended"] | None,
    limit: int,
    kind: Kind | None = None,
) -> list[str]:
    """Go through all pages; return the ids in order."""
    seen: list[str] = []
    for _ in range(100):
        with store.reading() as reader:
            page = reader.page(
                projects, state, kind=kind, before=seen[-1] if seen else None, limit=limit, most_bytes=LARGE
            )
        assert len(page.asks) <= limit
        seen += [ask.ask_id for ask in page.asks]
        if not page.has_more:
            return seen
    raise AssertionError(seen)


@pytest.mark.parametrize("limit", [1, 2, 3, 100])
def test_pages_of_any_length_hold_every_ask_once_newest_first(store: Store, limit: int) -> None:
    """Whoever comes again behind the last one sees no gap and nothing twice."""
    asks = [open_at(store, new_ask(number, f"p{number % 3}"), number) for number in range(1, 9)]
    ids = [ask.ask_id for ask in reversed(asks)]
    assert walk(store, None, None, limit) == ids
    assert walk(store, None, State.OPEN, limit) == ids
    assert walk(store, ["p1", "p2"], State.OPEN, limit) == [
        ask.ask_id for ask in reversed(asks) if ask.project != "p0"
    ]
    assert walk(store, ["p1"], None, limit) == [ask.ask_id for ask in reversed(asks) if ask.project == "p1"]


@pytest.mark.parametrize("limit", [1, 2, 100])
def test_what_has_ended_comes_in_the_order_of_the_ends(store: Store, limit: int) -> None:
    """An old question that was answered just now is the last thing that happened; of one moment, too, each comes once."""
    asks = [open_at(store, new_ask(number, f"p{number % 3}"), number) for number in range(1, 10)]
    order = [4, 8, 0, 5, 1, 2, 3]
    for second, index in zip((20, 20, 20, 20, 21, 21, 22), order, strict=True):
        end_at(store, asks[index], second, State.WITHDRAWN if index % 2 else State.ANSWERED)
    found = walk(store, None, "ended", limit)
    assert sorted(found) == sorted(asks[index].ask_id for index in order)
    assert found[0] == asks[3].ask_id
    assert set(found[1:3]) == {asks[1].ask_id, asks[2].ask_id}
    assert found == walk(store, None, "ended", 100)
    assert walk(store, ["p1"], "ended", limit) == [
        asks[index].ask_id for index in reversed(order) if asks[index].project == "p1"
    ]


@pytest.mark.parametrize("limit", [1, 2, 3, 100])
def test_pages_have_every_end_once_whatever_the_clocks_said(store: Store, limit: int) -> None:
    """Within a project the number is the order; among several no end is lost and none comes twice."""
    year = 365 * 86_400
    moments = [20, 21, year, 22, 23, -year, 24, 10 * year, 25, 26, -year + 5, 27]
    asks = [open_at(store, new_ask(number, f"p{number % 3}"), number) for number in range(1, 13)]
    for second, ask in zip(moments, asks, strict=True):
        end_at(store, ask, second)
    found = walk(store, None, "ended", limit)
    assert (sorted(found), found) == (sorted(ask.ask_id for ask in asks), walk(store, None, "ended", 100))
    for project in ("p0", "p1", "p2"):
        own = [ask.ask_id for ask in reversed(asks) if ask.project == project]
        assert [ask_id for ask_id in found if ask_id in own] == own == walk(store, [project], "ended", limit)


def test_page_stays_what_it_was_when_something_new_comes_before_it(store: Store) -> None:
    """A cursor names an ask, not a count: what is opened or ended meanwhile moves nothing behind it."""
    asks = [open_at(store, new_ask(number), number) for number in range(1, 5)]
    for second, ask in enumerate(asks, 10):
        end_at(store, ask, second)

    def behind(before: str) -> list[str]:
        with store.reading() as reader:
            page = reader.page(None, "ended", before=before, limit=2, most_bytes=LARGE)
        return [ask.ask_id for ask in page.asks]

    before = behind(asks[3].ask_id)
    end_at(store, open_at(store, new_ask(9, "other"), 30), 31)
    assert behind(asks[3].ask_id) == before == [asks[2].ask_id, asks[1].ask_id]


def test_page_ends_before_it_is_too_large_and_always_holds_one(store: Store) -> None:
    """How large an ask is is up to agents."""
    prompt = replace(new_ask().prompt, body="x" * 10_000)
    for number in range(1, 6):
        open_at(store, new_ask(number, prompt=prompt), number)
    with store.reading() as reader:
        pages = [reader.page(None, None, limit=9, most_bytes=size) for size in (1, 25_000, LARGE)]
    assert [(len(page.asks), page.has_more) for page in pages] == [(1, True), (2, True), (5, False)]


def test_page_of_one_kind_holds_no_other(store: Store) -> None:
    """In each of the orders."""
    asks = [
        open_at(store, new_ask(number, kind=Kind.GATE if number % 2 else Kind.QUESTION), number)
        for number in range(1, 7)
    ]
    gates = [asks[4].ask_id, asks[2].ask_id, asks[0].ask_id]
    assert walk(store, None, None, 2, Kind.GATE) == gates
    assert walk(store, None, State.OPEN, 2, Kind.GATE) == gates
    for second, ask in enumerate(asks, 10):
        end_at(store, ask, second)
    assert walk(store, None, "ended", 2, Kind.GATE) == gates


def test_behind_an_ask_of_another_project_comes_nothing(store: Store) -> None:
    """Foreign and missing look alike: no order of the store can be felt out with other people's ids."""
    mine, theirs = open_at(store, new_ask(1, "mine"), 1), open_at(store, new_ask(2, "theirs"), 2)
    end_at(store, mine, 3)
    end_at(store, theirs, 4)
    with store.reading() as reader:
        for state in (None, State.OPEN, "ended"):
            for before in (theirs.ask_id, AskId("ask_nobody"), ""):
                page = reader.page(["mine"], state, before=before, limit=9, most_bytes=LARGE)
                assert (page.asks, page.has_more) == ((), False)
        assert reader.page([], None, limit=9, most_bytes=LARGE).asks == ()


def test_times_are_those_of_the_window_and_say_how_it_ended(store: Store) -> None:
    """To the microsecond, by the log; an approval is answered by its yes alone."""
    kinds = [Kind.APPROVAL, Kind.APPROVAL, Kind.QUESTION, Kind.QUESTION, Kind.GATE, Kind.QUESTION]
    asks = [open_at(store, new_ask(number, kind=kind), number) for number, kind in enumerate(kinds)]
    end_at(store, asks[0], 10, answer=new_answer(values=approval_values(True)))
    end_at(store, asks[1], 11, answer=new_answer(values=approval_values(False)))
    end_at(store, asks[2], 12)
    end_at(store, asks[3], 13, State.DECLINED)
    end_at(store, asks[5], 14, State.EXPIRED)
    with store.reading() as reader:
        found = reader.spans(None, AT, 100)
        late = reader.spans(["p"], AT + 2 * SECOND, 100)
        assert reader.spans(["other"], AT, 100) == []
        assert reader.spans(None, AT, 2) == found[:2]
        assert reader.spans(None, AT + SECOND, 9, until=AT + 3 * SECOND) == found[3:5]
        assert reader.spans(None, AT + 60 * SECOND, 2) == []
    assert [(each.opened_at - AT) // SECOND for each in found] == [5, 4, 3, 2, 1, 0]
    assert [each.end for each in found] == [
        End.UNANSWERED,
        End.OPEN,
        End.DECLINED,
        End.ANSWERED,
        End.DECLINED,
        End.ANSWERED,
    ]
    assert [each.ended_at for each in found] == [
        AT + 14 * SECOND,
        None,
        AT + 13 * SECOND,
        AT + 12 * SECOND,
        AT + 11 * SECOND,
        AT + 10 * SECOND,
    ]
    assert late == found[:4]


def test_times_of_several_projects_come_together(store: Store) -> None:
    """Each log is cut at its own number."""
    for number in range(1, 21):
        open_at(store, new_ask(number, f"p{number % 4}"), number)
    with store.reading() as reader:
        found = reader.spans(None, AT + 11 * SECOND, 100)
        assert len(reader.spans(["p1", "p2"], AT + 11 * SECOND, 100)) == 4
    assert sorted((each.opened_at - AT) // SECOND for each in found) == list(range(11, 21))


def test_what_waits_is_counted_with_the_moment_since_when(store: Store) -> None:
    """Whenever it was opened; nothing waits in an empty store."""
    with store.reading() as reader:
        assert (reader.waiting(None).count, reader.waiting(None).oldest_at) == (0, None)
    first, second = open_at(store, new_ask(1, "a"), 1), open_at(store, new_ask(2, "b"), 2)
    with store.reading() as reader:
        assert (reader.waiting(None).count, reader.waiting(None).oldest_at) == (2, first.opened_at)
        assert (reader.waiting(["b"]).count, reader.waiting(["b"]).oldest_at) == (1, second.opened_at)
    end_at(store, first, 3)
    with store.reading() as reader:
        assert (reader.waiting(None).count, reader.waiting(None).oldest_at) == (1, second.opened_at)


def test_ask_opened_in_one_group_with_others_has_its_own_place(store: Store) -> None:
    """A group has one moment; pages cut through it."""
    with writing(store) as transaction:
        opened = [
            append_open(transaction, transaction.head("p", AT), new_ask(number)) for number in range(1, 8)
        ]
    assert walk(store, None, State.OPEN, 2) == [ask.ask_id for ask in reversed(opened)]
    with writing(store) as transaction:
        head = transaction.head("p", AT)
        for ask in opened:
            loaded = transaction.ask("p", ask.ask_id)
            assert loaded is not None
            append_end(transaction, head, loaded)
    assert walk(store, None, "ended", 2) == [ask.ask_id for ask in reversed(opened)]
