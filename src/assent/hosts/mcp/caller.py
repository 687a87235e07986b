"""For whom a request acts: on a pipe there is one agent; over HTTP it is whoever shows a token.

Where the store is a server, a caller's token is the server's own, and what it may do is the server's matter. Otherwise one
token lets in, and all who show it are the same agent.
"""

from __future__ import annotations

import hmac
from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import anyio.to_thread

from assent.protocol.error import AssentError, UnauthorisedError

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext

    from assent.client.calls import Calls

__all__ = ["Callers", "bearer_of"]

_MOST_KEPT = 200

Open = Callable[[str | None], "Calls"]
"""Returns the calls of whoever a token belongs to; None is this process."""


class Callers:
    """Everybody who calls."""

    def __init__(self, open_calls: Open, token: str | None) -> None:
        self._open = open_calls
        self.token = token
        """The one token that lets in; none where the server that is the store knows its callers."""
        self._first: Calls | None = None
        self._known: OrderedDict[str, Calls] = OrderedDict()

    def first(self) -> Calls:
        """Return the calls of this process's own agent."""
        if self._first is None:
            self._first = self._open(None)
        return self._first

    async def find_first(self, ctx: ServerRequestContext[Any, Any]) -> Calls:
        """Return whom a request on a pipe acts for."""
        del ctx
        return self.first()

    async def find(self, ctx: ServerRequestContext[Any, Any]) -> Calls:
        """Return whom a request over HTTP acts for.

        Raises:
            UnauthorisedError: it shows no token that is good.
        """
        if self.token is not None:
            return self.first()
        headers = getattr(ctx.request, "headers", None)
        token = "" if headers is None else bearer_of(headers)
        if not token:
            raise UnauthorisedError
        return await self._caller(token)

    async def admit(self, token: str) -> bool:
        """Say whether a token is good."""
        if self.token is not None:
            return hmac.compare_digest(token.encode(), self.token.encode())
        try:
            await self._caller(token)
        except AssentError:
            return False
        return True

    async def _caller(self, token: str) -> Calls:
        known = self._known.get(token)
        if known is None:
            opened = await anyio.to_thread.run_sync(self._open, token)
            known = self._known.setdefault(token, opened)
            if known is not opened:
                opened.door.close()  # the same caller came twice at once
            while len(self._known) > _MOST_KEPT:
                self._known.popitem(last=False)[1].door.close()
        self._known.move_to_end(token)
        return known

    def close(self) -> None:
        """Close every door."""
        while self._known:
            self._known.popitem()[1].door.close()
        if self._first is not None:
            self._first.door.close()


def bearer_of(headers: Any) -> str:
    """Return the token that a request shows; empty where there is none, or more than one."""
    shown = headers.getlist("authorization")
    scheme, _, token = (shown[0] if len(shown) == 1 else "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""
