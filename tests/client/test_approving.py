"""Approvals that bind, through both clients: proceed, notify and proceed, or wait, and then spend the yes once."""

import threading
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from assent import (
    ApprovalDiffersError,
    BadRequestError,
    Client,
    ConflictError,
    Declined,
    Expired,
    ForbiddenError,
    KeyReusedError,
    NotFoundError,
    Receipt,
    StillOpen,
    Withdrawn,
)
from assent.protocol.ask import Kind
from assent.protocol.principal import Assurance
from assent.testing import FakeClock, ThrowawayStore
from tests.client.both import Clients
from tests.patience import PATIENCE
from tests.proves import proves
from tests.receipt_samples import ACTION, TITLE
from tests.work_samples import happened

__all__: list[str] = []


@pytest.fixture
def ana(store: ThrowawayStore) -> Client:
    """Give a person at a terminal."""
    return store.person(assurance=Assurance.TERMINAL)


def when_asked(store: ThrowawayStore, act: Callable[[str], object]) -> threading.Thread:
    """Let somebody act on the ask of an approval as soon as it is there."""
    watcher = store.agent("watcher")

    def watch() -> None:
        for record in watcher.follow():
            if record.type == "notification.added":
                act(watcher.inbox()[0].ask_id)
                return

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    return thread


@proves("Q31")
@pytest.mark.parametrize(
    ("level", "is_asked", "told"),
    [
        ("automated", False, 0),
        ("notify_and_proceed", False, 1),
        ("requires_approval", True, 1),
        (None, True, 1),
    ],
)
def test_agent_proceeds_notifies_or_waits_as_the_policy_says(
    clients: Clients, store: ThrowawayStore, ana: Client, level: str | None, is_asked: bool, told: int
) -> None:
    """One call decides for it: the receipt comes at once, or at once and people know, or when a person said yes."""
    if level is not None:
        ana.set_policy({"scopeChanges": level})
    agent = clients.agent()
    thread = when_asked(store, lambda ask_id: ana.answer(ask_id, "Approve")) if is_asked else None
    receipt = agent.approve(TITLE, action=ACTION, category="scopeChanges", wait=PATIENCE)
    if thread is not None:
        thread.join(PATIENCE)
    assert receipt.by == ("human:ana" if is_asked else "policy")
    assert (receipt.ask_id is not None) is is_asked
    log = happened(ana)
    assert log.count("notification.added") == told
    assert log.count("ask.opened") == is_asked
    assert agent.redeem(receipt.receipt_id, ACTION).redeemed_by == "agent:coder"


@pytest.mark.parametrize("way", ["Reject", None], ids=["rejects", "declines"])
def test_no_of_a_person_is_declined_with_their_name_and_words(
    clients: Clients, store: ThrowawayStore, ana: Client, way: str | None
) -> None:
    """Nothing that could be mistaken for a receipt comes back."""

    def say_no(ask_id: str) -> None:
        ana.decline(ask_id, "not now") if way is None else ana.answer(ask_id, way, reason="not now")

    thread = when_asked(store, say_no)
    with pytest.raises(Declined, match=r"ana .*not now") as no:
        clients.agent().approve(TITLE, action=ACTION, wait=PATIENCE)
    assert no.value.reason == "not now"
    thread.join(PATIENCE)


def test_wait_that_lapses_leaves_the_ask_open_and_the_key_finds_it(clients: Clients, ana: Client) -> None:
    """After a restart the same call goes on; after the yes it gives the same receipt, as often as one likes."""
    with pytest.raises(StillOpen) as lapsed:
        clients.agent().approve(TITLE, action=ACTION, key="drop", wait=0)
    assert lapsed.value.ask is not None
    assert lapsed.value.ask.kind is Kind.APPROVAL
    ana.answer(lapsed.value.ask.ask_id, "Approve")
    restarted = clients.agent()
    receipt = restarted.approve(TITLE, action=ACTION, key="drop")
    assert receipt == restarted.approve(TITLE, action=dict(reversed(ACTION.items())), key="drop")
    assert happened(ana).count("receipt.granted") == 1
    with pytest.raises(KeyReusedError):
        restarted.approve(TITLE, action={**ACTION, "rows": 13}, key="drop")


def test_ask_that_ended_otherwise_is_told_as_it_ended(clients: Clients, clock: FakeClock) -> None:
    """Withdrawn, or expired with its declared consequence; silence approves nothing."""
    agent = clients.agent()
    with pytest.raises(StillOpen) as lapsed:
        agent.approve(TITLE, action=ACTION, key="a", wait=0)
    assert lapsed.value.ask is not None
    agent.withdraw(lapsed.value.ask.ask_id)
    with pytest.raises(Withdrawn):
        agent.approve(TITLE, action=ACTION, key="a")
    late: dict[str, Any] = {"key": "b", "deadline": timedelta(minutes=1), "consequence": "deny"}
    with pytest.raises(StillOpen):
        agent.approve(TITLE, action=ACTION, wait=0, **late)
    clock.advance(61)
    with pytest.raises(Expired, match="counts as a no"):
        agent.approve(TITLE, action=ACTION, **late)


def test_receipt_is_spent_once_in_time_by_its_asker_on_its_action(
    clients: Clients, ana: Client, clock: FakeClock
) -> None:
    """Everything else is refused with a type of its own, and costs nothing (S6)."""
    ana.set_policy({"scopeChanges": "automated"})
    agent = clients.agent()

    def receipt(key: str) -> Receipt:
        return agent.approve(
            TITLE, action=ACTION, category="scopeChanges", key=key, life=timedelta(minutes=1)
        )

    first = receipt("1").receipt_id
    with pytest.raises(ApprovalDiffersError, match=r"\$\.steps\[0\]\.force was approved as false") as differs:
        agent.redeem(first, {**ACTION, "steps": [{"name": "backup", "force": True}]})
    assert differs.value.code == "approval_differs"
    with pytest.raises(ForbiddenError):
        clients.agent("other").redeem(first, ACTION)
    with pytest.raises(ForbiddenError):
        ana.redeem(first, ACTION)
    with pytest.raises(NotFoundError):
        clients.agent(project="elsewhere").redeem(first, ACTION)
    assert agent.redeem(first, ACTION, command_id="cmd_1") == agent.redeem(first, ACTION, command_id="cmd_1")
    with pytest.raises(ConflictError, match="agent:coder redeemed it"):
        agent.redeem(first, ACTION)
    second = receipt("2").receipt_id
    clock.advance(60)
    with pytest.raises(Expired, match="ask again"):
        agent.redeem(second, ACTION)


@pytest.mark.parametrize(
    "parts",
    [
        {"action": None},
        {"action": ACTION, "category": "retries"},
        {"action": ACTION, "category": "everything"},
        {"action": ACTION, "life": timedelta(0)},
        {"action": ACTION, "key": ""},
        {"action": ACTION, "consequence": "approve"},
        {"action": ACTION, "escalate_to": "bob"},
        {"action": float("nan")},
        {"action": {1: 2}},
    ],
    ids=[
        "no action",
        "retries",
        "no category",
        "no life",
        "no key",
        "consequence",
        "nobody",
        "NaN",
        "no JSON",
    ],
)
def test_request_that_makes_no_sense_is_refused_and_leaves_nothing(
    clients: Clients, ana: Client, parts: dict[str, Any]
) -> None:
    """In one sentence, before anybody is asked."""
    with pytest.raises(BadRequestError):
        clients.agent().approve(TITLE, wait=0, **parts)
    assert happened(ana) == []


def test_receipt_can_be_looked_at_in_its_own_project(clients: Clients, ana: Client) -> None:
    """Looking spends nothing; elsewhere there is none."""
    ana.set_policy({"scopeChanges": "automated"})
    agent = clients.agent()
    receipt = agent.approve(TITLE, action=ACTION, category="scopeChanges")
    assert agent.find_receipt(receipt.receipt_id) == receipt
    with pytest.raises(NotFoundError):
        clients.agent(project="elsewhere").find_receipt(receipt.receipt_id)
    assert agent.redeem(receipt.receipt_id, ACTION) == agent.find_receipt(receipt.receipt_id)
