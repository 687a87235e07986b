"""The right to drive something, kept for a client over HTTP for as long as its reply is open.

Rule 1: whoever comes again under the key of a hold that is still here has it on: the connection that it came by is dead,
        though nobody has noticed yet.
Rule 2: whatever ends the reply lets go, also before its first line went out.
Rule 3: a client that lets go says so, and is answered once it is so; a client that died is noticed by its connection.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress

from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from assent.client.awaiting import await_wait
from assent.protocol.error import BadRequestError, NotFoundError
from assent.protocol.run import check_run_id
from assent.protocol.wire_run import HoldBody
from assent.surfaces.http.incoming import Incoming, command_id_of
from assent.surfaces.http.site import Held, Holding

__all__ = ["BEAT_SECONDS", "HoldReply", "hold", "release"]

BEAT_SECONDS = 5.0
"""So often a line goes out on a reply that is kept open: a client that is gone is noticed by it."""


async def hold(request: Incoming) -> HoldReply:
    """Take the right to drive a flow or a run."""
    body: HoldBody = request.body
    if (body.flow_id is None) is (body.run_id is None):
        raise BadRequestError("Hold a flow_id or a run_id.")
    kept, key = request.site.holdings, request.command_id
    former = kept.get(key)
    if former is None:
        held = Holding(await _take(request, body), body)
    elif former.body == body:
        former.is_over.set()
        held = Holding(former.hold, body)
    else:
        raise BadRequestError("Something else is held under this Idempotency-Key.")
    if key:
        kept[key] = held
    return HoldReply(request, held)


async def _take(request: Incoming, body: HoldBody) -> Held:
    door, project = request.site.door, request.path["project"]
    if body.run_id is not None:
        return await await_wait(door.hold_run(project, check_run_id(body.run_id)))
    return await await_wait(door.hold(project, body.flow_id or ""))


async def release(request: Incoming) -> HoldBody:
    """Let go of what is held under a key."""
    key = command_id_of(request.caller, request.path, request.path["hold"])
    held = request.site.holdings.get(key)
    if held is None:
        raise NotFoundError("Nothing is held here under this key.")
    _let_go(request, held)
    return held.body


def _let_go(request: Incoming, held: Holding) -> None:
    if held.is_over.is_set():
        return  # the right has gone on to another reply, or is free
    held.is_over.set()
    kept = request.site.holdings
    for key in [key for key, each in kept.items() if each is held]:
        del kept[key]
    held.hold.release()


class HoldReply(StreamingResponse):
    """A reply that is open for as long as something is held."""

    def __init__(self, request: Incoming, held: Holding) -> None:
        super().__init__(self._lines(), media_type=request.verb.media)
        self._request, self._held = request, held

    async def _lines(self) -> AsyncIterator[bytes]:
        site, token = self._request.site, self._request.caller.token
        while not (self._held.is_over.is_set() or site.is_closing) and await site.is_live(token):
            yield b"held\n"
            await site.linger(self._beat())

    async def _beat(self) -> None:
        with suppress(TimeoutError):
            await asyncio.wait_for(self._held.is_over.wait(), BEAT_SECONDS)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it, and let go."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            _let_go(self._request, self._held)
