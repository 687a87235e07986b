"""How a person at this machine signs in: with a code that the server printed, good once and for ten minutes.

Rule 1: the code is in the fragment of a link, which no browser sends anywhere. Fetching the link decides nothing: what
        counts is that the page, at a person's click, posts the code.
Rule 2: what is given for it is a token as any other, made in the log, that can be listed and revoked. It goes into a cookie
        that no script can read, and that no other site can make a browser send.
Rule 3: wrong, used, late and none look alike.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from datetime import timedelta
from hashlib import sha256
from hmac import compare_digest

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from assent.client.awaiting import await_call
from assent.client.calls import Calls
from assent.client.tokens import create_token, revoke_token
from assent.protocol.canonical import convert, parse_json
from assent.protocol.error import AssentError, ForbiddenError, TooLargeError, UnauthorisedError
from assent.protocol.principal import Role
from assent.protocol.token import ALL_PROJECTS, Token
from assent.protocol.wire_error import render_error, status_of_error
from assent.protocol.wire_record import WhoReply
from assent.surfaces.http.caller import COOKIE, find_caller
from assent.surfaces.http.site import Site

__all__ = ["CODE_SECONDS", "MAX_SIGN_IN_BYTES", "SESSION_SECONDS", "SignIn", "SignInBody", "sign_in_routes"]

CODE_SECONDS = 600
"""How long the code of a link is good."""
SESSION_SECONDS = 12 * 3_600
"""How long somebody who signed in stays so."""
MAX_SIGN_IN_BYTES = 1_024
"""Of a body that signs somebody in."""
_JSON = "application/json"
_REFUSED = (
    "This link is no longer good: it was used, or is older than ten minutes. assent serve prints a new one."
)

_encoder = msgspec.json.Encoder()


class SignInBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the page posts."""

    code: str


class SignIn:
    """One code, and for whom it is; only its digest is kept."""

    def __init__(
        self,
        calls: Calls,
        code: str,
        *,
        is_unattended: bool = False,
        is_secure: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._calls, self._is_unattended, self.is_secure = calls, is_unattended, is_secure
        self._clock = clock
        self._digest: bytes | None = _digest(code)
        self._until = clock() + CODE_SECONDS

    async def redeem(self, code: str) -> tuple[Token, str]:
        """Give a token, with its secret, for the code; of several who show it at once, one gets it.

        Raises:
            UnauthorisedError: it is not the code, or no longer.
        """
        held = self._digest
        if held is None or self._clock() >= self._until or not compare_digest(held, _digest(code)):
            raise UnauthorisedError(_REFUSED)
        self._digest = None  # before anything is awaited
        try:
            return await await_call(
                create_token(
                    self._calls,
                    Role.HUMAN,
                    name=self._calls.principal.name,
                    projects=(ALL_PROJECTS,),
                    life=timedelta(seconds=SESSION_SECONDS),
                    is_unattended=self._is_unattended,
                )
            )
        except BaseException:
            self._digest = held  # the store was busy, or the server stops: nobody has it yet
            raise


def _digest(code: str) -> bytes:
    return sha256(code.encode("utf-8", "surrogatepass")).digest()


def sign_in_routes(site: Site, sign_in: SignIn | None) -> list[BaseRoute]:
    """Return the routes by which somebody signs in and out; without a code nobody signs in."""

    async def enter(request: Request) -> Response:
        body = convert(parse_json(await _read(request)), SignInBody)
        if sign_in is None:
            raise UnauthorisedError(_REFUSED)
        token, secret = await sign_in.redeem(body.code)
        told = WhoReply(token.role, token.name, token.projects, token.expires_at, site.now())
        response = Response(_encoder.encode(told), media_type=_JSON)
        response.set_cookie(
            COOKIE,
            secret,
            max_age=SESSION_SECONDS,
            secure=sign_in.is_secure,
            httponly=True,
            samesite="strict",
        )
        return response

    async def leave(request: Request) -> Response:
        caller = await find_caller(site, request)
        if not caller.is_session:
            raise ForbiddenError("Whoever shows a token has not signed in; assent token revoke ends a token.")
        await await_call(
            revoke_token(caller.calls(site.door, caller.token.project, "page"), caller.token.token_id)
        )
        response = Response(status_code=204)
        response.delete_cookie(COOKIE, httponly=True, samesite="strict")
        return response

    return [
        Route("/sign-in", _guarded(enter), methods=["POST"]),
        Route("/sign-out", _guarded(leave), methods=["POST"]),
    ]


async def _read(request: Request) -> bytes:
    """Return the body: of strangers, no more is kept than a code can have."""
    text = b""
    async for part in request.stream():
        text += part
        if len(text) > MAX_SIGN_IN_BYTES:
            raise TooLargeError(f"To sign in takes at most {MAX_SIGN_IN_BYTES:,} bytes.")
    return text


def _guarded(endpoint: Callable[[Request], Awaitable[Response]]) -> Callable[[Request], Awaitable[Response]]:
    async def respond(request: Request) -> Response:
        try:
            return await endpoint(request)
        except AssentError as error:
            return Response(render_error(error), status_of_error(error), media_type=_JSON)

    return respond
