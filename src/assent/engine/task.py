"""A task is open until somebody takes it in hand, and blocked while something has to be settled first.

Rule 1: whatever decides a task's next status is in this file.
Rule 2: a block releases whoever had the task. It is lifted for exactly the reason for which it was set (Q-X8).
Rule 3: what waits for an open question, and what a person blocked, no agent reopens, assigns or blocks for another
        reason; and an agent closes no blocked task at all. Otherwise an agent could answer its own question, or
        have a person's block lifted by asking something.
Rule 4: an attempt that stopped to ask is no failed attempt (Q-X17).

What may follow a status is in TRANSITIONS; a test walks all pairs.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any, assert_never, get_args

import msgspec
from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from assent.engine.machine import ASKERS, INTERNAL, Machine
from assent.engine.stamp import NOBODY, UNSTAMPED, Stamp
from assent.protocol.canonical import canonical, digest
from assent.protocol.error import (
    BadRequestError,
    ForbiddenError,
    InvalidStateError,
    KeyReusedError,
    NotFoundError,
)
from assent.protocol.principal import Principal, Role
from assent.protocol.task import (
    DEFAULT_PRIORITY,
    OPEN_QUESTION_REASON,
    Task,
    TaskBody,
    TaskId,
    TaskStatus,
    check_assignee,
    check_block_reason,
    check_dependencies,
    check_parent,
    check_priority,
    check_task_id,
    check_task_title,
)

__all__ = [
    "MACHINE",
    "TRANSITIONS",
    "BlockTask",
    "CreateTask",
    "FailTask",
    "TaskCommand",
    "TaskCreated",
    "TaskEvent",
    "TaskUpdated",
    "UnblockTask",
    "UpdateTask",
    "decide",
    "evolve",
]


# Events


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


# Commands


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


# The machine

TRANSITIONS: dict[TaskStatus | None, dict[type[TaskEvent], frozenset[TaskStatus]]] = {
    None: {TaskCreated: frozenset({TaskStatus.OPEN})},
    TaskStatus.OPEN: {TaskUpdated: frozenset(TaskStatus)},
    TaskStatus.IN_PROGRESS: {TaskUpdated: frozenset(TaskStatus)},
    TaskStatus.BLOCKED: {
        TaskUpdated: frozenset({TaskStatus.BLOCKED, TaskStatus.OPEN, TaskStatus.CLOSED}),
    },
    TaskStatus.CLOSED: {TaskUpdated: frozenset({TaskStatus.CLOSED, TaskStatus.OPEN})},
}
"""Work goes on from `open` only: a task that was blocked or closed is opened first."""


def decide(task: Task | None, command: TaskCommand) -> tuple[TaskEvent, ...]:
    """Return what `command` does to `task`; nothing when that is so already, or no longer matters.

    Raises:
        NotFoundError: there is no such task.
        KeyReusedError: the id belongs to a task that was created otherwise.
        InvalidStateError: it cannot come to that status now.
        ForbiddenError: that is for a person to do, or for the answer.
        BadRequestError: what was given cannot be a part of a task.
    """
    return _DECISIONS[type(command)](task, command)


def evolve(task: Task | None, event: TaskEvent, *, project: str = "", sequence: int = 0) -> Task:
    """Return the task as it is after `event`, the project's event number `sequence`."""
    if event.status not in TRANSITIONS[task.status if task else None][type(event)]:
        raise InvalidStateError(f"{event.task_id} cannot become {event.status} now.")
    match event:
        case TaskCreated():
            return Task(
                project=project,
                created_at=event.at,
                created_by=event.by,
                updated_at=event.at,
                digest=event.digest,
                sequence=sequence,
                **_told(event),
            )
        case TaskUpdated():
            assert task is not None  # noqa: S101 - TRANSITIONS has just said so
            is_new_block = event.block_reason is not None and event.block_reason != task.block_reason
            kept_by = None if event.block_reason is None else task.blocked_by
            return replace(
                task,
                updated_at=event.at,
                blocked_by=event.by if is_new_block else kept_by,
                failure_id=event.command_id if event.is_failure else task.failure_id,
                sequence=sequence,
                **_told(event),
            )
        case _:
            assert_never(event)


def _told(task: Task | TaskBody) -> dict[str, Any]:
    """Return the fields that a task and its events have in common."""
    return {name: getattr(task, name) for name in TaskBody.__struct_fields__}


def _create(task: Task | None, command: CreateTask) -> tuple[TaskEvent, ...]:
    task_id = check_task_id(command.task_id)
    content: dict[str, Any] = {
        "title": check_task_title(command.title),
        "priority": check_priority(command.priority),
        "assignee": check_assignee(command.assignee),
        "dependencies": check_dependencies(task_id, command.dependencies),
        "parent": check_parent(task_id, command.parent),
        "is_epic": command.is_epic,
    }
    told = digest(canonical({**content, "dependencies": list(content["dependencies"])}))
    if task is None:
        stamp = command.stamp
        return (
            TaskCreated(
                task_id=task_id,
                status=TaskStatus.OPEN,
                at=stamp.at,
                by=str(stamp.by),
                command_id=stamp.command_id,
                digest=told,
                **content,
            ),
        )
    if task.digest != told:
        raise KeyReusedError(f'The id "{task_id}" already belongs to another task.')
    return ()  # a retry, also when the task has changed since: its reply is the task as it is


def _update(task: Task | None, command: UpdateTask) -> tuple[TaskEvent, ...]:
    task = _found(task, command.task_id)
    changes: dict[str, Any] = {}
    if command.title is not UNSET:
        changes["title"] = check_task_title(command.title)
    if command.priority is not UNSET:
        changes["priority"] = check_priority(command.priority)
    if command.dependencies is not UNSET:
        changes["dependencies"] = check_dependencies(task.task_id, command.dependencies)
    if command.assignee is not UNSET:
        changes["assignee"] = check_assignee(command.assignee)
        _check_assignment(task, changes["assignee"], command.stamp.by)
    if command.status is not UNSET and command.status is not task.status:
        _check_status(task, command.status, command.stamp.by)
        changes |= {"status": command.status, "block_reason": None}
    return _updated(task, command.stamp, changes)


def _check_assignment(task: Task, assignee: str | None, by: Principal) -> None:
    if assignee is not None and assignee != task.assignee and not _may_lift(task, by):
        raise ForbiddenError(f"{_held(task)}: until that is settled, only a person can give it to somebody.")


def _check_status(task: Task, status: TaskStatus, by: Principal) -> None:
    if status is TaskStatus.BLOCKED:
        raise BadRequestError("To block a task takes a reason.")
    if status not in TRANSITIONS[task.status][TaskUpdated]:
        raise InvalidStateError(f"{task.task_id} is {task.status}: it must be open before it is {status}.")
    if task.status is TaskStatus.BLOCKED and status is TaskStatus.CLOSED and not _is_trusted(by):
        raise ForbiddenError(f"{task.task_id} is blocked: only a person can close it.")
    if not _may_lift(task, by):
        raise _not_yours(task)


def _fail(task: Task | None, command: FailTask) -> tuple[TaskEvent, ...]:
    stamp = command.stamp
    if task is None or task.status is TaskStatus.CLOSED:
        return ()  # the result comes too late, or the list of tasks is kept elsewhere
    if stamp.command_id and stamp.command_id == task.failure_id:
        return ()
    if command.has_questions:
        return _blocked(task, stamp, OPEN_QUESTION_REASON, is_failure=True)
    changes: dict[str, Any] = {"attempts": task.attempts + 1}
    if task.status is not TaskStatus.BLOCKED:  # the block has released whoever failed
        changes |= {"status": TaskStatus.OPEN, "assignee": None}
    return _updated(task, stamp, changes, is_failure=True)


def _block(task: Task | None, command: BlockTask) -> tuple[TaskEvent, ...]:
    task = _found(task, command.task_id)
    reason = check_block_reason(command.reason)
    if task.status is TaskStatus.CLOSED:
        raise InvalidStateError(f"{task.task_id} is closed: there is nothing to block.")
    return _blocked(task, command.stamp, reason)


def _blocked(task: Task, stamp: Stamp, reason: str, *, is_failure: bool = False) -> tuple[TaskEvent, ...]:
    if task.block_reason == reason or not _may_lift(task, stamp.by):
        return ()  # it is blocked, and with the other reason somebody else could unblock it
    changes = {"status": TaskStatus.BLOCKED, "assignee": None, "block_reason": reason}
    return _updated(task, stamp, changes, is_failure=is_failure)


def _unblock(task: Task | None, command: UnblockTask) -> tuple[TaskEvent, ...]:
    if task is None or task.block_reason is None or task.block_reason != command.reason:
        return ()  # Q-X8: whatever else holds it is not what was settled
    if command.questions_left:
        return ()
    if not _may_lift(task, command.stamp.by):
        raise _not_yours(task)
    return _updated(task, command.stamp, {"status": TaskStatus.OPEN, "block_reason": None})


def _updated(
    task: Task, stamp: Stamp, changes: dict[str, Any], *, is_failure: bool = False
) -> tuple[TaskEvent, ...]:
    changed = replace(task, **changes)
    if changed == task:
        return ()
    return (
        TaskUpdated(
            at=stamp.at,
            by=str(stamp.by),
            command_id=stamp.command_id,
            is_failure=is_failure,
            **_told(changed),
        ),
    )


def _may_lift(task: Task, by: Principal) -> bool:
    """Say whether `by` may do what ends the block of this task, or changes its reason."""
    return _is_trusted(by) or not (_is_persons(task) or task.block_reason == OPEN_QUESTION_REASON)


def _is_persons(task: Task) -> bool:
    by = task.blocked_by
    return by is not None and by != str(NOBODY) and not by.startswith(f"{Role.AGENT}:")


def _is_trusted(by: Principal) -> bool:
    # The hub itself is an operator: what it does of its own follows from what a person did.
    return by.role in {Role.HUMAN, Role.OPERATOR}


def _not_yours(task: Task) -> ForbiddenError:
    return ForbiddenError(f"{_held(task)}: until that is settled, only a person can open it.")


def _held(task: Task) -> str:
    if task.block_reason == OPEN_QUESTION_REASON:
        return f"{task.task_id} waits for an answer"
    return f"{task.blocked_by} has blocked {task.task_id}"


def _found(task: Task | None, task_id: TaskId) -> Task:
    if task is None:
        raise NotFoundError(f"There is no task {task_id} here.")
    return task


_DECISIONS: dict[type[TaskCommand], Callable[[Task | None, Any], tuple[TaskEvent, ...]]] = {
    CreateTask: _create,
    UpdateTask: _update,
    FailTask: _fail,
    BlockTask: _block,
    UnblockTask: _unblock,
}


MACHINE = Machine(
    "task",
    {
        CreateTask: ASKERS,
        UpdateTask: ASKERS,  # what waits for an answer, no agent lets go on
        FailTask: ASKERS,
        BlockTask: ASKERS,
        UnblockTask: INTERNAL,
    },
    get_args(TaskEvent),
    decide,
    evolve,
)
