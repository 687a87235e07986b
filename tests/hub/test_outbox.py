"""The outbox: the log read by a cursor for each target, by one sender at a time, on either store."""

from datetime import timedelta

import pytest

from assent.engine.ask import WithdrawAsk
from assent.hub.audit import verify
from assent.hub.command import AnswerAsk
from assent.hub.hub import Hub
from assent.hub.outbox import Claim, Outbox
from assent.protocol.ask import Ask, Kind
from assent.protocol.target import Notice, Secret, Target, What
from assent.testing import FakeClock
from tests.hub.conftest import PROJECT, opening, send, tell
from tests.samples import ANA, BOB
from tests.target_samples import adding

__all__: list[str] = []

NTFY = Secret("ntfy://ntfy.example.com/topic")


@pytest.fixture
def outbox(hub: Hub) -> Outbox:
    """Give the outbox of a store with one webhook."""
    tell(hub, adding(), ANA)
    return Outbox(hub)


def take(outbox: Outbox, name: str = "hook") -> Claim:
    """Take a target that is free."""
    claim = outbox.claim(PROJECT, name)
    assert claim is not None
    return claim


def told(outbox: Outbox, name: str = "hook") -> list[Notice]:
    """Deliver all that is to be told, without sending it; return it."""
    claim: Claim | None = take(outbox, name)
    found = []
    while claim is not None:
        claim, notice = outbox.next_notice(claim)
        if notice is None:
            assert outbox.let_go(claim)
            break
        found.append(notice)
        claim = outbox.delivered(claim, notice, "ref")
    return found


def targets(outbox: Outbox) -> list[Target]:
    """Return the targets that were not removed."""
    return [target for target, _ in outbox.targets(PROJECT)]


def test_webhook_is_told_of_every_event_of_every_ask_once_and_in_order(hub: Hub, outbox: Outbox) -> None:
    """From the moment on in which it was added, each under an id of its own."""
    first, second = send(hub, opening()), send(hub, opening())
    send(hub, AnswerAsk(first.ask_id, "1"), ANA)
    found = told(outbox)
    assert [(notice.what, notice.ask.ask_id) for notice in found] == [
        (What.OPENED, first.ask_id),
        (What.OPENED, second.ask_id),
        (What.ENDED, first.ask_id),
    ]
    assert len({notice.message_id for notice in found}) == 3
    assert told(outbox) == []
    assert outbox.due() == []


def test_person_is_not_told_of_what_is_over_nor_of_the_end_of_what_they_never_heard_of(hub: Hub) -> None:
    """After a night without a sender, a phone does not ring for what was answered in it."""
    tell(hub, adding("phone", NTFY), ANA)
    outbox = Outbox(hub)
    over, waiting = send(hub, opening()), send(hub, opening())
    send(hub, AnswerAsk(over.ask_id, "1"), ANA)
    assert [notice.ask.ask_id for notice in told(outbox, "phone")] == [waiting.ask_id]
    send(hub, AnswerAsk(waiting.ask_id, "1"), BOB)
    (end,) = told(outbox, "phone")
    assert (end.what, end.reference, end.ask.ask_id) == (What.ENDED, "ref", waiting.ask_id)
    assert outbox.message_of(targets(outbox)[0], waiting.ask_id) == ""


def test_target_of_some_kinds_is_told_of_no_others(hub: Hub) -> None:
    """The cursor passes over the rest."""
    tell(hub, adding(kinds=(Kind.GATE,)), ANA)
    send(hub, opening())
    gate = send(hub, opening(kind=Kind.GATE))
    assert [notice.ask.ask_id for notice in told(Outbox(hub))] == [gate.ask_id]


def test_overdue_ask_is_told_of(hub: Hub, clock: FakeClock, outbox: Outbox) -> None:
    """The deadline is applied by whoever looks for what is due."""
    ask = send(hub, opening(deadline=clock.at + timedelta(hours=1)))
    assert [notice.what for notice in told(outbox)] == [What.OPENED]
    clock.advance(timedelta(hours=2))
    assert outbox.due()
    assert [(notice.what, notice.ask.ask_id) for notice in told(outbox)] == [(What.OVERDUE, ask.ask_id)]


def test_sender_that_was_stopped_for_longer_than_its_lease_finds_its_fence_gone(
    hub: Hub, clock: FakeClock, outbox: Outbox
) -> None:
    """What it had in hand is delivered twice, under the same id; it moves nothing and gives nothing up."""
    send(hub, opening())
    stopped, late = outbox.next_notice(take(outbox))
    assert late is not None
    assert outbox.claim(PROJECT, "hook") is None
    clock.advance(timedelta(minutes=2))
    other, notice = outbox.next_notice(take(outbox))
    assert notice == late
    assert not outbox.keep(stopped)
    assert outbox.delivered(stopped, late, "x") is None
    assert outbox.give_up(stopped, late, "x") is None
    assert not outbox.put_off(stopped, 5, "x")
    assert not outbox.let_go(stopped)
    assert targets(outbox)[0].failed == 0
    assert outbox.delivered(other, notice, "y") is not None


def test_message_that_is_given_up_is_in_the_log_and_the_next_one_is_tried(hub: Hub, outbox: Outbox) -> None:
    """The event and the step of the cursor are one transaction, and the record is whole."""
    first, second = send(hub, opening()), send(hub, opening())
    claim, notice = outbox.next_notice(take(outbox))
    assert notice is not None
    behind = outbox.give_up(claim, notice, "The webhook replied with status 500.\x1b[2J")
    assert behind is not None
    _, following = outbox.next_notice(behind)
    assert following is not None
    assert (notice.ask.ask_id, following.ask.ask_id) == (first.ask_id, second.ask_id)
    assert targets(outbox)[0].failed == 1
    with hub.store.reading() as reader:
        record = reader.records(PROJECT, 0, 10)[-1]
    assert record.type == "target.failed"
    assert b"a-secret-path" not in (record.body or b"")
    assert b"\x1b" not in (record.body or b"")
    assert verify(hub.store).problems == ()


def test_target_that_is_gone_is_told_nothing_more(hub: Hub, outbox: Outbox) -> None:
    """The other side has said so; a person sees it in the list."""
    send(hub, opening())
    claim, notice = outbox.next_notice(take(outbox))
    assert notice is not None
    assert outbox.give_up(claim, notice, "status 410", is_gone=True) is None
    assert targets(outbox)[0].disabled_at is not None
    assert outbox.due() == []
    assert outbox.claim(PROJECT, "hook") is None


def test_target_that_failed_waits_and_keeps_count_over_what_it_need_not_be_told(
    hub: Hub, clock: FakeClock, outbox: Outbox
) -> None:
    """Events between that nobody is told of do not make it begin to count anew."""
    tell(hub, adding("second"), ANA)  # an event that nobody is told of, before the one that fails
    send(hub, opening())
    for attempt in range(3):
        claim, notice = outbox.next_notice(take(outbox))
        assert notice is not None
        assert claim.delivery.attempts == attempt
        assert outbox.put_off(claim, 60, "status 500")
        assert outbox.claim(PROJECT, "hook") is None
        clock.advance(timedelta(seconds=60))


def test_target_that_is_left_as_it_was_is_free_at_once_and_keeps_count(
    hub: Hub, clock: FakeClock, outbox: Outbox
) -> None:
    """A sender that is stopped has neither told it anything nor failed."""
    send(hub, opening())
    claim, _ = outbox.next_notice(take(outbox))
    assert outbox.put_off(claim, 60, "status 500")
    clock.advance(timedelta(seconds=60))
    claim = take(outbox)
    assert outbox.leave(claim)
    again = take(outbox)
    assert (again.delivery.attempts, again.delivery.last_error) == (1, "status 500")
    assert not outbox.leave(claim)


def test_events_that_nobody_is_told_of_make_nothing_due_and_write_nothing(hub: Hub, outbox: Outbox) -> None:
    """A busy log is not written to twice."""
    tell(hub, adding("second"), ANA)
    assert outbox.due() == []
    with hub.store.reading() as reader:
        found = reader.target(PROJECT, "hook")
    assert found is not None
    assert found.delivery.cursor == 1


def test_list_says_how_much_is_still_to_be_told(hub: Hub, outbox: Outbox) -> None:
    """Counted by what the target wants to know."""
    ask: Ask = send(hub, opening())
    send(hub, WithdrawAsk(ask.ask_id))
    ((target, far),) = outbox.targets(PROJECT)
    assert outbox.pending(target, far) == 2
    told(outbox)
    ((target, far),) = outbox.targets(PROJECT)
    assert outbox.pending(target, far) == 0
