"""What each token has asked of this server lately. People may ask as much as they like."""

from __future__ import annotations

from assent.client.embedded import EmbeddedDoor
from assent.protocol.ask_limits import AskLimits
from assent.protocol.principal import Role
from assent.protocol.token import Token
from assent.surfaces.http.bucket import Window

__all__ = ["AskRates"]

_MINUTE = 60.0


class AskRates:
    """What each token has asked in the last minute, of this server."""

    def __init__(self, limits: AskLimits) -> None:
        self._limits = limits
        self._window = Window(limits.per_minute, _MINUTE)

    def door_for(self, token: Token, door: EmbeddedDoor) -> EmbeddedDoor:
        """Return the door for one request with a token."""
        if token.role is Role.HUMAN:
            return door
        return door.limited(self._limits, lambda: self._window.take(token.digest))
