"""How much one token may ask of a server. People may ask as much as they like."""

from __future__ import annotations

import msgspec

from assent.client.embedded import EmbeddedDoor
from assent.protocol.principal import Role
from assent.protocol.token import Token
from assent.surfaces.http.bucket import Window

__all__ = ["MAX_ASKS_PER_MINUTE", "MAX_OPEN_ASKS", "AskLimits", "AskRates"]

MAX_OPEN_ASKS = 200
"""So many asks of one asker may wait in a project at once."""
MAX_ASKS_PER_MINUTE = 60
"""So many new asks of one token are taken in any minute."""
_MINUTE = 60.0


class AskLimits(msgspec.Struct, frozen=True):
    """What a server takes of one token; 0 is without limit."""

    most_open: int = MAX_OPEN_ASKS
    per_minute: int = MAX_ASKS_PER_MINUTE


class AskRates:
    """What each token has asked in the last minute, of this server."""

    def __init__(self, limits: AskLimits) -> None:
        self._limits = limits
        self._window = Window(limits.per_minute, _MINUTE)

    def door_for(self, token: Token, door: EmbeddedDoor) -> EmbeddedDoor:
        """Return the door for one request with a token."""
        if token.role is Role.HUMAN:
            return door
        return door.limited(self._limits.most_open, self._limits.per_minute, lambda: self._take(token))

    def _take(self, token: Token) -> float:
        return self._window.take(token.digest) if self._limits.per_minute else 0.0
