"""Waits: woken by a ring, caught by the net, forgotten when given up."""

import asyncio
import threading
import time
from collections.abc import Callable

import pytest

from assent.hub.command import AnswerAsk, DeclineAsk
from assent.hub.future import LightFuture
from assent.hub.hub import Hub
from assent.hub.waiters import NET_SECONDS
from assent.protocol.ask import Ask, AskId, State
from assent.protocol.error import AssentError, NotFoundError, StillOpen, StoreError
from assent.storage.sqlite import bell
from assent.testing import ThrowawayStore
from tests.hub.conftest import PROJECT, opening, send
from tests.patience import PATIENCE
from tests.samples import ANA

__all__: list[str] = []


def wait(hub: Hub, ask: Ask) -> LightFuture[Ask]:
    """Wait for an ask as a thread does."""
    future = hub.wait(ask.ask_id, PROJECT)
    assert isinstance(future, LightFuture)
    return future


def result(future: LightFuture[Ask]) -> Ask:
    """Return what a wait was woken with, in bounded time."""
    assert future.wait(PATIENCE)
    return future.result()


def be_still(*_: object) -> None:
    """Ring nobody."""


def test_wait_in_another_process_is_woken_by_the_ring(store: ThrowawayStore) -> None:
    """Proof that wakes come from the ring and not only from the look by the clock."""
    asker, answerer = store.hub(), store.hub()
    for _ in range(50):  # on a busy machine that look may come first, between a commit and its ring
        ask = send(asker, opening())
        future = wait(asker, ask)
        send(answerer, AnswerAsk(ask.ask_id, "2"), ANA)
        assert result(future).state is State.ANSWERED
        if asker.waiters.ring_wakes >= 4:
            return
    pytest.fail("The ring woke nobody.")


def test_lost_ring_costs_half_a_second_and_not_the_answer(
    store: ThrowawayStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A ring is a hint; the net is what is relied on."""
    asker, answerer = store.hub(), store.hub()
    ask = send(asker, opening())
    future = wait(asker, ask)
    monkeypatch.setattr(answerer.store.bell, "ring", be_still)
    send(answerer, AnswerAsk(ask.ask_id, "2"), ANA)
    assert result(future).state is State.ANSWERED
    _until(lambda: asker.waiters.net_wakes == 1)
    assert asker.waiters.ring_wakes == 0


def test_net_is_not_starved_by_other_peoples_rings(
    store: ThrowawayStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rings for other asks, without a pause, must not put off the look by the clock."""
    asker, answerer, noisy = store.hub(), store.hub(), store.hub()
    ask = send(asker, opening())
    future = wait(asker, ask)
    is_over = threading.Event()
    # However many wait on a busy machine: that some may have been lost is another reason to look.
    monkeypatch.setattr(bell, "_FULL", 1_000_000)

    def ring() -> None:
        while not is_over.wait(0.005):
            noisy.store.bell.ring(["ask_of_somebody_else"], True)

    noise = threading.Thread(target=ring)
    noise.start()
    monkeypatch.setattr(answerer.store.bell, "ring", be_still)
    send(answerer, AnswerAsk(ask.ask_id, "2"), ANA)
    try:
        assert result(future).state is State.ANSWERED
    finally:
        is_over.set()
        noise.join(PATIENCE)
    assert asker.waiters.ring_wakes == 0


def test_wait_where_no_socket_can_be_bound_goes_by_the_clock(
    store: ThrowawayStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without an ear the store is looked at more often."""
    asker, answerer = store.hub(), store.hub()
    monkeypatch.setattr(asker.store.bell, "listen", lambda **_: None)
    ask = send(asker, opening())
    future = wait(asker, ask)
    send(answerer, AnswerAsk(ask.ask_id, "2"), ANA)
    assert result(future).state is State.ANSWERED
    _until(lambda: asker.waiters.net_wakes == 1)


def test_wait_in_the_same_process_needs_no_ring(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    """A hub wakes its own waiters with the commit."""
    ask = send(hub, opening())
    futures = [wait(hub, ask) for _ in range(3)]
    monkeypatch.setattr(hub.store.bell, "ring", be_still)
    send(hub, DeclineAsk(ask.ask_id, "no"), ANA)
    assert {result(future).state for future in futures} == {State.DECLINED}
    assert (hub.waiters.ring_wakes, hub.waiters.net_wakes) == (0, 0)


def test_wait_for_an_ask_that_has_ended_is_over_at_once(hub: Hub, store: ThrowawayStore) -> None:
    """Register first, look second: what ended before the wait is found by the look."""
    ask = send(hub, opening())
    send(store.hub(), AnswerAsk(ask.ask_id, "2"), ANA)
    assert result(wait(hub, ask)).state is State.ANSWERED


def test_wait_for_an_unknown_ask_is_refused(hub: Hub) -> None:
    """Nobody waits for what cannot come, and another project's ask is unknown here."""
    theirs = send(hub, opening(), project="theirs")
    for ask_id in (AskId("ask_none"), theirs.ask_id):
        with pytest.raises(NotFoundError):
            hub.wait(ask_id, PROJECT)
    assert hub.waiters._waiting == {}


def test_wait_that_was_given_up_is_forgotten(store: ThrowawayStore) -> None:
    """A program that polls with short waits must not grow."""
    agent = store.agent()
    handle = agent.open("Which?", ["one fox", "two foxes"])
    for _ in range(3):
        with pytest.raises(StillOpen) as caught:
            handle.wait(0.001)
        assert caught.value.ask is not None
        assert caught.value.ask.is_open
    assert agent.hub.waiters._waiting == {}
    assert store.person().answer(handle.ask_id, "1").answer
    assert handle.value(PATIENCE) == "one fox"


def test_wait_of_a_cancelled_task_is_forgotten(store: ThrowawayStore) -> None:
    """Cancelling a task ends its wait and nobody else's."""

    async def cancel_one() -> str:
        agent = store.async_agent()
        handle = await agent.open("Which?", ["one fox", "two foxes"])
        cancelled, patient = asyncio.create_task(handle.wait()), asyncio.create_task(handle.wait(PATIENCE))
        while len(agent.hub.waiters._waiting.get(handle.ask_id, ())) < 2:  # noqa: ASYNC110 - until both wait
            await asyncio.sleep(0)
        cancelled.cancel()
        with pytest.raises(asyncio.CancelledError):
            await cancelled
        assert len(agent.hub.waiters._waiting[handle.ask_id]) == 1
        await store.async_person().answer(handle.ask_id, "2")
        ended = await patient
        assert agent.hub.waiters._waiting == {}
        return ended.state

    assert asyncio.run(cancel_one()) is State.ANSWERED


def test_wait_whose_loop_was_closed_harms_nobody(hub: Hub, store: ThrowawayStore) -> None:
    """A loop may end while its tasks still wait; the others are woken all the same."""
    ask = send(hub, opening())
    loop = asyncio.new_event_loop()
    abandoned = hub.wait(ask.ask_id, PROJECT, loop)
    loop.close()
    future = wait(hub, ask)
    send(store.hub(), AnswerAsk(ask.ask_id, "2"), ANA)
    assert result(future).state is State.ANSWERED
    assert not abandoned.done()  # type: ignore[union-attr]  # a loop's own future


def test_interrupt_while_the_thread_starts_leaves_later_waits_an_ear(
    store: ThrowawayStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C at the worst moment: the next wait listens, and nothing is left in the socket folder."""
    hub, answerer = store.hub(), store.hub()
    ask = send(hub, opening())

    def interrupt(_: threading.Thread) -> None:
        raise KeyboardInterrupt

    for is_closed_between in (False, True):
        with monkeypatch.context() as patch:
            patch.setattr(threading.Thread, "start", interrupt)
            with pytest.raises(KeyboardInterrupt):
                hub.wait(ask.ask_id, PROJECT)
        if is_closed_between:
            hub.close()
    future = wait(hub, ask)
    send(answerer, AnswerAsk(ask.ask_id, "2"), ANA)
    assert result(future).state is State.ANSWERED


def test_close_tells_whoever_still_waits(hub: Hub) -> None:
    """Nobody hangs on a closed client; the ask itself stays open."""
    future = wait(hub, send(hub, opening()))
    hub.close()
    with pytest.raises(StoreError, match="goes on"):
        result(future)


@pytest.mark.parametrize("error", [StoreError, AssentError, NotFoundError])
def test_store_that_is_away_costs_time_but_not_the_ear(
    store: ThrowawayStore, monkeypatch: pytest.MonkeyPatch, error: type[AssentError]
) -> None:
    """Deadlines that cannot be applied are tried again by the clock, without spinning; rings are still heard."""
    asker, answerer = store.hub(), store.hub()
    ask = send(asker, opening())
    tries: list[float] = []

    def lapse() -> float | None:
        tries.append(time.monotonic())
        raise error

    monkeypatch.setattr(asker.waiters, "_lapse", lapse)
    future = wait(asker, ask)
    _until(lambda: len(tries) >= 2)
    assert tries[1] - tries[0] >= NET_SECONDS / 2
    send(answerer, AnswerAsk(ask.ask_id, "2"), ANA)
    assert result(future).state is State.ANSWERED


def _until(condition: Callable[[], bool]) -> None:
    tick, until = threading.Event(), time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < until
        tick.wait(0.01)
