"""Tokens as rows, and back; and the part of a transaction that keeps them.

The record is the whole token; the columns beside it are only there to find it by, and the audit compares them.
"""

from __future__ import annotations

import msgspec

from assent.protocol.display import quote
from assent.protocol.token import Token, TokenId
from assent.storage.port import Head
from assent.storage.sql.row import UNREADABLE, read_record
from assent.storage.sql.session import Session

__all__ = ["PutTokens", "strayed_token", "token_of"]

_encode = msgspec.json.Encoder().encode
_token = msgspec.json.Decoder(Token).decode


def token_of(record: bytes) -> Token:
    """Return the token of a row.

    Raises:
        StoreDamagedError: somebody wrote what Assent does not write.
    """
    return read_record(_token, record, "token")


def strayed_token(project: str | None, token_id: str, digest: str, record: bytes) -> str | None:
    """Return the name of a token whose columns are not those of its record; an unreadable one is reported elsewhere."""
    try:
        token = _token(record)
    except UNREADABLE:
        return None
    is_same = (token.project, token.token_id, token.digest) == (project, token_id, digest)
    return None if is_same else f"token {quote(token_id)}"


class PutTokens:
    """The tokens of one transaction: what it has read, and what it will write."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._known: dict[tuple[str, str], Token | None] = {}
        self._put: dict[tuple[str, str], int] = {}

    def find(self, project: str, token_id: TokenId) -> Token | None:
        """Return the token as it is in this transaction."""
        key = (project, token_id)
        if key not in self._known:
            found = self._session.rows("token", key)
            self._known[key] = token_of(found[0][0]) if found else None
        return self._known[key]

    def put(self, head: Head, token: Token) -> None:
        """Keep `token` as it is now."""
        key = (head.project, token.token_id)
        self._known[key] = token
        self._put[key] = head.number

    def write(self) -> None:
        """Write what was put; called once, before COMMIT.

        Raises:
            CommandReusedError: another token has that secret.
        """
        for key, number in self._put.items():
            token = self._known[key]
            assert token is not None  # noqa: S101 - put() has set it
            values = (number, token.token_id, token.digest, _encode(token))
            self._session.write("put_token", [values], taken="This secret already belongs to another token.")
