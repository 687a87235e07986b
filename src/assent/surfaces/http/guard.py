"""What stands before the application: a request from a page elsewhere, or for another host, never gets in.

Rule 1: nothing of a request is believed before it has passed here: no route is looked for, no body is read. What
        somebody in between may have written (`X-Forwarded-…`, `Forwarded`) is not looked at, ever.
Rule 2: there is no permission for other origins (CORS), for nobody and nothing. A link from elsewhere may open the
        page's shell, which holds nothing; nothing else follows from it.
Rule 3: a credential that is good opens also while others are guessing: what runs out are tries, and a good one takes none.
Rule 4: every refusal has the shape that all errors have.
"""

from __future__ import annotations

import asyncio
import math
import re
from collections.abc import Iterable

import msgspec
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from assent.client.boot import boot_time
from assent.protocol.boot_time import CLOCK_HEADER, render_boot_time
from assent.protocol.error import (
    AssentError,
    BadRequestError,
    ForbiddenError,
    MisdirectedError,
    TooLargeError,
    TooManyError,
)
from assent.protocol.json_text import MAX_JSON_BYTES
from assent.protocol.wire_error import render_error, status_of_error
from assent.surfaces.http.bucket import Bucket, peer_of
from assent.surfaces.http.names import Names

__all__ = [
    "BODY_SECONDS",
    "MAX_HEADERS",
    "MAX_HEAD_BYTES",
    "SECURITY_HEADERS",
    "Guard",
    "Refusal",
    "clock_header",
]

MAX_HEAD_BYTES = 16_384
"""Of a request, before its body: address and headers."""
MAX_HEADERS = 100
BODY_SECONDS = 15.0
"""So long the body of a request may take to arrive."""

_JSON = b"application/json"
SECURITY_HEADERS: dict[bytes, bytes] = {
    b"cache-control": b"no-store",
    b"content-security-policy": b"default-src 'none'; frame-ancestors 'none'",
    b"cross-origin-opener-policy": b"same-origin",
    b"cross-origin-resource-policy": b"same-origin",
    b"permissions-policy": b"camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()",
    b"referrer-policy": b"no-referrer",
    b"x-content-type-options": b"nosniff",
}
"""On every reply that has no other value of its own."""

_STARTS = frozenset({"http.response.start", "websocket.http.response.start"})
_LOOKING = frozenset({"GET", "HEAD", "OPTIONS"})
_OWN_SITES = frozenset({b"same-origin", b"none"})
"""`none` is a person who typed the address, or clicked on it outside of a page."""
_UNAUTHORISED = 401
_FORMS = frozenset({b"/slack/interactions"})
"""Where a form is taken: what comes there is signed, over its exact bytes."""
_FORM = b"application/x-www-form-urlencoded"
_is_json = re.compile(rb'application/json(\s*;\s*charset="?utf-8"?)?', re.IGNORECASE).fullmatch


def clock_header() -> tuple[bytes, bytes]:
    """Return the header that tells our clock, which every reply has."""
    return CLOCK_HEADER.encode(), render_boot_time(boot_time()).encode()


class Refusal(msgspec.Struct, frozen=True):
    """Why a request is not let in."""

    status: int
    error: AssentError


class Guard:
    """An application with a guard before it, for requests and for sockets."""

    def __init__(self, app: ASGIApp, names: Names, bucket: Bucket | None = None) -> None:
        self._app, self._names = app, names
        self._bucket = Bucket() if bucket is None else bucket

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let one request or socket in, or refuse it."""
        exchange = _Exchange(scope, receive, send, self._bucket)
        refusal = self._look(scope)
        if refusal is None:
            await self._app(scope, exchange.receive, exchange.send)
        else:
            await exchange.refuse(refusal)

    def _look(self, scope: Scope) -> Refusal | None:
        """Return what is wrong with it, from what stands before its body."""
        headers = _Headers(scope["headers"])
        return (
            _check_head(scope)
            or self._check_host(headers)
            or self._check_origin(scope, headers)
            or (_check_body(scope, headers) if scope["type"] == "http" else None)
        )

    def _check_host(self, headers: _Headers) -> Refusal | None:
        named = headers.all(b"host")
        if len(named) == 1 and named[0] in self._names.hosts:
            return None
        return _refuse(
            MisdirectedError(
                "This server has another name. assent serve --allow-host NAME gives it one more."
            )
        )

    def _check_origin(self, scope: Scope, headers: _Headers) -> Refusal | None:
        origins, sites = headers.all(b"origin"), headers.all(b"sec-fetch-site")
        is_ours = len(origins) <= 1 and all(origin in self._names.origins for origin in origins)
        if is_ours and all(site in _OWN_SITES for site in sites):
            return None
        if not origins and _is_link(scope, headers):
            return None
        return _refuse(ForbiddenError("A page from elsewhere can do nothing here."))


class _Headers:
    """The headers of a request, each as often as it came."""

    def __init__(self, given: Iterable[tuple[bytes, bytes]]) -> None:
        self._by_name: dict[bytes, list[bytes]] = {}
        for name, value in given:
            self._by_name.setdefault(name.lower(), []).append(value)

    def all(self, name: bytes) -> list[bytes]:
        return self._by_name.get(name, [])


_FRONT = frozenset({b"/", b"/sign-in"})
"""What a link may lead to: the page, and its door. Neither holds anything of a project, nor decides by being fetched."""


def _is_link(scope: Scope, headers: _Headers) -> bool:
    """Say whether somebody followed a link to the page, in a chat say: in a window of its own, to what holds nothing."""
    is_front = scope["type"] == "http" and scope["method"] == "GET" and scope["raw_path"] in _FRONT
    return (
        is_front
        and not scope["query_string"]
        and headers.all(b"sec-fetch-site") in ([b"cross-site"], [b"same-site"])
        and headers.all(b"sec-fetch-mode") == [b"navigate"]
        and headers.all(b"sec-fetch-dest") == [b"document"]
    )


def _refuse(error: AssentError, status: int | None = None) -> Refusal:
    return Refusal(status_of_error(error) if status is None else status, error)


def _check_head(scope: Scope) -> Refusal | None:
    headers = scope["headers"]
    target = scope["raw_path"]
    size = (
        len(target) + len(scope["query_string"]) + sum(len(name) + len(value) + 4 for name, value in headers)
    )
    if size > MAX_HEAD_BYTES or len(headers) > MAX_HEADERS:
        return _refuse(
            TooLargeError(
                f"A request has at most {MAX_HEADERS} headers and {MAX_HEAD_BYTES:,} bytes before its body."
            ),
            431,
        )
    if not target.startswith(b"/"):  # another server's address, as a proxy is sent one
        return _refuse(BadRequestError("The address of a request begins with a slash."))
    return None


def _check_body(scope: Scope, headers: _Headers) -> Refusal | None:
    length = int((headers.all(b"content-length") or [b"0"])[0])  # one number: h11 takes nothing else
    if length > MAX_JSON_BYTES:
        return _refuse(_too_large())
    kinds = headers.all(b"content-type")
    has_body = length > 0 or bool(headers.all(b"transfer-encoding"))
    if scope["method"] in _LOOKING or not (has_body or kinds):
        return None
    # What a form or a page elsewhere can send without asking first is never of this type.
    is_plain = all(coding == b"identity" for coding in headers.all(b"content-encoding"))
    is_form = scope["raw_path"] in _FORMS and kinds == [_FORM]
    if len(kinds) == 1 and (is_form or _is_json(kinds[0])) and is_plain:
        return None
    return _refuse(
        BadRequestError("A body is JSON, uncompressed, with the Content-Type application/json."), 415
    )


def _too_large() -> TooLargeError:
    return TooLargeError(f"A body has at most {MAX_JSON_BYTES:,} bytes.")


class _Exchange:
    """One request and its reply, with what is added to both."""

    def __init__(self, scope: Scope, receive: Receive, send: Send, bucket: Bucket) -> None:
        self._scope, self._receive, self._send, self._bucket = scope, receive, send, bucket
        headers = _Headers(scope["headers"])
        has_length = headers.all(b"content-length") not in ([], [b"0"])
        self._is_whole = not (has_length or headers.all(b"transfer-encoding"))
        """Nothing of the body is still to come."""
        self._size = 0
        self._until: float | None = None
        self._is_over = False
        """A reply of ours has taken the place of the application's."""

    async def receive(self) -> Message:
        """Return the next part of a body, which may neither be too large nor take too long.

        Raises:
            TooLargeError: it is.
            BadRequestError: it does, or its sender is gone.
        """
        if self._is_whole or self._scope["type"] != "http":
            return await self._receive()
        if self._until is None:
            self._until = asyncio.get_running_loop().time() + BODY_SECONDS
        try:
            async with asyncio.timeout_at(self._until):
                message = await self._receive()
        except TimeoutError:
            raise BadRequestError(f"The body did not arrive within {BODY_SECONDS:g} seconds.") from None
        if message["type"] == "http.disconnect":
            raise BadRequestError("The body did not arrive in full.")
        self._size += len(message.get("body", b""))
        if self._size > MAX_JSON_BYTES:
            raise _too_large()
        self._is_whole = not message.get("more_body", False)
        return message

    async def send(self, message: Message) -> None:
        """Send a part of a reply: with the headers that all have, and 429 for a guess too many."""
        if self._is_over:
            return
        if message["type"] not in _STARTS:
            await self._send(message)
            return
        if message["status"] == _UNAUTHORISED:
            seconds = self._bucket.take(peer_of((self._scope.get("client") or ("",))[0]))
            if seconds:
                await self.refuse(_refuse(TooManyError()), (b"retry-after", b"%d" % math.ceil(seconds)))
                return
        await self._begin(message["type"], message["status"], message.get("headers", ()))

    async def refuse(self, refusal: Refusal, *headers: tuple[bytes, bytes]) -> None:
        """Send a refusal, and nothing after it."""
        self._is_over = True
        prefix = "http" if self._scope["type"] == "http" else "websocket.http"
        body = render_error(refusal.error)
        length = (b"content-length", b"%d" % len(body))
        await self._begin(
            f"{prefix}.response.start", refusal.status, ((b"content-type", _JSON), length, *headers)
        )
        await self._send({"type": f"{prefix}.response.body", "body": body})

    async def _begin(self, kind: str, status: int, given: Iterable[tuple[bytes, bytes]]) -> None:
        headers = list(given)
        names = {name.lower() for name, _ in headers}
        headers += [(name, value) for name, value in SECURITY_HEADERS.items() if name not in names]
        headers.append(clock_header())
        if status == _UNAUTHORISED:
            headers.append((b"www-authenticate", b"Bearer"))  # RFC 9110, 11.6.1: how to come in
        if not self._is_whole:  # whoever goes on sending what nobody wants is not listened to
            headers.append((b"connection", b"close"))
        await self._send({"type": kind, "status": status, "headers": headers})
