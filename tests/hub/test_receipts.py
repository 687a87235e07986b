"""Approvals that bind, in the hub: the policy decides at that moment, a yes makes the receipt, and it is spent once."""

import threading
from datetime import timedelta
from pathlib import Path
from typing import Any

import apsw
import pytest
from msgspec.structs import replace

from assent.hub.audit import verify
from assent.hub.command import (
    AnswerAsk,
    DeclineAsk,
    FinishRun,
    OpenAsk,
    RedeemReceipt,
    StartRun,
    WithdrawAsk,
)
from assent.hub.hub import Hub
from assent.hub.work_command import DismissNotification, ResolveNotification, SetPolicy
from assent.protocol.approval import approval_prompt
from assent.protocol.ask import Ask, Kind, State
from assent.protocol.error import (
    ApprovalDiffersError,
    AssentError,
    BadRequestError,
    CommandReusedError,
    ConflictError,
    Expired,
    ForbiddenError,
    KeyReusedError,
    NotFoundError,
    RunEndedError,
)
from assent.protocol.notification import Notification, NotificationId
from assent.protocol.policy import Category, Level
from assent.protocol.principal import Assurance, Principal, Role
from assent.protocol.prompt import Field, Option, Prompt
from assent.protocol.receipt import BY_POLICY, Receipt, ReceiptId, ReceiptLevel
from assent.protocol.terms import Terms
from assent.testing import FakeClock, ThrowawayStore
from tests.hub.conftest import PROJECT, dump, opening, tell, tell_group
from tests.patience import PATIENCE
from tests.receipt_samples import ACTION, HOUR, RECEIPT_ID, REQUESTED, requesting
from tests.run_samples import RUN_ID, new_frame
from tests.samples import AGENT, ANA, BOB, NOON, digest_of

__all__: list[str] = []

SCOPE = Category.SCOPE_CHANGES
OTHER = Principal(Role.AGENT, "other")
ASK_ID, TOLD = REQUESTED.ask_id, REQUESTED.notification_id
YES = AnswerAsk(ASK_ID, "Approve", assurance=Assurance.TERMINAL)
NO = AnswerAsk(ASK_ID, "Reject", assurance=Assurance.TERMINAL)
REDEEM = RedeemReceipt(RECEIPT_ID, ACTION)


def types(hub: Hub, project: str = PROJECT) -> list[str]:
    """Return what has happened, in order."""
    with hub.store.reading() as reader:
        return [record.type for record in reader.records(project, 0, 1_000)]


def receipt_of(hub: Hub, receipt_id: str = RECEIPT_ID, project: str = PROJECT) -> Receipt | None:
    """Return a receipt as the store has it."""
    with hub.store.reading() as reader:
        return reader.receipt(project, receipt_id)


def setting(level: Level) -> SetPolicy:
    """Return a person's word on changes of scope."""
    return SetPolicy({SCOPE: level}, Assurance.TERMINAL)


def granted(hub: Hub, **changes: Any) -> Receipt:
    """Ask, let ana say yes, and return the receipt."""
    request = requesting(**changes)
    tell(hub, request)
    tell(hub, replace(YES, ask_id=request.ask_id), ANA)
    receipt = receipt_of(hub, request.receipt_id)
    assert receipt is not None
    return receipt


# The policy decides


def test_automated_change_gets_its_receipt_at_once_and_nobody_is_asked(hub: Hub) -> None:
    """The policy stands where a person would."""
    tell(hub, setting(Level.AUTOMATED), ANA)
    receipt = tell(hub, requesting(category=SCOPE))
    assert isinstance(receipt, Receipt)
    assert (receipt.level, receipt.by, receipt.assurance) == (ReceiptLevel.AUTOMATED, BY_POLICY, None)
    assert (receipt.category, receipt.ask_id, receipt.notification_id) == (SCOPE, None, None)
    assert receipt.digest == digest_of(approval_prompt(REQUESTED.title, ACTION))
    assert types(hub) == ["policy.set", "receipt.granted"]


def test_notified_change_gets_its_receipt_at_once_and_people_are_told(hub: Hub) -> None:
    """The notification waits for nobody: there is no ask behind it, and whoever rejects it takes nothing back."""
    tell(hub, setting(Level.NOTIFY_AND_PROCEED), ANA)
    receipt = tell(hub, requesting(category=SCOPE, task_id="task-1"))
    assert isinstance(receipt, Receipt)
    assert (receipt.level, receipt.notification_id) == (ReceiptLevel.NOTIFIED, TOLD)
    assert types(hub) == ["policy.set", "notification.added", "receipt.granted"]
    with hub.store.reading() as reader:
        told = reader.notification(TOLD, PROJECT)
        assert reader.count_open(PROJECT) == 0
    assert told is not None
    assert (told.kind, told.source_id, told.ask_id) == ("hil_approval", "task-1", None)
    assert told.questions[0].text.startswith("For your information")
    tell(hub, ResolveNotification(TOLD, approved=False), ANA)
    assert isinstance(tell(hub, REDEEM), Receipt)


@pytest.mark.parametrize("category", [None, SCOPE], ids=["no category", "no policy"])
def test_change_that_nobody_has_let_go_waits_for_a_person(hub: Hub, category: Category | None) -> None:
    """An ask and its notification, in one transaction, and no receipt (Q-X18)."""
    ask = tell(hub, requesting(category=category))
    assert isinstance(ask, Ask)
    assert (ask.kind, ask.state, ask.terms) == (
        Kind.APPROVAL,
        State.OPEN,
        Terms(RECEIPT_ID, 3_600, category),
    )
    assert types(hub) == ["ask.opened", "notification.added"]
    assert receipt_of(hub) is None


def test_approval_without_a_category_is_a_persons_however_free_the_policy_is(hub: Hub) -> None:
    """Only what has a category can be left to a policy."""
    tell(hub, SetPolicy(dict.fromkeys(Category, Level.AUTOMATED), Assurance.TERMINAL), ANA)
    assert isinstance(tell(hub, REQUESTED), Ask)


@pytest.mark.parametrize("word", ["retries", "testFailures", "scopechanges", "", "automated"])
def test_word_that_is_no_category_skips_nobody(hub: Hub, word: str) -> None:
    """Not even one that is always automated: it is refused, and nothing happens."""
    before = dump(hub)
    with pytest.raises(BadRequestError, match="no category"):
        tell(hub, requesting(category=word))
    assert dump(hub) == before


def test_policy_of_the_moment_counts_also_inside_one_transaction(hub: Hub) -> None:
    """Nothing that was read before may decide: a tightening that came first holds, one that came later does not."""
    tell(hub, setting(Level.AUTOMATED), ANA)
    first, _, second = tell_group(
        hub,
        (requesting(1, category=SCOPE), AGENT),
        (setting(Level.REQUIRES_APPROVAL), ANA),
        (requesting(2, category=SCOPE), AGENT),
    )
    assert isinstance(first, Receipt)
    assert isinstance(second, Ask)


def test_request_without_an_action_is_refused(hub: Hub) -> None:
    """A yes to nothing in particular binds nothing."""
    tell(hub, setting(Level.AUTOMATED), ANA)
    for category in (None, SCOPE):
        with pytest.raises(BadRequestError, match="needs the action"):
            tell(hub, requesting(action=None, category=category))
    with pytest.raises(BadRequestError, match="whole seconds"):
        tell(hub, requesting(life_seconds=0))


def test_agent_of_a_run_that_has_ended_gets_no_receipt(hub: Hub) -> None:
    """Whoever cancelled it meant everything that it would still do."""
    tell(hub, setting(Level.AUTOMATED), ANA)
    tell(hub, StartRun(RUN_ID, new_frame(), "host:1"))
    tell(hub, FinishRun(RUN_ID, 1))
    for category in (SCOPE, None):
        with pytest.raises(RunEndedError):
            tell(hub, requesting(category=category, run_id=RUN_ID))


# A person's word


def test_yes_makes_the_receipt_in_the_same_transaction(hub: Hub) -> None:
    """Whatever becomes of the asker in the meantime, it is there when somebody asks for it."""
    receipt = granted(hub, key="drop", category=SCOPE)
    assert (receipt.level, receipt.by, receipt.assurance) == (
        ReceiptLevel.APPROVED,
        str(ANA),
        Assurance.TERMINAL,
    )
    assert (receipt.ask_id, receipt.asker, receipt.category) == (ASK_ID, str(AGENT), SCOPE)
    assert receipt.expires_at - receipt.granted_at == HOUR
    assert types(hub)[2:] == ["ask.answered", "notification.resolved", "receipt.granted"]
    assert tell(hub, requesting(2, key="drop", category=SCOPE)) == receipt


@pytest.mark.parametrize("way", ["ask", "notification"])
def test_ask_and_notification_are_one_decision(store: ThrowawayStore, hub: Hub, way: str) -> None:
    """Whoever answers the one resolves the other; the second person, through the other door, was too late."""
    tell(hub, REQUESTED)
    resolve = ResolveNotification(TOLD, approved=True, assurance=Assurance.TERMINAL)
    refuse = ResolveNotification(TOLD, approved=False, assurance=Assurance.TERMINAL)
    tell(hub, YES if way == "ask" else resolve, ANA)
    with pytest.raises(ConflictError, match="ana"):
        tell(hub, refuse if way == "ask" else NO, BOB)
    told = store.agent().find_notification(TOLD)
    assert (told.approved, told.resolved_by) == (True, str(ANA))
    receipt = receipt_of(hub)
    assert receipt is not None
    assert receipt.by == str(ANA)


@pytest.mark.parametrize(
    ("word", "by"),
    [
        (NO, ANA),
        (ResolveNotification(TOLD, approved=False, assurance=Assurance.TERMINAL), ANA),
        (DismissNotification(TOLD), ANA),
        (DeclineAsk(ASK_ID), ANA),
        (WithdrawAsk(ASK_ID), AGENT),
    ],
    ids=["reject", "approved: false", "dismiss", "decline", "withdraw"],
)
def test_whatever_is_no_yes_makes_no_receipt(hub: Hub, word: Any, by: Principal) -> None:
    """And both views are over."""
    tell(hub, REQUESTED)
    tell(hub, word, by)
    assert receipt_of(hub) is None
    assert "receipt.granted" not in types(hub)
    with hub.store.reading() as reader:
        assert (reader.count_open(PROJECT), reader.count_notifications(PROJECT)) == (0, 0)
    ended = tell(hub, REQUESTED)
    assert isinstance(ended, Ask)
    assert not ended.is_open


@pytest.mark.parametrize("by", [AGENT, OTHER, Principal(Role.OPERATOR, "ops")], ids=str)
def test_machine_approves_nothing(hub: Hub, by: Principal) -> None:
    """Through neither door, whatever it says about how sure it is (decided rule 8)."""
    tell(hub, REQUESTED)
    before = dump(hub)
    for word in (YES, ResolveNotification(TOLD, approved=True, assurance=Assurance.TERMINAL)):
        with pytest.raises(ForbiddenError):
            tell(hub, word, by)
    assert dump(hub) == before


def test_process_that_says_it_is_a_person_is_not_enough(hub: Hub) -> None:
    """An approval takes a terminal or a token."""
    tell(hub, REQUESTED)
    with pytest.raises(ForbiddenError, match="terminal"):
        tell(hub, AnswerAsk(ASK_ID, "Approve"), ANA)


def test_whoever_asks_does_not_approve(hub: Hub) -> None:
    """A person who asks needs another person."""
    tell(hub, REQUESTED, ANA)
    with pytest.raises(ForbiddenError, match="somebody else"):
        tell(hub, YES, ANA)
    tell(hub, YES, BOB)
    assert isinstance(tell(hub, REDEEM, ANA), Receipt)


def test_ask_that_only_looks_like_an_approval_makes_no_receipt(hub: Hub) -> None:
    """Whoever answers must be able to rely on the words: a no may not be recorded as a yes."""
    options = (Option("Approve", "Keep it as it is"), Option("Reject", "Drop it"))
    forged = Prompt("Drop?", fields=(Field("approve", options=options),), action=ACTION)
    terms = Terms(RECEIPT_ID, 60)
    prompt = approval_prompt("Drop?", ACTION)
    for command in (
        opening(forged, kind=Kind.APPROVAL, terms=terms),
        opening(prompt, kind=Kind.QUESTION, terms=terms),
        opening(approval_prompt("Drop?", None), kind=Kind.APPROVAL, terms=terms),
        opening(prompt, kind=Kind.APPROVAL, terms=Terms(RECEIPT_ID, 10**9)),
    ):
        with pytest.raises(BadRequestError):
            tell(hub, command)
    plain = tell(hub, opening(prompt, kind=Kind.APPROVAL))
    assert isinstance(plain, Ask)
    tell(hub, replace(YES, ask_id=plain.ask_id), ANA)
    assert types(hub) == ["ask.opened", "ask.answered"]


# Again


def test_request_that_comes_again_is_the_same_approval(hub: Hub) -> None:
    """While it waits it is the ask; after the yes the receipt; nobody is asked or told twice."""
    first = tell(hub, REQUESTED)
    again = tell(hub, REQUESTED)
    assert isinstance(first, Ask)
    assert isinstance(again, Ask)
    assert again.ask_id == first.ask_id
    assert types(hub) == ["ask.opened", "notification.added"]
    tell(hub, YES, ANA)
    assert isinstance(tell(hub, REQUESTED), Receipt)
    assert types(hub)[2:] == ["ask.answered", "notification.resolved", "receipt.granted"]


@pytest.mark.parametrize("level", [Level.AUTOMATED, Level.NOTIFY_AND_PROCEED])
@pytest.mark.parametrize("key", [None, "drop"], ids=["without a key", "with a key"])
def test_receipt_by_policy_is_found_again(hub: Hub, level: Level, key: str | None) -> None:
    """Also when the policy was tightened since: it was granted."""
    tell(hub, setting(level), ANA)
    request = requesting(category=SCOPE, key=key)
    first = tell(hub, request)
    tell(hub, setting(Level.REQUIRES_APPROVAL), ANA)
    before = dump(hub)
    assert tell(hub, request) == first
    assert dump(hub) == before


def test_ask_that_waits_is_not_skipped_when_the_policy_is_loosened(hub: Hub) -> None:
    """It is a person's to end; only new requests go by the new word."""
    tell(hub, requesting(category=SCOPE, key="drop"))
    tell(hub, setting(Level.AUTOMATED), ANA)
    again = tell(hub, requesting(2, category=SCOPE, key="drop"))
    assert isinstance(again, Ask)
    assert again.is_open
    assert isinstance(tell(hub, requesting(3, category=SCOPE)), Receipt)


@pytest.mark.parametrize("is_asked", [True, False], ids=["asked", "automated"])
@pytest.mark.parametrize(
    "change",
    [{"action": {**ACTION, "rows": 13}}, {"title": "Another?"}, {"category": None}, {"body": "More"}],
    ids=["action", "title", "category", "body"],
)
def test_key_of_an_approval_stands_for_nothing_else(hub: Hub, is_asked: bool, change: dict[str, Any]) -> None:
    """Above all, a receipt that no person has seen is not one for a request that needs a person."""
    if not is_asked:
        tell(hub, setting(Level.AUTOMATED), ANA)
    tell(hub, requesting(category=SCOPE, key="drop"))
    before = dump(hub)
    with pytest.raises(KeyReusedError):
        tell(hub, replace(requesting(2, category=SCOPE, key="drop"), **change))
    with pytest.raises(KeyReusedError):
        tell(hub, requesting(2, category=SCOPE, key="drop"), OTHER)
    assert dump(hub) == before


def test_ids_of_an_approval_stand_for_nothing_else(hub: Hub) -> None:
    """A command id that was used for something else."""
    granted(hub)
    with pytest.raises(CommandReusedError):
        tell(hub, requesting(title="Another?"))


def test_key_of_another_ask_is_no_key_of_an_approval(hub: Hub) -> None:
    """Also where the policy would let it pass: the key is taken."""
    tell(hub, opening(key="drop"))
    tell(hub, setting(Level.AUTOMATED), ANA)
    with pytest.raises(KeyReusedError):
        tell(hub, requesting(category=SCOPE, key="drop"))


def test_superseded_or_forged_ask_has_no_receipt_of_the_first(hub: Hub) -> None:
    """An ask with the same words and key, but without terms, is another one."""
    tell(hub, requesting(key="drop"))
    prompt = approval_prompt(REQUESTED.title, ACTION)
    plain = OpenAsk(ASK_ID, prompt, digest_of(prompt), Kind.APPROVAL, "drop")
    with pytest.raises(CommandReusedError):
        tell(hub, plain)


# Spending it


def test_receipt_is_redeemed_for_exactly_its_action(hub: Hub) -> None:
    """And what was refused has changed nothing."""
    granted(hub)
    before = dump(hub)
    with pytest.raises(ApprovalDiffersError, match=r"\$\.rows was approved as 12"):
        tell(hub, RedeemReceipt(RECEIPT_ID, {**ACTION, "rows": 13}))
    assert dump(hub) == before
    spelled = dict(reversed({**ACTION, "rows": 12.0}.items()))
    receipt = tell(hub, RedeemReceipt(RECEIPT_ID, spelled), command_id="cmd_1")
    assert isinstance(receipt, Receipt)
    assert receipt.redeemed_by == str(AGENT)
    assert types(hub)[-1] == "receipt.redeemed"


def test_retry_of_a_redemption_gets_its_own_reply(hub: Hub) -> None:
    """A lost connection is no second use; another command is."""
    granted(hub)
    first = tell(hub, REDEEM, command_id="cmd_1")
    assert tell(hub, REDEEM, command_id="cmd_1") == first
    with pytest.raises(ConflictError, match="agent:coder redeemed it at 2030-01-01"):
        tell(hub, REDEEM, command_id="cmd_2")


def test_receipt_is_of_its_project_and_missing_elsewhere(hub: Hub) -> None:
    """Another project's looks exactly like one that never was."""
    granted(hub)
    with pytest.raises(NotFoundError) as foreign:
        tell(hub, REDEEM, project="other")
    with pytest.raises(NotFoundError) as missing:
        tell(hub, RedeemReceipt(ReceiptId("rcp_none"), ACTION))
    assert foreign.value.message.replace(RECEIPT_ID, "") == missing.value.message.replace("rcp_none", "")


@pytest.mark.parametrize("by", [OTHER, ANA, Principal(Role.OPERATOR, "ops")], ids=str)
def test_receipt_is_its_askers_alone(hub: Hub, by: Principal) -> None:
    """People and operators redeem nothing for an agent."""
    granted(hub)
    with pytest.raises(ForbiddenError):
        tell(hub, REDEEM, by)
    assert isinstance(tell(hub, REDEEM), Receipt)


def test_receipt_expires_by_the_stores_clock(hub: Hub, clock: FakeClock) -> None:
    """Never by that of the last event: a clock that was ahead gives a receipt no longer life, and takes none of it."""
    clock.set(NOON + timedelta(days=365))
    tell(hub, requesting(2))
    clock.set(NOON)
    granted(hub)
    clock.advance(HOUR - timedelta(seconds=1))
    tell(hub, requesting(3))
    clock.advance(1)
    with pytest.raises(Expired):
        tell(hub, REDEEM)


def test_sixteen_who_redeem_at_once_have_one_winner(store: ThrowawayStore, hub: Hub) -> None:
    """As from sixteen processes: one conditional write decides, and everybody else is told who was first."""
    granted(hub)
    hubs = [store.hub() for _ in range(16)]
    start = threading.Barrier(len(hubs))
    won: list[Receipt] = []
    lost: list[AssentError] = []

    def spend(own: Hub) -> None:
        start.wait(PATIENCE)
        try:
            told = tell(own, REDEEM)
        except AssentError as error:
            lost.append(error)
        else:
            assert isinstance(told, Receipt)
            won.append(told)

    threads = [threading.Thread(target=spend, args=(own,)) for own in hubs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    assert len(won) == 1
    assert [type(error) for error in lost] == [ConflictError] * 15
    assert types(hub).count("receipt.redeemed") == 1
    assert verify(hub.store).problems == ()


def test_redeemers_in_one_transaction_have_one_winner(hub: Hub) -> None:
    """Twin: what was put a moment ago is seen by the next command of the group."""
    granted(hub)
    told = tell_group(hub, *[(REDEEM, AGENT)] * 4)
    assert sum(isinstance(reply, Receipt) for reply in told) == 1
    assert sum(isinstance(reply, ConflictError) for reply in told) == 3


# The record


def test_log_gives_the_receipts_back(store: ThrowawayStore, hub: Hub) -> None:
    """Those by policy, by a person, used and unused, and the terms of the asks."""
    tell(hub, SetPolicy({SCOPE: Level.AUTOMATED}, Assurance.TERMINAL), ANA)
    granted(hub)
    tell(hub, REDEEM)
    tell(hub, requesting(2, category=SCOPE, key="k", action=[1.0, {"é": None}]))
    tell(hub, requesting(3, key="m"))
    tell(hub, setting(Level.NOTIFY_AND_PROCEED), ANA)
    tell(hub, requesting(4, category=SCOPE))
    audit = verify(store.hub().store)
    assert (audit.problems, audit.erased) == ((), 0)


@pytest.mark.parametrize(
    "sql",
    [
        'UPDATE receipts SET is_redeemed = 0, record = CAST(replace(CAST(record AS TEXT), \'"agent:coder","command_id"\', \'"agent:other","command_id"\') AS BLOB)',
        "DELETE FROM receipts",
        "UPDATE asks SET terms = NULL",
    ],
    ids=["made good again", "deleted", "terms taken away"],
)
def test_tampering_with_a_receipt_is_found(store: ThrowawayStore, hub: Hub, sql: str) -> None:
    """Whoever revives a used approval in the file is found out."""
    granted(hub)
    tell(hub, REDEEM)
    hub.close()
    path: Path = store.path
    connection = apsw.Connection(str(path))
    connection.execute(sql)
    assert connection.changes() == 1
    connection.close()
    assert verify(store.hub().store).problems


def test_notification_of_an_approval_names_its_receipt(store: ThrowawayStore, hub: Hub) -> None:
    """Where no task is named."""
    tell(hub, REQUESTED)
    told = store.agent().find_notification(NotificationId(TOLD))
    assert isinstance(told, Notification)
    assert (told.source_id, told.ask_id, told.questions[0].text) == (RECEIPT_ID, ASK_ID, REQUESTED.title)
