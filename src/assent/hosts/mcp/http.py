"""The MCP server over HTTP, on loopback only.

Loopback is hostile: before anything is read, every request shows by which name it reached us, from which page it
comes, and a token.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import uvicorn
from starlette.datastructures import Headers
from starlette.responses import JSONResponse

from assent.hosts.mcp.caller import bearer_of

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

__all__ = ["PATH", "Guard", "LoopbackServer"]

PATH = "/mcp"
_NAMES = ("127.0.0.1", "localhost", "[::1]")

Admit = Callable[[str], Awaitable[bool]]
"""Says whether a token is good."""


class Guard:
    """Lets through what may come in."""

    def __init__(self, app: ASGIApp, port: int, admit: Admit) -> None:
        self._app = app
        self._hosts = {f"{name}:{port}" for name in _NAMES}
        self._origins = {f"http://{host}" for host in self._hosts}
        self._admit = admit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] == "http":
            refusal = await self._find_refusal(Headers(scope=scope))
            if refusal is not None:
                await refusal(scope, receive, send)
                return
        elif scope["type"] != "lifespan":
            await receive()
            await send({"type": "websocket.close", "code": 1008})  # nothing here is a socket
            return
        await self._app(scope, receive, send)

    async def _find_refusal(self, headers: Headers) -> JSONResponse | None:
        if (
            headers.getlist("host") != [headers.get("host", "")]
            or headers.get("host", "").lower() not in self._hosts
        ):
            return _refuse(421, "forbidden", "This server does not go by that name.")
        if any(origin.lower() not in self._origins for origin in headers.getlist("origin")):
            return _refuse(403, "forbidden", "This page may not call this server.")
        token = bearer_of(headers)
        if not token or not await self._admit(token):
            return _refuse(401, "unauthorised", "A token is needed: Authorization: Bearer …")
        return None


class LoopbackServer(uvicorn.Server):
    """A server whose end is its caller's matter: uvicorn's own would raise the signal once more when it is over."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave the signals to whoever started it."""
        yield


def _refuse(status: int, code: str, message: str) -> JSONResponse:
    headers = {"WWW-Authenticate": "Bearer"} if status == 401 else None  # noqa: PLR2004 - as HTTP has it
    return JSONResponse(
        {"error": {"code": code, "message": message, "details": {}}}, status_code=status, headers=headers
    )
