"""What can be asked of a token: its commands. The hub sets the stamp."""

from __future__ import annotations

import msgspec

from assent.engine.stamp import UNSTAMPED, Stamp
from assent.protocol.principal import Assurance, Role
from assent.protocol.token import TokenId

__all__ = ["CreateToken", "RevokeToken", "TokenCommand"]


class CreateToken(msgspec.Struct, frozen=True):
    """Make a token. Whoever sends it has minted the secret, and sends its digest only."""

    token_id: TokenId
    digest: str
    role: Role
    name: str
    projects: tuple[str, ...] = ()
    """Where it holds; empty for the project in which it is made."""
    life_seconds: int | None = None
    """None for as long as tokens of its role live."""
    assurance: Assurance = Assurance.DECLARED
    is_unattended: bool = False
    """A person let a process make it where no terminal is; the log says so."""
    stamp: Stamp = UNSTAMPED


class RevokeToken(msgspec.Struct, frozen=True):
    """End a token now."""

    token_id: TokenId
    stamp: Stamp = UNSTAMPED


TokenCommand = CreateToken | RevokeToken
