"""A project's events as they happen, for whoever follows it: over a WebSocket, or as a stream of server-sent events.

Rule 1: who comes is checked before the stream is opened, and again every second while it is open.
Rule 2: every event after the number that was given is told, once, in order, and no other project's. Without a number
        it begins with what happens from now on; 0 is the beginning of the log; a number that the log has not reached
        is waited for, and nothing up to it is told.
Rule 3: whoever does not take an event in time is let go of and can come again with the last number that it has. Nothing
        is collected meanwhile: each stream holds a page at most.
Rule 4: a socket goes one way. Whoever says something on it is shown out.
"""

from __future__ import annotations

import asyncio
import logging

import msgspec
from starlette.requests import HTTPConnection, Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route, WebSocketRoute
from starlette.types import Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketDisconnect

from assent.client.news import News, Told
from assent.client.verbs import Verb
from assent.protocol.error import AssentError, BadRequestError
from assent.protocol.wire_error import render_error, status_of_error
from assent.surfaces.http.caller import find_caller
from assent.surfaces.http.connection import ABORT
from assent.surfaces.http.incoming import check_reach, read_query
from assent.surfaces.http.session import PROTOCOL
from assent.surfaces.http.site import Caller, Site
from assent.surfaces.http.telling import Ending, first_of, guard, in_time, tell

__all__ = ["BEAT_SECONDS", "EVENTS", "event_routes"]

BEAT_SECONDS = 10.0
"""A stream of server-sent events on which nothing happens has a line this often. On sockets the server pings."""
_RETRY_MILLISECONDS = 1_000
"""After which a browser comes again by itself."""

_JSON = "application/json"
_STREAM = "text/event-stream"
_log = logging.getLogger("assent.http")


class EventsQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """From where on."""

    after: int | None = None


EVENTS = Verb(
    name="follow_events",
    method="GET",
    path="/projects/{project}/events",
    summary="Follow what happens in a project, from a number on; also as a WebSocket.",
    query=EventsQuery,
    reply=str,
    media=_STREAM,
)


_REASONS: dict[Ending, str] = {
    Ending.ONE_WAY: "Nothing is to be said on this socket.",
    Ending.FAILED: "The events cannot be read just now.",
    Ending.RESTARTING: "The server stops. Come again with your last number.",
    Ending.REVOKED: "The token is no longer good.",
    Ending.SLOW: "Too slow. Come again with your last number.",
}


def event_routes(site: Site) -> list[BaseRoute]:
    """Return the routes of the events: one path, for sockets and for streams."""

    async def follow_socket(socket: WebSocket) -> None:
        try:
            caller, query = await _admit(site, socket)
            after = _number(query.after)
            with site.following(socket.path_params["project"]) as news:
                # The place is taken before the socket is opened: what happens from here on is told.
                await _Socket(socket).follow(site, caller, news, news.last if after is None else after)
        except AssentError as error:
            await socket.send_denial_response(_refuse(error))

    async def follow_stream(request: Request) -> Response:
        try:
            caller, query = await _admit(site, request)
            # A browser that comes again asks for the same address; its last number is in the header.
            after = _last_number(request) if request.headers.get("last-event-id") else _number(query.after)
        except AssentError as error:
            return _refuse(error)
        return EventStream(site, caller, request.path_params["project"], after)

    return [WebSocketRoute(EVENTS.path, follow_socket), Route(EVENTS.path, follow_stream, methods=["GET"])]


async def _admit(site: Site, connection: HTTPConnection) -> tuple[Caller, EventsQuery]:
    caller = await find_caller(site, connection)
    check_reach(caller, EVENTS, {name: str(part) for name, part in connection.path_params.items()})
    query: EventsQuery = read_query(EventsQuery, connection.query_params.multi_items())
    return caller, query


def _number(after: int | None) -> int | None:
    if after is not None and after < 0:
        raise BadRequestError("Numbers begin with 0.")
    return after


def _last_number(request: Request) -> int:
    text = request.headers["last-event-id"]
    if not (text.isascii() and text.isdecimal() and len(text) <= _DIGITS):
        raise BadRequestError("The Last-Event-ID is no number of an event.")
    return int(text)


_DIGITS = 18
"""Of the largest number that is read; no log grows that long."""


def _refuse(error: AssentError) -> Response:
    return Response(render_error(error), status_of_error(error), media_type=_JSON)


class _Socket:
    """The one side of a WebSocket that tells."""

    def __init__(self, socket: WebSocket) -> None:
        self._socket = socket

    async def follow(self, site: Site, caller: Caller, news: News, after: int) -> None:
        """Tell what happens until one side has enough, and say why."""
        # A browser that offered subprotocols, of which one is its signature, wants one of them chosen.
        is_offered = PROTOCOL in self._socket.scope["subprotocols"]
        await self._socket.accept(PROTOCOL if is_offered else None)
        try:
            ending = await first_of(tell(news, after, self._say, site), guard(site, caller), self._listen())
        except WebSocketDisconnect:
            return
        except AssentError:
            _log.exception("A socket cannot be served")
            ending = Ending.FAILED
        if ending is not None:
            await self._close(ending)

    async def _say(self, told: Told) -> None:
        await self._socket.send_text(told.text)

    async def _listen(self) -> Ending | None:
        message = await self._socket.receive()
        return None if message["type"] == "websocket.disconnect" else Ending.ONE_WAY

    async def _close(self, ending: Ending) -> None:
        try:
            async with in_time():  # it stands behind what was not taken yet
                await self._socket.close(ending, _REASONS[ending])
        except (TimeoutError, WebSocketDisconnect, RuntimeError):
            return  # it does not listen, or is gone: there is nobody left to tell why


class EventStream(Response):
    """A reply that goes on for as long as somebody reads it."""

    media_type = _STREAM

    def __init__(self, site: Site, caller: Caller, project: str, after: int | None) -> None:
        super().__init__(headers={"cache-control": "no-store", "x-accel-buffering": "no"})
        del self.headers["content-length"]
        self._site, self._caller, self._project, self._after = site, caller, project, after

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it."""
        start = {"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers}
        if scope["method"] == "HEAD":
            await send(start)
            await send({"type": "http.response.body"})
            return
        try:
            with self._site.following(self._project) as news:
                await send(start)
                await self._follow(news, receive, send)
        except AssentError as error:  # of the beginning: there are no news
            await _refuse(error)(scope, receive, send)
        except TimeoutError:  # it does not even take the end
            scope["state"][ABORT]()
            await asyncio.sleep(0)  # until the server knows that it is gone

    async def _follow(self, news: News, receive: Receive, send: Send) -> None:
        after = news.last if self._after is None else self._after

        async def write(text: str) -> None:
            await send({"type": "http.response.body", "body": text.encode(), "more_body": True})

        async def say(told: Told) -> None:
            await write(f"id: {told.sequence}\nevent: {told.type}\ndata: {told.text}\n\n")

        async def listen() -> None:
            while (await receive())["type"] != "http.disconnect":
                pass

        async def beat() -> Ending:
            try:
                while await self._site.nap(BEAT_SECONDS):
                    async with in_time():
                        await write(":\n\n")
            except TimeoutError:
                return Ending.SLOW
            return Ending.RESTARTING

        # A number without an event: a browser that is cut off before the first one comes again from here.
        await write(f"retry: {_RETRY_MILLISECONDS}\nid: {after}\n\n")
        try:
            await first_of(
                tell(news, after, say, self._site), guard(self._site, self._caller), listen(), beat()
            )
        except AssentError:
            _log.exception("A stream cannot be served")
        async with in_time():
            await send({"type": "http.response.body"})
