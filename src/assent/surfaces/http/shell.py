"""The page's shell: files that are the same for everybody, and hold nothing of any project.

What it shows beside them it asks the server for, as whoever signed in. It decides nothing by being fetched.
"""

from __future__ import annotations

from importlib.resources import files

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

__all__ = ["PAGE_POLICY", "shell_routes"]

PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"
)
_FILES = {
    "/": "index.html",
    "/sign-in": "sign-in.html",
    "/page/shell.css": "shell.css",
    "/page/index.js": "index.js",
    "/page/session.js": "session.js",
    "/page/sign-in.js": "sign-in.js",
    "/page/mark.svg": "mark.svg",
}
_MEDIA = {
    "html": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
}


def shell_routes() -> list[BaseRoute]:
    """Return the routes of the files."""
    return [_route(path, name) for path, name in _FILES.items()]


def _route(path: str, name: str) -> Route:
    content = files("assent.surfaces.http").joinpath("page", name).read_bytes()
    media = _MEDIA[name.rpartition(".")[2]]

    async def give(_: Request) -> Response:
        return Response(content, media_type=media, headers={"content-security-policy": PAGE_POLICY})

    return Route(path, give, methods=["GET"])
