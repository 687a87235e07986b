"""What the policy let pass counts for as long as the policy says so."""

import pytest

from assent.protocol.error import ForbiddenError, StillOpen
from assent.protocol.principal import Assurance
from assent.testing import throwaway

__all__: list[str] = []

ACTION = {"drop": "users"}


def test_receipt_of_a_policy_that_was_tightened_is_not_redeemed() -> None:
    """An agent that keeps automated receipts for later does not outlive the person's change of mind."""
    with throwaway() as store:
        agent, ana = store.agent(), store.person(assurance=Assurance.TERMINAL)
        ana.set_policy({"scopeChanges": "automated"})
        kept = agent.approve("Drop it", action=ACTION, category="scopeChanges")
        ana.set_policy({"scopeChanges": "requires_approval"})
        with pytest.raises(ForbiddenError, match="a person must approve it now"):
            agent.redeem(kept.receipt_id, ACTION)
        ana.set_policy({"scopeChanges": "notify_and_proceed"})
        assert agent.redeem(kept.receipt_id, ACTION).redeemed_at is not None


def test_receipt_of_a_person_outlives_a_policy() -> None:
    """A person said yes to this action, whatever the policy says of the next one."""
    with throwaway() as store:
        agent, ana = store.agent(), store.person(assurance=Assurance.TERMINAL)
        with pytest.raises(StillOpen) as waits:
            agent.approve("Drop it", action=ACTION, category="scopeChanges", key="k", wait=0)
        assert waits.value.ask is not None
        ana.answer(waits.value.ask.ask_id, "Approve")
        given = agent.approve("Drop it", action=ACTION, category="scopeChanges", key="k", wait=0)
        ana.set_policy({"scopeChanges": "automated"})
        ana.set_policy({"scopeChanges": "requires_approval"})
        assert agent.redeem(given.receipt_id, ACTION).redeemed_at is not None
