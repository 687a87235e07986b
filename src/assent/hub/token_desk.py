"""The part of the desk for tokens: made and revoked in the project that is their home, whatever their scope."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assent.engine.token import TokenCommand, decide, evolve
from assent.protocol.error import NotFoundError
from assent.protocol.token import Token
from assent.storage.port import Head

if TYPE_CHECKING:
    from assent.hub.desk import Desk

__all__ = ["TokenDesk"]


class TokenDesk:
    """The tokens of one transaction."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def perform(self, head: Head, command: TokenCommand) -> Token:
        """Do one command, which is stamped; return its token as it is now."""
        token = self._desk.transaction.token(head.project, command.token_id)
        for event in decide(token, command, project=head.project):
            token = evolve(token, event, project=head.project, sequence=head.sequence + 1)
            self._desk.record(head, event, token.token_id)
            self._desk.transaction.put_token(head, token)
        if token is None:
            raise NotFoundError("There is no such token here.")
        return token
