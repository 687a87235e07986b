"""The application: one route for each verb of the table, and what stands around them.

Rule 1: who sends a request is checked before its body is read, and its body before anything is done.
Rule 2: every reply that is no success has the same shape, also those to what no route is for.
"""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections.abc import Awaitable, Callable
from importlib.metadata import version

import msgspec
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Match, Route

from assent.client.awaiting import await_wait
from assent.client.verbs import VERBS, Verb
from assent.protocol.boot_time import NOT_AFTER_HEADER, NOW_HEADER
from assent.protocol.error import (
    AssentError,
    ControlExpiredError,
    Expired,
    NotFoundError,
    TooManyError,
    UnauthorisedError,
)
from assent.protocol.wire_error import render_error, status_of_error
from assent.protocol.wire_record import Health
from assent.surfaces.comment_hook import Hook
from assent.surfaces.http import asks, looking, numbers, record, runs, trust, work
from assent.surfaces.http.asyncapi import render_asyncapi
from assent.surfaces.http.caller import find_caller, via_of
from assent.surfaces.http.events import event_routes
from assent.surfaces.http.github import github_routes
from assent.surfaces.http.incoming import (
    Endpoint,
    Incoming,
    check_reach,
    command_id_of,
    read_body,
    read_query,
)
from assent.surfaces.http.openapi import render_openapi
from assent.surfaces.http.pulse import arrival_of
from assent.surfaces.http.runs import RefusedControl
from assent.surfaces.http.scrape import scrape_route
from assent.surfaces.http.shell import shell_routes
from assent.surfaces.http.sign_in import SignIn, sign_in_routes
from assent.surfaces.http.site import Site
from assent.surfaces.http.slack import slack_routes
from assent.surfaces.http.spelled import SpelledRoute

__all__ = ["ENDPOINTS", "RECHECK_SECONDS", "build_app"]

ENDPOINTS: dict[str, Endpoint] = (
    asks.ENDPOINTS
    | runs.ENDPOINTS
    | work.ENDPOINTS
    | trust.ENDPOINTS
    | record.ENDPOINTS
    | looking.ENDPOINTS
    | numbers.ENDPOINTS
)
JSON = "application/json"
RECHECK_SECONDS = 0.5
"""Whoever was kept waiting for longer must still have a good token when the reply goes out."""
_NOTHING = 404
_UNKNOWN = 499
_STRANGERS = frozenset({401, 404})
"""Whoever gets these may have made up the project that they name."""

_encoder = msgspec.json.Encoder()
_log = logging.getLogger("assent.http")


def build_app(site: Site, sign_in: SignIn | None = None, hook: Hook | None = None) -> Starlette:
    """Return the application of a server, which a `Guard` has to stand before."""
    routes: list[BaseRoute] = [
        SpelledRoute(verb.path, _endpoint(site, verb, ENDPOINTS[name]), methods=[verb.method], name=name)
        for name, verb in sorted(VERBS.items(), key=lambda entry: _breadth(entry[1].path))
    ]
    routes += [
        Route("/healthz", _healthz, methods=["GET"]),
        Route("/openapi.json", _openapi, methods=["GET"]),
        Route("/asyncapi.json", _asyncapi, methods=["GET"]),
        *event_routes(site),
        scrape_route(site),
        *shell_routes(),
        *sign_in_routes(site, sign_in),
        *slack_routes(site),
        *github_routes(hook),
    ]
    app = Starlette(routes=routes, exception_handlers={HTTPException: _no_route})
    app.state.site = site
    app.router.redirect_slashes = False  # there is one address for each thing
    return app


def _breadth(path: str) -> tuple[bool, int]:
    """Sort what is named before what is open: `/tasks/ready` before `/tasks/{task}`, and the longest path first."""
    return ":path}" in path, -len(path.split("/")) * 100 + path.count("{")


def _endpoint(site: Site, verb: Verb, endpoint: Endpoint) -> Callable[[Request], Awaitable[Response]]:
    async def respond(request: Request) -> Response:
        if site.watch is None:
            return await attempt(request)
        end = site.watch.request(verb, request.headers)
        status = _UNKNOWN  # where nobody is there any more to be told
        try:
            response = await attempt(request)
            status = response.status_code
        finally:
            end(status, str(request.path_params.get("project", "")) if status not in _STRANGERS else "")
        return response

    async def attempt(request: Request) -> Response:
        try:
            incoming = await _read(site, verb, request)
            began = time.monotonic()
            value = await _attend(request, endpoint, incoming)
            if time.monotonic() - began > RECHECK_SECONDS and not await site.is_live(incoming.caller.token):
                raise UnauthorisedError  # it was revoked while its holder waited
            reply = _reply(verb, value)
            reply.headers[NOW_HEADER] = site.now().isoformat()
            return reply
        except ControlExpiredError as error:
            return _refuse(Expired(error.message))
        except AssentError as error:
            return _refuse(error)
        except Exception:  # noqa: BLE001 - no stack trace reaches a caller
            _log.exception("%s failed", verb.name)
            return _refuse(AssentError("Something unexpected happened on the server; nothing more is known."))

    return respond


async def _attend(request: Request, endpoint: Endpoint, incoming: Incoming) -> object:
    """Do what is asked. Where that may be a long wait, it is over when whoever asked has hung up."""
    if not getattr(incoming.query, "wait", 0):
        return await endpoint(incoming)
    work = asyncio.ensure_future(endpoint(incoming))
    hung_up = asyncio.ensure_future(_until_hung_up(request))
    incoming.site.waits += 1
    try:
        await asyncio.wait({work, hung_up}, return_when=asyncio.FIRST_COMPLETED)
        return await work if work.done() else Response()  # nobody reads it
    finally:
        incoming.site.waits -= 1
        work.cancel()
        hung_up.cancel()


async def _until_hung_up(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


async def _read(site: Site, verb: Verb, request: Request) -> Incoming:
    caller = await find_caller(site, request)
    path = {name: str(part) for name, part in request.path_params.items()}
    check_reach(caller, verb, path)
    command_id = command_id_of(caller, path, request.headers.get("idempotency-key"))
    query = read_query(verb.query, request.query_params.multi_items())
    text = await request.body() if verb.is_change else b""
    body, arrival = read_body(verb, text), arrival_of(request.scope, request.headers.get(NOT_AFTER_HEADER))
    return Incoming(site, verb, caller, path, query, body, text, command_id, via_of(caller), arrival)


def _reply(verb: Verb, value: object) -> Response:
    if isinstance(value, Response):
        return value
    if isinstance(value, RefusedControl):
        return _refuse(value.error, result=value.result)
    return Response(_encoder.encode(value), verb.status, media_type=JSON)


def _refuse(error: AssentError, **more: object) -> Response:
    seconds = error.seconds if isinstance(error, TooManyError) else 0.0
    headers = {"retry-after": f"{math.ceil(seconds)}"} if seconds else None
    return Response(render_error(error, **more), status_of_error(error), headers, JSON)


async def _no_route(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else _NOTHING
    if status == _NOTHING:
        return _refuse(NotFoundError("There is nothing here."))
    told = render_error(NotFoundError("That cannot be done here."))
    return Response(told, status, media_type=JSON, headers={"allow": ", ".join(_allowed(request))})


def _allowed(request: Request) -> list[str]:
    """Return what can be done at the address of a request, by all routes that it has."""
    found = [
        route.methods or set()
        for route in request.app.routes
        if isinstance(route, Route) and route.matches(request.scope)[0] is not Match.NONE
    ]
    return sorted(set().union(*found))


async def _healthz(request: Request) -> Response:
    try:
        await await_wait(request.app.state.site.door.head(""))
    except AssentError as error:
        return _refuse(error)
    return Response(_encoder.encode(Health()), media_type=JSON)


async def _openapi(_: Request) -> Response:
    return Response(render_openapi(version("assent")), media_type=JSON)


async def _asyncapi(_: Request) -> Response:
    return Response(render_asyncapi(version("assent")), media_type=JSON)
