"""Tokens that many tests start from."""

from datetime import timedelta
from typing import Any

from msgspec.structs import replace

from assent.engine.token import CreateToken
from assent.protocol.principal import Assurance, Role
from assent.protocol.token import SECRET_BYTES, SECRET_PREFIX, Token, TokenId, digest_of
from tests.samples import ANA, NOON

__all__ = ["SECRET", "TOKEN_ID", "creating", "new_token", "secret_number"]

TOKEN_ID = TokenId("tok_000000000000000001")


def secret_number(number: int) -> str:
    """Return a secret of its own for each number."""
    return f"{SECRET_PREFIX}{number:0{2 * SECRET_BYTES}x}"


SECRET = secret_number(1)


def new_token(number: int = 1, **changes: Any) -> Token:
    """Return a live token of an agent; `changes` are fields of it."""
    token = Token(
        TokenId(f"tok_{number:018}"),
        "p",
        ("p",),
        Role.AGENT,
        "ci",
        digest_of(secret_number(number)),
        NOON,
        str(ANA),
        NOON + timedelta(days=1),
    )
    return replace(token, **changes)


def creating(role: Role = Role.AGENT, number: int = 1, **changes: Any) -> CreateToken:
    """Return the command as a person at a terminal sends it."""
    command = CreateToken(
        TokenId(f"tok_{number:018}"),
        digest_of(secret_number(number)),
        role,
        "ci",
        assurance=Assurance.TERMINAL,
    )
    return replace(command, **changes)
