"""Errors on the wire: a status, and a body with the code, a sentence, and what it is about; and back."""

from __future__ import annotations

from typing import Any

import msgspec

from assent.protocol.ask import Ask
from assent.protocol.difference import Difference
from assent.protocol.error import (
    AssentError,
    BadRequestError,
    ForbiddenError,
    MisdirectedError,
    NotFoundError,
    StoreError,
    TooLargeError,
    TooManyError,
    UnauthorisedError,
    UnrecognisedError,
)
from assent.protocol.notification import Notification
from assent.protocol.wire import ErrorBody, ErrorReply

__all__ = ["STATUSES", "parse_error", "render_error", "status_of_error"]

_CONFLICT = 409

STATUSES: dict[type[AssentError], int] = {
    BadRequestError: 400,
    UnrecognisedError: 400,
    UnauthorisedError: 401,
    ForbiddenError: 403,
    NotFoundError: 404,
    TooLargeError: 413,
    MisdirectedError: 421,
    TooManyError: 429,
    StoreError: 503,
    AssentError: _CONFLICT,
}
"""The nearest class in an error's line of parents counts. What has no line of its own does not fit what is there."""

_PARTS: dict[str, Any] = {
    "ask": Ask,
    "notification": Notification,
    "differences": tuple[Difference, ...],
}
"""What an error may carry, by the name that it has in both places."""

_encoder = msgspec.json.Encoder()


def status_of_error(error: AssentError) -> int:
    """Return the HTTP status for `error`."""
    if type(error) is AssentError:
        return 500
    return next(STATUSES[kind] for kind in type(error).__mro__ if kind in STATUSES)


def render_error(error: AssentError, **more: object) -> bytes:
    """Return the body of the reply that tells of `error`; `more` stands beside what the error carries."""
    details = {name: part for name in _PARTS if (part := getattr(error, name, None)) is not None} | more
    return _encoder.encode(ErrorReply(ErrorBody(error.code, error.message, details)))


def parse_error(status: int, body: bytes) -> AssentError:
    """Return the error that a server's reply tells of; whatever the reply is, an error comes of it."""
    try:
        told = msgspec.json.decode(body, type=ErrorReply).error
    except (msgspec.DecodeError, UnicodeDecodeError):
        return AssentError(f"The server answered with the status {status}, and not as an Assent server does.")
    kind = _kinds().get(told.code, AssentError)
    error = kind(told.message)
    for name, part in _PARTS.items():
        if name in told.details and hasattr(error, name):
            setattr(error, name, _convert(told.details[name], part))
    return error


def _convert(value: object, kind: Any) -> Any:
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError:
        return None


def _kinds() -> dict[str, type[AssentError]]:
    kinds, left = {AssentError.code: AssentError}, [AssentError]
    while left:
        for kind in left.pop().__subclasses__():
            kinds.setdefault(kind.code, kind)
            left.append(kind)
    return kinds
