"""How much one token may ask of a server."""

from __future__ import annotations

import msgspec

__all__ = ["MAX_ASKS_PER_MINUTE", "MAX_OPEN_ASKS", "AskLimits"]

MAX_OPEN_ASKS = 200
"""So many asks of one asker may wait in a project at once."""
MAX_ASKS_PER_MINUTE = 60
"""So many new asks of one token are taken in any minute."""


class AskLimits(msgspec.Struct, frozen=True):
    """What a server takes of one token; 0 is without limit."""

    most_open: int = MAX_OPEN_ASKS
    per_minute: int = MAX_ASKS_PER_MINUTE
