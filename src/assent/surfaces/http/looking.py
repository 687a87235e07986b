"""What the page needs to look at things, over HTTP: an ask's words as a tree, a review as a whole, and who else looks."""

from __future__ import annotations

import asyncio

import msgspec

from assent.client.awaiting import await_call, await_wait
from assent.client.reviewed import review_keys, view_review
from assent.protocol.error import NotFoundError
from assent.protocol.wire_ask import ProseReply
from assent.protocol.wire_record import LookBody, Looking
from assent.protocol.wire_review import ReviewReply
from assent.surfaces.http.incoming import Endpoint, Incoming, check_reached

__all__ = ["ENDPOINTS"]


async def _show_prose(request: Incoming) -> ProseReply:
    ask = await await_call(request.calls.show(request.path["ask"]))
    return ProseReply(tuple(msgspec.json.decode(await request.site.prose.read(ask.prompt.body))), ask.digest)


async def _show_review(request: Incoming) -> ReviewReply:
    flow_id, project = request.path["flow"], request.path["project"]
    steps = await await_call(request.calls.steps(flow_id))
    if not steps:
        raise NotFoundError("There is no such review here.")
    asks = await await_wait(request.site.door.asks_by_key(project, review_keys(flow_id, len(steps))))
    # In a thread: it goes through everything that was decided, and others are not to wait for it.
    return await asyncio.to_thread(view_review, flow_id, steps, {ask.key: ask for ask in asks})


async def _look(request: Incoming) -> Looking:
    body: LookBody = request.body
    if body.project is not None:
        check_reached(request.caller, body.project)
    present = request.site.presence.look(request.caller.token, request.via, body, request.site.now())
    return Looking(tuple(present))


ENDPOINTS: dict[str, Endpoint] = {
    "show_prose": _show_prose,
    "show_review": _show_review,
    "look": _look,
}
