"""Results, notifications, tasks and policies, as HTTP bodies. See `wire`."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType, field

from assent.protocol.agent_result import Meaning
from assent.protocol.json_text import Json
from assent.protocol.kind import Kind
from assent.protocol.notification import ErrorCode, Notification, NotificationKind, Source
from assent.protocol.policy import Policy
from assent.protocol.principal import Assurance
from assent.protocol.resolution import Response
from assent.protocol.task import DEFAULT_PRIORITY, ChatMessage, Task, TaskAnswer, TaskStatus
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
    """Answers to the questions of a notification, or a yes or no, or that it is dismissed: resolved without an answer.

    With nothing it is dismissed, too, unless its sender has posted a reply in the task's chat under its id.
    """

    responses: tuple[Response, ...] | UnsetType = UNSET
    approved: bool | UnsetType = UNSET
    dismissed: bool | UnsetType = UNSET
    reason: str | UnsetType = UNSET
    """The words of a no."""


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
    notificationId: str | None = None  # noqa: N815 - the protocol's spelling
    """The notification to which it is a person's reply."""


class ChatReply(Reply, frozen=True):
    """A task's chat, oldest first, and what the next run of the agent is told."""

    messages: tuple[ChatMessage, ...]
    clarification: str | None = None
    """The answer to the task's question; of several questions, a line for each that names it."""
    answers: tuple[TaskAnswer, ...] = ()
    """Every question of the task, oldest first, with its answer and how it ended."""


class PolicyBody(Body, frozen=True):
    """The levels of the categories that are named."""

    hilConfig: dict[str, Json] = field(default_factory=dict)  # noqa: N815 - the protocol's spelling
    unattended: bool = False
    assurances: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Per kind of ask, the assurances that suffice; an empty list takes back what the project said."""


class PolicyReply(Reply, frozen=True):
    """How far agents of a project may go."""

    project: str
    hilConfig: Policy  # noqa: N815 - as above
    texts: dict[str, str]
    """What each category's level says to an agent."""
    set_at: datetime | None = None
    set_by: str | None = None
    sequence: int = 0
    assurances: dict[Kind, tuple[Assurance, ...]] = field(default_factory=dict)
    """Per kind of ask, the assurances that suffice; a kind that is not named has the default."""
