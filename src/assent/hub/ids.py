"""The only file that mints ids.

Ids begin with the time, so that index pages are appended to and not scattered, and end in chance. People type the
end: any unambiguous end of an id will do.
"""

from __future__ import annotations

import secrets
import time

from assent.protocol.ask import AskId

__all__ = ["new_ask_id", "new_command_id"]

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
"""Without i, l, o, u: nobody mistakes one for another."""
_TIME_CHARACTERS = 9
_CHANCE_BYTES = 5
_PAIRS = [first + second for first in _ALPHABET for second in _ALPHABET]


def _spell(number: int, characters: int) -> str:
    pieces = []
    for _ in range((characters + 1) // 2):
        number, rest = divmod(number, 1024)
        pieces.append(_PAIRS[rest])
    return "".join(reversed(pieces))[-characters:]


def _mint() -> str:
    moment = time.time_ns() // 1_000_000
    chance = int.from_bytes(secrets.token_bytes(_CHANCE_BYTES))
    return _spell(moment, _TIME_CHARACTERS) + _spell(chance, 8)


def new_ask_id() -> AskId:
    """Return a new ask's id."""
    return AskId(f"ask_{_mint()}")


def new_command_id() -> str:
    """Return a new command's id."""
    return f"cmd_{_mint()}"
