"""Who acts, and how sure we are of it."""

from __future__ import annotations

from enum import StrEnum
from functools import lru_cache

import msgspec

from assent.protocol.display import display, quote
from assent.protocol.error import BadRequestError

__all__ = ["MAX_NAME", "PROVEN", "Assurance", "Principal", "Role", "parse_principal"]

MAX_NAME = 200


class Role(StrEnum):
    """What a principal is; it decides what it may do."""

    HUMAN = "human"
    AGENT = "agent"
    OPERATOR = "operator"
    OBSERVER = "observer"


class Assurance(StrEnum):
    """How an answer's author was established."""

    TOKEN = "token"  # noqa: S105 - a server checked a person's credential
    TERMINAL = "terminal"
    """Typed at a controlling terminal."""
    COMMENT = "comment"
    """A server looked up which login on GitHub wrote it. Anybody with that login can, also an agent that uses it."""
    HOST = "host"
    """An agent's host says that its user chose it. An agent inside that host can forge this."""
    DECLARED = "declared"
    """A process said so."""


PROVEN = frozenset({Assurance.TOKEN, Assurance.TERMINAL})
"""What takes more than a program's word: an approval, a looser policy, a person's token, an address that is told."""


class Principal(msgspec.Struct, frozen=True, gc=False):
    """Somebody who acts: `human:ana`, `agent:coder`."""

    role: Role
    name: str

    def __str__(self) -> str:
        return f"{self.role}:{self.name}"


@lru_cache(maxsize=64)
def parse_principal(text: str) -> Principal:
    """Return the principal that `role:name` spells.

    Raises:
        BadRequestError: the role is unknown, or the name is missing or not what it looks like.
    """
    role, _, name = text.partition(":")
    if not name or role not in list(Role):
        roles = ", ".join(Role)
        raise BadRequestError(f'"{quote(text)}" is not a principal: write role:name, with a role of {roles}.')
    # Two names that look the same must be the same: what was answered is told by name.
    if len(name) > MAX_NAME or name != name.strip() or name != display(name, lines=False):
        raise BadRequestError(
            f'"{quote(text)}" is not a principal: a name has no hidden characters, no white space around it, '
            f"and at most {MAX_NAME} characters."
        )
    return Principal(Role(role), name)
