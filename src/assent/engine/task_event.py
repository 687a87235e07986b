"""What can happen to a task: its events, as the log keeps them. Each carries the task as it is then (Q-U5)."""

from __future__ import annotations

from datetime import datetime

from assent.protocol.task import TaskBody

__all__ = ["TaskCreated", "TaskEvent", "TaskUpdated"]


class _Happened(TaskBody, frozen=True, kw_only=True):
    at: datetime
    by: str
    command_id: str = ""


class TaskCreated(_Happened, frozen=True, kw_only=True, tag="task.created"):
    """A new task."""

    digest: str
    """Over what it was created with."""


class TaskUpdated(_Happened, frozen=True, kw_only=True, tag="task.updated"):
    """It was changed, blocked, unblocked, or an attempt at it ended."""

    is_failure: bool = False
    """An agent's attempt ended without success, counted or not."""


TaskEvent = TaskCreated | TaskUpdated
