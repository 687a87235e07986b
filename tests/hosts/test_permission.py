"""A host's request for permission: only a person's yes lets exactly that action through, and once."""

from collections.abc import Iterator
from typing import Any

import pytest

from assent import Client
from assent.client.client import blocking
from assent.hosts.permission import Permission, ask_permission
from assent.hosts.person import person_at
from assent.protocol.error import AssuranceError
from assent.protocol.principal import Assurance
from assent.testing import ThrowawayStore
from tests.client.both import NewStore
from tests.client.conftest import door, new_store, server
from tests.receipt_samples import ACTION

__all__ = ["door", "new_store", "server"]

KEY = "host:session:call-1"


def ask(agent: Client, wait: float | None = 0, **parts: Any) -> Permission:
    """Ask for the action of the samples."""
    parts = {"action": ACTION, "key": KEY, **parts}
    return blocking(ask_permission)(agent, "Run it?", wait=wait, **parts)


@pytest.fixture
def store(new_store: NewStore) -> Iterator[ThrowawayStore]:
    """Give an empty store, on a file or behind a server."""
    with new_store() as made:
        yield made


def test_silence_lets_nothing_through_and_the_ask_waits(store: ThrowawayStore) -> None:
    """The host is told so; asking again finds the same ask."""
    agent = store.agent()
    first, second = ask(agent), ask(agent)
    assert not first.is_allowed
    assert first.is_open
    assert first.reason == "Nobody has answered yet."
    assert first.ask is not None
    assert second.ask is not None
    assert first.ask.ask_id == second.ask.ask_id


def test_a_persons_yes_lets_it_through_once(store: ThrowawayStore) -> None:
    """Who comes again under the same key is told that the approval is spent."""
    agent, ana = store.agent(), store.person(assurance=Assurance.TERMINAL)
    waiting = ask(agent).ask
    assert waiting is not None
    ana.answer(waiting.ask_id, "Approve")
    through, again = ask(agent), ask(agent)
    assert through.is_allowed
    assert through.reason.startswith("ana approved it; ")
    assert through.reason.endswith("is spent on it.")
    assert not again.is_allowed
    assert "redeemed" in again.reason


@pytest.mark.parametrize("end", ["no", "decline", "withdraw"])
def test_every_other_end_is_a_no_with_its_reason(store: ThrowawayStore, end: str) -> None:
    """And nothing of it reads like a yes."""
    agent, ana = store.agent(), store.person(assurance=Assurance.TERMINAL)
    waiting = ask(agent).ask
    assert waiting is not None
    if end == "no":
        ana.answer(waiting.ask_id, "Reject", reason="not on a Friday")
    elif end == "decline":
        ana.decline(waiting.ask_id, "not on a Friday")
    else:
        agent.withdraw(waiting.ask_id, "not on a Friday")
    told = ask(agent)
    assert not told.is_allowed
    assert not told.is_open
    assert "not on a Friday" in told.reason


def test_persons_reply_through_a_host_cannot_approve(store: ThrowawayStore) -> None:
    """What a host carries is as good as what a process says; on a server an agent's host carries nothing at all."""
    agent = store.agent()
    waiting = ask(agent).ask
    assert waiting is not None
    person = blocking(person_at)(agent, "codex")
    if person is not None:
        assert (str(person.via), person.assurance) == ("host:codex", Assurance.HOST)
        sitting = Client(
            agent.door, agent.project, person.principal, via=person.via, assurance=person.assurance
        )
        with pytest.raises(AssuranceError):
            sitting.answer(waiting.ask_id, "Approve")
    assert ask(agent).is_open
