"""Whose request it is: by the token that it shows, in its header, or in the two halves of somebody who signed in."""

from __future__ import annotations

from starlette.requests import HTTPConnection

from assent.protocol.error import ForbiddenError, UnauthorisedError
from assent.surfaces.http.session import join_secret
from assent.surfaces.http.site import Caller, Site

__all__ = ["find_caller", "via_of"]


async def find_caller(site: Site, request: HTTPConnection) -> Caller:
    """Return who sends this.

    Raises:
        ForbiddenError: it is of a session, and no page of ours says that it sent it.
        UnauthorisedError: there is no token, or half of one, or it is not, or no longer, good. Why is nobody's business.
    """
    scheme, _, secret = request.headers.get("authorization", "").partition(" ")
    is_session = False
    if not scheme:
        secret, is_session = join_secret(request), True
    elif scheme.lower() != "bearer":
        raise UnauthorisedError
    token = await site.find_token(secret.strip())
    if token is None:
        raise UnauthorisedError
    if is_session and "origin" not in request.headers and not _only_looks(request):
        # The guard lets no page in but ours. A browser names the page with every request that changes something.
        raise ForbiddenError("Whoever signed in can change something from the page alone.")
    return Caller(token, is_session)


def _only_looks(request: HTTPConnection) -> bool:
    return request.scope["type"] == "http" and request.scope["method"] in ("GET", "HEAD")


def via_of(caller: Caller) -> str:
    """Return where the request came in, for the record: what the server saw, not what the sender says."""
    return "page" if caller.is_session else "http"
