"""A person's no to an action holds for a day: nobody is asked about the same action again, unless the asker says why."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest

from assent import BadRequestError, Client, Declined, KeyReusedError, RejectedBefore, StillOpen
from assent.client.approving import request_approval
from assent.client.client import blocking
from assent.protocol.approval import MAX_AGAIN, REJECTION_SECONDS, approval_prompt
from assent.protocol.ask import Again, Ask, Kind
from assent.protocol.principal import Assurance
from assent.testing import FakeClock, ThrowawayStore

__all__: list[str] = []

ACTION = {"drop": "users.legacy_id"}
ONE_DAY = timedelta(seconds=REJECTION_SECONDS)
_request = blocking(request_approval)


@pytest.fixture(params=["sqlite", "postgres"])
def store(request: pytest.FixtureRequest) -> Iterator[ThrowawayStore]:
    """Give a store of either sort, on a clock of the test's own."""
    database = request.getfixturevalue("database") if request.param == "postgres" else None
    with ThrowawayStore(clock=FakeClock(), database=database) as made:
        yield made


@pytest.fixture
def ana(store: ThrowawayStore) -> Client:
    """Give a person at a terminal."""
    return store.person(assurance=Assurance.TERMINAL)


def ask(client: Client, title: str = "Drop the column?", action: Any = ACTION, **parts: Any) -> Ask:
    """Ask for an approval; return what waits."""
    told = _request(client, title, action=action, **parts)
    assert isinstance(told, Ask)
    return told


def reject(ana: Client, coder: Client, words: str = "not on a Friday", **parts: Any) -> Ask:
    """Ask, and have it rejected."""
    return ana.answer(ask(coder, **parts).ask_id, "Reject", reason=words)


def test_action_that_was_rejected_is_not_asked_about_again(store: ThrowawayStore, ana: Client) -> None:
    """The asker gets that no: who, when, and the words. Another title, body, category or key makes no other action."""
    coder = store.agent()
    rejected = reject(ana, coder)
    before = len(ana.log())
    for parts in (
        {},
        {"body": "Please."},
        {"key": "another"},
        {"category": "scopeChanges"},
        {"title": "May I?"},
    ):
        with pytest.raises(RejectedBefore) as refused:
            ask(coder, **parts)
        assert refused.value.code == "rejected_before"
        assert refused.value.ask == rejected
        assert refused.value.reason == "not on a Friday"
        assert refused.value.message.startswith("ana rejected it at ")
        assert 'Reason: "not on a Friday".' in refused.value.message
    with pytest.raises(Declined):
        coder.approve("Drop the column?", action=ACTION)
    with pytest.raises(RejectedBefore):
        coder.open(approval_prompt("Drop it?", ACTION), kind=Kind.APPROVAL)
    assert len(ana.log()) == before
    assert ana.inbox() == []


def test_no_holds_for_every_agent_of_the_project_and_no_other(store: ThrowawayStore, ana: Client) -> None:
    """They said no to the action, whoever would do it; what another project does is its own affair."""
    reject(ana, store.agent())
    with pytest.raises(RejectedBefore):
        ask(store.agent("reviewer"))
    assert ask(store.agent(project="elsewhere")).is_open
    assert ask(store.agent(), action={"drop": "users.other_id"}).is_open


def test_no_holds_for_a_day_by_the_clock_of_the_moment(store: ThrowawayStore, ana: Client) -> None:
    """A second before it is over nobody is asked, and then they are."""
    coder = store.agent()
    reject(ana, coder)
    assert store.clock is not None
    store.clock.advance(ONE_DAY - timedelta(seconds=1))
    with pytest.raises(RejectedBefore):
        ask(coder)
    store.clock.advance(timedelta(seconds=1))
    assert ask(coder).is_open


def test_whoever_says_why_is_asked_again_and_the_person_sees_the_no(
    store: ThrowawayStore, ana: Client
) -> None:
    """The ask carries who said no, when, with which words, and the reason; after a yes the action is free again."""
    coder = store.agent()
    rejected = reject(ana, coder)
    assert rejected.answer is not None
    again = ask(coder, again="  It is Monday.  ")
    assert again.again == Again(
        "It is Monday.", rejected.ask_id, "human:ana", rejected.answer.at, "not on a Friday"
    )
    assert ana.show(again.ask_id) == again
    ana.answer(again.ask_id, "Approve")
    assert ask(coder, key="third").is_open
    assert ana.verify().problems == ()


def test_no_to_the_second_ask_is_the_one_that_holds(store: ThrowawayStore, ana: Client) -> None:
    """The last word counts, and its day begins with it."""
    coder = store.agent()
    reject(ana, coder)
    assert store.clock is not None
    store.clock.advance(ONE_DAY / 2)
    reject(ana, coder, "still no", again="It is Monday.")
    store.clock.advance(ONE_DAY / 2)
    with pytest.raises(RejectedBefore) as refused:
        ask(coder)
    assert refused.value.reason == "still no"


def test_decline_is_a_no_and_silence_is_none(store: ThrowawayStore, ana: Client) -> None:
    """Expired, withdrawn and dismissed asks may be asked again at once."""
    coder = store.agent()
    ana.dismiss(_notification(ana, ask(coder)))
    coder.withdraw(ask(coder).ask_id)
    ask(coder, deadline=timedelta(seconds=1), consequence="deny")
    assert store.clock is not None
    store.clock.advance(timedelta(seconds=2))
    ana.decline(ask(coder).ask_id, "not me")
    with pytest.raises(RejectedBefore, match="not me"):
        ask(coder)


def test_no_outlives_what_is_dismissed_after_it(store: ThrowawayStore, ana: Client) -> None:
    """Asked again with a reason and dismissed, as often as somebody likes: the no is still the last decision."""
    coder = store.agent()
    reject(ana, coder)
    for number in range(5):
        ana.dismiss(_notification(ana, ask(coder, again=f"Reason {number}.")))
    with pytest.raises(RejectedBefore, match="not on a Friday"):
        ask(coder)


def test_no_that_is_dated_ahead_does_not_hold_until_then(store: ThrowawayStore, ana: Client) -> None:
    """Said under a clock that was a year ahead and is right again, it is a day away from nothing."""
    coder = store.agent()
    assert store.clock is not None
    right = store.clock.at
    store.clock.set(right + timedelta(days=365))
    reject(ana, coder)
    store.clock.set(right)
    assert ask(coder).is_open


def _notification(ana: Client, asked: Ask) -> str:
    (found,) = [each for each in ana.notifications() if each.ask_id == asked.ask_id]
    return found.notification_id


def test_policy_does_not_let_pass_what_a_person_rejected(store: ThrowawayStore, ana: Client) -> None:
    """An agent that names a category which asks nobody does not get round a no."""
    coder = store.agent()
    reject(ana, coder)
    ana.set_policy({"dependencyModifications": "automated"})
    with pytest.raises(RejectedBefore):
        coder.approve("Drop the column?", action=ACTION, category="dependencyModifications")
    with pytest.raises(StillOpen):
        coder.approve(
            "Drop it?", action=ACTION, category="dependencyModifications", again="It is Monday.", wait=0
        )


def test_same_key_finds_its_no_and_asking_again_takes_another(store: ThrowawayStore, ana: Client) -> None:
    """A retry is told what it was told; a reason under the key of the no would never be heard."""
    coder = store.agent()
    rejected = reject(ana, coder, key="drop")
    assert ask(coder, key="drop").ask_id == rejected.ask_id
    with pytest.raises(KeyReusedError):
        ask(coder, key="drop", again="It is Monday.")
    second = reject(ana, coder, key="drop-2", again="It is Monday.")
    assert ask(coder, key="drop-2", again="It is Monday.").ask_id == second.ask_id


def test_reason_that_is_too_long_is_refused(store: ThrowawayStore) -> None:
    """In one sentence, and nothing is asked."""
    coder = store.agent()
    with pytest.raises(BadRequestError, match="2,000"):
        ask(coder, again="x" * (MAX_AGAIN + 1))
    assert coder.inbox() == []
