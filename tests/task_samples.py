"""Tasks that many tests start from."""

from typing import Any

from msgspec.structs import replace

from assent.protocol.task import Task, TaskId, TaskStatus
from tests.samples import AGENT, NOON

__all__ = ["TASK_ID", "new_task"]

TASK_ID = TaskId("task-1")


def new_task(task_id: str = TASK_ID, **changes: Any) -> Task:
    """Return an open task; `changes` are fields of it."""
    task = Task(TaskId(task_id), "p", "Add a login page", TaskStatus.OPEN, NOON, str(AGENT), NOON)
    return replace(task, **changes)
