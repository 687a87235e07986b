"""The part of a transaction that keeps tasks, notifications and policies.

As everywhere in a transaction: what it reads it remembers, what it is given it writes at the end, several rows a
statement, and a read sees what was put before it. Where a query finds rows by a column, what was put since is looked at
anew: it may fit now, or no longer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from assent.protocol.ask import AskId
from assent.protocol.notification import Notification, NotificationId, Source
from assent.protocol.policy import ProjectPolicy
from assent.protocol.task import Task, TaskId
from assent.storage.port import Head
from assent.storage.sql.session import Session
from assent.storage.sql.work_row import (
    encode_policy,
    notification_of,
    notification_values,
    policy_of,
    task_of,
    task_values,
)

__all__ = ["WorkTransaction"]


class _Put(msgspec.Struct, frozen=True):
    """A notification that this transaction will write."""

    number: int
    """Of its project."""
    repeat_key: str
    notification: Notification


class WorkTransaction:
    """Fits the part of `storage.port.Transaction` that is about tasks, notifications and policies."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._tasks: dict[tuple[str, str], Task | None] = {}
        self._listed: dict[str, dict[str, Task]] = {}
        """All tasks of a project in order, once somebody has asked for them."""
        self._put_tasks: dict[tuple[str, str], tuple[int, Task]] = {}
        self._notifications: dict[tuple[str, str], Notification | None] = {}
        """As the file has them."""
        self._put_notifications: dict[tuple[str, str], _Put] = {}
        self._policies: dict[str, ProjectPolicy | None] = {}
        self._put_policies: dict[str, tuple[int, ProjectPolicy]] = {}

    # Tasks

    def task(self, project: str, task_id: TaskId) -> Task | None:
        """Return the task as it is in this transaction."""
        key = (project, task_id)
        if key not in self._tasks:
            found = self._session.rows("task", key)
            self._tasks[key] = task_of(found[0][0]) if found else None
        return self._tasks[key]

    def tasks(self, head: Head) -> list[Task]:
        """Return all tasks of a project, closed ones too, in the order in which they were created."""
        project = head.project
        if project not in self._listed:
            listed = self._listed[project] = {}
            for task_id, record in self._session.rows("tasks_of", (head.number,)):
                task = self._tasks.get((project, task_id)) or task_of(record)
                listed[task_id] = self._tasks[project, task_id] = task
            for (name, task_id), (_, task) in self._put_tasks.items():
                if name == project:
                    listed[task_id] = task
        return list(self._listed[project].values())

    def put_task(self, head: Head, task: Task) -> None:
        """Keep `task` as it is now."""
        key = (head.project, task.task_id)
        self._tasks[key] = task
        self._put_tasks[key] = (head.number, task)
        if head.project in self._listed:
            self._listed[head.project][task.task_id] = task

    # Notifications

    def notification(self, project: str, notification_id: NotificationId) -> Notification | None:
        """Return the notification as it is in this transaction."""
        key = (project, notification_id)
        if key in self._put_notifications:
            return self._put_notifications[key].notification
        if key not in self._notifications:
            found = self._session.rows("notification", key)
            self._notifications[key] = notification_of(found[0][0]) if found else None
        return self._notifications[key]

    def open_notification_like(self, head: Head, repeat_key: str) -> Notification | None:
        """Return the open notification with this repeat key; the oldest, should there be several."""

        def is_like(put: _Put) -> bool:
            return put.repeat_key == repeat_key and put.notification.is_open

        found = self._find(head, "open_notifications_like", (head.number, repeat_key), is_like)
        return found[0] if found else None

    def notifications_about(self, head: Head, source: Source, source_id: str) -> list[Notification]:
        """Return the notifications about one source, open and resolved, oldest first."""

        def is_about(put: _Put) -> bool:
            return (put.notification.source, put.notification.source_id) == (source, source_id)

        return self._find(head, "notifications_about", (head.project, source, source_id), is_about)

    def notification_of(self, head: Head, ask_id: AskId) -> Notification | None:
        """Return the notification that is a view of this ask; the newest, should there be several."""

        def is_view(put: _Put) -> bool:
            return put.notification.ask_id == ask_id

        found = self._find(head, "notifications_of_ask", (head.number, ask_id), is_view)
        return found[-1] if found else None

    def put_notification(self, head: Head, notification: Notification) -> None:
        """Keep `notification` as it is now."""
        key = (head.project, notification.notification_id)
        self._put_notifications[key] = _Put(head.number, notification.repeat_key, notification)

    def _find(
        self, head: Head, query: str, values: tuple[Any, ...], fits: Callable[[_Put], bool]
    ) -> list[Notification]:
        """Return what the query finds in the file and what this transaction has put, oldest first."""
        stored = dict(self._session.rows(query, values))
        found = []
        for notification_id, record in stored.items():
            key = (head.project, notification_id)
            if key not in self._put_notifications:
                known = self._notifications.get(key)
                if known is None:
                    known = self._notifications[key] = notification_of(record)
                found.append(known)
            elif fits(self._put_notifications[key]):
                found.append(self._put_notifications[key].notification)
        found.extend(
            put.notification
            for (project, notification_id), put in self._put_notifications.items()
            if project == head.project and notification_id not in stored and fits(put)
        )
        return found

    # Policies

    def policy(self, head: Head) -> ProjectPolicy | None:
        """Return the policy of a project in this transaction; None where none was ever set."""
        project = head.project
        if project not in self._policies:
            found = self._session.rows("policy", (project,))
            self._policies[project] = policy_of(found[0][0]) if found else None
        return self._policies[project]

    def put_policy(self, head: Head, policy: ProjectPolicy) -> None:
        """Keep `policy` as it is now."""
        self._policies[head.project] = policy
        self._put_policies[head.project] = (head.number, policy)

    # Writing

    def write_work(self) -> None:
        """Write what was gathered; called once, before COMMIT. New rows are numbered in the order of their first put."""
        if self._put_tasks:
            new = [task_values(number, task) for number, task in self._put_tasks.values()]
            self._session.write("put_tasks", new)
        if self._put_notifications:
            puts = self._put_notifications.values()
            new = [notification_values(put.number, put.repeat_key, put.notification) for put in puts]
            self._session.write("put_notifications", new)
        for number, policy in self._put_policies.values():
            self._session.run("put_policy", (number, encode_policy(policy)))
