"""What can be asked of a notification: its commands. The hub sets the stamp."""

from __future__ import annotations

import msgspec

from assent.engine.stamp import UNSTAMPED, Stamp
from assent.protocol.ask import AskId
from assent.protocol.json_text import Json
from assent.protocol.notification import ErrorCode, NotificationId, NotificationKind, Source
from assent.protocol.open_question import Question
from assent.protocol.principal import Assurance
from assent.protocol.resolution import Response

__all__ = ["AddNotification", "DismissNotification", "NotificationCommand", "ResolveNotification"]


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
