"""Results, notifications, tasks and policies, written once for both clients."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, TypeVar

from msgspec import UNSET, UnsetType

from assent.client.calls import Calls
from assent.client.door import Call, until
from assent.hub.command import Request
from assent.hub.ids import new_command_id
from assent.hub.work_command import (
    AddNotification,
    BlockTask,
    CreateTask,
    DismissNotification,
    Handed,
    ResolveNotification,
    SetPolicy,
    TakeResult,
    UpdateTask,
)
from assent.protocol.agent_result import parse_agent_result
from assent.protocol.ask import Ask
from assent.protocol.assurance import parse_assurances
from assent.protocol.canonical import convert
from assent.protocol.error import AssentError, NotFoundError
from assent.protocol.json_text import Json
from assent.protocol.notification import ErrorCode, Notification, NotificationId, NotificationKind, Source
from assent.protocol.open_question import parse_questions
from assent.protocol.policy import Policy, ProjectPolicy, parse_levels
from assent.protocol.question_prompt import task_answers
from assent.protocol.resolution import answer_all, parse_resolution
from assent.protocol.task import (
    DEFAULT_PRIORITY,
    ChatMessage,
    Task,
    TaskAnswer,
    TaskId,
    TaskStatus,
    chat_message,
    chat_topic,
    check_task_id,
    clarification_for,
    ready,
)
from assent.protocol.topic import Message

__all__ = [
    "add_notification",
    "block_task",
    "chat_of",
    "clarify",
    "clear_notifications",
    "count_notifications",
    "create_task",
    "dismiss",
    "find_notification",
    "find_policy",
    "find_task",
    "hand_in",
    "list_answers",
    "list_notifications",
    "list_ready",
    "list_tasks",
    "resolve",
    "set_policy",
    "update_task",
]

T = TypeVar("T")
_LISTED = 1_000
_ALL = 100_000


def _send(calls: Calls, request: Request, kind: type[T], command_id: str) -> Call[T]:
    told = yield from until(
        calls.door.send(request, calls.project, calls.principal, command_id or new_command_id())
    )
    if not isinstance(told, kind):
        raise AssentError(f"The hub told of something else than a {kind.__name__}.")
    return told


# Results


def hand_in(calls: Calls, result: Mapping[str, Json], *, command_id: str = "") -> Call[Handed]:
    """Hand in an agent's result; what it asks becomes a notification, and blocks its task (Q19-Q22).

    Raises:
        BadRequestError: it is no result.
    """
    command_id = command_id or new_command_id()
    ids = calls.ids(command_id)
    notification_id, ask_id = ids.new_notification_id(NotificationKind.OPEN_QUESTION), ids.new_ask_id()
    read = parse_agent_result(dict(result), next_id=ids.new_question_id, at=calls.door.now())
    request = TakeResult(read, notification_id, ask_id)
    return (yield from _send(calls, request, Handed, command_id))


# Notifications


def add_notification(  # noqa: PLR0913 - the public call: every part of a notification has a name
    calls: Calls,
    source: Source | str,
    source_id: str,
    questions: Sequence[Mapping[str, Json] | str],
    *,
    kind: NotificationKind | str = NotificationKind.OPEN_QUESTION,
    error_code: ErrorCode | str | None = None,
    scope_change_metadata: Mapping[str, Json] | None = None,
    command_id: str = "",
) -> Call[Notification]:
    """Tell people, and ask them where it asks; what an open one says already is not said again (Q16, Q-X5)."""
    command_id = command_id or new_command_id()
    ids = calls.ids(command_id)
    told = convert(kind, NotificationKind)
    entries = [{"text": entry} if isinstance(entry, str) else dict(entry) for entry in questions]
    request = AddNotification(
        ids.new_notification_id(told),
        told,
        convert(source, Source),
        source_id,
        parse_questions(entries, next_id=ids.new_question_id, at=calls.door.now()),
        ids.new_ask_id() if told is NotificationKind.OPEN_QUESTION else None,
        None if error_code is None else convert(error_code, ErrorCode),
        None if scope_change_metadata is None else dict(scope_change_metadata),
    )
    return (yield from _send(calls, request, Notification, command_id))


def find_notification(calls: Calls, notification_id: str) -> Call[Notification]:
    """Return one notification of this project.

    Raises:
        NotFoundError: there is none, or it is of another project.
    """
    found = yield from until(calls.door.notification(calls.project, notification_id))
    if found is None:
        raise NotFoundError("There is no such notification here.")
    return found


def list_notifications(
    calls: Calls, *, all_projects: bool = False, is_open: bool = True, limit: int = _LISTED
) -> Call[list[Notification]]:
    """Return notifications, newest first."""
    project = None if all_projects else calls.project
    return (yield from until(calls.door.notifications(project, limit, is_open=is_open)))


def count_notifications(calls: Calls, *, all_projects: bool = False) -> Call[int]:
    """Return how many are open."""
    return (yield from until(calls.door.count_notifications(None if all_projects else calls.project)))


def resolve(
    calls: Calls,
    notification_id: str,
    answer: str | Mapping[str, Any],
    *,
    is_unattended: bool = False,
    command_id: str = "",
) -> Call[Notification]:
    """Answer a notification: with one text for all of its questions, or with `{"responses": […]}` (Q24, Q-U9).

    With `{}` it is resolved with what the same person has posted last in the task's chat under its id
    (`{"text", "notificationId"}`), and dismissed where they have not.

    Raises:
        ConflictError: it was resolved otherwise; the sentence says by whom.
        BadRequestError: the responses do not fit its questions.
    """
    if isinstance(answer, str):
        known = yield from find_notification(calls, notification_id)
        said = parse_resolution(
            {
                "responses": [
                    {"questionId": response.question_id, "answer": response.answer}
                    for response in answer_all(known.questions, answer)
                ]
            }
        )
    else:
        said = parse_resolution(dict(answer))
    told = NotificationId(notification_id)
    by = (calls.via, calls.assurance, is_unattended or calls.is_unattended)
    request: Request = ResolveNotification(told, said.responses, said.approved, *by, reason=said.reason)
    if said.is_dismissal:
        request = DismissNotification(told, *by, takes_reply=not said.is_dismissed)
    return (yield from _send(calls, request, Notification, command_id))


def dismiss(calls: Calls, notification_id: str, *, command_id: str = "") -> Call[Notification]:
    """Resolve a notification without an answer, whatever was said in a chat; its task goes on."""
    request = DismissNotification(
        NotificationId(notification_id), calls.via, calls.assurance, calls.is_unattended
    )
    return (yield from _send(calls, request, Notification, command_id))


def clear_notifications(calls: Calls) -> Call[int]:
    """Dismiss every open notification, so that no task stays blocked; return how many there were (Q-X13)."""
    cleared = 0
    for notification in (yield from list_notifications(calls, limit=_ALL)):
        yield from dismiss(calls, notification.notification_id)
        cleared += 1
    return cleared


# Tasks


def create_task(  # noqa: PLR0913 - the public call: every part of a task has a name
    calls: Calls,
    title: str,
    *,
    task_id: str | None = None,
    priority: int = DEFAULT_PRIORITY,
    assignee: str | None = None,
    dependencies: Sequence[str] = (),
    parent: str | None = None,
    is_epic: bool = False,
    command_id: str = "",
) -> Call[Task]:
    """Create a task; the same id and content again is the same task."""
    command_id = command_id or new_command_id()
    request = CreateTask(
        TaskId(task_id or calls.ids(command_id).new_task_id()),
        title,
        priority,
        assignee,
        tuple(map(TaskId, dependencies)),
        None if parent is None else TaskId(parent),
        is_epic,
    )
    return (yield from _send(calls, request, Task, command_id))


def update_task(  # noqa: PLR0913 - as above
    calls: Calls,
    task_id: str,
    *,
    title: str | UnsetType = UNSET,
    priority: int | UnsetType = UNSET,
    assignee: str | UnsetType | None = UNSET,
    dependencies: Sequence[str] | UnsetType = UNSET,
    status: TaskStatus | str | UnsetType = UNSET,
    command_id: str = "",
) -> Call[Task]:
    """Change what is given, and leave the rest."""
    request = UpdateTask(
        TaskId(task_id),
        title,
        priority,
        assignee,
        UNSET if isinstance(dependencies, UnsetType) else tuple(map(TaskId, dependencies)),
        UNSET if isinstance(status, UnsetType) else convert(status, TaskStatus),
    )
    return (yield from _send(calls, request, Task, command_id))


def block_task(calls: Calls, task_id: str, reason: str, *, command_id: str = "") -> Call[Task]:
    """Stop work on a task until the reason is gone."""
    return (yield from _send(calls, BlockTask(TaskId(task_id), reason), Task, command_id))


def find_task(calls: Calls, task_id: str) -> Call[Task]:
    """Return one task of this project.

    Raises:
        NotFoundError: there is none.
    """
    found = yield from until(calls.door.task(calls.project, task_id))
    if found is None:
        raise NotFoundError(f"There is no task {task_id} here.")
    return found


def list_tasks(calls: Calls, *, is_live: bool = False, limit: int = _LISTED) -> Call[list[Task]]:
    """Return the tasks of this project, newest first; only those that are not closed, if it is said."""
    return (yield from until(calls.door.tasks(calls.project, limit, is_live=is_live)))


def list_ready(calls: Calls) -> Call[list[Task]]:
    """Return the tasks that can be taken in hand now, in the order in which they should be (Q22, Q-U7)."""
    return list(ready((yield from list_tasks(calls, limit=_ALL))))


def chat_of(calls: Calls, task_id: str, limit: int = _LISTED) -> Call[list[ChatMessage]]:
    """Return what was said in a task's chat, oldest first; it is the topic `execute:<task>`."""
    topic = chat_topic(check_task_id(task_id))
    messages: list[Message] = []
    while len(messages) < limit:  # a page at a time: agents write there, too
        after = messages[-1].sequence if messages else 0
        size = min(limit - len(messages), _LISTED)
        page = yield from until(calls.door.messages(calls.project, topic, after, size))
        messages += page
        if len(page) < size:
            break
    return [chat_message(message) for message in messages]


def list_answers(calls: Calls, task_id: str) -> Call[list[TaskAnswer]]:
    """Return every question of a task, oldest first: its answer, None where there is none, and how it ended."""
    about = yield from until(
        calls.door.notifications_about(calls.project, Source.EXECUTE, check_task_id(task_id))
    )
    answers: list[TaskAnswer] = []
    for each in about:
        if each.kind is not NotificationKind.OPEN_QUESTION:
            continue
        asks: list[Ask] = []
        if each.is_dismissed and each.ask_id is not None:  # how it ended, only its ask knows
            asks = yield from until(calls.door.find(each.ask_id, calls.project))
        answers += task_answers(each, asks[0] if asks else None)
    return answers


def clarify(calls: Calls, task_id: str) -> Call[str | None]:
    """Return what the next run of the agent is told: the answer to the task's question, None if it has none.

    Of several questions it is a line for each, which names it; `answers` has them apart. Where nothing was asked it is
    what a person said last in the task's chat (Q-U9).
    """
    answers = yield from list_answers(calls, task_id)
    chat = [] if answers else (yield from chat_of(calls, task_id, _ALL))
    return clarification_for(chat, answers)


# Policies


def find_policy(calls: Calls) -> Call[Policy]:
    """Return how far agents of this project may go; a project that said nothing requires approval (Q-X18)."""
    found = yield from until(calls.door.policy(calls.project))
    return Policy() if found is None else found.policy


def set_policy(
    calls: Calls,
    levels: Mapping[str, str],
    *,
    assurances: Mapping[str, Sequence[str]] = MappingProxyType({}),
    is_unattended: bool = False,
    command_id: str = "",
) -> Call[ProjectPolicy]:
    """Set the levels of the categories that are named, and which assurances suffice for a kind of ask.

    Raises:
        BadRequestError: there is no such category, level, kind or assurance.
        ForbiddenError: an agent tries, or it loosens something and nobody is at a terminal.
    """
    request = SetPolicy(
        parse_levels(dict(levels)),
        calls.assurance,
        is_unattended or calls.is_unattended,
        parse_assurances(assurances),
    )
    return (yield from _send(calls, request, ProjectPolicy, command_id))
