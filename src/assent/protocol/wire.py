"""What stands in the bodies of HTTP requests and replies, where it is no value that has a JSON form of its own.

Rule 1: a body that names what is not known is refused: a misspelled answer must not pass for none.
Rule 2: a reply may gain fields; whoever reads one ignores those that it does not know.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from assent.protocol.ask import Kind
from assent.protocol.notification import Source

__all__ = [
    "MAX_PAGE",
    "MAX_WAIT_SECONDS",
    "AsksQuery",
    "Body",
    "ErrorBody",
    "ErrorReply",
    "LogQuery",
    "NotificationsQuery",
    "NumbersQuery",
    "OutputQuery",
    "ReasonQuery",
    "Reply",
    "RunQuery",
    "RunsQuery",
    "TasksQuery",
    "WaitQuery",
]

MAX_PAGE = 10_000
"""So many things at most in one reply; whoever wants more comes again behind the last one."""
MAX_WAIT_SECONDS = 60.0
"""So long at most a long poll waits; whoever wants to wait longer comes again."""


class Body(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What somebody sends."""


class Reply(msgspec.Struct, frozen=True):
    """What somebody is told."""


class ErrorBody(Reply, frozen=True):
    """What went wrong."""

    code: str
    message: str
    """One sentence, for people."""
    details: dict[str, Any] = {}
    """What it is about: the ask or the notification as it is now, the RESULT of a command."""


class ErrorReply(Reply, frozen=True):
    """The body of every reply that is not a success."""

    error: ErrorBody


class AsksQuery(Body, frozen=True):
    """Which asks."""

    state: Literal["open", "ended", "answered", "declined", "withdrawn", "expired", "superseded", "all"] = (
        "open"
    )
    """Those that have `ended`: the last to end first. All others: the last to be opened first."""
    kind: Kind | None = None
    ending: str | None = None
    """Those with this id, or else those whose id ends so; all else in the query but the project counts for nothing then."""
    key: str | None = None
    """The one that holds this key in its project; all else in the query but the project counts for nothing then, too."""
    before: str | None = None
    """The id of an ask: only what comes behind it in this order, as a list says with its `next`."""
    limit: int = MAX_PAGE


class NumbersQuery(Body, frozen=True):
    """Of how many days, up to now; and where they begin."""

    days: int = 1
    """1, 7 or 30: today, or so many days with today as the last."""
    offset: int = 0
    """By how many minutes the clock is ahead of UTC where the day begins."""


class WaitQuery(Body, frozen=True):
    """How long to wait; and which wait of the asker's that is a part of, so that its death can be seen."""

    wait: float = 0.0
    waiter: str | None = None
    """A name of the asker's own for a wait of several polls. If it stops coming without a `last`, the asker is gone."""
    last: bool = False
    """Nobody comes again under this name."""


class LogQuery(Body, frozen=True):
    """From where on, how many, and how long to wait for the first."""

    after: int = 0
    limit: int = MAX_PAGE
    wait: float = 0.0


class RunQuery(Body, frozen=True):
    """After which event a change is waited for, and how long."""

    after: int = 0
    wait: float = 0.0


class RunsQuery(Body, frozen=True):
    """Which runs."""

    active: bool = True
    limit: int = MAX_PAGE


class OutputQuery(Body, frozen=True):
    """After how many bytes of an output."""

    after: int = 0


class NotificationsQuery(Body, frozen=True):
    """Which notifications."""

    status: Literal["open", "all"] = "open"
    source: Source | None = None
    """With `source_id`: all about one thing, oldest first."""
    source_id: str | None = None
    limit: int = MAX_PAGE


class TasksQuery(Body, frozen=True):
    """Which tasks."""

    status: Literal["live", "all"] = "all"
    limit: int = MAX_PAGE


class ReasonQuery(Body, frozen=True):
    """Why."""

    reason: str = ""
