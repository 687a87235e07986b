"""A token: a credential for a server. Whoever shows its secret acts as its role and name, in the projects of its scope.

Rule 1: the secret is shown once, to whoever had it made, and is kept nowhere. A store keeps its digest, and not even
        that goes out over a wire: `render_token` has the public form.
Rule 2: every token ends. It expires, or is revoked before.
Rule 3: what a token may do comes from the store's record of it, never from whoever shows it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from hashlib import sha256
from types import MappingProxyType
from typing import NewType

import msgspec

from assent.protocol.display import quote
from assent.protocol.error import BadRequestError, ForbiddenError
from assent.protocol.principal import Principal, Role

__all__ = [
    "ALL_PROJECTS",
    "DEFAULT_LIFE",
    "MAX_TOKEN_PROJECTS",
    "MAX_TOKEN_SECONDS",
    "SECRET_BYTES",
    "SECRET_PREFIX",
    "Token",
    "TokenId",
    "check_digest",
    "check_scope",
    "digest_of",
    "digest_of_session",
    "looks_like_token",
    "render_token",
]

TokenId = NewType("TokenId", str)

ALL_PROJECTS = "*"
"""In a scope: every project of the store, also those that do not exist yet."""
SECRET_PREFIX = "assent_"  # noqa: S105 - by which scanners and people know a secret of ours
SECRET_BYTES = 32
"""Of chance; as hexadecimal digits after the prefix."""
DEFAULT_LIFE: Mapping[Role, timedelta] = MappingProxyType(
    {
        Role.HUMAN: timedelta(days=30),
        Role.OPERATOR: timedelta(days=30),
        Role.OBSERVER: timedelta(days=30),
        Role.AGENT: timedelta(hours=24),
    }
)
"""How long a token lives for which nothing else was said."""
MAX_TOKEN_SECONDS = 366 * 86_400
"""No token lives longer."""
MAX_TOKEN_PROJECTS = 100
"""More than so many are written as `*`."""

_LENGTH = len(SECRET_PREFIX) + 2 * SECRET_BYTES
_DIGEST = re.compile(r"[0-9a-f]{64}").fullmatch
_SECRET = re.compile(rf"{SECRET_PREFIX}[0-9a-f]{{{2 * SECRET_BYTES}}}").fullmatch


class Token(msgspec.Struct, frozen=True):
    """A credential as the store keeps it."""

    token_id: TokenId
    project: str
    """Its home: where it was made, and is logged and listed."""
    projects: tuple[str, ...]
    """Where it holds."""
    role: Role
    name: str
    digest: str
    """Of the secret, as `digest_of` gives it."""
    created_at: datetime
    created_by: str
    expires_at: datetime
    revoked_at: datetime | None = None
    revoked_by: str = ""
    sequence: int = 0
    """The number of the last event that changed it, in its home."""
    is_unattended: bool = False
    """No person was there when it was made: whatever is answered with it is marked so."""

    @property
    def principal(self) -> Principal:
        """Who acts with it."""
        return Principal(self.role, self.name)

    def is_live(self, at: datetime) -> bool:
        """Whether it opens anything at this moment."""
        return self.revoked_at is None and at < self.expires_at

    def reaches(self, project: str) -> bool:
        """Whether it holds in this project."""
        return ALL_PROJECTS in self.projects or project in self.projects


def render_token(token: Token) -> dict[str, object]:
    """Return the public form: all but what could help to recognise the secret."""
    return {
        "token_id": token.token_id,
        "role": token.role.value,
        "name": token.name,
        "project": token.project,
        "projects": list(token.projects),
        "created_at": token.created_at,
        "created_by": token.created_by,
        "expires_at": token.expires_at,
        "revoked_at": token.revoked_at,
        "revoked_by": token.revoked_by or None,
        "unattended": token.is_unattended,
    }


def check_digest(text: str) -> str:
    """Return `text`, which somebody who minted a secret says is its digest.

    Raises:
        BadRequestError: it is no such digest.
    """
    if _DIGEST(text) is None:
        raise BadRequestError("The digest of a secret has 64 hexadecimal digits.")
    return text


def looks_like_token(text: str) -> bool:
    """Whether `text` could be a secret of ours: looked at before anything is hashed, so that garbage is cheap.

    >>> looks_like_token("assent_" + 64 * "0"), looks_like_token("hunter2")
    (True, False)
    """
    return len(text) == _LENGTH and _SECRET(text) is not None


def digest_of(secret: str) -> str:
    """Return the digest under which a secret is kept; only of what looks like one.

    A plain hash will do: there are 256 bits of chance in it, so nobody can try them all, and no salt would help.
    """
    return sha256(secret.encode()).hexdigest()


def digest_of_session(name: str) -> str:
    """Return the digest under which a session is kept, by its name: never that of a secret that somebody could show."""
    return sha256(b"assent session\n" + name.encode()).hexdigest()


def check_scope(minter: Token, projects: Sequence[str]) -> None:
    """Refuse a scope that is wider than that of the token with which it is made. An empty one is the home.

    Raises:
        ForbiddenError: it names a project that the minter does not reach.
    """
    for project in projects:
        if not minter.reaches(project):
            raise ForbiddenError(
                f'Your token does not reach "{quote(project, 60)}", so it can make none that does.'
            )
