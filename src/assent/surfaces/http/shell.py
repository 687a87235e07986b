"""The page's shell: files that are the same for everybody, and hold nothing of any project.

What it shows beside them it asks the server for, as whoever signed in. It decides nothing by being fetched.

Rule 1: all files are read once, when the server starts, and the page's own scripts and sheets are packed: see `pack`.
        What a request names is looked up among them, and never on disk.
Rule 2: a browser keeps them, and asks each time whether they are still the same: a server that was replaced never has a
        page half of the old one's.
Rule 3: every reply has the policy, also the one that says "still the same": what a browser keeps takes its headers.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from hashlib import sha256
from importlib.resources import files
from importlib.resources.abc import Traversable

import msgspec
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from assent.surfaces.http.pack import pack_script, pack_sheet

__all__ = ["FAVICONS", "PAGE_POLICY", "shell_routes"]

PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)
FAVICONS = {**{str(count): str(count) for count in range(1, 10)}, "many": "9+"}
"""By the name in its address: what stands on an icon that counts."""

_PAGES = {"/": "index.html", "/sign-in": "sign-in.html"}
"""The addresses of what is opened; all else is fetched by these, from `/page/`."""
_SCRIPTS = ("app.js", "sign-in.js")
_SHEET = "style.css"
"""What the pages name; each is packed with all that it imports."""
_MEDIA = {
    "html": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
    "txt": "text/plain; charset=utf-8",
}
_NOTHING, _SAME = 404, 304
# The paths of `mark.svg`, with a disc over its corner. Attributes alone: a policy without styles holds for it, too.
_FAVICON = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" fill="none" stroke-width="2.4" stroke-linecap="round">'
    '<path stroke="#8a857b" d="M14 4.5H7.5a3 3 0 0 0-3 3v5a3 3 0 0 0 3 3H12"/>'
    '<path stroke="#1a8f88" d="M10 19.5h6.5a3 3 0 0 0 3-3v-5a3 3 0 0 0-3-3H12"/>'
    '<circle cx="16" cy="16" r="8" fill="#b3261e"/>'
    '<text x="16" y="20.2" text-anchor="middle" font-family="sans-serif" font-weight="700" font-size="{size}" '
    'fill="#ffffff">{count}</text></svg>'
)


class _File(msgspec.Struct, frozen=True):
    content: bytes
    media: str
    tag: str
    """By which a browser says what it has."""


def _file(name: str, content: bytes) -> _File:
    return _File(content, _MEDIA[name.rpartition(".")[2]], f'"{sha256(content).hexdigest()[:32]}"')


@cache
def _files() -> dict[str, _File]:
    """Read and pack the files of this package, once in a process."""
    found = dict(_read(files("assent.surfaces.http").joinpath("page"), ""))
    texts = {name: file.content.decode() for name, file in found.items()}
    packed = {each: pack_script(texts, each) for each in _SCRIPTS} | {_SHEET: pack_sheet(texts, _SHEET)}
    found = {name: file for name, file in found.items() if not _is_part(name)}
    found |= {name: _file(name, text.encode()) for name, text in packed.items()}
    return found | {
        (name := f"favicon-{each}.svg"): _file(name, _draw(count)) for each, count in FAVICONS.items()
    }


def shell_routes() -> list[BaseRoute]:
    """Return the routes of the files."""
    found = dict(_files())
    pages = {address: found.pop(name) for address, name in _PAGES.items()}

    async def give_page(request: Request) -> Response:
        return _reply(request, pages[request.url.path])

    async def give_part(request: Request) -> Response:
        part = found.get(request.path_params["name"])
        if part is None:
            raise HTTPException(_NOTHING)
        return _reply(request, part)

    return [
        *(Route(address, give_page, methods=["GET"]) for address in pages),
        Route("/page/{name:path}", give_part, methods=["GET"]),
    ]


def _read(folder: Traversable, path: str) -> Iterator[tuple[str, _File]]:
    for entry in folder.iterdir():
        name = f"{path}{entry.name}"
        if entry.is_dir():
            yield from _read(entry, f"{name}/")
        else:
            yield name, _file(name, entry.read_bytes())


def _is_part(name: str) -> bool:
    """Say whether a file is given as a part of a pack."""
    return name.endswith((".js", ".css")) and not name.startswith("vendor/")


def _draw(count: str) -> bytes:
    """Return an icon that counts."""
    return _FAVICON.format(count=count, size="12" if len(count) == 1 else "9.5").encode()


def _reply(request: Request, file: _File) -> Response:
    headers = {
        "content-security-policy": PAGE_POLICY,
        "cache-control": "no-cache",
        "etag": file.tag,
    }
    known = request.headers.get("if-none-match", "").split(",")
    if file.tag in (tag.strip().removeprefix("W/") for tag in known):
        return Response(status_code=_SAME, headers=headers)
    return Response(file.content, media_type=file.media, headers=headers)
