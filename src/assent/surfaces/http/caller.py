"""Whose request it is: by the token that it shows, or by the signature of a page at which somebody signed in."""

from __future__ import annotations

from hashlib import sha256
from hmac import compare_digest

from starlette.requests import HTTPConnection, Request

from assent.protocol.error import UnauthorisedError
from assent.surfaces.http.session import derive_key, read_signature
from assent.surfaces.http.site import Caller, Site

__all__ = ["find_caller", "via_of"]


async def find_caller(site: Site, request: HTTPConnection) -> Caller:
    """Return who sends this.

    Raises:
        UnauthorisedError: there is neither a token nor a signature, or it is not, or no longer, good, or not for this
            request. Why is nobody's business.
        UnprovenError: a page signed it for another start of the server.
        ReplayedError: it was here before.
    """
    scheme, _, secret = request.headers.get("authorization", "").partition(" ")
    if not scheme:
        return await _find_signer(site, request)
    token = await site.find_token(secret.strip()) if scheme.lower() == "bearer" else None
    if token is None:
        raise UnauthorisedError
    return Caller(token)


async def _find_signer(site: Site, request: HTTPConnection) -> Caller:
    shown = read_signature(request)
    if shown is None or not shown.is_of(request, derive_key(site.door.secret(), shown.name)):
        raise UnauthorisedError
    token = await site.find_session(shown.name)
    if token is None:
        raise UnauthorisedError
    if isinstance(request, Request) and not await _has_body(request, shown.digest):
        raise UnauthorisedError
    site.boot.use(shown)  # last: what is refused uses nothing up
    return Caller(token, is_session=True)


async def _has_body(request: Request, digest: str) -> bool:
    return compare_digest(sha256(await request.body()).hexdigest(), digest)


def via_of(caller: Caller) -> str:
    """Return where the request came in, for the record: what the server saw, not what the sender says."""
    return "page" if caller.is_session else "http"
