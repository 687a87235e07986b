"""A token is made once, and ends when it expires or when somebody revokes it.

Rule 1: who may make which token, and who may revoke one, is in this file.
Rule 2: agents and observers do neither: nothing that an agent holds leads to more than it holds (decided rule 8).
        People make tokens of every role. An operator makes none for people: authority to answer comes from people.
Rule 3: a token that could answer or steer needs more than a process's word: a terminal, a token, or a person's
        explicit consent that nobody is there, which the log then shows. Exactly as loosening a policy does.
Rule 4: a token that was revoked stays so. What is sent again does nothing, and is told what it was told before.
Rule 5: to expire is no event: whoever looks compares the moment.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import get_args

import msgspec
from msgspec.structs import replace

from assent.engine.machine import Machine
from assent.engine.stamp import NOBODY, UNSTAMPED, Stamp
from assent.protocol.display import quote
from assent.protocol.error import BadRequestError, CommandReusedError, ForbiddenError, NotFoundError
from assent.protocol.principal import PROVEN, Assurance, Role, parse_principal
from assent.protocol.project import check_project
from assent.protocol.token import (
    ALL_PROJECTS,
    DEFAULT_LIFE,
    MAX_TOKEN_PROJECTS,
    MAX_TOKEN_SECONDS,
    Token,
    TokenId,
)

__all__ = [
    "MACHINE",
    "MINTS",
    "WEIGHTY",
    "CreateToken",
    "RevokeToken",
    "TokenCommand",
    "TokenCreated",
    "TokenEvent",
    "TokenRevoked",
    "decide",
    "evolve",
]


# Events


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


# Commands


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


# The machine

MINTS: Mapping[Role, frozenset[Role]] = MappingProxyType(
    {
        Role.HUMAN: frozenset(Role),
        Role.OPERATOR: frozenset({Role.AGENT, Role.OPERATOR, Role.OBSERVER}),
    }
)
"""Who makes tokens, and of which roles. The same may revoke, whatever the role: that gives nobody anything."""
WEIGHTY = frozenset({Role.HUMAN, Role.OPERATOR})
"""The roles that answer asks and steer runs."""

_ID = re.compile(r"tok_[0-9a-z]{8,40}").fullmatch
_DIGEST = re.compile(r"[0-9a-f]{64}").fullmatch


def decide(token: Token | None, command: TokenCommand, *, project: str) -> tuple[TokenEvent, ...]:
    """Return what `command`, sent in `project`, does to the token; nothing when it was done before.

    Raises:
        ForbiddenError: this principal may not do that, or not in this way.
        BadRequestError: a part of the new token is not what it must be.
        CommandReusedError: there is another token of that id.
        NotFoundError: there is none to revoke.
    """
    _check_minter(command.stamp)
    if isinstance(command, CreateToken):
        return _create(token, command, project)
    return _revoke(token, command)


def evolve(token: Token | None, event: TokenEvent, *, project: str = "", sequence: int = 0) -> Token:
    """Return the token as it is after `event`, the project's event number `sequence`."""
    if isinstance(event, TokenCreated):
        return Token(
            event.token_id,
            project,
            event.projects,
            event.role,
            event.name,
            event.digest,
            event.at,
            event.by,
            event.expires_at,
            sequence=sequence,
            is_unattended=event.is_unattended,
        )
    assert token is not None  # noqa: S101 - decide() has found it
    return replace(token, revoked_at=event.at, revoked_by=event.by, sequence=sequence)


def _create(token: Token | None, command: CreateToken, project: str) -> tuple[TokenEvent, ...]:
    stamp = command.stamp
    role = _check_role(command)
    projects = _scope(command.projects, project)
    life = _life(command, role)
    if not _ID(command.token_id):
        raise BadRequestError(f'"{quote(command.token_id, 60)}" is not a token\'s id.')
    if not _DIGEST(command.digest):
        raise BadRequestError("A token is kept by the SHA-256 of its secret: 64 hexadecimal digits.")
    if token is not None:
        made = (token.role, token.name, token.projects, token.digest, token.expires_at - token.created_at)
        if made != (role, command.name, projects, command.digest, life) or token.created_by != str(stamp.by):
            raise CommandReusedError(
                f"{token.token_id} was made already, and its secret was shown only once. Make another token."
            )
        return ()
    return (
        TokenCreated(
            command.token_id,
            role,
            command.name,
            projects,
            command.digest,
            stamp.at,
            str(stamp.by),
            stamp.at + life,
            command.assurance,
            command.is_unattended,
            stamp.command_id,
        ),
    )


def _revoke(token: Token | None, command: RevokeToken) -> tuple[TokenEvent, ...]:
    if token is None:
        raise NotFoundError("There is no such token here.")
    if token.revoked_at is not None:
        return ()
    stamp = command.stamp
    return (TokenRevoked(token.token_id, stamp.at, str(stamp.by), stamp.command_id),)


def _check_minter(stamp: Stamp) -> None:
    if stamp.by.role is Role.AGENT:
        raise ForbiddenError(f"{stamp.by} is an agent: only a person can make or revoke tokens.")
    if stamp.by.role not in MINTS or stamp.by == NOBODY:
        raise ForbiddenError(f"{stamp.by} may not make or revoke tokens.")


def _check_role(command: CreateToken) -> Role:
    principal = parse_principal(f"{command.role}:{command.name}")
    if principal == NOBODY:
        # Whoever acts under that name is taken for the hub itself.
        raise BadRequestError(f"{principal} is Assent itself; choose another name.")
    if principal.role not in MINTS[command.stamp.by.role]:
        raise ForbiddenError(f"{command.stamp.by} may not make a token for a person: only a person can.")
    is_word_only = command.assurance not in PROVEN and not command.is_unattended
    if principal.role in WEIGHTY and is_word_only:
        raise ForbiddenError(
            "Making a token for a person or an operator needs a person at a terminal or a person's token; "
            "a process's word is not enough."
        )
    return principal.role


def _scope(projects: tuple[str, ...], home: str) -> tuple[str, ...]:
    if home == ALL_PROJECTS:
        raise BadRequestError(
            f'"{home}" means every project where it is said for whom a token is: make it in another.'
        )
    if len(projects) > MAX_TOKEN_PROJECTS:
        raise BadRequestError(
            f'A token is for at most {MAX_TOKEN_PROJECTS} projects, or for "{ALL_PROJECTS}": every one.'
        )
    if ALL_PROJECTS in projects:
        return (ALL_PROJECTS,)
    return tuple(dict.fromkeys(map(check_project, projects))) or (home,)


def _life(command: CreateToken, role: Role) -> timedelta:
    seconds = command.life_seconds
    if seconds is None:
        return DEFAULT_LIFE[role]
    if not 1 <= seconds <= MAX_TOKEN_SECONDS:
        days = MAX_TOKEN_SECONDS // 86_400
        raise BadRequestError(f"A token lives for at least a second and at most {days} days.")
    return timedelta(seconds=seconds)


MACHINE = Machine(
    "token",
    {
        CreateToken: frozenset({Role.HUMAN, Role.OPERATOR}),  # of which roles, `decide` knows
        RevokeToken: frozenset({Role.HUMAN, Role.OPERATOR}),
    },
    get_args(TokenEvent),
    decide,
    evolve,
    key=lambda command: str(command.token_id),
    context=("project",),
)
