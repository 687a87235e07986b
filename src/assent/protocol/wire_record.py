"""Credentials, the log, and what a server says of itself, as HTTP bodies. See `wire`."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from assent.protocol.principal import Role
from assent.protocol.wire import Body, Reply

__all__ = [
    "AuditReply",
    "Event",
    "HeadReply",
    "Health",
    "Log",
    "LogRecord",
    "LookBody",
    "Looking",
    "Present",
    "Projects",
    "TokenBody",
    "TokenReply",
    "Tokens",
    "WhoReply",
]


class TokenBody(Body, frozen=True):
    """A token to make."""

    role: Role
    name: str
    projects: tuple[str, ...] = ()
    """Where it holds; empty for the project of the path, `*` for every one."""
    life_seconds: int | None = None
    digest: str | None = None
    """Of a secret that the sender minted and keeps; without it the server mints one, and tells it once."""
    unattended: bool = False


class TokenReply(Reply, frozen=True, omit_defaults=True):
    """A token without its secret; with it only where the server has just minted it."""

    token_id: str
    role: Role
    name: str
    project: str
    projects: tuple[str, ...]
    created_at: datetime
    created_by: str
    expires_at: datetime
    revoked_at: datetime | None
    revoked_by: str | None
    token: str | None = None
    """The secret. It is told once."""
    unattended: bool = False
    """No person was there when it was made: whatever is answered with it is marked so."""


class Tokens(Reply, frozen=True):
    """Tokens, newest first."""

    tokens: tuple[TokenReply, ...]


class LogRecord(Reply, frozen=True):
    """One event as the log keeps it; `data` is the exact text that was hashed."""

    sequence: int
    type: str
    at: datetime
    subject: str
    topic: str | None
    data: msgspec.Raw
    """Null when it was erased."""
    digest: str
    hash: str


class Log(Reply, frozen=True):
    """Events, oldest first."""

    events: tuple[LogRecord, ...]


class HeadReply(Reply, frozen=True):
    """Where a log ends."""

    sequence: int
    """The number of its last event; 0 where there is none."""


class Event(Reply, frozen=True):
    """One event as it is broadcast."""

    sequence: int
    type: str
    at: datetime
    data: msgspec.Raw


class AuditReply(Reply, frozen=True):
    """What was looked at, and what is wrong."""

    projects: int
    events: int
    asks: int
    problems: tuple[str, ...]
    erased: int = 0
    runs: int = 0
    ahead: int = 0
    """Events that are dated more than five minutes ahead of the clock."""


class Projects(Reply, frozen=True):
    """The projects that the caller can see something in."""

    projects: tuple[str, ...]


class LookBody(Body, frozen=True):
    """What somebody's page shows now."""

    page: Annotated[str, Meta(pattern="^[A-Za-z0-9_-]{8,64}$")]
    """Chance, by which one page is told from the others of the same person."""
    project: str | None = None
    ask_id: Annotated[str, Meta(pattern="^[A-Za-z0-9_-]{1,64}$")] | None = None


class Present(Reply, frozen=True):
    """Somebody who looks."""

    by: str
    via: str
    project: str | None
    ask_id: str | None
    since: datetime
    """When they came to it."""


class Looking(Reply, frozen=True):
    """Who else looks, the last to come first."""

    present: tuple[Present, ...]


class WhoReply(Reply, frozen=True):
    """Whose token it is, and what it is good for."""

    role: Role
    name: str
    projects: tuple[str, ...]
    expires_at: datetime
    now: datetime
    """By the server's clock."""


class Health(Reply, frozen=True):
    """The server is there, and so is its store."""

    status: Literal["ok"] = "ok"
