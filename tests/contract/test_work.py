"""What every store promises of tasks, notifications and policies."""

from datetime import timedelta

import pytest
from msgspec.structs import replace

from assent.protocol.ask import AskId
from assent.protocol.notification import (
    ErrorCode,
    Notification,
    NotificationId,
    NotificationKind,
    NotificationStatus,
    Source,
)
from assent.protocol.policy import Level, Policy, ProjectPolicy
from assent.protocol.task import Task, TaskId, TaskStatus
from assent.storage.port import Head, Store, Transaction
from tests.contract.conftest import MakeStore
from tests.contract.writing import AT, writing
from tests.notification_samples import ANSWERS, new_notification, new_question
from tests.proves import proves
from tests.samples import NOON
from tests.task_samples import TASK_ID, new_task

__all__: list[str] = []

MANY = 75
"""More than two of the largest groups in which rows are written, and some over."""
HOUR = timedelta(hours=1)


@pytest.fixture
def store(make_store: MakeStore) -> Store:
    """Give one store."""
    return make_store()


def append_task(transaction: Transaction, head: Head, task: Task) -> Task:
    """Put a task as the hub would; return it with its number."""
    transaction.append(head, "task.updated", task.task_id, b"{}")
    task = replace(task, project=head.project, sequence=head.sequence)
    transaction.put_task(head, task)
    return task


def append_notification(transaction: Transaction, head: Head, notification: Notification) -> Notification:
    """Put a notification as the hub would; return it with its number."""
    transaction.append(head, "notification.added", notification.notification_id, b"{}")
    notification = replace(notification, project_id=head.project, sequence=head.sequence)
    transaction.put_notification(head, notification)
    return notification


def append_policy(transaction: Transaction, head: Head, policy: ProjectPolicy) -> ProjectPolicy:
    """Put a policy as the hub would; return it with its number."""
    transaction.append(head, "policy.set", "policy", b"{}")
    policy = replace(policy, project=head.project, sequence=head.sequence)
    transaction.put_policy(head, policy)
    return policy


def store_tasks(store: Store, *tasks: Task) -> list[Task]:
    """Put tasks, a transaction each."""
    kept = []
    for task in tasks:
        with writing(store) as transaction:
            kept.append(append_task(transaction, transaction.head(task.project, AT), task))
    return kept


def store_notifications(store: Store, *notifications: Notification) -> list[Notification]:
    """Put notifications, a transaction each."""
    kept = []
    for notification in notifications:
        with writing(store) as transaction:
            head = transaction.head(notification.project_id, AT)
            kept.append(append_notification(transaction, head, notification))
    return kept


def store_policy(store: Store, policy: ProjectPolicy) -> ProjectPolicy:
    """Put a policy, in a transaction of its own."""
    with writing(store) as transaction:
        return append_policy(transaction, transaction.head(policy.project, AT), policy)


def numbered(number: int, project: str = "p", **changes: object) -> Notification:
    """Return an open notification with an id, an ask and a question of its own."""
    notification = new_notification(
        notification_id=NotificationId(f"oq-{number:08x}"),
        project_id=project,
        questions=(new_question(number),),
        ask_id=AskId(f"ask_{number}"),
        created_at=NOON + number * HOUR,
    )
    return replace(notification, **changes)


def resolve(notification: Notification) -> Notification:
    """Return it as it is once a person has answered."""
    return replace(
        notification, status=NotificationStatus.RESOLVED, resolved_at=NOON, resolved_by="human:ana"
    )


def new_policy(**changes: object) -> ProjectPolicy:
    """Return a policy that somebody has set."""
    policy = ProjectPolicy("p", Policy(scope_changes=Level.AUTOMATED), NOON, "human:ana")
    return replace(policy, **changes)


# Tasks


def test_task_with_every_part_comes_back_equal(make_store: MakeStore) -> None:
    """To the last field and microsecond, in another process."""
    moment = NOON + timedelta(microseconds=1)
    task = Task(
        TASK_ID,
        "p",
        'Öl – 油 "\\',
        TaskStatus.BLOCKED,
        moment,
        "agent:coder",
        moment + HOUR,
        "agent:coder",
        "Open Question",
        "agent:coder",
        0,
        (TaskId("a"), TaskId("b")),
        TaskId("epic"),
        is_epic=True,
        attempts=3,
        digest="sha256:1",
        failure_id="cmd_1",
    )
    [kept] = store_tasks(make_store(), task)
    other = make_store()
    with other.reading() as reader:
        assert reader.task("p", TASK_ID) == kept
    with writing(other) as transaction:
        assert transaction.task("p", TASK_ID) == kept
        assert transaction.tasks(transaction.head("p", AT)) == [kept]


def test_transaction_sees_the_task_that_was_put_in_it(store: Store) -> None:
    """Commands of one group decide on what their neighbours did."""
    with writing(store) as transaction:
        head = transaction.head("p", AT)
        assert transaction.task("p", TASK_ID) is None
        first = append_task(transaction, head, new_task())
        assert transaction.task("p", TASK_ID) == first
        second = append_task(transaction, head, replace(first, status=TaskStatus.CLOSED))
        assert transaction.task("p", TASK_ID) == second
    with store.reading() as reader:
        assert reader.task("p", TASK_ID) == second
        assert reader.tasks("p", 10, is_live=False) == [second]


def test_task_belongs_to_its_project(store: Store) -> None:
    """The same id in two projects is two tasks, for a reader and in a transaction."""
    ours, theirs = store_tasks(store, new_task(title="ours"), new_task(title="theirs", project="q"))
    with store.reading() as reader:
        assert (reader.task("p", TASK_ID), reader.task("q", TASK_ID)) == (ours, theirs)
        assert (reader.task("nowhere", TASK_ID), reader.task("p", "nobody")) == (None, None)
        assert reader.tasks("p", 10, is_live=True) == [ours]
        assert reader.tasks("nowhere", 10, is_live=False) == []
    with writing(store) as transaction:
        p, q = transaction.head("p", AT), transaction.head("q", AT)
        assert (transaction.tasks(p), transaction.tasks(q)) == ([ours], [theirs])
        changed = append_task(transaction, q, replace(theirs, title="changed"))
        assert (transaction.tasks(p), transaction.tasks(q)) == ([ours], [changed])
        assert transaction.tasks(transaction.head("new", AT)) == []


def test_tasks_of_a_transaction_are_all_in_the_order_of_their_creation(make_store: MakeStore) -> None:
    """A change moves none; what is put before the first look and after it stands at the end, once."""
    store = make_store()
    c, a, b = store_tasks(store, new_task("c"), new_task("a"), new_task("b", status=TaskStatus.CLOSED))
    other = make_store()
    with writing(other) as transaction:
        head = transaction.head("p", AT)
        assert transaction.task("p", b.task_id) == b  # reading one alone must not put it first
        z = append_task(transaction, head, new_task("z"))
        a = append_task(transaction, head, replace(a, title="changed before"))
        assert transaction.tasks(head) == [c, a, b, z]
        assert transaction.task("p", a.task_id) == a
        c = append_task(transaction, head, replace(c, title="changed after"))
        y = append_task(transaction, head, new_task("y"))
        assert transaction.tasks(head) == [c, a, b, z, y]
        assert transaction.task("p", c.task_id) == c
    with writing(store) as transaction:
        assert transaction.tasks(transaction.head("p", AT)) == [c, a, b, z, y]


def test_list_of_tasks_that_was_given_is_the_callers_own(store: Store) -> None:
    """What a caller does to its list is not done to the transaction's."""
    [kept] = store_tasks(store, new_task())
    with writing(store) as transaction:
        head = transaction.head("p", AT)
        transaction.tasks(head).clear()
        assert transaction.tasks(head) == [kept]


def test_tasks_are_listed_newest_first_and_by_what_is_live(store: Store) -> None:
    """A closed one leaves the list of live ones, and comes back to its place when it is opened again."""
    tasks = store_tasks(store, *(new_task(f"t{number}") for number in range(4)))
    tasks[1:2] = store_tasks(store, replace(tasks[1], status=TaskStatus.CLOSED))
    tasks[0:1] = store_tasks(store, replace(tasks[0], status=TaskStatus.BLOCKED))
    with store.reading() as reader:
        newest = tasks[::-1]
        assert reader.tasks("p", 10, is_live=False) == newest
        assert reader.tasks("p", 10, is_live=True) == [tasks[3], tasks[2], tasks[0]]
        assert reader.tasks("p", 2, is_live=False) == newest[:2]
        assert reader.tasks("p", 1, is_live=True) == newest[:1]
    tasks[1:2] = store_tasks(store, replace(tasks[1], status=TaskStatus.OPEN))
    with store.reading() as reader:
        assert reader.tasks("p", 10, is_live=True) == tasks[::-1]


def test_tasks_of_all_projects_are_listed_by_their_creation(store: Store) -> None:
    """One list for a person with several projects."""
    first, second, third = store_tasks(
        store,
        new_task("a", created_at=NOON),
        new_task("b", created_at=NOON + HOUR, project="q"),
        new_task("c", created_at=NOON + 2 * HOUR),
    )
    with store.reading() as reader:
        assert reader.tasks(None, 10, is_live=True) == [third, second, first]
        assert reader.tasks(None, 2, is_live=False) == [third, second]


# Notifications


def test_notification_with_every_part_comes_back_equal(make_store: MakeStore) -> None:
    """To the last field and microsecond, in another process."""
    moment = NOON + timedelta(microseconds=1)
    notification = Notification(
        NotificationId("hil-00c0ffee"),
        "p",
        Source.PLAN,
        "draft:öl – 油",
        (new_question(1, 'Which "one"?\n\\ <!-- -->', created_at=moment),),
        NotificationStatus.RESOLVED,
        moment,
        moment + HOUR,
        NotificationKind.HIL_APPROVAL,
        ErrorCode.AUTH,
        {"summary": "s", "sections": [{"text": "t", "old": None}], "n": 1.5},
        ANSWERS,
        approved=False,
        is_dismissed=True,
        resolved_by="human:ana",
        ask_id=AskId("ask_7"),
        command_id="cmd_1",
    )
    [kept] = store_notifications(make_store(), notification)
    other = make_store()
    with other.reading() as reader:
        assert reader.notification(kept.notification_id, "p") == kept
    with writing(other) as transaction:
        head = transaction.head("p", AT)
        assert transaction.notification("p", kept.notification_id) == kept
        assert transaction.notifications_about(head, kept.source, kept.source_id) == [kept]
        assert transaction.notification_of(head, AskId("ask_7")) == kept


@proves("Q16")
def test_notification_that_was_put_is_in_every_list_of_its_project(store: Store) -> None:
    """It is written, counted, and found by its id and by what it is about; no other project sees it."""
    [kept] = store_notifications(store, numbered(1))
    store_tasks(store, new_task(project="q"))
    with store.reading() as reader:
        for project in ("p", None):
            assert reader.notification(kept.notification_id, project) == kept
            assert reader.notifications(project, 10, is_open=True) == [kept]
            assert reader.notifications(project, 10, is_open=False) == [kept]
            assert reader.count_notifications(project) == 1
        assert reader.notifications_about("p", Source.EXECUTE, "task-1") == [kept]
        for project in ("q", "nowhere"):
            assert reader.notification(kept.notification_id, project) is None
            assert reader.notifications(project, 10, is_open=True) == []
            assert reader.notifications(project, 10, is_open=False) == []
            assert reader.count_notifications(project) == 0
            assert reader.notifications_about(project, Source.EXECUTE, "task-1") == []
    with writing(store) as transaction:
        head = transaction.head("q", AT)
        assert transaction.notification("q", kept.notification_id) is None
        assert transaction.open_notification_like(head, kept.repeat_key) is None
        assert transaction.notifications_about(head, Source.EXECUTE, "task-1") == []
        assert transaction.notification_of(head, AskId("ask_1")) is None


def test_id_that_two_projects_have_names_neither_without_its_project(store: Store) -> None:
    """Whoever resolves by an id alone must not hit the wrong one."""
    ours, theirs = store_notifications(store, numbered(1), numbered(1, "q"))
    with store.reading() as reader:
        assert reader.notification(ours.notification_id, "p") == ours
        assert reader.notification(ours.notification_id, "q") == theirs
        assert reader.notification(ours.notification_id) is None


def test_transaction_sees_the_notification_that_was_put_in_it(store: Store) -> None:
    """By its id, by what it says, by what it is about and by its ask; and no longer as open once it is resolved."""
    with writing(store) as transaction:
        head = transaction.head("p", AT)
        assert transaction.notification("p", NotificationId("oq-00000001")) is None
        first = append_notification(transaction, head, numbered(1))
        assert transaction.notification("p", first.notification_id) == first
        assert transaction.open_notification_like(head, first.repeat_key) == first
        assert transaction.notifications_about(head, Source.EXECUTE, "task-1") == [first]
        assert transaction.notification_of(head, AskId("ask_1")) == first
        second = append_notification(transaction, head, resolve(first))
        assert transaction.notification("p", first.notification_id) == second
        assert transaction.open_notification_like(head, first.repeat_key) is None
        assert transaction.notifications_about(head, Source.EXECUTE, "task-1") == [second]
        assert transaction.notification_of(head, AskId("ask_1")) == second
        other = transaction.head("q", AT)
        assert transaction.notification("q", first.notification_id) is None
        assert transaction.notifications_about(other, Source.EXECUTE, "task-1") == []
        assert transaction.notification_of(other, AskId("ask_1")) is None
    with store.reading() as reader:
        assert reader.notifications("p", 10, is_open=False) == [second]
        assert reader.notifications("p", 10, is_open=True) == []


def test_transaction_sees_its_own_word_in_place_of_what_the_file_still_holds(make_store: MakeStore) -> None:
    """Also where it had read the old one before."""
    store = make_store()
    [kept] = store_notifications(store, numbered(1))
    with writing(make_store()) as transaction:
        head = transaction.head("p", AT)
        assert transaction.open_notification_like(head, kept.repeat_key) == kept
        assert transaction.notification("p", kept.notification_id) == kept
        changed = append_notification(transaction, head, resolve(kept))
        assert transaction.open_notification_like(head, kept.repeat_key) is None
        assert transaction.notifications_about(head, Source.EXECUTE, "task-1") == [changed]
        assert transaction.notification_of(head, AskId("ask_1")) == changed
    with writing(store) as transaction:
        head = transaction.head("p", AT)
        assert transaction.open_notification_like(head, kept.repeat_key) is None
        assert transaction.notification_of(head, AskId("ask_1")) == changed


def test_open_notification_like_another_is_the_oldest_open_one(store: Store) -> None:
    """A resolved one does not stand in the way of the same question (Q-X5)."""
    said = (new_question(1),)
    done, first, _ = store_notifications(
        store, resolve(numbered(1)), numbered(2, questions=said), numbered(3, questions=said)
    )
    assert done.repeat_key == first.repeat_key
    with writing(store) as transaction:
        head = transaction.head("p", AT)
        assert transaction.open_notification_like(head, done.repeat_key) == first
        assert transaction.open_notification_like(head, "sha256:0") is None


def test_notifications_about_a_source_are_all_of_it_oldest_first(make_store: MakeStore) -> None:
    """Open and resolved, with what this transaction has added; another source's with the same id are not."""
    store = make_store()
    later, _, first, _ = store_notifications(
        store,
        resolve(numbered(9)),
        numbered(2, source=Source.EVAL),
        numbered(3),
        numbered(4, source_id="task-10"),
    )
    with writing(make_store()) as transaction:
        head = transaction.head("p", AT)
        added = append_notification(transaction, head, numbered(1))
        append_notification(transaction, head, numbered(5, source_id="task-2"))
        first = append_notification(transaction, head, resolve(first))
        expected = [later, first, added]
        assert transaction.notifications_about(head, Source.EXECUTE, "task-1") == expected
    with store.reading() as reader:
        assert reader.notifications_about("p", Source.EXECUTE, "task-1") == expected


@pytest.mark.parametrize("source_id", ["task-1", "TASK-1", "task-1 ", "task-1\x00", "%", "", "задача"])
def test_source_of_a_notification_is_opaque(store: Store, source_id: str) -> None:
    """Case, blanks and NULs count; nothing is folded."""
    [kept] = store_notifications(store, numbered(1))
    expected = [kept] if source_id == "task-1" else []
    with store.reading() as reader:
        assert reader.notifications_about("p", Source.EXECUTE, source_id) == expected


def test_notification_without_an_ask_is_the_view_of_none(store: Store) -> None:
    """`api_blocked` asks nobody anything."""
    blocked = numbered(1, kind=NotificationKind.API_BLOCKED, error_code=ErrorCode.AUTH, ask_id=None)
    [kept] = store_notifications(store, blocked)
    with writing(store) as transaction:
        head = transaction.head("p", AT)
        assert transaction.notification("p", kept.notification_id) == kept
        assert transaction.notification_of(head, AskId("ask_1")) is None


def test_notifications_are_listed_newest_first_and_by_what_is_open(store: Store) -> None:
    """A resolved one leaves the list of open ones and the count."""
    kept = store_notifications(store, *map(numbered, (3, 1, 4, 2)))
    kept[2:3] = store_notifications(store, resolve(kept[2]))
    newest = kept[::-1]
    with store.reading() as reader:
        assert reader.notifications("p", 10, is_open=False) == newest
        assert reader.notifications("p", 10, is_open=True) == [kept[3], kept[1], kept[0]]
        assert reader.notifications("p", 2, is_open=False) == newest[:2]
        assert reader.notifications("p", 1, is_open=True) == newest[:1]
        assert reader.count_notifications("p") == 3


def test_notifications_of_all_projects_are_listed_by_their_moment(store: Store) -> None:
    """One list and one count for a person with several projects."""
    first, second, third = store_notifications(store, numbered(1), numbered(2, "q"), numbered(3))
    with store.reading() as reader:
        assert reader.notifications(None, 10, is_open=True) == [third, second, first]
        assert reader.notifications(None, 2, is_open=False) == [third, second]
        assert reader.count_notifications(None) == 3


# Policies


def test_policy_comes_back_equal_and_the_last_counts(make_store: MakeStore) -> None:
    """To the last field and microsecond, in another process; a project has one at a time."""
    store = make_store()
    store_policy(store, new_policy())
    moment = NOON + timedelta(microseconds=1)
    kept = store_policy(
        store,
        new_policy(
            policy=Policy(Level.AUTOMATED, Level.NOTIFY_AND_PROCEED, Level.REQUIRES_APPROVAL),
            set_at=moment,
            set_by="human:öl – 油",
            command_ids=("cmd_1", "cmd_2"),
        ),
    )
    other = make_store()
    with other.reading() as reader:
        assert reader.policy("p") == kept
    with writing(other) as transaction:
        assert transaction.policy(transaction.head("p", AT)) == kept


def test_policy_belongs_to_its_project(store: Store) -> None:
    """What was set for one loosens no other; none is None, and no default."""
    ours = store_policy(store, new_policy())
    store_tasks(store, new_task(project="q"))
    with store.reading() as reader:
        assert (reader.policy("p"), reader.policy("q"), reader.policy("nowhere")) == (ours, None, None)
    with writing(store) as transaction:
        assert transaction.policy(transaction.head("q", AT)) is None


def test_transaction_sees_the_policy_that_was_put_in_it(store: Store) -> None:
    """Commands of one group decide by what their neighbours set."""
    with writing(store) as transaction:
        p, q = transaction.head("p", AT), transaction.head("q", AT)
        assert transaction.policy(p) is None
        put = append_policy(transaction, p, new_policy())
        assert transaction.policy(p) == put
        again = append_policy(transaction, p, replace(put, policy=Policy()))
        assert (transaction.policy(p), transaction.policy(q)) == (again, None)
    with store.reading() as reader:
        assert (reader.policy("p"), reader.policy("q")) == (again, None)


# All of them


def test_many_put_in_one_transaction_are_all_kept_in_order(store: Store) -> None:
    """However the rows are gathered, the order is that in which they were put first."""
    with writing(store) as transaction:
        p, q = transaction.head("p", AT), transaction.head("q", AT)
        tasks = [
            append_task(transaction, (p, q)[number % 2], new_task(f"t{-number}")) for number in range(MANY)
        ]
        notifications = [append_notification(transaction, p, numbered(MANY - each)) for each in range(MANY)]
        tasks[0] = append_task(transaction, p, replace(tasks[0], title="changed"))
        notifications[0] = append_notification(transaction, p, resolve(notifications[0]))
    with store.reading() as reader:
        assert reader.tasks("p", MANY, is_live=False) == tasks[::2][::-1]
        assert reader.tasks("q", MANY, is_live=False) == tasks[1::2][::-1]
        assert reader.notifications("p", MANY, is_open=False) == notifications[::-1]
        assert reader.notifications_about("p", Source.EXECUTE, "task-1") == notifications
        assert reader.count_notifications("p") == MANY - 1
    with writing(store) as transaction:
        assert transaction.tasks(transaction.head("p", AT)) == tasks[::2]


def test_transaction_that_fails_leaves_nothing_of_its_work(store: Store) -> None:
    """With its events, or not at all."""
    [before] = store_tasks(store, new_task("before"))

    def fail() -> None:
        with writing(store) as transaction:
            head = transaction.head("p", AT)
            append_task(transaction, head, new_task())
            append_task(transaction, head, replace(before, title="changed"))
            append_notification(transaction, head, numbered(1))
            append_policy(transaction, head, new_policy())
            raise LookupError

    with pytest.raises(LookupError):
        fail()
    with store.reading() as reader:
        assert reader.tasks("p", 10, is_live=False) == [before]
        assert reader.notifications("p", 10, is_open=False) == []
        assert reader.policy("p") is None
        assert reader.head_sequence("p") == 1


def test_reader_sees_work_only_once_it_is_committed(store: Store) -> None:
    """A reader beside a transaction sees what was before."""
    store_tasks(store, new_task("before"))
    with writing(store) as transaction:
        head = transaction.head("p", AT)
        append_task(transaction, head, new_task())
        append_notification(transaction, head, numbered(1))
        append_policy(transaction, head, new_policy())
        with store.reading() as reader:
            assert [task.task_id for task in reader.tasks("p", 10, is_live=True)] == ["before"]
            assert (reader.count_notifications("p"), reader.policy("p")) == (0, None)


def test_store_with_work_in_it_is_found_whole(store: Store) -> None:
    """Twin of the audit's findings: an honest store raises no alarm."""
    task, *_ = store_tasks(store, new_task(), new_task("b", project="q"))
    store_tasks(store, replace(task, status=TaskStatus.CLOSED))
    first, *_ = store_notifications(store, numbered(1), numbered(2, "q", ask_id=None))
    store_notifications(store, resolve(first))
    store_policy(store, new_policy())
    assert store.check() == []
