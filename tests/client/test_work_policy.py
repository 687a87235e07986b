"""A project's policy through both clients: exactly three categories, kept, and loosened by people only."""

from typing import Any

import msgspec
import pytest

from assent.client.async_client import AsyncClient
from assent.client.client import Client
from assent.protocol.error import BadRequestError, ForbiddenError
from assent.protocol.policy import Category, Level, Policy
from assent.protocol.principal import Assurance
from tests.client.both import Clients, only_on_a_file
from tests.proves import proves
from tests.work_samples import happened

__all__: list[str] = []

LOOSE = dict.fromkeys(("scopeChanges", "architectureDecisions", "dependencyModifications"), "automated")
CALLS = [
    "hand_in",
    "add_notification",
    "find_notification",
    "notifications",
    "count_notifications",
    "resolve",
    "dismiss",
    "clear_notifications",
    "create_task",
    "update_task",
    "block_task",
    "find_task",
    "tasks",
    "ready",
    "chat",
    "clarify",
    "answers",
    "policy",
    "set_policy",
]


@proves("Q28")
@pytest.mark.parametrize("level", list(Level))
@pytest.mark.parametrize("category", list(Category))
def test_level_of_each_category_is_kept_for_the_project(
    clients: Clients, category: Category, level: Level
) -> None:
    """Other hubs read it; the other categories and projects stay as they were."""
    clients.person(assurance=Assurance.TERMINAL).set_policy({category: level})
    kept = clients.agent().policy()
    assert kept.levels == {**Policy().levels, category: level}
    assert set(msgspec.to_builtins(kept)) == {
        "scopeChanges",
        "architectureDecisions",
        "dependencyModifications",
    }
    assert clients.agent(project="other").policy() == Policy()


def test_project_that_said_nothing_requires_approval(clients: Clients) -> None:
    """Q-X18: when in doubt, ask."""
    assert set(clients.agent().policy().levels.values()) == {Level.REQUIRES_APPROVAL}


@proves("Q28")
@pytest.mark.parametrize(
    "levels",
    [{}, {"scope": "automated"}, {"scopeChanges": "maybe"}, {"scopeChanges": None}, {"retries": "automated"}],
    ids=["nothing", "no category", "no level", "null", "not configurable"],
)
def test_what_is_no_policy_is_refused(clients: Clients, levels: Any) -> None:
    """Q-X18: unknown keys and values, on writing."""
    with pytest.raises(BadRequestError):
        clients.person(assurance=Assurance.TERMINAL).set_policy(levels)
    assert happened(clients.store.agent()) == []


@only_on_a_file
def test_loosening_takes_more_than_the_word_of_a_process(clients: Clients) -> None:
    """Tightening does not; and whoever says that nobody is there is in the log."""
    declared, present = clients.person(), clients.person(assurance=Assurance.TERMINAL)
    with pytest.raises(ForbiddenError, match="terminal"):
        declared.set_policy(LOOSE)
    assert clients.agent().policy() == Policy()
    present.set_policy(LOOSE)
    declared.set_policy({"scopeChanges": "requires_approval"})
    assert clients.agent().policy().scope_changes is Level.REQUIRES_APPROVAL
    declared.set_policy({"scopeChanges": "notify_and_proceed"}, is_unattended=True)
    last = clients.store.agent().log()[-1]
    assert last.body is not None
    assert msgspec.json.decode(last.body)["is_unattended"] is True


@pytest.mark.parametrize("level", ["automated", "requires_approval"])
def test_agent_sets_no_policy_either_way(clients: Clients, level: str) -> None:
    """Decided rule 8."""
    clients.person(assurance=Assurance.TERMINAL).set_policy({"scopeChanges": "notify_and_proceed"})
    before = happened(clients.store.agent())
    for is_unattended in (False, True):
        with pytest.raises(ForbiddenError):
            clients.agent().set_policy({"scopeChanges": level}, is_unattended=is_unattended)
    assert happened(clients.store.agent()) == before


def test_setting_what_is_so_changes_nothing(clients: Clients) -> None:
    """Said for the first time it is kept, who said it and when; then no more."""
    first = clients.person().set_policy({"scopeChanges": "requires_approval"})
    again = clients.person().set_policy({"scopeChanges": "requires_approval"})
    assert (first.policy, again.set_at, again.sequence) == (Policy(), first.set_at, first.sequence)
    assert happened(clients.store.agent()) == ["policy.set"]


@pytest.mark.parametrize("name", CALLS)
def test_both_clients_have_the_same_calls(name: str) -> None:
    """One body for both; a call that only one of them had would be missed by its users."""
    assert getattr(Client, name).__doc__
    assert getattr(AsyncClient, name).__doc__ == getattr(Client, name).__doc__
