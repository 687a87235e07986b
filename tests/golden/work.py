"""Stories of work and trust: results, tasks, notifications, approvals at each level, tokens, targets, a durable flow."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from assent.client.client import blocking
from assent.client.outbox import add_target, remove_target
from assent.client.tokens import register_token
from assent.hub.outbox import Outbox
from assent.hub.restore import mark_restored
from assent.protocol.canonical import Json
from assent.protocol.error import AssentError
from assent.protocol.target import Secret
from assent.protocol.task import TaskId, chat_topic
from tests.client.talk import TALK, void
from tests.golden.stage import Stage

__all__ = ["STORIES"]

_ACTION: Json = {"command": "rm -rf build", "count": 9007199254740993}
_QUESTIONS: list[Json] = [{"id": "q1", "text": "Which database?"}, {"text": "Pages?"}]
_register = blocking(register_token)
_add, _remove = blocking(add_target), blocking(remove_target)


def _fail(stage: Stage, command_id: str = "result-1", questions: list[Json] = _QUESTIONS) -> str:
    """Hand in a result with questions; return the id of the notification."""
    stage.coder.create_task("Add a login page", task_id="login")
    result = {"agent": "Coder", "sourceId": "login", "status": "failed", "open_questions": questions}
    handed = stage.coder.hand_in(result, command_id=command_id)
    assert handed.notification is not None
    return str(handed.notification.notification_id)


def result_is_handed_in_and_resolved(stage: Stage) -> None:
    """Its task is blocked, and goes on with the answers."""
    stage.ana.resolve(_fail(stage), "SQLite")


def result_is_handed_in_and_answered_as_an_ask(stage: Stage) -> None:
    """One winner behind both."""
    _fail(stage)
    [ask] = stage.ana.inbox()
    stage.ana.answer(ask.ask_id, "q1: SQLite\nq2: No.")


def result_is_handed_in_and_dismissed(stage: Stage) -> None:
    """The task goes on without an answer."""
    stage.ana.dismiss(_fail(stage))


def result_is_handed_in_twice(stage: Stage) -> None:
    """As a retry, and again in other words."""
    _fail(stage)
    _fail(stage)
    _fail(stage, "result-2")
    _fail(stage, "result-3", [{"id": "q9", "text": "Another?"}])


def result_without_questions(stage: Stage) -> None:
    """Done, and failed with an error code."""
    stage.coder.create_task("Add a login page", task_id="login")
    stage.coder.hand_in({"agent": "Coder", "sourceId": "login", "status": "success"}, command_id="a")
    stage.coder.hand_in({"agent": "Coder", "sourceId": "login", "status": "failed"}, command_id="b")


def question_is_clarified_in_the_chat(stage: Stage) -> None:
    """What a person said there is their reply to that notification alone."""
    told = _fail(stage)
    stage.ana.post(chat_topic(TaskId("login")), {"text": "SQLite", "notificationId": told})
    stage.ana.resolve(told, {})


def tasks_depend_on_each_other(stage: Stage) -> None:
    """Made, blocked, changed and done."""
    for name, after in (("a", ()), ("b", ("a",)), ("c", ("a", "b"))):
        stage.coder.create_task(f"Task {name}", task_id=name, dependencies=after, priority=2)
    stage.coder.block_task("a", "no key")
    stage.ana.update_task("a", status="closed")
    stage.coder.update_task("b", assignee="bob", title="Task b, again")


def notifications_of_every_kind(stage: Stage) -> None:
    """Added, added again, cleared."""
    for _ in range(2):
        stage.coder.add_notification("plan", "p1", ["Which?", "Why?"])
        stage.coder.add_notification(
            "plan", "p1", ["Try again later."], kind="api_blocked", error_code="rate_limit"
        )
    stage.ana.clear_notifications()


def _approve(stage: Stage, title: str = "Remove it?", **parts: Any) -> None:
    stage.coder.approve(title, action=_ACTION, wait=0, **parts)


def approval_is_given_and_used(stage: Stage) -> None:
    """Asked, approved, redeemed; a second time it is refused."""
    with pytest.raises(AssentError):
        _approve(stage, risk="irreversible", key="k")
    [ask] = stage.ana.inbox()
    stage.ana.answer(ask.ask_id, "Approve", confirmed=True)
    receipt = stage.coder.approve("Remove it?", action=_ACTION, risk="irreversible", key="k")
    stage.coder.redeem(receipt.receipt_id, _ACTION)
    with pytest.raises(AssentError):
        stage.coder.redeem(receipt.receipt_id, _ACTION)


def approval_is_refused_and_asked_again(stage: Stage) -> None:
    """With words, with a reason, and then given."""
    with pytest.raises(AssentError):
        _approve(stage)
    [ask] = stage.ana.inbox()
    stage.ana.answer(ask.ask_id, "Reject", reason="not on a Friday")
    with pytest.raises(AssentError):
        _approve(stage)
    with pytest.raises(AssentError):
        _approve(stage, again="It is Monday.")
    [ask] = stage.ana.inbox()
    stage.ana.answer(ask.ask_id, "Approve")


def policy_lets_pass_tells_and_asks(stage: Stage) -> None:
    """Each level, and a policy that is tightened again."""
    stage.ana.set_policy({"dependencyModifications": "automated", "scopeChanges": "notify_and_proceed"})
    _approve(stage, category="dependencyModifications")
    _approve(stage, category="scopeChanges", task_id=None)
    stage.bob.set_policy({"dependencyModifications": "requires_approval"})
    with pytest.raises(AssentError):
        _approve(stage, "Now?", category="dependencyModifications")
    with pytest.raises(AssentError):
        stage.coder.set_policy({"scopeChanges": "automated"})


def receipt_is_too_old(stage: Stage) -> None:
    """Nobody redeems it, and another action never could."""
    stage.ana.set_policy({"scopeChanges": "automated"})
    receipt = stage.coder.approve("Go", action=_ACTION, category="scopeChanges", life=timedelta(minutes=1))
    with pytest.raises(AssentError):
        stage.coder.redeem(receipt.receipt_id, {"command": "ls"})
    stage.clock.advance(timedelta(minutes=2))
    with pytest.raises(AssentError):
        stage.coder.redeem(receipt.receipt_id, _ACTION)


def tokens_are_made_and_revoked(stage: Stage) -> None:
    """Of each role; one is unattended."""
    made = []
    for digit, role in enumerate(("agent", "human", "operator")):
        token = _register(stage.ana, str(digit) * 64, role, name=f"{role}-1", command_id=f"token-{role}")
        made.append(token)
        stage.clock.advance(1)
    stage.ana.revoke_token(made[1].token_id)


def target_is_added_and_removed(stage: Stage) -> None:
    """Of its address the log has the host alone; what it did not take is given up."""
    _add(stage.ana, "ops", Secret("https://hooks.example/T0/B0"), person="human:bob")
    stage.coder.open("Which database?", ["PostgreSQL", "SQLite"])
    outbox = Outbox(stage.hub)
    held = outbox.claim(stage.store.project, "ops")
    assert held is not None
    claim, notice = outbox.next_notice(held)
    assert notice is not None
    outbox.give_up(claim, notice, "It replied with status 500.")
    _remove(stage.ana, "ops")


def flow_is_driven_and_driven_again(stage: Stage) -> None:
    """Two questions and a word between them; the second time nothing happens."""
    for _ in range(2):
        stage.coder.drive(
            "f", TALK, "Which colour?", present=lambda ask: void(stage.bob.answer(ask.ask_id, "2"))
        )


def project_is_restored(stage: Stage) -> None:
    """Open receipts and controls are void from there on."""
    stage.ana.set_policy({"scopeChanges": "automated"})
    stage.coder.approve("Go", action=_ACTION, category="scopeChanges")
    stage.coder.open("Which database?", ["PostgreSQL", "SQLite"])
    with stage.hub.store.transaction() as transaction:
        mark_restored(transaction, stage.store.project, stage.clock.now(), stage.ana.principal, ())


STORIES = (
    result_is_handed_in_and_resolved,
    result_is_handed_in_and_answered_as_an_ask,
    result_is_handed_in_and_dismissed,
    result_is_handed_in_twice,
    result_without_questions,
    question_is_clarified_in_the_chat,
    tasks_depend_on_each_other,
    notifications_of_every_kind,
    approval_is_given_and_used,
    approval_is_refused_and_asked_again,
    policy_lets_pass_tells_and_asks,
    receipt_is_too_old,
    tokens_are_made_and_revoked,
    target_is_added_and_removed,
    flow_is_driven_and_driven_again,
    project_is_restored,
)
