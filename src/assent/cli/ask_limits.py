"""How much one token may ask of a server, as its environment says."""

from __future__ import annotations

from collections.abc import Mapping

from assent.protocol.ask_limits import MAX_ASKS_PER_MINUTE, MAX_OPEN_ASKS, AskLimits
from assent.protocol.display import quote
from assent.protocol.error import BadRequestError

__all__ = ["find_ask_limits"]

_OPEN, _RATE = "ASSENT_MAX_OPEN_ASKS", "ASSENT_MAX_ASKS_PER_MINUTE"
_MOST = 1_000_000


def find_ask_limits(environ: Mapping[str, str]) -> AskLimits:
    """Return the limits of a server.

    Raises:
        BadRequestError: one is no whole number.
    """
    return AskLimits(_number(environ, _OPEN, MAX_OPEN_ASKS), _number(environ, _RATE, MAX_ASKS_PER_MINUTE))


def _number(environ: Mapping[str, str], name: str, default: int) -> int:
    given = environ.get(name, "")
    if not given:
        return default
    if not (given.isascii() and given.isdecimal() and len(given) <= len(str(_MOST)) and int(given) <= _MOST):
        raise BadRequestError(
            f'{name} is "{quote(given, 60)}", and no whole number from 0 (no limit) to {_MOST:,}.'
        )
    return int(given)
