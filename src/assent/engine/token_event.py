"""What can happen to a token, as the log keeps it. The tag is the event's type on the wire.

The secret is in neither: no command brings it, so none of these could keep it.
"""

from __future__ import annotations

from datetime import datetime

import msgspec

from assent.protocol.principal import Assurance, Role
from assent.protocol.token import TokenId

__all__ = ["TokenCreated", "TokenEvent", "TokenRevoked"]


class TokenCreated(msgspec.Struct, frozen=True, tag="token.created"):
    """Somebody may act with a new credential."""

    token_id: TokenId
    role: Role
    name: str
    projects: tuple[str, ...]
    digest: str
    """Of the secret: what an audit compares the row with."""
    at: datetime
    by: str
    expires_at: datetime
    assurance: Assurance
    is_unattended: bool = False
    command_id: str = ""


class TokenRevoked(msgspec.Struct, frozen=True, tag="token.revoked"):
    """Nobody acts with it any more."""

    token_id: TokenId
    at: datetime
    by: str
    command_id: str = ""


TokenEvent = TokenCreated | TokenRevoked
