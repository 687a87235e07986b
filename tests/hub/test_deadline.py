"""Deadlines: applied at their moment, before anything else of a transaction, by whichever process is awake."""

import asyncio
from datetime import timedelta

import pytest

from assent.hub.audit import verify
from assent.hub.command import AnswerAsk, Tick
from assent.hub.hub import Hub
from assent.protocol.ask import Ask, Consequence, State
from assent.protocol.error import ConflictError, Expired
from assent.testing import FakeClock, ThrowawayStore, throwaway
from tests.hub.conftest import PROJECT, opening, send, send_group
from tests.patience import PATIENCE
from tests.samples import AGENT, ANA, BOB, NOON, microseconds

__all__: list[str] = []

MINUTE = timedelta(minutes=1)
TICK = timedelta(microseconds=1)


def timed(hub: Hub, consequence: Consequence = Consequence.DENY) -> Ask:
    """Ask with a deadline in a minute."""
    return send(hub, opening(deadline=MINUTE, consequence=consequence, escalate_to="human:bob"))


def types(hub: Hub) -> list[str]:
    """Return the log's types, without applying anything."""
    with hub.store.reading() as reader:
        return [record.type for record in reader.records(PROJECT, 0, 1_000)]


@pytest.mark.parametrize(
    ("consequence", "event", "state"),
    [
        (Consequence.WAIT, "ask.overdue", State.OPEN),
        (Consequence.DENY, "ask.expired", State.EXPIRED),
        (Consequence.ESCALATE, "ask.escalated", State.OPEN),
        (Consequence.END_RUN, "ask.expired", State.EXPIRED),
    ],
)
def test_consequence_happens_at_its_moment_and_once(
    store: ThrowawayStore, clock: FakeClock, consequence: Consequence, event: str, state: State
) -> None:
    """Not a microsecond early, at the deadline's own instant, and not again later."""
    hub = store.hub()
    ask = timed(hub, consequence)
    clock.advance(MINUTE - TICK)
    assert types(hub) == ["ask.opened"]
    clock.advance(timedelta(days=3))
    clock.advance(timedelta(days=3))
    assert types(hub) == ["ask.opened", event]
    with hub.store.reading() as reader:
        lapsed = reader.ask(ask.ask_id)
        [_, record] = reader.records(PROJECT, 0, 9)
    assert lapsed is not None
    assert (lapsed.state, lapsed.is_overdue) == (state, state is State.OPEN)
    assert record.at == microseconds(NOON + MINUTE)
    assert lapsed.answer is None


def test_asker_is_told_that_it_expired(store: ThrowawayStore, clock: FakeClock) -> None:
    """A typed outcome with its consequence, never an empty string."""
    agent = store.agent()
    handle = agent.open("Ship it?", ["yes", "no"], deadline=MINUTE, consequence="deny")
    clock.advance(MINUTE)
    with pytest.raises(Expired, match="counts as a no"):
        handle.value(PATIENCE)


@pytest.mark.parametrize("late", [timedelta(0), TICK, timedelta(days=1)])
def test_answer_at_or_after_the_deadline_is_too_late(hub: Hub, clock: FakeClock, late: timedelta) -> None:
    """At the very instant the deadline has passed; whoever answers then is told so."""
    ask = timed(hub)
    clock._now = microseconds(NOON + MINUTE + late)  # nobody has looked yet
    with pytest.raises(ConflictError, match="expired"):
        send(hub, AnswerAsk(ask.ask_id, "2"), ANA)
    assert types(hub) == ["ask.opened", "ask.expired"]


def test_answer_just_before_the_deadline_counts(hub: Hub, clock: FakeClock) -> None:
    """Twin of the test above; time passes over the answered ask and changes nothing."""
    ask = timed(hub)
    clock.advance(MINUTE - TICK)
    assert send(hub, AnswerAsk(ask.ask_id, "2"), ANA).state is State.ANSWERED
    clock.advance(MINUTE)
    assert types(hub) == ["ask.opened", "ask.answered"]


def test_expiry_is_applied_before_every_command_of_a_group(hub: Hub, clock: FakeClock) -> None:
    """No neighbour in the same transaction can still see it open."""
    ask, other = timed(hub), send(hub, opening())
    clock._now = microseconds(NOON + MINUTE)
    replies = send_group(
        hub,
        (AnswerAsk(other.ask_id, "1"), ANA),
        (AnswerAsk(ask.ask_id, "2"), ANA),
        (AnswerAsk(ask.ask_id, "1"), BOB),
        (opening(), AGENT),
    )
    assert [type(reply) for reply in replies] == [Ask, ConflictError, ConflictError, Ask]
    assert types(hub) == ["ask.opened", "ask.opened", "ask.expired", "ask.answered", "ask.opened"]
    assert verify(hub.store).problems == ()


def test_reading_applies_what_is_due_in_every_project(store: ThrowawayStore, clock: FakeClock) -> None:
    """Nobody is shown as open what is no longer open."""
    hub = store.hub()
    for project in ("a", "b"):
        send(hub, opening(deadline=MINUTE, consequence="deny"), project=project)
    clock._now = microseconds(NOON + MINUTE)
    with hub.reading() as reader:
        assert reader.count_open(None) == 0


@pytest.mark.parametrize("ahead", [timedelta(seconds=1), 10 * MINUTE, timedelta(days=3650)])
def test_event_of_a_clock_that_was_ahead_moves_no_deadline(
    hub: Hub, clock: FakeClock, ahead: timedelta
) -> None:
    """What comes behind it is opened, waits and expires by the clock of the moment."""
    clock.advance(ahead)
    send(hub, opening())
    clock.set(NOON)
    ask = timed(hub)
    assert (ask.opened_at, ask.deadline) == (NOON, NOON + MINUTE)
    clock.advance(MINUTE - timedelta(microseconds=1))
    hub.handle(Tick(), project=PROJECT, principal=AGENT).result()
    assert types(hub) == ["ask.opened", "ask.opened"]
    clock.set(NOON + MINUTE)
    assert types(hub) == ["ask.opened", "ask.opened", "ask.expired"]
    assert verify(hub.store).problems == ()


def test_clock_that_jumps_ahead_and_back_decides_once(hub: Hub, clock: FakeClock) -> None:
    """Expired is expired, also when the clock is put right."""
    ask = timed(hub)
    clock.set(NOON + timedelta(days=3650))
    clock.set(NOON)
    with pytest.raises(ConflictError, match="expired"):
        send(hub, AnswerAsk(ask.ask_id, "2"), ANA)
    assert types(hub) == ["ask.opened", "ask.expired"]


def test_many_deadlines_happen_in_their_order(hub: Hub, clock: FakeClock) -> None:
    """Each at its own instant, although the clock was moved in one go."""
    asks = [send(hub, opening(deadline=minutes * MINUTE, consequence="deny")) for minutes in (5, 1, 3, 2, 4)]
    clock.advance(timedelta(hours=1))
    with hub.store.reading() as reader:
        lapsed = reader.records(PROJECT, len(asks), 99)
    assert [record.subject for record in lapsed] == [asks[place].ask_id for place in (1, 3, 2, 4, 0)]
    assert [record.at for record in lapsed] == [microseconds(NOON + n * MINUTE) for n in range(1, 6)]


# By the machine's own clock: timers come from the stored deadlines

SHORT = timedelta(milliseconds=60)


def test_waiting_process_wakes_by_its_own_timer() -> None:
    """Nothing else happens in the store; the deadline alone wakes the asker."""
    with throwaway() as store, pytest.raises(Expired):
        store.agent().ask("Ship it?", ["yes", "no"], deadline=SHORT, consequence="deny", wait=PATIENCE)


def test_waiting_task_wakes_by_its_own_timer() -> None:
    """The same for a task, while it also waits for an ask with a later deadline."""

    async def ask() -> None:
        with throwaway() as store:
            agent = store.async_agent()
            later = await agent.open("Later?", ["yes", "no"], deadline=timedelta(hours=1), consequence="deny")
            waiting = asyncio.create_task(later.wait(PATIENCE))
            await asyncio.sleep(0)
            with pytest.raises(Expired):
                await agent.ask("Now?", ["yes", "no"], deadline=SHORT, consequence="deny", wait=PATIENCE)
            waiting.cancel()

    asyncio.run(ask())


def test_deadline_of_a_dead_asker_is_applied_by_who_is_awake() -> None:
    """The asker is gone; a process that waits for something else applies it."""
    with throwaway(project=PROJECT) as store:
        awake = store.agent("awake")
        other = awake.open("Something else?", ["yes", "no"])
        awake.hub.wait(other.ask_id, PROJECT)
        with store.hub().follow(PROJECT, 1) as feed:
            gone = store.hub()
            send(gone, opening(deadline=SHORT, consequence="deny"))
            seen = [record.type for _ in range(2) for record in feed.wait(PATIENCE)]
    assert seen == ["ask.opened", "ask.expired"]
