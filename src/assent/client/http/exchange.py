"""One request and its reply, as a generator that knows what to do when the network fails; and who drives it.

Rule 1: a request that changes something carries its command's id as its Idempotency-Key, so it can be sent again: it is
        done once, and the reply is that of the first time.
Rule 2: a server that is away for a moment (a restart, a dropped connection) is tried again, in growing steps with
        chance in them, so that a thousand clients do not come back at once.
Rule 3: a server that never answered is not waited for long: more likely its address is wrong.
Rule 4: a command to a run is over when its time is. Its bound goes with it, by the server's own clock, so that a server
        that wakes up later does not obey what its sender was told has failed (I29).
"""

from __future__ import annotations

import time
from collections.abc import Generator, Mapping
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import TypeVar

import httpx2
import msgspec
from msgspec import structs

from assent.client.boot import boot_milliseconds
from assent.protocol.boot_time import (
    CLOCK_HEADER,
    NOT_AFTER_HEADER,
    NOW_HEADER,
    BootTime,
    parse_boot_time,
    render_boot_time,
)
from assent.protocol.error import BadRequestError, ControlExpiredError, UnreachableError
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
    "exchange_by",
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
_CLOCK_MILLISECONDS = 60_000
_SPARE_MILLISECONDS = 1_000
_LEAST_SECONDS = 0.05


class Sent(msgspec.Struct, frozen=True):
    """A request as it goes out."""

    method: str
    path: str
    query: dict[str, str]
    content: bytes
    headers: dict[str, str]
    seconds: float
    """How long its reply may take."""
    limit: float | None = None
    """How long all of it may take, where nobody waits for longer."""


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
        self._boot, self._ahead, self._heard_at = "", 0, 0
        self._now: tuple[datetime, int] | None = None
        """The moment by the clock of the server's store, and when it was heard."""

    def hear(self, headers: Mapping[str, str]) -> None:
        """Note what the server's clock says."""
        with suppress(KeyError, BadRequestError):
            told, now = parse_boot_time(headers[CLOCK_HEADER]), boot_milliseconds()
            # By now its clock says more: whatever is reckoned by this is too early, and never too late.
            self._boot, self._ahead, self._heard_at = told.boot, told.milliseconds - now, now
        with suppress(KeyError, ValueError):
            self._now = datetime.fromisoformat(headers[NOW_HEADER]).astimezone(UTC), boot_milliseconds()

    @property
    def now(self) -> datetime | None:
        """The moment by the clock of the server's store; None before it was heard."""
        if self._now is None:
            return None
        told, heard_at = self._now
        return told + timedelta(milliseconds=boot_milliseconds() - heard_at)

    @property
    def knows_clock(self) -> bool:
        """It was heard of late: no two clocks go alike for ever."""
        return bool(self._boot) and boot_milliseconds() - self._heard_at < _CLOCK_MILLISECONDS

    def bound(self, not_after: int) -> dict[str, str]:
        """Return the header that says when it is too late for a command; none for a server that tells no clock."""
        if not self._boot:
            return {}
        # Whoever acknowledges it at the last moment is still heard.
        spare = min(_SPARE_MILLISECONDS, max(0, not_after - boot_milliseconds()) // 4)
        told = BootTime(self._boot, max(0, not_after - spare + self._ahead))
        return {NOT_AFTER_HEADER: render_boot_time(told)}


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
            return _read(line, came)
        now = time.monotonic()
        limit = until_when if line.has_answered else first_until
        if limit is not None and now + pause >= limit:
            raise _absent(line, came)
        yield Pause(_spread(pause))
        pause = min(2 * pause, _LONGEST_PAUSE)


def exchange_by(line: Line, sent: Sent, not_after: int) -> Exchange[bytes]:
    """Send a command to a run until it is answered, or it is too late for it by the boot clock.

    Raises:
        AssentError: the server's refusal, with its class, sentence and ask.
        ControlExpiredError: the server said nothing.
        UnreachableError: nobody is there, or no longer.
    """
    first_until = time.monotonic() + FIRST_SECONDS
    pause, is_cut = _FIRST_PAUSE, False
    while True:
        left = max(_LEAST_SECONDS, (not_after - boot_milliseconds()) / 1_000)
        came = yield structs.replace(sent, limit=left)
        if isinstance(came, httpx2.Response) and came.status_code not in _AWAY:
            return _read(line, came)
        is_late = boot_milliseconds() + pause * 1_000 >= not_after
        if isinstance(came, httpx2.ReadTimeout) and is_late and not is_cut:
            raise ControlExpiredError
        is_cut = is_cut or not isinstance(came, httpx2.ConnectError | httpx2.ConnectTimeout)
        if is_cut and is_late:
            raise UnreachableError(
                f"{line.url} was gone before it replied: the command may or may not have been executed."
            )
        if is_late or not (is_cut or line.has_answered or time.monotonic() + pause < first_until):
            raise _absent(line, came)
        yield Pause(_spread(pause))
        pause = min(2 * pause, _LONGEST_PAUSE)


def _read(line: Line, came: httpx2.Response) -> bytes:
    line.has_answered = True
    line.hear(came.headers)
    if came.status_code < _FAILED:
        return came.content
    raise parse_error(came.status_code, came.content)


def _absent(line: Line, came: object) -> UnreachableError:
    error = UnreachableError(describe_absence(line, came))
    error.is_silent = isinstance(came, httpx2.ReadTimeout)
    return error


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
