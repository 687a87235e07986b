"""Credentials for a server, written once for both clients.

The secret is minted here, by whoever has the token made, and given back once. What goes through the door, to a hub or to
a server, is its digest: nobody else ever has it, and a command that is sent again makes no second token.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from assent.client.calls import Calls
from assent.client.door import Call, until
from assent.hub.command import CreateToken, RevokeToken, TokenCommand
from assent.hub.ids import new_command_id, new_session_name, new_token_id, new_token_secret
from assent.protocol.canonical import convert
from assent.protocol.error import AssentError
from assent.protocol.principal import Role
from assent.protocol.token import Token, TokenId, digest_of, digest_of_session

__all__ = ["create_token", "list_tokens", "open_session", "register_token", "revoke_token"]

_LISTED = 1_000


def create_token(
    calls: Calls,
    role: Role | str,
    *,
    name: str,
    projects: Sequence[str] = (),
    life: timedelta | None = None,
    is_unattended: bool = False,
    command_id: str = "",
) -> Call[tuple[Token, str]]:
    """Make a credential for a server; return it with its secret, which nothing keeps and nobody can show again.

    It holds in this project, in those that are named, or in every one (`"*"`), and for 30 days, an agent's for one,
    unless `life` says otherwise.

    Raises:
        ForbiddenError: an agent tries, or it is a person's or an operator's and nobody is at a terminal.
        BadRequestError: there is no such role, or the name, a project or the life cannot be.
        CommandReusedError: this command made its token before, and the secret is gone.
    """
    secret = new_token_secret()
    token = yield from register_token(
        calls,
        digest_of(secret),
        role,
        name=name,
        projects=projects,
        life=life,
        is_unattended=is_unattended,
        command_id=command_id,
    )
    return token, secret


def register_token(  # noqa: PLR0913 - as above
    calls: Calls,
    digest: str,
    role: Role | str,
    *,
    name: str,
    projects: Sequence[str] = (),
    life: timedelta | None = None,
    is_unattended: bool = False,
    command_id: str = "",
) -> Call[Token]:
    """Make a credential of a secret that somebody else minted and keeps: only its digest is known here."""
    token_id = calls.ids(command_id).new_token_id() if command_id else new_token_id()
    request = CreateToken(
        token_id,
        digest,
        convert(role, Role),
        name,
        tuple(projects),
        None if life is None else life // timedelta(seconds=1),
        calls.assurance,
        is_unattended or calls.is_unattended,
    )
    return (yield from _send(calls, request, command_id))


def open_session(
    calls: Calls, name: str, projects: Sequence[str], life: timedelta, *, is_unattended: bool = False
) -> Call[tuple[Token, str]]:
    """Make a credential for a page at which a person signs in; return it with the session's name, and no secret to show."""
    session = new_session_name()
    token = yield from register_token(
        calls,
        digest_of_session(session),
        Role.HUMAN,
        name=name,
        projects=projects,
        life=life,
        is_unattended=is_unattended,
    )
    return token, session


def list_tokens(calls: Calls, limit: int = _LISTED) -> Call[list[Token]]:
    """Return the tokens that were made in this project, newest first, also those that have ended."""
    return (yield from until(calls.door.tokens(calls.project, limit)))


def revoke_token(calls: Calls, token_id: str, *, command_id: str = "") -> Call[Token]:
    """End a token now; one that was revoked before stays as it is.

    Raises:
        NotFoundError: no token of that id was made in this project.
        ForbiddenError: an agent tries.
    """
    return (yield from _send(calls, RevokeToken(TokenId(token_id)), command_id))


def _send(calls: Calls, request: TokenCommand, command_id: str) -> Call[Token]:
    told = yield from until(
        calls.door.send(request, calls.project, calls.principal, command_id or new_command_id())
    )
    if not isinstance(told, Token):
        raise AssentError("The hub told of something else than a token.")
    return told
