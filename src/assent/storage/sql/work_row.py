"""Tasks, notifications and policies as rows, and back.

The record of each is the whole of it; the columns beside it are only there to find it by, and the audit compares them.
"""

from __future__ import annotations

from typing import Any

import msgspec

from assent.protocol.display import quote
from assent.protocol.notification import Notification, parse_notification, render_notification
from assent.protocol.policy import ProjectPolicy
from assent.protocol.task import Task
from assent.storage.sql.row import UNREADABLE, read_record

__all__ = [
    "encode_policy",
    "notification_of",
    "notification_values",
    "policy_of",
    "strayed_notification",
    "strayed_policy",
    "strayed_task",
    "task_of",
    "task_values",
]

_encode = msgspec.json.Encoder().encode
_task = msgspec.json.Decoder(Task).decode
_policy = msgspec.json.Decoder(ProjectPolicy).decode


def task_values(number: int, task: Task) -> tuple[Any, ...]:
    """Return the values of `put_tasks` for a task of project `number`."""
    return (number, task.task_id, task.status, _encode(task))


def notification_values(number: int, repeat_key: str, notification: Notification) -> tuple[Any, ...]:
    """Return the values of `put_notifications` for a notification of project `number`.

    The repeat key comes along: to work it out takes longer than all the rest.
    """
    return (
        number,
        notification.notification_id,
        int(notification.is_open),
        notification.source,
        notification.source_id,
        repeat_key,
        notification.ask_id,
        render_notification(notification),
    )


def encode_policy(policy: ProjectPolicy) -> bytes:
    """Return a policy as its row keeps it."""
    return _encode(policy)


def task_of(record: bytes) -> Task:
    """Return the task of a row.

    Raises:
        StoreDamagedError: somebody wrote what Assent does not write.
    """
    return read_record(_task, record, "task")


def notification_of(record: bytes) -> Notification:
    """Return the notification of a row.

    Raises:
        StoreDamagedError: somebody wrote what Assent does not write.
    """
    return read_record(parse_notification, record, "notification")


def policy_of(record: bytes) -> ProjectPolicy:
    """Return the policy of a row.

    Raises:
        StoreDamagedError: somebody wrote what Assent does not write.
    """
    return read_record(_policy, record, "policy")


def strayed_task(project: str | None, task_id: str, status: str, record: bytes) -> str | None:
    """Return the name of a task whose columns are not those of its record; an unreadable one is reported elsewhere."""
    try:
        task = _task(record)
    except UNREADABLE:
        return None
    is_same = (task.project, task.task_id, task.status) == (project, task_id, status)
    return None if is_same else f"task {quote(task_id)}"


def strayed_notification(
    project: str | None,
    notification_id: str,
    is_open: int,
    source: str,
    source_id: str,
    ask_id: str | None,
    record: bytes,
) -> str | None:
    """Return the name of a notification whose columns are not those of its record; as `strayed_task`.

    Its repeat key is left out: it depends on how letters are drawn, which another version may know better.
    """
    try:
        told = parse_notification(record)
    except UNREADABLE:
        return None
    own = (told.project_id, told.notification_id, told.is_open, told.source, told.source_id, told.ask_id)
    is_same = own == (project, notification_id, bool(is_open), source, source_id, ask_id)
    return None if is_same else f"notification {quote(notification_id)}"


def strayed_policy(project: str | None, record: bytes) -> str | None:
    """Return the name of a policy that lies with another project than its own; as `strayed_task`."""
    try:
        policy = _policy(record)
    except UNREADABLE:
        return None
    return None if policy.project == project else f"the policy of {quote(policy.project)}"
