"""Whose a durable flow is: who began it drives it, and people may. Another agent can neither hold it nor ask in its name."""

from __future__ import annotations

from collections.abc import Sequence

from assent.client.awaiting import await_wait
from assent.protocol.display import is_encodable, quote
from assent.protocol.error import ForbiddenError
from assent.protocol.principal import Role
from assent.surfaces.http.incoming import Incoming

__all__ = ["check_flow", "check_key"]


async def check_flow(request: Incoming, flow_id: str) -> None:
    """Refuse an agent that would drive another's flow.

    Raises:
        ForbiddenError: it is another's.
    """
    await _check(request, [flow_id])


async def check_key(request: Incoming, key: str | None) -> None:
    """Refuse an agent that would ask under a key of another's flow, which begins with the flow's id and a colon.

    Raises:
        ForbiddenError: it is such a key.
    """
    if key is not None:
        await _check(request, [key[:at] for at, letter in enumerate(key) if letter == ":"])


async def _check(request: Incoming, flow_ids: Sequence[str]) -> None:
    me = request.caller.token.principal
    asked = [flow_id for flow_id in flow_ids if is_encodable(flow_id) and "\0" not in flow_id]
    if me.role is not Role.AGENT or not asked:
        return
    # Who began a flow never changes, so this may be read before the transaction that decides.
    begun = await await_wait(request.site.door.beginners(request.path["project"], asked))
    for flow_id, by in begun.items():
        if by not in ("", str(me)):
            raise ForbiddenError(
                f'{by} began the flow "{quote(flow_id)}": only {by} or a person drives it, or asks in its name.'
            )
