"""One request and its reply, as a generator that knows what to do when the network fails; and who drives it.

Rule 1: a request that changes something carries its command's id as its Idempotency-Key, so it can be sent again: it is
        done once, and the reply is that of the first time.
Rule 2: a server that is away for a moment (a restart, a dropped connection) is tried again, in growing steps with
        chance in them, so that a thousand clients do not come back at once.
Rule 3: a server that never answered is not waited for long: more likely its address is wrong.
"""

from __future__ import annotations

import time
from collections.abc import Generator
from typing import TypeVar

import httpx2
import msgspec

from assent.protocol.error import UnreachableError
from assent.protocol.wire_error import parse_error

__all__ = [
    "FIRST_SECONDS",
    "RETRY_SECONDS",
    "Exchange",
    "Line",
    "Pause",
    "Sent",
    "describe_absence",
    "exchange",
]

T = TypeVar("T")

RETRY_SECONDS = 60.0
"""So long a request is tried again where a server that has answered before no longer does."""
FIRST_SECONDS = 3.0
"""The same where none has ever answered."""
_FIRST_PAUSE, _LONGEST_PAUSE = 0.05, 2.0
_AWAY = frozenset({502, 504})
"""What a proxy says when the server behind it is away."""
_FAILED = 400


class Sent(msgspec.Struct, frozen=True):
    """A request as it goes out."""

    method: str
    path: str
    query: dict[str, str]
    content: bytes
    headers: dict[str, str]
    seconds: float
    """How long its reply may take."""


class Pause(msgspec.Struct, frozen=True):
    """Time to let go by before the next try."""

    seconds: float


Exchange = Generator[Sent | Pause, httpx2.Response | Exception | None, T]
"""Yields what to do next; is sent the response, or the error that came instead of one; returns what came of it."""


class Line:
    """What is known of the way to a server."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.has_answered = False


def exchange(line: Line, sent: Sent, patience: float | None = RETRY_SECONDS) -> Exchange[bytes]:
    """Send a request until it is answered; `patience` is how long a server that is away is tried, None without end.

    Raises:
        AssentError: the server's refusal, with its class, sentence and ask.
        UnreachableError: nobody answered.
    """
    until_when = None if patience is None else time.monotonic() + patience
    first_until = time.monotonic() + FIRST_SECONDS
    pause = _FIRST_PAUSE
    while True:
        came = yield sent
        if isinstance(came, httpx2.Response) and came.status_code not in _AWAY:
            line.has_answered = True
            if came.status_code < _FAILED:
                return came.content
            raise parse_error(came.status_code, came.content)
        now = time.monotonic()
        limit = until_when if line.has_answered else first_until
        if limit is not None and now + pause >= limit:
            raise UnreachableError(describe_absence(line, came))
        yield Pause(_spread(pause))
        pause = min(2 * pause, _LONGEST_PAUSE)


def _spread(seconds: float) -> float:
    """Return half to all of it: the clock's last digits are chance enough to keep clients from coming back together."""
    return seconds * (0.5 + time.monotonic_ns() // 1_000 % 1_000 / 2_000)


def describe_absence(line: Line, came: object) -> str:
    """Return why nobody could be reached, in one sentence."""
    if isinstance(came, httpx2.Response):
        return f"{line.url} answers with the status {came.status_code}: the server behind it is away."
    if isinstance(came, httpx2.TimeoutException):
        return f"{line.url} does not answer in time."
    return f"No server answers at {line.url}. Start one with: assent serve"
