"""The MCP server: tools in, what came of them out.

Rule 1: nothing that an agent or a host sends makes a traceback: a refusal is a result with one sentence.
Rule 2: whoever cancels a call takes its ask back, unless another call waits for it, too. A connection that is gone, or a
        host whose time limit lapsed, leaves it open: it can be asked again.
Rule 3: what a host hands back is sealed with a key that outlives this process, and good for long: another one can finish
        the call. That it counts once is the store's matter.
"""

from __future__ import annotations

import logging
import re
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

import anyio
import mcp_types as types
import msgspec
from mcp.server import Server
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity

from assent.client.awaiting import await_call
from assent.client.calls import Calls
from assent.hosts.mcp.argument import Waiting, input_schema
from assent.hosts.mcp.name import Name, Names
from assent.hosts.mcp.talk import Errand, Sealed, Talk
from assent.hosts.mcp.told import Told, tell_error
from assent.hosts.mcp.tools import TOOLS, Room, Tool
from assent.hosts.person import person_at
from assent.protocol.canonical import convert
from assent.protocol.display import display, quote
from assent.protocol.error import AssentError, BadRequestError, ForbiddenError, NotFoundError

__all__ = ["DEFAULT_WAIT_SECONDS", "SEAL_SECONDS", "Desk", "make_server"]

DEFAULT_WAIT_SECONDS = 50.0
"""Below the 60 seconds after which many hosts give a call up."""
SEAL_SECONDS = 30 * 86_400
"""So long a form may stay open in a host of the newer protocol."""
_MOST_LEFT = 1_000
_MOST_TOLD = 100
_PATIENCE_SECONDS = 10.0
_LAPSED = re.compile(r"tim(?:ed|e)[ -]?out|deadline", re.IGNORECASE).search
_PLAIN = re.compile(r"[^a-z0-9]+")
_LONGEST_HOST = 40
_CANCELLED = "notifications/cancelled"
_INSTRUCTIONS = (
    "Ask the person before you decide for them. Every question is kept until a person answered it, in this host or on any "
    'other surface of Assent. While a result says "state": "open" there is no answer: stop, and call the same tool with the '
    "same arguments later. You can never answer an ask yourself."
)
_HIDDEN = {"ask_user": "ask_person"}
"""Where nobody sits at it, Gemini CLI takes away every tool that has the name of its own question tool, ours as well."""
_SHOWN = {shown: TOOLS[name] for name, shown in _HIDDEN.items()}
_log = logging.getLogger(__name__)

_Place = tuple[str, types.RequestId]
"""A call: its connection, and its number there."""
FindCalls = Callable[[ServerRequestContext[Any, Any]], Awaitable[Calls]]
"""Says for whom a request acts."""


class Desk:
    """Serves the calls of all connections of one process."""

    def __init__(self, find_calls: FindCalls, room: Room, wait_seconds: float = DEFAULT_WAIT_SECONDS) -> None:
        self._find_calls = find_calls
        self._room = room
        self._wait_seconds = wait_seconds
        self._names = Names()
        self._users: Counter[str] = Counter()
        """How many calls are under way for a name."""
        self._talks: dict[_Place, Talk] = {}
        self._told: dict[_Place, tuple[Calls, Name]] = {}
        """What the last calls were told, until it is clear that their hosts took it."""

    async def list_tools(
        self, ctx: ServerRequestContext[Any, Any], params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        """Say which tools there are."""
        del params
        names = _HIDDEN if _host_of(ctx).startswith("gemini") else {}
        tools = [_describe(tool, names.get(tool.name, tool.name)) for tool in TOOLS.values()]
        return types.ListToolsResult(tools=tools)

    async def call_tool(
        self, ctx: ServerRequestContext[Any, Any], params: types.CallToolRequestParams
    ) -> types.CallToolResult | types.InputRequiredResult:
        """Do what is asked for."""
        try:
            told = await self._serve(ctx, params)
        except AssentError as error:
            told = tell_error(error)
        except Exception as error:  # noqa: BLE001 - whatever it is: one sentence, and the server stays
            _log.error("%s failed: %s", display(params.name, lines=False), display(repr(error), lines=False))
            told = tell_error(AssentError(f"Something unexpected happened ({type(error).__name__})."))
        if isinstance(told, types.InputRequiredResult):
            return told
        return types.CallToolResult(
            content=[types.TextContent(type="text", text=told.text)],
            structured_content=told.content,
            is_error=told.is_error,
        )

    async def _serve(
        self, ctx: ServerRequestContext[Any, Any], params: types.CallToolRequestParams
    ) -> Told | types.InputRequiredResult:
        tool = TOOLS.get(params.name) or _SHOWN.get(params.name)
        if tool is None:
            raise NotFoundError(f'There is no tool "{quote(params.name)}".')
        given = convert(params.arguments or {}, tool.arguments)
        calls = await self._find_calls(ctx)
        if not isinstance(given, Waiting):
            return await await_call(tool.attempt(calls, given, "", self._room))
        sealed = _unseal(params.request_state, calls)
        person = await await_call(person_at(calls, _host_of(ctx)))
        if sealed is not None:
            name = sealed.name
        else:
            arguments = msgspec.to_builtins(given)
            for passing in ("key", "wait_seconds"):
                arguments.pop(passing)
            name = await self._names.claim(calls, tool.name, arguments, given.key)
        talk = Talk(ctx, calls, person, Errand(tool, given, name), self._room, self._wait_seconds)
        self._users[name.text] += 1
        is_done = False
        try:
            told = await self._hold(talk, _session_of(ctx), sealed, params.input_responses)
            is_done = True
        finally:
            self._users -= Counter([name.text])
            if not is_done and talk.asked is None and not self._users[name.text]:
                self._names.leave(name)  # it could not even be asked, so there is nothing to find again
        if isinstance(told, types.InputRequiredResult):
            return told
        if told.content.get("state") != "open":
            await self._hand_out(talk, _session_of(ctx))
        return msgspec.structs.replace(told, content=told.content | {"key": name.given})

    async def _hand_out(self, talk: Talk, session: str | None) -> None:
        await self._names.hand_out(talk.calls, talk.name)
        if session is not None:
            self._told[session, talk.request_id] = (talk.calls, talk.name)
        while len(self._told) > _MOST_TOLD:
            del self._told[next(iter(self._told))]

    async def _hold(
        self,
        talk: Talk,
        session: str | None,
        sealed: Sealed | None,
        responses: types.InputResponses | None,
    ) -> Told | types.InputRequiredResult:
        place = (session or "", talk.request_id)
        if session is not None:
            self._talks[place] = talk
        while len(self._talks) > _MOST_LEFT:
            del self._talks[next(iter(self._talks))]  # of a connection that is long gone
        try:
            told = await talk.hold(sealed, responses)
            self._talks.pop(place, None)
            return told
        finally:
            talk.over.set()  # where it was cancelled it stays in the list: the notice that says why comes next

    async def watch(self, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        """See a call cancelled, and take its ask back."""
        if ctx.method != _CANCELLED:
            return await call_next(ctx)
        await self._take_back(ctx)  # first: the same call may come right behind
        result = await call_next(ctx)
        await self._cancel(ctx)
        return result

    async def _take_back(self, ctx: ServerRequestContext[Any, Any]) -> None:
        """Keep an answer that was told to a host which had given up before it came: it is still to be handed out."""
        place, is_lapsed = _cancelled(ctx)
        told = self._told.pop(place, None) if place is not None else None
        if told is not None and is_lapsed:
            with suppress(AssentError):
                await self._names.take_back(*told)

    async def _cancel(self, ctx: ServerRequestContext[Any, Any]) -> None:
        place, is_lapsed = _cancelled(ctx)
        talk = self._talks.pop(place, None) if place is not None else None
        if talk is None or is_lapsed:
            return
        with anyio.move_on_after(_PATIENCE_SECONDS):
            await talk.over.wait()
        others = self._users[talk.name.text] - (not talk.over.is_set())
        if talk.asked is None or others > 0:
            return
        # In this order: whoever asks the same in this moment asks anew, and is not told that it was taken back.
        with suppress(AssentError):
            await self._names.hand_out(talk.calls, talk.name)
        with suppress(AssentError):  # it has ended meanwhile: that counts
            await await_call(talk.calls.withdraw(talk.asked.ask_id, "The agent's host cancelled the call."))

    def close(self) -> None:
        """Let go of the names."""
        self._names.close()


def make_server(desk: Desk, key: str, version: str, seal_seconds: float = SEAL_SECONDS) -> Server[Any]:
    """Return the server; `key` seals what hosts hand back."""
    server: Server[Any] = Server(
        "assent",
        version=version,
        title="Assent",
        instructions=_INSTRUCTIONS,
        on_list_tools=desk.list_tools,
        on_call_tool=desk.call_tool,
    )
    security = RequestStateSecurity(keys=[key], ttl=seal_seconds, bind_principal=None)
    server.middleware.append(RequestStateBoundary(security, default_audience="assent"))
    server.middleware.append(desk.watch)
    return server


def _describe(tool: Tool, name: str) -> types.Tool:
    return types.Tool(
        name=name,
        title=tool.title,
        description=tool.description,
        input_schema=input_schema(tool.arguments),
        annotations=types.ToolAnnotations(
            title=tool.title, read_only_hint=tool.is_reading, destructive_hint=False, open_world_hint=False
        ),
    )


def _unseal(state: str | None, calls: Calls) -> Sealed | None:
    """Return what a host hands back; the boundary has taken the seal off."""
    if state is None:
        return None
    try:
        sealed = msgspec.json.decode(state, type=Sealed)
    except msgspec.DecodeError:
        raise BadRequestError("What the host handed back cannot be read.") from None
    if (sealed.project, sealed.asker) != (calls.project, str(calls.principal)):
        raise ForbiddenError("This call was begun by somebody else.")
    return sealed


def _cancelled(ctx: ServerRequestContext[Any, Any]) -> tuple[_Place | None, bool]:
    """Return which call a notice cancels, and whether only its time was over."""
    given = ctx.params or {}
    request_id, reason, session = given.get("requestId"), given.get("reason"), _session_of(ctx)
    if session is None or not isinstance(request_id, str | int):
        return None, False
    return (session, request_id), isinstance(reason, str) and _LAPSED(reason) is not None


def _session_of(ctx: ServerRequestContext[Any, Any]) -> str | None:
    """Return what a connection goes by: over HTTP its session, if it has one; on a pipe there is one connection.

    Without a session nobody can say which call they cancel: numbers of calls are unique in a connection only.
    """
    headers = getattr(ctx.request, "headers", None)
    return "" if headers is None else headers.get("mcp-session-id")


def _host_of(ctx: ServerRequestContext[Any, Any]) -> str:
    """Return the host's own name for itself, plainly spelled."""
    told = ctx.session.client_params
    name = (
        _PLAIN.sub("-", told.client_info.name.lower()).strip("-")[:_LONGEST_HOST] if told is not None else ""
    )
    return name or "mcp"
