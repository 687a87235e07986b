"""A notification stays open until a person resolves it, once.

Rule 1: whatever decides a notification's next status is in this file.
Rule 2: agents add and never resolve (decided rule 8).
Rule 3: who resolves it a second time with the same word, or with none, changes nothing and is told how it stands; who
        has another word gets `conflict` and is told who was first (Q-X6, decided rule 7).
Rule 4: what says the same as an open one is not added (Q-X5, Q-U12).

The docs' diagram is printed from TRANSITIONS, and a test walks all pairs.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any, get_args

import msgspec
from msgspec.structs import replace

from assent.engine.machine import ASKERS, PEOPLE, Machine
from assent.engine.stamp import UNSTAMPED, Stamp
from assent.protocol.ask import AskId
from assent.protocol.display import quote
from assent.protocol.error import (
    BadRequestError,
    CommandReusedError,
    ConflictError,
    ForbiddenError,
    NotFoundError,
)
from assent.protocol.json_text import Json
from assent.protocol.notification import (
    ErrorCode,
    Notification,
    NotificationId,
    NotificationKind,
    NotificationStatus,
    Source,
    check_notification,
    render_resolving,
)
from assent.protocol.open_question import Question
from assent.protocol.principal import Assurance, Role
from assent.protocol.resolution import Response, check_responses

__all__ = [
    "MACHINE",
    "RESOLVERS",
    "TRANSITIONS",
    "AddNotification",
    "DismissNotification",
    "NotificationAdded",
    "NotificationCommand",
    "NotificationEvent",
    "NotificationResolved",
    "ResolveNotification",
    "decide",
    "evolve",
]


# Events


class NotificationAdded(msgspec.Struct, frozen=True, tag="notification.added"):
    """People are told."""

    notification_id: NotificationId
    at: datetime
    by: str
    kind: NotificationKind
    source: Source
    source_id: str
    questions: tuple[Question, ...]
    ask_id: AskId | None = None
    error_code: ErrorCode | None = None
    scope_change_metadata: dict[str, Json] | None = None


class NotificationResolved(msgspec.Struct, frozen=True, tag="notification.resolved"):
    """Somebody answered it, approved or rejected it, or dismissed it."""

    notification_id: NotificationId
    at: datetime
    by: str
    responses: tuple[Response, ...] | None = None
    approved: bool | None = None
    is_dismissed: bool = False
    via: str = ""
    assurance: Assurance = Assurance.DECLARED
    is_unattended: bool = False
    command_id: str = ""


NotificationEvent = NotificationAdded | NotificationResolved


# Commands


class AddNotification(msgspec.Struct, frozen=True):
    """Tell people. The caller mints the id, so that a retry finds what it made."""

    notification_id: NotificationId
    kind: NotificationKind
    source: Source
    source_id: str
    questions: tuple[Question, ...]
    ask_id: AskId | None = None
    error_code: ErrorCode | None = None
    scope_change_metadata: dict[str, Json] | None = None
    stamp: Stamp = UNSTAMPED


class ResolveNotification(msgspec.Struct, frozen=True):
    """Answer every question of it; or, for a `hil_approval`, say yes or no."""

    notification_id: NotificationId
    responses: tuple[Response, ...] | None = None
    approved: bool | None = None
    via: str = ""
    assurance: Assurance = Assurance.DECLARED
    is_unattended: bool = False
    """As in `AnswerAsk`: whether that is enough for an approval is the ask's business."""
    stamp: Stamp = UNSTAMPED
    reason: str = ""
    """The words of a no."""


class DismissNotification(msgspec.Struct, frozen=True):
    """Resolve it without an answer."""

    notification_id: NotificationId
    via: str = ""
    assurance: Assurance = Assurance.DECLARED
    is_unattended: bool = False
    takes_reply: bool = False
    """Resolve it with what the same person has posted in the task's chat under its id, if they have."""
    stamp: Stamp = UNSTAMPED


NotificationCommand = AddNotification | ResolveNotification | DismissNotification


# The machine

TRANSITIONS: dict[NotificationStatus | None, dict[type[NotificationEvent], NotificationStatus]] = {
    None: {NotificationAdded: NotificationStatus.OPEN},
    NotificationStatus.OPEN: {NotificationResolved: NotificationStatus.RESOLVED},
    NotificationStatus.RESOLVED: {},
}

RESOLVERS = frozenset({Role.HUMAN, Role.OPERATOR})
"""Who may resolve a notification; the hub itself is an operator."""


def decide(notification: Notification | None, command: NotificationCommand) -> tuple[NotificationEvent, ...]:
    """Return what `command` does to `notification`; nothing when it was done before.

    For `AddNotification`, `notification` is the one that already has its id, or an open one with its repeat key.

    Raises:
        NotFoundError: there is no such notification.
        ForbiddenError: an agent or an observer tries to resolve it.
        ConflictError: it was resolved in another way; the sentence says who, when and how.
        CommandReusedError: its id, or the command's, stands for something else.
        BadRequestError: the command contradicts itself, or the responses do not fit the questions.
    """
    return _DECISIONS[type(command)](notification, command)


def evolve(
    notification: Notification | None, event: NotificationEvent, *, project: str = "", sequence: int = 0
) -> Notification:
    """Return the notification as it is after `event`, the project's event number `sequence`."""
    status = TRANSITIONS[notification.status if notification else None][type(event)]
    if isinstance(event, NotificationAdded):
        return Notification(
            event.notification_id,
            project,
            event.source,
            event.source_id,
            event.questions,
            status,
            event.at,
            None,
            event.kind,
            event.error_code,
            event.scope_change_metadata,
            ask_id=event.ask_id,
            sequence=sequence,
        )
    assert notification is not None  # noqa: S101 - TRANSITIONS has just said so
    return replace(
        notification,
        status=status,
        resolved_at=event.at,
        resolved_by=event.by,
        responses=event.responses,
        approved=event.approved,
        is_dismissed=event.is_dismissed,
        command_id=event.command_id,
        sequence=sequence,
    )


def _add(known: Notification | None, command: AddNotification) -> tuple[NotificationEvent, ...]:
    added = NotificationAdded(
        command.notification_id,
        command.stamp.at,
        str(command.stamp.by),
        command.kind,
        command.source,
        command.source_id,
        command.questions,
        command.ask_id,
        command.error_code,
        command.scope_change_metadata,
    )
    new = evolve(None, added, project=known.project_id if known else "")
    check_notification(new)
    if known is None:
        return (added,)
    if known.notification_id == new.notification_id:
        if _content(known) != _content(new):
            raise CommandReusedError(f"{known.notification_id} already says something else.")
        return ()
    return () if known.is_open and known.repeat_key == new.repeat_key else (added,)


def _content(notification: Notification) -> tuple[object, ...]:
    """Return what a retry must repeat. It may come later: moments that were filled in are no content."""
    return (
        notification.kind,
        notification.source,
        notification.source_id,
        [(question.question_id, question.text) for question in notification.questions],
        notification.ask_id,
        notification.error_code,
        notification.scope_change_metadata,
    )


def _resolve(
    notification: Notification | None, command: ResolveNotification
) -> tuple[NotificationEvent, ...]:
    notification = _found(notification, command.notification_id)
    _check_resolver(command.stamp)
    if (command.responses is None) is (command.approved is None):
        raise BadRequestError("A notification is resolved with either responses or approved.")
    if not notification.is_open:
        return _again(notification, command)
    return (
        NotificationResolved(
            notification.notification_id,
            command.stamp.at,
            str(command.stamp.by),
            _fitting(notification, command.responses),
            command.approved,
            False,
            command.via,
            command.assurance,
            command.is_unattended,
            command.stamp.command_id,
        ),
    )


def _fitting(
    notification: Notification, responses: tuple[Response, ...] | None
) -> tuple[Response, ...] | None:
    """Return the responses in the order of the questions, if this is a notification that takes such a word."""
    if notification.kind is NotificationKind.HIL_APPROVAL:
        if responses is not None:
            raise BadRequestError(
                f"{notification.notification_id} takes approved, a yes or a no, and no responses."
            )
        return None
    if responses is None:
        raise BadRequestError(f"{notification.notification_id} asks for no approval: it takes responses.")
    return check_responses(notification.questions, responses)


def _again(notification: Notification, command: ResolveNotification) -> tuple[NotificationEvent, ...]:
    if _words(notification) == _words(command):
        return ()
    if command.stamp.command_id and command.stamp.command_id == notification.command_id:
        raise CommandReusedError
    raise ConflictError(
        f"Too late, nothing was changed: {render_resolving(notification)}", notification=notification
    )


def _words(resolved: Notification | ResolveNotification) -> tuple[list[tuple[str, str]] | None, bool | None]:
    """Return what was said, whichever order it was said in."""
    responses = resolved.responses
    if responses is None:
        return None, resolved.approved
    return sorted((response.question_id, response.answer) for response in responses), resolved.approved


def _dismiss(
    notification: Notification | None, command: DismissNotification
) -> tuple[NotificationEvent, ...]:
    notification = _found(notification, command.notification_id)
    _check_resolver(command.stamp)
    if not notification.is_open:
        return ()
    stamp = command.stamp
    return (
        NotificationResolved(
            notification.notification_id,
            stamp.at,
            str(stamp.by),
            is_dismissed=True,
            via=command.via,
            assurance=command.assurance,
            is_unattended=command.is_unattended,
            command_id=stamp.command_id,
        ),
    )


def _found(notification: Notification | None, notification_id: NotificationId) -> Notification:
    if notification is None:
        raise NotFoundError(f'There is no notification "{quote(notification_id, 60)}" here.')
    return notification


def _check_resolver(stamp: Stamp) -> None:
    if stamp.by.role not in RESOLVERS:
        raise ForbiddenError("Only a person can resolve a notification.")


_DECISIONS: dict[
    type[NotificationCommand], Callable[[Notification | None, Any], tuple[NotificationEvent, ...]]
] = {
    AddNotification: _add,
    ResolveNotification: _resolve,
    DismissNotification: _dismiss,
}


MACHINE = Machine(
    "notification",
    {
        AddNotification: ASKERS,
        ResolveNotification: PEOPLE,  # it answers the ask behind it
        DismissNotification: PEOPLE,
    },
    get_args(NotificationEvent),
    decide,
    evolve,
)
