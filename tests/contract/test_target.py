"""What every store promises of targets: one sender at a time, and nothing that counts without its fence."""

import pytest
from msgspec.structs import replace

from assent.protocol.target import Delivery, Secret, Target
from assent.storage.port import Claimed, Due, Store
from tests.contract.conftest import MakeStore
from tests.contract.writing import AT, writing
from tests.samples import NOON
from tests.target_samples import SECRET, new_target

__all__: list[str] = []

LEASE = 1_000
NO_SECRET = Secret("")


@pytest.fixture
def store(make_store: MakeStore) -> Store:
    """Give a store with one target, which is one event behind."""
    store = make_store()
    put(store, new_target(), SECRET)
    with writing(store) as transaction:
        transaction.append(transaction.head("p", AT), "topic.posted", "x", b"{}")
    return store


def put(store: Store, target: Target, secret: Secret | None = None) -> Target:
    """Put a target as the hub would; return it with its number."""
    with writing(store) as transaction:
        head = transaction.head(target.project, AT)
        transaction.append(head, "target.added", target.name, b"{}")
        target = replace(target, since=head.sequence if secret else target.since, sequence=head.sequence)
        transaction.target(target.project, target.name)
        transaction.put_target(head, target, secret)
    return target


def claim(store: Store, at: int = AT, project: str = "p") -> Claimed | None:
    """Try to take the target for a lease."""
    with writing(store) as transaction:
        return transaction.claim_target(project, "hook", at, at + LEASE)


def must_claim(store: Store, at: int = AT) -> Delivery:
    """Take the target for a lease."""
    claimed = claim(store, at)
    assert claimed is not None
    return claimed.delivery


@pytest.mark.usefixtures("store")
def test_target_comes_back_equal_and_lists_show_no_secret(make_store: MakeStore) -> None:
    """To the last field; only a sender gets the address."""
    other = make_store()
    target = new_target()
    with other.reading() as reader:
        found = reader.target("p", "hook")
        assert found is not None
        assert (found.target, found.secret) == (target, SECRET)
        assert reader.targets("p") == [(target, Delivery(1))]
        assert (reader.target("q", "hook"), reader.targets("q")) == (None, [])


def test_target_is_given_to_one_sender_until_its_lease_is_over(store: Store) -> None:
    """The fence grows with every claim, so that two holders are told apart."""
    assert must_claim(store).fence == 1
    assert claim(store) is None
    assert claim(store, AT + LEASE - 1) is None
    assert must_claim(store, AT + LEASE).fence == 2


def test_sender_that_lost_its_claim_moves_nothing(store: Store) -> None:
    """It was stopped for longer than its lease; whatever it writes then changes no row."""
    must_claim(store)
    must_claim(store, AT + LEASE)
    with writing(store) as transaction:
        assert not transaction.advance_target("p", "hook", 1, 2, AT)
        assert not transaction.keep_target("p", "hook", 1, AT)
        assert transaction.put_off_target("p", "hook", 1, AT, "late") is None
        assert transaction.delivery("p", "hook") == Delivery(1, 2, AT + 2 * LEASE)
        assert transaction.advance_target("p", "hook", 2, 2, AT + 3 * LEASE)
        assert transaction.delivery("p", "hook") == Delivery(2, 2, AT + 3 * LEASE)


def test_cursor_never_goes_back(store: Store) -> None:
    """What was told is told, whoever says otherwise under whichever fence."""
    must_claim(store)
    with writing(store) as transaction:
        assert transaction.advance_target("p", "hook", 1, 2, 0)
        assert transaction.advance_target("p", "hook", 1, 1, 0)
        assert transaction.delivery("p", "hook") == Delivery(2, 1, 0)


def test_target_that_was_put_off_is_due_again_only_then(store: Store) -> None:
    """Each failure is counted, and the next success forgets them."""
    must_claim(store)
    with writing(store) as transaction:
        assert transaction.put_off_target("p", "hook", 1, AT + 50, "status 500") == 1
    with store.reading() as reader:
        assert reader.due_targets(AT + 49) == []
        assert reader.due_targets(AT + 50) == [Due("p", "hook", 1, 2)]
    assert claim(store, AT + 49) is None
    found = must_claim(store, AT + 50)
    assert (found.fence, found.attempts, found.last_error) == (2, 1, "status 500")
    with writing(store) as transaction:
        assert transaction.advance_target("p", "hook", 2, 2, 0)
        assert transaction.delivery("p", "hook") == Delivery(2, 2)


def test_lease_and_pause_of_a_clock_that_was_ahead_hold_nothing(store: Store) -> None:
    """Else whoever had it, and died, would have it for a year."""
    year = 365 * 86_400_000_000
    must_claim(store, AT + year)
    with store.reading() as reader:
        assert reader.due_targets(AT) == [Due("p", "hook", 1, 2)]
    assert must_claim(store).fence == 2
    with writing(store) as transaction:
        assert transaction.put_off_target("p", "hook", 2, AT + year, "status 500") == 1
    with store.reading() as reader:
        assert reader.due_targets(AT) == [Due("p", "hook", 1, 2)]
    assert must_claim(store).fence == 3


def test_target_that_was_told_of_everything_is_not_due(store: Store) -> None:
    """Nor is one that somebody has just now."""
    with store.reading() as reader:
        assert reader.due_targets(AT) == [Due("p", "hook", 1, 2)]
    must_claim(store)
    with store.reading() as reader:
        assert reader.due_targets(AT) == []
        assert reader.due_targets(AT + LEASE) == [Due("p", "hook", 1, 2)]
    with writing(store) as transaction:
        transaction.advance_target("p", "hook", 1, 2, 0)
    with store.reading() as reader:
        assert reader.due_targets(AT + LEASE) == []


@pytest.mark.parametrize("change", [{"removed_at": NOON}, {"disabled_at": NOON}], ids=["removed", "disabled"])
def test_target_that_is_not_live_is_claimed_by_nobody(store: Store, change: dict[str, object]) -> None:
    """Also not by whoever had it: its fence is the last one, and still moves nothing."""
    must_claim(store)
    with writing(store) as transaction:
        transaction.keep_message("p", "hook", "ask_1", "C1:17.5")
    put(store, replace(new_target(), **change))
    assert claim(store, AT + LEASE) is None
    with writing(store) as transaction:
        assert not transaction.advance_target("p", "hook", 1, 2, 0)
    with store.reading() as reader:
        assert reader.due_targets(AT + LEASE) == []
        found = reader.target("p", "hook")
        assert found is not None
        is_removed = "removed_at" in change
        assert found.secret == (NO_SECRET if is_removed else SECRET)
        assert reader.target_message("p", "hook", "ask_1") == ("" if is_removed else "C1:17.5")


def test_name_that_is_given_again_begins_anew(store: Store) -> None:
    """It is told of nothing that was before it, and whoever delivered to the old one moves nothing of the new one."""
    must_claim(store)
    put(store, replace(new_target(), removed_at=NOON))
    again = put(store, new_target(), Secret("https://other.example.com/"))
    with writing(store) as transaction:
        assert transaction.delivery("p", "hook") == Delivery(again.since, 2)
        assert not transaction.advance_target("p", "hook", 1, 1, AT)


def test_message_s_reference_is_kept_changed_and_forgotten(store: Store) -> None:
    """By target and ask; an empty one forgets it."""
    for reference in ("C1:17.5", "C1:18.5", ""):
        with writing(store) as transaction:
            transaction.keep_message("p", "hook", "ask_1", reference)
        with store.reading() as reader:
            assert reader.target_message("p", "hook", "ask_1") == reference
            assert reader.target_message("p", "other", "ask_1") == ""
