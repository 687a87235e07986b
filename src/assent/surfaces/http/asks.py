"""Asks over HTTP."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Literal

from assent.client.awaiting import await_call, await_wait
from assent.client.driving import check_driver
from assent.client.history import read_page
from assent.protocol.ask import Ask, Consequence, State
from assent.protocol.error import BadRequestError, StillOpen
from assent.protocol.run import check_run_id
from assent.protocol.wire import MAX_PAGE, MAX_WAIT_SECONDS
from assent.protocol.wire_ask import AnswerBody, AskBody, Asks, Count
from assent.surfaces.http.flows import check_key
from assent.surfaces.http.incoming import Endpoint, Incoming
from assent.surfaces.http.leases import check_waiter

__all__ = [
    "ENDPOINTS",
    "MAX_ASKS_BYTES",
    "after_of",
    "check_end_of_run",
    "deadline_of",
    "limit_of",
    "seconds_of",
]

MAX_ASKS_BYTES = 4 << 20
"""So much of asks is told in one reply, or one ask; whoever wants more comes again with its `next`."""

_FARTHEST = 1 << 40
"""No log has so many events."""


def limit_of(given: int) -> int:
    """Return how many things a reply may hold.

    Raises:
        BadRequestError: it is no such number.
    """
    if not 1 <= given <= MAX_PAGE:
        raise BadRequestError(f"A limit is a whole number from 1 to {MAX_PAGE:,}.")
    return given


def seconds_of(given: float) -> float:
    """Return how long to wait; longer than the longest is the longest.

    Raises:
        BadRequestError: it is no time.
    """
    if not given >= 0:  # NaN is not, either
        raise BadRequestError("A wait is a number of seconds, 0 or more.")
    return min(given, MAX_WAIT_SECONDS)


def after_of(given: int) -> int:
    """Return the number of an event, behind which somebody looks; what is behind all logs is as good as any such.

    Raises:
        BadRequestError: it is no such number.
    """
    if given < 0:
        raise BadRequestError("Numbers begin with 0.")
    return min(given, _FARTHEST)


def deadline_of(given: datetime | float | None) -> datetime | timedelta | None:
    """Return when silence counts: an instant, or so many seconds from now.

    Raises:
        BadRequestError: it is beyond all time.
    """
    if given is None or isinstance(given, datetime):
        return given
    try:
        return timedelta(seconds=given)
    except (OverflowError, ValueError):
        raise BadRequestError("The deadline is too far away.") from None


async def check_end_of_run(request: Incoming, consequence: Consequence, run_id: str | None) -> None:
    """Refuse an ask whose deadline would end another agent's run.

    Raises:
        ForbiddenError: it would: no agent ends a run of another, not by letting time go by either.
    """
    if consequence is Consequence.END_RUN and run_id is not None:
        await await_call(check_driver(request.calls, check_run_id(run_id)))


async def _open(request: Incoming) -> Ask:
    body: AskBody = request.body
    await check_end_of_run(request, body.consequence, body.run_id)
    await check_key(request, body.key)
    return await await_call(
        request.calls.open(
            body.prompt,
            body.options,
            body=body.body,
            multiple=body.multiple,
            free=body.free,
            kind=body.kind,
            key=body.key,
            replace=body.replace,
            run_id=body.run_id,
            deadline=deadline_of(body.deadline),
            consequence=body.consequence,
            escalate_to=body.escalate_to,
            protocol=body.protocol,
            other=body.other,
            again=body.again,
            command_id=request.command_id,
        )
    )


def _state_of(given: str) -> State | Literal["ended"] | None:
    if given == "all":
        return None
    return "ended" if given == "ended" else State(given)


async def _list(request: Incoming) -> Asks:
    query = request.query
    limit = limit_of(query.limit)
    door = request.site.door
    if query.ending is not None:
        asks = [ask for name in request.reached for ask in await await_wait(door.find(query.ending, name))]
        asks.sort(key=lambda ask: ask.opened_at, reverse=True)  # at most three of a project, in no order
        return Asks(tuple(asks[:limit]))
    if query.key is not None:
        projects = request.projects
        names = await await_wait(door.projects()) if projects is None else projects
        found = [await await_wait(door.asks_by_key(name, [query.key])) for name in names]
        return Asks(tuple(ask for asks in found for ask in asks)[:limit])
    page = await await_wait(
        read_page(
            door,
            request.projects,
            _state_of(query.state),
            kind=query.kind,
            before=query.before,
            limit=limit,
            most_bytes=MAX_ASKS_BYTES,
        )
    )
    return Asks(page.asks, page.asks[-1].ask_id if page.has_more else None)


async def _count(request: Incoming) -> Count:
    door = request.site.door
    return Count(sum([await await_wait(door.count(name)) for name in request.reached]))


async def _show(request: Incoming) -> Ask:
    return await await_call(request.calls.show(request.path["ask"]))


async def _withdraw(request: Incoming) -> Ask:
    call = request.calls.withdraw(request.path["ask"], request.query.reason, command_id=request.command_id)
    return await await_call(call)


async def _answer(request: Incoming) -> Ask:
    body: AnswerBody = request.body
    ask_id, calls, command_id = request.path["ask"], request.calls, request.command_id
    if sum((body.text is not None, body.values is not None, body.decline)) != 1:
        raise BadRequestError('An answer is one of {"text": …}, {"values": {…}} and {"decline": true}.')
    if body.decline:
        return await await_call(calls.decline(ask_id, body.reason, command_id=command_id))
    values = {
        name: (given,) if isinstance(given, str) else given for name, given in (body.values or {}).items()
    }
    return await await_call(
        calls.answer(
            ask_id,
            values if body.text is None else body.text,
            confirmed=body.confirmed,
            reason=body.reason,
            unattended=body.unattended,
            command_id=command_id,
        )
    )


async def _wait(request: Incoming) -> Ask:
    query, leases = request.query, request.site.leases
    waiter, seconds = check_waiter(query.waiter), seconds_of(query.wait)
    ask = await _show(request)
    if str(request.caller.token.principal) != ask.asker:
        waiter = ""  # whoever else waits can die without a trace
    if ask.is_open and seconds:
        if waiter:
            leases.begin(ask.ask_id, waiter)
        try:
            ask = await _until_ended(request, ask, seconds)
        except BaseException:
            if waiter:
                leases.pause(ask.ask_id, waiter)  # hung up on; perhaps only cut off
            raise
    if waiter and ask.is_open and not query.last:
        leases.pause(ask.ask_id, waiter)
    elif waiter:
        leases.end(ask.ask_id, waiter, is_over=not ask.is_open)
    return ask


async def _until_ended(request: Incoming, ask: Ask, seconds: float) -> Ask:
    wait = request.site.door.until_ended(ask.ask_id, ask.project, seconds)
    try:
        return await request.site.linger(await_wait(wait)) or ask
    except StillOpen:
        return await _show(request)  # it may have ended in the moment in which the wait lapsed


async def _claim(request: Incoming) -> Ask:
    return await await_call(request.calls.claim(request.path["ask"]))


async def _report_undelivered(request: Incoming) -> Ask:
    call = request.calls.report_undelivered(request.path["ask"], request.body.reason)
    return await await_call(call)


ENDPOINTS: dict[str, Endpoint] = {
    "open_ask": _open,
    "list_asks": _list,
    "count_asks": _count,
    "list_all_asks": _list,
    "count_all_asks": _count,
    "show_ask": _show,
    "withdraw_ask": _withdraw,
    "answer_ask": _answer,
    "wait_for_ask": _wait,
    "claim_ask": _claim,
    "report_undelivered": _report_undelivered,
}
