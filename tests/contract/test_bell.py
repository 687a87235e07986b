"""What every store promises about its bell: who listens hears of what another process committed."""

import threading

import pytest

from assent.storage.port import Listener, Store
from tests.contract.conftest import MakeStore
from tests.patience import PATIENCE

__all__: list[str] = []

NOW = 0.0


def listen(store: Store, *, follows_feed: bool = False) -> Listener:
    """Return an ear that must exist here."""
    listener = store.bell.listen(follows_feed=follows_feed)
    assert listener is not None
    return listener


@pytest.fixture
def pair(make_store: MakeStore) -> tuple[Store, Store]:
    """Give two stores as two processes have them."""
    return make_store(), make_store()


def test_ring_wakes_a_listener_of_another_store_object(pair: tuple[Store, Store]) -> None:
    """It hears which asks ended."""
    ours, theirs = pair
    listener = listen(theirs)
    heard: list[tuple[str, ...] | None] = []
    thread = threading.Thread(target=lambda: heard.append(listener.wait(PATIENCE)))
    thread.start()
    ours.bell.ring(["ask_1", "ask_2"], True)
    thread.join(PATIENCE)
    listener.close()
    assert heard == [("ask_1", "ask_2")]


def test_ring_before_the_wait_is_not_lost(pair: tuple[Store, Store]) -> None:
    """Bind, look, wait: a ring in between is still in the ear."""
    ours, theirs = pair
    listener = listen(theirs)
    ours.bell.ring(["ask_1"], True)
    ours.bell.ring(["ask_2"], True)
    heard: list[str] = []
    while "ask_2" not in heard:
        names = listener.wait(PATIENCE)
        assert names
        heard += names
    assert heard == ["ask_1", "ask_2"]
    assert listener.wait(NOW) is None
    listener.close()


def test_news_wakes_who_follows_the_feed_and_not_who_waits_for_an_end(pair: tuple[Store, Store]) -> None:
    """A new ask must not wake ten thousand who wait for other asks."""
    ours, theirs = pair
    waiting, following = listen(theirs), listen(theirs, follows_feed=True)
    ours.bell.ring([], True)
    assert following.wait(PATIENCE)
    assert waiting.wait(NOW) is None
    ours.bell.ring(["ask_1"], True)
    assert following.wait(PATIENCE)
    assert waiting.wait(PATIENCE) == ("ask_1",)
    ours.bell.ring([], False)
    assert following.wait(NOW) is None
    waiting.close()
    following.close()


def test_ring_for_more_asks_than_fit_still_wakes(pair: tuple[Store, Store]) -> None:
    """A group of any size wakes; the ear is told to look at everything."""
    ours, theirs = pair
    listener = listen(theirs)
    ours.bell.ring([f"ask_{number:018}" for number in range(5_000)], True)
    heard = listener.wait(PATIENCE)
    assert heard
    assert len(heard) in (1, 5_000)
    listener.close()


def test_bell_does_not_ring_its_own_listeners(pair: tuple[Store, Store]) -> None:
    """A hub wakes its own waiters by itself and must not pay twice."""
    ours, _ = pair
    listener = listen(ours)
    ours.bell.ring(["ask_1"], True)
    assert listener.wait(NOW) is None
    listener.close()


def test_nudge_wakes_without_a_name(pair: tuple[Store, Store]) -> None:
    """Threads of one process wake each other's ear."""
    listener = listen(pair[0])
    listener.nudge()
    assert listener.wait(PATIENCE) == ()
    assert listener.wait(NOW) is None
    listener.close()


def test_ring_after_a_listener_closed_reaches_the_others(pair: tuple[Store, Store]) -> None:
    """Whoever left is not rung and is in nobody's way."""
    ours, theirs = pair
    gone, here = listen(theirs), listen(theirs)
    gone.close()
    ours.bell.ring(["ask_1"], True)
    assert here.wait(PATIENCE) == ("ask_1",)
    here.close()
