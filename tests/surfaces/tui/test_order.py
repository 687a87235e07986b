"""What waits, in the order in which it wants to be looked at."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from assent.protocol.ask import Ask, Kind
from assent.surfaces.tui.order import Groups, matches, next_after, oldest, order
from tests.surfaces.tui.asks import GATE, NOW, ROUND, ended, make_ask

__all__: list[str] = []

LATE = make_ask(name="late", minutes=9, deadline=51)
SOON = make_ask(name="soon", minutes=4, deadline=11)
OLD = make_ask(name="old", minutes=60)
NEW = make_ask(name="new", minutes=2)
DONE = ended(make_ask(name="done", minutes=30))
ALL = [OLD, DONE, LATE, NEW, SOON]


def test_list_has_running_time_first_then_the_newest_then_what_ended() -> None:
    """The nearest deadline is the first thing that is seen."""
    groups = order(ALL)
    assert (groups.urgent, groups.calm, groups.ended) == ((SOON, LATE), (NEW, OLD), (DONE,))


def test_ended_asks_are_listed_the_last_one_first() -> None:
    """By when they ended, not by when they were opened."""
    answer = DONE.answer
    assert answer is not None
    later = replace(DONE, ask_id=NEW.ask_id, answer=replace(answer, at=NOW + timedelta(minutes=1)))
    assert order([DONE, later]).ended == (later, DONE)


def test_snoozed_ask_is_not_listed_unless_it_is_open() -> None:
    """What somebody reads stays, whatever they asked for before."""
    snoozed = [SOON.ask_id, OLD.ask_id]
    assert order(ALL, snoozed=snoozed, keep=OLD.ask_id).open == (LATE, NEW, OLD)


@pytest.mark.parametrize(
    ("words", "is_shown"),
    [
        ("", True),
        ("  ", True),
        ("gate", True),
        ("GATE shop", True),
        ("kind:gate", True),
        ("kind:question", False),
        ("project:shop asker:coder", True),
        ("project:coder", False),
        ("run:42", True),
        ("run:43", False),
        ("chunk", True),
        ("chunk payment", False),
        ("kind:", False),
    ],
)
def test_filter_shows_an_ask_that_has_all_the_words(words: str, is_shown: bool) -> None:
    """Anywhere, or in the part that is named before the colon."""
    ask = replace(make_ask(GATE, kind=Kind.GATE), run_id="run-42")
    assert matches(ask, words) is is_shown


def test_filter_knows_a_round_and_an_open_question_by_name() -> None:
    """By the words that the list shows for them, and as the protocol spells them."""
    assert matches(make_ask(ROUND), "kind:questions")
    assert matches(make_ask(kind=Kind.OPEN_QUESTION), "kind:open-question")


def test_oldest_is_the_ask_that_has_waited_longest_whatever_its_deadline() -> None:
    """And none where nothing waits."""
    assert oldest(order(ALL)) == OLD
    assert oldest(order([DONE])) is None


def test_going_on_leads_to_the_ask_below_and_from_the_end_to_the_top() -> None:
    """The order is that of the list."""
    groups = order(ALL)
    assert [next_after(groups, ask.ask_id) for ask in groups.open] == [LATE, NEW, OLD, SOON]
    assert next_after(order([NEW]), NEW.ask_id) is None


def test_going_on_from_an_ask_that_ended_leads_to_what_took_its_place() -> None:
    """Whoever works downwards goes on downwards, not from the top again."""
    groups = order(ALL)
    assert next_after(groups, "ask_ended", 2) == NEW
    assert next_after(groups, "ask_ended", 9) == SOON


@given(
    st.lists(st.tuples(st.integers(0, 99), st.integers(0, 99), st.booleans()), max_size=12),
    st.text(max_size=12),
    st.integers(0, 11),
)
def test_any_list_has_each_ask_once_and_keeps_the_open_one(
    rows: list[tuple[int, int, bool]], words: str, at: int
) -> None:
    """Whatever the filter says."""
    made: list[Ask] = [
        make_ask(name=str(number), minutes=minutes, deadline=deadline)
        for number, (minutes, deadline, _) in enumerate(rows)
    ]
    asks = [ended(ask) if row[2] else ask for ask, row in zip(made, rows, strict=True)]
    assert sorted(ask.ask_id for ask in order(asks).all) == sorted(ask.ask_id for ask in asks)
    kept = asks[at % len(asks)].ask_id if asks else ""
    shown = order(asks, words, keep=kept)
    assert not asks or kept in {ask.ask_id for ask in shown.all}
    assert isinstance(shown, Groups)
