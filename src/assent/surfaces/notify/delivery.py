"""What every service is given to deliver, and what it says when it could not."""

from __future__ import annotations

from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import msgspec

from assent.effects.outward import Reply
from assent.protocol.error import AssentError
from assent.protocol.target import Notice, Secret, Target
from assent.surfaces.notify.letter import Letter

__all__ = ["MAX_RETRY_SECONDS", "DeliveryError", "Parcel", "check_reply"]

MAX_RETRY_SECONDS = 3_600.0
"""Whatever the other side asks for, it is tried again within an hour."""
_OK, _GONE = 200, 410
_BUSY = frozenset({429, 503})
"""What may say when to come again."""
_ABOVE_OK = 300
_MOST_DIGITS = 7


class DeliveryError(AssentError):
    """The message was not delivered."""

    code = "not_delivered"

    def __init__(self, message: str, *, is_gone: bool = False, retry_seconds: float = 0.0) -> None:
        super().__init__(message)
        self.is_gone = is_gone
        """The other side is gone for good: nothing more is to be sent there."""
        self.retry_seconds = retry_seconds
        """So long the other side wants to be left alone."""


class Parcel(msgspec.Struct, frozen=True):
    """One message on its way."""

    target: Target
    secret: Secret
    notice: Notice
    letter: Letter
    now: datetime
    smtp: str = ""
    """The mail server of this place, where one is set."""


def check_reply(reply: Reply, what: str, now: datetime) -> None:
    """Take a reply for a success.

    Raises:
        DeliveryError: it is none. Only its number is told: the rest is the other side's text.
    """
    if _OK <= reply.status < _ABOVE_OK:
        return
    retry = _seconds(reply.retry_after, now) if reply.status in _BUSY else 0.0
    raise DeliveryError(
        f"{what} replied with status {reply.status}.", is_gone=reply.status == _GONE, retry_seconds=retry
    )


def _seconds(text: str, now: datetime) -> float:
    """Return how long to wait by a Retry-After, which is a number of seconds or a moment (RFC 9110, 10.2.3)."""
    if text.isascii() and text.isdecimal() and len(text) <= _MOST_DIGITS:
        return min(float(text), MAX_RETRY_SECONDS)
    try:
        at = parsedate_to_datetime(text)
    except (TypeError, ValueError):
        return 0.0
    at = at if at.tzinfo is not None else at.replace(tzinfo=UTC)
    return min(max((at - now).total_seconds(), 0.0), MAX_RETRY_SECONDS)
