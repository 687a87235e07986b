"""What can happen to a notification: its events, as the log keeps them. What clients are told is in the protocol (Q-U5)."""

from __future__ import annotations

from datetime import datetime

import msgspec

from assent.protocol.ask import AskId
from assent.protocol.json_text import Json
from assent.protocol.notification import ErrorCode, NotificationId, NotificationKind, Source
from assent.protocol.open_question import Question
from assent.protocol.principal import Assurance
from assent.protocol.resolution import Response

__all__ = ["NotificationAdded", "NotificationEvent", "NotificationResolved"]


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
