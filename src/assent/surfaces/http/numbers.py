"""Figures over HTTP."""

from __future__ import annotations

from assent.client.awaiting import await_wait
from assent.client.history import read_numbers
from assent.protocol.error import BadRequestError
from assent.protocol.numbers import Numbers
from assent.protocol.wire import NumbersQuery
from assent.surfaces.http.incoming import Endpoint, Incoming

__all__ = ["ENDPOINTS"]

_DAYS = (1, 7, 30)
_FARTHEST_MINUTES = 24 * 60
"""No place's clock is a day ahead or behind."""


async def _show(request: Incoming) -> Numbers:
    query: NumbersQuery = request.query
    if query.days not in _DAYS:
        raise BadRequestError("The days are 1, 7 or 30.")
    if not -_FARTHEST_MINUTES < query.offset < _FARTHEST_MINUTES:
        raise BadRequestError("An offset is less than a day, in minutes.")
    return await await_wait(read_numbers(request.site.door, request.projects, query.days, query.offset))


ENDPOINTS: dict[str, Endpoint] = {"show_numbers": _show}
