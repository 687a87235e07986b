"""The only file that mints ids.

Ids begin with the time, so that index pages are appended to and not scattered, and end in chance. People type the
end: any unambiguous end of an id will do.
"""

from __future__ import annotations

import os
import random
import time

from assent.protocol.ask import AskId

__all__ = ["is_ask_id", "new_ask_id", "new_command_id", "opening_command_id"]

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
"""Without i, l, o, u: nobody mistakes one for another."""
_PAIRS = [first + second for first in _ALPHABET for second in _ALPHABET]
"""Ten bits at a time."""
_PAIR = len(_PAIRS) - 1
_ASK_ID_LENGTH = len("ask_") + 10 + 8

# Our own, as a program may seed the module's. Not the system's for each id: that gives the interpreter away, and a
# hundred threads would each wait to get it back.
_chance = random.Random()  # noqa: S311 - an id is no secret
os.register_at_fork(after_in_child=_chance.seed)


def _mint() -> str:
    moment = time.time_ns() // 1_000_000
    chance = _chance.getrandbits(40)
    return (
        _PAIRS[moment >> 40 & _PAIR]
        + _PAIRS[moment >> 30 & _PAIR]
        + _PAIRS[moment >> 20 & _PAIR]
        + _PAIRS[moment >> 10 & _PAIR]
        + _PAIRS[moment & _PAIR]
        + _PAIRS[chance >> 30]
        + _PAIRS[chance >> 20 & _PAIR]
        + _PAIRS[chance >> 10 & _PAIR]
        + _PAIRS[chance & _PAIR]
    )


def is_ask_id(text: str) -> bool:
    """Say whether `text` is a whole ask id and not the end of one."""
    return len(text) == _ASK_ID_LENGTH and text.startswith("ask_") and text.isascii()


def new_ask_id() -> AskId:
    """Return a new ask's id."""
    return AskId(f"ask_{_mint()}")


def new_command_id() -> str:
    """Return a new command's id."""
    return f"cmd_{_mint()}"


def opening_command_id(ask_id: AskId) -> str:
    """Return the id of the command that opens an ask; the ask's own id is chance enough."""
    return f"cmd_{ask_id.removeprefix('ask_')}"
