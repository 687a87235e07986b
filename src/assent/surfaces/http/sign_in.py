"""How a person signs in: with a code that the server printed, good once and for ten minutes, or with a token of their own.

Rule 1: the code is in the fragment of a link, which no browser sends anywhere. Fetching the link decides nothing: what
        counts is that the page, at a person's click, posts the code.
Rule 2: what is given for it is a session, in the log as a token is, that can be listed and revoked, and that nobody can
        show as a token: see `session`.
Rule 3: a token signs in whom it was made for, where it is good and while it is, and only a person. It is shown once more
        and kept nowhere.
Rule 4: wrong, used, late and none look alike.
"""

from __future__ import annotations

import logging
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
from assent.client.tokens import open_session, revoke_token
from assent.protocol.canonical import convert, parse_json
from assent.protocol.error import (
    AssentError,
    BadRequestError,
    ForbiddenError,
    MisdirectedError,
    TooLargeError,
    UnauthorisedError,
)
from assent.protocol.principal import Role
from assent.protocol.token import ALL_PROJECTS, Token
from assent.protocol.wire_error import render_error, status_of_error
from assent.protocol.wire_record import WhoReply
from assent.surfaces.http.caller import find_caller
from assent.surfaces.http.session import (
    derive_key,
    is_nonce,
    is_origin_of,
    is_session_name,
    prove,
)
from assent.surfaces.http.site import Caller, Site

__all__ = [
    "CODE_SECONDS",
    "MAX_SIGN_IN_BYTES",
    "SESSION_SECONDS",
    "ProofBody",
    "ProofReply",
    "SignIn",
    "SignInBody",
    "SignInReply",
    "sign_in_routes",
]

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
_REFUSED_TOKEN = "This token signs nobody in: only that of a person does, until it expires or is revoked."  # noqa: S105 - a sentence

_encoder = msgspec.json.Encoder()
_log = logging.getLogger("assent.http")


class SignInBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the page posts: one of the two."""

    code: str | None = None
    """Of the link."""
    token: str | None = None
    """A person's own."""


class SignInReply(WhoReply, frozen=True):
    """Who has signed in, and with what the page signs from now on."""

    session: str
    """Its name, which goes with every request."""
    key: str
    """Told here, once."""


class ProofBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a page wants proved before it sends anything else."""

    session: str
    nonce: str
    """64 hexadecimal digits of chance."""
    origin: str
    """Of the page."""


class ProofReply(msgspec.Struct, frozen=True):
    """Who is here."""

    boot: str
    """Of this start of the server; it is signed with every request."""
    proof: str


class SignIn:
    """One code, and for whom it is; only its digest is kept."""

    def __init__(
        self,
        calls: Calls,
        code: str,
        *,
        is_unattended: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._calls, self._is_unattended, self._clock = calls, is_unattended, clock
        self._digest: bytes | None = _digest(code)
        self._until = clock() + CODE_SECONDS

    async def redeem(self, code: str) -> tuple[Token, str]:
        """Give a session, with its name, for the code; of several who show it at once, one gets it.

        Raises:
            UnauthorisedError: it is not the code, or no longer.
        """
        held = self._digest
        if held is None or self._clock() >= self._until or not compare_digest(held, _digest(code)):
            raise UnauthorisedError(_REFUSED)
        self._digest = None  # before anything is awaited
        try:
            return await await_call(
                open_session(
                    self._calls,
                    self._calls.principal.name,
                    (ALL_PROJECTS,),
                    timedelta(seconds=SESSION_SECONDS),
                    is_unattended=self._is_unattended,
                )
            )
        except BaseException:
            self._digest = held  # the store was busy, or the server stops: nobody has it yet
            raise


async def _redeem_token(site: Site, secret: str) -> tuple[Token, str]:
    """Give a session for a person's token, which is good where that is, and no longer.

    Raises:
        UnauthorisedError: it is no person's, or not good.
    """
    shown = await site.find_token(secret)
    if shown is None or shown.role is not Role.HUMAN:
        raise UnauthorisedError(_REFUSED_TOKEN)
    life = min(timedelta(seconds=SESSION_SECONDS), shown.expires_at - site.now())
    if life < timedelta(seconds=1):  # no token lives for less
        raise UnauthorisedError(_REFUSED_TOKEN)
    # At the home of the one that was shown: whoever revokes that finds this beside it.
    calls = Caller(shown).calls(site.door, shown.project, "page")
    return await await_call(open_session(calls, shown.name, shown.projects, life))


def _digest(code: str) -> bytes:
    return sha256(code.encode("utf-8", "surrogatepass")).digest()


def sign_in_routes(site: Site, sign_in: SignIn | None) -> list[BaseRoute]:
    """Return the routes by which somebody signs in and out; without a code only a token signs in."""

    async def redeem(body: SignInBody) -> tuple[Token, str]:
        if (body.code is None) is (body.token is None):
            raise BadRequestError("To sign in takes a code or a token, and not both.")
        if body.token is not None:
            return await _redeem_token(site, body.token)
        if sign_in is None or body.code is None:
            raise UnauthorisedError(_REFUSED)
        return await sign_in.redeem(body.code)

    async def enter(request: Request) -> Response:
        token, name = await redeem(convert(parse_json(await _read(request)), SignInBody))
        key = derive_key(site.door.secret(), name).hex()
        return _reply(
            SignInReply(token.role, token.name, token.projects, token.expires_at, site.now(), name, key)
        )

    async def show_proof(request: Request) -> Response:
        # No session is looked up: also one that has ended learns who it is that says so.
        body = convert(parse_json(await _read(request)), ProofBody)
        if not (is_session_name(body.session) and is_nonce(body.nonce)):
            raise BadRequestError(
                "A proof takes the name of a session and a nonce, of 64 hexadecimal digits each."
            )
        if not is_origin_of(request, body.origin):
            raise MisdirectedError("A server proves itself to pages of its own alone.")
        key, boot = derive_key(site.door.secret(), body.session), site.boot.name
        return _reply(ProofReply(boot, prove(key, body.nonce, body.origin, boot)))

    async def leave(request: Request) -> Response:
        caller = await find_caller(site, request)
        if not caller.is_session:
            raise ForbiddenError("Whoever shows a token has not signed in; assent token revoke ends a token.")
        await await_call(
            revoke_token(caller.calls(site.door, caller.token.project, "page"), caller.token.token_id)
        )
        return Response(status_code=204)

    return [
        Route("/sign-in", _guarded(enter), methods=["POST"]),
        Route("/sign-out", _guarded(leave), methods=["POST"]),
        Route("/proof", _guarded(show_proof), methods=["POST"]),
    ]


def _reply(told: msgspec.Struct) -> Response:
    return Response(_encoder.encode(told), media_type=_JSON)


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
            return _refuse(error)
        except Exception:  # noqa: BLE001 - no stack trace reaches a caller
            _log.exception("%s failed", endpoint.__name__)
            return _refuse(AssentError("Something unexpected happened on the server; nothing more is known."))

    return respond


def _refuse(error: AssentError) -> Response:
    return Response(render_error(error), status_of_error(error), media_type=_JSON)
