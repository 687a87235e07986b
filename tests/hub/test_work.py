"""Open questions in the hub: one transaction each, in the order of the texts, with one winner, and never an agent."""

import sqlite3
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

import apsw
import pytest

from assent.hub.command import AnswerAsk, DeclineAsk, PostMessage, Request
from assent.hub.hub import Hub
from assent.hub.work_command import (
    AddNotification,
    BlockTask,
    CreateTask,
    DismissNotification,
    FailTask,
    Handed,
    ResolveNotification,
    SetPolicy,
    TakeResult,
    UnblockTask,
    UpdateTask,
)
from assent.protocol.agent_result import AgentResult
from assent.protocol.approval import approval_prompt, is_approved
from assent.protocol.ask import AskId, Kind
from assent.protocol.error import (
    AssentError,
    BadRequestError,
    CommandReusedError,
    ConflictError,
    ForbiddenError,
    TooLargeError,
)
from assent.protocol.notification import Notification, NotificationId, NotificationKind, Source
from assent.protocol.policy import Category, Level
from assent.protocol.principal import Assurance, Principal, Role
from assent.protocol.resolution import answer_all
from assent.protocol.task import OPEN_QUESTION_REASON, TaskId, TaskStatus
from assent.testing import ThrowawayStore
from tests.hub.conftest import PROJECT, dump, opening, send, tell, tell_group
from tests.hub.test_audit import audit, tamper
from tests.notification_samples import ANSWERS, QUESTIONS
from tests.patience import PATIENCE
from tests.proves import proves
from tests.samples import AGENT, ANA, BOB
from tests.task_samples import TASK_ID
from tests.work_samples import DATABASE, PAGES, asking, happened

__all__: list[str] = []

ROUNDS = 40
TOLD = NotificationId("oq-00c0ffee")
ASK_ID = AskId("ask_1")
ASKING = TakeResult(AgentResult("coder", Source.EXECUTE, TASK_ID, "failed", QUESTIONS), TOLD, ASK_ID)


def take(hub: Hub, request: TakeResult = ASKING) -> Notification:
    """Hand a result in that asks; return what people are told."""
    handed = tell(hub, request)
    assert isinstance(handed, Handed)
    assert handed.notification is not None
    return handed.notification


def blocked_task(hub: Hub) -> None:
    """Create a task and let its agent ask."""
    tell(hub, CreateTask(TASK_ID, "Login"))
    take(hub)


# Order


@proves("Q19", "Q21")
def test_question_is_told_before_its_task_changes(store: ThrowawayStore, hub: Hub) -> None:
    """Q19 to Q21 in the order of the log, which is the order in which everybody hears of it; all of it at one moment."""
    blocked_task(hub)
    client = store.agent()
    records = client.log(after=1)
    assert [record.type for record in records] == ["notification.added", "ask.opened", "task.updated"]
    assert [record.subject for record in records] == [TOLD, ASK_ID, TASK_ID]
    assert len({record.at for record in records}) == 1


@pytest.mark.parametrize("way", ["resolve", "answer"])
def test_answer_is_told_in_the_order_of_the_text(store: ThrowawayStore, hub: Hub, way: str) -> None:
    """Q23 before Q24, and Q-X9: resolved, then the task."""
    blocked_task(hub)
    if way == "resolve":
        tell(hub, ResolveNotification(TOLD, ANSWERS), ANA)
    else:
        tell(hub, AnswerAsk(ASK_ID, "q1: SQLite\nq2: Yes."), ANA)
    records = store.agent().log(after=4)
    assert [record.type for record in records] == [
        "ask.answered",
        "topic.posted",
        "notification.resolved",
        "task.updated",
    ]
    assert len({record.at for record in records}) == 1


@pytest.mark.parametrize("way", ["dismiss", "decline"])
def test_dismissal_is_told_in_the_same_order_without_a_chat(
    store: ThrowawayStore, hub: Hub, way: str
) -> None:
    """Whichever side it comes from."""
    blocked_task(hub)
    tell(hub, DismissNotification(TOLD) if way == "dismiss" else DeclineAsk(ASK_ID), ANA)
    assert happened(store.agent(), after=4) == ["ask.declined", "notification.resolved", "task.updated"]
    assert store.agent().find_notification(TOLD).is_dismissed


def test_several_of_one_transaction_see_each_other(store: ThrowawayStore, hub: Hub) -> None:
    """The same question twice, its answer and another answer, all in one commit: asked once, one winner."""
    again = TakeResult(ASKING.result, NotificationId("oq-00000002"), AskId("ask_2"))
    _, first, second, won, lost = tell_group(
        hub,
        (CreateTask(TASK_ID, "Login"), AGENT),
        (ASKING, AGENT),
        (again, AGENT),
        (ResolveNotification(TOLD, ANSWERS), ANA),
        (ResolveNotification(TOLD, answer_all(QUESTIONS, "MySQL")), BOB),
    )
    assert isinstance(first, Handed)
    assert isinstance(second, Handed)
    assert first.notification == second.notification
    assert isinstance(won, Notification)
    assert won.resolved_by == str(ANA)
    assert isinstance(lost, ConflictError)
    assert "ana answered" in str(lost)
    assert store.agent().find_task(TASK_ID).status is TaskStatus.OPEN
    assert store.agent().verify().problems == ()


REPLY = PostMessage(f"execute:{TASK_ID}", b'{"text": "SQLite", "notificationId": "oq-00c0ffee"}')


def test_reply_of_the_same_transaction_answers_what_is_resolved_after_it(
    store: ThrowawayStore, hub: Hub
) -> None:
    """Also where the chat is not yet in the file; and it is in the chat once."""
    blocked_task(hub)
    _, kept = tell_group(hub, (REPLY, ANA), (DismissNotification(TOLD, takes_reply=True), ANA))
    assert isinstance(kept, Notification)
    assert [each.answer for each in kept.responses or ()] == ["SQLite", "SQLite"]
    assert [message.text for message in store.agent().chat(TASK_ID)] == ["SQLite"]
    assert store.agent().verify().problems == ()


def test_answer_from_the_chat_is_as_sure_as_whoever_resolved(store: ThrowawayStore, hub: Hub) -> None:
    """What the door saw of the one who resolved, and not what a line in a chat is worth."""
    blocked_task(hub)
    tell(hub, REPLY, ANA)
    resolving = DismissNotification(TOLD, "http", Assurance.TOKEN, takes_reply=True)
    tell(hub, resolving, ANA)
    answer = store.agent().show(ASK_ID).answer
    assert answer is not None
    assert (answer.by, answer.via, answer.assurance) == (str(ANA), "http", Assurance.TOKEN)


def test_reply_that_agents_have_buried_is_not_taken_for_a_dismissal(store: ThrowawayStore, hub: Hub) -> None:
    """A transaction must end; but who said something is not recorded as having said nothing."""
    blocked_task(hub)
    tell(hub, REPLY, ANA)
    line = PostMessage(f"execute:{TASK_ID}", b'"MySQL!"')
    posted = 0
    while posted < 20_000:  # on a busy machine some may be refused, for having waited too long
        told = tell_group(hub, *[(line, AGENT)] * 1_000)
        posted += sum(not isinstance(each, AssentError) for each in told)
    with pytest.raises(TooLargeError, match="send the answer as responses"):
        tell(hub, DismissNotification(TOLD, takes_reply=True), ANA)
    assert store.agent().find_notification(TOLD).is_open
    tell(hub, ResolveNotification(TOLD, ANSWERS), ANA)
    assert [each.answer for each in store.agent().answers(TASK_ID)] == ["SQLite", "Yes."]


def test_refused_question_leaves_nothing_and_spares_its_neighbours(store: ThrowawayStore, hub: Hub) -> None:
    """Its ask's id stands for something else: neither notification nor block, and the others of the group go on."""
    send(hub, opening(ask_id=ASK_ID, kind=Kind.OPEN_QUESTION))
    tell(hub, CreateTask(TASK_ID, "Login"))
    before = happened(store.agent())
    refused, created = tell_group(hub, (ASKING, AGENT), (CreateTask(TaskId("task-2"), "Logout"), AGENT))
    assert isinstance(refused, CommandReusedError)
    assert not isinstance(created, AssentError)
    assert happened(store.agent()) == [*before, "task.created"]
    assert store.agent().notifications() == []
    assert store.agent().find_task(TASK_ID).status is TaskStatus.OPEN


# One winner


def race(first: Callable[[], object], second: Callable[[], object]) -> list[object]:
    """Do both at once, from two threads; return what each got."""
    told: list[object] = [None, None]
    barrier = threading.Barrier(2)

    def run(place: int, act: Callable[[], object]) -> None:
        barrier.wait(PATIENCE)
        try:
            told[place] = act()
        except AssentError as refusal:
            told[place] = refusal

    threads = [threading.Thread(target=run, args=each) for each in enumerate((first, second))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
        assert not thread.is_alive()
    return told


def test_one_of_two_who_answer_at_once_wins_and_the_other_is_told(store: ThrowawayStore) -> None:
    """Decided rule 7: one answers the ask and one resolves the notification, each on a hub of its own, 40 times."""
    agent, ana, bob = store.agent(), store.person("ana"), store.person("bob")
    winners = set()
    for number in range(ROUNDS):
        about = f"task-{number}"
        agent.create_task("Login", task_id=about)
        told = agent.hand_in(asking(DATABASE, about=about)).notification
        assert told is not None
        assert told.ask_id is not None
        ask_id, notification_id = told.ask_id, told.notification_id
        got = race(partial(ana.answer, ask_id, "SQLite"), partial(bob.resolve, notification_id, "MySQL"))
        [lost] = [each for each in got if isinstance(each, AssentError)]
        assert isinstance(lost, ConflictError)
        kept, ask = agent.find_notification(notification_id), agent.show(ask_id)
        assert ask.answer is not None
        assert ask.answer.by == kept.resolved_by
        winner, word = ("ana", "SQLite") if got[1] is lost else ("bob", "MySQL")
        assert kept.resolved_by == f"human:{winner}"
        assert winner in str(lost)
        assert word in str(lost)
        assert [message.text for message in agent.chat(about)] == [word]
        assert [each.answer for each in kept.responses or ()] == [word]
        assert agent.find_task(about).status is TaskStatus.OPEN
        winners.add(winner)
    assert winners
    assert agent.verify().problems == ()


def test_same_question_handed_in_by_two_at_once_is_one(store: ThrowawayStore) -> None:
    """Q-X5 holds between hubs."""
    one, two = store.agent("one"), store.agent("two")
    for number in range(25):
        body = asking(DATABASE, about=f"t{number}")
        first, second = race(partial(one.hand_in, body), partial(two.hand_in, body))
        assert isinstance(first, Handed)
        assert isinstance(second, Handed)
        assert first.notification == second.notification
    assert happened(one).count("notification.added") == 25


# Never an agent

FORBIDDEN: dict[str, Request] = {
    "resolve": ResolveNotification(TOLD, ANSWERS),
    "resolve as if at a terminal": ResolveNotification(TOLD, ANSWERS, assurance=Assurance.TERMINAL),
    "approve": ResolveNotification(TOLD, approved=True, is_unattended=True),
    "dismiss": DismissNotification(TOLD),
    "answer": AnswerAsk(ASK_ID, "q1: SQLite\nq2: Yes."),
    "decline": DeclineAsk(ASK_ID),
    "unblock": UnblockTask(TASK_ID, OPEN_QUESTION_REASON),
    "open": UpdateTask(TASK_ID, status=TaskStatus.OPEN),
    "close": UpdateTask(TASK_ID, status=TaskStatus.CLOSED),
    "begin": UpdateTask(TASK_ID, status=TaskStatus.IN_PROGRESS),
    "assign": UpdateTask(TASK_ID, assignee="coder"),
    "loosen": SetPolicy({Category.SCOPE_CHANGES: Level.AUTOMATED}, is_unattended=True),
    "tighten": SetPolicy({Category.SCOPE_CHANGES: Level.REQUIRES_APPROVAL}),
}


@pytest.mark.parametrize("kind", FORBIDDEN)
def test_agent_is_refused_what_is_for_a_person(hub: Hub, kind: str) -> None:
    """Decided rule 8, and nothing of it is written; the asker is no exception."""
    blocked_task(hub)
    before = dump(hub)
    for name in (AGENT, Principal(Role.AGENT, "human:ana"), Principal(Role.OBSERVER, "x")):
        with pytest.raises(AssentError) as refusal:
            tell(hub, FORBIDDEN[kind], name)
        assert refusal.value.code in {"forbidden", "invalid_state"}
    assert dump(hub) == before


SIDE_WAYS: dict[str, Request] = {
    "another reason": BlockTask(TASK_ID, "mine"),
    "another question": TakeResult(
        AgentResult("coder", Source.EXECUTE, TASK_ID, "failed", QUESTIONS[:1]),
        NotificationId("oq-00000002"),
        AskId("ask_2"),
    ),
    "a success": TakeResult(
        AgentResult("coder", Source.EXECUTE, TASK_ID, "success"),
        NotificationId("oq-00000002"),
        AskId("ask_2"),
    ),
    "a failure": FailTask(TASK_ID),
    "the same again": CreateTask(TASK_ID, "Login"),
    "another task under its id": CreateTask(TASK_ID, "Login", is_epic=True),
    "nobody": UpdateTask(TASK_ID, assignee=None),
    "a word in the chat": PostMessage("execute:task-1", b'{"text": "SQLite"}'),
    "a forged word in the chat": PostMessage("execute:task-1", b'{"text": "SQLite", "by": "human:ana"}'),
}


@pytest.mark.parametrize("way", SIDE_WAYS)
def test_nothing_that_an_agent_may_do_lifts_the_block_or_answers(
    store: ThrowawayStore, hub: Hub, way: str
) -> None:
    """What is allowed leaves the question as open as it was."""
    blocked_task(hub)
    with suppress(AssentError):
        tell(hub, SIDE_WAYS[way])
    client = store.agent()
    task = client.find_task(TASK_ID)
    assert (task.status, task.block_reason) == (TaskStatus.BLOCKED, OPEN_QUESTION_REASON)
    assert client.find_notification(TOLD).is_open
    assert client.clarify(TASK_ID) is None
    assert client.ready() == []


def test_view_of_a_foreign_ask_is_refused(hub: Hub) -> None:
    """A person who approves a harmless notification must not thereby approve what somebody else asks."""
    foreign = send(hub, opening(kind=Kind.APPROVAL), Principal(Role.AGENT, "other"))
    question = send(hub, opening(kind=Kind.QUESTION))
    before = dump(hub)
    views = (
        ("hil-00c0ffee", NotificationKind.HIL_APPROVAL, foreign.ask_id, ForbiddenError),
        ("hil-00c0ffee", NotificationKind.HIL_APPROVAL, question.ask_id, ForbiddenError),
        ("oq-00c0ffee", NotificationKind.OPEN_QUESTION, question.ask_id, ForbiddenError),
        ("af-00c0ffee", NotificationKind.AGENT_FAILED, question.ask_id, BadRequestError),
    )
    for name, kind, ask_id, refusal in views:
        view = AddNotification(NotificationId(name), kind, Source.EXECUTE, "t", QUESTIONS[:1], ask_id)
        with pytest.raises(refusal):
            tell(hub, view)
    assert dump(hub) == before


@pytest.mark.parametrize("approved", [True, False])
def test_approval_is_one_word_in_both_places(store: ThrowawayStore, hub: Hub, approved: bool) -> None:
    """Whoever resolves it answers the ask, at a terminal or not at all."""
    ask = send(hub, opening(approval_prompt("Drop the table?", {"sql": "DROP"}), kind=Kind.APPROVAL))
    told = NotificationId("hil-00c0ffee")
    view = AddNotification(
        told, NotificationKind.HIL_APPROVAL, Source.EXECUTE, "t", QUESTIONS[:1], ask.ask_id
    )
    tell(hub, view)
    with pytest.raises(ForbiddenError, match="terminal"):
        tell(hub, ResolveNotification(told, approved=approved), ANA)
    kept = tell(hub, ResolveNotification(told, approved=approved, assurance=Assurance.TERMINAL), ANA)
    assert isinstance(kept, Notification)
    assert kept.approved is approved
    assert is_approved(store.agent().show(ask.ask_id)) is approved


# The record


@pytest.fixture
def path(store: ThrowawayStore) -> Path:
    """Give the file of a closed store with everything of this sort in it."""
    agent, ana = store.agent(), store.person(assurance=Assurance.TERMINAL)
    agent.create_task("Login", task_id="task-1")
    agent.create_task("Logout", task_id="task-2", dependencies=["task-1"])
    answered = agent.hand_in(asking(DATABASE, PAGES)).notification
    open_one = agent.hand_in(asking(PAGES, about="task-2")).notification
    assert answered is not None
    assert open_one is not None
    ana.resolve(answered.notification_id, "SQLite")
    agent.add_notification("execute", "task-1", ["No tokens"], kind="api_blocked", error_code="rate_limit")
    ana.set_policy({"scopeChanges": "automated"})
    ana.set_policy({"scopeChanges": "notify_and_proceed"})
    store.hub().close()
    return store.path


def changed(table: str, old: str, new: str, where: str = "1") -> str:
    """Return the statement that changes a word of a table's records."""
    record = f"CAST(replace(CAST(record AS TEXT), '{old}', '{new}') AS BLOB)"
    return f"UPDATE {table} SET record = {record} WHERE {where}"


RESOLVED, OPEN = "is_open = 0", "is_open = 1 AND notification_id LIKE 'oq-%'"
TAMPERINGS: dict[str, str] = {
    "answer changed": changed("notifications", '"SQLite"', '"MySQL"', RESOLVED),
    "answerer changed": changed("notifications", "human:ana", "human:bob", RESOLVED),
    "question changed": changed("notifications", "pagination", "paging", OPEN),
    "notification resolved": changed("notifications", '"status":"open"', '"status":"resolved"', OPEN),
    "notification hidden": f"UPDATE notifications SET is_open = 0 WHERE {OPEN}",
    "notification moved": f"UPDATE notifications SET source_id = 'task-9' WHERE {OPEN}",
    "notification unreadable": f"UPDATE notifications SET record = CAST('[]' AS BLOB) WHERE {OPEN}",
    "notification deleted": f"DELETE FROM notifications WHERE {OPEN}",
    "notification renamed": f"UPDATE notifications SET notification_id = 'oq-00000000' WHERE {OPEN}",
    "ask unlinked": f"UPDATE notifications SET ask_id = NULL WHERE {OPEN}",
    "task unblocked": changed("tasks", '"blocked"', '"open"', "task_id = 'task-2'"),
    "task's reason changed": changed("tasks", "Open Question", "Nothing", "task_id = 'task-2'"),
    "task hidden": "UPDATE tasks SET status = 'closed' WHERE task_id = 'task-1'",
    "task unreadable": "UPDATE tasks SET record = CAST('{}' AS BLOB) WHERE task_id = 'task-1'",
    "task deleted": "DELETE FROM tasks WHERE task_id = 'task-2'",
    "task renamed": "UPDATE tasks SET task_id = 'task-9' WHERE task_id = 'task-2'",
    "policy loosened": changed("policies", '"notify_and_proceed"', '"automated"'),
    "policy's setter changed": changed("policies", "human:ana", "human:bob"),
    "policy unreadable": "UPDATE policies SET record = CAST('7' AS BLOB)",
    "policy deleted": "DELETE FROM policies",
    "policy moved": "UPDATE policies SET project_number = project_number + 1",
    "event changed": "UPDATE events SET body = CAST(replace(CAST(body AS TEXT), 'SQLite', 'MySQL!') AS BLOB) WHERE type = 'notification.resolved'",
}


def test_store_with_work_raises_no_alarm(path: Path) -> None:
    """Twin of everything below."""
    found = audit(path)
    assert found.problems == ()
    assert found.events > 10


@pytest.mark.parametrize("kind", TAMPERINGS)
def test_tampering_with_work_is_found(path: Path, kind: str) -> None:
    """A row of each table, in each way; the audit itself never stumbles."""
    tamper(path, TAMPERINGS[kind])
    problems = audit(path).problems
    assert problems
    assert all(problem.endswith(".") for problem in problems)


@proves("Q16")
def test_notifications_are_read_by_plain_sql_from_open_questions(path: Path) -> None:
    """The name and the columns of the text, for any tool that reads the file."""
    connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    try:
        rows = connection.execute(
            "SELECT project_id, source, source_id, status, kind, error_code, json_array_length(questions),"
            " json_extract(responses, '$[0].answer'), resolved_at IS NULL FROM open_questions ORDER BY created_at, id"
        ).fetchall()
    finally:
        connection.close()
    assert sorted(rows, key=str) == sorted(
        [
            (PROJECT, "execute", "task-1", "resolved", "open_question", None, 2, "SQLite", 0),
            (PROJECT, "execute", "task-2", "open", "open_question", None, 1, None, 1),
            (PROJECT, "execute", "task-1", "open", "api_blocked", "rate_limit", 1, None, 1),
        ],
        key=str,
    )


def test_chat_that_is_erased_says_nothing_and_breaks_nothing(store: ThrowawayStore) -> None:
    """A body that was erased is null in its topic."""
    agent, ana = store.agent(), store.person()
    told = agent.hand_in(asking(DATABASE)).notification
    assert told is not None
    ana.post("execute:task-1", "secret")
    connection = apsw.Connection(str(store.path))
    connection.setbusytimeout(5_000)
    connection.execute("UPDATE events SET digest = zeroblob(32), body = NULL WHERE type = 'topic.posted'")
    connection.close()
    assert ana.dismiss(told.notification_id).is_dismissed
    assert agent.clarify("task-1") is None
