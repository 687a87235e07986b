"""Carries what an opencode server asks to the hub, and the answers back, for as long as it runs.

Rule 1: what waits is read anew each time the line is up again; an event alone may have been missed.
Rule 2: whoever answers in opencode itself was first: our ask is withdrawn.
Rule 3: an ask that ended without an answer decides nothing. Where a person declined it, opencode's question is
        rejected; otherwise it stays open in opencode, and a permission is refused.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress

from assent.client.calls import Calls, no_answer
from assent.hosts.opencode import question as opencode
from assent.hosts.opencode.question import Pending
from assent.hosts.opencode.server import Event, OpencodeServer
from assent.hosts.request import Request, Requests
from assent.protocol.ask import State
from assent.protocol.canonical import Json
from assent.protocol.error import AssentError, UnreachableError
from assent.protocol.host_question import host_prompt, host_replies

__all__ = ["RETRY_SECONDS", "OpencodeBridge"]

RETRY_SECONDS = 1.0
"""So long lies between two looks for a server that is away."""
_REPLY_TRIES = 5
_GONE = "It was answered in opencode."
_OVER = frozenset({"replied", "rejected"})


class OpencodeBridge:
    """One opencode server and one hub."""

    def __init__(self, calls: Calls, server: OpencodeServer, tell: Callable[[str], None]) -> None:
        self._server = server
        self._tell = tell
        # Its ids are used once, so nothing needs to be kept of what was told.
        self._requests = Requests(calls, "opencode", server.url, is_noted=False)
        self._held: dict[str, None] = {}
        """What is left to opencode until somebody decides it there."""
        self._rejecting: set[str] = set()
        """What we reject ourselves: that opencode waits for it no more is our own doing."""

    async def carry(self) -> None:
        """Carry until cancelled; a server that goes away is waited for.

        Raises:
            AssentError: it was not there at the start, or is no opencode.
        """
        await self._read_pending()
        self._tell(f"carries what opencode at {self._server.url} asks; it waits in assent inbox")
        is_told = False
        try:
            while True:
                try:
                    await self._follow()
                except UnreachableError as error:
                    if not is_told:
                        self._tell(f"{error.message} Trying again.")
                    is_told = True
                await asyncio.sleep(RETRY_SECONDS)
        finally:
            await self._requests.leave()

    async def _follow(self) -> None:
        async for event in self._server.events():
            # The first event says that the line is up: what came before it is in the lists.
            if event.type == "server.connected":
                await self._read_pending()
            else:
                await self._hear(event)

    async def _read_pending(self) -> None:
        found = [opencode.pending_question(each) for each in await self._server.questions()]
        found += [opencode.pending_permission(each) for each in await self._server.permissions()]
        waiting = {each.name: each for each in found if each is not None}
        for name in self._requests.names - waiting.keys() - self._rejecting:
            await self._requests.drop(name, _GONE)
        for pending in waiting.values():
            self._begin(pending)

    async def _hear(self, event: Event) -> None:
        kind, *_, what = event.type.split(".") if "." in event.type else ("", "")
        if kind not in {"question", "permission"}:
            return
        if what == "asked":
            read = opencode.pending_question if kind == "question" else opencode.pending_permission
            pending = read(event.properties)
            if pending is not None:
                self._begin(pending)
        elif what in _OVER:
            request_id = event.properties.get("requestID") or event.properties.get("permissionID")
            name = f"{kind}:{request_id}"
            self._held.pop(name, None)
            if name not in self._rejecting:
                await self._requests.drop(name, _GONE)

    def _begin(self, pending: Pending) -> None:
        if pending.name in self._requests.names or pending.name in self._held:
            return
        self._requests.start(pending.name, pending.name, lambda request: self._answer(pending, request))

    async def _answer(self, pending: Pending, request: Request) -> None:
        try:
            if pending.is_question:
                await self._answer_question(pending, request)
            else:
                await self._answer_permission(pending, request)
        except Exception as error:  # noqa: BLE001 - it fails closed: opencode keeps waiting, or hears a no
            why = (
                error.message
                if isinstance(error, AssentError)
                else f"Something went wrong ({type(error).__name__})."
            )
            self._tell(f"not carried: {why}")
            if pending.is_question:
                self._held[pending.name] = None
            else:
                await self._reply(pending, "reply", opencode.reply(is_allowed=False, reason=why))

    async def _answer_question(self, pending: Pending, request: Request) -> None:
        asked = opencode.questions(pending.params)
        prompt = host_prompt(asked, title="opencode asks")
        self._tell(f"waits for a person: {prompt.title}")
        ended = await request.ask(prompt)
        replies = host_replies(asked, ended)
        if replies:
            await self._reply(pending, "reply", opencode.answers(replies))
        elif ended.state is State.DECLINED:
            self._rejecting.add(pending.name)
            try:
                await self._reply(pending, "reject", {})
                if ended.words:
                    await self._say(pending, f"{prompt.title}: {no_answer(ended).message}")
            finally:
                self._rejecting.discard(pending.name)
        else:
            self._tell(f"{no_answer(ended).message} It still waits in opencode.")
            self._held[pending.name] = None

    async def _answer_permission(self, pending: Pending, request: Request) -> None:
        title, action = opencode.permission(pending.params)
        self._tell(f"waits for a person: {title}")
        permission = await request.permit(title, action)
        self._tell(permission.reason)
        told = opencode.reply(is_allowed=permission.is_allowed, reason=permission.reason)
        await self._reply(pending, "reply", told)

    async def _say(self, pending: Pending, text: str) -> None:
        """Tell the agent what a person said with a no: a question that is rejected has no place for it."""
        session_id, is_taken = pending.params.get("sessionID"), False
        with suppress(UnreachableError):
            is_taken = isinstance(session_id, str) and await self._server.say(session_id, text)
        if not is_taken:
            self._tell(f"opencode could not be told: {text}")

    async def _reply(self, pending: Pending, verb: str, body: Mapping[str, Json]) -> None:
        kind = "question" if pending.is_question else "permission"
        for attempt in range(_REPLY_TRIES):
            try:
                if not await self._server.reply(kind, pending.request_id, verb, body):
                    self._tell("opencode does not wait for it any more")
            except UnreachableError:
                if attempt + 1 == _REPLY_TRIES:
                    self._tell("opencode does not answer; the reply is lost")
                await asyncio.sleep(RETRY_SECONDS)
            else:
                return
