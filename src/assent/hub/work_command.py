"""What can be sent to the hub about work: results, notifications, tasks and policies."""

from __future__ import annotations

import msgspec

from assent.engine.notification import (
    AddNotification,
    DismissNotification,
    NotificationCommand,
    ResolveNotification,
)
from assent.engine.policy import SetPolicy
from assent.engine.task import (
    BlockTask,
    CreateTask,
    FailTask,
    TaskCommand,
    UnblockTask,
    UpdateTask,
)
from assent.protocol.agent_result import AgentResult, Meaning
from assent.protocol.ask import AskId
from assent.protocol.notification import Notification, NotificationId
from assent.protocol.policy import ProjectPolicy
from assent.protocol.task import Task

__all__ = [
    "AddNotification",
    "BlockTask",
    "CreateTask",
    "DismissNotification",
    "FailTask",
    "Handed",
    "NotificationCommand",
    "ResolveNotification",
    "SetPolicy",
    "TakeResult",
    "TaskCommand",
    "UnblockTask",
    "UpdateTask",
    "WorkRequest",
    "WorkTold",
]


class TakeResult(msgspec.Struct, frozen=True):
    """An agent hands its result in; what it asks becomes a notification, and an ask behind it.

    The caller mints the ids of both, so that a retry finds what it made.
    """

    result: AgentResult
    notification_id: NotificationId
    ask_id: AskId


class Handed(msgspec.Struct, frozen=True):
    """What became of a result."""

    meaning: Meaning
    notification: Notification | None = None
    """The one that asks its questions, perhaps an open one that asks the same."""


WorkRequest = TakeResult | NotificationCommand | TaskCommand | SetPolicy
WorkTold = Handed | Notification | Task | ProjectPolicy
