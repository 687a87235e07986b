"""What can be asked of a task: its commands. The hub sets the stamp."""

from __future__ import annotations

import msgspec
from msgspec import UNSET, UnsetType

from assent.engine.stamp import UNSTAMPED, Stamp
from assent.protocol.task import DEFAULT_PRIORITY, TaskId, TaskStatus

__all__ = ["BlockTask", "CreateTask", "FailTask", "TaskCommand", "UnblockTask", "UpdateTask"]


class CreateTask(msgspec.Struct, frozen=True):
    """Create a task. The caller mints `task_id`, so that a retry finds what it made."""

    task_id: TaskId
    title: str
    priority: int = DEFAULT_PRIORITY
    assignee: str | None = None
    dependencies: tuple[TaskId, ...] = ()
    parent: TaskId | None = None
    is_epic: bool = False
    stamp: Stamp = UNSTAMPED


class UpdateTask(msgspec.Struct, frozen=True):
    """Change what is given, and leave the rest. To block takes a reason, and so another command."""

    task_id: TaskId
    title: str | UnsetType = UNSET
    priority: int | UnsetType = UNSET
    assignee: str | UnsetType | None = UNSET
    dependencies: tuple[TaskId, ...] | UnsetType = UNSET
    status: TaskStatus | UnsetType = UNSET
    stamp: Stamp = UNSTAMPED


class FailTask(msgspec.Struct, frozen=True):
    """An agent's attempt has failed, or has stopped with questions. It may be a task of somebody else's making."""

    task_id: TaskId
    has_questions: bool = False
    """It blocks the task then, and is no failed attempt for retry limits (Q-X17)."""
    stamp: Stamp = UNSTAMPED


class BlockTask(msgspec.Struct, frozen=True):
    """Stop work on a task until the reason is gone. Whoever has it is released (Q-U8)."""

    task_id: TaskId
    reason: str
    stamp: Stamp = UNSTAMPED


class UnblockTask(msgspec.Struct, frozen=True):
    """The reason is gone. A task that is blocked for another one, or not at all, is left alone (Q-X8)."""

    task_id: TaskId
    reason: str
    questions_left: int = 0
    """How many questions of this task are still open; the last one unblocks it (Q-X7)."""
    stamp: Stamp = UNSTAMPED


TaskCommand = CreateTask | UpdateTask | FailTask | BlockTask | UnblockTask
