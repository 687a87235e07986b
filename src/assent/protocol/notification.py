"""A notification: what a project's people are told and asked because of an agent's result.

It is the project-facing view of an ask, and names it. Its JSON form is the public one: the names of the protocol text
first (Q-U2), then what it does not know of, each left out while there is nothing to say.

Rule 1: it is `open` until somebody resolves it, once. Dismissed is resolved without an answer, and said to be (Q-X12).
Rule 2: an id tells the kind: `oq-`, `ab-`, `hil-` or `af-`, and eight hexadecimal digits.
Rule 3: every kind but `open_question` has its one text as a single question (Q-U3).
"""

from __future__ import annotations

import re
from datetime import datetime
from enum import StrEnum
from typing import NewType

import msgspec
from msgspec.structs import replace

from assent.protocol.ask import AskId
from assent.protocol.canonical import canonical, digest
from assent.protocol.display import display, is_blank, is_encodable, quote
from assent.protocol.ending import render_instant, render_name
from assent.protocol.error import BadRequestError, TooLargeError
from assent.protocol.json_text import Json
from assent.protocol.open_question import Question, check_questions
from assent.protocol.repeat import digest_questions
from assent.protocol.resolution import Response

__all__ = [
    "MAX_METADATA_BYTES",
    "MAX_SOURCE_ID",
    "PREFIXES",
    "ErrorCode",
    "Notification",
    "NotificationId",
    "NotificationKind",
    "NotificationStatus",
    "ResolvedBody",
    "Source",
    "as_added",
    "check_notification",
    "check_source_id",
    "is_notification_id",
    "parse_notification",
    "render_added",
    "render_notification",
    "render_resolved",
    "render_resolving",
]

NotificationId = NewType("NotificationId", str)
MAX_SOURCE_ID = 200
MAX_METADATA_BYTES = 1 << 18


class Source(StrEnum):
    """What the result was about (Q6-Q9)."""

    EVAL = "eval"
    """A feedback, that the Analyst looked at."""
    PRD = "prd"
    """A section of the requirements, by the Dreamer."""
    PLAN = "plan"
    """A plan, by the Planner."""
    EXECUTE = "execute"
    """A task, by the Coder."""


class NotificationKind(StrEnum):
    """What sort of thing people are told (Q-U3)."""

    OPEN_QUESTION = "open_question"
    API_BLOCKED = "api_blocked"
    HIL_APPROVAL = "hil_approval"
    AGENT_FAILED = "agent_failed"


PREFIXES: dict[NotificationKind, str] = {
    NotificationKind.OPEN_QUESTION: "oq-",
    NotificationKind.API_BLOCKED: "ab-",
    NotificationKind.HIL_APPROVAL: "hil-",
    NotificationKind.AGENT_FAILED: "af-",
}
"""How the ids of each kind begin (Q-U2)."""


class ErrorCode(StrEnum):
    """Why an API lets nobody through (Q-U3)."""

    RATE_LIMIT = "rate_limit"
    AUTH = "auth"
    OUT_OF_CREDIT = "out_of_credit"


class NotificationStatus(StrEnum):
    """Where a notification is in its life."""

    OPEN = "open"
    RESOLVED = "resolved"


class Notification(msgspec.Struct, frozen=True, omit_defaults=True, rename="camel"):
    """One notification as it is now."""

    notification_id: NotificationId = msgspec.field(name="id")
    project_id: str
    source: Source
    source_id: str
    questions: tuple[Question, ...]
    status: NotificationStatus
    created_at: datetime
    resolved_at: datetime | None
    """Null while it is open; so it has no default, which would be left out."""
    kind: NotificationKind
    error_code: ErrorCode | None = None
    scope_change_metadata: dict[str, Json] | None = None
    """The summary and the proposed texts of a change of scope (Q-U13)."""
    responses: tuple[Response, ...] | None = None
    approved: bool | None = None
    """What a person said to a `hil_approval`. Whatever is not a yes counts as a no (Q-U13)."""
    is_dismissed: bool = msgspec.field(default=False, name="dismissed")
    """Resolved without an answer (Q-X12)."""
    resolved_by: str = ""
    ask_id: AskId | None = None
    """The ask that it is a view of."""
    command_id: str = ""
    """The command that resolved it: a retry of it gets the same reply."""
    sequence: int = 0
    """The number of the last event that changed it."""

    @property
    def is_open(self) -> bool:
        """Nobody has resolved it yet."""
        return self.status is NotificationStatus.OPEN

    @property
    def repeat_key(self) -> str:
        """What an open one shares with a new one that says the same: that one is then not added (Q-X5, Q-U12)."""
        if self.kind is NotificationKind.API_BLOCKED:
            said = str(self.error_code or "")
        elif self.kind is NotificationKind.HIL_APPROVAL:
            said = self.ask_id or self.notification_id  # two actions may be told in the same words
        else:
            said = digest_questions(self.questions)
        return digest(canonical([self.project_id, self.source.value, self.source_id, self.kind.value, said]))


def as_added(notification: Notification) -> Notification:
    """Return a notification as it was when it was added, whatever has become of it."""
    return replace(
        notification,
        status=NotificationStatus.OPEN,
        resolved_at=None,
        responses=None,
        approved=None,
        is_dismissed=False,
        resolved_by="",
        command_id="",
        sequence=0,
    )


class ResolvedBody(msgspec.Struct, frozen=True, rename="camel"):
    """What `notification.resolved` carries (Q-U5)."""

    notification_id: NotificationId
    project_id: str
    source: Source
    source_id: str


_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(Notification)


def render_notification(notification: Notification) -> bytes:
    """Return the public JSON form."""
    return _encoder.encode(notification)


def parse_notification(text: bytes) -> Notification:
    """Return the notification that its public JSON form describes."""
    return _decoder.decode(text)


def render_added(notification: Notification) -> bytes:
    """Return the body of `notification.added`: the whole notification (Q-U5)."""
    return render_notification(notification)


def render_resolved(notification: Notification) -> bytes:
    """Return the body of `notification.resolved` (Q-U5)."""
    body = ResolvedBody(
        notification.notification_id, notification.project_id, notification.source, notification.source_id
    )
    return _encoder.encode(body)


def render_resolving(notification: Notification) -> str:
    """Return who resolved it, when, and how, in one sentence."""
    if notification.resolved_at is None:
        return "It is still open."
    who, when = render_name(notification.resolved_by), render_instant(notification.resolved_at)
    if notification.is_dismissed:
        return f"{who} dismissed it at {when}, without an answer."
    if notification.approved is not None:
        return f"{who} {'approved' if notification.approved else 'rejected'} it at {when}."
    answers = dict.fromkeys(response.answer for response in notification.responses or ())
    return f'{who} answered at {when}: "{quote(", ".join(answers))}".'


def is_notification_id(text: str, kind: NotificationKind | None = None) -> bool:
    """Say whether `text` has the shape of a notification's id, of this kind or of any.

    >>> is_notification_id("oq-00c0ffee"), is_notification_id("oq-00c0ffee", NotificationKind.AGENT_FAILED)
    (True, False)
    """
    found = _ID(text)
    return found is not None and (kind is None or found["prefix"] == PREFIXES[kind])


_ID = re.compile(rf"(?P<prefix>{'|'.join(PREFIXES.values())})[0-9a-f]{{8}}").fullmatch


def check_source_id(text: str) -> str:
    """Return `text`, which names a feedback, a section, a plan or a task.

    Raises:
        BadRequestError: it is empty, too long, or not what it looks like.
    """
    is_plain = 1 <= len(text) <= MAX_SOURCE_ID and text == text.strip() and is_encodable(text)
    if not is_plain or is_blank(text) or display(text, lines=False) != text:
        raise BadRequestError(
            f'"{quote(text, 60)}" is no sourceId: it has 1 to {MAX_SOURCE_ID} visible characters '
            "and no white space around it."
        )
    return text


def check_notification(notification: Notification) -> None:
    """Check that a new notification says what its kind says, and nothing else.

    Raises:
        BadRequestError: it does not.
        TooLargeError: one of its parts is over its limit.
    """
    kind = notification.kind
    if not is_notification_id(notification.notification_id, kind):
        raise BadRequestError(
            f'"{quote(notification.notification_id, 60)}" is no id of a notification of the kind {kind}: '
            f"write {PREFIXES[kind]} and 8 hexadecimal digits."
        )
    check_source_id(notification.source_id)
    check_questions(notification.questions)
    if kind is not NotificationKind.OPEN_QUESTION and len(notification.questions) != 1:
        raise BadRequestError(f"A notification of the kind {kind} has one text, as its only question.")
    if (kind is NotificationKind.API_BLOCKED) is not (notification.error_code is not None):
        raise BadRequestError("An errorCode is for api_blocked, which needs one, and for no other kind.")
    metadata = notification.scope_change_metadata
    if metadata is None:
        return
    if kind is not NotificationKind.HIL_APPROVAL:
        raise BadRequestError("A scopeChangeMetadata is for hil_approval, and for no other kind.")
    size = len(canonical(metadata))
    if size > MAX_METADATA_BYTES:
        raise TooLargeError(
            f"A scopeChangeMetadata has at most {MAX_METADATA_BYTES:,} bytes; this one has {size:,}."
        )
