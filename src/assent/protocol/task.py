"""A task: a piece of work that an open question may block, and which tasks can be taken in hand now.

Rule 1: nobody is null, never an empty text (Q-X10); so is the reason of a task that is not blocked.
Rule 2: `ready` and the check for cycles look at a whole set of tasks and take time in proportion to it, whatever
        its shape: agents write it.
Rule 3: only what a person said becomes a clarification. An agent that writes into a task's chat tells nobody what
        to do.
Rule 4: a line in a task's chat is the answer to a question only if it names it, for the person who wrote it.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from typing import NewType

import msgspec

from assent.protocol.ask import State
from assent.protocol.display import is_blank, is_encodable, quote
from assent.protocol.error import BadRequestError
from assent.protocol.principal import MAX_NAME, Role
from assent.protocol.topic import MAX_TOPIC, Message

__all__ = [
    "DEFAULT_PRIORITY",
    "MAX_BLOCK_REASON",
    "MAX_DEPENDENCIES",
    "MAX_PRIORITY",
    "MAX_TASK_ID",
    "MAX_TASK_TITLE",
    "OPEN_QUESTION_REASON",
    "ChatMessage",
    "Task",
    "TaskAnswer",
    "TaskBody",
    "TaskId",
    "TaskStatus",
    "chat_message",
    "chat_topic",
    "check_assignee",
    "check_block_reason",
    "check_cycles",
    "check_dependencies",
    "check_parent",
    "check_priority",
    "check_task_id",
    "check_task_title",
    "clarification_for",
    "find_cycle",
    "is_task_id",
    "ready",
    "render_task",
    "reply_in",
]

TaskId = NewType("TaskId", str)

OPEN_QUESTION_REASON = "Open Question"
"""Why a task is blocked whose agent has asked something (Q21)."""
DEFAULT_PRIORITY = 2
"""The middle of the usual five steps, 0 to 4."""
MAX_PRIORITY = 1_000
MAX_TASK_TITLE = 500
MAX_BLOCK_REASON = 2_000
MAX_DEPENDENCIES = 200
_CHAT = "execute:"
MAX_TASK_ID = MAX_TOPIC - len(_CHAT)
"""Its chat must have a name, too."""
_SHOWN_OF_CYCLE = 5
"""A cycle may be as long as the set; a sentence is not."""

# It stands in paths, topics and file names, so it is plain, and neither "." nor "..".
_TASK_ID = re.compile(rf"[A-Za-z0-9][A-Za-z0-9._:-]{{0,{MAX_TASK_ID - 1}}}").fullmatch


class TaskStatus(StrEnum):
    """Where a task is in its life."""

    OPEN = "open"
    IN_PROGRESS = "in_progress"
    BLOCKED = "blocked"
    CLOSED = "closed"


class TaskBody(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What `task.created` and `task.updated` carry: the task as it is then (Q-U5)."""

    task_id: TaskId
    title: str
    status: TaskStatus
    assignee: str | None = None
    block_reason: str | None = None
    priority: int = DEFAULT_PRIORITY
    dependencies: tuple[TaskId, ...] = ()
    parent: TaskId | None = None
    is_epic: bool = False
    attempts: int = 0


class Task(msgspec.Struct, frozen=True):
    """One task as it is now."""

    task_id: TaskId
    project: str
    title: str
    status: TaskStatus
    created_at: datetime
    created_by: str
    updated_at: datetime
    assignee: str | None = None
    """Who works on it."""
    block_reason: str | None = None
    """Why it is blocked; null when it is not."""
    blocked_by: str | None = None
    """Who blocked it; null when it is not."""
    priority: int = DEFAULT_PRIORITY
    """0 comes first."""
    dependencies: tuple[TaskId, ...] = ()
    """What must be closed before it is ready."""
    parent: TaskId | None = None
    """The epic that it is a part of."""
    is_epic: bool = False
    """It only holds others together, and is never taken in hand itself."""
    attempts: int = 0
    """How often an agent failed at it, for retry limits; stopping to ask is no failure (Q-X17)."""
    digest: str = ""
    """Over what it was created with: tells a repeated creation from another task under the same id."""
    failure_id: str = ""
    """The command of the last failed attempt: a retry of it does not count again."""
    sequence: int = 0
    """The number of the last event that changed it."""


def render_task(task: Task) -> dict[str, object]:
    """Return a task as its public JSON has it."""
    return {
        "task_id": task.task_id,
        "project": task.project,
        "title": task.title,
        "status": task.status,
        "assignee": task.assignee,
        "block_reason": task.block_reason,
        "blocked_by": task.blocked_by,
        "priority": task.priority,
        "dependencies": task.dependencies,
        "parent": task.parent,
        "is_epic": task.is_epic,
        "attempts": task.attempts,
        "created_at": task.created_at,
        "created_by": task.created_by,
        "updated_at": task.updated_at,
        "sequence": task.sequence,
    }


# What can be a part of a task


def is_task_id(text: str) -> bool:
    """Say whether `text` has the shape of a task's id."""
    return _TASK_ID(text) is not None


def check_task_id(task_id: str) -> TaskId:
    """Return `task_id` as one.

    Raises:
        BadRequestError: it is empty, too long, or holds more than plain letters, digits and some signs.
    """
    if not is_task_id(task_id):
        raise BadRequestError(
            f'"{quote(task_id, 60)}" is no task id: it begins with a letter or digit, and has at most '
            f"{MAX_TASK_ID} of a-z, A-Z, 0-9 and . _ : -"
        )
    return TaskId(task_id)


def check_task_title(title: str) -> str:
    """Return `title` without white space around it.

    Raises:
        BadRequestError: nothing of it can be seen, it has several lines, or it is too long.
    """
    if is_blank(title):
        raise BadRequestError("A task needs a title.")
    title = title.strip()
    if len(title) > MAX_TASK_TITLE or not is_encodable(title) or len(title.splitlines()) > 1:
        raise BadRequestError(f"The title of a task is one line of at most {MAX_TASK_TITLE} characters.")
    return title


def check_assignee(assignee: str | None) -> str | None:
    """Return who works on a task; an empty name is nobody, and nobody is None (Q-X10).

    Raises:
        BadRequestError: it is too long, or has several lines.
    """
    if assignee is None or is_blank(assignee):
        return None
    assignee = assignee.strip()
    if len(assignee) > MAX_NAME or not is_encodable(assignee) or len(assignee.splitlines()) > 1:
        raise BadRequestError(f"An assignee is one line of at most {MAX_NAME} characters.")
    return assignee


def check_priority(priority: int) -> int:
    """Return `priority`.

    Raises:
        BadRequestError: there is no such priority.
    """
    if not 0 <= priority <= MAX_PRIORITY:
        raise BadRequestError(f"A priority is a whole number from 0, which comes first, to {MAX_PRIORITY:,}.")
    return priority


def check_block_reason(reason: str) -> str:
    """Return `reason` as it is: it is compared to the letter when the task is to be unblocked.

    Raises:
        BadRequestError: nothing of it can be seen, or it is too long.
    """
    if is_blank(reason) or len(reason) > MAX_BLOCK_REASON or not is_encodable(reason):
        raise BadRequestError(f"A reason to block has 1 to {MAX_BLOCK_REASON:,} characters.")
    return reason


def check_dependencies(task_id: TaskId, dependencies: Sequence[str]) -> tuple[TaskId, ...]:
    """Return what the task depends on, each once. They need not exist yet.

    Raises:
        BadRequestError: one is no task id, or the task itself, or they are too many.
    """
    kept = tuple(check_task_id(name) for name in dict.fromkeys(dependencies[: MAX_DEPENDENCIES + 1]))
    if len(dependencies) > MAX_DEPENDENCIES:
        raise BadRequestError(f"A task depends on at most {MAX_DEPENDENCIES} others.")
    if task_id in kept:
        raise BadRequestError(f"{task_id} cannot wait for itself.")
    return kept


def check_parent(task_id: TaskId, parent: str | None) -> TaskId | None:
    """Return the epic that the task is a part of.

    Raises:
        BadRequestError: it is no task id, or the task itself.
    """
    if parent == task_id:
        raise BadRequestError(f"{task_id} cannot be a part of itself.")
    return None if parent is None else check_task_id(parent)


# What a set of tasks says


def ready(tasks: Iterable[Task]) -> tuple[Task, ...]:
    """Return the tasks that can be taken in hand now, in the order in which they should be (Q-U7).

    These are open, no epics, not inside a blocked epic however far up, and all that they depend on is closed; a
    task that is not among `tasks` is not closed. By priority, then by age, then by id.
    """
    known = {task.task_id: task for task in tasks}
    shut: dict[TaskId, bool] = {}
    free = [
        task
        for task in known.values()
        if task.status is TaskStatus.OPEN
        and not task.is_epic
        and all(_is_closed(known.get(name)) for name in task.dependencies)
        and not _is_shut(task.parent, known, shut)
    ]
    return tuple(sorted(free, key=lambda task: (task.priority, task.created_at, task.task_id)))


def _is_closed(task: Task | None) -> bool:
    return task is not None and task.status is TaskStatus.CLOSED


def _is_shut(place: TaskId | None, known: Mapping[TaskId, Task], shut: dict[TaskId, bool]) -> bool:
    """Say whether the task at `place`, or one above it, is a blocked epic; `shut` remembers, so each is passed once.

    One that is met again on its own way up, as agents may set up parents in a ring, has been looked at.
    """
    passed: list[TaskId] = []
    while place is not None and place not in shut and place in known:
        task = known[place]
        passed.append(place)
        shut[place] = task.is_epic and task.status is TaskStatus.BLOCKED
        if not shut[place]:
            place = task.parent
    verdict = place is not None and shut.get(place, False)
    shut.update(dict.fromkeys(passed, verdict))
    return verdict


def check_cycles(tasks: Iterable[Task]) -> None:
    """Refuse tasks that wait for each other, or are parts of each other: they could never be done.

    Raises:
        BadRequestError: there is such a cycle; the sentence names it.
    """
    known = list(tasks)
    waits = find_cycle({task.task_id: task.dependencies for task in known})
    if waits:
        raise BadRequestError(f"These tasks wait for each other: {_render_cycle(waits)}.")
    parts = find_cycle({task.task_id: () if task.parent is None else (task.parent,) for task in known})
    if parts:
        raise BadRequestError(f"These tasks are parts of each other: {_render_cycle(parts)}.")


def _render_cycle(cycle: tuple[TaskId, ...]) -> str:
    names = [quote(name, 60) for name in cycle[:_SHOWN_OF_CYCLE]]
    more = len(cycle) - len(names)
    return ", ".join(names) + (f" and {more:,} more" if more else "")


def find_cycle(edges: Mapping[TaskId, Sequence[TaskId]]) -> tuple[TaskId, ...]:
    """Return some tasks of which each names the next and the last the first; nothing where there is no such ring.

    A name that has no entry of its own leads nowhere: a task that is not known yet closes no ring.
    """
    named_by: dict[TaskId, list[TaskId]] = {task_id: [] for task_id in edges}
    left = dict.fromkeys(edges, 0)
    for task_id, names in edges.items():
        for name in names:
            if name in named_by:
                named_by[name].append(task_id)
                left[task_id] += 1
    # Take away what names nobody that is left, until only rings and what leads to them remain.
    queue = deque(task_id for task_id, count in left.items() if not count)
    while queue:
        gone = queue.popleft()
        del left[gone]
        for task_id in named_by[gone]:
            left[task_id] -= 1
            if not left[task_id]:
                queue.append(task_id)
    if not left:
        return ()
    place, walked = next(iter(left)), dict[TaskId, None]()
    while place not in walked:
        walked[place] = None
        place = next(name for name in edges[place] if name in left)
    path = list(walked)
    return tuple(path[path.index(place) :])


# What an agent is told before it goes on


class ChatMessage(msgspec.Struct, frozen=True, omit_defaults=True):
    """One message in a task's chat."""

    at: datetime
    by: str
    """Who wrote it, as in `human:ana`."""
    text: str
    notification_id: str = msgspec.field(default="", name="notificationId")
    """The notification to which it is the reply."""
    is_copy: bool = False
    """Assent's own copy of an answer that was given elsewhere."""


class TaskAnswer(msgspec.Struct, frozen=True):
    """One question of a task, and what became of it."""

    notification_id: str = msgspec.field(name="notificationId")
    question_id: str = msgspec.field(name="id")
    text: str
    answer: str | None
    """None where nobody has answered."""
    state: State
    """How it ended: `answered`, `declined`, `withdrawn` and so on; or `open`."""
    reason: str = ""
    """Why it ended without an answer; of a dismissed one `dismissed`."""


def chat_topic(task_id: TaskId) -> str:
    """Return the topic that is the task's chat (Q-U9)."""
    return f"{_CHAT}{task_id}"


def chat_message(message: Message) -> ChatMessage:
    """Return a message of the topic as one of the chat: what it says is a text, or the text of an object."""
    value = message.value
    text = value.get("text") if isinstance(value, dict) else value
    about = value.get("notificationId") if isinstance(value, dict) else None
    return ChatMessage(
        message.posted_at,
        message.by,
        text if isinstance(text, str) else "",
        about if isinstance(about, str) else "",
        message.is_copy,
    )


def reply_in(chat: Iterable[ChatMessage], notification_id: str, by: str) -> str:
    """Return what `by`, a person, has posted last as the reply to a notification; empty for nothing.

    Nothing else counts: no line without its id, nobody else's, and no copy of an answer, which nobody posted.
    """
    own = (message for message in chat if (message.by, message.notification_id) == (by, notification_id))
    return next((message.text for message in _said_last(own) if not message.is_copy), "")


def _said_last(chat: Iterable[ChatMessage]) -> list[ChatMessage]:
    """Return what people said in a chat, the last first; it is given in the order of the topic."""
    human = f"{Role.HUMAN}:"
    said = [message for message in chat if message.by.startswith(human) and not is_blank(message.text)]
    return said[::-1]


def clarification_for(chat: Iterable[ChatMessage], answers: Sequence[TaskAnswer]) -> str | None:
    """Return what the next run of a task's agent is told: the answer to its question, None if it has none.

    Of several questions, each has a line that names it, so that no answer passes for that to another. Where nothing was
    asked it is a person's last word in the chat (Q-U9).
    """
    if not answers:
        return next((message.text for message in _said_last(chat)), None)
    if len(answers) == 1:
        return answers[0].answer
    if all(each.answer is None for each in answers):
        return None
    return "\n".join(map(_render_answer, answers))


def _render_answer(answer: TaskAnswer) -> str:
    # As JSON strings: neither a question nor an answer can look like a line of its own.
    said = f"no answer ({answer.state})" if answer.answer is None else _spell(answer.answer)
    return f"{answer.question_id} {_spell(answer.text)} -> {said}"


def _spell(text: str) -> str:
    return msgspec.json.encode(text).decode().translate(_LINE_ENDS)


_LINE_ENDS = {ord(sign): f"\\u{ord(sign):04x}" for sign in "\x85\u2028\u2029"}
"""Ends of lines that JSON leaves as they are."""
