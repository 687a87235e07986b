"""Results, notifications, tasks and policies, as HTTP bodies. See `wire`."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from assent.protocol.agent_result import Meaning
from assent.protocol.json_text import Json
from assent.protocol.notification import ErrorCode, Notification, NotificationKind, Source
from assent.protocol.policy import Policy
from assent.protocol.resolution import Response
from assent.protocol.task import DEFAULT_PRIORITY, ChatMessage, Task, TaskStatus
from assent.protocol.wire import Body, Reply

__all__ = [
    "ChatBody",
    "ChatReply",
    "Cleared",
    "HandedReply",
    "NotificationBody",
    "Notifications",
    "PatchBody",
    "PolicyBody",
    "PolicyReply",
    "ResultBody",
    "TaskBody",
    "TaskPatch",
    "TaskReply",
    "Tasks",
]


class ResultBody(msgspec.Struct, frozen=True):
    """What an agent hands in. It may hold anything besides; only this is read."""

    agent: str
    sourceId: str = ""  # noqa: N815 - the protocol's spelling
    status: str = ""
    open_questions: list[Any] | None = None
    openQuestions: list[Any] | None = None  # noqa: N815 - as above


class HandedReply(Reply, frozen=True):
    """What became of a result."""

    meaning: Meaning
    notification: Notification | None = None


class NotificationBody(Body, frozen=True):
    """What people are to be told."""

    source: Source
    sourceId: str  # noqa: N815 - the protocol's spelling
    questions: tuple[str | dict[str, Any], ...]
    kind: NotificationKind = NotificationKind.OPEN_QUESTION
    errorCode: ErrorCode | None = None  # noqa: N815 - as above
    scopeChangeMetadata: dict[str, Json] | None = None  # noqa: N815 - as above


class Notifications(Reply, frozen=True):
    """Notifications, newest first."""

    notifications: tuple[Notification, ...]


class Cleared(Reply, frozen=True):
    """How many were dismissed."""

    deletedCount: int  # noqa: N815 - the protocol's spelling


class PatchBody(Body, frozen=True):
    """Answers to the questions of a notification, or a yes or no; without either it is dismissed."""

    responses: tuple[Response, ...] | UnsetType = UNSET
    approved: bool | UnsetType = UNSET


class TaskBody(Body, frozen=True):
    """A task to create."""

    title: str
    task_id: str | None = None
    priority: int = DEFAULT_PRIORITY
    assignee: str | None = None
    dependencies: tuple[str, ...] = ()
    parent: str | None = None
    is_epic: bool = False


class TaskPatch(Body, frozen=True):
    """What to change of a task; `block_reason` blocks it."""

    title: str | UnsetType = UNSET
    priority: int | UnsetType = UNSET
    assignee: str | UnsetType | None = UNSET
    dependencies: tuple[str, ...] | UnsetType = UNSET
    status: TaskStatus | UnsetType = UNSET
    block_reason: str | UnsetType = UNSET


class TaskReply(Reply, frozen=True):
    """A task as it is now."""

    task_id: str
    project: str
    title: str
    status: TaskStatus
    assignee: str | None
    block_reason: str | None
    blocked_by: str | None
    priority: int
    dependencies: tuple[str, ...]
    parent: str | None
    is_epic: bool
    attempts: int
    created_at: datetime
    created_by: str
    updated_at: datetime
    sequence: int

    @classmethod
    def of(cls, task: Task) -> TaskReply:
        """Return the public form of `task`."""
        return cls(**{name: getattr(task, name) for name in cls.__struct_fields__})

    @property
    def task(self) -> Task:
        """The task that is told of."""
        return msgspec.convert(msgspec.to_builtins(self), Task)


class Tasks(Reply, frozen=True):
    """Tasks."""

    tasks: tuple[TaskReply, ...]


class ChatBody(Body, frozen=True):
    """What to say in a task's chat."""

    text: str


class ChatReply(Reply, frozen=True):
    """A task's chat, oldest first, and what the next run of the agent is told because of it."""

    messages: tuple[ChatMessage, ...]
    clarification: str | None = None


class PolicyBody(Body, frozen=True):
    """The levels of the categories that are named."""

    hilConfig: dict[str, Json]  # noqa: N815 - the protocol's spelling
    unattended: bool = False


class PolicyReply(Reply, frozen=True):
    """How far agents of a project may go."""

    project: str
    hilConfig: Policy  # noqa: N815 - as above
    texts: dict[str, str]
    """What each category's level says to an agent."""
    set_at: datetime | None = None
    set_by: str | None = None
    sequence: int = 0
